#!/bin/sh
# An agent as small as one can be: a file, a commit, an answer.
cat >/dev/null
echo "$$" >"made-$$" && git add "made-$$" && git commit -qm Work || exit 1
echo 'done <promise>COMPLETE</promise>'

# Says what a work tree holds, and prints it as a bundle: the lines `head`, `files`, `staged`, `begun`, `left`, one `ref` each, and
# a blank one, and behind them the bundle, without what the other side has.
#
#   $1 the folder   then the commits that the other side has
set -e
cd "$1"
shift
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
export GIT_TERMINAL_PROMPT=0 LC_ALL=C
export GIT_AUTHOR_NAME=sandcastle GIT_AUTHOR_EMAIL=sandcastle@localhost GIT_AUTHOR_DATE='@0 +0000'
export GIT_COMMITTER_NAME=sandcastle GIT_COMMITTER_EMAIL=sandcastle@localhost GIT_COMMITTER_DATE='@0 +0000'
# Git would wait for whoever writes into a pipe that it takes for one of its files.
if [ -n "$(find .git -type p 2>/dev/null | head -n 1)" ]; then
  echo "there are pipes in the git folder" >&2
  exit 1
fi
find . \( -name .gitignore -o -name .gitattributes -o -name .gitmodules \) -type p -exec rm -f {} + 2>/dev/null || :
state=$(git rev-parse --git-dir)
parent=$(git rev-parse -q --verify HEAD || :)
made() { git commit-tree -m "$1" ${parent:+-p "$parent"} "$2"; }
tree=$(git write-tree 2>/dev/null || :)
staged=
[ -z "$tree" ] || staged=$(made staged "$tree")
index=$state/sandcastle.index
rm -f "$index"
[ ! -f "$state/index" ] || cp "$state/index" "$index"
# What cannot be added costs neither the commits nor the other files.
left=
all() { GIT_INDEX_FILE=$index git add "$@" --ignore-errors . 2>/dev/null; }
all -A || { left=yes; all -u || :; }
tree=$(GIT_INDEX_FILE=$index git write-tree 2>/dev/null) || { left=yes; tree=$(git rev-parse -q --verify 'HEAD^{tree}'); }
files=$(made files "$tree")
rm -f "$index" "$index.lock"
git update-ref refs/sandcastle/files "$files"
if [ -n "$staged" ]; then git update-ref refs/sandcastle/staged "$staged"; else git update-ref -d refs/sandcastle/staged; fi
# What is checked out may be on no branch.
[ -z "$parent" ] || git update-ref refs/sandcastle/head "$parent"
begun=
for mark in rebase-merge rebase-apply MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD; do
  [ ! -e "$state/$mark" ] || begun=$mark
done
echo "head $(git symbolic-ref -q HEAD || echo "$parent")"
echo "files $files"
echo "staged $staged"
echo "begun $begun"
echo "left $left"
git for-each-ref --format='ref %(objectname) %(refname)'
echo
known=
for id; do
  if git cat-file -e "$id" 2>/dev/null; then known="$known ^$id"; fi
done
# There is nothing in a bundle if the other side has it all.
if [ -n "$(git rev-list -n 1 --all HEAD $known 2>/dev/null || git rev-list -n 1 --all $known)" ]; then
  git bundle create -q "$state/sandcastle.out" --all $known
  cat "$state/sandcastle.out"
  rm -f "$state/sandcastle.out"
fi

# Runs one program for a host that is at the other end of the standard streams. Nothing of the program stands in an
# argument or in the environment of this shell: the host writes it as one line of shell words, and the program's own input
# behind it. What is said to the host are lines with a word that only the host and this shell know.
#
#   $1 the word   $2 the mark that the program's descendants carry   $3 `stay` after the program, or `leave`
#   $4 a command whose output is said first
word=$1 mark=$2 after=$3 probe=$4
newline='
'
say() { printf '\036%s %s\n' "$word" "$*" >&2; }
carriers() { grep -lsF "$mark=1" /proc/[0-9]*/environ 2>/dev/null; }
stay() {
  exec >/dev/null 2>&1
  while :; do sleep 86400; done
}
say ready "$(eval "$probe" 2>&1 </dev/null | tr '\n\r' '  ')"
exec 3<&0 </dev/null
# A host that lets go before it has said anything may come again by another way.
IFS= read -r request <&3 || { [ "$after" != stay ] || stay; exit 0; }
# In the foreground: what a shell starts in the background ignores interrupts.
(
  eval "$request"
  cd "$cwd" 2>/dev/null || { say refused cwd; exit 126; }
  command -v "$1" >/dev/null || { say refused program; exit 127; }
  say started
  exec "$@" <&3 3<&-
)
code=$?
# What the program left behind may end by itself, as the upkeep does that git starts behind a commit.
left=0 pass=0
while [ "$pass" -lt 60 ]; do
  files=$(carriers)
  [ -n "$files" ] || break
  if [ "$pass" -ge 30 ]; then
    set -- $files
    [ "$#" -le "$left" ] || left=$#
    for file; do file=${file#/proc/} && kill -s KILL "${file%/environ}" 2>/dev/null; done
  fi
  pass=$((pass + 1))
  sleep 0.01
done
printf '\036%s ended %s %s\n' "$word" "$code" "$left"
say ended "$code" "$left"
# What nobody has read is taken in: a client whose input is refused may lose what was printed. The host ends the input once
# it has heard the end.
cat <&3 >/dev/null
[ "$after" = stay ] || exit "$code"
stay

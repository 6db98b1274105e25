# Becomes one program on the terminal that this shell has. The program was written to a file beforehand, in the words that
# `launch.sh` reads from its input.
#
#   $1 the file
newline='
'
request=$(cat "$1") || exit 126
rm -f "$1"
eval "$request"
cd "$cwd" || exit 126
exec "$@"

# Signals the programs that carry a mark, and says how many there were. After a KILL none of them is left.
#
#   $1 the mark   $2 the signal
mark=$1 signal=$2 most=0 pass=0
while [ "$pass" -lt 200 ]; do
  set -- $(grep -lsF "$mark=1" /proc/[0-9]*/environ 2>/dev/null)
  [ "$#" -le "$most" ] || most=$#
  [ "$#" -gt 0 ] || break
  for file; do file=${file#/proc/} && kill -s "$signal" "${file%/environ}" 2>/dev/null; done
  [ "$signal" = KILL ] || break
  pass=$((pass + 1))
  sleep 0.01
done
echo "$most"

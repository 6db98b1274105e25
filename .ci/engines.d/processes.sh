# shellcheck shell=bash
# Programs that stay: how one is started, here or as on another machine, found again and stopped.

# Whether the process that a file names is one of ours; a number may have been given to another since.
runs() {
  local pid
  pid=$(cat "$1" 2>/dev/null) && [ -n "$pid" ] && grep -qsF "$run/" "/proc/$pid/cmdline"
}

# Ends the process that a file names, gently at first.
stop() {
  local pid tries
  runs "$1" || return 0
  pid=$(cat "$1")
  kill "$pid"
  for ((tries = 0; tries < 200; tries++)); do
    runs "$1" || return 0
    sleep 0.1
  done
  say "$pid does not end: killing it"
  kill -KILL "$pid"
}

# Starts a program that stays, as the first of a session of its own.
start() {
  local log=$1
  shift
  setsid "$@" </dev/null >>"$log" 2>&1 9>&- &
  started=$!
}

# Waits up to 30 s for a command to succeed, but for no program that has ended.
wait_for() {
  local tries
  for ((tries = 0; tries < 300; tries++)); do
    "$@" >/dev/null 2>&1 && return
    kill -0 "$started" 2>/dev/null || return 1
    sleep 0.1
  done
  return 1
}

# Writes the program that starts another where the machine's /tmp, root's home and this checkout are not seen, as on
# another machine: what is not sent there is not there. The mounts go with the last process that sees them.
elsewhere=$run/elsewhere
write_elsewhere() {
  cat >"$elsewhere" <<SH
#!/bin/sh
# Of .ci/engines: elsewhere FOLDER PROGRAM [ARGUMENT]...; the folder stays seen, as $run/kept- and its name.
set -eu
kept=$run/kept-\${1##*/}
mkdir -p "\$kept"
mount --bind "\$1" "\$kept"
shift
mount -t tmpfs -o mode=0755 none '$root'
mount -t tmpfs -o mode=1777 none /tmp
mount -t tmpfs -o mode=0700 none /root
cd /
exec "\$@"
SH
  chmod 755 "$elsewhere"
}

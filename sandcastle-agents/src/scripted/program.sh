# The fixed part of a scripted agent. Only POSIX sh, its usual companions and, for commits, git are needed.
# Arguments: mode session origin state, and with a schema: argument|file schema; the compiled part sets $turns and $after and defines turn_1, turn_2, ...

emit() { printf '%s\n' "$1"; }

# Ends the process as a real program does that cannot begin its turn.
refuse() {
  printf '%s\n' "$2" >&2
  printf '{"failed":{"kind":"%s","message":"%s"}}\n' "$1" "$2"
  exit 1
}

# A step that cannot be carried out is a mistake in the script, and never silently skipped.
broken() {
  why=
  if [ "$1" = commit ] && git diff --cached --quiet 2>/dev/null; then why=": nothing was changed"; fi
  refuse other "the step $1 of the script failed$why"
}

fail() { failed=1; emit "$1"; }

complete() {
  [ "$failed$completed" = 00 ] || return 0
  completed=1
  emit "$1"
}

milliseconds() {
  now=$(date +%s%N)
  case $now in *[!0-9]*) now=$(date +%s)000000000 ;; esac
  echo "${now%??????}"
}

write_file() {
  case $1 in */*) mkdir -p -- "${1%/*}" ;; esac && printf %s "$2" >"$1"
}

commit() (
  if ! git config user.name >/dev/null; then
    export GIT_AUTHOR_NAME="${GIT_AUTHOR_NAME-Scripted}" GIT_COMMITTER_NAME="${GIT_COMMITTER_NAME-Scripted}"
  fi
  if ! git config user.email >/dev/null; then
    export GIT_AUTHOR_EMAIL="${GIT_AUTHOR_EMAIL-scripted@localhost}"
    export GIT_COMMITTER_EMAIL="${GIT_COMMITTER_EMAIL-scripted@localhost}"
  fi
  # Maintenance would go on behind the back of the turn, and look like a process that was left behind.
  git add -A >&2 && git -c gc.auto=0 -c maintenance.auto=false commit -q -m "$1" >&2
)

repeat() {
  if [ "${#1}" -lt 30000 ]; then
    yes "$1" 2>/dev/null | head -n "$2"
  else
    left=$2
    while [ "$left" -gt 0 ]; do emit "$1"; left=$((left - 1)); done
  fi
}

leave_behind() {
  if command -v setsid >/dev/null; then setsid sleep "$1" & else nohup sleep "$1" & fi
}

silence() { while :; do sleep "${1:-3600}" || exit 1; [ -z "${1-}" ] || break; done; }

refuse_resume_for() { echo $(($(milliseconds) + $1)) >"$folder/refused-until"; }

# Leaves the folder of the session in $folder.
open_session() {
  incoming=$state/incoming-$session
  mkdir -p "$state" && cat >"$incoming" || exit 1
  folder=$state/$session
  case $mode in
    fork) from=$state/$origin ;;
    resume) from=$folder ;;
    *) from= ;;
  esac
  if [ -n "$from" ]; then
    refused=0
    if [ -e "$from/refused-until" ]; then read -r refused <"$from/refused-until"; fi
    if [ ! -d "$from" ] || [ "$refused" -gt "$(milliseconds)" ]; then
      rm -f "$incoming"
      refuse session-not-found "no session with the id ${from##*/}"
    fi
  fi
  case $mode in
    resume) ;;
    fork) cp -R "$from" "$folder" || exit 1 ;;
    *) mkdir "$folder" || exit 1 ;;
  esac
}

# Keeps the prompt and leaves the number of the turn in $turn.
begin_turn() {
  turn=1
  while [ -e "$folder/prompt-$turn" ]; do turn=$((turn + 1)); done
  mv "$incoming" "$folder/prompt-$turn" || exit 1
  case $delivery in
    argument) printf %s "$schema" >"$folder/schema-$turn" || exit 1 ;;
    file) cat -- "$schema" >"$folder/schema-$turn" || refuse schema-refused "the schema cannot be read" ;;
  esac
  if [ "$sequence" = across-sessions ]; then
    turn=1
    until mkdir "$state/played-$turn" 2>/dev/null; do
      [ -d "$state/played-$turn" ] || exit 1
      turn=$((turn + 1))
    done
  fi
}

play() {
  if [ "$turn" -gt "$turns" ]; then
    [ "$after" = repeat ] || refuse other "the script has no turn $turn"
    turn=$turns
  fi
  printf '{"turn":%s}\n' "$turn" >>"$folder/session.jsonl"
  "turn_$turn"
}

run() {
  mode=$1 session=$2 origin=$3 delivery=${5-} schema=${6-}
  state=${4:-$HOME/.local/state/sandcastle/scripted}
  failed=0 completed=0
  if [ "$mode" = interactive ]; then
    mode=fresh
    printf 'scripted agent, say something: '
    read -r answer || exit 0
    open_session <<LINE
$answer
LINE
    begin_turn
    play >/dev/null
    printf 'done: %s\n' "$answer"
  else
    open_session
    begin_turn
    emit "{\"session\":\"$session\"}"
    play
  fi
  exit "$failed"
}

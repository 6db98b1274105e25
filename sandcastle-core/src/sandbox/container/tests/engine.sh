#!/bin/sh
# Plays the client of an engine: it writes down what it is told and what it sees of its environment, and a container is a
# shell of this host. Beside it are `image`, what it says of images, and `refusal`, what it says instead of making one.
here=${0%/*}
# In one write: two of them may be there at once.
printf '%s\n' "$(printf '%s ' "$@" | tr '\n' ' ')" >>"$here/calls"
env >>"$here/environment"
case $1 in
  image)
    [ -e "$here/image" ] || { echo 'Error response from daemon: No such image: a:b' >&2; exit 1; }
    cat "$here/image"
    ;;
  run)
    [ ! -e "$here/refusal" ] || { cat "$here/refusal" >&2; exit 125; }
    while [ "$1" != a:b ]; do
      case $1 in --workdir=*) cd "${1#*=}" || exit 1 ;; esac
      shift
    done
    shift
    exec env -i PATH="$PATH" HOME="$here" sh "$@"
    ;;
  exec)
    shift 3
    exec env -i PATH="$PATH" HOME="$here" "$@"
    ;;
esac

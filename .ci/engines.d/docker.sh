# shellcheck shell=bash
# Two Docker engines: one on this machine, and one that stands for another.

docker_answers() {
  docker -H "$1" version --format '{{.Server.Version}}'
}

# Starts dockerd under that name, with the words that are left. It has a configuration of its own, so that /etc/docker is
# neither read nor, by older ones that make a key, written.
start_engine() {
  local name=$1 data=$2
  local host=unix://$run/$name.sock pidfile=$run/$name.pid log=$state/$name.log
  shift 2
  if runs "$pidfile" && docker_answers "$host" >/dev/null 2>&1; then return; fi
  stop_engine "$name"
  case $(dockerd --version) in
    *'version 1'[0-9].* | *'version 20.'*) echo "{\"deprecated-key-path\": \"$run/$name.key\"}" ;;
    *) echo '{}' ;;
  esac >"$run/$name.json"
  set -- "$@" --config-file "$run/$name.json" --host "$host" --pidfile "$pidfile" --data-root "$data" \
    --exec-root "$run/$name.exec" --containerd-namespace "$user-$name" --containerd-plugins-namespace "$user-$name-plugins"
  start "$log" "$@"
  wait_for docker_answers "$host" || { tail -n 20 "$log" >&2; fail "the Docker engine \`$name\` does not answer"; }
}

# With what an engine that was killed left running: another must not go on with it.
stop_engine() {
  local pidfile
  for pidfile in "$run/$1.pid" "$run/$1.exec/containerd/containerd.pid"; do
    stop "$pidfile"
    rm -f "$pidfile"
  done
}

# Two engines in one network fight over docker0 and the rules of the firewall, so this one has a bridge of its own and
# makes no rules: its containers reach the machine, and nothing beyond it.
start_docker() {
  make_bridge
  start_engine docker "$state/docker" dockerd --bridge "$bridge" --iptables=false --ip6tables=false --ip-masq=false
}

make_bridge() {
  ! ip link show "$bridge" >/dev/null 2>&1 || return 0
  local third taken
  taken=$(ip -o -4 address show)
  for third in $(seq 0 255); do
    [[ $taken == *" 10.213.$third."* ]] || break
  done
  ip link add "$bridge" type bridge
  ip address add "10.213.$third.1/24" dev "$bridge"
  ip link set "$bridge" up
}

# Not `ip netns exec`: that mounts another /sys, which hides the control groups.
start_remote() {
  mkdir -p "$state/remote"
  start_engine remote "$run/kept-remote" unshare --net --uts --mount --propagation private "$elsewhere" "$state/remote" sh -c '
    echo sandcastle-remote >/proc/sys/kernel/hostname
    ip link set lo up
    exec "$@"' - dockerd
}

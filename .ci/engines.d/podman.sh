# shellcheck shell=bash
# Podman for root, and for an ordinary user who is made for it.

# The lower of a limit of this process and 20000: raising one is not allowed everywhere.
limit() {
  local most
  most=$(ulimit -H "$1")
  [ "$most" != unlimited ] && [ "$most" -lt 20000 ] || most=20000
  echo "$most:$most"
}

# runc, because crun refuses the mixed control groups that some machines have; cgroupfs and a file of events, because
# there may be no systemd.
podman_config() {
  cat <<CONF
[containers]
default_ulimits = ["nofile=$(limit -n)", "nproc=$(limit -u)"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
CONF
}

configure_podman() {
  { podman_config; echo "tmp_dir = \"$run/podman/tmp\""; } >"$run/containers.conf"
  cat >"$run/storage.conf" <<CONF
[storage]
driver = "overlay"
graphroot = "$state/podman"
runroot = "$run/podman/run"
CONF
}

make_user() {
  if ! id "$user" >/dev/null 2>&1; then
    # A group of that name may have outlived its user. This writes /etc/subuid and /etc/subgid, too.
    local group=()
    ! getent group "$user" >/dev/null || group=(--gid "$user")
    useradd "${group[@]}" --create-home --home-dir "$home" --shell /bin/bash --comment 'tests of Sandcastle' "$user"
  fi
  grep -q "^$user:" /etc/subuid || fail "useradd gave \`$user\` no range in /etc/subuid"
}

# The program by which root runs that user's Podman: with the caller's variables, but a home and folders of its own.
configure_rootless() {
  # Without udev nobody has given these to users.
  local device
  for device in /dev/net/tun /dev/fuse; do
    [ ! -c "$device" ] || chmod 0666 "$device"
  done
  install -d -m 0700 -o "$user" -g "$user" "$run/user"
  podman_config >"$run/rootless-containers.conf"
  printf '[storage]\ndriver = "overlay"\n' >"$run/rootless-storage.conf"
  cat >"$rootless" <<SH
#!/bin/sh
# Of .ci/engines: Podman as the user $user. It replaces itself, so that signals reach Podman.
cd '$home'
export HOME='$home' USER=$user LOGNAME=$user XDG_RUNTIME_DIR='$run/user'
export CONTAINERS_CONF='$run/rootless-containers.conf' CONTAINERS_STORAGE_CONF='$run/rootless-storage.conf'
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME TMPDIR
exec setpriv --reuid=$user --regid=$user --init-groups podman "\$@"
SH
  chmod 755 "$rootless"
}

# shellcheck shell=bash
# The packages that the engines, the images and these scripts are made of, and how they are installed.

packages=(
  docker.io containerd runc tini iptables
  podman containernetworking-plugins catatonit uidmap slirp4netns
  bubblewrap
  openssh-server openssh-client
  # What the images are made of, and the tools of this script.
  bash dash coreutils sed grep gawk findutils diffutils tar git ca-certificates socat procps
  util-linux iproute2 passwd
)

# A machine that has a Docker engine keeps the one it has: there are packages that exclude each other.
missing_packages() {
  local package
  for package in "${packages[@]}"; do
    case $package in
      docker.io | containerd | runc | tini) ! command -v dockerd >/dev/null || continue ;;
    esac
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

install_packages() {
  need_root
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    fail "this knows Debian's packages only; elsewhere install their like: ${packages[*]}"
  local missing
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]}"
  forbid_services
  apt_get update -qq
  apt_get install -qq -y --no-remove --no-install-recommends "${missing[@]}"
  allow_services
}

# Runs apt-get, once nobody else is at it: of its locks, `update` waits for none.
apt_get() {
  local log tries
  log=$(mktemp)
  for ((tries = 0; tries < 150; tries++)); do
    if DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1; then
      rm -f "$log"
      return
    fi
    grep -q 'Could not get lock\|Unable to lock' "$log" || break
    sleep 2
  done
  tail -n 20 "$log" >&2
  rm -f "$log"
  fail "\`apt-get $1\` failed"
}

# Packages start their services when they are installed: a Docker engine, an SSH server on port 22. Not for us.
policy=/usr/sbin/policy-rc.d
forbid_services() {
  [ ! -e "$policy" ] || return 0
  trap allow_services EXIT
  printf '#!/bin/sh\n# Of sandcastle: engines\nexit 101\n' >"$policy"
  chmod 755 "$policy"
}

allow_services() {
  grep -qs '^# Of sandcastle: engines$' "$policy" || return 0
  rm -f "$policy"
}

# shellcheck shell=bash
# An SSH server on a free port of the loopback address, with keys of its own.

start_ssh() {
  ! runs "$run/sshd.pid" || return 0
  rm -f "$run/sshd.pid"
  local port
  port=$(free_port)
  configure_ssh "$port"
  mkdir -p /run/sshd "$agents"
  start "$state/sshd.log" unshare --mount --propagation private "$elsewhere" "$agents" \
    /usr/sbin/sshd -D -e -f "$run/sshd_config"
  wait_for test -s "$run/sshd.pid" || { tail -n 20 "$state/sshd.log" >&2; fail 'the SSH server does not start'; }
}

free_port() {
  local port
  for port in $(shuf -i 20000-32000 -n 50); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  fail 'no port is free'
}

configure_ssh() {
  local port=$1 host key
  for key in host_key user_key; do
    [ -s "$run/$key" ] || ssh-keygen -q -t ed25519 -N '' -C "$user" -f "$run/$key"
  done
  cat >"$run/sshd_config" <<CONF
ListenAddress 127.0.0.1
Port $port
HostKey $run/host_key
PidFile $run/sshd.pid
AuthorizedKeysFile $run/user_key.pub
AllowUsers root $user
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
# A user who never had a password counts as locked without it.
UsePAM yes
PrintMotd no
PrintLastLog no
# Tests connect at the same time.
MaxStartups 100
MaxSessions 100
Subsystem sftp internal-sftp
CONF
  # Newer servers shut out an address that failed to log in.
  if /usr/sbin/sshd -t -f "$run/sshd_config" -o PerSourcePenalties=no 2>/dev/null; then
    echo 'PerSourcePenalties no' >>"$run/sshd_config"
  fi
  echo "[127.0.0.1]:$port $(cut -d ' ' -f 1,2 "$run/host_key.pub")" >"$run/known_hosts"
  for host in root user; do
    cat <<CONF
Host sandcastle-$host
  User ${host/user/$user}
CONF
  done >"$run/ssh_config"
  cat >>"$run/ssh_config" <<CONF
Host sandcastle-*
  HostName 127.0.0.1
  Port $port
  IdentityFile $run/user_key
  IdentitiesOnly yes
  UserKnownHostsFile $run/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  BatchMode yes
  LogLevel ERROR
CONF
}

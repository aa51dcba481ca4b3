# SPDX-License-Identifier: Apache-2.0
# Sourced by tests of several hosts: two hosts, a and b, on this machine, each with a network of its
# own, 10.78.0.1 and .2, joined by a cable, and with files of its own: /home, /root, /tmp, /var/tmp
# and /run. An sshd listens on each. The user of jobs is troupe; mallory is somebody else.
#
#   make_hosts                  fails with a reason on standard error where they cannot be made
#   on HOST USER COMMAND...     runs a command there, in USER's home, as ssh would
#   files_of HOST               the folder that holds the host's files, seen from here
#   processes_of HOST           the numbers of the processes that have its network
#
# The programs under test are in /run/bin on both. Nothing outside can be reached from them.

. "${srcdir:-.}/tests/cli/tap.sh"

net=troupe$$ # what our namespaces' names begin with
job_uid=4711
mallory_uid=4712
# shellcheck disable=SC2034 # for the tests that source this
ready=

files_of() { echo "$work/$1"; }
processes_of() { ip netns pids "$net-$1"; }

# A namespace's processes, then its links, go with it.
remove_hosts() {
    for host in a b; do
        for pid in $(processes_of $host 2>/dev/null); do
            kill -KILL "$pid" 2>/dev/null
        done
        ip netns del "$net-$host" 2>/dev/null
    done
    rm -rf "$work"
}

# bring_troupe FOLDER: the program, with its libraries beside it where it has shared ones; then $TROUPE is
# libtool's script, and the program lies below it.
bring_troupe() {
    built=$(dirname "$TROUPE")/.libs
    if [ -x "$built/troupe" ]; then
        cp "$built/troupe" "$1" && cp -L "$built"/libtroupe.so.[0-9] "$built"/libtroupe-model.so.[0-9] "$1"
    else
        cp "$TROUPE" "$1"
    fi
}

# What is the host's own: its users, keys and configuration.
make_files() {
    host=$1
    files=$(files_of "$host")
    mkdir -p "$files/home" "$files/root" "$files/run/sshd" "$files/run/bin" "$files/etc" &&
        mkdir -m 1777 "$files/tmp" "$files/var-tmp" && cp "$TROUPE_METIS" "$files/run/bin" &&
        bring_troupe "$files/run/bin" &&
        cp /etc/passwd /etc/group "$files/etc" && grep '^root:' /etc/shadow >"$files/etc/shadow" || return 1
    number=$job_uid
    for user in troupe mallory; do
        echo "$user:x:$number:$number::/home/$user:/bin/sh" >>"$files/etc/passwd"
        echo "$user:*:19000:0:99999:7:::" >>"$files/etc/shadow"
        echo "$user:x:$number:" >>"$files/etc/group"
        mkdir -m 755 "$files/home/$user" && mkdir -m 700 "$files/home/$user/.ssh" &&
            chown -R "$number:$number" "$files/home/$user" || return 1
        number=$((number + 1))
    done
    ssh-keygen -q -t ed25519 -N '' -f "$files/etc/host_key" &&
        cat >"$files/etc/sshd_config" <<END
ListenAddress $2
HostKey /run/etc/host_key
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv PATH=/run/bin:/usr/bin:/bin
END
    mv "$files/etc" "$files/run/etc"
}

# The user of jobs reaches both hosts from both, and believes these two keys alone.
make_access() {
    ssh-keygen -q -t ed25519 -N '' -C job -f "$work/id" || return 1
    for host in a b; do
        number=$([ $host = a ] && echo 1 || echo 2)
        echo "10.78.0.$number $(cut -d' ' -f1-2 "$(files_of $host)/run/etc/host_key.pub")"
    done >"$work/known"
    for host in a b; do
        folder=$(files_of $host)/home/troupe/.ssh
        cp "$work/id" "$folder/id_ed25519" && cp "$work/id.pub" "$folder/authorized_keys" &&
            cp "$work/known" "$folder/known_hosts" &&
            printf 'StrictHostKeyChecking yes\nConnectTimeout 20\n' >"$folder/config" &&
            chown $job_uid:$job_uid "$folder"/* && chmod 600 "$folder"/* || return 1
    done
}

# Its sshd holds a host's files and network together for as long as it runs.
start_host() {
    files=$(files_of "$1")
    # shellcheck disable=SC2016 # the inner shell is to expand it
    ip netns exec "$net-$1" unshare --mount --propagation private sh -c '
        mount --bind "$1/home" /home && mount --bind "$1/root" /root && mount --bind "$1/run" /run &&
            mount --bind "$1/var-tmp" /var/tmp && mount --bind "$1/tmp" /tmp &&
            for file in passwd group shadow; do mount --bind /run/etc/$file /etc/$file || exit; done
        cd / && exec /usr/sbin/sshd -D -e -f /run/etc/sshd_config' sh "$files" \
        >"$work/log.sshd-$1" 2>&1 </dev/null &
    eval "sshd_$1=$!"
}

on() {
    eval "pid=\$sshd_$1"
    user=$2
    shift 2
    uid=$([ "$user" = troupe ] && echo $job_uid || echo $mallory_uid)
    # shellcheck disable=SC2016
    nsenter -t "$pid" -m -n setpriv --reuid "$uid" --regid "$uid" --clear-groups \
        env -i HOME="/home/$user" USER="$user" PATH=/run/bin:/usr/bin:/bin OPENBLAS_NUM_THREADS=1 \
        sh -c 'cd "$HOME" && exec "$@"' sh "$@"
}

answers() { on a troupe ssh -o BatchMode=yes "$1" true 2>/dev/null; }

# Every wait is bounded, by far more than it takes.
within() {
    tries=0
    while ! "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || return 1
        sleep 0.05
    done
}

make_hosts() {
    trap remove_hosts EXIT
    [ "$(id -u)" = 0 ] || { echo "hosts are made by root alone" >&2; return 1; }
    chmod 755 "$work"
    make_files a 10.78.0.1 && make_files b 10.78.0.2 && make_access || return 1
    ip netns add "$net-a" && ip netns add "$net-b" &&
        ip link add wire netns "$net-a" type veth peer name wire netns "$net-b" || return 1
    number=1
    for host in a b; do
        ip -n "$net-$host" link set lo up &&
            ip -n "$net-$host" addr add "10.78.0.$number/24" dev wire &&
            ip -n "$net-$host" link set wire up && start_host $host || return 1
        number=2
    done
    within answers 10.78.0.1 && within answers 10.78.0.2
}

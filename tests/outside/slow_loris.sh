# SPDX-License-Identifier: Apache-2.0
# Strangers who need not authenticate hold 200 connections to each port of a job, and a process is
# killed (kill -9): training goes on within three times what it takes undisturbed. The job lives in a
# network namespace; the strangers come from another one, and from the job's own address. They send
# nothing, a byte, or the beginning of a TLS handshake.
#
# Needs root, for the namespaces. TROUPE_KILLS: kills for each kind of stranger.
epochs=1000000
. "${srcdir:-.}/tests/cli/job.sh"
loris=${LORIS-./tests/tools/loris}
kills=${TROUPE_KILLS-5}
inside=troupe-$$-a
outside=troupe-$$-b
crowd=200
pause=${TROUPE_PAUSE-50}

for tool in ip setsid; do
    command -v $tool >/dev/null || {
        echo "1..0 # SKIP $tool is not installed"
        exit 0
    }
done
[ "$(id -u)" = 0 ] || {
    echo "1..0 # SKIP network namespaces need root"
    exit 0
}

end_all() {
    for p in $attacker $launcher; do
        kill -TERM "$p" 2>/dev/null
    done
    ip netns delete "$inside" 2>/dev/null
    ip netns delete "$outside" 2>/dev/null
    rm -rf "$work"
}
trap end_all EXIT
ip netns add "$inside" && ip netns add "$outside" &&
    ip -n "$inside" link add to-b type veth peer name to-a netns "$outside" &&
    ip -n "$inside" address add 10.77.0.1/24 dev to-b && ip -n "$inside" link set to-b up &&
    ip -n "$outside" address add 10.77.0.2/24 dev to-a && ip -n "$outside" link set to-a up &&
    ip -n "$inside" link set lo up || exit 99

# Launched in the namespace, so that its processes are there.
begin_inside() {
    rm -rf "$work/run" "$work/checkpoints" "$work/out" "$work/err"
    # shellcheck disable=SC2086
    ip netns exec "$inside" "$TROUPE" launch "$work/cluster.json" --run "$work/run" -- $learning \
        >"$work/out" 2>"$work/err" </dev/null &
    launcher=$!
}
lines() { wc -l <"$work/run/metrics.jsonl" 2>/dev/null || echo 0; }

# stands_still_ms: how long nothing is added from now on, until five more epochs are there.
grown() { [ "$(lines)" -gt $(($1 + 5)) ]; }
recover() {
    before=$(lines)
    kill -KILL "$1"
    begin_ms=$(now_ms)
    until grown "$before"; do
        sleep 0.01
        took_ms=$(($(now_ms) - begin_ms))
        [ $took_ms -lt 120000 ] || break
    done
    took_ms=$(($(now_ms) - begin_ms))
}

# under NAME: kills each process in turn; the median of what it took in $median_ms
under() {
    : >"$work/times"
    k=0
    while [ $k -lt "$kills" ]; do
        k=$((k + 1))
        within pid_of $((1 + k % 3)) || return 1
        before=$(lines)
        within grown "$before" || return 1
        pid_of $((1 + k % 3))
        recover "$pid"
        echo "$took_ms" >>"$work/times"
    done
    median_ms=$(sort -n "$work/times" | sed -n "$(((kills + 1) / 2))p")
    longest_ms=$(sort -n "$work/times" | tail -n 1)
    echo "# $1: $(tr '\n' ' ' <"$work/times")ms after each kill; median $median_ms, longest $longest_ms"
}

# A job that is recovered in an undisturbed time, and then under attack.
attack() {
    name=$1
    shift
    "$@" >"$work/out.loris" 2>&1 &
    attacker=$!
    sleep 3
    result=0
    under "$name" || result=1
    echo "# $name: the strangers had $(tail -n 1 "$work/out.loris") connections"
    kill -KILL $attacker
    wait $attacker 2>/dev/null
    attacker=
    sleep 3
    [ $result = 0 ] && [ "$median_ms" -le $((3 * calm_ms)) ] && [ "$longest_ms" -le $((3 * calm_longest_ms)) ]
}

restarts=1000
cluster '{"name": "a", "address": "10.77.0.1", "port": 7000, "servers": 2, "samplers": 1, "trainers": 1, "processes": "role", "loops": 1}'
begin_inside
expect "a job trains" within has_lines 10
expect "killed processes are replaced" under "no strangers"
calm_ms=$median_ms
calm_longest_ms=$longest_ms
ports='7000 7001 7002 7003'
for words in silent byte hello; do
    # shellcheck disable=SC2086
    expect "strangers elsewhere ($words) delay nothing" attack "elsewhere, $words" \
        ip netns exec "$outside" "$loris" $crowd $words $pause 10.77.0.1 $ports
    # shellcheck disable=SC2086
    expect "strangers at its own address ($words) delay nothing" attack "own address, $words" \
        ip netns exec "$inside" "$loris" $crowd $words $pause 10.77.0.1 $ports
done
kill -TERM "$launcher"
wait "$launcher"
launcher=
finish

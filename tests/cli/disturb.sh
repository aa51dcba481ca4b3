# SPDX-License-Identifier: Apache-2.0
# A relay between the processes of a job delays, throttles, splits, resets and corrupts what they
# send: the result is the same, and their memory stays bounded. Processes that were taken for dead
# are started again, as their launcher would.
epochs=60
. "${srcdir:-.}/tests/cli/job.sh"
relay=${DISTURB-./tests/tools/disturb}
# What a job may take more of, a process, than an undisturbed one: what is kept until the other side
# has it, at most a window a link, and far less where so little travels.
more_kib=65536

# cluster_of PROCESS SECURITY: the file that this process reads. It listens at a port of its own, and
# looks for the others at the relay's.
cluster_of() {
    port_of() { sed -n "$(($1 + 1))s/$2/\\1/p" "$work/ports"; }
    seen='\([0-9]*\) .*'
    own='.* \([0-9]*\)'
    printf '{"name": "job", "graph": "g/toy.json", "seed": 3, "direct": false, "hosts": ['
    for p in 0 1 2 3; do
        [ $p = 0 ] || printf ','
        [ $p = "$1" ] && port=$(port_of $p "$own") || port=$(port_of $p "$seen")
        printf '\n {"name": "h%d", "address": "127.0.0.1", "port": %d, "loops": 1, ' $p "$port"
        printf '"servers": %d, "samplers": %d, "trainers": %d}' $((p < 2)) $((p == 2)) $((p == 3))
    done
    printf '],\n "checkpoints": {"folder": "checkpoints", "every": 10}, %s}\n' "$2"
}

# Runs a process until it ends well; its memory's peak is in $work/peak.N.
keep_running() {
    word=serve
    options=
    [ "$1" != 2 ] || word=sample
    [ "$1" != 3 ] || word=train options="--run $work/run $learning"
    life=0
    code=1
    while [ $code != 0 ] && [ $life -lt 20 ]; do
        # shellcheck disable=SC2086
        "$TROUPE" $word --cluster "$work/c$1.json" --process "$1" $options >>"$work/out.$1" \
            2>>"$work/err.$1" </dev/null &
        pid=$!
        while ! is_gone $pid; do
            sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' /proc/$pid/status >>"$work/peak.$1" 2>/dev/null
            sleep 0.1
        done
        wait $pid
        code=$?
        life=$((life + 1))
        [ "$1" != 3 ] || options="--run $work/run $learning --resume"
    done
    [ $life = 1 ] || echo "# process $1 had $life lives"
    return $code
}
peak() { sort -n "$work/peak.$1" | tail -n 1; }

# job FAULTS SECURITY
job() {
    mkfifo "$work/hold"
    sleep 1000 >"$work/hold" &
    holder=$!
    "$relay" "$seed" "$1" 4 <"$work/hold" >"$work/ports" &
    relaying=$!
    within [ -s "$work/ports" ] || {
        kill $holder
        return 1
    }
    for p in 0 1 2 3; do
        cluster_of $p "$2" >"$work/c$p.json"
    done
    children=
    for p in 0 1 2 3; do
        keep_running $p &
        children="$children $!"
    done
    code=0
    for child in $children; do
        wait "$child" || code=$?
    done
    kill $holder
    wait $relaying
    sed -n 's/^connections/# &/p' "$work/ports"
    rm -f "$work/hold"
}

# through RUN FAULTS-SECURITY: did nobody notice? The peaks are in $work/peaks.
through() {
    security='"insecure_network": true'
    [ "${2#*-}" = plain ] || security="\"tls\": {\"shared_key\": \"$key\"}"
    job "${2%-*}" "$security" || return 1
    peaks="$(peak 0) $(peak 1) $(peak 2) $(peak 3)"
    echo "$peaks" >"$work/peaks"
    echo "# $2: memory $peaks KiB"
    fits "$1" || return 1
    # shellcheck disable=SC2086
    set -- $calm $peaks
    [ $# -gt 4 ] || return 0
    echo "# more than undisturbed: $(($5 - $1)) $(($6 - $2)) $(($7 - $3)) $(($8 - $4)) KiB"
    [ $(($5 - $1)) -le $more_kib ] && [ $(($6 - $2)) -le $more_kib ] &&
        [ $(($7 - $3)) -le $more_kib ] && [ $(($8 - $4)) -le $more_kib ]
}
disturbed() { through "$1" "${2%.*}"; }

key=$work/key
(umask 077 && head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$key")
calm=
undisturbed one
expect "one process trains" exited 0
echo >"$work/cluster.json"
expect "four processes train the same through a relay" each disturbed one none-plain.0
calm=$(cat "$work/alone.none-plain.0/peaks")
expect "and what it does to them changes nothing" each disturbed one \
    delay,throttle-plain.1 split-plain.2 reset-plain.3 corrupt-plain.4 \
    delay,split,reset,corrupt-tls.5
finish

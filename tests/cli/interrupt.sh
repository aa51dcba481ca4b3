# SPDX-License-Identifier: Apache-2.0
# SIGTERM ends a process of a cluster at once, with a message, while it waits for peers that never come;
# whom it waits for, and where, is said meanwhile, on both sides of a link.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 300 --edges 3000 --features 4 --classes 3 --signal 0.5 --seed 1 \
    --out "$work/raw" --quiet >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --seed 1 --name toy --out "$work/g" \
    --quiet >"$work/out" 2>"$work/err" || exit 99
mkdir -m 700 "$work/s" || exit 99
cat >"$work/c.json" <<E2
{"name": "job", "graph": "g/toy.json", "direct": false,
 "hosts": [{"name": "a", "unix": "s", "servers": 2, "samplers": 1, "trainers": 2,
            "processes": "role"}]}
E2

# Whether the process has its handlers by now: the last is that of SIGUSR1, number 10. A shell with a
# trap may catch that too, and would lose what comes before it has become the command.
catches() {
    grep -q '^Name:.*troupe' "/proc/$child/status" || return 1
    caught=$(sed -n 's/^SigCgt:.*\(....\)$/\1/p' "/proc/$child/status")
    [ $((0x${caught:-0} & 0x200)) != 0 ]
}
# stopped SECONDS PROCESS COMMAND...: terminates it so long after it began to catch signals; keeps its
# exit code and what it said. A process that ignores them would wait for its peers for 600 s; it is
# killed (137) after 100.
stopped() {
    seconds=$1 process=$2 left=500
    shift 2
    "$TROUPE" "$@" --cluster "$work/c.json" --process "$process" >"$work/out" 2>"$work/err" </dev/null &
    child=$!
    until catches || ! kill -0 "$child" 2>/dev/null; do
        sleep 0.01
    done
    sleep "$seconds"
    kill "$child"
    while kill -0 "$child" 2>/dev/null && [ $((left -= 1)) -gt 0 ]; do
        sleep 0.2
    done
    kill -KILL "$child" 2>/dev/null
    wait "$child"
    code=$?
}
ended() { [ "$code" != 137 ]; }

for seconds in 0 0.3 2; do
    stopped "$seconds" 3 train --epochs 2 --hidden 8 --quiet --run "$work/run"
    expect "a trainer without peers ends after $seconds s" exited 1
    expect "... and says why" complains "stopped by a signal"
    stopped "$seconds" 1 serve
    expect "a server without peers ends after $seconds s" ended
    stopped "$seconds" 2 sample
    expect "a sampler without peers ends after $seconds s" ended
done

# Inference that is stopped as soon as it catches signals says so, and leaves what was there.
"$TROUPE" generate sbm --nodes 20000 --edges 400000 --features 64 --classes 4 --signal 0.5 \
    --out "$work/large" --quiet >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/large" --parts 2 --method random --name large --out "$work/l" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" train "$work/l/large.json" --run "$work/trained" --epochs 1 --hidden 8 --quiet \
    >"$work/out" 2>"$work/err" || exit 99
mkdir "$work/outputs" || exit 99
"$TROUPE" infer "$work/l/large.json" --run "$work/trained" --exact --out "$work/outputs/p.csv" \
    >"$work/out" 2>"$work/err" </dev/null &
child=$!
until catches || ! kill -0 "$child" 2>/dev/null; do
    sleep 0.01
done
kill "$child"
wait "$child"
code=$?
expect "inference that is stopped fails" exited 1
expect "... with one sentence" complains '^troupe infer: stopped by a signal; each output is whole or as it was before$'
# The signal may come behind the last output: a file that stands is whole, a line for the header.
whole_or_absent() {
    [ "$(ls -A "$work/outputs")" = "" ] ||
        { [ "$(ls -A "$work/outputs")" = p.csv ] && [ "$(wc -l <"$work/outputs/p.csv")" = 20001 ]; }
}
expect "... and leaves nothing half-written" whole_or_absent

# A peer that no connection is had with, which process 1 makes and process 0 waits for.
port=$((30000 + $$ % 1200 * 2))
for absent in 0 1; do
    present=$((1 - absent))
    cat >"$work/tcp-$absent.json" <<E2
{"name": "tcp", "graph": "g/toy.json", "insecure_network": true,
 "hosts": [{"name": "a", "address": "127.9.9.$((9 - absent * 8))", "port": $port, "trainers": 1},
           {"name": "b", "address": "127.9.9.$((9 - present * 8))", "port": $((port + 1)), "trainers": 1}]}
E2
    # The shell empties the file behind the fork: what the round before said would be read here.
    : >"$work/err"
    "$TROUPE" train --cluster "$work/tcp-$absent.json" --process $present --epochs 2 --hidden 8 --quiet \
        --run "$work/run-$absent" >"$work/out" 2>"$work/err" </dev/null &
    child=$!
    left=600
    until grep -q "waiting for" "$work/err" || [ $((left -= 1)) = 0 ] || ! kill -0 "$child" 2>/dev/null; do
        sleep 0.1
    done
    kill "$child"
    wait "$child"
    code=$?
    [ $absent = 0 ] && whom="process 0 (a, tcp:127.9.9.9:$port)" || whom="process 1 (b, tcp:127.9.9.9:$((port + 1)))"
    expect "process $present names the peer that it waits for" grep -qF "waiting for $whom: no connection" "$work/err"
    expect "and ends with the signal" complains "stopped by a signal"
done

# The end of a wait names the peer too: of a call, and of the job's beginning.
for limits in 'gave up after .*:"recovery_deadline": 2, "start": 100' ':"start": 2'; do
    sed "s/\"insecure_network\"/\"limits\": {${limits#*:}}, \"insecure_network\"/" "$work/tcp-1.json" >"$work/soon.json"
    run timeout 100 "$TROUPE" train --cluster "$work/soon.json" --process 0 --epochs 2 --hidden 8 --quiet --run "$work/soon"
    expect "a wait that ends says for whom" \
        fails_with "${limits%%:*}process 1 (b, tcp:127.9.9.9:$((port + 1))) never answered"
done
finish

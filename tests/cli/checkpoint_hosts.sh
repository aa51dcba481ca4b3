# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options and lists are split into their words
# Hosts with a folder of checkpoints each: every part is on two of them, and a host that dies with
# its folder costs nothing but time.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 400 --edges 4000 --features 6 --classes 3 --signal 0.5 --out "$work/raw" \
    --quiet >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/g" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
mkdir -m 700 "$work/a" "$work/b" || exit 99
cat >"$work/c.json" <<E2
{"name": "job", "graph": "g/toy.json", "direct": false, "hosts": [
  {"name": "a", "unix": "a", "servers": 1, "samplers": 1, "trainers": 1},
  {"name": "b", "unix": "b", "servers": 1, "samplers": 1, "trainers": 1}],
 "checkpoints": {"folder": "kept/%h", "every": 4}}
E2
options="--epochs 30 --hidden 16 --fanout 4,6 --batch-size 32 --seed 11 --lr 0.02 --quiet"
losses() { sed 's/"seconds":[^,}]*//' "$1/metrics.jsonl"; }

troupe train "$work/g/toy.json" --run "$work/one" --trainers 2 --deal shuffle $options
expect "one process trains" exited 0
losses "$work/one" >"$work/expected"
equal() {
    losses "$work/$1" >"$work/seen"
    expect "$1: the same losses" cmp -s "$work/expected" "$work/seen"
    expect "$1: the same model" cmp -s "$work/one/model.safetensors" "$work/$1/model.safetensors"
}
newest() { ls "$work/kept/$1" 2>/dev/null | sed -n 's/^checkpoint-//p' | sort -n | tail -n 1; }

run timeout 120 "$TROUPE" launch "$work/c.json" --run "$work/two" -- --deal shuffle $options
expect "two hosts train" exited 0
equal two
last=$(newest a)
expect "both have the last checkpoint" [ "$last" = "$(newest b)" ]
for part in part0 part1; do
    expect "both have $part" cmp "$work/kept/a/checkpoint-$last/$part" \
        "$work/kept/b/checkpoint-$last/$part"
done
expect "nothing unfinished is left" \
    sh -c "! ls '$work/kept/a' '$work/kept/b' | grep -q '[.]tmp'"

# A part of several pieces.
rm -rf "$work/kept"
run timeout 120 "$TROUPE" launch "$work/c.json" --run "$work/large" -- --deal shuffle --epochs 1 \
    --hidden 700 --fanout 2,2,2 --batch-size 16 --eval none --quiet
expect "a large model trains" exited 0
last=$(newest a)
for part in part0 part1; do
    expect "both have $part of it" cmp "$work/kept/a/checkpoint-$last/$part" \
        "$work/kept/b/checkpoint-$last/$part"
done
expect "it has several pieces" [ "$(wc -c <"$work/kept/b/checkpoint-$last/part0")" -gt 8388608 ]

# Where the file names no folder there is one all the same, for as many as were asked for; a run that
# makes no checkpoints would go back to those of another.
sed '/"checkpoints"/d; s/"trainers": 1}\],/"trainers": 1}]}/' "$work/c.json" >"$work/unnamed.json"
run timeout 120 "$TROUPE" launch "$work/unnamed.json" --run "$work/kept-3" -- --deal shuffle --epochs 4 \
    --batch-size 32 --quiet --checkpoint-every 2 --checkpoint-keep 3
expect "a file that names no folder: the job trains" exited 0
for host in a b; do
    expect "and $host keeps as many checkpoints as were asked for" \
        [ "$(ls "$work/checkpoints/$host" | grep -c '^checkpoint-')" = 3 ]
done
run timeout 120 "$TROUPE" launch "$work/unnamed.json" --run "$work/none" -- --deal shuffle --epochs 4 \
    --batch-size 32 --quiet
expect "another run is told of them" sh -c "grep -q 'has checkpoints already' '$work/err'"
expect "and does not begin" [ $code != 0 ]

# A host without trainers keeps copies too, which a run that replaces another must not go back to: with the
# same options it would have nothing left to do, with others it would be refused.
for coordinator in a b; do
    cat >"$work/kept.json" <<E2
{"name": "job", "graph": "g/toy.json", "direct": false, "coordinator": "$coordinator", "hosts": [
  {"name": "a", "unix": "a", "servers": 1, "samplers": 1, "trainers": 2, "processes": "role"},
  {"name": "b", "unix": "b", "servers": 1, "samplers": 1, "trainers": 0, "processes": "role"}],
 "checkpoints": {"folder": "kept/%h", "every": 4}}
E2
    rm -rf "$work/kept" "$work/replaced"
    for lr in 0.02 0.02 0.03; do
        run timeout 120 "$TROUPE" launch "$work/kept.json" --run "$work/replaced" -- --deal shuffle \
            --epochs 4 --batch-size 32 --seed 11 --lr $lr --quiet --replace
        expect "coordinator on $coordinator, lr $lr: the run succeeds" exited 0
        expect "as one that is new" [ "$(grep -c '"epoch"' "$work/replaced/metrics.jsonl")" = 4 ]
    done
done

# Each host dies with its folder once there is a checkpoint.
for host in a b; do
    rm -rf "$work/kept"
    timeout 200 "$TROUPE" launch "$work/c.json" --run "$work/without-$host" -- --deal shuffle \
        $options >"$work/log" 2>&1 </dev/null &
    pid=$!
    tries=0
    while [ -z "$(newest $host)" ] && [ $tries -lt 3000 ]; do
        tries=$((tries + 1))
        sleep 0.02
    done
    # It stands still while its folder goes, or the next one would find half of it.
    victim=$(sed -n "s/^\[$host.*\] started, process number //p" "$work/log" | head -n 1)
    kill -STOP "$victim"
    rm -rf "$work/kept/$host"
    kill -9 "$victim"
    wait $pid
    code=$?
    cp "$work/log" "$work/out"
    expect "host $host dies with its checkpoints: the job succeeds" exited 0
    equal without-$host
done
finish

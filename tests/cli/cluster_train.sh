# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options and lists are split into their words
# Training over several processes gives the losses and the model, byte for byte, of one process with
# as many trainers; also when a trainer's process is killed, that of rank 0 too.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 700 --edges 9000 --features 12 --classes 4 --signal 0.5 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method metis --name toy --out "$work/g" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
mkdir -m 700 "$work/s" || exit 99
cat >"$work/c.json" <<EOF
{"name": "job", "graph": "g/toy.json", "hosts": [{"name": "a", "unix": "s", "servers": 1,
 "samplers": 1, "trainers": 2, "processes": "role"}]}
EOF
options="--epochs 40 --hidden 16 --fanout 4,6 --batch-size 96 --seed 11 --lr 0.02 --quiet"
losses() { sed 's/"seconds":[^,}]*//' "$1/metrics.jsonl"; }

troupe train "$work/g/toy.json" --run "$work/one" --trainers 2 $options
expect "one process trains" exited 0
losses "$work/one" >"$work/expected"

# equal WHAT RUN
equal() {
    losses "$work/$2" >"$work/seen"
    expect "$1: the same losses" cmp -s "$work/expected" "$work/seen"
    expect "$1: the same model" cmp -s "$work/one/model.safetensors" "$work/$2/model.safetensors"
}

run timeout 120 "$TROUPE" launch "$work/c.json" --run "$work/four" -- $options
expect "four processes train" exited 0
equal "four processes" four

# Weights of classes are counted by each process, that of the second trainer too.
troupe train "$work/g/toy.json" --run "$work/weighed" --trainers 2 $options --balanced-weights
expect "one process trains with balanced weights" exited 0
expect "balanced weights change the model" \
    sh -c "! cmp -s '$work/one/model.safetensors' '$work/weighed/model.safetensors'"
run timeout 120 "$TROUPE" launch "$work/c.json" --run "$work/weighed-four" -- $options \
    --balanced-weights
expect "four processes train with balanced weights" exited 0
expect "balanced weights: the same model" \
    cmp -s "$work/weighed/model.safetensors" "$work/weighed-four/model.safetensors"

# Once the run has a checkpoint: kills the process that the launcher numbers so.
kill_process() {
    tries=0
    while ! ls "$work/$1/checkpoints" 2>/dev/null | grep -q '^checkpoint-'; do
        tries=$((tries + 1))
        [ $tries -lt 3000 ] || return 1
        sleep 0.02
    done
    kill -9 "$(sed -n "s/.* $2\] started, process number //p" "$work/log" | head -n 1)"
}

for victim in 2 3; do
    timeout 200 "$TROUPE" launch "$work/c.json" --run "$work/killed-$victim" -- $options \
        --checkpoint-every 2 >"$work/log" 2>&1 </dev/null &
    pid=$!
    kill_process killed-$victim $victim
    wait $pid
    code=$?
    cp "$work/log" "$work/out"
    expect "process $victim is killed: the job succeeds" exited 0
    equal "process $victim is killed" killed-$victim
done
finish

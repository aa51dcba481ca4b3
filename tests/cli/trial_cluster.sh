# SPDX-License-Identifier: Apache-2.0
# A job of several processes without options trains the shape that one process would choose: rank 0's
# process tries, the others hear of it. Also where that process is killed while it tries, or, with
# TROUPE_LONG_TESTS=1, one that waits for it; and a job that goes on keeps what was chosen.
. "${srcdir:-.}/tests/cli/tap.sh"

# The graph of trial.sh: deep is better than sage by 0.08, where 0.01 is asked.
{ "$TROUPE" generate sbm --nodes 900 --edges 7200 --features 8 --classes 3 --seed 1 --signal 0.3 --inside 0.05 \
    --out "$work/raw" --quiet &&
    "$TROUPE" split "$work/raw" --ratio 60/20/20 --replace --quiet &&
    "$TROUPE" partition "$work/raw" --parts 2 --method random --name g --out "$work/g" --quiet
} >"$work/out" 2>"$work/err" || exit 99
mkdir -m 700 "$work/s" || exit 99

# cluster NAME HOST[,HOST...]
cluster() {
    printf '{"name": "job", "graph": "g/g.json", "direct": false, "hosts": [%s],
 "checkpoints": {"folder": "checkpoints-%s", "every": 2}, "restart": {"times": 20, "seconds": 600}}\n' "$2" "$1" \
        >"$work/$1.json"
}
port=$((20000 + $$ % 20000))
cluster loopback "{\"name\": \"a\", \"address\": \"127.9.8.1\", \"port\": $port},
 {\"name\": \"b\", \"address\": \"127.9.8.2\", \"port\": $port, \"trainers\": 2}"
cluster roles '{"name": "a", "unix": "s", "servers": 2, "samplers": 1, "trainers": 3, "processes": "role"}'

# As short as may be, since the choice is what counts.
options="--patience 1 --seed 2"
launch() {
    name=$1
    shift
    # shellcheck disable=SC2086 # options are words
    run timeout 200 "$TROUPE" launch "$work/$name.json" --run "$work/$name" -- $options "$@"
}
losses() { sed 's/"seconds":[^,}]*//' "$1/metrics.jsonl"; }
tried() { grep '"tried_' "$1/config.json"; }
same() { # RUN: the model, the losses, and what is said of the choice
    cmp -s "$work/one/model.safetensors" "$work/$1/model.safetensors" &&
        [ "$(losses "$work/one")" = "$(losses "$work/$1")" ] && [ "$(tried "$work/one")" = "$(tried "$work/$1")" ]
}

# shellcheck disable=SC2086
troupe train "$work/g" --run "$work/one" --trainers 3 --loops 2 $options
expect "one process chooses deep" complains 'deep is chosen'

launch loopback
expect "two processes over loopback train" exited 0
expect "the same model, by the same choice" same loopback
expect "that some wait is said, and what was tried" complains 'trainer 0\] tried by validation accuracy: sage 0\.'
expect "the report has it" says 'tried and chosen  *deep$'
rm -rf "$work/loopback/model.safetensors"
for shape in sage gcn deep; do # scores that no trial finds: one would replace them
    sed -i "s/\"tried_$shape\": 0\.[0-9]*/\"tried_$shape\": 0.125/" "$work/loopback/config.json"
done
launch loopback
expect "a run that is there is refused before anything is tried" \
    sh -c "grep -q 'holds a run already' '$work/err' && ! grep -q 'are tried' '$work/err'"
launch loopback --resume
expect "a job that goes on keeps what was chosen" [ "$code/$(tried "$work/loopback" | grep -c '0\.125\>')" = 0/3 ]
expect "and does not try again" sh -c "! grep -q 'are tried' '$work/err'"

# An older run is in the way, which a process that dies in its trials has not replaced yet.
troupe train "$work/g" --run "$work/older" --model gcn --epochs 1 --quiet

# killed PROCESS: kills it when rank 0's process says that it tries. Where this script was so late that the job was
# over, another job is tried.
killed() {
    for attempt in 1 2 3 4 5; do
        rm -rf "$work/roles" "$work/checkpoints-roles"
        cp -r "$work/older" "$work/roles"
        : >"$work/err"
        # shellcheck disable=SC2086
        timeout 200 "$TROUPE" launch "$work/roles.json" --run "$work/roles" -- $options --replace >"$work/out" 2>"$work/err" </dev/null &
        launcher=$!
        looks=0
        while ! grep -q 'are tried' "$work/err" && [ $looks -lt 6000 ]; do
            looks=$((looks + 1))
            sleep 0.02
        done
        victim=$(sed -n "s/^\[a\/trainer $1\] started, process number //p" "$work/err" | head -n 1)
        kill -9 "$victim" 2>/dev/null
        wait $launcher
        code=$?
        ! grep -q "trainer $1\] ended by signal 9" "$work/err" || return
        echo "# attempt $attempt: process $1 was killed too late"
    done
}
# Servers and samplers come first in the plan: 3 is rank 0's process, 4 is one that waits for it.
processes=3
[ "${TROUPE_LONG_TESTS-}" != 1 ] || processes="3 4"
for process in $processes; do
    killed "$process"
    expect "process $process of roles is killed during the trial: the job succeeds" exited 0
    expect "process $process was started again" complains "trainer $process\] ended by signal 9"
    expect "process $process is killed: the same model, by the same choice" same roles
done
finish

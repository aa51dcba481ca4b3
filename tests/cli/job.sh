# SPDX-License-Identifier: Apache-2.0
# Sourced by tests that break a job of several processes: a small graph, the undisturbed run, jobs in
# the background, their processes, and random moments from one seed.
#
#   cluster FIELDS HOSTS        writes cluster.json
#   undisturbed NAME [OPTION...] the run that every job is compared with; its time, as a job, is not here
#   begin                       starts a job; its launcher is $launcher
#   finish_job                  waits for its end, at most 120 s, and sets $code
#   same_run NAME               has the job the losses and the model of that run?
#   pick N                      a random number below N, in $picked
#   each FUNCTION RUN WORD...   calls it for these words at once, each with a job of its own; a word
#                               ends with the number of a process

. "${srcdir:-.}/tests/cli/tap.sh"

# One seed, so that the moments that make check tries are the same every time; soak drivers draw others.
seed=${TROUPE_SEED:-1}
echo "# TROUPE_SEED=$seed repeats this"
state=$((seed % 2147483648))
# shellcheck disable=SC2034 # for the tests that source this
pick() {
    state=$(((state * 1103515245 + 12345) % 2147483648))
    picked=$((state / 65536 % $1))
}

# Every wait is bounded, by far more than it takes.
within() {
    tries=0
    while ! "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 2400 ] || return 1
        sleep 0.05
    done
}

"$TROUPE" generate sbm --nodes 300 --edges 3000 --features 4 --classes 3 --signal 0.5 --out "$work/raw" \
    --quiet >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/g" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
mkdir -m 700 "$work/sockets" "$work/other" || exit 99
# shellcheck disable=SC2034 # for the tests that source this
role_hosts='{"name": "a", "unix": "sockets", "servers": 2, "samplers": 1, "trainers": 1, "processes": "role"}'
# shellcheck disable=SC2034
pair_hosts='{"name": "a", "unix": "sockets"}, {"name": "b", "unix": "other"}'
learning="--epochs ${epochs:-40} --hidden 16 --fanout 4,6 --batch-size 32 --quiet"

cluster() {
    printf '{"name": "job", "graph": "g/toy.json", "seed": 3, "direct": false, "hosts": [%s],
 "checkpoints": {"folder": "checkpoints", "every": 10}, "restart": {"times": %s, "seconds": 600}%s}\n' \
        "$1" "${restarts:-20}" "$2" >"$work/cluster.json"
}
undisturbed() {
    run_name=$1
    shift
    # shellcheck disable=SC2086 # words are meant to be split
    troupe train "$work/g/toy.json" --run "$work/$run_name" --seed 3 $learning "$@"
}
begin() {
    rm -rf "$work/run" "$work/checkpoints" "$work/out" "$work/err"
    # shellcheck disable=SC2086
    "$TROUPE" launch "$work/cluster.json" --run "$work/run" -- $learning "$@" \
        >"$work/out" 2>"$work/err" </dev/null &
    launcher=$!
}
finish_job() {
    within is_gone "$launcher" || {
        echo "# the job hangs"
        ./tests/limit -p "$launcher" 2>&1 | sed 's/^/# /'
        kill -KILL "$launcher"
    }
    wait "$launcher"
    code=$?
}
now_ms() { echo $(($(date +%s%N) / 1000000)); }
sleep_ms() { sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"; }

# A launcher may write elsewhere than to $work/err: then $log says where.
pids() { sed -n 's/^\[[ab].*\] started, process number //p' "${log:-$work/err}"; }
# The process number of a process of the plan, as it was started last.
pid_of() {
    pid=$(sed -n "s/^\[[ab]\/[a-z]* $1\] started, process number //p" \
        "${log:-$work/err}" 2>/dev/null | tail -n 1)
    [ -n "$pid" ]
}
# A process that has ended and waits to be noticed is gone.
is_gone() { [ ! -e "/proc/$1/stat" ] || grep -q ') Z ' "/proc/$1/stat" 2>/dev/null; }
all_gone() { for p in $(pids); do is_gone "$p" || return 1; done; }
has_lines() { [ "$(cat "$work/run/metrics.jsonl" 2>/dev/null | wc -l)" -ge "$1" ]; }
losses() { sed 's/"seconds":[^,}]*//' "$1/metrics.jsonl"; }
same_run() {
    losses "$work/$1" >"$work/expected"
    losses "$work/run" >"$work/seen" 2>/dev/null
    cmp -s "$work/expected" "$work/seen" &&
        cmp -s "$work/$1/model.safetensors" "$work/run/model.safetensors"
}
# A folder with what a job needs, in the place of $work; and other random numbers.
alone() {
    folder=$work/alone.$1
    rm -rf "$folder"
    mkdir -p "$folder" && mkdir -m 700 "$folder/sockets" "$folder/other" || exit 99
    ln -s "$work/g" "$work/one" "$work/two" "$folder" 2>/dev/null
    cp "$work/cluster.json" "$folder"
    work=$folder
    state=$((state + ${1##*.}))
    pick 1
}
each() {
    function=$1
    reference=$2
    shift 2
    children=
    for process in "$@"; do
        (
            alone "$process"
            "$function" "$reference" "$process" && exit
            show_said | sed "s/^/# $process: /"
            exit 1
        ) &
        children="$children $!"
    done
    pick 2
    all=0
    for child in $children; do
        wait "$child" || all=1
    done
    return $all
}
# fits NAME: the job that was waited for is one that nobody would notice from its result
fits() { [ "$code" = 0 ] && same_run "$1"; }

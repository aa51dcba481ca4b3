# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options and lists are split into their words
# Sourced by the drivers that strike at jobs: the smallest graph that is trained on, one undisturbed run
# for each shape of cluster, and lanes that run one struck job after the other.
#
#   lanes NUMBER NAME OPTIONS     runs jobs under strike_job OPTIONS in so many lanes at once
#   settle                        sums up what those lanes saw; fails where a job did
#   prepare LANE JOB SEED         a driver may have its own: sets $shape and $more, options of strike_job;
#                                 false where there are no more jobs. after_job WHAT comes after each
#
# TROUPE_SOAK_SECONDS is the time of the whole driver, TROUPE_SOAK_JOBS the number of jobs of each lane
# instead; TROUPE_SEED the first lane's first seed, else drawn from the clock. What fails is appended to
# TROUPE_SOAK_FAILURES with the command that repeats its draws; what its processes printed lies beside it.

. "${srcdir:-.}/tests/cli/tap.sh"

striker=${STRIKE_JOB-$PWD/tests/soak/strike_job}
limit=$PWD/tests/limit
driver=$(basename "$0" .sh)
seconds=${TROUPE_SOAK_SECONDS:-60}
jobs=${TROUPE_SOAK_JOBS:-1000000}
failures=${TROUPE_SOAK_FAILURES:-$PWD/soak-failures.txt}
base=${TROUPE_SEED:-$(date +%s%N)}
until=$(($(date +%s) + seconds))
# A job that still runs so long after the last strike hangs. Members look for a coordinator for 30 s.
hang_seconds=${HANG_SECONDS:-90}
# Lanes of one driver listen here and above, three ports each, and another driver that runs at once
# elsewhere; the kernel draws its own from 32768 on.
first_port=$((20000 + base % 400 * 30))

"$TROUPE" generate sbm --nodes 60 --edges 300 --features 4 --classes 3 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/g" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
learning="--epochs 2 --hidden 8 --fanout 2,2 --batch-size 32 --quiet"

# cluster_file SHAPE PORT
cluster_file() {
    local_listener='"address": "127.0.0.1", "port":'
    case $1 in
    roles) hosts='{"name": "a", "unix": "a", "servers": 2, "samplers": 1, "trainers": 1, "processes": "role"}' ;;
    pair | own) hosts='{"name": "a", "unix": "a"}, {"name": "b", "unix": "b"}' ;;
    *) hosts="{\"name\": \"a\", $local_listener $2}, {\"name\": \"b\", $local_listener $(($2 + 1)), \"trainers\": 0},
 {\"name\": \"c\", $local_listener $(($2 + 2)), \"servers\": 0}" ;;
    esac
    checkpoints=checkpoints
    [ "$1" != own ] || checkpoints=checkpoints/%h
    printf '{"name": "job", "graph": "g/toy.json", "seed": 3, "direct": false, "insecure_network": true,
 "hosts": [%s], "checkpoints": {"folder": "%s", "every": 1}, "restart": {"times": 50, "seconds": 600}}\n' \
        "$hosts" "$checkpoints"
}
trainers_of() {
    case $1 in
    roles) echo 1 ;;
    *) echo 2 ;;
    esac
}
shapes='roles pair trio own'
for shape in $shapes; do
    # shellcheck disable=SC2046,SC2086 # words are meant to be split
    troupe train "$work/g/toy.json" --run "$work/$shape" --seed 3 --trainers $(trainers_of $shape) $learning
    expect "one process trains what $shape trains" exited 0
done

losses() { sed 's/"seconds":[^,}]*//' "$1/metrics.jsonl"; }
same_run() {
    [ "$(losses "$work/$1")" = "$(losses run 2>/dev/null)" ] &&
        cmp -s "$work/$1/model.safetensors" run/model.safetensors
}

# verdict SHAPE CODE: what is wrong with the job that ran here
verdict() {
    case $2 in
    0) same_run "$1" || echo "other losses, or another model" ;;
    3) echo "it hangs" ;;
    4) echo "processes were left behind" ;;
    *) echo "its launcher failed" ;;
    esac
}

# complain SEED SHAPE WHAT
complain() {
    log=$(dirname "$failures")/$driver-$1.log
    cp job.log "$log" 2>/dev/null
    # The next run's seed is this one's where it is the first of the first lane.
    printf 'TROUPE_SEED=%s TROUPE_SOAK_JOBS=1 make check TESTS=tests/soak/%s.sh\n    %s (%s); %s\n' \
        "$1" "$driver" "$3" "$2" "$log" >>"$failures"
}

any_shape() {
    case $(($1 / 7 % 4)) in
    0) shape=roles ;;
    1) shape=pair ;;
    2) shape=trio ;;
    *) shape=own ;;
    esac
}
prepare() {
    any_shape "$3"
    more=
}
after_job() { :; }

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# lane NUMBER OPTIONS: in a folder of its own
lane() {
    number=$1
    shift
    folder=$work/lane$number
    mkdir "$folder" && cd "$folder" && mkdir -m 700 a b && ln -s ../g g || exit 99
    for shape in $shapes; do
        cluster_file $shape $((first_port + 3 * number)) >$shape.json
    done
    done_jobs=0
    wrong=0
    longest=0
    while [ "$done_jobs" -lt "$jobs" ] && [ "$(date +%s)" -lt $until ]; do
        seed=$(((base + number * 1000003 + done_jobs * 7) % 2147483648))
        [ "$number$done_jobs" != 00 ] || seed=$base
        prepare "$number" "$done_jobs" "$seed" || break
        rm -rf run checkpoints
        begun_ms=$(now_ms)
        # shellcheck disable=SC2086
        "$striker" -s "$seed" -l $hang_seconds -p "$limit" "$@" $more "$TROUPE" launch $shape.json --run run \
            -- $learning --resume >job.log 2>&1
        what=$(verdict $shape $?)
        took_ms=$(($(now_ms) - begun_ms))
        [ "$took_ms" -le "$longest" ] || longest=$took_ms
        done_jobs=$((done_jobs + 1))
        after_job "$what"
        if [ -n "$what" ]; then
            wrong=$((wrong + 1))
            complain "$seed" $shape "$what"
        fi
        echo "$done_jobs $wrong $longest" >"tally"
    done
}

lanes() {
    how_many=$1
    shift
    first_lane=${last_lane:-0}
    last_lane=$((first_lane + how_many))
    for number in $(seq $first_lane $((last_lane - 1))); do
        (lane "$number" "$@") &
        lane_pids="$lane_pids $!"
    done
}
lane_pids=
settle() {
    for pid in $lane_pids; do
        wait "$pid" || return 1
    done
    cat "$work"/lane*/tally | awk '{ jobs += $1; wrong += $2; if ($3 > longest) longest = $3 }
        END { print "# " jobs " jobs, " wrong + 0 " wrong, the longest took " longest " ms"; exit !jobs || wrong }'
}

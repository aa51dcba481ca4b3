# SPDX-License-Identifier: Apache-2.0
# Any process of a job dies by kill -9 at any moment, from before it is ready until just before the
# end: the job finishes by itself with the same losses and model. A few moments a process here,
# eight with TROUPE_LONG_TESTS=1, and hundreds by the kill drivers of ./check soak; TROUPE_MOMENTS says how many.
epochs=150 # a second or two
. "${srcdir:-.}/tests/cli/job.sh"
moments=3
[ "$TROUPE_LONG_TESTS" != 1 ] || moments=8
moments=${TROUPE_MOMENTS-$moments}

# The time of an undisturbed job, in $whole_ms.
measure() {
    begin_ms=$(now_ms)
    begin
    finish_job
    whole_ms=$(($(now_ms) - begin_ms))
    echo "# undisturbed: $whole_ms ms"
}

# kills RUN PROCESS: at random moments. A job that ended before its moment came does not count, and
# the next moments are earlier: a machine that others load less by now is faster than it was.
kills() {
    hit=0
    jobs=0
    longest=0
    while [ $hit -lt "$moments" ] && [ $jobs -lt $((moments * 4)) ]; do
        pick "$whole_ms"
        at_ms=$picked
        begin_ms=$(now_ms)
        begin
        sleep_ms "$at_ms"
        before=$hit
        within pid_of "$2" && kill -KILL "$pid" 2>/dev/null && hit=$((hit + 1))
        finish_job
        took_ms=$(($(now_ms) - begin_ms))
        [ $hit != "$before" ] || whole_ms=$((at_ms * 3 / 4 + 1))
        [ "$took_ms" -le "$longest" ] || longest=$took_ms
        jobs=$((jobs + 1))
        fits "$1" && all_gone && continue
        echo "# process $2 killed after $at_ms ms: exit code $code after $took_ms ms"
        return 1
    done
    echo "# process $2: killed $hit times in $jobs jobs; the longest job took $longest ms"
    [ $hit = "$moments" ]
}

# storm RUN PROCESSES.N: one after the other, and two at once, in one job
storm() {
    count=${2%.*}
    round=0
    while [ $round -lt $((1 + moments / 5)) ]; do
        begin
        struck=0
        for strike in 1 2 3 4; do
            pick 700
            sleep_ms "$picked"
            pick "$count"
            pid_of "$picked" && kill -KILL "$pid" 2>/dev/null && struck=$((struck + 1))
            pick "$count"
            [ $strike != 3 ] || ! pid_of "$picked" || kill -KILL "$pid" 2>/dev/null
        done
        finish_job
        round=$((round + 1))
        fits "$1" && all_gone && continue
        echo "# exit code $code after $struck kills"
        return 1
    done
    echo "# $round jobs of $count processes, each struck up to 5 times"
}

reports() { grep -q 'trainer 0\] epochs ' "$work/out"; }

# at_the_end RUN PROCESS: as soon as its report is seen, or a little later. The model is written by
# then, but nobody may have heard of it yet.
at_the_end() {
    round=0
    while [ $round -lt "$moments" ]; do
        begin
        tries=0
        until reports || [ $tries -ge 6000 ]; do
            tries=$((tries + 1))
            sleep 0.01
        done
        pick 10
        sleep_ms "$picked"
        pid_of "$2" && kill -KILL "$pid" 2>/dev/null
        finish_job
        round=$((round + 1))
        fits "$1" && all_gone && continue
        echo "# process $2 killed $picked ms after its report: exit code $code"
        return 1
    done
}

cluster "$role_hosts"
undisturbed one
expect "one process trains" exited 0
measure
expect "four processes train the same" fits one
expect "the coordinator, a server, the sampler, the trainer are killed" each kills one 0 1 2 3
expect "several die in one job" each storm one 4.1 4.2 4.3

# Two trainers in two processes, each with a server and a sampler: both go back to the checkpoint.
cluster "$pair_hosts"
undisturbed two --trainers 2
measure
expect "two processes with a trainer each" fits two
expect "each of two trainers is killed" each kills two 0 1
expect "each of two trainers is killed when all is written" each at_the_end two 0 1
expect "both of two trainers die again and again" each storm two 2.1 2.2
finish

# SPDX-License-Identifier: Apache-2.0
# Processes of a job that are stopped without dying: a short stop is waited for, a process that the
# others count as dead is replaced. The result is the same. Processes that come late, or stay without
# a coordinator.
epochs=500 # a few seconds
. "${srcdir:-.}/tests/cli/job.sh"

# Stops it in the middle of a job. Where this script was so late that the job was nearly at its end, or
# over, another job is tried.
begin_and_stop() {
    for attempt in 1 2 3 4 5; do
        begin
        pick 25
        within has_lines $((2 + picked)) && within pid_of "$1" || return 1
        kill -STOP "$pid" 2>/dev/null && within stops "$pid" && ! is_gone "$pid" && ! has_lines 400 && return 0
        kill -CONT "$pid" 2>/dev/null
        finish_job
        echo "# attempt $attempt: process $1 was stopped too late"
    done
    return 1
}
stops() { is_gone "$1" || grep -q ') T ' "/proc/$1/stat" 2>/dev/null; }
starts() { grep -c "^\[.* $1\] started" "$work/err"; }

# short RUN PROCESS: stopped for 1 s, far less than the 5 s after which the others count it as dead, it
# goes on and so do the others. Where the machine is so busy that it did not run for 5 s all the same, it is
# replaced, which changes no result, and another job is tried.
short() {
    for chance in 1 2 3 4 5; do
        begin_and_stop "$2" || return 1
        sleep 1
        kill -CONT "$pid"
        finish_job
        fits "$1" && all_gone || return 1
        grep -q killed "$work/err" || return 0
        echo "# chance $chance: killed"
    done
    return 1
}

# long RUN PROCESS: the others count it as dead after 5 s; it does not have to go on to be replaced
long() {
    begin_and_stop "$2" || return 1
    stopped=$pid
    begin_ms=$(now_ms)
    finish_job
    took_ms=$(($(now_ms) - begin_ms))
    kill -CONT "$stopped" 2>/dev/null
    echo "# the job ended $took_ms ms after process $2 was stopped"
    fits "$1" && [ "$(starts "$2")" = 2 ] && grep -q " $2] killed" "$work/err" && all_gone
}

# start_alone PROCESS [--resume]: of a job that nobody watches
start_alone() {
    word=serve
    options=
    [ "$1" != 2 ] || word=sample
    [ "$1" != 3 ] || word=train options="--run $work/run $learning $2"
    # shellcheck disable=SC2086
    "$TROUPE" $word --cluster "$work/cluster.json" --process "$1" $options >>"$work/out.$1" \
        2>>"$work/err.$1" </dev/null &
    pid=$!
}

# unwatched RUN PROCESS: stopped for 20 s, without a launcher: who goes on learns that it is dead,
# and ends
unwatched() {
    : >"$work/err"
    for p in 0 1 2 3; do
        start_alone $p
        eval "process_$p=$pid"
    done
    # shellcheck disable=SC2154 # set by eval
    launcher=$process_3
    within has_lines 3 || return 1
    eval "pid=\$process_$2"
    stopped=$pid
    kill -STOP "$stopped"
    sleep 20
    kill -CONT "$stopped"
    within is_gone "$stopped" || return 1
    wait "$stopped"
    code=$?
    echo "# process $2 that was stopped for 20 s ended with exit code $code"
    [ $code = 1 ] && grep -q "fenced" "$work/err.$2" || return 1
    start_alone "$2" --resume
    eval "process_$2=$pid"
    [ "$2" != 3 ] || launcher=$pid
    finish_job
    for p in 0 1 2; do
        eval "pid=\$process_$p"
        within is_gone "$pid" || return 1
    done
    fits "$1"
}

# late RUN PROCESS: it comes when the others have waited for long
late() {
    : >"$work/err"
    for p in 0 1 2 3; do
        [ $p = "$2" ] && continue
        start_alone $p
        eval "process_$p=$pid"
    done
    sleep 10
    start_alone "$2"
    eval "process_$2=$pid"
    launcher=$process_3
    finish_job
    for p in 0 1 2; do
        eval "pid=\$process_$p"
        within is_gone "$pid" || return 1
    done
    fits "$1"
}

# lost RUN PROCESS: the coordinator dies and nobody starts it again
lost() {
    cluster "$role_hosts" ', "limits": {"coordinator": 2}'
    : >"$work/err"
    start_alone "$2"
    member=$pid
    start_alone 0
    # Linked, it joins at once, on a busy machine within seconds; others of these tests take longer anyhow.
    within grep -q ready "$work/out.$2" && within grep -q ready "$work/out.0" || return 1
    sleep 15
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    within is_gone "$member" || {
        kill -KILL "$member"
        return 1
    }
    wait "$member"
    [ $? = 1 ] && grep -q "the coordinator (process 0) has not answered for 2 seconds" "$work/err.$2"
}

# stall RUN WHAT.PROCESS
stall() { "${2%.*}" "$1" "${2##*.}"; }

cluster "$role_hosts"
undisturbed one
expect "one process trains" exited 0
expect "each process is stopped, for 1 s, for good, and without a launcher; or comes late; or loses \
the coordinator" each stall one short.0 short.1 short.2 short.3 long.0 long.1 long.2 long.3 \
    unwatched.0 unwatched.1 unwatched.2 unwatched.3 late.0 late.2 lost.1 lost.2
finish

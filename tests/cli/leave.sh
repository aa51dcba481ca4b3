# SPDX-License-Identifier: Apache-2.0
# A job that is stopped makes a checkpoint behind the step under way, on all of its trainers, and goes
# on from there to the model of a job that was never stopped; whoever gets the signal.
restarts=3
# Some seconds, so that the job is under way when it is stopped; a sanitizer makes an epoch take several times as long.
epochs=2500
[ -z "${TROUPE_CFLAGS:-}" ] || epochs=600
. "${srcdir:-.}/tests/cli/job.sh"

# No checkpoint but that of the stop.
never() { sed -i 's/"every": 10/"every": 1000000/' "$work/cluster.json"; }
resume() {
    # shellcheck disable=SC2086
    "$TROUPE" launch "$work/cluster.json" --run "$work/run" -- $learning --resume \
        >"$work/out" 2>"$work/err" </dev/null &
    launcher=$!
    finish_job
}
kept() { [ -n "$(ls "$work/checkpoints" 2>/dev/null)" ]; }
reached() { has_lines "$1" || is_gone "$launcher"; }

stopped() { # WHAT RUN
    finish_job
    expect "$1: the job ends with 1 and what comes next" fails_with "stopped by signal; continue with --resume"
    expect "$1: nothing is left" within all_gone
    expect "$1: a checkpoint is" kept
    cp "$work/err" "$work/err.stopped"
    resume
    expect "$1: it goes on" exited 0
    expect "$1: to the same losses and model" same_run "$2"
}

cluster "$role_hosts"
never
undisturbed one
begin
within reached 3
kill -TERM "$launcher"
stopped "the launcher of a trainer, a sampler and two servers is asked" one

cluster "$pair_hosts"
never
undisturbed two --trainers 2
for process in 0 1; do
    begin
    within reached $((2 + 3 * process))
    pid_of $process
    kill -TERM "$pid"
    stopped "process $process of two trainers is asked" two
done
begin
within reached 4
kill -TERM "$launcher"
stopped "the launcher of two trainers is asked" two

# Its end asks them all.
begin
within reached 3
kill -KILL "$launcher"
wait "$launcher" 2>"$work/err.kill"
expect "a launcher that is killed leaves no process" within all_gone
expect "but a checkpoint" kept
resume
expect "from which the next one goes on" exited 0
expect "to the same losses and model" same_run two

# So does one whose reader goes, as of `troupe launch ... | head -n 2`; no key stays in a folder, either.
of_this_job() { grep -qls "$work/cluster.json" /proc/[0-9]*/cmdline; }
no_process() { ! of_this_job; }
rm -rf "$work/run" "$work/checkpoints"
mkdir "$work/tmp"
TMPDIR=$work/tmp "$TROUPE" launch "$work/cluster.json" --run "$work/run" -- --epochs 1000000 \
    --hidden 16 --fanout 4,6 2>&1 </dev/null | head -n 2 >"$work/out"
expect "a launcher whose reader goes has said something" says started
expect "and leaves no process" within no_process
expect "nor any file" empty_folder "$work/tmp"
finish

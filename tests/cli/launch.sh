# SPDX-License-Identifier: Apache-2.0
# A job of four processes: the same model as one process has, whatever is killed; and nothing of it
# is left when it ends, however it ends. TROUPE_MOMENTS says how often each process is killed.
restarts=3
. "${srcdir:-.}/tests/cli/job.sh"
moments=${TROUPE_MOMENTS-2}
cluster "$role_hosts"

launch() {
    log=$work/err
    rm -rf "$work/run" "$work/checkpoints"
    troupe launch "$work/cluster.json" --run "$work/run" -- --epochs "$1" --hidden 16 --fanout 4,6 \
        --batch-size 32 --quiet
}
# The job in the background. What it says stands apart from what other commands say while it runs;
# $log is what the last launcher said.
begin() {
    rm -rf "$work/run" "$work/checkpoints"
    log=$work/err.job
    "$TROUPE" launch "$work/cluster.json" --run "$work/run" -- --epochs "$1" --hidden 16 --fanout 4,6 \
        --batch-size 32 --quiet >"$work/out.job" 2>"$log" </dev/null &
    launcher=$!
}
reached() { has_lines "$1" || is_gone "$launcher"; }

undisturbed one
expect "one process trains" exited 0
launch 40
expect "four processes train" exited 0
expect "with the same losses and the same model" same_run one
expect "each says when it is ready" [ "$(grep -c 'troupe: ready process' "$work/out")" = 4 ]
expect "nothing is left" all_gone

# Any process dies at any moment: the job finishes by itself, with the same model.
for process in 0 1 2 3; do
    for moment in $(seq "$moments"); do
        line=$((1 + (moment * 13 + process * 5) % 37))
        begin 40
        within reached $line || echo "# no line $line"
        pid_of $process && kill -KILL "$pid" 2>/dev/null
        finish_job
        expect "process $process killed after $line epochs: the job ends well" exited 0
        expect "process $process killed after $line epochs: with the same model" same_run one
    done
done

# A server that stands still until the others count it as dead learns so, ends and is started again.
begin 40
within reached 2
pid_of 1
kill -STOP "$pid"
sleep 7
kill -CONT "$pid"
finish_job
expect "a server that stood still: the job ends well" exited 0
expect "a server that stood still: with the same model" same_run one

# Two trainers in two processes, each with a server and a sampler of its own: when one dies, both
# go back to the last checkpoint.
cp "$work/cluster.json" "$work/four.json"
cat >"$work/cluster.json" <<E2
{"name": "job", "graph": "g/toy.json", "seed": 3,
 "hosts": [{"name": "a", "unix": "sockets"}, {"name": "b", "unix": "other"}],
 "checkpoints": {"folder": "checkpoints", "every": 5}, "restart": {"times": 3, "seconds": 600}}
E2
undisturbed two --trainers 2
expect "two trainers in one process" exited 0
for process in 0 1; do
    begin 40
    within reached $((3 + process * 11))
    pid_of $process && kill -KILL "$pid" 2>/dev/null
    finish_job
    expect "trainer $process of two killed: the job ends well" exited 0
    expect "trainer $process of two killed: with the same model" same_run two
done
mv "$work/four.json" "$work/cluster.json"

# While it runs it can be looked at.
begin 1000000
expect "a long job begins" within has_lines 3
# Each has to answer within seconds: on a busy machine it may take more than one look.
sees_all() {
    troupe status "$work/cluster.json" "$@"
    exited 0
}
expect "status sees every process" within sees_all
expect "and what the trainer took" says ' 3  a  *trainer  *yes '
within sees_all --json
expect "as JSON too" says '"process":1,"host":"a","roles":"server","up":true'
expect "with where the job stands" \
    says '"job":"job","era":[1-9][0-9]*,"epoch":[1-9][0-9]*,"epochs":1000000,"step":[0-9]*,"steps":[1-9]'
has_checkpoint() {
    troupe status "$work/cluster.json" --json
    says '"checkpoint":[1-9]'
}
expect "and the last checkpoint" within has_checkpoint
expect "and its age" says '"checkpoint_age_seconds":[0-9]'
trains() {
    troupe status "$work/cluster.json" --json
    says '"loss":[0-9.e-]*,.*"seeds":[1-9][0-9]*,"seeds_per_second":[1-9].*"processes"'
}
expect "and the loss, and seeds a second" within trains
expect "processes tell of their memory, processors and links" \
    says '"process":1,.*"rss_bytes":[1-9][0-9]*,"cpu_seconds":[0-9.]*,"cpus":[0-9.]*,.*"links":\[{"process":[0-9]*,"up":true'
expect "of what waits in mailboxes, and of the batches that the sampler made for a trainer elsewhere" \
    says '"process":2,[^}]*"mailbox_messages":[0-9]*,[^}]*"batches_made":[1-9][^}]*"mailbox_messages_max":[1-9]'
expect "and that nothing was started again" [ "$(grep -o '"process_restarts":0,' "$work/out" | wc -l)" = 4 ]
pid_of 1
kill -KILL "$pid"
knows_restart() {
    troupe status "$work/cluster.json" --json
    says '"process":1,[^}]*"up":true[^}]*"process_restarts":1,' && says '"process":3,[^}]*"up":true[^}]*"process_restarts":0,'
}
expect "a server that dies is started again, which its status says" within knows_restart
"$TROUPE" top "$work/cluster.json" >"$work/top" 2>&1 </dev/null &
top=$!
expect "top shows it" within grep -q 'made/s' "$work/top"
expect "and where the job stands" within grep -q '^era [1-9].* of 1000000, step .* checkpoint' "$work/top"
kill -TERM $top
wait $top
expect "until it is ended" [ $? = 0 ]
echo q | timeout 60 "$TROUPE" top "$work/cluster.json" >"$work/top" 2>&1
expect "q ends it where it comes from no terminal" [ $? = 0 ]

# The launcher is asked to stop, or killed: nothing is left.
kill -TERM $launcher
wait $launcher
code=$?
cp "$log" "$work/err"
expect "a signal stops the job" fails_with "stopped by signal; continue with --resume"
expect "and leaves nothing" all_gone
troupe status "$work/cluster.json"
expect "status then says that nobody is there" fails_with "4 of 4 processes do not answer"
expect "and why" says "cannot connect"
begin 1000000
within has_lines 2
kill -KILL $launcher
wait $launcher 2>/dev/null
expect "of a launcher that was killed nothing is left" within all_gone

# A failure that a restart does not mend ends everything, with its reason.
rm -rf "$work/run"
log=$work/err
troupe launch "$work/cluster.json" --run "$work/run" -- --features nothing --quiet
expect "a trainer that always fails ends the job" fails_with \
    "process 3 (trainer) ended with exit code 1; processes of this role were started again 3 times"
expect "after it said why" complains "^\[a/trainer 3\] troupe train: .*nothing"
expect "and nothing is left" all_gone

troupe serve --cluster "$work/cluster.json" --process 3
expect "a process with trainers is not started by serve" refuses_with "troupe train"
troupe serve --cluster "$work/cluster.json" --host b
expect "a host that is not there is named" refuses_with "b"
finish

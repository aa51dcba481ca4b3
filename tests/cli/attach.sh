# SPDX-License-Identifier: Apache-2.0
# The log of a job: nothing is lost when it is renamed, JSON lines are whole; and a job that was
# detached, attached to and stopped.
restarts=3
epochs=12
. "${srcdir:-.}/tests/cli/job.sh"
cluster "$role_hosts"
log_of() { cat "$work/$1" "$work/$1".* 2>/dev/null; }
# What a launcher notes of its job, and behind that how it ended.
has_job_ended() { [ "$(wc -l <"$work/$1.job")" = 2 ]; }
does_job_run() { [ "$(wc -l <"$work/$1.job")" = 1 ]; }
is_shown() { grep -q 'epoch 1' "$1"; }

# A log that is renamed again and again, while a job without an end writes epochs into it.
learning="--epochs 1000000 --hidden 16 --fanout 4,6 --batch-size 32"
# shellcheck disable=SC2086
"$TROUPE" launch "$work/cluster.json" --run "$work/run" --log "$work/a.log" --log-format json -- $learning \
    >"$work/out" 2>"$work/err" </dev/null &
launcher=$!
within test -s "$work/a.log"
# shellcheck disable=SC2086
troupe launch "$work/cluster.json" --run "$work/other" --log "$work/a.log" -- $learning
expect "two jobs share no log" fails_with "another job that runs has this log"
rotated=0
for part in 1 2 3 4 5 6; do
    within grep -qs '"message":"epoch ' "$work/a.log"
    mv "$work/a.log" "$work/a.log.$part"
    if [ "$part" -le 3 ]; then kill -HUP "$launcher"; else troupe attach --reopen "$work/a.log"; fi
    within grep -qs '"message":"epoch ' "$work/a.log" && rotated=$part
done
expect "a log is rotated" [ "$rotated" = 6 ]
expect "by a signal and by a command" exited 0
kill -TERM "$launcher"
finish_job
expect "and the job goes on until it is stopped" [ "$code" = 1 ]
rm -f "$work/a.log.job"
expect "every line is a whole object" [ "$(log_of a.log | grep -vc '^{"time":"[^"]*Z","level":"[a-z]*",.*"message":".*"}$')" = 0 ]
log_of a.log | sed -n 's/.*"role":"trainer","stream":"std[a-z]*","message":"epoch \([0-9]*\): .*/\1/p' | sort -n >"$work/epochs"
expect "with every epoch, once" eval 'seq "$(tail -n 1 "$work/epochs")" | cmp -s - "$work/epochs"'
expect "and every start" [ "$(log_of a.log | grep -c '"message":"started, ')" = 4 ]
expect "and the end" grep -q '"message":"stopped by signal; continue with --resume"}$' "$work/a.log"

# Detached: it fails here, or it is up.
learning="--epochs 1000000 --hidden 16 --fanout 4,6 --batch-size 32"
# shellcheck disable=SC2086
troupe launch "$work/cluster.json" --run "$work/run" --detach -- $learning
expect "a job that is detached needs a log" refuses_with "give --log FILE"
# shellcheck disable=SC2086
troupe launch "$work/cluster.json" --run "$work/run" --log "$work/b.log" --detach -- $learning
expect "a job that fails before it is up fails here" [ "$code" != 0 ]
expect "with the reason in its log" grep -q 'holds a run already' "$work/b.log"
troupe attach "$work/b.log"
expect "which is shown later too, with its exit code" [ "$code" != 0 ]
expect "by its last lines" says 'trainer 3'
rm -rf "$work/run" "$work/checkpoints"
# shellcheck disable=SC2086
troupe launch "$work/cluster.json" --run "$work/run" --log "$work/b.log" --detach -- $learning
expect "a job is detached" exited 0
expect "which says how to watch it" says "troupe attach $work/b.log"
expect "and runs" does_job_run b.log
"$TROUPE" attach "$work/b.log" >"$work/out.one" 2>&1 </dev/null &
one=$!
"$TROUPE" attach "$work/run/" >"$work/out.two" 2>&1 </dev/null &
two=$!
expect "two attach to it, by its log and its run" within is_shown "$work/out.one"
expect "and both see it" within is_shown "$work/out.two"
kill "$one"
wait "$one"
expect "it runs on when one leaves" does_job_run b.log
(cd "$work" && troupe attach --stop cluster.json && exit "$code")
code=$?
expect "it is stopped, by its cluster file" exited 1
expect "and its end is shown" says 'error the job was stopped\|error .*stop'
wait "$two"
expect "the other one ends with it" [ $? = 1 ]
expect "its history says so" grep -q '"event":"finished","outcome":"stopped"' "$work/run/events.jsonl"
expect "nothing is left of it" has_job_ended b.log
troupe attach --reopen "$work/b.log"
expect "whose log needs no rotation" exited 0
troupe attach "$work/run"
expect "a run without a job is named" fails_with "$work/run: no job of yours with a log has this run on this host; give the file"
troupe attach "$work/cluster.json"
expect "and a cluster file" fails_with "$work/cluster.json: no job has this log, nor does one .* by this cluster file; give the file"
troupe attach --stop --reopen "$work/b.log"
expect "a job is stopped or its log opened again" refuses_with "give --stop or --reopen"

# A run in a folder that its cluster file names is found there.
mkdir "$work/elsewhere"
cluster "$role_hosts" ', "launcher": {"workdir": "elsewhere"}'
sed -i "s|\"elsewhere\"|\"$work/elsewhere\"|; s|\"g/toy.json\"|\"$work/g/toy.json\"|" "$work/cluster.json"
rm -rf "$work/checkpoints"
# shellcheck disable=SC2086
troupe launch "$work/cluster.json" --run away --log "$work/d.log" --detach -- $learning
expect "a job works in another folder" exited 0
troupe attach --stop "$work/elsewhere/away"
expect "and is found by its run there" says 'error .*stop'
expect "which is stopped" within has_job_ended d.log
troupe attach "$work/nowhere.log"
expect "a log of no job is named" fails_with "no job has this log"
finish

# SPDX-License-Identifier: Apache-2.0
# The history of a job, events.jsonl: of one process, of several, of one that lost a process, of one
# that was gone on with, replaced or refused.
restarts=3
. "${srcdir:-.}/tests/cli/job.sh"

# The lines of a run's history with that event, without their times.
events() { sed -n 's/^{"time":"20[0-9T:.-]*Z","event":"'"$2"'"/&/p' "$work/$1/events.jsonl"; }
count() { test "$(events "$1" "$2" | wc -l)" "$3" "$4"; }
whole() { [ "$(grep -c '^{"time":"20[0-9-]*T[0-9:]*\.[0-9][0-9][0-9]Z","event":"[a-z]*".*}$' "$work/$1/events.jsonl")" = "$(wc -l <"$work/$1/events.jsonl")" ]; }
last() { tail -n 1 "$work/$1/events.jsonl" | grep -q "$2"; }

undisturbed one --checkpoint-every 10
expect "one process trains" exited 0
expect "its history begins" count one begun = 1
expect "has its checkpoints" count one checkpoint -gt 3
expect "its era" count one era = 1
expect "and its end" last one '"event":"finished","outcome":"complete"}$'
expect "in whole lines" whole one

troupe train "$work/g/toy.json" --run "$work/one" --epochs 2 --replace --quiet
expect "a run is replaced" exited 0
expect "and so is its history" count one begun = 1
troupe train "$work/g/toy.json" --run "$work/one" --epochs 3 --resume --checkpoint-every 2 --quiet
expect "a run is gone on with" exited 0
expect "and so is its history" count one begun = 2
expect "which says so" [ "$(events one begun | grep -c '"resumed":true')" = 1 ]
cp "$work/one/events.jsonl" "$work/before"
troupe train "$work/g/toy.json" --run "$work/one" --epochs 2 --quiet
expect "a run is in the way" fails_with holds
expect "its history stays" cmp -s "$work/before" "$work/one/events.jsonl"

# A job without an end loses a server and the trainer, and is stopped when both are back.
epochs=1000000
learning="--epochs $epochs --hidden 16 --fanout 4,6 --batch-size 32 --quiet"
cluster "$role_hosts"
begin
within has_lines 8
pid_of 1 && kill -KILL "$pid"
within count run era -ge 1
within has_lines 25
pid_of 3 && kill -KILL "$pid"
expect "a job that loses a server and the trainer has both again" within count run started = 6
expect "and trains on" within count run era -ge 2
within count run checkpoint -gt 3
kill -TERM "$launcher"
finish_job
expect "until it is stopped" [ "$code" != 0 ]
expect "its history begins once" count run begun = 1
expect "and counts its processes" [ "$(events run begun | grep -c '"by":"launch","job":"job",.*"processes":4')" = 1 ]
expect "the trainer was killed" [ "$(events run ended | grep -c '"process":3,"host":"a","role":"trainer","signal":9')" = 1 ]
expect "and the server" [ "$(events run ended | grep -c '"process":1,"host":"a","role":"server","signal":9')" = 1 ]
expect "checkpoints were made" count run checkpoint -gt 3
expect "its processes were asked to stop" count run stopping -ge 1
expect "it ended so" last run '"event":"finished","outcome":"stopped"'
expect "in whole lines" whole run

troupe inspect "$work/run" --json
expect "its events are shown to scripts" says '"num_events":[0-9]*,"events":\[{"time":"20[^"]*Z","event":"begun","process":null,.*"event":"ended","process":3,"role":"trainer","host":"a","step":0,"pid":0,"exit_code":0,"signal":9,'
expect "all of them" [ "$(grep -o '"event":' "$work/out" | wc -l)" = "$(wc -l <"$work/run/events.jsonl")" ]
troupe inspect "$work/one"
expect "an end without a reason has none" eval '! says "complete: complete"'
troupe inspect "$work/run"
expect "and to people" says '  3  *trainer  *a  *signal 9$'
expect "of checkpoints in a row the last one" awk \
    '/^20/ { if ($2 == "checkpoint") seen++; twice += $2 == "checkpoint" && was == $2; was = $2 } END { exit !seen || twice }' "$work/out"
printf '{"time":"20' >>"$work/run/events.jsonl"
troupe report "$work/run" --out "$work/page.html"
expect "they are drawn, whatever a line is that was not finished" grep -q '<figcaption>History of ' "$work/page.html"
expect "a bar for each life of a process" [ "$(grep -c '^<rect class="f0"\|</text><rect class="f0"' "$work/page.html")" -ge 6 ]
expect "with the failures" [ "$(grep -o '<path class="death"' "$work/page.html" | wc -l)" -ge 2 ]
expect "and what was said of them" grep -q '<td>ended by signal 9</td><td>3 trainer</td><td>a</td>' "$work/page.html"

cp "$work/run/events.jsonl" "$work/before"
# shellcheck disable=SC2086
troupe launch "$work/cluster.json" --run "$work/run" -- $learning
expect "a job in the place of another is refused" [ "$code" != 0 ]
expect "and leaves its history" cmp -s "$work/before" "$work/run/events.jsonl"

finish

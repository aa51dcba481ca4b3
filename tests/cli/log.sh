# SPDX-License-Identifier: Apache-2.0
# The logs of processes themselves: a training's, which is renamed while it writes; those of servers and
# of samplers; of launched trainers, whose launcher no longer has their lines.
restarts=0
epochs=3
. "${srcdir:-.}/tests/cli/job.sh"
cluster "$role_hosts"
log_of() { cat "$work/$1".* "$work/$1" 2>/dev/null; }
endless="--epochs 1000000 --hidden 16 --fanout 4,6 --batch-size 32"

# A training alone, as nohup(1) would start it: SIGHUP is for its log.
# shellcheck disable=SC2086
(
    trap '' HUP
    exec "$TROUPE" train "$work/g/toy.json" --run "$work/alone" $endless --quiet --log "$work/a" --log-format json \
        >"$work/out.alone" 2>"$work/err.alone" </dev/null
) &
training=$!
rotated=0
for part in 1 2 3 4 5 6; do
    within grep -qs '"message":"epoch ' "$work/a"
    mv "$work/a" "$work/a.$part" && kill -HUP "$training"
    within grep -qs '"message":"epoch ' "$work/a" && rotated=$part
done
expect "the log of a training is rotated" [ "$rotated" = 6 ]
kill -TERM "$training"
wait "$training"
expect "and the training goes on until it is stopped" [ $? = 1 ]
log_of a | sed -n 's/^{"time":"[^"]*Z","level":"info","message":"epoch \([0-9]*\): .*"}$/\1/p' >"$work/epochs"
expect "it has every epoch, once" eval 'seq "$(tail -n 1 "$work/epochs")" | cmp -s - "$work/epochs"'
expect "in whole objects" [ "$(log_of a | grep -vc '^{"time":"[^"]*Z","level":"[a-z]*","message":".*"}$')" = 0 ]
expect "and what ended it" grep -q '"level":"error","message":"stopped in epoch .*; continue with --resume"}$' "$work/a"
expect "which the standard error has too, alone" \
    [ "$(grep -c "^troupe train: stopped in epoch .*; continue with --resume$" "$work/err.alone"):$(wc -l <"$work/err.alone")" = 1:1 ]

# Several trainings, and one that ends.
# shellcheck disable=SC2086
troupe train "$work/g/toy.json" --run "$work/seeds" --seeds 1,2 $learning --log "$work/b"
expect "several trainings have one log" exited 0
expect "with what came of each" [ "$(grep -c "Z info $work/seeds/seed-[12]: validation" "$work/b")" = 2 ]
expect "which ends as they do" [ "$(tail -n 1 "$work/b" | cut -d ' ' -f 2-)" = "info the command has ended without an error" ]
expect "and nothing of it is on the standard error" [ ! -s "$work/err" ]
# SIGHUP is for the log also between two of them.
# shellcheck disable=SC2086
"$TROUPE" train "$work/g/toy.json" --run "$work/many" --seeds 1-40 $learning --log "$work/b2" \
    >"$work/out.many" 2>"$work/err.many" </dev/null &
many=$!
within test -s "$work/b2"
while [ -e "/proc/$many" ] && ! grep -qs ') Z ' "/proc/$many/stat"; do kill -HUP "$many"; done
wait "$many"
expect "no moment is there in which SIGHUP ends them" [ $? = 0 ]
troupe train "$work/g/toy.json" --run "$work/none" --log "$work/nowhere/log"
expect "a log that cannot be opened is refused first" fails_with "log: No such file"
expect "and nothing is begun" absent "$work/none"

# A server and a sampler, of a job whose other processes never come.
for role in serve:0:server sample:2:sampler; do
    command=${role%%:*} number=${role#*:}
    number=${number%:*}
    "$TROUPE" "$command" --cluster "$work/cluster.json" --process "$number" --log "$work/$command.log" --verbose \
        >"$work/out.$command" 2>"$work/err.$command" </dev/null &
    process=$!
    within grep -qs "\[a/${role##*:} $number\] " "$work/$command.log"
    expect "$command has a log of its process" [ $? = 0 ]
    mv "$work/$command.log" "$work/$command.log.1" && kill -HUP "$process"
    expect "which is opened again" within test -e "$work/$command.log"
    kill -TERM "$process"
    wait "$process"
    expect "and has the end" grep -q "\[a/${role##*:} $number\] " "$work/$command.log"
done

# In a job.
cluster "$role_hosts"
# shellcheck disable=SC2086
troupe launch "$work/cluster.json" --run "$work/run" -- --epochs 3 --hidden 16 --fanout 4,6 --batch-size 32 --log "$work/c" --log-format json
expect "launched trainers have logs" exited 0
expect "with their names" [ "$(grep -c '"process":3,"host":"a","role":"trainer","message":"epoch [123]: ' "$work/c")" = 3 ]
expect "and their launcher has them no more" eval '! cat "$work/out" "$work/err" | grep -q "epoch 1"'
expect "but what they found" says 'training loss of the last epoch'
finish

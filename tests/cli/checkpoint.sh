# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options and lists are split into their words
# A run that is killed at any moment and resumed ends with the losses and the model, byte for byte,
# of one that was not; damage to the newest checkpoint costs steps, not the run.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 900 --edges 20000 --features 24 --classes 4 --signal 0.4 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method metis --name toy --out "$work/p2" --quiet \
    >"$work/out" 2>"$work/err" || exit 99

losses() { sed 's/"seconds":[^,}]*//' "$1/metrics.jsonl"; }

# Enough of them that one process can not end before it is looked at.
options="--epochs 30 --hidden 48 --fanout 6,8 --batch-size 20 --seed 9 --quiet"

# equal WHAT RUN OTHER
equal() {
    losses "$work/$2" >"$work/expected"
    losses "$work/$3" >"$work/seen"
    expect "$1: the same losses" cmp -s "$work/expected" "$work/seen"
    expect "$1: the same model" cmp -s "$work/$2/model.safetensors" "$work/$3/model.safetensors"
}

# start RUN OPTIONS...: in the background, as $pid
start() {
    run_folder=$work/$1
    shift
    "$TROUPE" train "$work/p2/toy.json" --run "$run_folder" $options "$@" >"$work/out" 2>"$work/err" &
    pid=$!
}

# checkpoints RUN: how many steps the newest has
newest() {
    ls "$work/$1/checkpoints" 2>/dev/null | sed -n 's/^checkpoint-//p' | sort -n | tail -n 1
}

# kill_after_next RUN LAST: kills the process after another checkpoint came. One that has made its last,
# which counts LAST steps, is let go: who dies while it removes older ones leaves that to the next
# checkpoint. The process stands still while this is looked at.
kill_after_next() {
    before=$(newest "$1")
    while kill -0 $pid 2>/dev/null; do
        [ "$(newest "$1")" = "$before" ] || break
    done
    kill -STOP $pid 2>/dev/null
    until [ ! -e /proc/$pid/stat ] || grep -q ') [TZ] ' /proc/$pid/stat 2>/dev/null; do
        :
    done
    if [ "0$(newest "$1")" -lt "$2" ]; then
        kill -9 $pid 2>/dev/null
    else
        kill -CONT $pid 2>/dev/null
    fi
    wait $pid 2>/dev/null
    [ $? != 137 ] || deaths=$((deaths + 1))
}

for trainers in 1 3; do
    troupe train "$work/p2/toy.json" --run "$work/whole-$trainers" $options --trainers $trainers --checkpoint-every 3
    expect "$trainers trainers: trains" exited 0
    start killed-$trainers --trainers $trainers --checkpoint-every 3 --resume
    deaths=0
    last=$(newest whole-$trainers)
    while [ $deaths -lt 6 ] && [ "0$(newest killed-$trainers)" -lt "$last" ]; do
        kill_after_next killed-$trainers "$last"
        start killed-$trainers --trainers $trainers --checkpoint-every 3 --resume
    done
    wait $pid
    code=$?
    cp "$work/out" "$work/out.ended"
    expect "$trainers trainers: resumed after $deaths deaths" [ "$code/$((deaths > 0))" = 0/1 ]
    equal "$trainers trainers, killed" whole-$trainers killed-$trainers
    expect "$trainers trainers: two checkpoints are kept" \
        [ "$(ls "$work/killed-$trainers/checkpoints" | wc -l)" = 2 ]
done

cp -r "$work/killed-3" "$work/ended"
troupe train "$work/p2/toy.json" --run "$work/ended" ${options% --quiet} --trainers 3 --checkpoint-every 3 --resume
expect "a run that has ended is not trained again, which is said" \
    complains 'ended is complete after 30 epochs: there is nothing left to train; give a larger --epochs to go on, or --replace'
expect "and its result reported, as it was" [ "$code/$(sed '/^time in all/d; /^run /d; /^next/d; /^loss /d; /^score /d' "$work/out")" \
    = "0/$(sed '/^time in all/d; /^run /d; /^next/d; /^loss /d; /^score /d' "$work/out.ended")" ]
expect "with no file changed" diff -r "$work/killed-3" "$work/ended"
rm -r "$work/ended/checkpoints"
troupe train "$work/p2/../p2/toy.json" --run "$work/ended" $options --trainers 3 --resume --json
expect "without checkpoints too, by whatever name of the graph" says '"epochs":30,.*"test_accuracy":'
expect "nor is it then" cmp "$work/killed-3/metrics.jsonl" "$work/ended/metrics.jsonl"

# One that was to grow and was stopped before it did has not ended.
cp -r "$work/killed-3" "$work/grown"
sed -i 's/"epochs": 30/"epochs": 33/' "$work/grown/config.json"
troupe train "$work/p2/toy.json" --run "$work/grown" --hidden 48 --fanout 6,8 --batch-size 20 --seed 9 \
    --quiet --trainers 3 --resume --epochs 33
expect "a run that was to grow when it was stopped grows" [ "$code/$(grep -c '"epoch":' "$work/grown/metrics.jsonl")" = 0/33 ]

# The same graph in other partitions, another graph of the same size, and one of another.
"$TROUPE" partition "$work/raw" --parts 3 --method random --name toy --out "$work/p3" --quiet >"$work/out" 2>"$work/err" || exit 99
for seed in 2 3; do
    { "$TROUPE" generate sbm --nodes $((898 + seed)) --edges 20000 --features 24 --classes 4 --signal 0.4 --seed $seed \
        --out "$work/raw-$seed" --quiet &&
        "$TROUPE" partition "$work/raw-$seed" --parts 2 --method metis --name toy --out "$work/other-$seed" --quiet
    } >"$work/out" 2>"$work/err" || exit 99
done
cp -r "$work/killed-3" "$work/lent"
troupe train "$work/p3/toy.json" --run "$work/lent" $options --trainers 3 --checkpoint-every 3 --resume
expect "a run that goes on with other files of a graph says so" \
    complains 'the files of .*p3/toy.json are not those that the run was begun with (.*p2/toy.json)'
expect "and is not said to have ended" sh -c "! grep -q 'nothing left to train' '$work/err'"
rm -r "$work/lent" && cp -r "$work/killed-3" "$work/lent"
troupe train "$work/other-2/toy.json" --run "$work/lent" $options --trainers 3 --checkpoint-every 3 --resume
expect "other masks that mark as many nodes are refused by name" \
    fails_with "the nodes of .*other-2/toy.json to train on, by 'train_mask', are not those of the run"
expect "with the run as it was" diff -r "$work/killed-3" "$work/lent"
rm -r "$work/lent" && cp -r "$work/killed-3" "$work/lent"
troupe train "$work/other-3/toy.json" --run "$work/lent" --hidden 48 --fanout 6,8 --batch-size 20 --seed 9 --quiet --trainers 3 \
    --checkpoint-every 3 --resume --epochs 40
expect "checkpoints of another graph are refused" exited 1
expect "with the record as it was" cmp "$work/killed-3/config.json" "$work/lent/config.json"

# What is tried below is of a run that was killed before its test.
untested() { sed -i '/"test"/d' "$work/killed-3/metrics.jsonl"; }
untested
last=$(newest killed-3)
dd if=/dev/zero of="$work/killed-3/checkpoints/checkpoint-$last/part1" bs=1 seek=200 count=64 \
    conv=notrunc 2>"$work/err"
troupe train "$work/p2/toy.json" --run "$work/killed-3" $options --trainers 3 --checkpoint-every 3 \
    --resume
expect "a damaged checkpoint: the one before it will do" exited 0
expect "a damaged checkpoint: it is said which" complains "part1"
equal "a damaged checkpoint" whole-3 killed-3
untested

mkdir "$work/killed-3/checkpoints/99999-4.tmp" "$work/killed-3/checkpoints/checkpoint-77777"
troupe train "$work/p2/toy.json" --run "$work/killed-3" $options --trainers 3 --checkpoint-every 3 \
    --resume
expect "what has no manifest: passed over" exited 0
expect "what has no manifest: removed" \
    [ "$(ls "$work/killed-3/checkpoints" | grep -c '99999\|77777')" = 0 ]

troupe train "$work/p2/toy.json" --run "$work/killed-3" $options --trainers 2 --checkpoint-every 3 \
    --resume
expect "another number of trainers is refused" fails_with "trainers"
troupe train "$work/p2/toy.json" --run "$work/killed-3" $options --trainers 3 --checkpoint-every 3 \
    --resume --dropout 0.1
expect "other options are refused, each named" fails_with "options: --dropout (it was 0.*, now 0.1); go on"
troupe train "$work/p2/toy.json" --run "$work/other" $options --trainers 3 --checkpoint-every 3 \
    --checkpoints "$work/killed-3/checkpoints"
expect "checkpoints of another run are refused" fails_with "has checkpoints already"
troupe train "$work/p2/toy.json" --run "$work/killed-3" $options --trainers 3 --resume --replace
expect "--resume and --replace disagree" refuses_with "resume"

sed -i 's/"kernels": "[^"]*"/"kernels": "an abacus"/' "$work/killed-3/config.json"
troupe train "$work/p2/toy.json" --run "$work/killed-3" $options --trainers 3 --checkpoint-every 3 \
    --resume --reproducible
expect "--reproducible refuses other kernels" fails_with "abacus"
troupe train "$work/p2/toy.json" --run "$work/killed-3" --hidden 48 --fanout 6,8 --batch-size 20 --seed 9 --quiet \
    --trainers 3 --resume --epochs 31
expect "a run that ended goes on to more epochs" grep -q '"epoch":31' "$work/killed-3/metrics.jsonl"
rm -r "$work/killed-3/checkpoints"
untested
troupe train "$work/p2/toy.json" --run "$work/killed-3" --hidden 48 --fanout 6,8 --batch-size 20 --seed 9 --quiet \
    --trainers 3 --resume --epochs 31
expect "a run whose checkpoints are gone begins again, which is said" \
    complains 'killed-3 has no checkpoint to go on from: the training begins anew, and replaces the epochs that were trained'
expect "to its end" exited 0
expect "which its record has, with the kernels of today" \
    [ "$(grep -c '"epochs": 31,*$' "$work/killed-3/config.json")/$(grep -c abacus "$work/killed-3/config.json")" = 1/0 ]
finish

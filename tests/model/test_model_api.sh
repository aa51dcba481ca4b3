# SPDX-License-Identifier: Apache-2.0
# libtroupe-model from a program: the example trains and infers as the command does, bit for bit.
. "${srcdir:-.}/tests/cli/tap.sh"
here=$PWD

"$TROUPE" generate sbm --nodes 2000 --edges 20000 --features 16 --classes 4 --signal 1 --seed 1 \
    --out "$work/raw" --quiet >"$work/out" 2>"$work/err" || exit 99
for parts in 1 3; do
    "$TROUPE" partition "$work/raw" --parts $parts --method random --out "$work/parts-$parts" --name g \
        --quiet >"$work/out" 2>"$work/err" || exit 99
done
graph=$work/parts-3/g.json

troupe train "$work/parts-1/g.json" --run "$work/command" --epochs 5 --hidden 16 --batch-size 256 \
    --seed 3 --json --quiet
accuracy=$(sed -n 's/.*"test_accuracy":\([0-9.]*\).*/\1/p' "$work/out")
cd "$work" || exit 99
run "$here/examples/train_model" "$graph" "$work/library"
cd "$here" || exit 99
expect "a program trains and infers" exited 0
expect "its model has the bytes of the command's" cmp "$work/command/model.safetensors" \
    "$work/library/model.safetensors"
for who in command library; do
    sed 's/"seconds":[^,}]*//' "$work/$who/metrics.jsonl" >"$work/$who.lines"
done
expect "its epochs and scores are the command's" cmp "$work/command.lines" "$work/library.lines"
expect "it pulled every epoch" test "$(grep -c '^epoch' "$work/out")" = 5
expect "and the result" says "^best epoch [1-5], test accuracy "
short=$(printf '%.6f' "$accuracy")
found=$(sed -n 's/^2000 nodes, 4 outputs each, test accuracy //p' "$work/out")
expect "exact inference finds the same accuracy" test "$(printf '%.6f' "$found")" = "$short"

troupe infer "$graph" --run "$work/library" --exact --out "$work/command.npy" --quiet
expect "the command reads the program's run" exited 0
expect "and finds the same outputs" cmp "$work/command.npy" "$work/logits.npy"

run tests/model/model_api "$graph" "$work/library" "$work/cancelled"
expect "wrong options, other sizes, other tasks and a cancel give what the header says" exited 0

# Two trainers: in one task, and in the tasks of two processes, as the command has them.
troupe train "$graph" --run "$work/two" --epochs 2 --hidden 8 --trainers 2 --quiet
expect "the command trains with two trainers" exited 0
run tests/model/model_api ranks "$graph" "$work/ranks"
expect "a program trains with two, and hears of checkpoints, epochs and the end" exited 0
expect "with the same model" cmp "$work/two/model.safetensors" "$work/ranks/model.safetensors"
mkdir -m 700 "$work/a" "$work/b" || exit 99
printf '{"name": "job", "graph": "parts-3/g.json", "hosts": [{"name": "a", "unix": "a"}, {"name": "b", "unix": "b"}]}\n' \
    >"$work/cluster.json"
timeout 120 tests/model/model_api member "$work/cluster.json" b "$work/members" >"$work/out.b" 2>&1 &
run timeout 120 tests/model/model_api member "$work/cluster.json" a "$work/members"
expect "two processes train" exited 0
wait
expect "the other one too" test ! -s "$work/out.b"
expect "with the same model as well" cmp "$work/two/model.safetensors" "$work/members/model.safetensors"
run timeout 120 tests/model/model_api cancelled "$work/cluster.json" a "$work/never"
expect "one that waits for the other is cancelled" exited 0

head -c 100 "$work/library/model.safetensors" >"$work/cut" && cp "$work/cut" "$work/library/model.safetensors"
run "$here/examples/train_model" "$graph" "$work/library"
expect "a run that is there is not overwritten" complains 'holds a run already'
finish

# Training and inference from the command line: what a run leaves, what is refused.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 600 --edges 6000 --features 8 --classes 3 --signal 1 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/parts" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
graph=$work/parts/toy.json

troupe train "$graph" --run "$work/run" --epochs 20 --hidden 16 --batch-size 64 --json --quiet
expect "a run ends with a test accuracy" says '"test_accuracy":0\.[89]\|"test_accuracy":1'
expect "it leaves the model" test -s "$work/run/model.safetensors"
expect "its configuration" grep -q '"kind": "sage"' "$work/run/config.json"
expect "and a line an epoch, and one of the test" test "$(wc -l <"$work/run/metrics.jsonl")" = 21
sed -n 's/.*"test_accuracy":\([0-9.]*\).*/\1/p' "$work/out" >"$work/accuracy"

troupe infer "$graph" --run "$work/run" --exact --json --quiet
expect "exact inference reads the run and finds the same accuracy" says "\"accuracy\":$(cat "$work/accuracy")"
troupe infer "$graph" --run "$work/run" --out "$work/logits.npy" --quiet
expect "sampled inference writes every node's outputs" says '^nodes  *600$'
expect "600 rows of 3 float32 after a header" test "$(wc -c <"$work/logits.npy")" -ge $((600 * 3 * 4 + 64))
troupe infer "$graph" --run "$work/parts" --exact
expect "a folder without a run is named" fails_with "config.json is missing"

troupe train "$graph" --run "$work/run" --epochs 1 --quiet
expect "a run that is there is not overwritten" fails_with "$work/run holds a run already"
troupe train "$graph" --run "$work/run" --epochs 1 --quiet --replace --model gcn --hidden 8
expect "unless that is asked for" grep -q '"kind": "gcn"' "$work/run/config.json"

refused() {
    what=$1
    sentence=$2
    shift 2
    troupe train "$@" --run "$work/none" --quiet
    expect "$what" complains "$sentence"
    expect "$what: exit code" test "$code" != 0
}
refused "a feature that is not there is named" nosuch "$graph" --features nosuch
refused "so is a mask" nomask "$graph" --train-mask nomask
refused "fanouts and layers must agree" "numbers for 3 layers" "$graph" --layers 3 --fanout 5,5
refused "a graph that is not there is named" "$work/nowhere.json" "$work/nowhere.json"
expect "what was refused left no folder" absent "$work/none"

printf 'x' | dd of="$work/run/model.safetensors" bs=1 seek=9 conv=notrunc 2>"$work/err"
troupe infer "$graph" --run "$work/run" --exact
expect "a damaged model is refused with its path" fails_with model.safetensors

# An interrupted run says so, ends with 1 and leaves no model.
"$TROUPE" train "$graph" --run "$work/stopped" --epochs 1000000 --quiet >"$work/out" 2>"$work/err" </dev/null &
child=$!
tries=0
while [ ! -s "$work/stopped/metrics.jsonl" ] && [ $tries -lt 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -TERM $child
wait $child
code=$?
expect "a signal ends a run with exit code 1" exited 1
expect "with a sentence" complains "troupe train: "
expect "and no model" absent "$work/stopped/model.safetensors"
finish

# SPDX-License-Identifier: Apache-2.0
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
expect "a run that is there is not overwritten" fails_with "$work/run holds a run already; give --replace, or another folder as --run"
touch "$work/run/.config.json.tmp-4194305-0" # as a kill at the start of a run leaves it
troupe train "$graph" --run "$work/run" --epochs 1 --quiet --replace --model gcn --hidden 8
expect "unless that is asked for" grep -q '"kind": "gcn"' "$work/run/config.json"
expect "what a killed run left half written is gone" sh -c "! ls -A '$work/run' | grep tmp"

troupe train "$graph" --run "$work/unseen" --epochs 1 --quiet --metrics 192.0.2.1:9464
expect "metrics that can be served nowhere end no run" exited 0
expect "a warning says so" complains '^troupe: --metrics 192.0.2.1:9464: .*; the process goes on without$'
troupe train "$graph" --run "$work/unheard" --epochs 1 --quiet --metrics nowhere
expect "but an address that is none is refused" complains '--metrics: nowhere is no address'
expect "it is a failure" test "$code" != 0

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
refused "a fanout of 0 names the new spelling" "number 2 is 0.*write -1 for all" "$graph" --fanout 5,0
refused "a fanout below -1 is none" "not whole numbers" "$graph" --fanout 5,-2
refused "fanouts and layers must agree" "numbers for 3 layers" "$graph" --layers 3 --fanout 5,5
refused "a graph that is not there is named" "$work/nowhere.json" "$work/nowhere.json"
expect "what was refused left no folder" absent "$work/none"

# Other objectives, schedules and ways to evaluate. Two more label tables of one byte an element: "tags", three
# independent yes-or-no labels a node of which some are unknown, and "rare", which marks two fifths of
# class 0, at random as far as features tell.
tail -c $((600 * 8)) "$work/raw/node_data/_N/label.npy" | od -An -v -t d8 -w8 >"$work/classes"

# bytes_npy NAME SHAPE EXPRESSION: an int8 table whose row is the awk expression, in octal, of class $1.
bytes_npy() {
    {
        printf '\223NUMPY\001\000v\000'
        printf '%-117s\n' "{'descr': '|i1', 'fortran_order': False, 'shape': $2, }"
        # shellcheck disable=SC2059 # The bytes are the format.
        printf "$(awk "{ printf \"%s\", $3 }" "$work/classes")"
    } >"$work/raw/node_data/_N/$1.npy"
    sed "s|^    \"_N\": {|&\"$1\": {\"format\": {\"name\": \"numpy\"}, \"data\": [\"node_data/_N/$1.npy\"]},|" \
        "$work/raw/metadata.json" >"$work/metadata" && mv "$work/metadata" "$work/raw/metadata.json"
}
bytes_npy tags '(600, 3)' '($1 == 0 ? "\\001" : "\\000") ($1 == 1 ? "\\001" : "\\000") (NR % 10 == 0 ? "\\377" : $1 != 2 ? "\\001" : "\\000")'
bytes_npy rare '(600,)' '$1 == 0 && NR % 5 < 2 ? "\\001" : "\\000"'
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/tagged" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
graph=$work/tagged/toy.json

# learn OPTIONS...: a short run in $work/run.
learn() {
    troupe train "$graph" --run "$work/run" --replace --hidden 16 --batch-size 64 --json --quiet "$@"
}

# result KEY: a number of the last run's report.
result() { sed -n "s/.*\"$1\":\([0-9.e-]*\).*/\1/p" "$work/out"; }

# more A B: both are numbers and A is larger.
more() { awk -v a="${1:-none}" -v b="${2:-none}" 'BEGIN { exit !(a + 0 == a && b + 0 == b && a > b) }'; }

# rates: the learning rates of the last run, in one line.
rates() { sed -n 's/.*"rate":\([0-9.e-]*\).*/\1/p' "$work/run/metrics.jsonl" | tr '\n' ' '; }

learn --labels tags --loss sigmoid --metric roc-auc --epochs 20
expect "several labels a node: ROC AUC" more "$(result test_roc_auc)" 0.95
expect "several labels a node: macro-F1" more "$(result test_macro_f1)" 0.8
troupe infer "$graph" --run "$work/run" --exact --json --quiet
expect "several labels a node: inference scores by them too" says '"roc_auc":0\.9\|"roc_auc":1'
learn --labels tags --loss sigmoid --balanced-weights --metric macro-f1 --epochs 20
expect "several labels a node, weighted: macro-F1" more "$(result test_macro_f1)" 0.8
learn --labels tags --epochs 1
expect "several labels a node need their loss" fails_with "'tags' is not one number a node"

learn --labels rare --epochs 20 --l2 0.02 --metric loss
plain=$(result test_macro_f1)
learn --labels rare --epochs 20 --l2 0.02 --metric loss --balanced-weights
expect "balanced weights find a rare class" more "$(result test_macro_f1)" "$plain"

learn --epochs 20 --optimiser sgd --momentum 0.9 --lr 0.1 --eval sampled --metric loss
expect "sgd learns, evaluated by sampling" more "$(result test_accuracy)" 0.8
learn --epochs 2 --eval none
expect "without evaluation nothing is scored" sh -c "! grep -q '\"test' '$work/out'"
learn --epochs 7 --eval-every 3
expect "every third epoch is evaluated, and the last" \
    test "$(grep -c '"val":{' "$work/run/metrics.jsonl")" = 3
learn --epochs 500 --patience 3 --lr 0.05
stopped=$(result epochs)
expect "patience ends a run early" more 500 "$stopped"
expect "three evaluations after its best" test "$(result best_epoch)" = $((stopped - 3))

learn --epochs 6 --lr 0.5 --schedule steps --step-epochs 2 --step-gamma 0.5 --eval none
expect "the rate falls in steps" test "$(rates)" = "0.5 0.5 0.25 0.25 0.125 0.125 "
learn --epochs 4 --lr 0.5 --warmup 4 --eval none
expect "the rate warms up" test "$(rates)" = "0.125 0.25 0.375 0.5 "
learn --epochs 9 --lr 0.5 --schedule cosine --cosine-floor 0.5 --eval none
expect "a cosine ends at its floor" test "$(rates | awk '{ print $1, $5, $9 }')" = "0.5 0.375 0.25"

learn --epochs 3 --eval none
cp "$work/run/model.safetensors" "$work/plain"
learn --epochs 3 --eval none --l2 0.1
cp "$work/run/model.safetensors" "$work/l2"
learn --epochs 3 --eval none --weight-decay 0.1
expect "L2 and decoupled weight decay differ" sh -c "! cmp -s '$work/l2' '$work/run/model.safetensors'"
expect "and both from none" sh -c \
    "! cmp -s '$work/plain' '$work/l2' && ! cmp -s '$work/plain' '$work/run/model.safetensors'"

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
expect "and the best model so far" test -s "$work/stopped/model.safetensors"
troupe infer "$graph" --run "$work/stopped" --quiet
expect "which can be used" exited 0
finish

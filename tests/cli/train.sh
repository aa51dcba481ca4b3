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

troupe infer "$graph" --run "$work/run" --json --quiet
expect "inference reads the run and finds the accuracy that training printed" says "\"split\":\"test\"[^}]*\"accuracy\":$(cat "$work/accuracy"),"
expect "with all neighbours" says '"inference":"exact"'
expect "of a complete run there is nothing to warn of" [ ! -s "$work/err" ]
cp -r "$work/run" "$work/half"
sed -n 1,7p "$work/run/metrics.jsonl" >"$work/half/metrics.jsonl"
troupe infer "$graph" --run "$work/half"
expect "a run that was stopped is inferred, with a warning" \
    complains "$work/half: the run is not complete (7 of 20 epochs), so the best model that it has so far is used"
expect "and all the same" says '^test .* 0\.[89]\|^test .* 1 '
troupe infer "$graph" --run "$work/half" --quiet
expect "and quietly without" [ "$code/$(cat "$work/err")" = 0/ ]
troupe infer "$graph" --run "$work/run" --exact --sampled
expect "all of them and some of them are opposites" refuses_with "--exact and --sampled are opposites"
troupe infer "$graph" --run "$work/run" --epoch 3
expect "without draws there is none to choose" refuses_with "--epoch .* give --sampled too"
troupe infer "$graph" --run "$work/run" --sampled --epoch 3 --json --quiet
expect "sampled inference says so" says '"inference":"sampled"'
troupe infer "$graph" --run "$work/run" --out "$work/logits.npy" --quiet
expect "inference writes every node's outputs" says '^nodes  *600$'
expect "600 rows of 3 float32 after a header" test "$(wc -c <"$work/logits.npy")" -ge $((600 * 3 * 4 + 64))
# The classes by the largest of three outputs, the first of equals.
tail -c $((600 * 12)) "$work/logits.npy" | od -An -v -t f4 -w12 |
    awk 'BEGIN { print "node,class" } { b = $2 > $1 ? 2 : 1; if ($3 > $b) b = 3; print NR - 1 "," b - 1 }' >"$work/classes"
troupe infer "$graph" --run "$work/run" --out "$work/predictions.csv" --quiet
cut -d, -f1,2 "$work/predictions.csv" >"$work/chosen"
expect "predictions have the class of each node, by original ID" cmp -s "$work/chosen" "$work/classes"
expect "and a probability above a third" \
    awk -F, 'NR > 1 && !($3 > 0.333 && $3 <= 1) { exit 1 }' "$work/predictions.csv"
troupe infer "$graph" --run "$work/run" --out "$work/predictions.jsonl" --quiet
sed 's/{"node":\([0-9]*\),"class":\([0-9]*\),"probability":\([0-9.]*\)}/\1,\2,\3/' "$work/predictions.jsonl" >"$work/lines"
sed 1d "$work/predictions.csv" >"$work/chosen"
expect "JSON lines say the same" cmp -s "$work/lines" "$work/chosen"
cp "$work/predictions.csv" "$work/chosen"
# The last layer over hidden rows of all neighbours: sampling all of them gives the exact rows.
"$TROUPE" train "$graph" --run "$work/whole" --epochs 5 --hidden 4 --batch-size 64 --fanout -1,-1,-1 --quiet \
    >"$work/out" 2>"$work/err" || exit 99
troupe infer "$graph" --run "$work/whole" --exact --embeddings "$work/exact.npy" --out "$work/beside.npy" --quiet
expect "embeddings are written" exited 0
expect "600 rows of 4 float32 after a header" test "$(wc -c <"$work/exact.npy")" = $((600 * 4 * 4 + 256))
troupe infer "$graph" --run "$work/whole" --sampled --embeddings "$work/sampled.npy" --quiet
expect "of sampled inference too" cmp -s -n 256 "$work/exact.npy" "$work/sampled.npy"
numbers() { tail -c $((600 * $2)) "$1" | od -An -v -t f4 -w"$2"; }
numbers "$work/exact.npy" 16 >"$work/exact"
numbers "$work/sampled.npy" 16 | paste "$work/exact" - >"$work/both"
expect "which are the same where all neighbours are drawn" awk '
    function near(a, b) { d = a - b; return d * d < 1e-8 * (1 + a * a) }
    { for (i = 1; i <= 4; i++) { if (!near($i, $(i + 4)) || $i < 0) exit 1; sum += $i } }
    END { if (NR != 600 || sum == 0) exit 1 }' "$work/both"
expect "outputs may be written beside them" test "$(wc -c <"$work/beside.npy")" = $((600 * 3 * 4 + 256))
troupe infer "$graph" --run "$work/run" --embeddings "$work/nowhere/rows.npy" --quiet
expect "a folder for them that is not there is named" fails_with "--embeddings $work/nowhere/rows.npy: the folder $work/nowhere:"
troupe infer "$graph" --run "$work/none" --out "$work/nowhere/predictions.csv" --quiet
expect "one for predictions too, before the run is looked for" fails_with "--out $work/nowhere/predictions.csv: the folder "
troupe infer "$graph" --run "$work/none" --out "$graph/predictions.csv" --quiet
expect "a file is no folder" fails_with "$graph: Not a directory\|$graph is not a folder"
troupe infer "$graph" --run "$work/whole" --exact --out "$work/one.npy" --embeddings "$work/one.npy" --quiet
expect "embeddings do not take the place of predictions" refuses_with "--out and --embeddings name one file"
expect "and neither is written" absent "$work/one.npy"
troupe infer "$graph" --run "$work/whole" --exact --out "$work/one.npy" --embeddings "$work/./one.npy" --quiet
expect "nor under another name of the same file" refuses_with "--out and --embeddings name one file"
troupe train "$graph" --run - --epochs 1 --quiet
expect "a run is no stream" refuses_with "--run -: nothing but the report goes to the standard output"
"$TROUPE" train "$graph" --run "$work/flat" --epochs 1 --fanout 5 --quiet >"$work/out" 2>"$work/err" || exit 99
troupe infer "$work/nowhere.json" --run "$work/flat" --embeddings "$work/rows.npy" --quiet
expect "a model of one layer has none, which is found at once" fails_with "$work/flat: its model has one layer"
expect "and nothing is written" absent "$work/rows.npy"
# Class 1's row of the matrix, of the test nodes, from the predictions and the raw graph.
tail -c 600 "$work/raw/node_data/_N/test_mask.npy" | od -An -v -t u1 -w1 >"$work/tested"
tail -c $((600 * 8)) "$work/raw/node_data/_N/label.npy" | od -An -v -t d8 -w8 >"$work/labels"
cut -d, -f2 "$work/predictions.csv" | sed 1d | paste "$work/tested" "$work/labels" - |
    awk '$1 == 1 && $2 == 1 { n[$3]++ } END {
        printf "\"taken_for\":["
        for (c = 0; c < 3; c++) if (n[c]) { printf "%s[%d,%d]", comma, c, n[c]; comma = "," }
        print "]}" }' >"$work/row"
troupe infer "$graph" --run "$work/run" --by-class --json --quiet
expect "what a class was taken for is what the predictions say" \
    says "\"class\":1,\"labelled\":[0-9]*,\"predicted\":[0-9]*,\"precision\":[0-9.]*,\"recall\":[0-9.]*,\"f1\":[0-9.]*,$(sed 's/\[/\\[/g' "$work/row")"
troupe infer "$graph" --run "$work/run" --by-class --quiet
expect "people see a row a class" says '^ *class .* taken for'
troupe infer "$graph" --run "$work/run" --sampled --out "$work/predictions.csv" --quiet
expect "a file that is there is replaced" sh -c "! cmp -s '$work/predictions.csv' '$work/chosen'"
expect "nothing is left beside it" [ -z "$(find "$work" -name '*.tmp-*')" ]
troupe infer "$graph" --run "$work/run" --out "$work/nowhere/predictions.csv" --quiet
expect "a folder that is not there is named" fails_with "$work/nowhere/predictions.csv"
troupe infer "$graph" --run "$work/run" --out "$work/predictions.parquet" --quiet
expect "a name of another format is refused" \
    complains '--out .*/predictions.parquet: files that end with .parquet are not written; give a name that ends with .csv, .jsonl or .npy'
expect "as wrong usage" exited 2
troupe infer "$graph" --run "$work/run" --embeddings "$work/rows.csv.gz" --quiet
expect "also of rows" complains '--embeddings .*: files that end with .gz are not written; .* with .npy'
troupe infer "$graph" --run "$work/run" --embeddings "$work/rows.csv" --quiet
expect "rows have no CSV" refuses_with '--embeddings .*: files that end with .csv are not written by this option; .* with .npy'
for option in --out --embeddings; do
    troupe infer "$graph" --run "$work/none" $option - --quiet
    expect "$option -: nothing is written to the standard output" refuses_with "$option -: nothing but the report goes to the standard output"
    troupe infer "$graph" --run "$work/none" $option "$work/run" --quiet
    expect "$option: a folder is no file, which is found at once" fails_with "$option .*/run: is a folder; name a file in it"
done
printf 'node,age\n0,31\n' >"$work/people.csv"
cp "$work/people.csv" "$work/people.kept"
troupe infer "$graph" --run "$work/run" --out "$work/people.csv" --quiet
expect "a file that holds no predictions is not replaced" \
    fails_with '--out .*/people.csv: there is a file of that name that holds no predictions; remove it'
expect "it is as it was" cmp -s "$work/people.csv" "$work/people.kept"
cp "$work/run/model.safetensors" "$work/model.kept"
troupe infer "$graph" --run "$work/run" --embeddings "$work/run/model.safetensors" --quiet
expect "nor is the model" cmp -s "$work/run/model.safetensors" "$work/model.kept"
expect "whichever option names it" complains '--embeddings .*/model.safetensors: there is a file of that name'
mkfifo "$work/pipe"
troupe infer "$graph" --run "$work/run" --out "$work/pipe" --quiet
expect "a device, a pipe or a link is not replaced" fails_with 'pipe: is a device, a pipe or a link'
expect "it is still there" test -p "$work/pipe"
troupe infer "$work/parts/other.json" --run "$work/run" --quiet
expect "a graph of another name is named" fails_with 'parts/other.json: cannot open: No such file or directory'
troupe infer "$graph" --run "$work/parts" --exact
expect "a folder without a run is named" fails_with "config.json is missing"

troupe train "$graph" --run "$work/run" --epochs 1 --quiet
expect "a run that is there is not overwritten" fails_with "$work/run holds a run already; give --replace, or another folder as --run"
troupe train "$graph" --run "${graph%/*}" --epochs 1 --quiet --replace
expect "a run is not put among a graph's files" fails_with 'holds a graph; give a folder of its own as --run'
expect "of which there are as many as before" absent "${graph%/*}/config.json"
mkdir "$work/other"
echo '{"architectures":["x"]}' >"$work/other/config.json"
troupe train "$graph" --run "$work/other" --epochs 1 --quiet --replace
expect "another program's config.json is not replaced" \
    fails_with "other/config.json: does not belong to a run, so it is not replaced; remove it, or give another folder as --run"
expect "it is there still" grep -q architectures "$work/other/config.json"
touch "$work/run/.config.json.tmp-4194305-0" # as a kill at the start of a run leaves it
troupe train "$graph" --run "$work/run" --epochs 1 --quiet --replace --model gcn --hidden 8
expect "unless that is asked for" grep -q '"kind": "gcn"' "$work/run/config.json"
expect "what a killed run left half written is gone" sh -c "! ls -A '$work/run' | grep tmp"

troupe train "$graph" --run "$work/unseen" --epochs 1 --quiet --metrics 192.0.2.1:9464
expect "metrics that can be served nowhere end no run" exited 0
expect "a warning says so" complains '^troupe: --metrics 192.0.2.1:9464: .*; the process goes on without$'
troupe train "$graph" --run "$work/unheard" --epochs 1 --quiet --metrics nowhere
expect "but an address that is none is refused" complains '--metrics: nowhere: not an address'
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

# bytes_npy NAME SHAPE EXPRESSION [u1]: an int8 table, or a uint8 one, whose row is the awk expression, in octal, of class $1.
bytes_npy() {
    {
        printf '\223NUMPY\001\000v\000'
        printf '%-117s\n' "{'descr': '|${4:-i1}', 'fortran_order': False, 'shape': $2, }"
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
    case " $* " in *--batch-size*) ;; *) set -- --batch-size 64 "$@" ;; esac
    troupe train "$graph" --run "$work/run" --replace --hidden 16 --json --quiet "$@"
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
troupe infer "$graph" --run "$work/run" --exact --out "$work/predictions.csv" --quiet
troupe infer "$graph" --run "$work/run" --exact --by-class --quiet
expect "several labels a node: there is no confusion matrix" fails_with "there is no confusion matrix"
troupe infer "$work/nowhere.json" --run "$work/run" --by-class --quiet
expect "which is found before the graph is opened" fails_with "leave --by-class out"
expect "several labels a node: each has a column" \
    test "$(head -n 1 "$work/predictions.csv")" = node,probability_0,probability_1,probability_2
learn --labels tags --loss sigmoid --balanced-weights --metric macro-f1 --epochs 20
expect "several labels a node, weighted: macro-F1" more "$(result test_macro_f1)" 0.8
learn --labels tags --epochs 1
expect "several labels a node need their loss" fails_with "'tags' is not one number a node but 3; .* give --loss sigmoid"

troupe train "$graph" --run "$work/none" --memory 1KiB --quiet
expect "a bound that no batch keeps is named as the option that raises it" \
    fails_with 'account "batches" is full: a batch needs [0-9]* bytes, .* 1024 .*; raise --memory, make'
learn --epochs 10 --layers 4 --fanout 5,5,5,5 --residual --norm layer
expect "deep models with residual and normed layers learn" more "$(result test_accuracy)" 0.8
sed -n 's/.*"test_accuracy":\([0-9.]*\).*/\1/p' "$work/out" >"$work/accuracy"
troupe infer "$graph" --run "$work/run" --exact --json --quiet
expect "and inference has what they have" says "\"accuracy\":$(cat "$work/accuracy")"
troupe train "$graph" --run "$work/none" --residual --quiet
expect "two layers have none that is residual" refuses_with "--residual changes hidden layers after the first, so it needs 3 layers at least; give --layers 3"
learn --epochs 10 --layers 4 --norm batch
expect "layers whose fanouts nobody names have some" sh -c "tr -d ' \n' <'$work/run/config.json' | grep -q '\"fanout\":\[3,5,10,25\]'"
expect "models with batch normalisation learn" more "$(result test_accuracy)" 0.8
sed -n 's/.*"test_accuracy":\([0-9.]*\).*/\1/p' "$work/out" >"$work/accuracy"
troupe infer "$graph" --run "$work/run" --exact --json --quiet
expect "and inference has their running statistics" says "\"accuracy\":$(cat "$work/accuracy")"
expect "which lie in the model's file" grep -aq 'layers.1.norm.running_var' "$work/run/model.safetensors"
cp "$work/run/model.safetensors" "$work/normed"
learn --epochs 10 --layers 4 --norm batch --messages --codec --threads 1 --samplers 2
expect "messages, codec and one thread change no byte of it" cmp -s "$work/run/model.safetensors" "$work/normed"
learn --epochs 10 --layers 3 --fanout 5,5,5 --norm batch --trainers 2 --deal shuffle
expect "two trainers, each with a batch, learn too" more "$(result test_accuracy)" 0.8
sed -n 's/.*"test_accuracy":\([0-9.]*\).*/\1/p' "$work/out" >"$work/accuracy"
troupe infer "$graph" --run "$work/run" --exact --json --quiet
expect "and keep what inference needs" says "\"accuracy\":$(cat "$work/accuracy")"

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
expect "and the report says that it did, and the seconds" says '"stopped_early":true,"seconds":[0-9]'
troupe train "$graph" --run "$work/run" --replace --hidden 16 --batch-size 64 --epochs 500 --patience 3 --lr 0.05 --quiet
expect "for people too" says '^ended by  *patience: no better epoch came; --patience sets how long it waits$'
expect "with the best epoch" says '^best epoch  *[0-9]'
expect "and the time" says '^time in all  *[0-9.]* s'
learn --epochs 2
expect "a run that reached its end was not stopped early" says '"stopped_early":false,"seconds":[0-9]'

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
expect "that says how to go on" complains 'stopped in epoch .*, after the checkpoint of step [0-9]* was made; continue with --resume'
said=$(sed -n 's/.*stopped in epoch \([0-9]*\),.*/\1/p' "$work/err")
ended=$(sed -n 's/^{"epoch":\([0-9]*\),.*/\1/p' "$work/stopped/metrics.jsonl" | tail -n 1)
expect "in the epoch after the last one that metrics.jsonl has" [ "${said:-none}" = $((ended + 1)) ]
expect "from what it left" test -n "$(ls "$work/stopped/checkpoints")"
# Whatever the signal meets, be it the opening of the graph, from when the process catches SIGTERM (bit 14), which it does before
# main(): there it ends by the signal, and says so.
says_how() {
    { exited 143 && complains '^troupe: stopped by SIGTERM$'; } ||
        { exited 1 && complains "^troupe[a-z ]*: .*continue with --resume$"; }
}
# The shell that becomes the command has a trap of its own.
is_troupe() { case $(readlink "/proc/$1/exe") in *troupe) ;; *) false ;; esac; }
catches() {
    tries=0
    until { is_troupe "$1" && grep -q '^SigCgt:.*[4567cdef]...$' "/proc/$1/status"; } || [ $tries -ge 600 ]; do
        tries=$((tries + 1))
        sleep 0.02
    done
}
for pause in 0 0.02 0.06 0.1 0.2 0.3; do
    "$TROUPE" train "$graph" --run "$work/stopped" --epochs 1000000 --resume --quiet >"$work/out" 2>"$work/err" </dev/null &
    child=$!
    catches $child
    sleep $pause
    kill -TERM $child
    wait $child
    code=$?
    expect "a signal after $pause s says how to go on" says_how
done
expect "and the best model so far" test -s "$work/stopped/model.safetensors"
troupe infer "$graph" --run "$work/stopped" --quiet
expect "which can be used" exited 0

# One way of counting epochs: from 1.
learn --epochs 3
expect "metrics.jsonl counts epochs from 1" test "$(grep -o '"epoch":[0-9]*' "$work/run/metrics.jsonl" | tr '\n' ' ')" \
    = '"epoch":1 "epoch":2 "epoch":3 '

# What trains nothing is refused, and what trains on little is advised of.
troupe train "$graph" --run "$work/run" --replace --drop-last --batch-size 100k
expect "--drop-last with fewer training nodes than a batch is refused" \
    fails_with "--drop-last leaves nothing to train on: a step takes 100000 nodes, and there are fewer; give a smaller --batch-size"
loud() { troupe train "$graph" --run "$work/run" --replace --hidden 8 "$@"; }
loud --epochs 1 --batch-size 64
expect "a line says what is trained on what" \
    complains '^600 nodes, 3 classes; [0-9]* nodes to train on, .* sage with [0-9]* parameters; [0-9]* steps an epoch$'
advised() { grep -q "^troupe train: $1" "$work/err"; }
expect "masks that share no node, and classes that all have some, get no advice" sh -c "! grep -q '^troupe train:' '$work/err'"
loud --epochs 1 --batch-size 1024
expect "one-step epochs are advised of" advised 'each epoch is one step, so training makes 1 in all: give more --epochs'
loud --epochs 1 --batch-size 64 --test-mask train_mask
expect "so are masks that share nodes" advised "[0-9]* nodes are in both 'train_mask' and 'train_mask'"
loud --epochs 1 --batch-size 64 --quiet --test-mask train_mask
expect "but not when quiet" sh -c "! grep -q . '$work/err'"
loud --batch-size 16 --lr 1000 --dropout 0 --eval none --epochs 40
expect "a rising loss names the rate" advised 'the training loss has risen from .* give a smaller --lr than 1000'

# Label 9 of a graph of 3 classes, and a class that only nodes to test have.
bytes_npy gap '(600,)' '$1 == 2 ? "\\011" : $1 == 1 ? "\\001" : "\\000"'
bytes_npy late '(600,)' 'NR % 2 ? "\\001" : "\\000"' u1
bytes_npy early '(600,)' 'NR % 2 ? "\\000" : "\\001"' u1
bytes_npy half '(600,)' 'NR % 2 ? "\\001" : "\\000"'
bytes_npy category '(600, 8)' '($1 == 0 ? "\\001" : "\\000") ($1 == 1 ? "\\001" : "\\000") "\\000\\000\\000\\000\\000\\000"'
bytes_npy words '(600, 16)' '($1 == 0 ? "\\001\\001" : "\\000\\000") ($1 == 1 ? "\\001\\001" : "\\000\\000") "\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000"'
bytes_npy fewest '(600,)' 'NR <= 30 ? "\\001" : "\\000"' u1
bytes_npy fewer '(600,)' 'NR <= 31 ? "\\001" : "\\000"' u1
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/gaps" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
graph=$work/gaps/toy.json
loud --epochs 1 --batch-size 64 --labels gap
expect "labels with gaps are advised of" advised "no node of the masks has 7 of the 10 classes of 'gap', such as class 2"
loud --epochs 1 --batch-size 64 --labels half --train-mask early --val-mask late --test-mask late
expect "so is a class without a training node" advised "1 of the 2 classes of 'half' has no training node, such as class 1: .*troupe split --by-class"

bytes_npy empty '(600,)' '"\\000"' u1
bytes_npy unknown '(600,)' '"\\377"'
bytes_npy odd '(600,)' 'NR % 2 ? "\\001" : "\\377"'
bytes_npy alike '(600,)' '"\\000"'
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/empty" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
graph=$work/empty/toy.json
loud --epochs 30 --patience 2 --eval-every 1 --val-mask empty --test-mask empty --json
expect "a mask without a node is advised of" advised "'empty' marks no node with a label: no epoch is chosen"
expect "so is one to test with" advised "'empty' marks no node with a label: there is no test score"
expect "no epoch is scored by it" sh -c "! grep -q 'validation' '$work/err'"
expect "none ends the run, and none is the best" says '"epochs":30,'
expect "nor is there a score" sh -c "! grep -q 'best_epoch\|nan\|test_accuracy' '$work/out'"
loud --epochs 30 --patience 2 --eval-every 1 --labels odd --val-mask early --json
expect "so is a mask whose nodes have no label" advised "'early' marks no node with a label: no epoch is chosen"
expect "nodes without a label are counted apart" \
    complains '^600 nodes, 2 classes; [0-9]* labelled of [0-9]* nodes to train on, 0 labelled of 300 to validate, '
expect "which ends no run either" says '"epochs":30,'
loud --epochs 1 --labels odd --train-mask early
expect "labels that no training node has are nothing to train on" \
    fails_with "no node of 'early' has a label in 'odd': nothing to train on"
loud --epochs 1 --labels unknown
expect "nor are labels that nobody has" fails_with "no node has a label in 'unknown'"
loud --epochs 1 --labels alike
expect "one class is advised of" advised "all labels of 'alike' are 0: with one class there is nothing to learn"
loud --epochs 1 --labels half --val-mask early
expect "so are nodes of one class where ROC AUC is asked for" advised "all nodes of 'early' are of one class"
expect "whose lines have the loss, which chooses" complains 'validation loss [0-9.]* (best)'

# Two classes go by ROC AUC, and with few training nodes a run without --epochs is long and careful.
chosen() { grep -q "\"$1\": $2,*\$" "$work/run/config.json"; }
learn --labels half --epochs 3
expect "two classes go by ROC AUC" chosen metric '"roc-auc"'
expect "which the report has" more "$(result test_roc_auc)" 0
expect "and the lines of epochs" test "$(grep -c '"roc_auc":[0-9]' "$work/run/metrics.jsonl")" = 4
expect "epochs that are named leave the rest as it is" chosen input_dropout '0.0'
learn --labels half --epochs 3 --metric accuracy
expect "unless another score is asked for" chosen metric '"accuracy"'
expect "but ROC AUC is reported" more "$(result test_roc_auc)" 0
learn --batch-size 1024 --seed 5
expect "a step an epoch gives 200 epochs" chosen epochs 200
expect "every fourth is scored" chosen evaluate_every 4
expect "16 without a better one end the run" chosen patience 16
expect "few nodes a class: input dropout" chosen input_dropout 0.5
expect "and no sums of features that are no counts" chosen normalise false
cp "$work/run/model.safetensors" "$work/alone"
mkdir -m 700 "$work/sockets" || exit 99
printf '{"name": "job", "graph": "gaps/toy.json", "seed": 5, "hosts": [{"name": "a", "unix": "sockets", "servers": 2,
    "samplers": 1, "trainers": 1, "processes": "role"}]}\n' >"$work/cluster.json"
run timeout 120 "$TROUPE" launch "$work/cluster.json" --run "$work/apart" -- --hidden 16 --batch-size 1024 --quiet
expect "four processes choose the same" cmp "$work/alone" "$work/apart/model.safetensors"

# With at most ten training nodes a class of three, a run without --epochs reaches a layer further.
draws() { tr -d ' \n' <"$work/run/config.json" | grep -qF "\"fanout\":[$1]"; }
learn --batch-size 1024 --train-mask fewer
expect "31 nodes of three classes have two layers" draws 10,25
expect "and half of the features" chosen input_dropout 0.5
learn --batch-size 1024 --seed 5 --train-mask fewest --checkpoint-every 50
expect "30 have three" draws 10,10,10
expect "which the model has" chosen layers 3
expect "and half of features that are no counts" chosen input_dropout 0.5
cp "$work/run/model.safetensors" "$work/alone"
troupe train "$graph" --run "$work/run" --resume --hidden 16 --batch-size 1024 --seed 5 --train-mask fewest \
    --checkpoint-every 50 --json --quiet
expect "a run goes on with the layers that it has" exited 0
learn --from "$work/run" --epochs 2
expect "so does one that begins with its weights" draws 10,10,10
run timeout 120 "$TROUPE" launch "$work/cluster.json" --run "$work/far" -- --hidden 16 --batch-size 1024 \
    --train-mask fewest --checkpoint-every 50 --quiet
expect "four processes choose the same layers" cmp "$work/alone" "$work/far/model.safetensors"
learn --batch-size 1024 --train-mask fewest --features words
expect "a fifth of features that are counts" chosen input_dropout '0\.80[0-9]*'
expect "which are normalised" chosen normalise true
learn --batch-size 1024 --train-mask fewest --features words --no-normalise
expect "or are not, where that was asked for" chosen normalise false
expect "but are counts" chosen input_dropout '0\.80[0-9]*'
learn --batch-size 1024 --train-mask fewest --features category
expect "of rows with one number nothing is dropped" chosen input_dropout '0\.0*'
learn --batch-size 1024 --train-mask fewer --features words
expect "with more nodes half of them" chosen input_dropout 0.5
for named in "--fanout 10,25" "--layers 2"; do
    # shellcheck disable=SC2086 # An option and its value.
    learn --batch-size 1024 --train-mask fewest $named
    expect "$named stays what it says" draws 10,25
done
learn --train-mask fewest --epochs 2
expect "and epochs that are named leave the layers" draws 10,25
loud --epochs 1 --batch-size 16 --train-mask fewest
expect "next to no nodes to train on are advised of" advised "30 nodes to train on are 10.0 a class: .*; try --model 'gcn' too"
loud --epochs 1 --batch-size 16 --train-mask fewest --model gcn
expect "but not where that was done" sh -c "! grep -q 'a class:' '$work/err'"

# A folder with one graph is enough, and masks of a graph may be missing.
troupe train "$work/gaps" --run "$work/run" --replace --hidden 8 --epochs 1 --quiet
expect "the folder of one graph is enough" exited 0
troupe infer "$work/gaps" --run "$work/run" --exact --quiet
expect "for inference too" exited 0
: >"$work/gaps/zoo.json"
troupe train "$work/gaps" --run "$work/run" --replace
expect "of several, one has to be named" refuses_with "$work/gaps holds several graphs, such as toy.json and zoo.json: name one"
mkdir "$work/bare"
troupe train "$work/bare" --run "$work/none"
expect "a folder without any says so" refuses_with "$work/bare holds no graph: there is no NAME.json in it"
for missing in test val; do
    sed "s/\"${missing}_mask\":/\"${missing}_other\":/" "$work/raw/metadata.json" >"$work/metadata" &&
        mv "$work/metadata" "$work/raw/metadata.json"
    "$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/no-$missing" --quiet \
        >"$work/out" 2>"$work/err" || exit 99
done
graph=$work/no-test/toy.json
learn --epochs 2
expect "without a test mask nothing is tested" sh -c "! grep -q test_accuracy '$work/out'"
expect "but the best epoch is found" says '"val":'
troupe infer "$graph" --run "$work/run" --exact --json --quiet
expect "inference scores the others" says '"split":"validation"'
expect "and no test" sh -c "! grep -q '\"split\":\"test\"' '$work/out'"
graph=$work/no-val/toy.json
learn --epochs 2
expect "without either the last epoch counts" sh -c "grep -q '\"epochs\":2' '$work/out' && ! grep -q '\"val\"' '$work/out'"
learn --epochs 2 --test-mask test_mask
expect "a mask that is named has to be there" complains test_mask
expect "and is an error" test "$code" != 0
finish

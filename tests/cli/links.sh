# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options are split into their words
# Models of links: they tell held-out edges from other pairs, the same bytes on any placement, with the
# scores that every command shows; what is of nodes alone is refused by name.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 800 --edges 12000 --features 10 --classes 8 --signal 0.5 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
for parts in 1 2 4; do
    "$TROUPE" partition "$work/raw" --parts $parts --method metis --name g --out "$work/p$parts" \
        --quiet >"$work/out" 2>"$work/err" || exit 99
done
"$TROUPE" partition "$work/raw" --parts 4 --method random --name g --out "$work/r4" --quiet \
    >"$work/out" 2>"$work/err" || exit 99

# train RUN GRAPH OPTIONS...
train() {
    run_folder=$work/$1
    graph=$work/$2/g.json
    shift 2
    troupe train "$graph" --run "$run_folder" --task link --hidden 16 --fanout 4,6 --seed 5 --quiet "$@"
}

losses() { sed 's/"seconds":[^,}]*//' "$1/metrics.jsonl"; }

# equal WHAT RUN OTHER
equal() {
    losses "$work/$2" >"$work/expected"
    losses "$work/$3" >"$work/seen"
    expect "$1: the same losses and scores" cmp -s "$work/expected" "$work/seen"
    expect "$1: the same model" cmp -s "$work/$2/model.safetensors" "$work/$3/model.safetensors"
}

# above NUMBER KEY: of the report, as JSON
above() { sed -n "s/.*\"$2\": *\([0-9.]*\).*/\1/p" "$work/out" | awk -v least="$1" '{ good = $1 > least } END { exit !good }'; }

for model in sage gcn; do
    for eval in exact sampled; do
        for trainers in 1 3; do
            name=$model-$eval-$trainers
            options="--model $model --eval $eval --trainers $trainers --epochs 2 --batch-size 300 --negatives 2"
            train $name-p1 p1 $options
            expect "$name: trains" exited 0
            for parts in p2 p4 r4; do
                train $name-$parts $parts $options --loops 3
                equal $name-$parts $name-p1 $name-$parts
            done
            train $name-m p4 $options --messages --codec --threads 3
            equal "$name, messages" $name-p1 $name-m
        done
    done
done

for model in rgcn gat; do
    for eval in exact sampled; do
        name=$model-$eval
        options="--model $model --eval $eval --trainers 2 --epochs 2 --batch-size 300 --negatives 2"
        train $name-p1 p1 $options
        expect "$name: trains" exited 0
        train $name-r4 r4 $options --messages --codec --threads 3
        equal $name-r4 $name-p1 $name-r4
    done
done

for model in sage gcn rgcn gat; do
    train good-$model p2 --model $model --epochs 12 --lr 0.02 --json
    expect "$model tells held-out edges from pairs that are drawn" above 0.75 test_roc_auc
    expect "and ranks them above most" above 0.15 test_mrr
done
cp "$work/good-sage/metrics.jsonl" "$work/before"
train good-sage p2 --epochs 12 --lr 0.02 --model sage --resume

expect "a run that ended is found with its result" says 'test MRR'
expect "and not trained again" cmp -s "$work/before" "$work/good-sage/metrics.jsonl"

# A job of several processes, each of which finds the edges that it trains on.
mkdir -m 700 "$work/s" || exit 99
printf '{"name": "job", "graph": "p4/g.json", "hosts": [{"name": "a", "unix": "s", "servers": 1, "samplers": 1,
 "trainers": 3, "processes": "role"}]}\n' >"$work/cluster.json"
for model in sage gcn; do
    run timeout 120 "$TROUPE" launch "$work/cluster.json" --run "$work/job-$model" -- --task link --hidden 16 \
        --fanout 4,6 --seed 5 --model $model --epochs 2 --batch-size 300 --negatives 2 --quiet
    expect "processes train $model" exited 0
    equal "processes, $model" $model-exact-3-p1 job-$model
done

# Other negatives make other models, the same on any partitions.
for options in "--negative-ends either" "--negative-ends sources --negatives-by degree" \
    "--negative-ends both --negatives-no-edges"; do
    name=$(echo "$options" | tr -d ' ')
    train $name-1 p1 --epochs 2 --batch-size 300 --negatives 2 $options
    expect "$options trains" exited 0
    train $name-4 r4 --epochs 2 --batch-size 300 --negatives 2 $options
    equal "$options" $name-1 $name-4
    expect "$options is another model" sh -c "! cmp -s '$work/$name-1/model.safetensors' '$work/sage-exact-1-p1/model.safetensors'"
    train $name-1 p1 --epochs 3 --batch-size 300 --negatives 2 --resume
    expect "$options is said again to go on" fails_with "was begun with other options"
done
expect "config.json says which" grep -q '"negatives_by": "degree"' "$work/--negative-endssources--negatives-bydegree-1/config.json"

# A run that goes on has the bytes of one that did not stop.
train whole p2 --epochs 4 --batch-size 500 --checkpoint-every 3
train grown p2 --epochs 2 --batch-size 500 --checkpoint-every 3
train grown p4 --epochs 4 --batch-size 500 --checkpoint-every 3 --resume
expect "a run goes on, on other partitions" exited 0
equal "resumed" whole grown
train grown p2 --epochs 4 --batch-size 500 --checkpoint-every 3 --resume --negatives 3
expect "not with other negatives" fails_with '--negatives (it was 1, now 3)'
troupe train "$work/p2" --run "$work/grown" --hidden 16 --epochs 4 --resume --quiet
expect "nor as a run of nodes" fails_with "was begun with --task 'link', and now it is 'node'"

train by-mrr p2 --epochs 3 --metric mrr
expect "epochs may be chosen by MRR" exited 0
best=$(sed -n 's/.*"mrr":\([0-9.]*\).*"best":true.*/\1/p' "$work/by-mrr/metrics.jsonl" | tail -n 1)
expect "which is the largest" [ "$(sed -n 's/.*"val".*"mrr":\([0-9.]*\).*/\1/p' "$work/by-mrr/metrics.jsonl" |
    sort -n | tail -n 1)" = "$best" ]
expect "no hidden value is left out" grep -q '"dropout": 0.0' "$work/good-sage/config.json"
expect "config.json says what was learned" grep -q '"task": "link"' "$work/whole/config.json"
troupe inspect "$work/whole"
expect "inspect shows MRR" says 'MRR'
expect "and the task" says '^task  *link'
troupe inspect "$work/whole/model.safetensors"
troupe report "$work/whole" --out "$work/page.html"
expect "report makes a page" exited 0
expect "with MRR over the steps" grep -q 'Validation MRR' "$work/page.html"
expect "without advice about classes" grep -q 'Models of links have no classes' "$work/page.html"
expect "which deals nothing" sh -c "! grep -q -e '--deal' '$work/page.html'"
expect "and the command that repeats the run" grep -q -- '--task link --negatives 1' "$work/page.html"
troupe infer "$work/p2" --run "$work/whole" --out "$work/rows.npy" --quiet
expect "infer writes outputs" exited 0
expect "a row of 16 numbers a node" [ "$(wc -c <"$work/rows.npy")" -eq $((256 + 800 * 16 * 4)) ]
troupe infer "$work/r4" --run "$work/whole" --out "$work/other.npy" --quiet
expect "the same on other partitions" cmp -s "$work/rows.npy" "$work/other.npy"
troupe infer "$work/p2" --run "$work/whole" --out "$work/rows.csv"
expect "which predict nothing of a node" fails_with 'give a name that ends with .npy'
troupe infer "$work/p2" --run "$work/whole" --by-class
expect "nor have classes" fails_with 'its model is one of links'

# Masks of edges: the first tenth is to test, the second to validate, the third carries messages alone.
mask() {
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (12000,), }"
    for tenth in 0 1 2 3 4 5 6 7 8 9; do
        case $1 in *$tenth*) value='\001' ;; *) value='\000' ;; esac
        head -c 1200 /dev/zero | tr '\0' "$value"
    done
}
cp -r "$work/raw" "$work/masked"
edge_data=
for name in "train_mask 3456789" "val_mask 1" "test_mask 0"; do
    # shellcheck disable=SC2086 # the name and the tenths
    set -- $name
    mask "$2" >"$work/masked/$1.npy"
    edge_data="$edge_data, \"$1\": {\"format\": {\"name\": \"numpy\"}, \"data\": [\"$1.npy\"]}"
done
sed "s|\"edge_data\": {}|\"edge_data\": {\"_N:_E:_N\": {${edge_data#, }}}|" "$work/raw/metadata.json" >"$work/masked/metadata.json"
for parts in 1 3; do
    "$TROUPE" partition "$work/masked" --parts $parts --method random --name g --out "$work/m$parts" --quiet \
        >"$work/out" 2>"$work/err" || exit 99
done
for model in sage gcn; do
    for parts in 1 3; do
        train masks-$model-$parts m$parts --model $model --epochs 8 --lr 0.02 --json
        expect "edges with masks train $model on $parts partitions" above 0.75 test_roc_auc
    done
    equal "masks, $model" masks-$model-1 masks-$model-3
done
expect "the masks say how many are scored" grep -q '"test":{"labelled":1200,' "$work/masks-sage-1/metrics.jsonl"
expect "config.json names them" grep -q '"val_mask": "val_mask"' "$work/masks-sage-1/config.json"
train masks-sage-1 m3 --epochs 8 --lr 0.02 --model sage --resume
expect "a run by masks is found again" exited 0
# The same graph, of whose edges others are to be learned from.
mask 89 >"$work/masked/train_mask.npy"
"$TROUPE" partition "$work/masked" --parts 1 --method random --name g --out "$work/lent" --quiet >"$work/out" 2>"$work/err" || exit 99
cp -r "$work/masks-sage-1" "$work/other-masks"
train other-masks lent --epochs 9 --lr 0.02 --model sage --resume
expect "a run goes on with its own masks alone" fails_with "it was begun with another graph or other masks"
expect "and stays as it was" cmp "$work/masks-sage-1/metrics.jsonl" "$work/other-masks/metrics.jsonl"
# As many, and others; then the same to train on, and others to validate.
for marks in "train_mask 2456789 train" "val_mask 2 validate"; do
    # shellcheck disable=SC2086 # the name, the tenths, what for
    set -- $marks
    mask 3456789 >"$work/masked/train_mask.npy"
    mask "$2" >"$work/masked/$1.npy"
    "$TROUPE" partition "$work/masked" --parts 1 --method random --name g --out "$work/$1" --quiet >"$work/out" 2>"$work/err" || exit 99
    train other-masks "$1" --epochs 9 --lr 0.02 --model sage --resume
    expect "as many edges to $3, and others, are refused" fails_with "the edges of .*/g.json to $3.*by '$1', are not those of the run"
    expect "and the run stays as it was" diff -r "$work/masks-sage-1" "$work/other-masks"
done
mask 1 >"$work/masked/val_mask.npy"
train named m3 --epochs 1 --train-mask val_mask --val-mask train_mask
expect "masks may have other names" exited 0
expect "which are kept" grep -q '"train_mask": "val_mask"' "$work/named/config.json"
troupe infer "$work/m3" --run "$work/masks-sage-1" --out "$work/rows.npy" --json
expect "infer scores nothing that the outputs know" exited 0
expect "nor reports it" sh -c "! grep -q roc_auc '$work/out'"

cp "$work/masked/val_mask.npy" "$work/masked/train_mask.npy"
"$TROUPE" partition "$work/masked" --parts 1 --method random --name g --out "$work/overlap" --quiet >"$work/out" 2>"$work/err" || exit 99
train refused overlap --epochs 1
expect "masks that mark the same edges are named" \
    fails_with "of 12000 edges none is left to train on: 'train_mask' marks none that another mask does not mark too"
sed "s|\"edge_data\": {}|\"edge_data\": {\"_N:_E:_N\": {\"val_mask\": {\"format\": {\"name\": \"numpy\"}, \"data\": [\"val_mask.npy\"]}}}|" \
    "$work/raw/metadata.json" >"$work/masked/metadata.json"
"$TROUPE" partition "$work/masked" --parts 1 --name g --out "$work/only" --quiet >"$work/out" 2>"$work/err" || exit 99
train refused only --epochs 1
expect "a mask that validates needs one that trains" \
    fails_with "edges have a feature 'val_mask', but no feature 'train_mask' that says which to train on: name it as --train-mask"

refused() {
    train refused p2 --epochs 1 $1
    expect "$1 is refused" fails_with "$2"
}
refused "--labels x" "--labels is for --task 'node'"
refused "--labels label" "--labels is for --task 'node'"
refused "--loss softmax" "--loss 'softmax' is for"
refused "--train-mask x" "no feature 'x'"
refused "--val-mask x" "edges have no feature 'train_mask' that says which to train on: name it as --train-mask"
refused "--test-mask x" "--test-mask names 'x', but edges have no feature"
refused "--edge-weight x" "--edge-weight is for"
refused "--label-type x" "--label-type is for"
refused "--balanced-weights" "--balanced-weights is for"
refused "--deal affinity" "--deal is for"
refused "--deal shuffle" "--deal is for"
refused "--drop-last --batch-size 100000" 'leaves nothing to train on: a step takes 100000 edges'
troupe train "$work/p2" --run "$work/other" --task link --from "$work/whole" --hidden 8 --epochs 1
expect "outputs are no classes" fails_with '16 wide, from 10 features to 16 outputs'
troupe train "$work/p2" --run "$work/refused" --metric mrr
expect "MRR of nodes is refused" fails_with "--metric 'mrr' is for --task 'link'"
troupe train "$work/p2" --run "$work/refused" --negatives 2
expect "negatives of nodes are refused" fails_with "--negatives is for --task 'link'"
troupe train "$work/p2" --run "$work/refused" --negative-ends both
expect "so are their ends" fails_with "--negative-ends is for --task 'link'"
expect "nothing stays of them" [ ! -e "$work/refused" ]
troupe train "$work/p2" --run "$work/many" --task link --hidden 8 --epochs 1 --seeds 0-1 --sweep negatives=1,3 \
    --quiet --json
expect "seeds and sweeps have MRR too" says '"test_mrr"'
finish

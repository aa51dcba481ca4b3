# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options and lists are split into their words
# Placement does not change results: the same seed gives byte-identical losses and the same
# model.safetensors for any number of partitions, servers, samplers, loops and computing threads, however
# data are reached.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 700 --edges 9000 --features 12 --classes 4 --signal 0.5 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
for parts in 1 2 4 8; do
    for method in metis random; do
        "$TROUPE" partition "$work/raw" --parts $parts --method $method --name toy \
            --out "$work/$method-$parts" --quiet >"$work/out" 2>"$work/err" || exit 99
    done
done

# Everything in metrics.jsonl but how long it took.
losses() { sed 's/"seconds":[^,}]*//' "$1/metrics.jsonl"; }

# same MODEL NAME GRAPH OPTIONS...: trains there and compares with the reference run of the model.
same() {
    model=$1
    name=$2
    graph=$3
    shift 3
    run_folder=$work/run-$model
    [ -e "$run_folder" ] && run_folder=$work/run-other
    troupe train "$work/$graph/toy.json" --model "$model" --run "$run_folder" --replace --epochs 3 \
        --hidden 16 --fanout 4,6 --batch-size 96 --seed 11 --lr 0.02 --quiet "$@"
    expect "$model, $name: trains" exited 0
    [ "$run_folder" = "$work/run-$model" ] && return
    losses "$work/run-$model" >"$work/expected"
    losses "$run_folder" >"$work/seen"
    expect "$model, $name: the same losses" cmp -s "$work/expected" "$work/seen"
    expect "$model, $name: the same model" \
        cmp -s "$work/run-$model/model.safetensors" "$run_folder/model.safetensors"
}

for model in sage gcn; do
    same $model "1 partition" metis-1 --loops 1 --samplers 1 --threads 1
    for parts in 1 2 4 8; do
        same $model "$parts partitions by METIS" metis-$parts --loops 2 --samplers 2
        same $model "$parts partitions at random" random-$parts --loops 2 --samplers 2
    done
    same $model "4 loops, 3 samplers" metis-4 --loops 4 --samplers 3
    same $model "3 loops, 1 sampler, 3 threads" random-4 --loops 3 --samplers 1 --threads 3
    same $model "messages" random-4 --loops 2 --samplers 2 --messages
    same $model "messages, encoded" metis-8 --loops 3 --samplers 3 --messages --codec
    same $model "fewer servers than partitions" random-8 --servers 3 --messages --loops 2
    same $model "mapped files" metis-2 --map
done

troupe train "$work/metis-1/toy.json" --model sage --run "$work/run-other" --replace --epochs 3 \
    --hidden 16 --fanout 4,6 --batch-size 96 --seed 12 --lr 0.02 --quiet
expect "another seed gives another model" \
    sh -c "! cmp -s '$work/run-sage/model.safetensors' '$work/run-other/model.safetensors'"
finish

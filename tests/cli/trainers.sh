# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options and lists are split into their words
# Several trainers in one process: the same number of them gives the same losses and the same model
# on any number of partitions and loops, also where the last step leaves some without seeds; one
# trainer in a group gives what one alone gives.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 611 --edges 7000 --features 10 --classes 4 --signal 0.5 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
for parts in 1 2 4; do
    "$TROUPE" partition "$work/raw" --parts $parts --method metis --name toy --out "$work/p$parts" \
        --quiet >"$work/out" 2>"$work/err" || exit 99
done

losses() { sed 's/"seconds":[^,}]*//' "$1/metrics.jsonl"; }

# train RUN GRAPH OPTIONS...
train() {
    run_folder=$work/$1
    graph=$work/$2/toy.json
    shift 2
    troupe train "$graph" --run "$run_folder" --epochs ${epochs:-3} --hidden 16 --fanout 4,6 --seed 5 --quiet "$@"
}

# equal WHAT RUN OTHER
equal() {
    losses "$work/$2" >"$work/expected"
    losses "$work/$3" >"$work/seen"
    expect "$1: the same losses" cmp -s "$work/expected" "$work/seen"
    expect "$1: the same model" cmp -s "$work/$2/model.safetensors" "$work/$3/model.safetensors"
}

for model in sage gcn; do
    for trainers in 1 2 4; do
        for parts in 1 2 4; do
            for loops in 1 3; do
                name=$model-$trainers-$parts-$loops
                train $name p$parts --model $model --trainers $trainers --loops $loops \
                    --batch-size 25 --deal shuffle
                expect "$name: trains" exited 0
                [ $name = $model-$trainers-1-1 ] || equal $name $model-$trainers-1-1 $name
            done
        done
    done
done
expect "the number of trainers is part of the experiment" \
    sh -c "! cmp -s '$work/sage-1-1-1/model.safetensors' '$work/sage-2-1-1/model.safetensors'"

train threads p2 --model sage --trainers 4 --batch-size 25 --threads 3 --messages --codec \
    --deal shuffle
equal "three threads for four trainers, messages" sage-4-1-1 threads

# Steps of 4 trainers with one seed each leave trainers without any in the last one.
epochs=1
train ones-1 p1 --model sage --trainers 4 --batch-size 1 --deal shuffle
expect "batches of one seed: trains" exited 0
train ones-4 p4 --model sage --trainers 4 --batch-size 1 --loops 3 --deal shuffle
equal "batches of one seed" ones-1 ones-4
epochs=3

train group p2 --model sage --batch-size 25 --checkpoint-every 3
equal "one trainer in a group" sage-1-1-1 group

train exact-1 p1 --model sage --trainers 4 --batch-size 25 --deal shuffle \
    --threads 1 --balanced-weights
expect "exact evaluation, balanced weights: trains" exited 0
train exact-2 p4 --model sage --trainers 4 --batch-size 25 --deal shuffle \
    --threads 9 --balanced-weights
equal "exact evaluation on more threads" exact-1 exact-2

expect "config.json says how many" grep -q '"trainers": 4' "$work/sage-4-1-1/config.json"
train bad p2 --trainers 2 --optimiser sgd --lr 1000000 --momentum 0.99 --batch-size 25
expect "a trainer that fails ends all" fails_with "not finite"
train nobody p2 --trainers 2 --deal "$work/none.npy"
expect "a deal that is not there is refused" fails_with "none.npy"
finish

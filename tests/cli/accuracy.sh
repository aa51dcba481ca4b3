# SPDX-License-Identifier: Apache-2.0
# Accuracy on real graphs: the mean over seeds of neighbour-sampled training with exact inference
# reaches what the models reach elsewhere. Needs the data folder (TROUPE_DATA).
. "${srcdir:-.}/tests/cli/tap.sh"

# The gate trains by a few seeds: what people get without options, models of relations, and one graph by
# hand. TROUPE_ACCURACY=whole (tests/outside/accuracy_seeds.sh) has all seeds, splits and graphs, to the
# same bounds, in three times the time. Either takes minutes: once a ./check is enough, in the build that
# people use.
if [ -z "${TROUPE_LONG_TESTS-}" ]; then
    skip accuracy "a long test; ./check runs it in its stages plain and dist, TROUPE_LONG_TESTS=1 make check anywhere"
    finish
    exit
fi

# some GATE WHOLE: how many runs.
whole=${TROUPE_ACCURACY-}
some() {
    [ "$whole" = whole ] && echo "$2" || echo "$1"
}

# mean KEY < JSON lines
mean() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" | awk '{ s += $1 } END { printf "%.4f", NR ? s / NR : 0 }'; }

# at_least RUNS MEASURED GOAL: of all runs, none missing.
at_least() {
    [ "$(wc -l <"$work/results")" = "$1" ] && awk -v a="$2" -v b="$3" 'BEGIN { exit !(a >= b) }'
}

have() {
    [ -e "$TROUPE_DATA/$1/edges.npy" ] && return 0
    skip "$1" "$TROUPE_DATA/$1 is not there; set TROUPE_DATA to the folder of the data"
    return 1
}

# cut DATASET: partitions it, once.
cut() {
    [ -d "$work/$1" ] && return 0
    troupe partition "$TROUPE_DATA/$1" --parts 2 --method metis --name "$1" --out "$work/$1" --quiet
    [ "$code" = 0 ]
}

# runs COUNT WORDS...: trains so many times, @ in the words being 0, 1, ...; a line each in $work/results.
# Whole runs side by side use the cores better than one small run does; how many threads a run
# has changes none of its figures.
runs() {
    last=$(($1 - 1))
    shift
    seq 0 "$last" | xargs -P "$(nproc)" -I@ "$TROUPE" train "$@" \
        --run "$work/run-@" --replace --threads 1 --loops 1 --json --quiet >"$work/results" 2>"$work/err"
}

planetoid() {
    have "$1" || return
    cut "$1" || { expect "$1 partitions" exited 0; return; }
    for pair in "sage $2" "gcn $3"; do
        model=${pair% *}
        goal=${pair#* }
        runs 5 "$work/$1/$1.json" --model "$model" --hidden 64 --dropout 0.5 --input-dropout 0.5 \
            --lr 0.01 --l2 5e-4 --fanout 10,25 --normalise --epochs 100 --seed @
        got=$(mean test_accuracy <"$work/results")
        expect "$1, $model: mean accuracy of 5 seeds $got, at least $goal" at_least 5 "$got" "$goal"
    done
}

tolokers() {
    have tolokers || return
    cut tolokers || { expect "tolokers partitions" exited 0; return; }
    runs 10 "$work/tolokers/tolokers.json" --model sage --hidden 128 --dropout 0.2 --lr 0.003 \
        --fanout 10,25 --batch-size 512 --epochs 60 --metric roc-auc --train-mask train_mask_@ \
        --val-mask val_mask_@ --test-mask test_mask_@ --seed @
    got=$(mean test_roc_auc <"$work/results")
    expect "tolokers, sage: mean ROC AUC of 10 splits $got, at least 0.80" at_least 10 "$got" 0.80
}

# defaults DATASET KEY GOAL: with no option but the paths, the mean of some seeds.
defaults() {
    have "$1" || return
    cut "$1" || { expect "$1 partitions" exited 0; return; }
    count=$(some 2 5)
    troupe train "$work/$1" --run "$work/defaults-$1" --seeds "0-$((count - 1))" --json --quiet
    got=$(sed -n "s/.*\"$2\":\([0-9.]*\).*/\1/p" "$work/out")
    expect "$1 without options: mean $2 of $count seeds ${got:-none}, at least $3" \
        awk -v a="${got:-0}" -v b="$3" 'BEGIN { exit !(a >= b) }'
}

# relations DATASET GOAL OPTIONS...: rgcn over one-hot rows with all neighbours, the mean of some seeds.
relations() {
    name=$1
    goal=$2
    shift 2
    [ -e "$TROUPE_DATA/rdf_$name/triples.npy" ] || {
        skip "$name" "$TROUPE_DATA/rdf_$name is not there; set TROUPE_DATA to the folder of the data"
        return
    }
    troupe import edges "$TROUPE_DATA/rdf_$name" --reverse-types --out "$work/$name-raw" --quiet
    troupe partition "$work/$name-raw" --parts 2 --method random --name "$name" --out "$work/$name" --quiet
    count=$(some 4 8)
    runs "$count" "$work/$name/$name.json" --model rgcn --hidden 16 --dropout 0 --fanout=-1,-1 --epochs 50 \
        --eval none --seed @ "$@"
    for seed in $(seq 0 $((count - 1))); do
        "$TROUPE" infer "$work/$name/$name.json" --run "$work/run-$seed" --exact --json --quiet |
            sed -n 's/.*"split":"test"[^}]*"accuracy":\([0-9.]*\).*/"test_accuracy":\1/p'
    done >"$work/results" 2>"$work/err"
    got=$(mean test_accuracy <"$work/results")
    expect "$name, rgcn: mean accuracy of $count seeds $got, at least $goal" at_least "$count" "$got" "$goal"
}

relations aifb 0.94 --l2 0
relations mutag 0.715 --l2 5e-4
defaults cora test_accuracy 0.78
defaults citeseer test_accuracy 0.67
defaults pubmed test_accuracy 0.75
defaults tolokers test_roc_auc 0.79
planetoid cora 0.79 0.80
if [ "$whole" = whole ]; then
    planetoid citeseer 0.68 0.69
    planetoid pubmed 0.76 0.78
    tolokers
fi
finish

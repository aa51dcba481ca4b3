# SPDX-License-Identifier: Apache-2.0
# With few labelled nodes a class, training without options learns more where neighbours are alike than
# two layers of GraphSAGE do, and no less where they differ.
. "${srcdir:-.}/tests/cli/tap.sh"

# graph NAME SPLIT WORDS...: a graph of 4000 nodes in four blocks, 40 nodes to train on, in $work/NAME-parts.
graph() {
    name=$1
    shift
    split=$1
    shift
    { "$TROUPE" generate sbm --nodes 4000 --edges 24000 --features 16 --classes 4 --seed 1 --out "$work/$name" --quiet "$@" &&
        "$TROUPE" split "$work/$name" --ratio "$split" --by-class --replace --quiet &&
        "$TROUPE" partition "$work/$name" --parts 2 --method random --name g --out "$work/$name-parts" --quiet
    } >"$work/out" 2>"$work/err" || exit 99
}

# accuracy GRAPH WORDS...: the mean of three seeds.
accuracy() {
    at=$1
    shift
    troupe train "$work/$at-parts" --run "$work/run" --replace --seeds 0-2 --json --quiet "$@"
    sed -n 's/.*"test_accuracy":\([0-9.]*\).*/\1/p' "$work/out" | tail -n 1
}

# within A B POINTS: A is at least B and so much, in hundredths.
within() { awk -v a="${1:-0}" -v b="${2:-1}" -v c="$3" 'BEGIN { exit !(a >= b + c / 100) }'; }

graph alike 1/19/80 --signal 0.3
chosen=$(accuracy alike)
two=$(accuracy alike --fanout 10,25 --model sage)
expect "neighbours alike: ${chosen:-none}, two points above two layers' ${two:-none}" within "$chosen" "$two" 2
graph unlike 1/19/80 --signal 0.6 --inside 0.05
chosen=$(accuracy unlike)
two=$(accuracy unlike --fanout 10,25 --model sage)
expect "neighbours unlike: ${chosen:-none}, within three points of two layers' ${two:-none}" within "$chosen" "$two" -3
kind() { sed -n 's/.*"kind": "\([a-z]*\)".*/\1/p' "$work/$1/config.json"; }
expect "neighbours unlike: sage" [ "$(kind run/seed-0)" = sage ]
troupe train "$work/alike-parts" --run "$work/one" --quiet
expect "neighbours alike: gcn" [ "$(kind one)" = gcn ]
troupe train "$work/alike-parts" --run "$work/one" --quiet --resume
expect "a run that goes on has the model that it was begun with" exited 0
troupe train "$work/alike-parts" --run "$work/more" --quiet --from "$work/one"
expect "one that begins with its weights too" [ "$code/$(kind more)" = 0/gcn ]
troupe train "$work/alike-parts" --run "$work/named" --quiet --epochs 2
# No edge joins two of 40 labelled nodes, so features say whether neighbours are alike.
graph alike-unseen 1/0/99 --signal 0.3
graph unlike-unseen 1/0/99 --signal 0.6 --inside 0.05
for at in alike unlike; do
    "$TROUPE" train "$work/$at-unseen-parts" --run "$work/$at-unseen-run" --json --quiet >"$work/out" 2>"$work/err"
    sed -n 's/.*"test_accuracy":\([0-9.]*\).*/\1/p' "$work/out" >"$work/$at-accuracy"
done
expect "features of neighbours alike: gcn" [ "$(kind alike-unseen-run)" = gcn ]
expect "unlike: sage" [ "$(kind unlike-unseen-run)" = sage ]
chosen=$(cat "$work/alike-accuracy")
expect "which learns much of 10 labels a class, ${chosen:-none}" within "$chosen" 0.65 0
chosen=$(cat "$work/unlike-accuracy")
expect "either way, ${chosen:-none}" within "$chosen" 0.65 0
expect "epochs that are named: sage, as ever" [ "$(kind named)" = sage ]
expect "which learned something" within "$two" 0.6 0
finish

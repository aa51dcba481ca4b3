# SPDX-License-Identifier: Apache-2.0
# Several runs by one command: each is the run that it would be alone, what came of all is their mean and deviation,
# and what is complete is not trained again.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 400 --edges 3000 --features 8 --classes 3 --signal 0.5 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/parts" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
graph=$work/parts/toy.json

many() { troupe train "$graph" --run "$work/many" --hidden 8 --batch-size 64 --epochs 3 --threads 1 --loops 1 "$@"; }

# result KEY: a number of the last report.
result() { sed -n "s/.*\"$1\":\([0-9.e-]*\).*/\1/p" "$work/out"; }

# places FOLDER...: the models, by what changes when they are written anew.
places() { for run in "$@"; do stat -c '%i %Y' "$run/model.safetensors"; done; }

for seed in 4 5 7; do
    troupe train "$graph" --run "$work/alone-$seed" --hidden 8 --batch-size 64 --epochs 3 --threads 1 --loops 1 \
        --seed $seed --json --quiet
    result test_accuracy
done >"$work/figures"
many --seeds 4-5,7 --json --quiet
expect "three seeds train" exited 0
for seed in 4 5 7; do
    expect "seed $seed is the run that it is alone" \
        cmp "$work/alone-$seed/model.safetensors" "$work/many/seed-$seed/model.safetensors"
done
expect "the mean is theirs, and the deviation" awk -v mean="$(result test_accuracy)" \
    -v deviation="$(result test_accuracy_deviation)" '
    { x[NR] = $1; sum += $1 }
    END {
        for (i in x) squares += (x[i] - sum / NR) ^ 2
        off = mean - sum / NR; other = deviation - sqrt(squares / (NR - 1))
        exit !(NR == 3 && off * off < 1e-12 && other * other < 1e-12)
    }' "$work/figures"
places "$work/many/seed-4" "$work/many/seed-7" >"$work/before"
# As a run is left that was stopped before its first epoch ended.
rm "$work/many/seed-5/model.safetensors"
: >"$work/many/seed-5/metrics.jsonl"
many --seeds 4-5,7
expect "what is complete is not trained again" complains 'seed-4: validation .*(it was complete)'
places "$work/many/seed-4" "$work/many/seed-7" >"$work/after"
expect "nor written" cmp "$work/before" "$work/after"
expect "what was stopped goes on" cmp "$work/alone-5/model.safetensors" "$work/many/seed-5/model.safetensors"
expect "people read mean and deviation" says '^test accuracy  0\.[0-9]* ± 0\.[0-9]*$'
many --seeds 4,5,7 --dropout 0.1
expect "a run of other options is refused, which are named" fails_with "options: --dropout (it was 0.5, now 0.1)"
many --seeds 4,5,7 --fanout 5,10
expect "so is one of another fanout" fails_with "options: --fanout (it was \[10,25\], now \[5,10\])"
differs() {
    many --seeds 4,5,7 "$@"
    expect "and one of another $1" fails_with "the run was begun with other options: .*$1"
}
differs --norm layer
differs --drop-last
differs --with-replacement
differs --balanced-weights
differs --eval sampled
differs --trainers 2
differs --from "$work/alone-4"
differs --normalise
many --seeds 4,5,7 --no-normalise
expect "but not one whose features were left as they are" complains 'seed-4: .*(it was complete)'
many --seeds 8 --l2 0.25 --quiet
many --seeds 8
expect "what was given once and is left out then is another option" \
    fails_with 'other options: --l2 (it was 0.25, now 0.0)'
troupe train "$graph" --run "$work/many" --hidden 8 --batch-size 64 --epochs 4 --threads 1 --loops 1 --seeds 4 --quiet
expect "more epochs go on with a complete run" [ "$code/$(wc -l <"$work/many/seed-4/metrics.jsonl")" = 0/5 ]
mkdir "$work/moved" && cp -r "$work/parts/." "$work/moved" && cp -r "$work/many" "$work/elsewhere"
troupe train "$work/moved" --run "$work/elsewhere" --hidden 8 --batch-size 64 --epochs 3 --seeds 5
expect "a complete run of another graph is refused" fails_with "seed-5: the run was trained on $work/parts/toy.json, and"
(cd "$work" && "$TROUPE" train parts --run many --hidden 8 --batch-size 64 --epochs 3 --seeds 5 >"$work/out" 2>"$work/err")
expect "but not one whose path is spelled otherwise" grep -q 'it was complete' "$work/err"
many --seeds 4,7 --replace --dropout 0.1 --quiet
expect "unless it is replaced" sh -c "! cmp -s '$work/alone-4/model.safetensors' '$work/many/seed-4/model.safetensors'"

# Where nothing is tried, hidden layers are the usual ones unless they are named.
shaped() {
    troupe train "$graph" --run "$work/shaped" --batch-size 64 --epochs 3 --threads 1 --loops 1 --seeds 0-1 --replace \
        --quiet "$@"
    expect "seeds of $1 are trained" exited 0
    places "$work/shaped/seed-0" "$work/shaped/seed-1" >"$work/before"
    troupe train "$graph" --run "$work/shaped" --batch-size 64 --epochs 3 --threads 1 --loops 1 --seeds 0-1
    expect "and are no runs of the usual shape" fails_with "the run was begun with other options: .*$1"
    places "$work/shaped/seed-0" "$work/shaped/seed-1" >"$work/after"
    expect "which they stay" cmp "$work/before" "$work/after"
}
shaped --hidden 8
shaped --norm layer
shaped --residual --layers 3
shaped --norm layer --hidden 8
troupe train "$graph" --run "$work/lent" --batch-size 64 --epochs 3 --seeds 0-1 --from "$work/alone-4"
expect "seeds that begin with a run have its shape" exited 0
troupe train "$graph" --run "$work/lent" --batch-size 64 --epochs 3 --seeds 0-1 --from "$work/alone-4"
expect "and are complete with it" [ "$code/$(grep -c 'it was complete' "$work/err")" = 0/2 ]

# Heads that nobody gave are a number in the run.
troupe train "$graph" --run "$work/heads" --seeds 3 --epochs 1 --model gat
troupe train "$graph" --run "$work/heads" --seeds 3 --epochs 1 --model gat
expect "a run of gat is complete by the heads that it chose" complains 'seed-3: .*(it was complete)'

sweep() {
    troupe train "$graph" --run "$work/sweep" --hidden 8 --batch-size 64 --epochs 3 --threads 1 --loops 1 --quiet "$@"
}
sweep --sweep lr=0.00001,0.03 --sweep model=sage,gcn --seeds 0-1
expect "a table has a row a point" test "$(grep -c '^0\.[0-9]*  *\(sage\|gcn\)' "$work/out")" = 4
expect "the best by validation is named" says '^best by validation  .*/sweep/lr=0\.03,model='
expect "each run has its folder" test -s "$work/sweep/lr=0.00001,model=gcn/seed-1/model.safetensors"
expect "with its options" grep -q '"kind": "gcn"' "$work/sweep/lr=0.00001,model=gcn/seed-1/config.json"
sweep --sweep fanout=5:5,3:3 --json
expect "without seeds a point is a run" test -s "$work/sweep/fanout=3:3/model.safetensors"
expect "scripts read the points" says '"points":\[{"fanout":"5:5","val":[0-9.]*,"test_accuracy"'
sweep --sweep lr=fast
expect "a value that is none is refused" refuses_with "--lr fast: not a number"
sweep --sweep run=a,b
expect "so is an option that is no number or choice" refuses_with "--sweep run=a,b: give an option"
sweep --sweep seed=1,2
expect "seeds are swept by their own option" refuses_with '--sweep seed=1,2: seeds have an option of their own; give --seeds 1,2'
sweep --sweep layers=2,3
expect "layers by what they draw" refuses_with '--sweep layers=2,3: .* sweep fanout, .* such as fanout=10:25,5:10:25'
sweep --sweep lr=
expect "a value that is missing is said" refuses_with '--sweep lr=: a value is missing; give values parted by commas'
sweep --sweep lr=0.1,,0.2
expect "also between others" refuses_with '--sweep lr=0.1,,0.2: a value is missing'
sweep --model gat --sweep heads=0,8
expect "heads that nobody names are eight" refuses_with '--sweep heads=0,8: the value 8 is named twice, also as 0'
sweep --sweep metric=auto,accuracy
expect "a metric that is left open may be the other" refuses_with '--sweep metric=auto,accuracy: auto is roc-auc for two classes'
sweep --sweep norm=none,auto
expect "what nothing is chosen for is the usual" refuses_with '--sweep norm=none,auto: the value auto is named twice, also as none'
sweep --sweep lr=0.1,0.03 --lr 3
expect "an option that is swept and given too is refused" \
    refuses_with '--sweep lr=0.1,0.03: --lr gives this option one value for all runs; leave --lr out'
sweep --sweep lr=0.1,0.03 --lr 0.01
expect "also where it is given its usual value" refuses_with '--sweep lr=0.1,0.03: --lr gives'
sweep --seeds 1-2 --seed 3
expect "so is a seed beside seeds" refuses_with '--seeds 1-2: --seed gives one seed for all runs; leave --seed out'
sweep --sweep fanout=5,10,5
expect "a value that would count twice is refused" \
    refuses_with '--sweep fanout=5,10,5: the value 5 is named twice; name each value once'
sweep --sweep lr=0.01,1e-2
expect "also in another form" refuses_with '--sweep lr=0.01,1e-2: the value 1e-2 is named twice, also as 0.01; name each'
sweep --residual --sweep fanout=2:2:2,2:2
expect "options that disagree in one point are refused" refuses_with '--residual changes hidden layers .* give --layers 3'
expect "before another is trained" absent "$work/sweep/fanout=2:2:2"
troupe train "$graph" --run "$work/sweep" --hidden 8 --epochs 1 --quiet --residual --norm layer --sweep fanout=2:2:2,3:3:3
expect "an option that every point allows is not" exited 0
expect "and reaches the runs" grep -q '"residual": true' "$work/sweep/fanout=3:3:3/config.json"
sweep --seeds 1,0-2
expect "a seed that would count twice is refused" refuses_with "--seeds 1,0-2: seed 1 is named twice"
sweep --seeds 5-3
expect "and a range that goes down" refuses_with "--seeds 5-3: give numbers and ranges"
sweep --seeds 0-1 --cluster "$work/none.json"
expect "a cluster trains one run" refuses_with "--seeds and --sweep train in this process"

# A signal ends all of it: here the one that comes when a terminal is closed.
env --default-signal=HUP "$TROUPE" train "$graph" --run "$work/stopped" --seeds 0-1 --epochs 1000000 --quiet >"$work/out" 2>"$work/err" </dev/null &
child=$!
tries=0
while [ ! -s "$work/stopped/seed-0/metrics.jsonl" ] && [ $tries -lt 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -HUP $child
wait $child
code=$?
expect "a signal ends a command of several runs, which says how to go on" \
    fails_with 'stopped/seed-0: stopped in epoch [0-9]*, after .*; give the same command to continue'
expect "which leaves a checkpoint of the one under way" test -n "$(ls "$work/stopped/seed-0/checkpoints")"
expect "and begins no other" absent "$work/stopped/seed-1"
finish

# SPDX-License-Identifier: Apache-2.0
# Edges that weigh: a graph whose weights alone tell the classes, the same model on every placement,
# and weights that are none.
. "${srcdir:-.}/tests/cli/tap.sh"

# Every node has edges from a hub of each class; that of its own class weighs more. Features of hubs
# alone say their class.
awk -v edges="$work/edges.csv" -v nodes="$work/nodes.csv" 'function class(i) { return int(i * 7.13) % 3 }
BEGIN {
    print "src,dst,weight" >edges
    print "id,label,a,b,c" >nodes
    for (i = 0; i < 450; i++) {
        if (i < 30) {
            print i "," i % 3 "," (i % 3 == 0) "," (i % 3 == 1) "," (i % 3 == 2) >nodes
            continue
        }
        print i "," class(i) ",0,0,0" >nodes
        for (k = 0; k < 6; k++)
            for (b = 0; b < 3; b++)
                print (i * 11 + k * 7) % 10 * 3 + b "," i "," (b == class(i) ? 1 : 0.0625) >edges
    }
}'
troupe import table --edges "$work/edges.csv" --nodes "$work/nodes.csv" --labels label --weight weight --out "$work/raw" --quiet
expect "weights are imported" exited 0
troupe split "$work/raw" --ratio 40/20/40 --quiet
for parts in 1 3; do
    troupe partition "$work/raw" --parts $parts --method random --name g --out "$work/parts$parts" --quiet
done
graph=$work/parts3/g.json

learn() { # FOLDER EPOCHS OPTION...
    folder=$work/$1 epochs=$2
    shift 2
    troupe train "$graph" --run "$folder" --epochs "$epochs" --hidden 16 --batch-size 64 --seed 1 --json --quiet "$@"
}
learn plain 30
expect "without weights nothing tells the classes" says '"test_accuracy":0\.[0-5]'
unused() { grep -q "^troupe train: the edges have 'weight', which is not used, .*: give --edge-weight 'weight' where" "$work/err"; }
troupe train "$graph" --run "$work/advised" --epochs 1
expect "a run without is advised of them" unused
troupe train "$graph" --run "$work/advised" --epochs 1 --edge-weight weight --replace
expect "one with them is not" sh -c "! grep -q 'which is not used' '$work/err'"
learn sage 80 --edge-weight weight
expect "with them sage finds all" says '"test_accuracy":1\.0'
learn gcn 60 --edge-weight weight --model gcn
expect "and gcn nearly all" says '"test_accuracy":\(0\.9\|1\.0\)'
expect "config.json has the feature's name" grep -q '"edge_weight": "weight"' "$work/sage/config.json"
expect "and says nothing of it in a run without" sh -c "! grep -q edge_weight '$work/plain/config.json'"
troupe infer "$graph" --run "$work/sage" --exact --json --quiet
expect "inference takes the weights of the run" says '"accuracy":1\.0'
troupe infer "$graph" --run "$work/sage" --sampled --json --quiet
expect "sampled inference too" says '"accuracy":1\.0'
troupe inspect "$work/sage"
expect "inspect shows it" says 'edge_weight *weight'
troupe report "$work/sage" --out "$work/report.html"
expect "the report's command has it" grep -q -e '--edge-weight weight' "$work/report.html"

# The same bytes on other placements.
printf '{"name": "job", "graph": "%s", "seed": 1, "hosts": [{"name": "a", "unix": "%s", "trainers": 0}, {"name": "b", "unix": "%s"}]}\n' \
    "$graph" "$work/a" "$work/b" >"$work/cluster.json"
for model in sage gcn; do
    set -- --edge-weight weight --model $model
    learn first_$model 3 "$@"
    graph=$work/parts1/g.json learn other_$model 3 "$@" --messages --codec --threads 1
    expect "$model: one partition, messages and one thread change no byte" \
        cmp -s "$work/first_$model/model.safetensors" "$work/other_$model/model.safetensors"
    troupe launch "$work/cluster.json" --run "$work/launched_$model" -- --hidden 16 --batch-size 64 --epochs 3 --quiet "$@"
    expect "$model: nor do two processes" \
        cmp -s "$work/first_$model/model.safetensors" "$work/launched_$model/model.safetensors"
done

# What is refused.
learn other 3 --edge-weight other
expect "a feature that edges lack is named" complains "options.edge_weight.*'other'\|'other'.*options.edge_weight\|--edge-weight.*other"
expect "and no run is begun" absent "$work/other"
learn again 3 --edge-weight weight --from "$work/plain"
expect "a model that learned without weights is none to begin with" complains "was trained with nothing as --edge-weight"
learn sage 80 --resume
expect "a run with weights goes on with them alone" complains "edge-weight (it was .weight., now not there)"
sed '2s/[^,]*$/-1/' "$work/edges.csv" >"$work/wrong.csv"
troupe import table --edges "$work/wrong.csv" --nodes "$work/nodes.csv" --labels label --weight weight --out "$work/bad" --quiet
troupe split "$work/bad" --ratio 40/20/40 --quiet
troupe partition "$work/bad" --parts 2 --method random --name g --out "$work/worse" --quiet
edge=$(sed -n '2s/\([^,]*\),\([^,]*\),.*/from node \1 to node \2 weighs -1/p' "$work/edges.csv")
graph=$work/worse/g.json
for model in sage gcn; do
    learn none 3 --edge-weight weight --model $model
    expect "$model: a negative weight is refused with its edge" fails_with "$edge"
done
expect "and no run is begun" absent "$work/none"
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options are split into their words
# Models of links on a graph of several types: they learn which things people buy, of which some have no
# features; held-out edges tell nothing the other way either; partitions, trainers, threads and processes
# change no bit.
. "${srcdir:-.}/tests/cli/tap.sh"

people=300
things=200
raw=$work/shop
mkdir "$raw" || exit 99
cat >"$raw/metadata.json" <<END
{"graph_name": "shop", "node_type": ["person", "thing"], "num_nodes_per_type": [$people, $things],
 "edge_type": ["person:buys:thing", "person:knows:person"], "num_edges_per_type": [6000, 1500],
 "edges": {"person:buys:thing": {"format": {"name": "csv", "delimiter": ","}, "data": ["buys.csv"]},
           "person:knows:person": {"format": {"name": "csv", "delimiter": ","}, "data": ["knows.csv"]}},
 "node_data": {"person": {"feat": {"format": {"name": "csv", "delimiter": ","}, "data": ["feat.csv"]}}}}
END
# People of a group buy things of that group, all of them as many; features say nothing of groups.
awk -v p=$people -v t=$things -v dir="$raw" 'BEGIN {
    srand(11)
    for (i = 0; i < p; i++) {
        print rand() "," rand() >(dir "/feat.csv")
        for (k = 0; k < 20; k++)
            print i "," (rand() < 0.9 ? 5 * int(rand() * t / 5) + i % 5 : int(rand() * t)) >(dir "/buys.csv")
        for (k = 0; k < 5; k++) print i "," int(rand() * p) >(dir "/knows.csv")
    } }' || exit 99
troupe import edges "$raw" --reverse-types --out "$work/raw" --quiet
expect "a typed graph is imported" exited 0
troupe import edges "$raw" --out "$work/plain" --quiet
for parts in 1 3; do
    "$TROUPE" partition "$work/raw" --parts $parts --method random --name g --out "$work/p$parts" --quiet \
        >"$work/out" 2>"$work/err" || exit 99
done
"$TROUPE" partition "$work/plain" --parts 2 --method random --name g --out "$work/one" --quiet \
    >"$work/out" 2>"$work/err" || exit 99

fanout=6,6
# train RUN GRAPH OPTIONS...
train() {
    run_folder=$work/$1
    graph=$work/$2
    shift 2
    troupe train "$graph" --run "$run_folder" --task link --hidden 16 --fanout="$fanout" --seed 5 --batch-size 500 --quiet "$@"
}
losses() { sed 's/"seconds":[^,}]*//' "$1/metrics.jsonl"; }
equal() {
    losses "$work/$2" >"$work/expected"
    losses "$work/$3" >"$work/seen"
    expect "$1: the same losses and scores" cmp -s "$work/expected" "$work/seen"
    expect "$1: the same model" cmp -s "$work/$2/model.safetensors" "$work/$3/model.safetensors"
}
above() { sed -n "s/.*\"$2\": *\([0-9.]*\).*/\1/p" "$work/out" | awk -v least="$1" '{ good = $1 > least } END { exit !good }'; }

train none p1 --epochs 1
expect "of several types one is named" fails_with \
    "types 'person:buys:thing', 'person:knows:person': say by --edge-type which of them are learned"
train none p1 --edge-type sells --epochs 1
expect "a type that is none is refused" fails_with "--edge-type: 'sells' names no edge type, or several; there are 'person:buys:thing'"
train none p1 --edge-type buys --reverse-edge-type knows --epochs 1
expect "so is a reverse with other ends" fails_with "edges of 'person:knows:person' do not go the other way"
train none p1 --edge-type buys --model sage --epochs 1
expect "sage takes one type" fails_with "give --model 'rgcn' or 'gat'"
troupe train "$work/p1" --run "$work/none" --edge-type buys
expect "nodes have no edge type to learn" fails_with "--edge-type is for --task 'link'"
mkdir "$work/empty" || exit 99
sed 's/"person:knows:person"\]/"person:knows:person", "person:sells:thing"]/; s/6000, 1500\]/6000, 1500, 0]/
s|^ "edges": {| "edges": {"person:sells:thing": {"format": {"name": "csv", "delimiter": ","}, "data": ["sells.csv"]},|' \
    "$raw/metadata.json" >"$work/empty/metadata.json"
cp "$raw"/*.csv "$work/empty" && : >"$work/empty/sells.csv"
"$TROUPE" partition "$work/empty" --parts 2 --method random --name g --out "$work/empty2" --quiet >"$work/out" 2>"$work/err" || exit 99
train none empty2 --edge-type sells --negatives-by degree --epochs 1
expect "a type without edges is refused by its name" fails_with \
    "no edges of 'person:sells:thing' to learn from; give --edge-type a type that has edges"
expect "nothing stays of them" [ ! -e "$work/none" ]

mkdir -m 700 "$work/s" || exit 99
printf '{"name": "job", "graph": "p3/g.json", "hosts": [{"name": "a", "unix": "s", "servers": 1, "samplers": 1,
 "trainers": 2, "processes": "role"}]}\n' >"$work/cluster.json"
for model in rgcn gat; do
    for eval in exact sampled; do
        name=$model-$eval
        options="--edge-type buys --model $model --eval $eval --trainers 2 --epochs 2 --negatives 2"
        train $name-p1 p1 $options
        expect "$name: trains" exited 0
        train $name-p3 p3 $options --messages --codec --threads 3 --loops 2
        equal $name-p3 $name-p1 $name-p3
    done
    run timeout 120 "$TROUPE" launch "$work/cluster.json" --run "$work/$model-job" -- --task link --edge-type buys --model $model \
        --hidden 16 --fanout 6,6 --seed 5 --batch-size 500 --epochs 2 --negatives 2 --quiet
    expect "processes train $model" exited 0
    equal "processes, $model" $model-exact-p1 $model-job
    train good-$model p3 --edge-type person:buys:thing --model $model --epochs 25 --lr 0.02 --json
    # Every node has as many edges as any other of its type, so degrees tell nothing.
    expect "$model tells what is bought from what is not" above 0.8 test_roc_auc
    expect "and ranks it above most" above 0.1 test_mrr
done
train auto p1 --edge-type rev_buys --epochs 2
expect "without a model rgcn is taken, also of reverses" grep -q '"kind": "rgcn"' "$work/auto/config.json"
expect "whose reverses are the others" grep -q '"reverse_edge_type": "person:buys:thing"' "$work/auto/config.json"
expect "config.json has whole names" grep -q '"edge_type": "person:buys:thing"' "$work/rgcn-exact-p1/config.json"
expect "and the reverse that was found" grep -q '"reverse_edge_type": "thing:rev_buys:person"' "$work/rgcn-exact-p1/config.json"

train whole p1 --edge-type buys --epochs 3 --checkpoint-every 5
train grown p1 --edge-type buys --epochs 2 --checkpoint-every 5
train grown p3 --edge-type person:buys:thing --epochs 3 --checkpoint-every 5 --resume
expect "a run goes on, on other partitions" exited 0
equal "resumed" whole grown
train grown p1 --edge-type knows --epochs 3 --resume
expect "not with other edges" fails_with "--edge-type (it was"

# What is held out tells nothing: a graph that lacks those edges, and their reverses, trains the same model.
# bought FOLDER REVERSE ALL: a graph with a thing that people buy, all of it or what is to be learned alone.
bought() {
    mkdir "$work/$1" || exit 99
    cp "$raw/knows.csv" "$raw/feat.csv" "$work/$1"
    awk -F, -v all="$3" -v dir="$work/$1" '!seen[$0]++ {
        part = n++ % 10
        if (!all && part < 2) next
        print >(dir "/buys.csv"); print $2 "," $1 >(dir "/back.csv")
        print (part > 1) >(dir "/train.csv"); print (part == 1) >(dir "/val.csv")
        print (part == 0) >(dir "/test.csv")
    }' "$raw/buys.csv" || exit 99
    count=$(wc -l <"$work/$1/buys.csv")
    masks=
    for name in train val test; do
        masks="$masks, \"${name}_mask\": {\"format\": {\"name\": \"csv\"}, \"data\": [\"$name.csv\"]}"
    done
    cat >"$work/$1/metadata.json" <<END
{"graph_name": "g", "node_type": ["person", "thing"], "num_nodes_per_type": [$people, $things],
 "edge_type": ["person:buys:thing", "person:knows:person", "thing:$2:person"], "num_edges_per_type": [$count, 1500, $count],
 "edges": {"person:buys:thing": {"format": {"name": "csv", "delimiter": ","}, "data": ["buys.csv"]},
           "person:knows:person": {"format": {"name": "csv", "delimiter": ","}, "data": ["knows.csv"]},
           "thing:$2:person": {"format": {"name": "csv", "delimiter": ","}, "data": ["back.csv"]}},
 "node_data": {"person": {"feat": {"format": {"name": "csv", "delimiter": ","}, "data": ["feat.csv"]}}},
 "edge_data": {"person:buys:thing": {${masks#, }}}}
END
    "$TROUPE" partition "$work/$1" --parts 2 --method random --name g --out "$work/$1-parts" --quiet >"$work/out" 2>"$work/err" || exit 99
}
bought all rev_buys 1
bought less rev_buys ""
bought other sold_to 1
fanout=-1,-1
# near KEY RUN OTHER: the numbers of all epochs but for the last digits, as other nodes are in a batch.
near() {
    for name in "$2" "$3"; do
        grep '"epoch"' "$work/$name/metrics.jsonl" | sed "s/.*$1\":\([^,}]*\).*/\1/" >"$work/near.$name"
    done
    paste -d ' ' "$work/near.$2" "$work/near.$3" |
        awk '{ off = $1 - $2 } off < -1e-6 || off > 1e-6 || $1 + 0 == 0 { bad = 1 } END { exit bad || NR != 2 }'
}
troupe train "$work/other-parts" --task link --edge-type buys --epochs 1 --run "$work/advised"
expect "an edge type that may be the reverse is named" complains "as many edges, the other way.*--reverse-edge-type"
far() { ! near "$@"; }
for model in rgcn gat; do
    options="--edge-type buys --model $model --epochs 2"
    train all-$model all-parts $options
    train drawn-$model all-parts $options --eval sampled
    train less-$model less-parts $options --eval none
    train said-$model other-parts $options --reverse-edge-type sold_to
    expect "$model learns from a graph with masks" exited 0
    expect "$model: no advice about reverses that are named" sh -c "! grep -q reverses '$work/err'"
    train said-$model other-parts $options --resume
    expect "$model: which are named again to go on" fails_with "--reverse-edge-type (it was"
    train unsaid-$model other-parts $options
    expect "$model: held-out edges and their reverses tell nothing" near train_loss all-$model less-$model
    expect "$model: nor do reverses that have another name" near train_loss all-$model said-$model
    expect "$model: those that nobody named tell" far train_loss unsaid-$model less-$model
    expect "$model: a pass over the graph is one over batches of all neighbours" near 'val.*"loss' all-$model drawn-$model
done
fanout=6,6

# Edges within a type, beside others.
train within p1 --edge-type knows --epochs 2
expect "edges within a type are learned too" exited 0
train oneway one --edge-type buys --epochs 2
expect "without reverses" exited 0
expect "of which there is no word" sh -c "! grep -q reverse_edge_type '$work/oneway/config.json'"

troupe infer "$work/p1" --run "$work/rgcn-exact-p1" --out "$work/rows.npy" --quiet
expect "infer writes outputs" exited 0
expect "of people" [ "$(wc -c <"$work/rows.person.npy")" -eq $((256 + people * 16 * 4)) ]
expect "and of things" [ "$(wc -c <"$work/rows.thing.npy")" -eq $((256 + things * 16 * 4)) ]
expect "each in a file of its own" [ ! -e "$work/rows.npy" ]
troupe infer "$work/p3" --run "$work/rgcn-exact-p1" --out "$work/other.npy" --embeddings "$work/hidden.npy" --quiet
for type in person thing; do
    expect "the same on other partitions, $type" cmp -s "$work/rows.$type.npy" "$work/other.$type.npy"
    expect "and embeddings, $type" [ -s "$work/hidden.$type.npy" ]
done
troupe infer "$work/p3" --run "$work/rgcn-exact-p1" --sampled --out "$work/drawn.npy" --embeddings "$work/hidden.npy" --quiet
expect "sampled as well" [ "$(wc -c <"$work/drawn.thing.npy")" = "$(wc -c <"$work/rows.thing.npy")" ]
# What would be replaced is looked at before anything else: there is no such graph.
printf 'mine\n' >"$work/mine.thing.npy"
for option in out embeddings; do
    troupe infer "$work/nowhere" --run "$work/rgcn-exact-p1" --$option "$work/mine.npy"
    expect "--$option: a file of the user's is not replaced" fails_with "--$option .*mine.thing.npy: there is a file of that name that holds no predictions"
done
mkdir "$work/kept.person.npy"
troupe infer "$work/nowhere" --run "$work/rgcn-exact-p1" --out "$work/kept.npy"
expect "nor a folder" fails_with "kept.person.npy: is a folder"
troupe infer "$work/nowhere" --run "$work/rgcn-exact-p1" --out "$work/kept.csv"
expect "there are no classes to write" fails_with "predict nothing of one node; give a name that ends with .npy"
printf 'mine\n' >"$work/other.npy"
troupe infer "$work/p1" --run "$work/rgcn-exact-p1" --out "$work/other.npy" --quiet
expect "a file that no type has is no matter" [ "$code$(cat "$work/other.npy")" = 0mine ]
troupe inspect "$work/rgcn-exact-p1"
expect "inspect shows the type" says '^edge_type  *person:buys:thing'
troupe report "$work/rgcn-exact-p1" --out "$work/page.html"
expect "there is a report" exited 0
expect "whose command repeats the run" grep -q -e '--edge-type person:buys:thing' "$work/page.html"
troupe train "$work/p1" --run "$work/many" --task link --edge-type buys --hidden 8 --epochs 1 --seeds 0-1 --quiet --json
expect "several seeds" says '"test_mrr"'
troupe train "$work/p1" --run "$work/many" --task link --edge-type buys --hidden 8 --epochs 1 --seeds 0-1 --quiet --json
expect "are found again" exited 0
finish

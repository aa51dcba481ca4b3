# SPDX-License-Identifier: Apache-2.0
# Models of relations from the command line: a graph of two node types, of which one has features, is
# imported with reverse edge types, partitioned, trained on, inferred and inspected; partitions, threads
# and processes change no bit; what is of graphs of one type is refused with what to give.
. "${srcdir:-.}/tests/cli/tap.sh"

papers=300
authors=90
raw=$work/academy
mkdir "$raw" || exit 99
cat >"$raw/metadata.json" <<END
{"graph_name": "academy", "node_type": ["paper", "author"], "num_nodes_per_type": [$papers, $authors],
 "edge_type": ["author:writes:paper", "paper:cites:paper"], "num_edges_per_type": [600, 900],
 "edges": {"author:writes:paper": {"format": {"name": "csv", "delimiter": ","}, "data": ["writes.csv"]},
           "paper:cites:paper": {"format": {"name": "csv", "delimiter": ","}, "data": ["cites.csv"]}},
 "node_data": {"paper": {
   "feat": {"format": {"name": "csv", "delimiter": ","}, "data": ["feat.csv"]},
   "label": {"format": {"name": "csv"}, "data": ["label.csv"]}}}}
END
# The class of a paper is that of its authors; its features say little, its citations something.
awk -v p=$papers -v a=$authors -v dir="$raw" 'BEGIN {
    srand(7)
    for (i = 0; i < p; i++) {
        class = i % 3
        print class >(dir "/label.csv")
        printf "%.4f,%.4f,%.4f\n", rand() + 0.1 * class, rand(), 1 - rand() >(dir "/feat.csv")
        for (k = 0; k < 2; k++) print 3 * int(rand() * a / 3) + class "," i >(dir "/writes.csv")
        for (k = 0; k < 3; k++)
            print (rand() < 0.6 ? 3 * int(rand() * p / 3) + class : int(rand() * p)) "," i >(dir "/cites.csv")
    } }' || exit 99

troupe import edges "$raw" --reverse-types --out "$work/raw" --quiet --json
expect "a typed graph is imported with reverse edge types" exited 0
expect "which makes four of two" grep -q '"edge_types":4' "$work/out"
troupe import edges "$work/raw" --reverse-types --out "$work/again"
expect "once: they are there then" complains "'paper:rev_writes:author' already.*leave --reverse-types out"
troupe split "$work/raw" --type paper --ratio 40/30/30 --seed 1 --quiet
expect "papers are split" exited 0
for parts in 1 4; do
    "$TROUPE" partition "$work/raw" --parts $parts --method random --seed 3 --name academy \
        --out "$work/parts-$parts" --quiet >"$work/out" 2>"$work/err" || exit 99
done

options="--fanout 3,4 --batch-size 40 --epochs 12 --hidden 16 --lr 0.02 --dropout 0.2 --seed 5 --quiet"
mkdir -m 700 "$work/sockets" || exit 99
cat >"$work/cluster.json" <<END
{"name": "job", "graph": "parts-4/academy.json", "seed": 5, "hosts": [{"name": "a", "unix": "sockets",
 "servers": 2, "samplers": 1, "trainers": 1, "processes": "role"}]}
END
same() { cmp -s "$work/$1/model.safetensors" "$work/$2/model.safetensors"; }
same_losses() {
    sed 's/"seconds":[^,}]*//g' "$work/$1/metrics.jsonl" >"$work/losses"
    sed 's/"seconds":[^,}]*//g' "$work/$2/metrics.jsonl" | cmp -s - "$work/losses"
}
for model in rgcn gat; do
    [ $model = rgcn ] && extra="--bases 2" || extra="--heads 4"
    # shellcheck disable=SC2086 # words are meant to be split
    for parts in 1 4; do
        troupe train "$work/parts-$parts" --model $model $extra $options --run "$work/$model-$parts"
        expect "$model trains on $parts partitions" exited 0
    done
    expect "$model: partitions change nothing" same $model-1 $model-4
    expect "$model: nor any loss and score" same_losses $model-1 $model-4
    # shellcheck disable=SC2086
    troupe train "$work/parts-4" --model $model $extra $options --run "$work/$model-other" --messages --codec \
        --servers 2 --samplers 2 --threads 3
    expect "$model: messages, servers and threads change nothing" same $model-1 $model-other
    # shellcheck disable=SC2086
    run timeout 120 "$TROUPE" launch "$work/cluster.json" --run "$work/$model-processes" -- --model $model $extra $options
    expect "$model trains on 4 processes" exited 0
    expect "$model: processes change nothing" same $model-1 $model-processes
    for parts in 1 4; do
        troupe infer "$work/parts-$parts" --run "$work/$model-1" --exact --json --quiet \
            --out "$work/$model-$parts.csv"
        expect "$model: inference of all papers on $parts partitions" [ "$(wc -l <"$work/$model-$parts.csv")" = $((papers + 1)) ]
    done
    expect "$model: partitions change no prediction" cmp -s "$work/$model-1.csv" "$work/$model-4.csv"
    got=$(sed -n 's/.*"split":"test"[^}]*"accuracy":\([0-9.]*\).*/\1/p' "$work/out")
    expect "$model: test accuracy ${got:-none}, far above 1 in 3" awk -v a="${got:-0}" 'BEGIN { exit !(a >= 0.7) }'
    troupe infer "$work/parts-4" --run "$work/$model-1" --sampled --json --quiet
    expect "$model: sampled inference" exited 0
done
expect "config.json says which type is learned" grep -q '"label_type": "paper"' "$work/rgcn-1/config.json"
expect "and how many bases there are" grep -q '"bases": 2' "$work/rgcn-1/config.json"
troupe inspect "$work/rgcn-1"
expect "inspect shows the type" says 'label_type *paper'
# Two layers, and a share of each of two bases in them; the last layer reads what comes to papers alone.
expect "and the relations with their parameters" says '^author:writes:paper  *4$'
expect "also of one layer alone" says '^paper:rev_writes:author  *2$'
troupe inspect "$work/gat-1" --json
expect "scripts see the relations and heads" \
    says '"relations":\[{"type":"author:writes:paper","parameters":[0-9]*},.*{"name":"heads","value":"4"}'
tensors() { head -c 8000 "$work/rgcn-1/model.safetensors" | grep -aq "\"$1\":"; }
expect "tensors have the relations' names" tensors 'layers.0.relations.author:writes:paper.shares'
expect "and learned rows those of their types" tensors 'layers.0.bases.author.rows'
troupe report "$work/rgcn-1" --out "$work/report.html"
expect "there is a report" exited 0
expect "whose command repeats the run" grep -q -e '--bases 2' "$work/report.html"

# One-hot rows, as they are published: a graph of people of four groups, and 45 relations.
if [ -e "$TROUPE_DATA/rdf_aifb/triples.npy" ]; then
    troupe import edges "$TROUPE_DATA/rdf_aifb" --reverse-types --out "$work/aifb" --quiet
    expect "a graph of triples is imported" exited 0
    troupe partition "$work/aifb" --parts 2 --method random --name aifb --out "$work/aifb-parts" --quiet
    troupe train "$work/aifb-parts" --model rgcn --hidden 16 --dropout 0 --l2 0 --fanout=-1,-1 --epochs 50 \
        --eval none --seed 0 --run "$work/aifb-run" --quiet
    expect "rgcn learns it" exited 0
    troupe infer "$work/aifb-parts" --run "$work/aifb-run" --exact --json --quiet
    got=$(sed -n 's/.*"split":"test"[^}]*"accuracy":\([0-9.]*\).*/\1/p' "$work/out")
    expect "aifb, rgcn: accuracy ${got:-none}, at least 0.91" awk -v a="${got:-0}" 'BEGIN { exit !(a >= 0.91) }'
else
    skip "rgcn on aifb" "$TROUPE_DATA/rdf_aifb is not there; set TROUPE_DATA to the folder of the data"
fi

# shellcheck disable=SC2086
troupe train "$work/parts-1" --model rgcn $options --etype-fanout "writes=0,0;paper:rev_writes:author=0,0" --run "$work/cut"
expect "edge types have fanouts of their own" exited 0
expect "which change what is learned" sh -c "! cmp -s '$work/cut/model.safetensors' '$work/rgcn-1/model.safetensors'"
troupe train "$work/parts-1" --epochs 2 --run "$work/auto" --quiet
expect "without a model rgcn is taken" grep -q '"kind": "rgcn"' "$work/auto/config.json"
troupe train "$work/parts-1" --epochs 3 --run "$work/auto" --resume --quiet
expect "which goes on" exited 0
troupe train "$work/parts-1" --model sage --run "$work/none"
expect "sage is refused on several types, with what to give" complains "sage takes graphs with one of each: give --model 'rgcn' or 'gat'"
troupe train "$work/parts-1" --model rgcn --run "$work/none" --label-type journal
expect "a type that is none is named" complains "--label-type: the graph has no node type 'journal'; it has 'paper', 'author'"
troupe train "$work/parts-1" --model rgcn --run "$work/none" --etype-fanout "owns=1,2"
expect "so is an edge type" complains "--etype-fanout: 'owns' names no edge type"
troupe train "$work/parts-1" --model rgcn --run "$work/none" --etype-fanout "cites=1,2;paper:cites:paper=0,0"
expect "one that is there twice is refused" complains "--etype-fanout: 'paper:cites:paper' is there twice"
troupe train "$work/parts-1" --model rgcn --run "$work/none" --etype-fanout "cites=1"
expect "a fanout for each layer is needed" complains "--etype-fanout: 'cites' needs 2 numbers"
troupe train "$work/parts-1" --model rgcn --run "$work/none" --edge-weight w
expect "weights of edges are of sage and gcn" complains "--edge-weight is for sage and gcn; leave it out for rgcn"
troupe train "$work/parts-1" --model gat --run "$work/none" --standardise
expect "standardising is of one node type" complains "--standardise is for sage and gcn, or for graphs of one node type; leave it out for gat"
troupe train "$work/parts-1" --model gat --run "$work/none" --heads 3
expect "heads share hidden rows out evenly" complains "3 heads do not divide"
troupe train "$work/parts-1" --model gat --run "$work/none" --bases 3
expect "bases are rgcn's" complains "only rgcn has bases"
troupe train "$work/parts-1" --model rgcn --run "$work/none" --features other
expect "features that no type has are named" complains "no node type has features 'other'"
finish

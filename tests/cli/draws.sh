# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options are split into their words
# How a training draws: by LABOR, by a feature of edges, among those that a mask marks. Each has the
# same bytes on any placement, counts what it draws as the whole neighbourhood, is shown and repeated,
# and is part of what a run is.
. "${srcdir:-.}/tests/cli/tap.sh"

papers=300
authors=90

# digits COUNT FILE: a .npy of uint8, of the digits that are read; 9 is 255, or the -1 of a file "bad".
digits() {
    case $2 in */bad.npy) type=i1 ;; *) type=u1 ;; esac
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '|$type', 'fortran_order': False, 'shape': ($1,), }" >"$2"
    tr -d '\n' | tr '01239' '\000\001\002\003\377' >>"$2"
}

# graph NAME CONDITION: papers and authors; of the citations those for which it holds.
graph() {
    folder=$work/$1
    mkdir "$folder" || exit 99
    awk -v p=$papers -v a=$authors -v dir="$folder" 'BEGIN {
        srand(7)
        for (i = 0; i < p; i++) {
            class = i % 3
            print class >(dir "/label.csv")
            printf "%.4f,%.4f,%.4f\n", rand() + 0.1 * class, rand(), 1 - rand() >(dir "/feat.csv")
            for (k = 0; k < 2; k++) print 3 * int(rand() * a / 3) + class "," i >(dir "/writes.csv")
            for (k = 0; k < 5; k++) {
                from = rand() < 0.6 ? 3 * int(rand() * p / 3) + class : int(rand() * p)
                often = int(rand() * 4)
                kept = rand() < 0.7
                if ('"$2"') {
                    print from "," i >(dir "/cites.csv")
                    print often >(dir "/often")
                    print kept + 0 >(dir "/kept")
                    print 1 >(dir "/one")
                    print (i == p - 1 ? 9 : often) >(dir "/bad")
                }
            }
        } }' || exit 99
    cites=$(wc -l <"$folder/cites.csv")
    tables=
    for name in often kept one bad; do
        digits "$cites" "$folder/$name.npy" <"$folder/$name"
        tables="$tables, \"$name\": {\"format\": {\"name\": \"numpy\"}, \"data\": [\"$name.npy\"]}"
    done
    sed "s|CITES|$cites|; s|TABLES|${tables#, }|" >"$folder/metadata.json"
}

# Two node types and two edge types, of which one has features; and citations alone.
typed() {
    cat <<END
{"graph_name": "g", "node_type": ["paper", "author"], "num_nodes_per_type": [$papers, $authors],
 "edge_type": ["author:writes:paper", "paper:cites:paper"], "num_edges_per_type": [600, CITES],
 "edges": {"author:writes:paper": {"format": {"name": "csv", "delimiter": ","}, "data": ["writes.csv"]},
           "paper:cites:paper": {"format": {"name": "csv", "delimiter": ","}, "data": ["cites.csv"]}},
 "edge_data": {"paper:cites:paper": {TABLES}},
 "node_data": {"paper": {
   "feat": {"format": {"name": "csv", "delimiter": ","}, "data": ["feat.csv"]},
   "label": {"format": {"name": "csv"}, "data": ["label.csv"]}}}}
END
}
plain() {
    cat <<END
{"graph_name": "g", "node_type": ["paper"], "num_nodes_per_type": [$papers],
 "edge_type": ["paper:cites:paper"], "num_edges_per_type": [CITES],
 "edges": {"paper:cites:paper": {"format": {"name": "csv", "delimiter": ","}, "data": ["cites.csv"]}},
 "edge_data": {"paper:cites:paper": {TABLES}},
 "node_data": {"paper": {
   "feat": {"format": {"name": "csv", "delimiter": ","}, "data": ["feat.csv"]},
   "label": {"format": {"name": "csv"}, "data": ["label.csv"]}}}}
END
}
for kind in typed plain; do
    $kind | graph $kind "1"
    $kind | graph $kind-kept "kept"
    $kind | graph $kind-often "often > 0"
    for name in $kind $kind-kept $kind-often; do
        "$TROUPE" split "$work/$name" --type paper --ratio 40/30/30 --seed 1 --quiet >"$work/out" 2>"$work/err" || exit 99
        for parts in 1 3; do
            "$TROUPE" partition "$work/$name" --parts $parts --method random --seed 3 --name g \
                --out "$work/$name$parts" --quiet >"$work/out" 2>"$work/err" || exit 99
        done
    done
done

# learn RUN GRAPH OPTION...
learn() {
    folder=$work/$1 graph=$work/$2
    shift 2
    troupe train "$graph" --run "$folder" --replace --epochs 3 --hidden 8 --batch-size 40 --lr 0.02 --seed 5 --quiet "$@"
}
same() { cmp -s "$work/$1/model.safetensors" "$work/$2/model.safetensors"; }
scores() { sed 's/"seconds":[^,}]*//g' "$work/$1/metrics.jsonl"; }
same_scores() {
    scores "$1" >"$work/scores"
    scores "$2" | cmp -s - "$work/scores"
}
differs() { ! same "$@"; }

# The same bytes on any placement, and others than those of even draws.
for model in sage gcn rgcn gat; do
    case $model in sage | gcn) kind=plain ;; *) kind=typed ;; esac
    learn even-$model ${kind}1 --model $model --fanout 2,3
    for draws in "--sampler labor" "--sampler labor-poisson" "--draw-by often" \
        "--draw-by often --with-replacement" "--draw-mask kept" "--draw-by often --draw-mask kept" \
        "--sampler labor --draw-mask kept"; do
        case $model$draws in gcn*mask*) continue ;; esac
        learn here ${kind}1 --model $model --fanout 2,3 $draws
        expect "$model $draws: trains" exited 0
        expect "$model $draws: is not as even draws" differs here even-$model
        learn there ${kind}3 --model $model --fanout 2,3 $draws --messages --codec --servers 2 --samplers 2 --threads 3
        expect "$model $draws: placement changes no byte" same here there
        expect "$model $draws: nor a score" same_scores here there
    done
done

# A mask leaves the graph of the edges that it marks, to train, to score and to infer.
for model in sage rgcn gat; do
    case $model in sage) kind=plain ;; *) kind=typed ;; esac
    learn masked ${kind}3 --model $model --fanout=-1,-1 --draw-mask kept
    learn alone $kind-kept1 --model $model --fanout=-1,-1
    expect "$model: what a mask marks is learned as a graph of its own" same masked alone
    expect "$model: and scored so" same_scores masked alone
    troupe infer "$work/${kind}3" --run "$work/masked" --out "$work/masked.npy" --quiet
    troupe infer "$work/$kind-kept1" --run "$work/alone" --out "$work/alone.npy" --quiet
    expect "$model: and inferred so" cmp -s "$work/masked.npy" "$work/alone.npy"
    # All neighbours are drawn once, whatever they weigh; those of 0 never.
    learn all ${kind}3 --model $model --fanout=-1,-1 --draw-by often
    learn alone $kind-often1 --model $model --fanout=-1,-1
    expect "$model: all that can be drawn count alike" same all alone
    expect "$model: in scores too" same_scores all alone
done
learn equal plain3 --model gcn --fanout=-1,-1 --draw-by one
learn even plain1 --model gcn --fanout=-1,-1
expect "gcn: all of equal weights are all" same equal even
learn weighed plain3 --model sage --fanout 2,3 --draw-by often --edge-weight often
learn other plain1 --model sage --fanout 2,3 --draw-by often --edge-weight often --threads 2
expect "edges are weighed and drawn by one feature" exited 0
expect "the same on other partitions" same weighed other
learn links plain3 --task link --model sage --fanout 2,3 --draw-by often
learn other plain1 --task link --model sage --fanout 2,3 --draw-by often --threads 2 --messages
expect "links too are learned of draws by a feature" exited 0
expect "the same on other partitions" same links other

# Processes change nothing, and ways to draw are compared in one call.
mkdir -m 700 "$work/sockets" || exit 99
cat >"$work/cluster.json" <<END
{"name": "job", "graph": "typed3/g.json", "seed": 5, "hosts": [{"name": "a", "unix": "sockets",
 "servers": 2, "samplers": 1, "trainers": 1, "processes": "role"}]}
END
for draws in "--sampler labor --draw-mask kept" "--draw-by often"; do
    learn alone typed1 --model rgcn --fanout 2,3 $draws
    rm -rf "$work/launched"
    run timeout 120 "$TROUPE" launch "$work/cluster.json" --run "$work/launched" -- --epochs 3 --hidden 8 \
        --batch-size 40 --lr 0.02 --quiet --model rgcn --fanout 2,3 $draws
    expect "$draws: trains on 4 processes" exited 0
    expect "$draws: with the same bytes" same alone launched
done
learn swept plain1 --sweep sampler=neighbors,labor --model sage --fanout 2,3
expect "samplers are swept" exited 0
expect "each has a run" grep -q '"sampler": "labor"' "$work/swept/sampler=labor/config.json"

# It is shown, repeated and kept.
learn run plain3 --model sage --fanout 2,3 --sampler labor --draw-mask kept
expect "config.json has the sampler" grep -q '"sampler": "labor"' "$work/run/config.json"
expect "and the mask" grep -q '"draw_mask": "kept"' "$work/run/config.json"
expect "and nothing of either in another run" sh -c "! grep -q 'sampler\":\|draw_' '$work/even/config.json' "
troupe inspect "$work/run"
expect "inspect shows the sampler" says 'sampler *labor'
expect "and the mask" says 'draw_mask *kept'
troupe report "$work/run" --out "$work/report.html"
expect "the report's command has both" grep -q -e '--sampler labor --draw-mask kept' "$work/report.html"
troupe infer "$work/plain3" --run "$work/run" --sampled --json --quiet
expect "sampled inference draws so" exited 0
again() { troupe train "$work/plain3" --run "$work/run" --resume --epochs 3 --hidden 8 --batch-size 40 --lr 0.02 --seed 5 --model sage --fanout 2,3 --quiet "$@"; }
again --sampler labor --draw-mask kept
expect "the run goes on as it was" exited 0
again --draw-mask kept
expect "not with another sampler" fails_with "sampler (it was .labor., now not there)"
again --sampler labor
expect "nor without its mask" fails_with "draw-mask (it was .kept., now not there)"

# What is refused.
refused() { # OPTIONS WHY
    learn none plain1 $1
    expect "$1 is refused" complains "$2"
    expect "and no run is begun" absent "$work/none"
}
refused "--sampler labor --draw-by often" "--sampler 'labor' draws evenly and without replacement; leave out --draw-by"
refused "--sampler labor-poisson --with-replacement" "leave out --with-replacement"
refused "--sampler other" "sampler"
refused "--model gcn --draw-mask kept" "--draw-mask is for sage, rgcn and gat"
refused "--draw-by other" "other"
refused "--draw-mask other" "other"

# Weights that are none are found where they are, before a run is begun or another one gives way.
negative="edges of type cites: partition [0-9]: weight .bad. of edge [0-9]*, with the original ID $((5 * papers - 5)), is -1"
refused "--draw-by bad" "--draw-by: $negative"
cp -r "$work/run" "$work/kept-run" || exit 99
for options in "--messages --servers 2" "--task link" "--draw-mask kept"; do
    learn run plain3 --draw-by bad $options
    expect "$options: a negative weight is refused" complains "$negative"
    expect "$options: and the run that it would replace stays" diff -r "$work/run" "$work/kept-run"
done
learn none typed3 --draw-by bad --etype-fanout 'writes=2,2;cites=0,2'
expect "of several types one is named" complains "$negative"
expect "also where another process has the edges" absent "$work/none"
learn weighed typed3 --draw-by bad --etype-fanout 'writes=2,2;cites=0,0'
expect "those of edges that are not drawn are not read" exited 0
run timeout 120 "$TROUPE" launch "$work/cluster.json" --run "$work/none" -- --epochs 1 --hidden 8 --model rgcn \
    --fanout 2,3 --draw-by bad --quiet
expect "processes: a negative weight is refused" complains "$negative"
expect "and no run is begun" sh -c "! ls '$work/none' | grep -q ."
finish

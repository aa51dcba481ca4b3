# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options are split into their words
# A graph whose features are kept sparse gives the same bits as with dense ones: losses, models and
# answers, in one process, over messages and with mapped files. Its files are seen, verified and
# refused where they are damaged.
. "${srcdir:-.}/tests/cli/tap.sh"

tests/cli/make_npz sparse "$work/sparse.npz" || exit 99
for rows in sparse dense; do
    troupe import npz "$work/sparse.npz" --out "$work/$rows" --undirected --duplicates merge \
        --rows $rows --quiet
    expect "features are written $rows" exited 0
    troupe split "$work/$rows" --ratio 60/20/20 --seed 1 --quiet
    expect "masks are added to $rows ones" exited 0
    for parts in 1 4; do
        troupe partition "$work/$rows" --parts $parts --method random --name rings \
            --out "$work/$rows-$parts" --quiet
        expect "$rows rows are partitioned into $parts" exited 0
    done
done

troupe inspect "$work/sparse" --json
expect "a raw graph shows what is sparse" \
    says '"sparse":\[{"type":"_N","name":"feat","elements":240,"density":0.25'
troupe inspect "$work/sparse-4/rings.json" --json
expect "and so does a partition directory" \
    says '"sparse":\[{"type":"_N","name":"feat","elements":240,"density":0.25'
troupe inspect "$work/dense-4/rings.json" --json
expect "but not of dense tables" sh -c "! grep -q '\"sparse\"' '$work/out'"
troupe verify "$work/sparse-4/rings.json" "$work/sparse" --quiet
expect "sparse rows are verified with their raw graph" exited 0
troupe verify "$work/sparse-4/rings.json" "$work/dense" --quiet
expect "a dense raw graph is another one" fails_with "table 'feat' is not as in the input"

# Everything in metrics.jsonl but how long it took.
losses() { sed 's/"seconds":[^,}]*//' "$1/metrics.jsonl"; }

# train ROWS PARTS OPTIONS: the run is in $work/run-ROWS
train() {
    troupe train "$work/$1-$2/rings.json" --run "$work/run-$1" --replace --epochs 3 --hidden 16 \
        --fanout 3,4 --batch-size 24 --seed 11 --lr 0.02 --quiet $3
    expect "$1 rows in $2 partitions train$3" exited 0
}

for model in sage gcn; do
    train dense 1 " --model $model"
    losses "$work/run-dense" >"$work/expected"
    for options in "1 " "4 --loops 2 --samplers 2" "4 --messages" "4 --messages --codec --loops 2" \
        "4 --map"; do
        parts=${options%% *}
        train sparse "$parts" " --model $model ${options#* }"
        losses "$work/run-sparse" >"$work/seen"
        expect "the losses are those of dense rows" cmp -s "$work/expected" "$work/seen"
        expect "and so is the model" \
            cmp -s "$work/run-dense/model.safetensors" "$work/run-sparse/model.safetensors"
    done
    for rows in sparse dense; do
        troupe infer "$work/$rows-4/rings.json" --run "$work/run-dense" --exact \
            --out "$work/exact-$rows.npy" --quiet
        expect "$model infers exactly from $rows rows" exited 0
        troupe infer "$work/$rows-4/rings.json" --run "$work/run-dense" --sampled \
            --out "$work/sampled-$rows.npy" --quiet
        expect "and by samples" exited 0
    done
    expect "exact answers are those of dense rows" \
        cmp -s "$work/exact-sparse.npy" "$work/exact-dense.npy"
    expect "and so are sampled ones" cmp -s "$work/sampled-sparse.npy" "$work/sampled-dense.npy"
done

# The same rows as text and as SciPy's archive, beside edges of their own.
i=0
while [ $i -lt 240 ]; do
    echo "$i,$(((i + 4) % 240))"
    i=$((i + 1))
done >"$work/edges.csv"
{
    echo source,target
    cat "$work/edges.csv"
} >"$work/links.csv"
awk 'BEGIN { for (i = 0; i < 240; i++) print i % 4, i % 4 + 1 ":1" }' >"$work/words.svm"
{
    echo id
    awk 'BEGIN { for (i = 0; i < 240; i++) print i }'
} >"$work/people.csv"
tests/cli/make_npz rows "$work/words.npz" || exit 99

# compare NAME: a raw graph whose features are sparse, and whose bits are those of $work/plain
compare() {
    troupe split "$work/$1" --ratio 60/20/20 --seed 1 --quiet
    troupe partition "$work/$1" --parts 4 --method random --name rings --out "$work/$1-4" --quiet
    expect "$1 is partitioned" exited 0
    troupe train "$work/$1-4/rings.json" --run "$work/run-$1" --epochs 1 --hidden 16 --fanout 3,4 \
        --batch-size 24 --seed 11 --quiet
    expect "and trained on" exited 0
    losses "$work/run-$1" >"$work/losses-$1"
    expect "with the losses of dense rows" cmp "$work/losses-plain" "$work/losses-$1"
    expect "and their model" \
        cmp "$work/run-plain/model.safetensors" "$work/run-$1/model.safetensors"
}

troupe import edges "$work/edges.csv" --node-features "$work/words.svm" --rows dense \
    --out "$work/plain" --quiet
expect "features come as text" says '^columns of features  *4$'
expect "whose labels count" says '^labels  *those of the file of features$'
compare plain
troupe import edges "$work/edges.csv" --node-features "$work/words.svm" --rows sparse \
    --out "$work/text" --quiet
expect "they stay sparse" says '^features kept sparse, numbers  *240$'
run cmp "$work/text/node_data/_N/feat.indices.npy" "$work/sparse/node_data/_N/feat.indices.npy"
expect "as those of a published archive do" exited 0
compare text
gzip "$work/words.svm"
troupe import table --edges "$work/links.csv" --nodes "$work/people.csv" \
    --node-features "$work/words.svm.gz" --rows sparse --out "$work/named" --quiet
expect "a table of nodes has them too" exited 0
compare named
troupe import edges "$work/edges.csv" --node-features "$work/words.npz" --rows sparse \
    --out "$work/scipy" --json --quiet
expect "SciPy's archive has no labels" says '"labels":"none: the file has none"'
run diff -r "$work/text/node_data/_N" "$work/scipy/node_data/_N" --exclude 'label.npy' \
    --exclude '*_mask.npy'
expect "and the same rows" exited 0

troupe import edges "$work/edges.csv" --node-features "$work/words.npz" --num-nodes 300 \
    --out "$work/none" --quiet
expect "rows that are not the nodes' are refused" \
    fails_with 'words.npz: has 240 rows for the 300 nodes of "edges"'
troupe import table --edges "$work/links.csv" --node-features "$work/words.npz" \
    --out "$work/none" --quiet
expect "and without a table of nodes" fails_with 'node-features has a row for each row of a table'
troupe import table --edges "$work/links.csv" --nodes "$work/people.csv" --features 1 \
    --node-features "$work/words.npz" --out "$work/none" --quiet
expect "or beside columns of features" fails_with 'leave out --features'
troupe import edges "$work/edges.csv" --rows sparse --out "$work/none" --quiet
expect "and a form of nothing" fails_with 'rows is for a file of features'
expect "which leave nothing" [ ! -e "$work/none" ]

# A column behind the last one.
for file in "$work"/sparse-4/part1/*feat~indices.npy; do
    printf '\377\377\377\177' | dd of="$file" bs=1 seek=128 conv=notrunc 2>"$work/dd"
done
troupe train "$work/sparse-4/rings.json" --run "$work/run-bad" --epochs 1 --quiet
expect "a damaged column is refused" fails_with 'feat~indices.npy'
finish

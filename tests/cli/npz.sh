# SPDX-License-Identifier: Apache-2.0
# Archives of NumPy arrays, as graphs of benchmarks are published, become raw graphs that train.
. "${srcdir:-.}/tests/cli/tap.sh"

tests/cli/make_npz rings "$work/rings.npz" || exit 99
tests/cli/make_npz sparse "$work/sparse.npz" || exit 99

troupe import npz "$work/rings.npz" --out "$work/raw" --quiet
expect "an archive is imported" exited 0
expect "the tables of the graph are counted as what they are" says '^tables: features, labels, masks  *5$'
expect "the report says where edges come from" says '^edges from  *edges$'
expect "and features" says '^features from  *node_features$'
expect "and labels" says '^labels from  *node_labels$'
expect "and which split the masks are of" says '^split of the masks  *0$'
expect "of how many" says '^splits  *10$'
expect "edges that stand once are hinted at" says 'where the graph is undirected, import with --undirected$'
troupe import npz "$work/rings.npz" --out "$work/raw" --undirected --split 3 --replace --json --quiet
expect "--undirected adds reverses, --split chooses the masks" \
    says '"nodes":240,"edges":480,.*"features":5,.*"splits":10,"split":3'
expect "and nothing is hinted at" sh -c "! grep -q hint '$work/out'"
troupe partition "$work/raw" --parts 2 --method random --name rings --out "$work/parts" --quiet
expect "what was imported is partitioned" exited 0
troupe train "$work/parts/rings.json" --epochs 30 --run "$work/run" --quiet
expect "and trained with the masks of the split" says '^test accuracy  *1'

troupe import npz "$work/sparse.npz" --out "$work/sparse" --undirected --duplicates merge --rows dense --quiet
expect "compressed rows are imported" exited 0
expect "sparse features are said to be stored with their zeroes" \
    says '^sparse numbers, stored with their zeroes  *240$'
expect "arrays that nothing reads are named" says '^arrays not read  *node_names$'
run diff -r "$work/raw/edges" "$work/sparse/edges"
expect "its edges are those of the list" exited 0
run cmp "$work/raw/node_data/_N/feat.npy" "$work/sparse/node_data/_N/feat.npy"
expect "and its features the dense ones" exited 0

tests/cli/make_npz both "$work/both.npz" || exit 99
troupe import npz "$work/both.npz" --out "$work/twice" --quiet
expect "nothing is said of edges that stand both ways" sh -c "! grep -q hint '$work/out'"
troupe import npz "$work/both.npz" --out "$work/twice" --undirected --replace --quiet
expect "but that --undirected adds their reverses a second time" \
    says '240 of 240 pairs of nodes had edges both ways .* twice: import without --undirected, or with --duplicates merge$'
troupe import npz "$work/both.npz" --out "$work/twice" --undirected --duplicates merge --replace --json --quiet
expect "which merging mends" says '"edges":480,.*"duplicates":480'
expect "without a hint" sh -c "! grep -q hint '$work/out'"

troupe import npz "$work/sparse.npz" --out "$work/kept" --undirected --duplicates merge --quiet
expect "features stay sparse where that takes fewer bytes" says '^features kept sparse, numbers  *240$'
expect "and both sizes are said" says '^features dense  *3.75 KiB$'
troupe import npz "$work/sparse.npz" --out "$work/kept" --rows some --replace --quiet
expect "another form is refused" refuses_with 'choose one of smaller|dense|sparse'
mkdir "$work/made"
troupe import npz "$work/rings.npz" --split 10 --out "$work/made/raw" --quiet
expect "a split that is not there is refused by the option's name" \
    fails_with 'has 10 splits, numbered from 0; there is no --split 10'
troupe import npz "$work/nowhere.npz" --out "$work/made/raw" --quiet
expect "an archive that is not there is named" fails_with 'nowhere.npz'
troupe import npz "${srcdir:-.}/tests/cli/data/edges.csv" --out "$work/made/raw" --quiet
expect "a text is no archive" fails_with 'edges.csv: looks like no archive'
head -c 1000 "$work/rings.npz" >"$work/cut.npz"
troupe import npz "$work/cut.npz" --out "$work/made/raw" --quiet
expect "an archive that was cut is refused" fails_with 'cut.npz: .*copy it again'
tests/cli/make_npz kin "$work/kin.npz" || exit 99
troupe import npz "$work/kin.npz" --out "$work/kin" --undirected --quiet
expect "an archive with other names and orders is imported, and all of it" \
    sh -c "grep -q '^features from  *feature$' '$work/out' && ! grep -q 'not read' '$work/out'"
troupe import npz "$work/rings.npz" --out "$work/first" --undirected --quiet
for array in edges node_data/_N/feat.npy node_data/_N/train_mask.npy node_data/_N/val_mask.npy node_data/_N/test_mask.npy; do
    run diff -r "$work/first/$array" "$work/kin/$array"
    expect "its $array is that of the same graph" exited 0
done
run sh -c "dd if='$work/kin/node_data/_N/label.npy' bs=1 count=80 2>/dev/null | grep -a -c \"'descr': '<i8'.*'shape': (240,)\""
expect "labels as floats become whole numbers" exited 0
tests/cli/make_npz words "$work/words.npz" || exit 99
troupe import npz "$work/words.npz" --out "$work/made/raw" --quiet
expect "texts as labels are refused with the Python that numbers them" \
    fails_with '/y: holds texts; .* class_names, labels = numpy.unique(labels, return_inverse=True)'
for kind in amounts twice; do
    tests/cli/make_npz $kind "$work/$kind.npz" || exit 99
    troupe import npz "$work/$kind.npz" --out "$work/made/raw" --quiet
    [ $kind = amounts ] &&
        expect "a label with a fraction is refused at once" fails_with '/y: row 7 is 3.5, not the number of a class; amounts are not learned'
done
expect "a split that has a node twice is refused" fails_with '/val_idx: element 1 is .* again; a split has each node once'
tests/cli/make_npz rows "$work/rows.npz" || exit 99
troupe import npz "$work/rows.npz" --out "$work/made/raw" --quiet
expect "a SciPy matrix alone is refused with the Python that makes an archive of a graph of it" \
    fails_with 'is a SciPy matrix alone, .* python3 -c .*save.*adj_shape=m.shape.*; features come beside an edge list (.troupe import edges EDGES --node-features FILE.npz.)'
expect "what was refused left nothing" empty_folder "$work/made"
finish

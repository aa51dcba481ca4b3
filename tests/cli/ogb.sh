# SPDX-License-Identifier: Apache-2.0
# Folders of the Open Graph Benchmark become raw graphs: those of texts here, of arrays in test_ogb.
. "${srcdir:-.}/tests/cli/tap.sh"

# pack FILE: the standard input as FILE.csv.gz, its folder made.
pack() {
    mkdir -p "$(dirname "$1")"
    gzip >"$1.csv.gz"
}

# Four rings of 60 nodes, a class each, with the layout of a set of one type whose edges stand once.
set=$work/dataset/ogbn_rings
seq 0 239 | awk '{ print $1 "," ($1 + 4) % 240 }' | pack "$set/raw/edge"
seq 0 239 | awk '{ print ($1 % 4 == 0) ".0," ($1 % 4 == 1) "," ($1 % 4 == 2) ",0.25" }' | pack "$set/raw/node-feat"
seq 0 239 | awk '{ print $1 % 4 }' | pack "$set/raw/node-label"
seq 0 239 | awk '{ print 2000 + $1 % 20 }' | pack "$set/raw/node_year"
seq 0 239 | awk '{ print $1 / 8 }' | pack "$set/raw/edge-feat"
echo 240 | pack "$set/raw/num-node-list"
echo 240 | pack "$set/raw/num-edge-list"
seq 0 143 | pack "$set/split/time/train"
seq 144 191 | pack "$set/split/time/valid"
seq 192 239 | pack "$set/split/time/test"
mkdir "$set/mapping"

# The five commands of troupe-import(1), as they stand there, with this folder's name.
sed -n '/^An OGB folder/,/^\.Ed/p' "${srcdir:-.}/man/troupe-import.1" |
    sed -e '1,/^\.Bd/d' -e '/^\.Ed/d' -e 's/\\-/-/g' -e 's/^troupe/"$TROUPE"/' \
        -e 's/ogbn_arxiv/ogbn_rings/g' >"$work/commands"
expect "troupe-import(1) has five commands or fewer" \
    awk 'END { exit !(NR >= 3 && NR <= 5) }' "$work/commands"
run env TROUPE="$TROUPE" sh -ec 'cd "$1" && . ./commands' sh "$work"
expect "they run on a folder of that layout" exited 0
expect "and end with a prediction for each node" [ "$(wc -l <"$work/predictions.csv")" = 241 ]

troupe import ogb "$set" --out "$work/raw" --json --quiet
expect "an import says whose masks it has, and what it did not read" \
    says '"nodes":240,"edges":240,.*"features":7,"split":"time","files_dropped":"mapping"'
expect "and hints at edges that stand once" says 'import with --undirected"'
seq 0 239 | pack "$set/raw/node_feat"
troupe import ogb "$set" --out "$work/twice" --quiet
expect "two files of one feature are refused, and the second one named" \
    fails_with "raw/node_feat.csv.gz: feature 'feat' of '_N' would be written twice"
rm "$set/raw/node_feat.csv.gz"
troupe import ogb "$set" --out "$work/raw" --undirected --replace --json --quiet
expect "--undirected adds reverses" says '"nodes":240,"edges":480,'
expect "and nothing is hinted at" sh -c "! grep -q hint '$work/out'"
cp -r "$set" "$work/both"
seq 0 239 | awk '{ print $1 "," ($1 + 4) % 240; print ($1 + 4) % 240 "," $1 }' | pack "$work/both/raw/edge"
echo 480 | pack "$work/both/raw/num-edge-list"
rm "$work/both/raw/edge-feat.csv.gz"
troupe import ogb "$work/both" --out "$work/raw-both" --undirected --quiet
expect "but not in silence to edges that have them" \
    says '240 of 240 pairs of nodes had edges both ways .* twice: import without --undirected$'
seq 0 239 | awk '{ print $1 "," ($1 + 4) % 240; if ($1 % 3 == 0) print ($1 + 4) % 240 "," $1 }' | pack "$work/both/raw/edge"
echo 320 | pack "$work/both/raw/num-edge-list"
troupe import ogb "$work/both" --out "$work/raw-both" --undirected --replace --quiet
expect "unless there is no remedy" sh -c "[ $code = 0 ] && ! grep -q hint '$work/out'"
troupe partition "$work/raw" --parts 2 --method random --name rings --out "$work/rings" --quiet
troupe train "$work/rings/rings.json" --epochs 30 --run "$work/trained" --quiet
expect "what was imported trains" says '^test accuracy  *1'

# A set of several types.
mag=$work/dataset/ogbn_small_mag
printf 'author,paper\n2,3\n' | pack "$mag/raw/num-node-dict"
printf 'author,writes,paper\npaper,cites,paper\n' | pack "$mag/raw/triplet-type-list"
printf '0,0\n1,2\n1,1\n' | pack "$mag/raw/relations/author___writes___paper/edge"
echo 3 | pack "$mag/raw/relations/author___writes___paper/num-edge-list"
printf '0,1\n2,1\n' | pack "$mag/raw/relations/paper___cites___paper/edge"
echo 2 | pack "$mag/raw/relations/paper___cites___paper/num-edge-list"
printf '4\n5\n' | pack "$mag/raw/relations/paper___cites___paper/edge_reltype"
printf '0.5,1\n1,2\n-2e-1,3\n' | pack "$mag/raw/node-feat/paper/node-feat"
printf '2010\n2011\n2012\n' | pack "$mag/raw/node-feat/paper/node_year"
printf '0\n1\n0\n' | pack "$mag/raw/node-label/paper/node-label"
printf 'author,paper\nFalse,True\n' | pack "$mag/raw/nodetype-has-label"
for part in train valid test; do echo 1 | pack "$mag/split/time/paper/$part"; done
troupe import ogb "$mag" --out "$work/mag" --json --quiet
expect "a set of several types is imported" says '"nodes":5,"edges":5,"node_types":2,"edge_types":2,"features":7'
troupe inspect "$work/mag" --json
expect "features are those of their types" says '"name":"reltype"'
expect "and years" says '"name":"year"'
troupe import ogb "$mag" --out "$work/none" --undirected --quiet
expect "--undirected is refused there by its name" fails_with 'to which --undirected would add others'

# As the benchmark's own DatasetSaver writes splits.
cp -r "$set" "$work/it's saved"
rm "$work/it's saved/split/time"/*.csv.gz
: >"$work/it's saved/split/time/split_dict.pt"
troupe import ogb "$work/it's saved" --out "$work/raw-saved" --quiet
expect "a split that is a pickle makes no mask, which is said" \
    says '^masks of the split  *none: it is a pickle, which is never read$'
expect "with the line that makes texts of it" \
    says "^to have the split, before importing again  *python3 -c 'import .*split_dict.pt.*' '.*/it'\\\\''s saved/split/time'\$"
sed -n 's/^to have the split, before importing again  *//p' "$work/out" >"$work/line"
mkdir "$work/modules"
cat >"$work/modules/torch.py" <<'END'
def load(path, weights_only):
    open(path).close()
    return {"train": range(9), "valid": {"paper": [3]}, "test": [4, 5]}
END
cat >"$work/modules/pandas.py" <<'END'
class DataFrame:
    def __init__(self, ids): self.ids = ids
    def to_csv(self, path, header, index): print(path, len(self.ids), header, index)
END
printf './train.csv.gz 9 False False\npaper/valid.csv.gz 1 False False\n./test.csv.gz 2 False False\n' >"$work/texts"
if command -v python3 >"$work/python"; then
    run env PYTHONPATH="$work/modules" sh "$work/line"
    expect "which runs: masks of a set of one type, and of several" cmp "$work/out" "$work/texts"
else
    skip "the line runs" "there is no python3 here"
fi

# Sets of links are imported without their splits, which are pickles.
rm -r "$set/split/time" "$set/raw/node-label.csv.gz"
mkdir -p "$set/split/target"
: >"$set/split/target/train.pt"
troupe import ogb "$set" --out "$work/links" --quiet
expect "a set of links is imported" exited 0
expect "its pickled split is named" says '^files not read  *split/target/train.pt, mapping$'
expect "and what makes masks" says '^masks of the split  *none; troupe split makes some$'

# What nobody knows is left out in no silence.
echo '0,1' | pack "$set/raw/old"
mkdir "$set/raw/extra"
echo x >"$set/raw/README"
troupe import ogb "$set" --out "$work/links" --replace --quiet
expect "files that are not known are named" \
    says '^files not read  *split/target/train.pt, raw/README, raw/extra, raw/old.csv.gz, mapping$'
rm -r "$set/raw/extra" "$set/raw/README" "$set/raw/old.csv.gz"
seq 0 239 | awk '{ print $1 == 5 ? "NA" : $1 }' | pack "$set/raw/node_age"
troupe import ogb "$set" --out "$work/links" --replace --quiet
expect "a number that is missing is refused by its row" \
    fails_with 'node_age.csv.gz: row 5, column 0 is not finite'
rm "$set/raw/node_age.csv.gz"

mkdir "$work/made"
mkdir -p "$set/split/other"
troupe import ogb "$set" --out "$work/made/raw" --quiet
expect "of several splits one has to be named" fails_with 'holds 2 splits, .* --split'
troupe import ogb "$set" --split none --out "$work/made/raw" --quiet
expect "and one that is there" fails_with "holds no --split 'none'"
echo 241 | pack "$set/raw/num-edge-list"
troupe import ogb "$set" --split other --out "$work/made/raw" --quiet
expect "a text that lacks edges is refused" fails_with 'edge.csv.gz: holds 240 edges, and its folder says 241'
troupe import ogb "$work" --out "$work/made/raw" --quiet
expect "another folder is refused" fails_with 'raw: holds none of edge.csv.gz'
expect "what was refused left nothing" empty_folder "$work/made"
troupe import ogb "$work/nowhere" --out "$work/none" --quiet
expect "a folder that is not there is named" fails_with '/nowhere: there is no such folder; name the one that the download'
mkdir "$work/unpacked"
troupe import ogb "$work/unpacked" --out "$work/none" --quiet
expect "so is one without raw/" fails_with '/unpacked: holds no folder raw/; name the folder'
finish

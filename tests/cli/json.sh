# SPDX-License-Identifier: Apache-2.0
# --json of every command that has it is one JSON object a line on the standard output, and nothing
# else: other people's scripts read it.
. "${srcdir:-.}/tests/cli/tap.sh"

json_lines() { tests/cli/json_lines <"$work/out" >"$work/lines" 2>>"$work/err"; }

# reports LINES WORDS...: the command gives LINES objects ("+" for any number).
reports() {
    lines=$1
    shift
    troupe "$@" --json
    expect "$1: succeeds" exited 0
    expect "$1: every line is an object" json_lines
    [ "$lines" = + ] || expect "$1: $lines of them" [ "$(cat "$work/lines")" = "$lines" ]
}

for bad in '[1]' '{"a":1} x' '{"a":1' '{"a":1,"a":2}' '{"a":NaN}' 'text' ''; do
    printf '%s\n' "$bad" >"$work/out"
    expect "the checker refuses '$bad'" eval '! json_lines'
done
printf '{"a":1}' >"$work/out"
expect "the checker refuses a line without an end" eval '! json_lines'

printf 'Package: a\nSection: x\nDepends: b\n\nPackage: b\nSection: y\n' >"$work/available"
reports 1 import debian --from "$work/available" --out "$work/debian"
reports 1 import edges "${srcdir:-.}/tests/cli/data/edges.csv" --out "$work/edges"
tests/cli/make_npz rings "$work/rings.npz" || exit 99
reports 1 import npz "$work/rings.npz" --out "$work/npz"
mkdir -p "$work/set/raw" "$work/set/split/time"
printf '0,1\n1,2\n' >"$work/set/raw/edge.csv"
echo 3 >"$work/set/raw/num-node-list.csv"
echo 2 >"$work/set/raw/num-edge-list.csv"
printf '0\n1\n1\n' >"$work/set/raw/node-label.csv"
: >"$work/set/split/time/split_dict.pt"
reports 1 import ogb "$work/set" --out "$work/ogb"
reports 1 generate sbm --nodes 300 --edges 3000 --features 4 --classes 3 --out "$work/raw"
reports 1 generate rmat --nodes 64 --edges 300 --features 4 --classes 3 --out "$work/rmat"
reports 1 generate skew --nodes 64 --edges 300 --features 4 --classes 3 --out "$work/skew"
reports 1 split "$work/raw" --by-class --replace
reports 1 feature "$work/raw" --pagerank --name rank
reports 1 partition "$work/raw" --parts 3 --name toy --out "$work/parts"
reports 1 verify "$work/parts/toy.json" "$work/raw"
reports 1 inspect "$work/raw"
reports 1 inspect "$work/parts/toy.json"
reports 1 train "$work/parts/toy.json" --epochs 2 --hidden 8 --run "$work/run"
reports 1 inspect "$work/run"
reports 1 infer "$work/parts/toy.json" --run "$work/run"
reports 1 infer "$work/parts/toy.json" --run "$work/run" --exact --by-class
reports 1 report "$work/run" --out "$work/page.html"
reports 1 bench --list
reports + bench roundtrip --scale 0.01 --rounds 1

cp "$work/run/metrics.jsonl" "$work/out"
expect "metrics.jsonl is such lines" json_lines
expect "two epochs and the test" [ "$(cat "$work/lines")" = 3 ]
finish

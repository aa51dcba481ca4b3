# SPDX-License-Identifier: Apache-2.0
# Generated graphs: the same options give the same bytes; what cannot be is refused.
. "${srcdir:-.}/tests/cli/tap.sh"

for kind in skew rmat sbm; do
    troupe generate $kind --nodes 500 --edges 3k --features 4 --classes 5 --seed 7 --out "$work/$kind" --json
    expect "$kind is made" says '"nodes":500,"edges":3000'
    troupe generate $kind --nodes 500 --edges 3k --features 4 --classes 5 --seed 7 --out "$work/again" --replace
    run diff -r "$work/$kind" "$work/again"
    expect "$kind is the same a second time" exited 0
    troupe generate $kind --nodes 500 --edges 3k --features 4 --classes 5 --seed 8 --out "$work/again" --replace
    run diff -r "$work/$kind" "$work/again"
    expect "$kind is another with another seed" exited 1
    troupe generate $kind --nodes 500 --edges 3k --out "$work/$kind"
    expect "$kind does not overwrite" fails_with "$work/$kind"
done
mkdir "$work/mine" "$work/hollow"
echo precious >"$work/mine/notes"
troupe generate skew --nodes 9 --edges 3 --out "$work/mine" --replace
expect "a folder of something else is not replaced" fails_with "$work/mine: is not a raw graph"
expect "and keeps what it holds" test -f "$work/mine/notes"
troupe generate skew --nodes 9 --edges 3 --out "$work/mine/notes" --replace
expect "nor is a file" fails_with "$work/mine/notes: is not a folder"
troupe generate skew --nodes 9 --edges 3 --out "$work/hollow" --replace
expect "an empty folder is" exited 0
troupe generate skew --nodes 0 --edges 3 --out "$work/none"
expect "no nodes are refused" refuses_with '--nodes 0: must be between 1 and'
troupe generate rmat --nodes 10 --edges 3 --a 0.9 --out "$work/none"
expect "quadrants that do not sum up to 1 are refused" fails_with 'sum is 1'
troupe generate sbm --nodes 3 --edges 3 --classes 4 --out "$work/none"
expect "more blocks than nodes are refused" fails_with '--classes 4'
troupe generate sbm --nodes 3 --edges 0 --classes 1 --features 0 --out "$work/little" --json
expect "no edges and no features are a graph" says '"edges":0'
expect "what was refused left nothing" absent "$work/none"
# shellcheck disable=SC2016 # expanded by the inner shell
run sh -c 'ulimit -f 8; "$TROUPE" generate skew --nodes 1000 --edges 100000 --out "$1" --quiet' - "$work/big"
expect "a file above the limit is an error" fails_with "File too large"
expect "and leaves nothing behind" test "$(find "$work" -name '*big*' | wc -l)" -eq 0
finish

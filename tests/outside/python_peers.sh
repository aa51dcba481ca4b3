# SPDX-License-Identifier: Apache-2.0
# bench/peers at a size that takes minutes: every figure has DGL's or GraphBolt's value and ours, and
# what does not fit in the bound of memory is a row that says so. Its environment is that of
# python_dgl.sh, and so are TROUPE_DGL_PYTHON and TROUPE_DGL_SOURCE.
. "${srcdir:-.}/tests/cli/tap.sh"

source=$(cd "${srcdir:-.}" && pwd)
build=$(cd "$(dirname "$TROUPE")" && pwd)
# The graph is small, so that starting the sides is most of the time.
peers() {
    run env PYTHONDONTWRITEBYTECODE=1 python3 "$source/bench/peers" --build "$build" \
        --work "$work/peers" --scale 0.002 --rounds 1 --batches 2 "$@"
}
# rows_hold QUESTION: of the rows that were measured, by their figures.
rows_hold() {
    python3 -c '
import json
import sys

whole = json.load(open(sys.argv[1]))
rows = {}
for row in whole["rows"]:
    rows.setdefault(row["figure"], []).append(row)
    print("#", row["figure"], row["peer"], row["ours"], row["ratio"], row["note"])
sys.exit(not eval(sys.argv[2]))' "$work/rows.json" "$1"
}

run python3 -B "$source/bench/peers" --help
expect "the help says what is measured" says "DistNodeDataLoader with a server"
peers --scale 2
expect "a graph above the whole is refused" refuses_with "number above 0"
peers --memory-max 8 --json "$work/rows.json"
expect "every side runs" exited 0
expect "the table has the guide's script" says "guide's script.*python -m troupe.dgl"
expect "there are figures of each kind, for each face" rows_hold \
    '[len(rows[n]) for n in ("sampling", "loader", "partition", "guide")] == [12, 15, 2, 4]'
# DGL's METIS crashes on graphs as small as this one: "free(): corrupted unsorted chunks".
expect "each with both values and their ratio" rows_hold \
    'all(r["ours_value"] > 0 and (r["ratio"] or ("metis" in r["what"] and r["note"])) for r in whole["rows"])'
expect "and the machine and versions" rows_hold \
    'whole["machine"]["cpu"] and whole["machine"]["versions"]["dgl"].startswith("2.1")'
peers --only partition --memory-max 0.1 --json "$work/rows.json"
expect "what does not fit is no failure" exited 0
expect "but a row with our value alone" rows_hold \
    'all(r["note"] == "did not fit in 0.1 GB" and not r["ratio"] and r["ours_value"] > 0
         for r in rows["partition"])'
finish

# SPDX-License-Identifier: Apache-2.0
# troupe.plot draws with the matplotlib that there is, without a screen, whatever a run has, and a
# task's bar is tqdm's. Both are installed into an environment of their own (PIP_FIND_LINKS and the
# like of the caller say where from).
. "${srcdir:-.}/tests/cli/tap.sh"

source=$(cd "${srcdir:-.}" && pwd)/python
build=$(dirname "$TROUPE")
run sh "$source/check.sh" "$build" -k test_import
expect "the package is built" exited 0
run /usr/bin/python3 -m venv --system-site-packages "$work/env"
expect "there is an environment" exited 0
run "$work/env/bin/pip" install --quiet matplotlib tqdm
expect "which has matplotlib and tqdm" exited 0

"$TROUPE" generate sbm --nodes 600 --edges 6000 --features 8 --classes 3 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 3 --method random --out "$work/parts" --name g --quiet \
    >"$work/out" 2>"$work/err" || exit 99
cat >"$work/draw.py" <<'END'
import math, sys
import troupe
from troupe import plot, raw, training

work = sys.argv[1]
assert "matplotlib" not in sys.modules, "it is imported when it is used"
graph = f"{work}/parts/g.json"
for name, options in (("one", {}), ("two", {"lr": 0.1}), ("none", {"evaluation": "none"})):
    training.train(graph, f"{work}/{name}", epochs=4, hidden=8, batch_size=64, **options)
for against in ("steps", "seconds", "epochs"):
    figure = plot.curves([f"{work}/one", troupe.open_run(f"{work}/two")], against=against)
    titles = [axis.get_title() for axis in figure.axes]
    assert titles[0] == "Training loss" and "Validation accuracy" in titles, titles
    for axis in figure.axes:
        assert [line.get_label() for line in axis.lines] == [f"{work}/one", f"{work}/two"]
    assert figure.axes[0].get_xlabel() == against
    figure.savefig(f"{work}/{against}.png")
losses = [epoch.train_loss for epoch in troupe.open_run(f"{work}/one").epochs]
drawn = plot.curves(f"{work}/one", against="epochs", scores=["train_loss"]).axes[0].lines[0]
assert list(drawn.get_xdata()) == [1, 2, 3, 4] and list(drawn.get_ydata()) == losses
# A run without scores has its losses.
assert [axis.get_title() for axis in plot.curves(f"{work}/none").axes] == ["Training loss"]
figure = plot.partitions(graph)
heights = [[bar.get_height() for bar in axis.patches] for axis in figure.axes]
figures = plot.partition_figures(graph)
assert heights == [figures[name].tolist() for name in ("nodes", "edges", "halo", "cut")]
figure.savefig(f"{work}/parts.png")
raw.generate(f"{work}/again", "sbm", nodes=200000, edges=2000000, progress=True)
END
run env PYTHONPATH="$build/python/lib" MPLBACKEND=agg OPENBLAS_NUM_THREADS=1 \
    "$work/env/bin/python" "$work/draw.py" "$work"
expect "runs and partitions are drawn" exited 0
expect "a bar is tqdm's" eval 'tr "\r" "\n" <"$work/err" | grep -q "%|.*/s"'
for picture in steps seconds epochs parts; do
    expect "$picture.png is a picture" [ "$(head -c 4 "$work/$picture.png" | tail -c 3)" = PNG ]
done
finish

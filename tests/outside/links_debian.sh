# SPDX-License-Identifier: Apache-2.0
# Links of this machine's Debian archive: which packages depend on which. Each dependency is an edge both
# ways; a tenth of them is held out by `troupe train --task link`. The best score by degrees alone, that of
# the destination, says how much of it is mere fame. Then the same dependencies one way, as one of twenty
# edge types, of which all carry messages but for the held-out edges and their reverses.
. "${srcdir:-.}/tests/cli/tap.sh"

source=$(cd "${srcdir:-.}" && pwd)/python
build=$(dirname "$TROUPE")
if [ -z "$(apt-cache dumpavail 2>/dev/null | head -c 1)" ]; then
    skip links "there are no lists of packages here; apt-get update brings them"
    finish
    exit
fi
run sh "$source/check.sh" "$build" -k test_import
expect "the package is built" exited 0
troupe import debian --types --out "$work/typed" --quiet
expect "the archive is imported" exited 0

cat >"$work/depends.py" <<'END'
import sys

import numpy as np
import troupe

work = sys.argv[1]
one_way = np.load(f"{work}/typed/edges/package:depends:package.npy")
features = np.load(f"{work}/typed/node_data/package/feat.npy")
both_ways = np.concatenate([one_way, one_way[:, ::-1]])
count = len(features)
troupe.partition_graph(
    (both_ways[:, 0], both_ways[:, 1]), "g", 2, f"{work}/parts", part_method="random",
    num_nodes=count, ndata={"feat": features},
)


def by_degrees(ends):
    """Held out by the pair, as the command does, but by other draws: the share is what counts."""
    random = np.random.default_rng(1)
    low, high = ends.min(1), ends.max(1)
    _, pair = np.unique(low.astype(np.int64) * count + high, return_inverse=True)
    part = random.random(pair.max() + 1)[pair]
    degree = np.bincount(ends[part >= 0.2, 1], minlength=count)
    held = degree[ends[part < 0.1, 1]]
    drawn = degree[random.integers(0, count, len(held))]
    both = np.concatenate([held, drawn])
    _, place, times = np.unique(both, return_inverse=True, return_counts=True)
    rank = (np.cumsum(times) - (times - 1) / 2)[place]
    above = rank[: len(held)].sum() - len(held) * (len(held) + 1) / 2
    return above / len(held) / len(drawn)


print(by_degrees(both_ways), by_degrees(one_way))
END
export PYTHONPATH="$build/python/lib" TROUPE_METIS="$build/troupe-metis" OPENBLAS_NUM_THREADS=1
run /usr/bin/python3 "$work/depends.py" "$work"
expect "its dependencies are partitioned" exited 0
degrees=$(cut -d ' ' -f 1 "$work/out")
typed_degrees=$(cut -d ' ' -f 2 "$work/out")

troupe train "$work/parts/g.json" --run "$work/run" --task link --batch-size 4096 --epochs 10 --seed 1 --json --quiet
expect "a model of links is trained" exited 0
got=$(sed -n 's/.*"test_roc_auc":\([0-9.]*\).*/\1/p' "$work/out")
expect "its ROC AUC is ${got:-none}, 0.1 above $degrees by degrees" \
    awk -v a="${got:-0}" -v b="${degrees:-1}" 'BEGIN { exit !(a >= b + 0.1) }'

cat >"$work/train.py" <<'END'
import sys

from troupe import training

work = sys.argv[1]
run = training.train(
    f"{work}/parts/g.json", f"{work}/same", task="link", batch_size=4096, epochs=10, seed=1
)
print(repr(run.test.roc_auc))
END
run /usr/bin/python3 "$work/train.py" "$work"
expect "Python trains it too" exited 0
expect "to the same model" cmp "$work/run/model.safetensors" "$work/same/model.safetensors"
expect "with the same score" grep -q "\"roc_auc\":$(cat "$work/out")" "$work/same/metrics.jsonl"

troupe partition "$work/typed" --parts 2 --method random --name g --out "$work/typed-parts" --quiet
expect "the archive is partitioned with all types" exited 0
troupe train "$work/typed-parts/g.json" --run "$work/typed-run" --task link --edge-type depends \
    --hidden 64 --fanout 5,5 --batch-size 4096 --epochs 4 --seed 1 --json --quiet
expect "a model of relations is trained on one of them" exited 0
expect "which is rgcn" grep -q '"kind": "rgcn"' "$work/typed-run/config.json"
expect "and knows the reverses" grep -q '"reverse_edge_type": "package:rev_depends:package"' "$work/typed-run/config.json"
got=$(sed -n 's/.*"test_roc_auc":\([0-9.]*\).*/\1/p' "$work/out")
expect "its ROC AUC is ${got:-none}, 0.04 above $typed_degrees by degrees" \
    awk -v a="${got:-0}" -v b="${typed_degrees:-1}" 'BEGIN { exit !(a >= b + 0.04) }'
finish

# SPDX-License-Identifier: Apache-2.0
# Links of this machine's Debian archive: which packages depend on which. Each dependency is an edge both
# ways; a tenth of them is held out by `troupe train --task link`. The best score by degrees alone, that of
# the destination, says how much of it is mere fame.
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
ends = np.concatenate([one_way, one_way[:, ::-1]])
count = len(features)
troupe.partition_graph(
    (ends[:, 0], ends[:, 1]), "g", 2, f"{work}/parts", part_method="random", num_nodes=count,
    ndata={"feat": features},
)

# Held out by the pair, as the command does, but by other draws: the share is what counts.
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
print(above / len(held) / len(drawn))
END
export PYTHONPATH="$build/python/lib" TROUPE_METIS="$build/troupe-metis" OPENBLAS_NUM_THREADS=1
run /usr/bin/python3 "$work/depends.py" "$work"
expect "its dependencies are partitioned" exited 0
degrees=$(cat "$work/out")

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
finish

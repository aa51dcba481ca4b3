# SPDX-License-Identifier: Apache-2.0
# What pip makes of the package: on an installed library, with one that it builds, and as a wheel
# that runs where nothing of ours, nor of what the libraries need, is taken from the system.
. "${srcdir:-.}/tests/cli/tap.sh"

source=$(cd "${srcdir:-.}" && pwd)
build=$(dirname "$TROUPE")
# Nothing of the build folder.
unset TROUPE TROUPE_METIS TROUPE_BUILD PYTHONPATH

# What a user does first, and that every library in the process is the environment's own or one
# that manylinux says is everywhere. usage: program NOT_FROM (an expression on paths)
cat >"$work/program.py" <<'END'
import os, re, sys
import troupe
from troupe import partitioning, raw, training
folder = sys.argv[1]
raw.generate(f"{folder}/raw", "sbm", nodes=2000, edges=20000, features=16, classes=4, seed=1)
book = partitioning.partition(f"{folder}/raw", f"{folder}/parts", 2, name="g").book
with troupe.open(book, seed=1) as g:
    loader = troupe.DistNodeDataLoader(g, g.ndata["train_mask"], troupe.NeighborSampler([5]), batch_size=64)
    assert sum(batch.count_seeds() for batch in loader) == int(g.ndata["train_mask"][:].sum())
    del loader
run = training.train(book, f"{folder}/run", fanout=[5, 5], epochs=3, hidden=16)
assert run.test.accuracy > 0.5, run
mapped = {line.split(" ", 5)[5].strip() for line in open("/proc/self/maps") if "/" in line}
mine = [path for path in mapped if re.search(r"libtroupe", path)]
assert len(mine) == 2, mine
allowed = r"/(ld-linux[^/]*|libc|libm|libdl|librt|libpthread|libutil|libgcc_s|libstdc\+\+|libz|libpython[^/]*)\.so"
wrong = [path for path in mapped if ".so" in path and not path.startswith((sys.prefix, sys.base_prefix + "/lib/python"))
         and not re.search(allowed, path)]
if len(sys.argv) > 2:
    assert not wrong, wrong
print(*mine)
END

python=${TROUPE_WHEEL_PYTHON-/usr/bin/python3}
new_env() {
    run "$python" -m venv "$work/$1"
    expect "there is an environment: $1" exited 0
}

new_env built
run env PKG_CONFIG_PATH=/nonexistent "$work/built/bin/pip" install --quiet "$source/python"
expect "pip builds the library and the package" exited 0
run "$work/built/bin/python" "$work/program.py" "$work/built/folder"
expect "which runs" exited 0
expect "on the library that the package carries" says "$work/built/lib/.*/troupe/libtroupe\.so\.0"

run make -s -C "$build" install DESTDIR="$work/stage"
expect "the library is installed" exited 0
expect "and says how the package is" says 'make install-python'
found=$(find "$work/stage" -name troupe.pc)
for file in "$found" "${found%.pc}-model.pc"; do
    sed -i "s|^prefix=|&$work/stage|; s|^\(exec_prefix\|libdir\|includedir\)=/|\1=$work/stage/|" "$file"
done
new_env taken
run env PKG_CONFIG_PATH="$(dirname "$found")" "$work/taken/bin/pip" install --quiet "$source/python"
expect "pip makes the package on it" exited 0
run "$work/taken/bin/python" "$work/program.py" "$work/taken/folder"
expect "which runs" exited 0
expect "on the installed library" says "$work/stage/.*/libtroupe\.so\.0"
expect "and carries none" [ -z "$(find "$work/taken" -name 'libtroupe*')" ]

run sh "$source/python/wheel.sh" "$work/wheels" "$python"
expect "a wheel is built, repaired and audited" exited 0
wheel=$(find "$work/wheels" -name '*.whl')
expect "for every Python from 3.11 on, and this C library or a newer one" \
    sh -c 'case $1 in *-cp311-abi3-manylinux_2_[0-9]*_'"$(uname -m)"'.whl) ;; *) false ;; esac' sh "$wheel"
new_env bare
run "$work/bare/bin/pip" install --quiet "$wheel"
expect "pip installs it" exited 0
mkdir "$work/bare/folder"
run env -i "$work/bare/bin/python" "$work/program.py" "$work/bare/folder" whole
expect "it runs with what it carries alone" exited 0
finish

# SPDX-License-Identifier: Apache-2.0
# What pip makes of the package: on an installed library, with one that it builds, and as a wheel
# that runs where nothing of ours, nor of what the libraries need, is taken from the system.
. "${srcdir:-.}/tests/cli/tap.sh"

source=$(cd "${srcdir:-.}" && pwd)
build=$(dirname "$TROUPE")
# Nothing of the build folder.
unset TROUPE TROUPE_METIS TROUPE_BUILD PYTHONPATH

# What a user does first; with a second argument, also that all libraries which come with it are the
# environment's own, or those that manylinux says are everywhere.
cat >"$work/program.py" <<'END'
import re, sys
import cffi, ctypes, grp, json, numpy, shutil, ssl, tempfile  # whose libraries are the interpreter's
def mapped():
    lines = (line.split(None, 5) for line in open("/proc/self/maps"))
    return {line[5].strip() for line in lines if len(line) > 5 and ".so" in line[5]}
before = mapped()
import troupe
from troupe import partitioning, raw, training
folder = sys.argv[1]
raw.generate(f"{folder}/raw", "sbm", nodes=2000, edges=20000, features=16, classes=4, seed=1)
book = partitioning.partition(f"{folder}/raw", f"{folder}/parts", 2, name="g").book
with troupe.open(book, seed=1) as g:
    loader = troupe.DistNodeDataLoader(g, g.ndata["train_mask"], troupe.NeighborSampler([5]), batch_size=64)
    assert sum(batch.count_seeds() for batch in loader) == int(g.ndata["train_mask"][:].sum())
    del loader
run = training.train(book, f"{folder}/run", fanout=[5, 5], epochs=20, hidden=16, batch_size=128, seed=1)
assert run.test.accuracy > 0.5, run
came = mapped() - before
ours = sorted(path for path in came if "/libtroupe" in path)
assert len(ours) == 2, ours
allowed = r"/(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libz)\.so"
others = [path for path in came if not path.startswith(sys.prefix) and not re.search(allowed, path)]
assert len(sys.argv) == 2 or not others, others
print(*ours)
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

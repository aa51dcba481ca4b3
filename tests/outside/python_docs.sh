# SPDX-License-Identifier: Apache-2.0
# The pages on the Python package: Sphinx makes them without a warning, and the notebook runs from
# its first cell to its last, on this machine's Debian archive.
. "${srcdir:-.}/tests/cli/tap.sh"

source=$(cd "${srcdir:-.}" && pwd)
build=$(dirname "$TROUPE")
run sh "$source/python/check.sh" "$build" -k test_docs
expect "the package is built, and the pages' examples run" exited 0
# Debian's PyTorch, and the rest from pip.
run /usr/bin/python3 -m venv --system-site-packages "$work/env"
expect "there is an environment" exited 0
run "$work/env/bin/pip" install --quiet sphinx nbconvert ipykernel tqdm torch_geometric
expect "which has Sphinx, nbconvert and PyG" exited 0
export PYTHONPATH="$build/python/lib" TROUPE_METIS="$build/troupe-metis" OPENBLAS_NUM_THREADS=1

run "$work/env/bin/python" -m sphinx -W --keep-going -q -E -b html "$source/docs/python" "$work/html"
expect "Sphinx finds nothing to warn of" exited 0
expect "every page is there" \
    sh -c 'for page in index porting api troubleshooting; do [ -s "$1/$page.html" ] || exit 1; done' sh "$work/html"
for name in troupe.DistGraph troupe.nn.SAGEConv troupe.pyg.NeighborLoader troupe.errors.TimedOut troupe.training.train; do
    expect "and has $name" grep -q "id=\"$name\"" "$work/html/api.html"
done
mkdir "$work/pages"
run sh -c 'cd "$1" && shift && exec "$@"' sh "$work/pages" \
    env PYTHONPATH="$source/python/tests:$PYTHONPATH" "$work/env/bin/python" -c \
    'import test_docs; print(test_docs.run_page("porting.rst", {"Troupe", "Troupe, with PyG installed"})[0])'
expect "the lines for PyG run among the others" exited 0
expect "each of them" says "^$(grep -c ':caption: Troupe\(, with PyG installed\)\{0,1\}$' "$source/docs/python/porting.rst")\$"

# Where there are no lists, a small archive answers in the place of apt-cache.
if [ -z "$(apt-cache dumpavail 2>/dev/null | head -c 1)" ]; then
    run env PYTHONPATH="$source/python/tests:$PYTHONPATH" "$work/env/bin/python" -c \
        "import pathlib, sys, test_readme; test_readme.write_archive(pathlib.Path(sys.argv[1]))" "$work/programs"
    PATH=$work/programs:$PATH
fi
mkdir "$work/walk"
cp "$source/docs/python/debian.ipynb" "$work/walk"
cd "$work/walk" || exit 99
run "$work/env/bin/python" -m nbconvert --execute --to notebook --output walked debian.ipynb
expect "the notebook runs to its end" exited 0
expect "its bars are tqdm's, and no line says otherwise" sh -c '! grep -q "troupe: reading" "$1"' sh walked.ipynb
expect "graphs are tables in it" grep -q '<table><caption>DistGraph(' walked.ipynb
accuracy=$(sed -n 's/.*test accuracy \([0-9.]*\)\\n.*/\1/p' walked.ipynb)
expect "and the model tells sections: $accuracy" \
    awk -v a="$accuracy" 'BEGIN { exit !(a > 0.7) }'
finish

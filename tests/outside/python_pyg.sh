# SPDX-License-Identifier: Apache-2.0
# PyTorch Geometric over Troupe, beside PyTorch Geometric's own loader: an environment of its own,
# which is made once in the build folder. TROUPE_PYG_PYTHON names an interpreter that has it already.
. "${srcdir:-.}/tests/cli/tap.sh"

source=$(cd "${srcdir:-.}" && pwd)
build=$(dirname "$TROUPE")
python=${TROUPE_PYG_PYTHON-}
if [ -z "$python" ]; then
    env=$build/python/pyg-env
    if [ ! -e "$env/whole" ]; then
        python3 -m venv "$env" >"$work/out" 2>&1 &&
            "$env/bin/pip" install --quiet torch torch_geometric numpy cffi pytest setuptools \
                >"$work/out" 2>&1 &&
            touch "$env/whole"
    fi
    expect "there is an environment with PyTorch Geometric" test -e "$env/whole"
    python=$env/bin/python
fi
run env PYTHON="$python" sh "$source/python/check.sh" "$build" -k test_import
expect "the package is built for it" exited 0
run env PYTHON="$python" sh "$source/python/check.sh" "$build" "$source/tests/outside/pyg"
expect "batches, stores, sampler and the example" exited 0
finish

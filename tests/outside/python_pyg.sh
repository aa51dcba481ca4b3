# SPDX-License-Identifier: Apache-2.0
# The package on a current PyTorch, and PyTorch Geometric over it, beside PyTorch Geometric's own
# loader: an environment of their own, which is made once in the build folder. TROUPE_PYG_PYTHON
# names an interpreter that has it already, TROUPE_PYG_SOURCE a checkout of its sources, whose
# examples are run over Troupe; by default one revision is fetched into the build folder.
. "${srcdir:-.}/tests/cli/tap.sh"

source=$(cd "${srcdir:-.}" && pwd)
build=$(dirname "$TROUPE")
python=${TROUPE_PYG_PYTHON-}
if [ -z "$python" ]; then
    env=$build/python/pyg-env
    if [ ! -e "$env/whole" ]; then
        python3 -m venv "$env" >"$work/out" 2>&1 &&
            "$env/bin/pip" install --quiet torch torch_geometric numpy cffi pytest setuptools tqdm scikit-learn \
                >"$work/out" 2>&1 &&
            touch "$env/whole"
    fi
    expect "there is an environment with PyTorch Geometric" test -e "$env/whole"
    python=$env/bin/python
fi
run env PYTHON="$python" sh "$source/python/check.sh" "$build"
expect "the package's own tests pass on a current PyTorch" exited 0
pyg=${TROUPE_PYG_SOURCE-$build/python/pyg-source}
if [ ! -e "$pyg/examples" ]; then
    git init -q "$pyg" && cd "$pyg" &&
        git fetch -q --depth 1 https://github.com/pyg-team/pytorch_geometric 5c6461b2305ad068a6d61165b3c55852a11aaa41 &&
        git checkout -q FETCH_HEAD -- examples >"$work/out" 2>&1
    cd "$OLDPWD" || exit 99
fi
expect "there are PyG's examples" test -e "$pyg/examples"
run env PYTHON="$python" TROUPE_PYG_SOURCE="$pyg" sh "$source/python/check.sh" "$build" "$source/tests/outside/pyg"
expect "batches, stores, sampler and the example" exited 0
finish

# SPDX-License-Identifier: Apache-2.0
# DGL's module over Troupe, with DGL 2.1 and the PyTorch that it takes: an environment of their own,
# 5 GB large, which is made once in the build folder. TROUPE_DGL_PYTHON names an interpreter that has
# them already, TROUPE_DGL_SOURCE a checkout of DGL's sources, whose own tests are run over Troupe; by
# default one revision is fetched into the build folder. TROUPE_GRAPHSTORM is a folder of packages with
# GraphStorm, which declares neither DGL nor all that it imports.
. "${srcdir:-.}/tests/cli/tap.sh"

source=$(cd "${srcdir:-.}" && pwd)
build=$(dirname "$TROUPE")
python=${TROUPE_DGL_PYTHON-}
if [ -z "$python" ]; then
    env=$build/python/dgl-env
    if [ ! -e "$env/whole" ]; then
        # DGL 2.1 is there for Python 3.11 at most.
        python3.11 -m venv "$env" >"$work/out" 2>&1 &&
            "$env/bin/pip" install --quiet -r "$source/bench/peers/requirements.txt" >"$work/out" 2>&1 &&
            touch "$env/whole"
    fi
    expect "there is an environment with DGL" test -e "$env/whole"
    python=$env/bin/python
fi
run env PYTHON="$python" sh "$source/python/check.sh" "$build" -k test_import
expect "the package is built for it" exited 0
dgl=${TROUPE_DGL_SOURCE-$build/python/dgl-source}
if [ ! -e "$dgl/tests/distributed" ]; then
    git init -q "$dgl" && cd "$dgl" &&
        git fetch -q --depth 1 https://github.com/dmlc/dgl 3d16000b4170fa741ed9e9667f22ba84d3493026 &&
        git checkout -q FETCH_HEAD -- tests/dist tests/distributed tests/backend tests/utils examples/distributed >"$work/out" 2>&1
    cd "$OLDPWD" || exit 99
fi
expect "there are DGL's sources" test -e "$dgl/tests/distributed"
storm=${TROUPE_GRAPHSTORM-$build/python/graphstorm}
if [ ! -e "$storm/graphstorm" ]; then
    "$python" -m pip install --quiet --no-deps --target "$storm" graphstorm==0.5.1 ogb==1.3.6 outdated littleutils six \
        scikit-learn joblib cloudpickle narwhals threadpoolctl pyarrow==18.1.0 transformers==4.48.0 tokenizers==0.21.0 \
        huggingface-hub==0.27.0 safetensors regex h5py boto3 botocore s3transfer jmespath >"$work/out" 2>&1
fi
expect "there is GraphStorm" test -e "$storm/graphstorm"
run env PYTHON="$python" TROUPE_DGL_SOURCE="$dgl" TROUPE_GRAPHSTORM="$storm" sh "$source/python/check.sh" "$build" "$source/tests/outside/dgl"
expect "blocks, graphs, partitions and scripts of DGL" exited 0
finish

# SPDX-License-Identifier: Apache-2.0
# Builds the Python package on the libraries of a build folder, and runs its tests:
#
#     sh python/check.sh BUILD [arguments of pytest]
#
# The interpreter is PYTHON, or the first of Debian's and the path's that has cffi, NumPy and pytest.
# What is made lies in BUILD/python: nothing is written beside the sources.
set -u
build=$(cd "${1:?which build folder}" && pwd) || exit 2
shift
here=$(cd "$(dirname "$0")" && pwd)

python=
for candidate in ${PYTHON:+"$PYTHON"} /usr/bin/python3 python3; do
    if "$candidate" -c 'import cffi, numpy, pytest, setuptools' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "python/check.sh: no python3 has cffi, numpy, pytest and setuptools; install Debian's" \
        "python3-dev python3-cffi python3-numpy python3-pytest python3-setuptools, or name one in PYTHON" >&2
    exit 2
fi

lib=$build/python/lib
export PYTHONDONTWRITEBYTECODE=1 TROUPE_BUILD="$build"
cd "$here" || exit 2
"$python" setup.py -q build --build-base="$build/python/temp" --build-lib="$lib" \
    >"$build/python.out" 2>&1 || { cat "$build/python.out" >&2; exit 1; }
export PYTHONPATH="$lib${PYTHONPATH:+:$PYTHONPATH}" TROUPE="$build/troupe"
export TROUPE_METIS="$build/troupe-metis" OPENBLAS_NUM_THREADS=1
# Not from this folder, whose sources without C modules would be imported first.
cd tests || exit 2
exec "$python" -m pytest -p no:cacheprovider -q "$@"

# SPDX-License-Identifier: Apache-2.0
# Builds the Python package on the libraries of a build folder, and runs its tests:
#
#     sh python/check.sh BUILD [arguments of pytest]
#
# The interpreter is PYTHON, or the first of Debian's and the path's that has cffi, NumPy and pytest.
# What is made lies in BUILD/python: nothing is written beside the sources.
#
# BUILD may be one of shared libraries with the address sanitizer:
#
#     ../configure --enable-sanitize=address && make -j8 && sh ../python/check.sh .
#
# Its library is then loaded before the interpreter, which has none. What Python itself never frees
# is no leak of ours: LeakSanitizer stays off, and tests count memory, files and threads instead.
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
if grep -q __asan_init "$build/.libs/libtroupe.so" 2>/dev/null; then
    # PyTorch throws exceptions in C++, which the sanitizer looks up at its start.
    preload="$(${CC:-cc} -print-file-name=libasan.so) $(${CC:-cc} -print-file-name=libstdc++.so.6)"
    export CC="${CC:-cc} -fsanitize=address" LD_PRELOAD="$preload" ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
fi
# Not from this folder, whose sources without C modules would be imported first.
cd tests || exit 2
exec "$python" -m pytest -p no:cacheprovider -q "$@"

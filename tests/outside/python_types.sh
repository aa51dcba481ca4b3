# SPDX-License-Identifier: Apache-2.0
# The Python package as type checkers and linters see it: mypy --strict, stubtest of the C module's
# stub, ruff. They are installed into an environment of their own (PIP_FIND_LINKS and the like of the
# caller say where from).
. "${srcdir:-.}/tests/cli/tap.sh"

source=$(cd "${srcdir:-.}" && pwd)/python
build=$(dirname "$TROUPE")
run sh "$source/check.sh" "$build" -k test_import
expect "the package is built" exited 0
run /usr/bin/python3 -m venv --system-site-packages "$work/env"
expect "there is an environment" exited 0
run "$work/env/bin/pip" install --quiet mypy ruff
expect "which has mypy and ruff" exited 0
cp -R "$source" "$work/source"
cd "$work/source" || exit 99
run "$work/env/bin/mypy" --strict -p troupe
expect "mypy finds nothing" exited 0
run "$work/env/bin/ruff" check .
expect "ruff finds nothing" exited 0
run "$work/env/bin/ruff" format --check .
expect "and would lay out nothing otherwise" exited 0
cp -R "$source/../bench/peers" "$work/source/peers"
cd peers || exit 99
run env MYPYPATH=. "$work/env/bin/mypy" --config-file ../pyproject.toml ./*.py
expect "mypy finds nothing in what measures other libraries" exited 0
run "$work/env/bin/ruff" check .
expect "nor ruff" exited 0
run "$work/env/bin/ruff" format --check .
expect "which would lay out nothing otherwise" exited 0
cd "$work" || exit 99
run env PYTHONPATH="$build/python/lib" MYPYPATH="$build/python/lib" \
    "$work/env/bin/python" -m mypy.stubtest troupe._core
expect "the stub says what the C module has" exited 0
finish

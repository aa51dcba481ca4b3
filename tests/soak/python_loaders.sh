# SPDX-License-Identifier: Apache-2.0
# Loaders of Python are opened and left in every way, and programs end at any moment: no hang, leak,
# stale batch or crash. TROUPE_SEED repeats the draws. On libraries with the address sanitizer:
# sh python/check.sh BUILD -s soak_loaders.py
. "${srcdir:-.}/tests/cli/tap.sh"
run sh "${srcdir:-.}/python/check.sh" "$(dirname "$TROUPE")" -s soak_loaders.py
sed 's/^/# /' "$work/out"
expect "loaders that are left leave nothing" exited 0
finish

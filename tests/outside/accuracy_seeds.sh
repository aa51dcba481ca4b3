# SPDX-License-Identifier: Apache-2.0
# What tests/cli/accuracy.sh trains by a few seeds, by all of them, and the graphs that it leaves out.
TROUPE_LONG_TESTS=1
TROUPE_ACCURACY=whole
. "${srcdir:-.}/tests/cli/accuracy.sh"

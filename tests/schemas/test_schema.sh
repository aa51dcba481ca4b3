#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The schema and the structs say the same: each kind of messages.h has a table of its name, marked
# with its class, and there is no other table.
srcdir=${srcdir-.}
heads=$srcdir/schemas/messages.h
schema=$srcdir/schemas/messages.fbs
wanted=$(sed -n 's/^ *X(MSG_[A-Z_]*, *\([a-z_]*\), *[A-Z]*, *\([A-Z]*\)).*/\1 \2/p' "$heads" |
    tr '[:upper:]' '[:lower:]' | sort)
found=$(sed -n 's/^table \([a-z_]*\) (\([a-z]*\)) {$/\1 \2/p' "$schema" | sort)
echo "1..2"
if [ "$(echo "$wanted" | wc -l)" -ge 20 ]; then
    echo "ok 1 - the kinds were found"
else
    echo "not ok 1 - the kinds were found"
fi
if [ "$wanted" = "$found" ]; then
    echo "ok 2 - every kind has its table and class"
else
    echo "not ok 2 - every kind has its table and class"
    echo "$wanted" | sed 's/^/# struct /'
    echo "$found" | sed 's/^/# table /'
fi

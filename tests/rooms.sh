# SPDX-License-Identifier: Apache-2.0
# The sources keep to the table of rooms and name their licence, and what does not is noticed.
. "${srcdir:-.}/tests/cli/tap.sh"

source=${srcdir:-.}
run sh "$source/scripts/rooms" "$source"
expect "no include goes up, no file name or tag occurs twice, no folder is without a row, no source without a licence" exited 0

# A copy in which one thing at a time is wrong.
copy=$work/copy
mkdir -p "$copy/tests"
for folder in docs include runtime schemas graph partition actors model api launch sim bench cli examples python; do
    cp -R "$source/$folder" "$copy/"
done
chmod -R u+w "$copy"
licence='/* SPDX-License-Identifier: Apache-2.0 */'
echo "$licence" >"$copy/tests/empty.c"
check_copy() { run sh "$source/scripts/rooms" "$copy"; }
says_only() { exited 1 && [ "$(wc -l <"$work/out")" = 1 ] && says "$1"; }
restore() { cp "$source/$1" "$copy/$1"; }

check_copy
expect "the copy is in order" exited 0

echo '#include "runtime/core/actor.h"' >>"$copy/runtime/base/error.h"
check_copy
expect "an include between the rooms of the runtime that is turned round is noticed" \
    says_only '^runtime/base/error.h:[0-9]*: includes runtime/core/actor.h, which stands below runtime/base/$'
restore runtime/base/error.h

echo '#  include "actors/data/server.h" /* why not */' >>"$copy/actors/common/part_locator.c"
check_copy
expect "and one between the rooms of actors" \
    says_only '^actors/common/part_locator.c:[0-9]*: includes actors/data/server.h'
restore actors/common/part_locator.c

echo '#include "runtime/base/error.h"' >>"$copy/include/troupe/types.h"
check_copy
expect "a public header stands on nothing" says_only '^include/troupe/types.h:[0-9]*: includes'
restore include/troupe/types.h

echo '#include "elsewhere/error.h"' >>"$copy/api/session.c"
check_copy
expect "so is an include of what is no room" says_only '^api/session.c:[0-9]*: "elsewhere/error.h"'
restore api/session.c

echo "$licence" >"$copy/sim/files.c"
check_copy
expect "a file name that occurs twice is noticed" says_only '^sim/files.c: its name is also that of '
rm "$copy/sim/files.c"

echo 'static struct actor { int number; } twin;' >>"$copy/model/loss.c"
check_copy
expect "and a tag that is defined twice" says_only '^runtime/core/[a-z_]*.h:[0-9]*: the tag actor is also that of model/loss.c:[0-9]*$'
restore model/loss.c

{ echo "$licence"; yes '' | head -n 199; echo 'static int *take(void)'; } >"$copy/model/long.c"
check_copy
expect "and a static function that does not name its object in a long file" \
    says_only '^model/long.c:201: take() does not name its object'
sed -i 2d "$copy/model/long.c"
check_copy
expect "with 200 lines it may have one word" exited 0
rm "$copy/model/long.c"

mkdir "$copy/runtime/attic"
echo "$licence" >"$copy/runtime/attic/old.c"
check_copy
expect "and a folder without a row" says_only '^runtime/attic/old.c: its folder has no row'
rm -r "$copy/runtime/attic"

sed 1d "$source/graph/room.mk" >"$copy/graph/room.mk"
check_copy
expect "and a source without a licence" says_only '^graph/room.mk: neither .* SPDX'
restore graph/room.mk

sed 's:`runtime/base/`:`cellar/`, &:' "$source/docs/architecture.md" >"$copy/docs/architecture.md"
check_copy
expect "and a row without a folder" says_only '^docs/architecture.md: cellar/ has a row and no sources$'

rm "$copy/docs/architecture.md"
check_copy
expect "without the table nothing passes" exited 2
finish

# SPDX-License-Identifier: Apache-2.0
# The program in README.md compiles without a warning, links to the library, reads a graph to the
# end, and says which one is not there.
. "${srcdir:-.}/tests/cli/tap.sh"
source=${srcdir:-.}
: "${CC:?is not set: run this through make check}"

awk '/^```$/ { on = 0 } on; /^```c$/ { on = 1; blocks++ } END { exit blocks != 1 }' "$source/README.md" \
    >"$work/readme.c"
expect "README.md has one program in C" [ $? -eq 0 ]
# shellcheck disable=SC2086 # flags are lists of words
run $CC $TROUPE_CFLAGS -std=c11 -Wall -Wextra -Werror -I"$source/include" -c "$work/readme.c" -o "$work/readme.o"
expect "it compiles" exited 0
# A static libtroupe asks for the C++ run-time library, which a compiler of C does not add.
# shellcheck disable=SC2086
run ./libtool --quiet --tag=CC --mode=link $CC $TROUPE_CFLAGS -no-install -o "$work/readme" "$work/readme.o" \
    libtroupe.la -lstdc++
expect "it links to libtroupe" exited 0

run sh -c 'cd "$1" && ./readme' sh "$work"
expect "a graph that is not there is named" fails_with 'parts-toy/toy\.json'
"$TROUPE" generate sbm --nodes 500 --edges 4000 --features 8 --classes 4 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/parts-toy" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
run sh -c 'cd "$1" && ./readme' sh "$work"
expect "it reads an epoch to its end" exited 0
finish

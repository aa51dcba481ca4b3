# SPDX-License-Identifier: Apache-2.0
# The documents for developers name files that are there, and what is not there is noticed.
. "${srcdir:-.}/tests/cli/tap.sh"

source=${srcdir:-.}
run sh "$source/scripts/named" "$source"
expect "docs/architecture.md and CONTRIBUTING.md name no file that is not there" exited 0

tree=$work/tree
mkdir -p "$tree/docs" "$tree/graph" "$tree/tests/graph"
: >"$tree/graph/sample.c"
: >"$tree/tests/graph/test_sample.c"
named() {
    # shellcheck disable=SC2016 # the backticks are Markdown's
    printf 'See `%s` for it.\n' "$1" >"$tree/docs/architecture.md"
    run sh "$source/scripts/named" "$tree"
}
named graph/sample.c
expect "a path from the top is found" exited 0
named test_sample.c
expect "so is a name alone" exited 0
named 'graph/*.c'
expect "and a star" exited 0
named cmd_NAME.c
expect "a name with capitals stands for many" exited 0
named graph/samples.c
expect "a file that is not there is noticed" says 'docs/architecture.md: names graph/samples.c'
expect "and ends the check with 1" exited 1
named graph/none/
expect "a folder that is not there is noticed too" exited 1
finish

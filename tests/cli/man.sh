# SPDX-License-Identifier: Apache-2.0
# Man pages render without complaint and name the options that the commands have, no more, no less.
. "${srcdir:-.}/tests/cli/tap.sh"
man=${srcdir:-.}/man

if command -v mandoc >/dev/null; then
    for page in "$man"/*.[1357] man/libtroupe-structs.3; do
        run mandoc -T lint -W warning "$page"
        expect "$(basename "$page") renders" exited 0
    done
else
    skip "man pages render" "mandoc is not here"
fi

# Options that a page describes: the list items "It Fl -name".
documented() { sed -n 's/^\.It Fl -\([a-z0-9-]*\).*/\1/p' "$1" | sort -u; }

leaf_commands >"$work/leaves"
commands=$("$TROUPE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for command in $commands; do
    page=$man/troupe-$command.1
    expect "$command has a man page" [ -f "$page" ]
    grep -E "^$command( |\$)" "$work/leaves" | while read -r words; do
        # shellcheck disable=SC2086 # a kind is a word of its own
        options_of $words
    done | sort -u >"$work/options"
    documented "$page" >"$work/documented"
    run diff "$work/options" "$work/documented"
    expect "troupe-$command(1) names the options of $command" exited 0
    expect "troupe(1) names $command" grep -q "Xr troupe-$command 1" "$man/troupe.1"
done
finish

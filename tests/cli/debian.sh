# SPDX-License-Identifier: Apache-2.0
# The package lists of an archive become a graph.
. "${srcdir:-.}/tests/cli/tap.sh"

cat >"$work/available" <<'END'
Package: app
Section: games
Depends: lib (>= 1), mail-agent | absent
Description: a game of cards

Package: lib
Section: libs
Description: cards and dice

Package: exim
Section: mail
Provides: mail-agent
Description: moves letters
END
troupe import debian --from "$work/available" --out "$work/raw" --json --quiet
expect "packages and dependencies are counted, both directions, virtual names resolved" \
    says '"nodes":3,"edges":4'
expect "the names are kept" grep -qx exim "$work/raw/names.txt"
cat >"$work/sources" <<'END'
Package: app
Build-Depends: lib
END
troupe import debian --types --sources "$work/sources" --from "$work/available" --out "$work/typed" --json --quiet
expect "with types, others that packages name are nodes, and what sources need are edges" says '"nodes":9,"edges":18,'
troupe partition "$work/typed" --parts 2 --method random --name typed --out "$work/parts" --json --quiet
expect "such a graph is partitioned" says '"nodes":9,"edges":18,'
troupe import debian --sources "$work/sources" --from "$work/available" --out "$work/none"
expect "sources without types are refused" fails_with '--sources gives edges of a type of their own: it needs --types'
troupe import debian --types --sources "$work/nowhere" --from "$work/available" --out "$work/none"
expect "sources that are not there are named" fails_with "$work/nowhere"
troupe import debian --from "$work/nowhere" --out "$work/none"
expect "a file that is not there is named" fails_with "$work/nowhere"
: >"$work/empty"
troupe import debian --from "$work/empty" --out "$work/none"
expect "an empty list is refused" fails_with "$work/empty"
run env PATH=/nonexistent "$TROUPE" import debian --out "$work/none"
expect "a system without apt gets a remedy" fails_with 'as the file --from'
expect "what was refused left nothing" absent "$work/none"
finish

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
troupe import debian --from "$work/nowhere" --out "$work/none"
expect "a file that is not there is named" fails_with "$work/nowhere"
: >"$work/empty"
troupe import debian --from "$work/empty" --out "$work/none"
expect "an empty list is refused" fails_with "$work/empty"
run env PATH=/nonexistent "$TROUPE" import debian --out "$work/none"
expect "a system without apt gets a remedy" fails_with 'as the file --from'
expect "what was refused left nothing" absent "$work/none"
finish

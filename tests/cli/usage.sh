# SPDX-License-Identifier: Apache-2.0
# Every command has --help that succeeds, and refuses wrong words with a sentence and exit code 2.
. "${srcdir:-.}/tests/cli/tap.sh"

troupe --help
expect "--help succeeds" exited 0
troupe --version
expect "--version names the program" says '^troupe [0-9]'
troupe
expect "no command is wrong usage" refuses_with '^Usage: troupe'
troupe imprt
expect "a mistyped command is refused with a suggestion" \
    refuses_with '^troupe: imprt: no such command; did you mean import?'
troupe import edgse
expect "a mistyped kind is refused with a suggestion" \
    refuses_with '^troupe import: edgse: no such kind; did you mean edges?'

leaf_commands >"$work/commands"
while read -r command; do
    # shellcheck disable=SC2086 # a kind is a word of its own
    set -- $command
    troupe "$@" --help
    expect "$command --help succeeds" exited 0
    expect "$command --help shows its usage" says "^Usage: troupe $command"
    expect "$command --help lists its options" says '^  --help'
    troupe "$@" --no-such-option
    expect "$command refuses an unknown option" \
        refuses_with "^troupe $command: --no-such-option: no such option"
    troupe "$@"
    expect "$command without anything is wrong usage" refuses_with "^troupe $command: "
done <"$work/commands"
expect "there are commands" [ -s "$work/commands" ]

"$TROUPE" completion >"$work/completion"
expect "the completion in the tree is what the tables give" \
    cmp -s "$work/completion" "${srcdir:-.}/cli/completions/troupe"
if command -v bash >/dev/null; then
    expect "bash takes the completion" bash -n "$work/completion"
    # shellcheck disable=SC2016 # expanded by the inner bash
    run bash -c '. "$1"; COMP_WORDS=(troupe import e); COMP_CWORD=2; _troupe; echo "${COMPREPLY[@]}"' - \
        "$work/completion"
    expect "it completes a kind" says '^edges$'
    # shellcheck disable=SC2016
    run bash -c '. "$1"; COMP_WORDS=(troupe import edges --o); COMP_CWORD=3; _troupe; echo "${COMPREPLY[@]}"' \
        - "$work/completion"
    expect "it completes an option" says '^--out$'
else
    skip "the completion works" "bash is not here"
fi
finish

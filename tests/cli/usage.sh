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
    expect "$command --help names its page, completion and --version" \
        says "^\"man troupe-${command%% *}\" describes it. .* completion and --version"
    troupe "$@" --no-such-option
    expect "$command refuses an unknown option" \
        refuses_with "^troupe $command: --no-such-option: no such option"
    troupe "$@"
    expect "$command without anything is wrong usage" refuses_with "^troupe $command: "
done <"$work/commands"
expect "there are commands" [ -s "$work/commands" ]

troupe help
expect "help lists the commands" says '^  completion'
expect "and the version" says '^  --version'
troupe help import edges
expect "help COMMAND is COMMAND --help" says '^Usage: troupe import edges'
troupe help imprt
expect "of a command that there is" refuses_with '^troupe: imprt: no such command; did you mean import?'
troupe completion tcsh
expect "a shell without a completion is refused" refuses_with 'tcsh: no such shell; give bash, zsh or fish'

"$TROUPE" completion bash >"$work/completion"
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
    # shellcheck disable=SC2016
    run bash -c '. "$1"; COMP_WORDS=(troupe partition --method ""); COMP_CWORD=3; _troupe; echo "${COMPREPLY[@]}"' \
        - "$work/completion"
    expect "it completes the values of an option" says '^metis random$'
    # completes WORDS...: what bash offers for the last of them; nothing: files
    completes() {
        # shellcheck disable=SC2016
        run bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _troupe; echo "${COMPREPLY[*]}"' - \
            "$work/completion" troupe "$@"
    }
    completes train --model = rg
    expect "also behind an equals sign" says '^rgcn$'
    completes train --run ""
    expect "files where a value is not listed" says '^$'
    completes train ""
    expect "and for operands" says '^$'
    completes train --ru
    expect "beside which options are offered" says '^--run$'
    completes import table ""
    expect "options alone where there is no operand" says '^--edges --nodes --out '
else
    skip "the completion works" "bash is not here"
fi

# has FILE TEXT: as a line of its own
has() { grep -qxF -e "$2" "$1"; }
"$TROUPE" completion zsh >"$work/zsh"
expect "zsh finds whose completion it is" [ "$(head -n 1 "$work/zsh")" = "#compdef troupe" ]
expect "zsh has the values of an option" has "$work/zsh" "    \"partition --method\") found='metis random' ;;"
expect "and the options of each kind" grep -q "^    \"import edges \"\*) \[\[ .* found='--out .*--help' ;;" "$work/zsh"
"$TROUPE" completion fish >"$work/fish"
expect "fish has the commands with what they do" has "$work/fish" \
    "complete -c troupe -n __fish_use_subcommand -f -a partition -d 'Split a raw graph into partitions'"
expect "and the values of an option" has "$work/fish" \
    "complete -c troupe -n '__fish_seen_subcommand_from cluster; and __fish_seen_subcommand_from keys' -l replace -d 'make new keys for the hosts, and keep the authority'"
for shell in zsh fish; do
    command -v $shell >/dev/null || continue
    run $shell -n "$work/$shell"
    expect "$shell takes the completion" exited 0
done
if command -v fish >/dev/null; then
    mkdir "$work/files"
    : >"$work/files/links.csv"
    # shellcheck disable=SC2016 # expanded by fish
    fish_completes() { run fish -N -c 'source $argv[1]; cd $argv[2]; complete -C $argv[3]' "$work/fish" "$work/files" "$1"; }
    fish_completes "troupe import edges li"
    expect "fish offers files behind a kind" says '^links.csv$'
    fish_completes "troupe import e"
    expect "and kinds before it" says '^edges'
    fish_completes "troupe help imp"
    expect "and commands behind help" says '^import$'
else
    skip "fish completes" "fish is not here"
fi
finish

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe completion`: prints the completion of a shell, made from the command tables.
 *
 * A completion knows three things of each place of a command line: the commands and kinds, the
 * options of a command, and the words that an option takes (its choices, or the lower-case words
 * of a metavar such as "metis|random|FILE"). For all else it offers files: for other values, and
 * for operands that are files, beside which options are offered behind a '-'. cli/completions/troupe
 * is the output for bash, kept in the tree so that packages need not run what they build; a test
 * compares the two.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/lib/command.h"
#include "cli/lib/fail.h"

#define PATH_BYTES 64

static const char *const SHELLS[] = { "bash", "zsh", "fish" };
#define NUM_SHELLS (sizeof SHELLS / sizeof *SHELLS)

static const struct option_spec OPTIONS[] = { OPTION_ROW_END };

/* Called for each command that is run by a name of its own: "train", "import edges"; variable is
 * the shell's, which gets the words. */
typedef void print_leaf_fn(const char *path, const struct command *command, const char *variable);

static void each_leaf(print_leaf_fn *print, const char *variable)
{
    char path[PATH_BYTES];
    for (const struct command *const *at = command_list(); *at != NULL; at++) {
        if ((*at)->summary == NULL)
            continue;
        if ((*at)->kinds == NULL)
            print((*at)->name, *at, variable);
        for (const struct command *kind = (*at)->kinds; kind != NULL && kind->name != NULL;
             kind++) {
            snprintf(path, sizeof path, "%s %s", (*at)->name, kind->name);
            print(path, kind, variable);
        }
    }
}

static bool is_typed(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!islower((unsigned char)word[i]) && !isdigit((unsigned char)word[i]) &&
            strchr("-_", word[i]) == NULL)
            return false;
    return length > 0;
}

/* Prints the words of "metis|random|FILE" that are typed as they stand, with spaces between, and
 * returns how many there are; out may be NULL. One word alone is the name of a value. */
static int put_words(const char *list, FILE *out)
{
    int count = 0;
    if (list == NULL || strchr(list, '|') == NULL)
        return 0;
    for (size_t length; *list != '\0'; list += length + (list[length] == '|')) {
        length = strcspn(list, "|");
        if (!is_typed(list, length))
            continue;
        if (out != NULL)
            fprintf(out, "%s%.*s", count > 0 ? " " : "", (int)length, list);
        count++;
    }
    return count;
}

static const char *values_of(const struct option_spec *spec)
{
    return spec->kind == OPTION_CHOICE ? spec->choices : spec->metavar;
}

static void put_option_names(const struct option_spec *specs)
{
    for (const struct option_spec *spec = specs; spec->name != NULL; spec++)
        printf("--%s ", spec->name);
    printf("--help");
}

static void put_commands(void)
{
    for (const struct command *const *at = command_list(); *at != NULL; at++)
        if ((*at)->summary != NULL)
            printf("%s ", (*at)->name);
    printf("help --help --version");
}

static void put_commands_with_kinds(void)
{
    const char *separator = "";
    for (const struct command *const *at = command_list(); *at != NULL; at++)
        if ((*at)->kinds != NULL) {
            printf("%s%s", separator, (*at)->name);
            separator = "|";
        }
}

/* The options whose values are not listed: no word is offered, so that files are. */
static bool put_free_values(const char *path, const struct option_spec *specs)
{
    int count = 0;
    for (const struct option_spec *spec = specs; spec->name != NULL; spec++)
        if (spec->kind != OPTION_FLAG && put_words(values_of(spec), NULL) == 0)
            printf("%s\"%s --%s\"", count++ > 0 ? "|" : "    ", path, spec->name);
    return count > 0;
}

/* Cases of bash and zsh, which have the same form: what stands before the word, "path previous",
 * and the words that may follow. Values go before names: of two cases the first is taken. */
static void put_leaf_cases(const char *path, const struct command *command, const char *variable)
{
    for (const struct option_spec *spec = command->options; spec->name != NULL; spec++) {
        if (put_words(values_of(spec), NULL) == 0)
            continue;
        printf("    \"%s --%s\") %s='", path, spec->name, variable);
        put_words(values_of(spec), stdout);
        printf("' ;;\n");
    }
    if (put_free_values(path, command->options))
        printf(") ;;\n");
    printf("    \"%s \"*) ", path);
    if (command == &command_completion)
        printf("%s='%s %s %s ", variable, SHELLS[0], SHELLS[1], SHELLS[2]);
    else
        printf("%s%s='", command->operands[0] != '\0' ? "[[ $current == -* ]] && " : "", variable);
    put_option_names(command->options);
    printf("' ;;\n");
}

static void put_cases(const char *variable)
{
    each_leaf(put_leaf_cases, variable);
    for (const struct command *const *at = command_list(); *at != NULL; at++) {
        if ((*at)->summary == NULL || (*at)->kinds == NULL)
            continue;
        printf("    \"%s \"*) %s='", (*at)->name, variable);
        for (const struct command *kind = (*at)->kinds; kind->name != NULL; kind++)
            printf("%s ", kind->name);
        printf("--help' ;;\n");
    }
    printf("    *) %s='", variable);
    put_commands();
    printf("' ;;\n    esac\n");
}

static void print_bash(void)
{
    puts("# Completion of troupe(1) for bash, made by `troupe completion bash`.\n"
         "_troupe()\n"
         "{\n"
         "    local current=\"${COMP_WORDS[COMP_CWORD]}\""
         " previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
         "    local path=\"${COMP_WORDS[1]}\" words=''\n"
         "    # --model=gcn is three words here.\n"
         "    if [[ $current == = ]]; then current=''\n"
         "    elif [[ $previous == = ]]; then previous=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi\n"
         "    case \"$path\" in");
    printf("    ");
    put_commands_with_kinds();
    puts(") ((COMP_CWORD > 2)) && path=\"$path ${COMP_WORDS[2]}\" ;;\n"
         "    esac\n"
         "    ((COMP_CWORD == 1)) && path=''\n"
         "    case \"$path $previous\" in");
    put_cases("words");
    puts("    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "}\n"
         "complete -o default -F _troupe troupe");
}

/* In zsh `path` and `words` have meanings of its own, so other names stand for them. */
static void print_zsh(void)
{
    puts("#compdef troupe\n"
         "# Completion of troupe(1) for zsh, made by `troupe completion zsh`.\n"
         "_troupe_words()\n"
         "{\n"
         "    local found='' current=\"$3\"\n"
         "    case \"$1 $2\" in");
    put_cases("found");
    puts("    print -r -- \"$found\"\n"
         "}\n"
         "_troupe()\n"
         "{\n"
         "    local place=\"${words[2]}\" before=\"${words[CURRENT-1]}\"\n"
         "    local -a candidates\n"
         "    case \"$place\" in");
    printf("    ");
    put_commands_with_kinds();
    puts(") ((CURRENT > 3)) && place=\"$place ${words[3]}\" ;;\n"
         "    esac\n"
         "    ((CURRENT == 2)) && place=''\n"
         "    if [[ $PREFIX == --*=* ]]; then before=\"${PREFIX%%=*}\"; compset -P '*='; fi\n"
         "    candidates=(${=$(_troupe_words \"$place\" \"$before\" \"$PREFIX\")})\n"
         "    compadd -a candidates || _files\n"
         "}\n"
         "if [ \"${funcstack[1]}\" = _troupe ]; then _troupe \"$@\"; else compdef _troupe troupe; "
         "fi");
}

/* A text in single quotes, as fish reads them. */
static void put_quoted(const char *text)
{
    putchar('\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

/* The condition that the line names that command, and that kind of it. */
static void put_fish_place(const char *path)
{
    size_t length = strcspn(path, " ");
    printf("complete -c troupe -n '__fish_seen_subcommand_from %.*s", (int)length, path);
    if (path[length] != '\0')
        printf("; and __fish_seen_subcommand_from%s", path + length);
    putchar('\'');
}

static void print_fish_leaf(const char *path, const struct command *command, const char *variable)
{
    (void)variable;
    if (command == &command_completion) {
        put_fish_place(path);
        printf(" -f -a '%s %s %s'\n", SHELLS[0], SHELLS[1], SHELLS[2]);
    }
    for (const struct option_spec *spec = command->options; spec->name != NULL; spec++) {
        put_fish_place(path);
        printf(" -l %s", spec->name);
        if (spec->kind != OPTION_FLAG)
            printf(spec->kind == OPTION_CHOICE ? " -x" : " -r");
        if (put_words(values_of(spec), NULL) > 0) {
            printf(" -a '");
            put_words(values_of(spec), stdout);
            putchar('\'');
        }
        printf(" -d ");
        put_quoted(spec->help);
        putchar('\n');
    }
}

/* The kinds of a command, where none of them is named yet. */
static void put_fish_kinds(const struct command *command)
{
    for (const struct command *kind = command->kinds; kind != NULL && kind->name != NULL; kind++) {
        printf("complete -c troupe -n '__fish_seen_subcommand_from %s; and not "
               "__fish_seen_subcommand_from",
               command->name);
        for (const struct command *one = command->kinds; one->name != NULL; one++)
            printf(" %s", one->name);
        printf("' -f -a %s -d ", kind->name);
        put_quoted(kind->summary);
        putchar('\n');
    }
}

static void print_fish(void)
{
    puts("# Completion of troupe(1) for fish, made by `troupe completion fish`.\n"
         "complete -c troupe -l help -d 'show what there is'\n"
         "complete -c troupe -n __fish_use_subcommand -l version -d 'show the version'\n"
         "complete -c troupe -n __fish_use_subcommand -f -a help -d 'Show the help of a command'");
    for (const struct command *const *at = command_list(); *at != NULL; at++) {
        if ((*at)->summary == NULL)
            continue;
        printf("complete -c troupe -n __fish_use_subcommand -f -a %s -d ", (*at)->name);
        put_quoted((*at)->summary);
        printf("\ncomplete -c troupe -n '__fish_seen_subcommand_from help' -f -a %s\n",
               (*at)->name);
        put_fish_kinds(*at);
    }
    each_leaf(print_fish_leaf, NULL);
}

static int cmd_completion_run(const struct invocation *invocation, const void *values)
{
    static void (*const print[NUM_SHELLS])(void) = { print_bash, print_zsh, print_fish };
    const char *wanted = invocation->operands[0];
    struct tr_error error = TR_ERROR_INIT;
    (void)values;
    for (size_t i = 0; i < NUM_SHELLS; i++)
        if (strcmp(SHELLS[i], wanted) == 0) {
            print[i]();
            return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
        }
    tr_error_set(&error, TR_EINVAL, "%s: no such shell; give bash, zsh or fish", wanted);
    return fail_usage(invocation, &error);
}

static const char *const EXAMPLES[] = {
    "troupe completion bash >~/.local/share/bash-completion/completions/troupe",
    "troupe completion fish >~/.config/fish/completions/troupe.fish",
    NULL,
};

const struct command command_completion = {
    .name = "completion",
    .summary = "Print the completion script for bash, zsh or fish",
    .operands = "bash|zsh|fish",
    .operands_min = 1,
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = 1, /* it has none, and an allocation of 0 bytes may return NULL */
    .examples = EXAMPLES,
    .run = cmd_completion_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe completion`: prints the bash completion, made from the command tables.
 *
 * cli/completions/troupe is its output, kept in the tree so that packages need not run what
 * they build; a test compares the two. The command has no summary: people meet its output.
 */
#include <stdio.h>

#include "cli/lib/command.h"

struct completion_values {
    bool json;
};

static const struct option_spec OPTIONS[] = { OPTION_ROW_END };

static void print_words(const struct option_spec *specs)
{
    for (const struct option_spec *spec = specs; spec->name != NULL; spec++)
        printf("--%s ", spec->name);
    printf("--help");
}

/* After "--option", the words it may take; files for what has no list of words. */
static void print_values(const char *path, const struct option_spec *specs)
{
    for (const struct option_spec *spec = specs; spec->name != NULL; spec++) {
        if (spec->kind != OPTION_CHOICE)
            continue;
        printf("    \"%s --%s\") words='", path, spec->name);
        for (const char *at = spec->choices; *at != '\0'; at++)
            putchar(*at == '|' ? ' ' : *at);
        printf("' ;;\n");
    }
}

static void print_leaf(const char *path, const struct command *command)
{
    print_values(path, command->options);
    printf("    \"%s \"*) words='", path);
    print_words(command->options);
    printf("' ;;\n");
}

static void print_kinds(const struct command *command)
{
    char path[64];
    for (const struct command *kind = command->kinds; kind->name != NULL; kind++) {
        snprintf(path, sizeof path, "%s %s", command->name, kind->name);
        print_leaf(path, kind);
    }
    printf("    \"%s \"*) words='", command->name);
    for (const struct command *kind = command->kinds; kind->name != NULL; kind++)
        printf("%s ", kind->name);
    printf("--help' ;;\n");
}

static int run(const struct invocation *invocation, const void *values)
{
    (void)invocation;
    (void)values;
    puts("# Completion of troupe(1) for bash, made by `troupe completion`.\n"
         "_troupe()\n"
         "{\n"
         "    local current=\"${COMP_WORDS[COMP_CWORD]}\""
         " previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
         "    local path=\"${COMP_WORDS[1]}\" words=''\n"
         "    case \"$path\" in");
    printf("    ");
    const char *separator = "";
    for (const struct command *const *at = command_list(); *at != NULL; at++)
        if ((*at)->kinds != NULL) {
            printf("%s%s", separator, (*at)->name);
            separator = "|";
        }
    puts(") ((COMP_CWORD > 2)) && path=\"$path ${COMP_WORDS[2]}\" ;;\n"
         "    esac\n"
         "    ((COMP_CWORD == 1)) && path=''\n"
         "    case \"$path $previous\" in");
    for (const struct command *const *at = command_list(); *at != NULL; at++) {
        if ((*at)->summary == NULL)
            continue;
        if ((*at)->kinds != NULL)
            print_kinds(*at);
        else
            print_leaf((*at)->name, *at);
    }
    printf("    *) words='");
    for (const struct command *const *at = command_list(); *at != NULL; at++)
        if ((*at)->summary != NULL)
            printf("%s ", (*at)->name);
    puts("--help --version' ;;\n"
         "    esac\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "}\n"
         "complete -o default -F _troupe troupe");
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_completion = {
    .name = "completion",
    .operands = "",
    .options = OPTIONS,
    .values_size = sizeof(struct completion_values),
    .run = run,
};

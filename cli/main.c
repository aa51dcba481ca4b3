/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `troupe` command: finds the command that was named, reads its options, runs it.
 *
 * Exit codes: 0 success, 1 failed, 2 wrong usage.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <troupe/text.h>

#include "cli/lib/command.h"
#include "cli/lib/early_signals.h"
#include "cli/lib/fail.h"
#include "cli/lib/help.h"
#include "cli/lib/run_command.h"
#include "cli/lib/tools_program.h"

#define NAME_MAX_BYTES 64
#define COMMANDS_MAX 32

static int refuse_word(const char *parent, const char *what, const char *const *names, size_t count,
                       const char *word)
{
    const char *near = tr_text_nearest(names, count, word, strlen(word));
    fprintf(stderr, "troupe%s%s: %s: no such %s", parent[0] ? " " : "", parent, word, what);
    if (near != NULL)
        fprintf(stderr, "; did you mean %s?\n", near);
    else
        fprintf(stderr, "\nSee \"troupe%s%s --help\".\n", parent[0] ? " " : "", parent);
    return EXIT_USAGE;
}

static int run_kind(const struct command *command, int argc, char **argv)
{
    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        help_print_command(command->name, command, stdout);
        return EXIT_DONE;
    }
    const char *names[COMMANDS_MAX];
    size_t count = 0;
    for (const struct command *kind = command->kinds; kind->name != NULL && count < COMMANDS_MAX;
         kind++) {
        names[count++] = kind->name;
        if (argc > 0 && strcmp(kind->name, argv[0]) == 0) {
            char name[NAME_MAX_BYTES];
            snprintf(name, sizeof name, "%s %s", command->name, kind->name);
            return run_command(name, kind, argc - 1, argv + 1);
        }
    }
    if (argc > 0)
        return refuse_word(command->name, "kind", names, count, argv[0]);
    help_print_command(command->name, command, stderr);
    return EXIT_USAGE;
}

/* Which reads all words again, with the same table. */
static int become_program(const struct command *command, char **argv)
{
    const struct invocation invocation = { .name = command->name };
    struct tr_error error = TR_ERROR_INIT;
    tools_program_become(command->program, argv, &error);
    return fail(&invocation, &error);
}

static int run(int argc, char **argv)
{
    const char *names[COMMANDS_MAX];
    size_t count = 0;
    for (const struct command *const *at = command_list(); *at != NULL && count < COMMANDS_MAX;
         at++) {
        const struct command *command = *at;
        if (command->summary != NULL)
            names[count++] = command->name;
        if (strcmp(command->name, argv[1]) != 0)
            continue;
        if (command->program != NULL)
            return become_program(command, argv);
        if (command->kinds != NULL)
            return run_kind(command, argc - 2, argv + 2);
        return run_command(command->name, command, argc - 2, argv + 2);
    }
    return refuse_word("", "command", names, count, argv[1]);
}

/* `troupe help COMMAND` is `troupe COMMAND --help`, with a kind where there is one. */
static int run_help(int argc, char **argv)
{
    static char help[] = "--help";
    char *words[] = { argv[0], argv[2], argc > 3 ? argv[3] : help, help, NULL };
    if (argc > 4) {
        fprintf(stderr, "troupe help: %s: one word too many\n", argv[4]);
        return EXIT_USAGE;
    }
    return run(argc, words);
}

int main(int argc, char **argv)
{
    early_signals_say();
    /* A file above the limit (ulimit -f) is an error of write(2), which cleans up behind itself. */
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        help_print_all(command_list(), stderr);
        return EXIT_USAGE;
    }
    bool help = strcmp(argv[1], "help") == 0;
    if ((help && argc == 2) || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help_print_all(command_list(), stdout);
        return EXIT_DONE;
    }
    if (help)
        return run_help(argc, argv);
    if (strcmp(argv[1], "--version") == 0) {
        puts(PACKAGE_STRING);
        return EXIT_DONE;
    }
    return run(argc, argv);
}

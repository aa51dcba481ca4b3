/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `troupe` command: finds the command that was named, reads its options, runs it.
 *
 * Exit codes: 0 success, 1 failed, 2 wrong usage.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/text.h>

#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/help.h"

#define NAME_MAX_BYTES 64
#define COMMANDS_MAX 32

static int run_command(const char *name, const struct command *command, int argc, char **argv)
{
    struct tr_error error = TR_ERROR_INIT;
    struct invocation invocation = { .name = name, .operands = argv };
    void *values = calloc(1, command->values_size);
    if (values == NULL) {
        tr_error_set(&error, TR_ENOMEM, "out of memory");
        return fail(&invocation, &error);
    }
    int code;
    bool help;
    int rc = options_parse(command->options, values, command->values_size, argc, argv, &help,
                           &error);
    invocation.num_operands = rc;
    if (help) {
        help_print_command(name, command, stdout);
        code = EXIT_DONE;
    } else if (rc < 0) {
        code = fail_usage(&invocation, &error);
    } else if (rc < command->operands_min) {
        tr_error_set(&error, TR_EINVAL, "something is missing: give %s", command->operands);
        code = fail_usage(&invocation, &error);
    } else if (rc > command->operands_max) {
        tr_error_set(&error, TR_EINVAL, "%s: one word too many", argv[command->operands_max]);
        code = fail_usage(&invocation, &error);
    } else {
        code = command->run(&invocation, values);
    }
    free(values);
    return code;
}

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
        if (command->kinds != NULL)
            return run_kind(command, argc - 2, argv + 2);
        return run_command(command->name, command, argc - 2, argv + 2);
    }
    return refuse_word("", "command", names, count, argv[1]);
}

int main(int argc, char **argv)
{
    /* A file above the limit (ulimit -f) is an error of write(2), which cleans up behind itself. */
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        help_print_all(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help_print_all(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts(PACKAGE_STRING);
        return EXIT_DONE;
    }
    return run(argc, argv);
}

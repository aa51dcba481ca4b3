/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/run_command.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/lib/fail.h"
#include "cli/lib/help.h"

int run_command(const char *name, const struct command *command, int argc, char **argv)
{
    struct tr_error error = TR_ERROR_INIT;
    struct invocation invocation = { .name = name, .operands = argv, .options = command->options };
    void *values = calloc(1, command->values_size);
    if (values == NULL) {
        tr_error_set(&error, TR_ENOMEM, "out of memory");
        return fail(&invocation, &error);
    }
    int code;
    struct options_read read;
    int rc = options_parse(command->options, values, command->values_size, argc, argv, &read,
                           &error);
    invocation.num_operands = rc;
    invocation.given = read.given;
    /* Help goes before all refusals: it is asked for where words are missing, or wrong. */
    if (read.help) {
        help_print_command(name, command, stdout);
        code = EXIT_DONE;
    } else if (rc < 0) {
        code = fail_usage(&invocation, &error);
    } else if (rc < command->operands_min) {
        tr_error_set(&error, TR_EINVAL, "an operand is missing: give %s", command->operands);
        code = fail_usage(&invocation, &error);
    } else if (rc > command->operands_max) {
        tr_error_set(&error, TR_EINVAL, "%s: one word too many; troupe %s takes %d at most",
                     argv[command->operands_max], command->name, command->operands_max);
        code = fail_usage(&invocation, &error);
    } else {
        code = command->run(&invocation, values);
    }
    free(values);
    return code;
}

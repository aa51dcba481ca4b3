/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of `troupe`, in the order in which its help lists those that have a summary. */
#include "cli/lib/command.h"

const struct command *const *command_list(void)
{
    static const struct command *const COMMANDS[] = {
        &command_import,       &command_generate,
        &command_split,        &command_feature,
        &command_partition,    &command_verify,
        &command_inspect,      &command_train,
        &command_infer,        &command_report,
        &command_cluster,      &command_launch,
        &command_attach,       &command_serve,
        &command_sample,       &command_status,
        &command_top,          &command_bench,
        &command_simulate,     &command_completion,
        &command_exec_wrapper, NULL,
    };
    return COMMANDS;
}

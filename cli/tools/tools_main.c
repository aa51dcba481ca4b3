/* SPDX-License-Identifier: Apache-2.0 */
/*
 * troupe-tools: what `troupe bench` and `troupe simulate` become.
 *
 * They measure and play what no program outside may reach, so they are linked with the rooms, while
 * `troupe` is linked with the library. The words are those of `troupe`, "bench NAME --json".
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/lib/early_signals.h"
#include "cli/lib/run_command.h"
#include "cli/tools/tools.h"

static const struct tool {
    const struct command *command;
    int (*run)(const struct invocation *invocation, const void *values);
} TOOLS[] = {
    { &command_bench, run_bench },
    { &command_simulate, run_simulate },
};

int main(int argc, char **argv)
{
    early_signals_say();
    /* A file above the limit (ulimit -f) is an error of write(2), which cleans up behind itself. */
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof TOOLS / sizeof *TOOLS && argc > 1; i++) {
        if (strcmp(TOOLS[i].command->name, argv[1]) != 0)
            continue;
        struct command command = *TOOLS[i].command;
        command.run = TOOLS[i].run;
        return run_command(command.name, &command, argc - 2, argv + 2);
    }
    fputs("troupe-tools: \"troupe bench\" and \"troupe simulate\" start it; see their --help\n",
          stderr);
    return EXIT_USAGE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command of `troupe`: a name, a table of options, a function.
 *
 * Each command lives in a file of its own and exports one constant struct command; main.c
 * lists them. A command either has kinds of its own ("import debian", "import edges") or
 * options and a run function. Help, completion and the test that compares man pages with
 * commands are all made from these tables, so they cannot drift apart.
 *
 * Thread rules: the tables are constant. A command runs on the main thread, once a process.
 */
#ifndef CLI_LIB_COMMAND_H
#define CLI_LIB_COMMAND_H

#include "cli/lib/options.h"

struct tr_log_file;

enum exit_code { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* The arguments of every command beside its own values. */
struct invocation {
    const char *name; /* "partition", "import edges": what errors start with */
    int num_operands;
    char *const *operands;
    const struct option_spec *options; /* of the command; NULL: none */
    const bool *given;                 /* by the rows of options: it is on the command line */
    struct tr_log_file *log; /* where the error of a failed command is written too; NULL: none */
};

struct command {
    const char *name;
    const char *summary;         /* one line, no full stop */
    const struct command *kinds; /* NULL, or the commands below this one; name NULL ends */
    const char *operands;        /* "RAW", "" : as the synopsis shows them */
    int operands_min;
    int operands_max;
    const struct option_spec *options; /* name NULL ends */
    size_t values_size;                /* of the struct that the offsets of options mean */
    const char *const *examples;       /* NULL ends */
    int (*run)(const struct invocation *invocation, const void *values);
    const char *program; /* that runs it; NULL: this one, by run */
};

/* The program of commands that use what stands behind the public API (cli/tools/). */
#define TOOLS_PROGRAM "troupe-tools"

extern const struct command command_import;
extern const struct command command_generate;
extern const struct command command_split;
extern const struct command command_feature;
extern const struct command command_partition;
extern const struct command command_verify;
extern const struct command command_inspect;
extern const struct command command_bench;
extern const struct command command_train;
extern const struct command command_infer;
extern const struct command command_report;
extern const struct command command_cluster;
extern const struct command command_launch;
extern const struct command command_attach;
extern const struct command command_serve;
extern const struct command command_sample;
extern const struct command command_status;
extern const struct command command_top;
extern const struct command command_exec_wrapper;
extern const struct command command_simulate;
extern const struct command command_completion;

/* The commands of `troupe`, in the order of a first session; NULL ends. */
const struct command *const *command_list(void);

#endif

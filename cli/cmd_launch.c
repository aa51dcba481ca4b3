/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe launch`: starts every process of a cluster file, on this host or on others, shows what
 * they print, starts again what dies, and stops everything at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/launch/launch.h"
#include "cli/lib/inside.h"

static const struct option_spec OPTIONS[] = {
    { .name = "run",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct launch_values, run),
      .metavar = "DIR",
      .help = "folder of the run, for the trainers" },
    { .name = "graph",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct launch_values, graph),
      .metavar = "NAME.json",
      .help = "the partitioned graph, where the cluster file names none" },
    { .name = "exec",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct launch_values, exec),
      .metavar = "COMMAND",
      .help = "a training program of your own in the place of train" },
    { .name = "launcher",
      .kind = OPTION_CHOICE,
      .offset = offsetof(struct launch_values, launcher),
      .choices = "file|local|ssh|srun",
      .fallback = "file",
      .help = "how processes are started; file: as the cluster file says" },
    { .name = "master-port",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct launch_values, master_port),
      .metavar = "PORT",
      .fallback = "29500",
      .min = 1,
      .max = 65535,
      .help = "MASTER_PORT for torch.distributed" },
    { .name = "no-copy",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct launch_values, no_copy),
      .help = "copy nothing to the hosts: it is there" },
    { .name = "dry-run",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct launch_values, dry_run),
      .help = "print the commands, start nothing" },
    OPTION_ROW_JSON(struct launch_values),
    OPTION_ROW_QUIET(struct launch_values),
    OPTION_ROW_END,
};

static const char *const EXAMPLES[] = {
    "troupe launch cluster.json --run runs/a -- --model sage --fanout 10,25 --epochs 10",
    "troupe launch cluster.json --exec \"python3 train.py\" -- --lr 0.01",
    "troupe launch cluster.json --dry-run",
    NULL,
};

static int print_command(const struct launch_plan *plan, uint32_t process, struct error *error)
{
    struct argv_builder words = { 0 }, environment = { 0 }, line = { 0 };
    char prefix[LAUNCH_PREFIX_MAX];
    int rv = launch_process_words(plan, process, 0, false, &words, &environment, error);
    if (rv == 0 && environment.count > 0) {
        argv_builder_add(&line, "env");
        argv_builder_add_all(&line, &environment);
    }
    argv_builder_add_all(&line, &words);
    char *text = argv_builder_failed(&line) ? NULL : argv_builder_quote(&line);
    launch_prefix(plan, process, prefix);
    if (rv == 0 && text == NULL)
        rv = error_set(error, TR_ENOMEM, "no memory to print a command");
    if (rv == 0)
        printf("%s %s\n", prefix, text);
    free(text);
    argv_builder_fini(&words);
    argv_builder_fini(&environment);
    argv_builder_fini(&line);
    return rv;
}

static int print_commands(const struct launch_plan *plan, struct error *error)
{
    int rv = 0;
    for (uint32_t p = 0; rv == 0 && p < plan->plan.plan.num_processes; p++)
        rv = print_command(plan, p, error);
    return rv;
}

static int run(const struct invocation *invocation, const void *values)
{
    struct launch_plan plan;
    struct error error = { 0 };
    int rv = launch_plan_init(&plan, invocation, values, &error);
    bool usage = rv == TR_EINVAL;
    if (rv == 0 && plan.values->dry_run) {
        rv = print_commands(&plan, &error);
    } else if (rv == 0) {
        rv = launch_copy(&plan, &error);
        if (rv == 0)
            rv = launch_check_shared(&plan, &error);
        if (rv == 0 && plan.key.path != NULL && !plan.values->quiet && !plan.values->json)
            fprintf(stderr,
                    "troupe launch: status and top are let in with " JOB_KEY_VARIABLE "=%s\n",
                    plan.key.path);
        if (rv == 0)
            rv = launch_run(&plan, &error);
    }
    launch_plan_fini(&plan);
    if (rv == 0)
        return EXIT_DONE;
    return usage ? fail_usage_inside(invocation, &error) : fail_inside(invocation, &error);
}

const struct command command_launch = {
    .name = "launch",
    .summary = "Start a job on the hosts of a cluster file, and keep it running",
    .operands = "CLUSTER [-- OPTION ...]",
    .operands_min = 1,
    .operands_max = ARGV_WORDS_MAX,
    .options = OPTIONS,
    .values_size = sizeof(struct launch_values),
    .examples = EXAMPLES,
    .run = run,
};

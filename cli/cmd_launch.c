/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe launch`: starts every process of a cluster file, on this host or on others, shows what
 * they print, starts again what dies, and stops everything at the end.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <troupe/launch.h>

#include "cli/launch/detached.h"
#include "cli/launch/job_mark.h"
#include "cli/launch/launch_page.h"
#include "cli/launch/launch_show.h"
#include "cli/lib/command.h"
#include "cli/lib/command_log.h"
#include "cli/lib/fail.h"
#include "cli/lib/self_pipe.h"

/* How observers are let in, as troupe-status(1) says. */
#define JOB_KEY_VARIABLE "TROUPE_SHARED_KEY"

struct launch_values {
    const char *run;
    const char *graph;
    const char *exec;
    int launcher; /* enum tr_launcher */
    uint64_t master_port;
    bool no_copy;
    bool dry_run;
    struct command_log_values log;
    bool detach;
    bool json;
    bool quiet;
};

/* The job as this command runs it. */
struct launching {
    const struct launch_values *values;
    struct tr_log_file *log; /* NULL: none */
    struct job_mark mark;
    struct detached detached;
    bool *ready; /* [num_processes]: it was, with --detach */
    uint32_t num_processes, num_ready;
};

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
      .help = "start this program as each trainer, in place of troupe train" },
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
      .help = "copy nothing to the hosts, which have the files already" },
    { .name = "dry-run",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct launch_values, dry_run),
      .help = "print the commands, start nothing" },
    COMMAND_LOG_OPTION_ROWS(struct launch_values, log, "the job says"),
    { .name = "detach",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct launch_values, detach),
      .help = "with --log: return when all processes are ready; see troupe attach" },
    OPTION_ROW_JSON(struct launch_values),
    OPTION_ROW_QUIET(struct launch_values),
    OPTION_ROW_END,
};

static const char *const EXAMPLES[] = {
    "troupe launch cluster.json --run runs/a -- --model sage --fanout 10,25 --epochs 10",
    "troupe launch cluster.json -- python3 train.py --lr 0.01",
    "troupe launch cluster.json --dry-run",
    "troupe launch cluster.json --run runs/a --log a.log --detach -- --epochs 10",
    NULL,
};

/* The program that runs, so that processes here and there are of one version. */
static int find_program(char program[PATH_MAX], struct tr_error *error)
{
    ssize_t length = readlink("/proc/self/exe", program, PATH_MAX - 1);
    if (length < 0)
        return tr_error_set(error, TR_EIO, "/proc/self/exe: cannot find the program to start: %s",
                            strerror(errno));
    program[length] = '\0';
    return 0;
}

/* Whether the words behind the cluster file are a program that trains: options of troupe train all
 * begin with a dash. */
static bool names_program(const struct invocation *invocation)
{
    return invocation->num_operands > 1 && invocation->operands[1][0] != '-';
}

/* A word as a shell reads it back, whatever it holds. */
static char *quote_word(const char *word)
{
    char *quoted = malloc(4 * strlen(word) + 3), *at = quoted;
    if (quoted == NULL)
        return NULL;
    *at++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            memcpy(at, "'\\''", 4);
            at += 4;
        } else {
            *at++ = *word;
        }
    }
    *at++ = '\'';
    *at = '\0';
    return quoted;
}

static int open_launch(const struct invocation *invocation, const struct launch_values *values,
                       struct tr_launch **launch, struct tr_error *error)
{
    struct tr_launch_options options = TR_LAUNCH_OPTIONS_INIT;
    char program[PATH_MAX];
    int rv = find_program(program, error);
    if (rv != 0)
        return rv;
    options.cluster = invocation->operands[0];
    options.graph = values->graph;
    options.program = program;
    options.run = values->run;
    options.exec = values->exec;
    options.arguments = (const char *const *)(invocation->operands + 1);
    options.num_arguments = (size_t)invocation->num_operands - 1;
    options.launcher = (enum tr_launcher)values->launcher;
    options.master_port = (uint32_t)values->master_port;
    options.no_copy = values->no_copy;
    options.keep_lines = true;
    if (values->exec != NULL || !names_program(invocation))
        return tr_launch_open(&options, launch, error);
    char *quoted = quote_word(options.arguments[0]);
    if (quoted == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for the arguments");
    options.exec = quoted;
    options.arguments++;
    options.num_arguments--;
    rv = tr_launch_open(&options, launch, error);
    free(quoted);
    return rv;
}

static int print_command(const struct tr_launch *launch, uint32_t process, struct tr_error *error)
{
    size_t needed = 0;
    int rv = tr_launch_command(launch, process, NULL, 0, &needed, error);
    char *text = rv == 0 ? malloc(needed) : NULL;
    if (rv == 0 && text == NULL)
        rv = tr_error_set(error, TR_ENOMEM, "no memory to print a command");
    if (rv == 0)
        rv = tr_launch_command(launch, process, text, needed, NULL, error);
    if (rv == 0)
        puts(text);
    free(text);
    return rv;
}

static int print_commands(const struct tr_launch *launch, const struct tr_launch_info *info,
                          struct tr_error *error)
{
    int rv = 0;
    for (uint32_t p = 0; rv == 0 && p < info->num_processes; p++) {
        char prefix[TR_LAUNCH_PREFIX_MAX];
        rv = tr_launch_prefix(launch, p, prefix, error);
        if (rv == 0) {
            printf("%s ", prefix);
            rv = print_command(launch, p, error);
        }
    }
    return rv;
}

static void take_signals(struct self_pipe *signals, struct tr_task *task, struct tr_log_file *log)
{
    struct self_pipe_seen seen;
    self_pipe_take(signals, &seen);
    /* A job with a log outlives its terminal: its log was rotated. */
    if (log == NULL)
        seen.stops += seen.hangups;
    else if (seen.hangups > 0)
        (void)tr_log_file_reopen(log, NULL);
    for (; seen.stops > 0; seen.stops--)
        tr_launch_stop(task, seen.interrupted);
}

/* A job is up when each of its processes has said that it is ready. */
static void count_ready(struct launching *launching, const struct tr_launch_event *event)
{
    static const char ready[] = "troupe: ready";
    if (launching->ready == NULL || event->kind != TR_LAUNCH_LINE || event->stream != 1 ||
        strncmp(event->text, ready, sizeof ready - 1) != 0 ||
        event->process >= launching->num_processes || launching->ready[event->process])
        return;
    launching->ready[event->process] = true;
    if (++launching->num_ready == launching->num_processes)
        detach_up(&launching->detached);
}

/* Shows events until there are no more. */
static int follow_launch(struct tr_task *task, struct self_pipe *signals,
                         const struct launch_show *show, struct launching *launching,
                         struct tr_error *error)
{
    struct pollfd polled[] = { { .fd = signals->pipe[0], .events = POLLIN },
                               { .fd = tr_launch_descriptor(task), .events = POLLIN } };
    for (;;) {
        struct tr_launch_event event = TR_LAUNCH_EVENT_INIT;
        /* Signals come first in each turn: events may come without a pause, and poll() is
         * reached in pauses alone. */
        take_signals(signals, task, launching->log);
        int rv = tr_launch_next(task, 0, &event, error);
        if (rv == 0) {
            launch_show_event(show, &event);
            count_ready(launching, &event);
        } else if (rv != TR_ETIMEDOUT) {
            return rv == TR_EEND ? tr_task_wait(task, TR_WAIT_FOREVER, error) : rv;
        } else {
            poll(polled, 2, -1);
        }
    }
}

static int run_job(struct tr_launch *launch, const struct tr_launch_info *info,
                   struct launching *launching, struct tr_error *error)
{
    const struct launch_values *values = launching->values;
    struct launch_show show;
    struct launch_page page;
    struct self_pipe signals;
    struct tr_task *task;
    launch_show_init(&show, values->json, values->quiet);
    show.log = launching->log;
    if (info->shared_key != NULL && !values->quiet && !values->json)
        fprintf(stderr, "troupe launch: for troupe status and top set " JOB_KEY_VARIABLE "=%s\n",
                info->shared_key);
    /* Signals are caught from before the first process starts until all have ended, which
     * closing the task waits for: one that was not caught would end this process and leave them
     * behind. What nohup(1) ignored says that the log was rotated. */
    int rv = self_pipe_start(&signals, show.log != NULL, error);
    if (rv != 0)
        return rv;
    /* The page is there before the first process, and ends after the last. */
    launch_page_open(&page, info, values->log.path);
    rv = tr_launch_start(launch, &task, error);
    if (rv == 0)
        rv = follow_launch(task, &signals, &show, launching, error);
    tr_task_close(task);
    launch_page_close(&page);
    self_pipe_stop(&signals);
    return rv;
}

static int prepare_ready(struct launching *launching, const struct tr_launch_info *info,
                         struct tr_error *error)
{
    launching->num_processes = info->num_processes;
    launching->ready = launching->values->detach
                           ? calloc(info->num_processes, sizeof *launching->ready)
                           : NULL;
    return launching->values->detach && launching->ready == NULL
               ? tr_error_set(error, TR_ENOMEM, "no memory to launch")
               : 0;
}

/* Returns what the command exits with. */
static int run_launch(const struct invocation *invocation, struct launching *launching,
                      struct tr_error *error)
{
    const struct launch_values *values = launching->values;
    struct tr_launch *launch;
    struct tr_launch_info info = TR_LAUNCH_INFO_INIT;
    int rv = open_launch(invocation, values, &launch, error);
    if (rv != 0)
        return rv == TR_EINVAL ? fail_usage(invocation, error) : fail(invocation, error);
    rv = tr_launch_info(launch, &info, error);
    if (rv == 0)
        rv = job_mark_name_run(&launching->mark, invocation->operands[0], info.run, error);
    if (rv == 0)
        rv = prepare_ready(launching, &info, error);
    if (rv == 0)
        rv = values->dry_run ? print_commands(launch, &info, error)
                             : run_job(launch, &info, launching, error);
    free(launching->ready);
    tr_launch_close(launch);
    if (rv == 0)
        return EXIT_DONE;
    /* A process has said what is wrong with what it was started with. */
    return fail(invocation, error) == EXIT_FAILED && rv == TR_EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

/* The end of the job is the last line of its log, and stands there before its mark says so. */
static void log_end(const struct launching *launching, int code, const struct tr_error *error)
{
    const char *text = code == EXIT_DONE ? "the job is complete" : error->message;
    command_log_say(launching->log, code == EXIT_DONE ? TR_LOG_INFO : TR_LOG_ERROR, "", text);
}

static int run_logged(const struct invocation *invocation, struct launching *launching)
{
    const struct launch_values *values = launching->values;
    struct tr_error error = TR_ERROR_INIT;
    /* The job goes on when the process that waits for it to be up is gone, and when the reader of a
     * log that is a pipe is. A hangup, where it is caught, only has the log opened again. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    int rv = job_mark_take(&launching->mark, values->log.path, invocation->operands[0], &error);
    if (rv == 0)
        rv = command_log_open(&launching->log, &values->log, &error);
    int code = rv == 0 ? run_launch(invocation, launching, &error) : fail(invocation, &error);
    if (rv == 0)
        log_end(launching, code, &error);
    tr_log_file_close(launching->log);
    job_mark_release(&launching->mark, code);
    return code;
}

/* In the process that began, once the job is up or has ended. */
static int end_detached(const struct invocation *invocation, const struct launch_values *values,
                        int code, const struct tr_error *error)
{
    if (code < 0)
        return fail(invocation, error);
    if (code == EXIT_DONE && !values->quiet)
        printf("the job runs; watch it: troupe attach %s; stop it: troupe attach --stop %s\n",
               values->log.path, values->log.path);
    return code;
}

static int cmd_launch_run(const struct invocation *invocation, const void *values)
{
    struct launching launching = { .values = values, .detached = { .fd = -1 } };
    const struct launch_values *v = values;
    struct tr_error error = TR_ERROR_INIT;
    int code;
    if (v->detach && v->log.path == NULL) {
        (void)tr_error_set(&error, TR_EINVAL,
                           "--detach: give --log FILE, where the job says what it does");
        return fail_usage(invocation, &error);
    }
    if (v->log.path == NULL || v->dry_run)
        return run_launch(invocation, &launching, &error);
    if (v->detach && !detach_begin(&launching.detached, &code, &error))
        return end_detached(invocation, v, code, &error);
    return run_logged(invocation, &launching);
}

const struct command command_launch = {
    .name = "launch",
    .summary = "Start a job on the hosts of a cluster file, and keep it running",
    .operands = "CLUSTER [-- OPTION ... | PROGRAM ...]",
    .operands_min = 1,
    .operands_max = TR_LAUNCH_WORDS_MAX,
    .options = OPTIONS,
    .values_size = sizeof(struct launch_values),
    .examples = EXAMPLES,
    .run = cmd_launch_run,
};

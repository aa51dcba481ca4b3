/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe serve` and `troupe sample`: a process of a cluster without trainers.
 *
 * Both are the same life: the cluster file says what the process plays. Two names, because that is
 * how people think of the hosts of a job, and so that a mistake is noticed at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/checkpoint.h>
#include <troupe/graph.h>
#include <troupe/process.h>

#include "cli/launch/job_process.h"
#include "cli/lib/command.h"
#include "cli/lib/command_log.h"
#include "cli/lib/fail.h"
#include "cli/lib/log_printer.h"

/* How often the flag of signals is polled: shorter than anyone notices. */
#define LOOK_NS 100000000

#define PATH_BYTES 4096

struct serve_values {
    struct process_values process;
    struct command_log_values log;
    bool map;
    bool replace;
    bool verify;
    bool verbose;
};

struct serving {
    const struct serve_values *values;
    const char *name; /* of the command */
    struct log_printer printer;
    struct process process;
    struct interrupter interrupter;
    struct tr_session *session;
    struct tr_graph *graph;
};

static const struct option_spec OPTIONS[] = {
    PROCESS_OPTION_ROWS(struct serve_values, process),
    COMMAND_LOG_OPTION_ROWS(struct serve_values, log, "the process says"),
    { .name = "map",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct serve_values, map),
      .help = "serve from mapped files instead of memory" },
    OPTION_ROW_VERIFY(struct serve_values),
    { .name = "replace",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct serve_values, replace),
      .help = "remove the checkpoints of an earlier run that this host keeps" },
    { .name = "verbose",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct serve_values, verbose),
      .help = "log what happens, not only what fails" },
    OPTION_ROW_END,
};

static int open_graph(struct serving *serving, struct tr_error *error)
{
    struct tr_session_options options;
    tr_session_options_init(&options);
    process_session(&serving->process, &options);
    options.map_files = serving->values->map;
    options.verify_files = serving->values->verify;
    options.log = serving->printer.log;
    int rv = tr_session_open(&options, &serving->session, error);
    /* The session is attached before the graph is opened, which may wait for the whole job: a
     * signal, and a launcher that goes, end that too. */
    if (rv == 0) {
        process_attach(&serving->process, serving->session);
        interrupter_watch(&serving->interrupter, serving->session);
    }
    if (rv == 0)
        rv = tr_graph_open(serving->session, serving->process.info.graph, TR_WAIT_FOREVER,
                           &serving->graph, error);
    return rv;
}

/* Until the job has ended, or somebody says so. */
static int wait_for_end(struct serving *serving, struct tr_error *error)
{
    int rv = TR_ETIMEDOUT;
    while (rv == TR_ETIMEDOUT && !process_cancelled(&serving->process))
        rv = tr_graph_wait_end(serving->graph, LOOK_NS, error);
    /* The job's own end counts before all else, though a signal may have come as well; a failure
     * that no signal explains is reported as it is. */
    if (rv == 0)
        return 0;
    if (!process_cancelled(&serving->process))
        return rv;
    /* A process that was started alone was asked to stop; a launcher counts an end that it did not
     * ask for as a failure. */
    if (tr_process_is_launched())
        return tr_error_set(error, TR_ECANCELED, "stopped before the job was done");
    return 0;
}

/* Where hosts have a folder of checkpoints each, trainers remove those of a run that is replaced on
 * their own hosts. A host without trainers keeps copies, and the next run would go back to them. */
static int forget_run(const struct serving *serving, struct tr_error *error)
{
    const struct process *process = &serving->process;
    const char *given = process->info.checkpoints;
    if (!serving->values->replace || tr_process_is_restarted() || given == NULL ||
        strstr(given, "%h") == NULL || !process->info.first_of_host ||
        process->info.beside_trainers)
        return 0;
    char folder[PATH_BYTES];
    int rv = tr_checkpoints_folder(given, process->info.host_name, folder, sizeof folder, error);
    return rv == 0 ? tr_checkpoints_remove(folder, 0, error) : rv;
}

static int cmd_serve_serve(const struct invocation *invocation, const void *opaque, uint32_t role)
{
    const struct serve_values *values = opaque;
    struct serving serving = { .values = values, .name = invocation->name };
    const char *graph = invocation->num_operands > 0 ? invocation->operands[0] : NULL;
    struct tr_error error = TR_ERROR_INIT;
    int rv = process_find(&serving.process, &values->process, graph, role, invocation->log, &error);
    if (rv != 0) {
        process_fini(&serving.process);
        return rv == TR_EINVAL || rv == TR_ERANGE ? fail_usage(invocation, &error)
                                                  : fail(invocation, &error);
    }
    /* Warnings say which peer is refused and why, at both ends. */
    rv = log_printer_start(&serving.printer, serving.name,
                           values->verbose ? TR_LOG_INFO : TR_LOG_WARN, invocation->log, &error);
    if (rv != 0) {
        process_fini(&serving.process);
        return fail(invocation, &error);
    }
    interrupter_init(&serving.interrupter);
    serving.process.interrupter = &serving.interrupter;
    rv = process_begin(&serving.process, false, &error);
    if (rv == 0) {
        rv = forget_run(&serving, &error); /* before its store lives */
        if (rv == 0)
            rv = open_graph(&serving, &error);
        if (rv == 0)
            rv = process_ready(&serving.process, serving.session, serving.graph, &error);
        if (rv == 0)
            rv = wait_for_end(&serving, &error);
        tr_graph_close(serving.graph);
        /* Signals and the launcher's end let go of the session before it is closed. */
        serving.process.session = NULL;
        interrupter_watch(&serving.interrupter, NULL);
        process_attach(&serving.process, NULL);
        signals_stop(&serving.process.signals); /* one that comes late must not end it in between */
        tr_session_close(serving.session);
    }
    interrupter_fini(&serving.interrupter);
    log_printer_stop(&serving.printer);
    /* The process is closed last: until then, one that hangs in what stands above is ended when
     * its launcher has gone. */
    process_fini(&serving.process);
    return rv == 0 ? EXIT_DONE : process_fail(invocation, &serving.process, &error);
}

static int serve_logged(const struct invocation *invocation, const void *values)
{
    return cmd_serve_serve(invocation, values, TR_ROLE_SERVER);
}

static int sample_logged(const struct invocation *invocation, const void *values)
{
    return cmd_serve_serve(invocation, values, TR_ROLE_SAMPLER);
}

static int run_serve(const struct invocation *invocation, const void *opaque)
{
    const struct serve_values *values = opaque;
    return command_log_run(invocation, &values->log, serve_logged, values);
}

static int run_sample(const struct invocation *invocation, const void *opaque)
{
    const struct serve_values *values = opaque;
    return command_log_run(invocation, &values->log, sample_logged, values);
}

static const char *const SERVE_EXAMPLES[] = {
    "troupe serve --cluster cluster.json --host a",
    "troupe serve g/toy.json --cluster cluster.json --process 2 --metrics 9464",
    "troupe serve --cluster cluster.json --host a --log /var/log/troupe/serve.log",
    NULL,
};

static const char *const SAMPLE_EXAMPLES[] = {
    "troupe sample --cluster cluster.json --host b --index 1",
    NULL,
};

const struct command command_serve = {
    .name = "serve",
    .summary = "Serve partitions to the other processes of a cluster",
    .operands = "[NAME.json]",
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = sizeof(struct serve_values),
    .examples = SERVE_EXAMPLES,
    .run = run_serve,
};

const struct command command_sample = {
    .name = "sample",
    .summary = "Draw mini-batches for the trainers of a cluster",
    .operands = "[NAME.json]",
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = sizeof(struct serve_values),
    .examples = SAMPLE_EXAMPLES,
    .run = run_sample,
};

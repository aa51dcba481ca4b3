/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/launch/job_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lib/command_log.h"

/* For the key, which a launcher writes before the process begins: one that takes longer hangs. */
#define KEY_NS INT64_C(60000000000)

static const char *name_role(uint32_t role)
{
    if (role == TR_ROLE_TRAINER)
        return "trainer";
    return role == TR_ROLE_SAMPLER ? "sampler" : "server";
}

/* What a process is started with is wrong: its port is another's, its address is not of this
 * machine, its key is missing. One that is started again had all that once, so it may pass. */
static bool is_setup(const struct process *process, int code)
{
    return !process->ready && !tr_process_is_restarted() &&
           (code == TR_EINVAL || code == TR_EEXIST || code == TR_EPERM);
}

int process_fail(const struct invocation *invocation, const struct process *process,
                 const struct tr_error *error)
{
    int code = fail(invocation, error);
    return error->code == TR_EMISMATCH || is_setup(process, error->code) ? EXIT_USAGE : code;
}

bool process_in_cluster(const struct process_values *values)
{
    return values->cluster != NULL || getenv("TROUPE_CLUSTER") != NULL;
}

static int read_number(const char *option, const char *text, uint32_t *number,
                       struct tr_error *error)
{
    char *end;
    *number = TR_PROCESS_UNSAID;
    if (text == NULL)
        return 0;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value >= TR_PROCESS_UNSAID)
        return tr_error_set(error, TR_EINVAL, "--%s %s: give a number from 0 on", option, text);
    *number = (uint32_t)value;
    return 0;
}

/* A launcher passes the same words to all trainers, so their port is that of process 0. */
static int name_metrics(struct process *process, struct tr_error *error)
{
    const char *address = process->values->metrics;
    if (address == NULL)
        return 0;
    const char *colon = strrchr(address, ':');
    const char *port = colon != NULL ? colon + 1 : address;
    char *end;
    unsigned long number = strtoul(port, &end, 10);
    /* What is no port is for the library to refuse; 0 is any. */
    bool moved = *port >= '0' && *port <= '9' && *end == '\0' && number > 0 &&
                 number <= UINT16_MAX && process->info.launched;
    int head = (int)(port - address);
    int used = moved ? snprintf(process->metrics_text, sizeof process->metrics_text, "%.*s%lu",
                                head, address, number + process->info.process)
                     : snprintf(process->metrics_text, sizeof process->metrics_text, "%s", address);
    if (used < 0 || (size_t)used >= sizeof process->metrics_text)
        return tr_error_set(error, TR_EINVAL, "--metrics: the address is too long");
    process->metrics = process->metrics_text;
    return 0;
}

int process_find(struct process *process, const struct process_values *values, const char *graph,
                 uint32_t role, struct tr_log_file *log, struct tr_error *error)
{
    *process = (struct process){ .values = values, .log = log };
    struct tr_process_options options;
    const struct tr_process_info unknown = TR_PROCESS_INFO_INIT;
    tr_process_options_init(&options);
    process->info = unknown;
    options.cluster = values->cluster;
    options.graph = graph;
    options.role = role;
    options.host = values->host;
    int rv = read_number("process", values->process, &options.process, error);
    if (rv == 0)
        rv = read_number("index", values->index, &options.index, error);
    if (rv == 0)
        rv = tr_process_open(&options, KEY_NS, &process->own, error);
    if (rv == 0)
        rv = tr_process_info(process->own, &process->info, error);
    if (rv == 0 && log != NULL)
        (void)tr_log_file_set_process(log, process->info.host_name, name_role(role),
                                      process->info.process, NULL);
    return rv == 0 ? name_metrics(process, error) : rv;
}

void process_fini(struct process *process)
{
    tr_process_close(process->own);
    process->own = NULL;
}

void process_session(const struct process *process, struct tr_session_options *options)
{
    tr_process_session(process->own, options, NULL);
}

bool process_is_orphaned(const struct process *process)
{
    return tr_process_is_orphaned(process->own);
}

bool process_cancelled(const struct process *process)
{
    /* Relaxed: the flag carries no other data. */
    return process_is_orphaned(process) ||
           atomic_load_explicit(&process->signals.cancelled, memory_order_relaxed);
}

static void dump(void *arg)
{
    struct process *process = arg;
    if (process->session != NULL)
        (void)tr_session_dump(process->session, NULL);
}

static void interrupt(void *arg)
{
    struct process *process = arg;
    if (process->interrupter != NULL)
        interrupter_fire(process->interrupter);
}

int process_begin(struct process *process, bool own_signals, struct tr_error *error)
{
    /* The signals start last: where this fails none are to be given back. */
    int rv = tr_process_watch(process->own, error);
    if (rv == 0 && !own_signals)
        rv = signals_start(&process->signals, interrupt, dump, process, process->log, error);
    return rv;
}

void process_attach(struct process *process, struct tr_session *session)
{
    tr_process_attach(process->own, session, NULL);
}

void process_warn_metrics(struct tr_log_file *log, const char *address, const char *reason)
{
    char text[TR_ERROR_MESSAGE_MAX + TR_ADDRESS_TEXT_MAX];
    snprintf(text, sizeof text, "--metrics %s: %s; the process goes on without", address, reason);
    command_log_say(log, TR_LOG_WARN, "troupe", text);
}

/* Serves OpenMetrics of the graph's node as --metrics has it, for as long as the graph is open. */
static int serve_metrics(const struct process *process, struct tr_graph *graph,
                         struct tr_error *error)
{
    char at[TR_ADDRESS_TEXT_MAX];
    struct tr_error refused = TR_ERROR_INIT;
    if (process->metrics == NULL)
        return 0;
    int rv = tr_graph_serve_metrics(graph, process->metrics, TR_WAIT_FOREVER, at, sizeof at,
                                    &refused);
    if (rv == 0)
        printf("troupe: metrics %s\n", at);
    if (rv == TR_EINVAL)
        return tr_error_set(error, rv, "--metrics: %s", refused.message);
    /* A port that the last life of this process still holds must not end this one. */
    if (rv != 0)
        process_warn_metrics(process->log, process->metrics, refused.message);
    return 0;
}

int process_ready(struct process *process, struct tr_session *session, struct tr_graph *graph,
                  struct tr_error *error)
{
    /* The session is noted first, so that a dump can be asked for while the metrics are opened;
     * the process is ready last, since they may still be refused. */
    process->session = session;
    int rv = serve_metrics(process, graph, error);
    process->ready = rv == 0;
    return rv == 0 ? tr_process_say_ready(process->own, TR_PROCESS_SAY_NS, error) : rv;
}

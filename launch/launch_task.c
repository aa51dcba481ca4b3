/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public handle of a launch, and the task that runs it.
 *
 * Invariants: a job lives as long as its task, which is closed before the launch; stops are counted
 * before the wake is written, so that the task's thread, which clears the wake first and reads the
 * count then, misses none.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api/public_error.h"
#include "api/schema.h"
#include "api/sized.h"
#include "api/task_run.h"
#include "launch/launch_plan.h"
#include "runtime/base/fork_mark.h"

struct tr_launch {
    struct fork_mark *mark;
    struct launch_plan plan;
    atomic_bool started;
};

static int launch_task_mine(const struct tr_launch *launch, struct tr_error *error)
{
    return fork_mark_is_child(launch->mark) ? error_forked(error, "the launch") : 0;
}

/* False: no memory. */
static bool launch_task_copy(char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from == NULL || *to != NULL;
}

static int read_request(const struct tr_launch_options *options, struct launch_request *request,
                        struct error *error)
{
    *request = (struct launch_request){
        .launcher = options->launcher,
        .master_port = options->master_port != 0 ? options->master_port : TR_LAUNCH_MASTER_PORT,
        .no_copy = options->no_copy,
        .keep_lines = options->keep_lines,
    };
    if (options->cluster == NULL)
        return error_set(error, TR_EINVAL, "cluster: the cluster file is not named");
    if (options->launcher > TR_LAUNCHER_SRUN)
        return error_set(error, TR_EINVAL,
                         "launcher: there is no launcher %u; they are numbered below %u",
                         (unsigned)options->launcher, TR_LAUNCHER_SRUN + 1u);
    if (request->master_port > UINT16_MAX)
        return error_set(error, TR_ERANGE, "master_port: %u; 1 to %u are possible",
                         request->master_port, UINT16_MAX);
    if (options->num_arguments > 0 && options->arguments == NULL)
        return error_set(error, TR_EINVAL, "arguments: they are NULL");
    for (size_t i = 0; i < options->num_arguments; i++) {
        if (options->arguments[i] == NULL)
            return error_set(error, TR_EINVAL, "arguments[%zu]: it is NULL", i);
        argv_builder_add(&request->arguments, options->arguments[i]);
    }
    if (argv_builder_failed(&request->arguments) ||
        !launch_task_copy(&request->cluster, options->cluster) ||
        !launch_task_copy(&request->graph, options->graph) ||
        !launch_task_copy(&request->run, options->run) ||
        !launch_task_copy(&request->exec, options->exec) ||
        !launch_task_copy(&request->program, options->program))
        return error_set(error, TR_ENOMEM, "no memory to launch, or more than %d arguments",
                         TR_LAUNCH_WORDS_MAX);
    return 0;
}

static void launch_task_destroy(struct tr_launch *launch)
{
    launch_plan_fini(&launch->plan);
    fork_mark_destroy(launch->mark);
    free(launch);
}

int tr_launch_open(const struct tr_launch_options *caller, struct tr_launch **out,
                   struct tr_error *error)
{
    struct tr_launch_options options = TR_LAUNCH_OPTIONS_INIT;
    struct launch_request request = { 0 };
    struct error inner = { 0 };
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_launch_options", error);
    if (rv != 0)
        return rv;
    struct tr_launch *launch = calloc(1, sizeof *launch);
    if (launch == NULL || (launch->mark = fork_mark_create()) == NULL) {
        free(launch);
        return tr_error_set(error, TR_ENOMEM, "no memory to launch");
    }
    atomic_init(&launch->started, false);
    rv = read_request(&options, &request, &inner);
    if (rv == 0)
        rv = launch_plan_init(&launch->plan, &request, &inner);
    else
        launch->plan.request = request; /* so that it is freed */
    if (rv != 0) {
        launch_task_destroy(launch);
        return error_give(&inner, error);
    }
    *out = launch;
    return 0;
}

void tr_launch_close(struct tr_launch *launch)
{
    if (launch != NULL && !fork_mark_is_child(launch->mark))
        launch_task_destroy(launch);
}

int tr_launch_info(const struct tr_launch *launch, struct tr_launch_info *info,
                   struct tr_error *error)
{
    int rv = launch_task_mine(launch, error);
    if (rv != 0)
        return rv;
    const struct tr_launch_info known = { .name = launch->plan.cluster.name,
                                          .cluster = launch->plan.cluster_path,
                                          .graph = launch->plan.graph_path,
                                          .shared_key = launch->plan.key.path,
                                          .num_processes = launch->plan.plan.plan.num_processes,
                                          .page_port = launch->plan.cluster.page_port,
                                          .run = launch->plan.run_here };
    return sized_write(info, &known, sizeof known, "tr_launch_info", error);
}

int tr_launch_prefix(const struct tr_launch *launch, uint32_t process,
                     char prefix[TR_LAUNCH_PREFIX_MAX], struct tr_error *error)
{
    int rv = launch_task_mine(launch, error);
    if (rv != 0)
        return rv;
    if (process >= launch->plan.plan.plan.num_processes)
        return schema_refuse("process", process, launch->plan.plan.plan.num_processes, error);
    launch_prefix(&launch->plan, process, prefix);
    return 0;
}

/* As launched for the first time; an incarnation is counted from the clock when it is. */
static int make_line(const struct launch_plan *plan, uint32_t process, char **text,
                     struct error *error)
{
    struct argv_builder words = { 0 }, environment = { 0 }, line = { 0 };
    int rv = launch_process_words(plan, process, 0, 0, &words, &environment, error);
    if (rv == 0 && environment.count > 0) {
        argv_builder_add(&line, "env");
        argv_builder_add_all(&line, &environment);
    }
    argv_builder_add_all(&line, &words);
    *text = argv_builder_failed(&line) ? NULL : argv_builder_quote(&line);
    if (rv == 0 && *text == NULL)
        rv = error_set(error, TR_ENOMEM, "no memory for a command");
    argv_builder_fini(&words);
    argv_builder_fini(&environment);
    argv_builder_fini(&line);
    return rv;
}

int tr_launch_command(const struct tr_launch *launch, uint32_t process, char *text,
                      size_t text_bytes, size_t *needed, struct tr_error *error)
{
    struct error inner = { 0 };
    char *line = NULL;
    int rv = launch_task_mine(launch, error);
    if (rv != 0)
        return rv;
    if (process >= launch->plan.plan.plan.num_processes)
        return schema_refuse("process", process, launch->plan.plan.plan.num_processes, error);
    rv = make_line(&launch->plan, process, &line, &inner);
    if (rv == 0 && text_bytes > 0)
        snprintf(text, text_bytes, "%s", line);
    if (rv == 0 && needed != NULL)
        *needed = strlen(line) + 1;
    free(line);
    return rv == 0 ? 0 : error_give(&inner, error);
}

void launch_say(struct launch_job *job, enum tr_launch_event_kind kind, uint32_t process,
                const char *format, ...)
{
    const struct tr_launch_event event = { .kind = kind, .process = process };
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    launch_events_put(&job->events, &event, text, strlen(text));
}

bool launch_is_stopped(struct launch_job *job)
{
    return atomic_load(&job->stops) > 0 || atomic_load(&job->hurried) > 0;
}

static int launch_task_run(struct tr_task *task, void *arg, struct error *error)
{
    struct launch_job *job = arg;
    job->task = task;
    int rv = launch_copy(job, error);
    if (rv == 0)
        rv = launch_check_shared(job, error);
    if (rv == 0)
        rv = launch_run(job, error);
    /* The events end last, when nothing is left that has something to say. */
    event_queue_end(&job->events.queue);
    return rv;
}

static void launch_task_stop(struct launch_job *job, bool hurried)
{
    const uint64_t one = 1;
    int saved = errno;
    /* The count comes before the wake (above). */
    atomic_fetch_add(hurried ? &job->hurried : &job->stops, 1);
    ssize_t written = write(job->wake, &one, sizeof one);
    (void)written; /* a counter that is full wakes as well */
    errno = saved;
}

static void launch_task_interrupt(void *arg)
{
    launch_task_stop(arg, false);
}

static void launch_task_closing(void *arg)
{
    event_queue_close(&((struct launch_job *)arg)->events.queue);
}

static void destroy_job(void *arg)
{
    struct launch_job *job = arg;
    launch_events_fini(&job->events);
    close(job->wake);
    free(job);
}

static int make_job(const struct tr_launch *launch, struct launch_job **out, struct error *error)
{
    struct launch_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return error_set(error, TR_ENOMEM, "no memory to launch");
    atomic_init(&job->stops, 0);
    atomic_init(&job->hurried, 0);
    job->plan = &launch->plan;
    job->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rv = job->wake >= 0 ? launch_events_init(&job->events, launch->plan.request.keep_lines,
                                                 job->wake, error)
                            : error_set_errno(error, errno, "no descriptor to launch with");
    if (rv != 0) {
        if (job->wake >= 0)
            close(job->wake);
        free(job);
        return rv;
    }
    *out = job;
    return 0;
}

const struct task_work launch_work = { "launch", launch_task_run, launch_task_interrupt,
                                       destroy_job, launch_task_closing };

int tr_launch_start(struct tr_launch *launch, struct tr_task **task, struct tr_error *error)
{
    struct error inner = { 0 };
    struct launch_job *job = NULL;
    *task = NULL;
    int rv = launch_task_mine(launch, error);
    if (rv != 0)
        return rv;
    /* The flag is taken before anything is made, so that of two threads one starts. */
    if (atomic_exchange(&launch->started, true))
        return tr_error_set(error, TR_EEXIST, "this launch was started already; open another");
    rv = make_job(launch, &job, &inner);
    rv = rv == 0 ? task_start(&launch_work, job, task, error) : error_give(&inner, error);
    if (rv != 0) /* nothing runs: it may be tried again */
        atomic_store(&launch->started, false);
    return rv;
}

void tr_launch_stop(struct tr_task *task, bool hurried)
{
    void *job;
    if (task == NULL || tr_task_enter(task, &launch_work, &job, NULL) != 0)
        return;
    launch_task_stop(job, hurried);
    tr_task_leave(task);
}

int tr_launch_descriptor(const struct tr_task *task)
{
    void *job;
    if (tr_task_enter(task, &launch_work, &job, NULL) != 0)
        return -1;
    int descriptor = ((const struct launch_job *)job)->events.queue.descriptor;
    tr_task_leave(task);
    return descriptor;
}

int tr_launch_next(struct tr_task *task, int64_t timeout_ns, struct tr_launch_event *event,
                   struct tr_error *error)
{
    void *arg;
    int rv = tr_task_enter(task, &launch_work, &arg, error);
    if (rv != 0)
        return rv;
    struct launch_job *job = arg;
    rv = launch_events_take(&job->events, timeout_ns, event, error);
    /* The task is left behind the last use of the job: its closing frees that when no thread is
     * inside. */
    tr_task_leave(task);
    if (rv == TR_EEND)
        return tr_error_set(error, rv, "the launch has ended");
    if (rv == TR_ECLOSED)
        return tr_error_set(error, rv, "the launch is being closed");
    if (rv == TR_ETIMEDOUT)
        return tr_error_set(error, rv, "no event came in that time");
    return rv;
}

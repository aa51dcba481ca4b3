/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches the processes of a cluster file, shows what they print and, once a second, where the job
 * is; Ctrl-C stops all of them in order, a second one kills them.
 *
 *     launch_job CLUSTER TROUPE [OPTION ...]    the options are those of `troupe train`
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include <troupe/troupe.h>

#define SECOND INT64_C(1000000000)

static struct tr_task *volatile running;

static void stop(int number)
{
    (void)number;
    if (running != NULL)
        tr_launch_stop(running, true);
}

static void show_event(const struct tr_launch_event *event)
{
    if (event->process == UINT32_MAX)
        printf("launcher: %s\n", event->text);
    else
        printf("%s %" PRIu32 " on %s: %s\n", event->role, event->process, event->host, event->text);
}

static void show_job(struct tr_observer *observer)
{
    struct tr_job_status job = TR_JOB_STATUS_INIT;
    if (tr_observer_job(observer, &job, NULL) == 0 && job.num_up > 0)
        printf("%" PRIu32 " of %" PRIu32 " processes up: epoch %" PRIu32 ", step %" PRIu64 "\n",
               job.num_up, job.num_processes, job.epoch, job.step);
}

/* Until the task has finished. */
static int follow(struct tr_task *task, struct tr_observer *observer, struct tr_error *error)
{
    for (;;) {
        struct tr_launch_event event = TR_LAUNCH_EVENT_INIT;
        int rv = tr_launch_next(task, SECOND, &event, error);
        if (rv == 0)
            show_event(&event);
        else if (rv == TR_ETIMEDOUT)
            show_job(observer);
        else
            return rv == TR_EEND ? tr_task_wait(task, TR_WAIT_FOREVER, error) : rv;
    }
}

static int launch(const struct tr_launch_options *options, struct tr_error *error)
{
    struct tr_observer_options observing = TR_OBSERVER_OPTIONS_INIT;
    struct tr_launch_info info = TR_LAUNCH_INFO_INIT;
    struct tr_observer *observer = NULL;
    struct tr_launch *job = NULL;
    struct tr_task *task = NULL;
    int rv = tr_launch_open(options, &job, error);
    if (rv == 0)
        rv = tr_launch_info(job, &info, error);
    observing.cluster = options->cluster;
    observing.shared_key = info.shared_key;
    if (rv == 0)
        rv = tr_observer_open(&observing, 0, &observer, error);
    if (rv == 0)
        rv = tr_launch_start(job, &task, error);
    if (rv == 0) {
        running = task;
        signal(SIGINT, stop);
        rv = follow(task, observer, error);
        signal(SIGINT, SIG_DFL);
        running = NULL;
    }
    tr_task_close(task);
    tr_observer_close(observer);
    tr_launch_close(job);
    return rv;
}

int main(int argc, char **argv)
{
    struct tr_launch_options options = TR_LAUNCH_OPTIONS_INIT;
    struct tr_error error = TR_ERROR_INIT;
    if (argc < 3) {
        fprintf(stderr, "usage: launch_job CLUSTER TROUPE [OPTION ...]\n");
        return 2;
    }
    options.cluster = argv[1];
    options.program = argv[2];
    options.arguments = (const char *const *)(argv + 3);
    options.num_arguments = (size_t)argc - 3;
    if (launch(&options, &error) != 0) {
        fprintf(stderr, "launch_job: %s\n", error.message);
        return 1;
    }
    return 0;
}

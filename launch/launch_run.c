/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a job while they run: a loop over their pipes and the descriptors that tell of
 * their ends. The next step is decided by actors/cluster/launcher.h, which the simulator plays too.
 *
 * It leaves nothing behind: the loop ends when every process was waited for, each with whatever it
 * had started.
 *
 * Invariants: all events of the job are put by this thread, so what is done to a process stands
 * before its end among them, and its lines do too. The lines that a process printed count before
 * its end: a notice that the job is complete makes an end of it that would otherwise be a failure.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launch/launch_history.h"
#include "launch/launch_plan.h"
#include "launch/line_reader.h"

/* A process that prints without end does not keep the others waiting beyond this. */
#define READS_A_TURN 16
#define STREAMS 2            /* out, err */
#define POLLED (STREAMS + 1) /* and the end */

/* 100 ms units since 2026-01-01, as links count incarnations. */
#define INCARNATION_EPOCH_S 1767225600
/* A wait that is longer is cut: poll(2) takes an int. */
#define WAIT_MS_MAX 60000

struct launch_loop;

struct stream_of {
    struct launch_loop *launch;
    uint32_t process;
    int fd; /* 1 or 2 */
    struct line_reader lines;
};

struct launched {
    struct child_process child;
    char prefix[LAUNCH_PREFIX_MAX];
    struct stream_of streams[STREAMS];
};

struct launch_loop {
    struct launch_job *job;
    const struct launch_plan *plan;
    struct launch_history history;
    struct launcher launcher;
    uint32_t count;
    unsigned stops, hurried;   /* of the job, that the launcher was notified of */
    struct launched *launched; /* [count] */
    struct pollfd *polled;     /* [1 + POLLED * count] */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t first_incarnation(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec <= INCARNATION_EPOCH_S)
        return 1;
    return (uint32_t)((uint64_t)(now.tv_sec - INCARNATION_EPOCH_S) * 10 +
                      (uint64_t)now.tv_nsec / 100000000u);
}

static int *pipe_of(struct launched *launched, int stream)
{
    return stream == 0 ? &launched->child.out : &launched->child.err;
}

static struct tr_launch_event event_of(const struct launch_loop *launch,
                                       enum tr_launch_event_kind kind, uint32_t process)
{
    const struct plan *plan = &launch->plan->plan.plan;
    return (struct tr_launch_event){
        .kind = kind,
        .process = process,
        .host = launch->plan->cluster.hosts[plan->processes[process].host].name,
        .role = launcher_role_name(launcher_role_of(plan, process)),
    };
}

static void launch_run_say(struct launch_loop *launch, const struct tr_launch_event *event,
                           const char *format, ...) __attribute__((format(printf, 3, 4)));
static void launch_run_say(struct launch_loop *launch, const struct tr_launch_event *event,
                           const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    launch_history_event(&launch->history, event, text);
    launch_events_put(&launch->job->events, event, text, strlen(text));
}

static void take_line(void *arg, char *line, size_t length)
{
    struct stream_of *stream = arg;
    struct launch_loop *launch = stream->launch;
    struct launcher_kernels differ;
    /* The launcher reads the line before a program may pull it, and so does the history. */
    if (stream->fd == 1)
        launch_history_line(&launch->history, stream->process, line);
    if (stream->fd == 1 &&
        launcher_take_line(&launch->launcher, stream->process, line, &differ, now_ns())) {
        const struct tr_launch_event event = event_of(launch, TR_LAUNCH_KERNELS, stream->process);
        launch_run_say(
            launch, &event,
            "computes with the kernels '%.120s', %s with '%.120s': the result may differ in its "
            "last digits from that of equal hosts; a reproducible training refuses that",
            differ.here, launch->launched[differ.process].prefix, differ.there);
    }
    struct tr_launch_event event = event_of(launch, TR_LAUNCH_LINE, stream->process);
    event.stream = stream->fd;
    launch_events_put(&launch->job->events, &event, line, length);
}

/* Reads what is there, at most so many times. bounded: no more once the events are full, so that
 * their bound is passed by the lines of one read at most. */
static void take_output(struct launched *launched, int stream, int times, bool bounded)
{
    int *fd = pipe_of(launched, stream);
    struct line_reader *lines = &launched->streams[stream].lines;
    struct launch_events *events = &launched->streams[stream].launch->job->events;
    for (; *fd >= 0 && times > 0 && !(bounded && launch_events_full(events)); times--) {
        size_t room;
        char *at = line_reader_room(lines, &room);
        ssize_t got = read(*fd, at, room);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got > 0) {
            line_reader_grew(lines, (size_t)got);
            continue;
        }
        line_reader_end(lines);
        close(*fd);
        *fd = -1;
    }
}

static int start_process(void *arg, uint32_t process, uint32_t incarnation, uint32_t restarts)
{
    struct launch_loop *launch = arg;
    struct launched *launched = &launch->launched[process];
    struct argv_builder words = { 0 }, environment = { 0 };
    struct error error = { 0 };
    int rv = launch_process_words(launch->plan, process, incarnation, restarts, &words,
                                  &environment, &error);
    if (rv == 0) {
        bool local = launch->plan->kind == CLUSTER_LAUNCH_LOCAL;
        const struct child_start start = {
            .words = words.list,
            .environment = environment.list,
            .folder = local ? launch->plan->cluster.launcher.workdir : NULL,
            .input = launch->plan->key.line,
            .orphan_signal = SIGTERM,
        };
        rv = child_start(&launched->child, &start, &error);
    }
    argv_builder_fini(&words);
    argv_builder_fini(&environment);
    if (rv != 0) {
        /* The start stands before the first line among the events: lines are read in later
         * turns. */
        const struct tr_launch_event event = event_of(launch, TR_LAUNCH_FAILED, process);
        launch_run_say(launch, &event, "%s", error.text);
        return rv;
    }
    for (int s = 0; s < STREAMS; s++) {
        struct stream_of *stream = &launched->streams[s];
        *stream = (struct stream_of){ .launch = launch, .process = process, .fd = s + 1 };
        line_reader_init(&stream->lines, take_line, stream);
        fcntl(*pipe_of(launched, s), F_SETFL, O_NONBLOCK);
    }
    struct tr_launch_event event = event_of(launch, TR_LAUNCH_STARTED, process);
    event.pid = launched->child.pid;
    launch_run_say(launch, &event, "started, process number %ld", (long)launched->child.pid);
    return 0;
}

/* The end of its input asks a process on another host; signals end only what carries it there. */
static void ask_to_stop(void *arg, uint32_t process)
{
    struct launch_loop *launch = arg;
    struct launched *launched = &launch->launched[process];
    const struct tr_launch_event event = event_of(launch, TR_LAUNCH_STOPPING, process);
    launch_run_say(launch, &event, "asked to stop");
    /* The steps may go in any order: the event stands before that of the end either way. */
    child_close_input(&launched->child);
    if (launch->plan->kind == CLUSTER_LAUNCH_LOCAL)
        child_signal(&launched->child, SIGTERM);
}

static void kill_process(void *arg, uint32_t process)
{
    struct launch_loop *launch = arg;
    struct launched *launched = &launch->launched[process];
    const struct tr_launch_event event = event_of(launch, TR_LAUNCH_KILLED, process);
    launch_run_say(launch, &event, "killed");
    child_signal(&launched->child, SIGKILL);
}

static void say_end(struct launch_loop *launch, uint32_t process, int code, int number)
{
    struct tr_launch_event event = event_of(launch, TR_LAUNCH_ENDED, process);
    event.exit_code = code;
    event.signal = number;
    if (number != 0)
        launch_run_say(launch, &event, "ended by signal %d", number);
    else
        launch_run_say(launch, &event, "ended with exit code %d", code);
}

static void take_ends(struct launch_loop *launch)
{
    for (uint32_t p = 0; p < launch->count; p++) {
        struct launched *launched = &launch->launched[p];
        int code, number;
        if (!child_ended(&launched->child, &code, &number))
            continue;
        /* Its last lines come first, and a notice among them says what the end means. */
        for (int s = 0; s < STREAMS; s++) {
            take_output(launched, s, READS_A_TURN, false); /* a pipe holds no more */
            line_reader_end(&launched->streams[s].lines);
        }
        child_close(&launched->child);
        say_end(launch, p, code, number);
        /* This comes last: the next turn may start the process again, into the same struct. */
        launcher_take_end(&launch->launcher, p, code, number, now_ns());
    }
}

/* look: ends have to be looked for. */
static int wait_ms(const struct launch_loop *launch, bool look)
{
    uint64_t wake_ns = launcher_wake_ns(&launch->launcher), now = now_ns();
    int most_ms = look ? CHILD_LOOK_MS : wake_ns == LAUNCHER_NEVER ? -1 : WAIT_MS_MAX;
    if (wake_ns == LAUNCHER_NEVER)
        return most_ms;
    if (wake_ns <= now)
        return 0;
    uint64_t left_ms = (wake_ns - now) / 1000000u + 1;
    return left_ms < (uint64_t)most_ms ? (int)left_ms : most_ms;
}

static void take_stops(struct launch_loop *launch)
{
    unsigned stops = atomic_load(&launch->job->stops);
    unsigned hurried = atomic_load(&launch->job->hurried);
    launcher_take_stops(&launch->launcher, stops - launch->stops, false, now_ns());
    launcher_take_stops(&launch->launcher, hurried - launch->hurried, true, now_ns());
    launch->stops = stops;
    launch->hurried = hurried;
}

static void clear_wake(int fd)
{
    uint64_t count;
    ssize_t got = read(fd, &count, sizeof count);
    (void)got;
}

/* While the events are full, pipes are not read: a process that prints waits until some were taken.
 * Ends and stops are taken all the same, an end with what its pipes still hold. */
static void wait_and_take(struct launch_loop *launch)
{
    bool full = launch_events_full(&launch->job->events), look = false;
    launch->polled[0] = (struct pollfd){ .fd = launch->job->wake, .events = POLLIN };
    for (uint32_t p = 0; p < launch->count; p++) {
        struct launched *launched = &launch->launched[p];
        struct pollfd *polled = &launch->polled[1 + POLLED * p];
        for (int s = 0; s < STREAMS; s++)
            polled[s] = (struct pollfd){ .fd = full ? -1 : *pipe_of(launched, s),
                                         .events = POLLIN };
        polled[STREAMS] = (struct pollfd){ .fd = launched->child.pidfd, .events = POLLIN };
        look = look || (launched->child.pid > 0 && launched->child.pidfd < 0);
    }
    poll(launch->polled, 1 + (nfds_t)POLLED * launch->count, wait_ms(launch, look));
    /* The wake is cleared before the stops are read (launch_task.c says why). */
    if (launch->polled[0].revents != 0)
        clear_wake(launch->job->wake);
    for (uint32_t p = 0; p < launch->count; p++)
        for (int s = 0; s < STREAMS; s++)
            if (launch->polled[1 + POLLED * p + (uint32_t)s].revents != 0)
                take_output(&launch->launched[p], s, READS_A_TURN, true);
    /* Lines come first, then stops, then ends: an end is judged by what was printed before it, and
     * where a stop is asked it is no reason to start the process again. */
    take_stops(launch);
    take_ends(launch);
}

static int init_launcher(struct launch_loop *launch, struct error *error)
{
    static const struct launcher_ops OPS = { .start = start_process,
                                             .ask_to_stop = ask_to_stop,
                                             .kill = kill_process };
    const struct launch_plan *plan = launch->plan;
    const struct launcher_options options = {
        .plan = &plan->plan.plan,
        .incarnation = first_incarnation(),
        .restarts = plan->cluster.restart.times,
        .period_ns = plan->cluster.restart.ns,
        .together = plan->request.exec != NULL,
        .ops = &OPS,
        .arg = launch,
    };
    int rv = launcher_init(&launch->launcher, &options, now_ns());
    if (rv == TR_ERANGE)
        return error_set(error, rv, "%s: restart.times: at most %u", plan->cluster_path,
                         LAUNCHER_RESTARTS_MAX);
    return rv == 0 ? 0 : error_set(error, rv, "no memory to launch");
}

static int launch_run_init(struct launch_loop *launch, struct launch_job *job, struct error *error)
{
    const struct launch_plan *plan = job->plan;
    *launch = (struct launch_loop){ .job = job,
                                    .plan = plan,
                                    .count = plan->plan.plan.num_processes };
    if (launch_history_init(&launch->history, plan) != 0)
        return error_set(error, TR_ENOMEM, "no memory to launch");
    launch->launched = calloc(launch->count, sizeof *launch->launched);
    launch->polled = calloc(1 + (size_t)POLLED * launch->count, sizeof *launch->polled);
    if (launch->launched == NULL || launch->polled == NULL)
        return error_set(error, TR_ENOMEM, "no memory to launch");
    for (uint32_t p = 0; p < launch->count; p++) {
        struct launched *launched = &launch->launched[p];
        launched->child = (struct child_process)CHILD_NONE;
        launch_prefix(plan, p, launched->prefix);
    }
    return init_launcher(launch, error);
}

int launch_run(struct launch_job *job, struct error *error)
{
    struct launch_loop launch;
    int rv = launch_run_init(&launch, job, error);
    tr_task_report(job->task, "running", "processes", 0, 0);
    if (rv == 0) {
        take_stops(&launch); /* before the first process is started */
        while (launcher_turn(&launch.launcher, now_ns()))
            wait_and_take(&launch);
        rv = launcher_result(&launch.launcher, error);
    }
    launch_history_end(&launch.history, rv, error->text);
    /* No process is left here: a launcher that was not made has started none, and its turns end
     * when each was waited for. */
    launcher_fini(&launch.launcher);
    launch_history_fini(&launch.history);
    free(launch.launched);
    free(launch.polled);
    return rv;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a job while they run: a loop over their pipes and the signals that tell of
 * their ends. What to do next is decided by actors/cluster/launcher.h, which the simulator plays too.
 *
 * It leaves nothing behind: the loop ends when every process was waited for, each with whatever it
 * had started.
 */
#include "config.h" /* pipe2, ppoll */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/launch/child.h"
#include "cli/launch/launch.h"
#include "cli/launch/launch_show.h"
#include "cli/lib/inside.h"
#include "cli/lib/line_reader.h"

/* So that one process that prints without end does not keep the others waiting. */
#define READS_A_TURN 16
#define STREAMS 2 /* out, err */

/* 100 ms units since 2026-01-01, as links count incarnations. */
#define INCARNATION_EPOCH_S 1767225600

struct launch;

struct stream_of {
    struct launch *launch;
    uint32_t process;
    int fd; /* 1 or 2 */
    struct line_reader lines;
};

struct launched {
    struct child_process child;
    char prefix[LAUNCH_PREFIX_MAX];
    struct launch_who who;
    struct stream_of streams[STREAMS];
};

struct launch {
    const struct launch_plan *plan;
    struct launcher launcher;
    struct launch_show show;
    struct self_pipe wakeups;
    uint32_t count;
    struct launched *launched; /* [count] */
    struct pollfd *polled;     /* [1 + STREAMS * count] */
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

static void take_line(void *arg, char *line, size_t length)
{
    struct stream_of *stream = arg;
    struct launch *launch = stream->launch;
    const struct launch_who *who = &launch->launched[stream->process].who;
    struct launcher_kernels differ;
    if (stream->fd == 1 &&
        launcher_take_line(&launch->launcher, stream->process, line, &differ, now_ns()))
        launch_show_event(&launch->show, who, "kernels",
                          "computes with the kernels '%.120s', %s with '%.120s': the result may "
                          "differ in its last digits from that of equal hosts; train's "
                          "--reproducible refuses that",
                          differ.here, launch->launched[differ.process].prefix, differ.there);
    launch_show_line(&launch->show, who, stream->fd, line, length);
}

/* Reads what is there, at most so many times. */
static void take_output(struct launched *launched, int stream, int times)
{
    int *fd = pipe_of(launched, stream);
    struct line_reader *lines = &launched->streams[stream].lines;
    for (; *fd >= 0 && times > 0; times--) {
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

static int start_process(void *arg, uint32_t process, uint32_t incarnation, bool restarted)
{
    struct launch *launch = arg;
    struct launched *launched = &launch->launched[process];
    struct argv_builder words = { 0 }, environment = { 0 };
    struct error error = { 0 };
    int rv = launch_process_words(launch->plan, process, incarnation, restarted, &words,
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
        launch_show_event(&launch->show, &launched->who, "failed", "%s", error.text);
        return rv;
    }
    for (int s = 0; s < STREAMS; s++) {
        struct stream_of *stream = &launched->streams[s];
        *stream = (struct stream_of){ .launch = launch, .process = process, .fd = s + 1 };
        line_reader_init(&stream->lines, take_line, stream);
        fcntl(*pipe_of(launched, s), F_SETFL, O_NONBLOCK);
    }
    launch_show_event(&launch->show, &launched->who, "started", "started, process number %ld",
                      (long)launched->child.pid);
    return 0;
}

/* The end of its input asks a process on another host; signals end only what carries it there. */
static void ask_to_stop(void *arg, uint32_t process)
{
    struct launch *launch = arg;
    struct launched *launched = &launch->launched[process];
    launch_show_event(&launch->show, &launched->who, "stopping", "asked to stop");
    child_close_input(&launched->child);
    if (launch->plan->kind == CLUSTER_LAUNCH_LOCAL)
        child_signal(&launched->child, SIGTERM);
}

static void kill_process(void *arg, uint32_t process)
{
    struct launch *launch = arg;
    struct launched *launched = &launch->launched[process];
    launch_show_event(&launch->show, &launched->who, "killed", "killed");
    child_signal(&launched->child, SIGKILL);
}

static void show_end(struct launch *launch, const struct launched *launched, int code, int number)
{
    if (number != 0)
        launch_show_event(&launch->show, &launched->who, "ended", "ended by signal %d", number);
    else
        launch_show_event(&launch->show, &launched->who, "ended", "ended with exit code %d", code);
}

static void take_ends(struct launch *launch)
{
    for (uint32_t p = 0; p < launch->count; p++) {
        struct launched *launched = &launch->launched[p];
        int code, number;
        if (!child_ended(&launched->child, &code, &number))
            continue;
        for (int s = 0; s < STREAMS; s++) {
            take_output(launched, s, READS_A_TURN);
            line_reader_end(&launched->streams[s].lines);
        }
        child_close(&launched->child);
        show_end(launch, launched, code, number);
        launcher_take_end(&launch->launcher, p, code, number, now_ns());
    }
}

static int wait_ms(const struct launch *launch)
{
    uint64_t wake_ns = launcher_wake_ns(&launch->launcher), now = now_ns();
    if (wake_ns == LAUNCHER_NEVER)
        return -1;
    if (wake_ns <= now)
        return 0;
    uint64_t left_ms = (wake_ns - now) / 1000000u + 1;
    return left_ms < 60000 ? (int)left_ms : 60000;
}

static void take_signals(struct launch *launch)
{
    struct self_pipe_seen seen;
    self_pipe_take(&launch->wakeups, &seen);
    launcher_take_stops(&launch->launcher, seen.stops, seen.interrupted, now_ns());
}

static void wait_and_take(struct launch *launch)
{
    launch->polled[0] = (struct pollfd){ .fd = launch->wakeups.pipe[0], .events = POLLIN };
    for (uint32_t p = 0; p < launch->count; p++)
        for (int s = 0; s < STREAMS; s++)
            launch->polled[1 + STREAMS * p + (uint32_t)s] = (struct pollfd){
                .fd = *pipe_of(&launch->launched[p], s), .events = POLLIN
            };
    poll(launch->polled, 1 + (nfds_t)STREAMS * launch->count, wait_ms(launch));
    for (uint32_t p = 0; p < launch->count; p++)
        for (int s = 0; s < STREAMS; s++)
            if (launch->polled[1 + STREAMS * p + (uint32_t)s].revents != 0)
                take_output(&launch->launched[p], s, READS_A_TURN);
    take_signals(launch);
    take_ends(launch);
}

static int init_launcher(struct launch *launch, struct error *error)
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
        .ops = &OPS,
        .arg = launch,
    };
    int rv = launcher_init(&launch->launcher, &options, now_ns());
    if (rv == TR_ERANGE)
        return error_set(error, rv, "%s: restart.times: at most %u", plan->cluster_path,
                         LAUNCHER_RESTARTS_MAX);
    return rv == 0 ? 0 : error_set(error, rv, "no memory to launch");
}

static int init(struct launch *launch, const struct launch_plan *plan, struct error *error)
{
    *launch = (struct launch){ .plan = plan, .count = plan->plan.plan.num_processes };
    launch_show_init(&launch->show, plan->values->json, plan->values->quiet);
    launch->launched = calloc(launch->count, sizeof *launch->launched);
    launch->polled = calloc(1 + (size_t)STREAMS * launch->count, sizeof *launch->polled);
    if (launch->launched == NULL || launch->polled == NULL)
        return error_set(error, TR_ENOMEM, "no memory to launch");
    for (uint32_t p = 0; p < launch->count; p++) {
        struct launched *launched = &launch->launched[p];
        launched->child = (struct child_process){ 0, -1, -1, -1 };
        launch_prefix(plan, p, launched->prefix);
        launched->who = (struct launch_who){
            .process = p,
            .host = plan->cluster.hosts[plan->plan.plan.processes[p].host].name,
            .role = launcher_role_name(launcher_role_of(&plan->plan.plan, p)),
            .prefix = launched->prefix,
        };
    }
    return init_launcher(launch, error);
}

int launch_run(const struct launch_plan *plan, struct error *error)
{
    struct launch launch;
    int rv = init(&launch, plan, error);
    if (rv == 0)
        rv = self_pipe_start_inside(&launch.wakeups, error);
    if (rv == 0) {
        while (launcher_turn(&launch.launcher, now_ns()))
            wait_and_take(&launch);
        rv = launcher_result(&launch.launcher, error);
        self_pipe_stop(&launch.wakeups);
    }
    launcher_fini(&launch.launcher);
    free(launch.launched);
    free(launch.polled);
    return rv;
}

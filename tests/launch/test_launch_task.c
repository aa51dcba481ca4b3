/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launching and observing through the public API. This program plays the processes itself: launched
 * as `PROGRAM serve|sample|train ...` it does what TROUPE_PLAY of its role says, on the loopback
 * alone.
 */
#include "config.h" /* pipe2 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <troupe/troupe.h>

#include "launch/launch_plan.h"
#include "launch/line_reader.h"
#include "tests/api/api_world.h"
#include "tests/api/outcome.h"

#define SECOND INT64_C(1000000000)
/* The wait for what comes by itself; a hang is a failure. */
#define LONG (120 * SECOND)
#define LINES 60000
#define PROCESSES 3u

static char graph[256], cluster[128], no_graph[128], self[256];

static void wait_for_input_end(void)
{
    char bytes[64];
    while (read(STDIN_FILENO, bytes, sizeof bytes) > 0) {
    }
}

/* A whole process of a job: it serves until its launcher ends it. */
static int play_process(uint32_t role)
{
    struct tr_process_options options;
    struct tr_session_options session_options;
    struct tr_process *process;
    struct tr_session *session;
    struct tr_graph *opened;
    struct tr_error error = TR_ERROR_INIT;
    tr_process_options_init(&options);
    options.role = role;
    tr_session_options_init(&session_options);
    session_options.loops = 1;
    if (tr_process_open(&options, LONG, &process, &error) != 0 ||
        tr_process_watch(process, &error) != 0 ||
        tr_process_session(process, &session_options, &error) != 0 ||
        tr_session_open(&session_options, &session, &error) != 0 ||
        tr_process_attach(process, session, &error) != 0 ||
        tr_graph_open(session, getenv("TROUPE_GRAPH"), LONG, &opened, &error) != 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    tr_process_say_ready(process, TR_PROCESS_SAY_NS, NULL);
    while (!tr_process_is_orphaned(process))
        usleep(10000);
    return 0;
}

/* Leaves a file too, by which a trainer knows that the others heed no signal any more. */
static void say_ready(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/ready-%s", getenv("TROUPE_PLAY_FOLDER"),
             getenv("TROUPE_PROCESS"));
    printf("troupe: ready process %s of job\n", getenv("TROUPE_PROCESS"));
    fflush(stdout);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

/* A job is over when its trainer has ended: what the others are to do first is done. */
static void wait_for_others(void)
{
    for (uint32_t p = 0; p + 1 < PROCESSES; p++) {
        char path[512];
        snprintf(path, sizeof path, "%s/ready-%u", getenv("TROUPE_PLAY_FOLDER"), p);
        while (access(path, F_OK) != 0)
            usleep(10000);
    }
}

static int play(const char *command)
{
    const char *what = getenv("TROUPE_PLAY");
    uint32_t role = strcmp(command, "serve") == 0    ? TR_ROLE_SERVER
                    : strcmp(command, "sample") == 0 ? TR_ROLE_SAMPLER
                                                     : TR_ROLE_TRAINER;
    if (strcmp(what, "job") == 0)
        return play_process(role);
    if (role != TR_ROLE_TRAINER || strcmp(what, "wait") == 0) {
        signal(SIGTERM, SIG_IGN); /* the end of its input counts */
        say_ready();
        wait_for_input_end();
        return 0;
    }
    if (strcmp(what, "hang") == 0) { /* neither a signal nor its input ends it */
        signal(SIGTERM, SIG_IGN);
        say_ready();
        for (;;)
            pause();
    }
    wait_for_others();
    say_ready();
    if (strcmp(what, "print") == 0)
        for (int i = 0; i < LINES; i++)
            printf("line %d of a process that prints more than anybody reads\n", i);
    if (strcmp(what, "complain") == 0) {
        fprintf(stderr, "a complaint\n");
        wait_for_input_end();
    }
    if (strcmp(what, "die") == 0 && strcmp(getenv("TROUPE_RESTARTED"), "0") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(what, "fail") == 0)
        return 3;
    puts("troupe: complete");
    return 0;
}

static struct tr_launch_options options_of(const char *what)
{
    struct tr_launch_options options = TR_LAUNCH_OPTIONS_INIT;
    for (uint32_t p = 0; p < PROCESSES; p++) {
        char path[512];
        snprintf(path, sizeof path, "%s/ready-%u", world_folder(), p);
        unlink(path);
    }
    setenv("TROUPE_PLAY", what, 1);
    setenv("TROUPE_PLAY_FOLDER", world_folder(), 1);
    options.cluster = cluster;
    options.program = self;
    return options;
}

struct running {
    struct tr_launch *launch;
    struct tr_task *task;
};

static struct running begin(const struct tr_launch_options *options)
{
    struct running running;
    ok(tr_launch_open(options, &running.launch, &failure));
    ok(tr_launch_start(running.launch, &running.task, &failure));
    return running;
}

static void end(struct running *running)
{
    tr_task_close(running->task);
    tr_launch_close(running->launch);
}

/* The counts of events of all processes. */
struct seen {
    unsigned started, ended, lines, killed, stopping, signals, ready;
    uint64_t dropped;
    pid_t trainer;
};

static void note(struct seen *seen, const struct tr_launch_event *event)
{
    assert_non_null(event->text);
    assert_int_equal(event->text[event->text_bytes], '\0');
    seen->started += event->kind == TR_LAUNCH_STARTED;
    seen->ended += event->kind == TR_LAUNCH_ENDED;
    seen->lines += event->kind == TR_LAUNCH_LINE;
    seen->killed += event->kind == TR_LAUNCH_KILLED;
    seen->stopping += event->kind == TR_LAUNCH_STOPPING;
    seen->signals += event->kind == TR_LAUNCH_ENDED && event->signal != 0;
    seen->ready += event->kind == TR_LAUNCH_LINE &&
                   strncmp(event->text, "troupe: ready", strlen("troupe: ready")) == 0;
    seen->dropped += event->dropped;
    if (event->kind == TR_LAUNCH_STARTED && strcmp(event->role, "trainer") == 0)
        seen->trainer = (pid_t)event->pid;
}

static void take_until(struct running *running, struct seen *seen, unsigned ready)
{
    while (seen->ready < ready) {
        struct tr_launch_event event = TR_LAUNCH_EVENT_INIT;
        ok(tr_launch_next(running->task, LONG, &event, &failure));
        note(seen, &event);
    }
}

static void take_all(struct running *running, struct seen *seen)
{
    struct tr_launch_event event = TR_LAUNCH_EVENT_INIT;
    int rv;
    while ((rv = tr_launch_next(running->task, LONG, &event, &failure)) == 0)
        note(seen, &event);
    assert_int_equal(rv, TR_EEND);
    assert_int_equal(tr_launch_next(running->task, 0, &event, &failure), TR_EEND);
}

static void a_job_runs_to_its_end(void **state)
{
    const struct tr_launch_options options = options_of("train");
    struct tr_launch_info info = TR_LAUNCH_INFO_INIT;
    struct seen seen = { 0 };
    struct tr_task *again;
    struct tr_task_progress progress = TR_TASK_PROGRESS_INIT;
    (void)state;
    struct running running = begin(&options);
    ok(tr_launch_info(running.launch, &info, &failure));
    assert_string_equal(info.name, "job");
    assert_int_equal(info.num_processes, PROCESSES);
    assert_string_equal(info.graph, graph);
    assert_non_null(info.shared_key);
    assert_int_equal(tr_launch_start(running.launch, &again, &failure), TR_EEXIST);
    assert_null(again);
    struct pollfd polled = { .fd = tr_launch_descriptor(running.task), .events = POLLIN };
    assert_int_equal(poll(&polled, 1, 60000), 1);
    take_all(&running, &seen);
    ok(tr_task_wait(running.task, LONG, &failure));
    ok(tr_task_progress(running.task, &progress, &failure));
    assert_string_equal(progress.phase, "running");
    assert_int_equal(seen.started, PROCESSES);
    assert_int_equal(seen.ended, PROCESSES);
    assert_int_equal(seen.signals, 0);
    assert_int_equal(poll(&polled, 1, 0), 1); /* the end is there for all that poll */
    end(&running);
}

static void a_process_that_dies_is_started_again(void **state)
{
    const struct tr_launch_options options = options_of("die");
    struct seen seen = { 0 };
    (void)state;
    struct running running = begin(&options);
    take_all(&running, &seen);
    ok(tr_task_wait(running.task, LONG, &failure));
    assert_int_equal(seen.started, PROCESSES + 1);
    assert_int_equal(seen.signals, 1);
    end(&running);
}

static void a_job_that_fails_says_which_process(void **state)
{
    const struct tr_launch_options options = options_of("fail");
    struct seen seen = { 0 };
    (void)state;
    struct running running = begin(&options);
    take_all(&running, &seen);
    assert_int_equal(tr_task_wait(running.task, LONG, &failure), TR_ECHILD);
    assert_non_null(strstr(failure.message, "process 2"));
    assert_true(seen.started > PROCESSES);
    assert_int_equal(seen.ended, seen.started);
    end(&running);
}

static void an_interrupt_stops_all_in_order(void **state)
{
    const struct tr_launch_options options = options_of("wait");
    struct seen seen = { 0 };
    (void)state;
    struct running running = begin(&options);
    take_until(&running, &seen, PROCESSES);
    assert_int_equal(tr_task_wait(running.task, 0, &failure), TR_ETIMEDOUT);
    tr_task_cancel(running.task);
    take_all(&running, &seen);
    assert_int_equal(tr_task_wait(running.task, LONG, &failure), TR_ECANCELED);
    assert_int_equal(seen.stopping, PROCESSES);
    assert_int_equal(seen.ended, PROCESSES);
    end(&running);
}

static void a_process_that_hangs_is_killed_by_whoever_is_in_a_hurry(void **state)
{
    const struct tr_launch_options options = options_of("hang");
    struct seen seen = { 0 };
    (void)state;
    struct running running = begin(&options);
    take_until(&running, &seen, PROCESSES);
    pid_t trainer = seen.trainer;
    tr_launch_stop(running.task, true);
    while (seen.stopping == 0) {
        struct tr_launch_event event = TR_LAUNCH_EVENT_INIT;
        ok(tr_launch_next(running.task, LONG, &event, &failure));
        note(&seen, &event);
    }
    tr_launch_stop(running.task, true);
    take_all(&running, &seen);
    assert_int_equal(tr_task_wait(running.task, LONG, &failure), TR_ECANCELED);
    assert_true(seen.killed >= 1);
    assert_int_equal(kill(trainer, 0), -1);
    end(&running);
    /* Nobody stopped it: closing does, and nothing is left. */
    struct seen other = { 0 };
    const struct tr_launch_options waiting = options_of("wait");
    running = begin(&waiting);
    take_until(&running, &other, PROCESSES);
    end(&running);
    assert_int_equal(kill(other.trainer, 0), -1);
}

static void a_killed_process_comes_back(void **state)
{
    const struct tr_launch_options options = options_of("wait");
    struct seen seen = { 0 };
    (void)state;
    struct running running = begin(&options);
    take_until(&running, &seen, PROCESSES);
    pid_t first = seen.trainer;
    assert_int_equal(kill(first, SIGKILL), 0);
    take_until(&running, &seen, PROCESSES + 1);
    assert_int_not_equal(seen.trainer, first);
    assert_int_equal(seen.signals, 1);
    end(&running);
}

/* What a process says of its errors is there while it runs, though it says nothing else. */
static void errors_are_read_as_they_come(void **state)
{
    const struct tr_launch_options options = options_of("complain");
    struct tr_launch_event event = TR_LAUNCH_EVENT_INIT;
    (void)state;
    struct running running = begin(&options);
    do
        ok(tr_launch_next(running.task, LONG, &event, &failure));
    while (event.kind != TR_LAUNCH_LINE || strcmp(event.text, "a complaint") != 0);
    assert_int_equal(event.stream, 2);
    assert_int_equal(event.process, PROCESSES - 1);
    end(&running);
}

static void a_copy_that_hangs_is_ended_by_an_interrupt(void **state)
{
    struct tr_launch_options options = options_of("train");
    struct tr_launch_event event = TR_LAUNCH_EVENT_INIT;
    char folder[128], path[256], before[4096], with[4400];
    (void)state;
    snprintf(before, sizeof before, "%s", getenv("PATH"));
    snprintf(folder, sizeof folder, "%s/bin", world_folder());
    snprintf(path, sizeof path, "%s/rsync", folder);
    snprintf(with, sizeof with, "%s:%s", folder, before);
    assert_int_equal(mkdir(folder, 0700), 0);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fprintf(to, "#!/bin/sh\ntrap '' TERM; echo copying; while :; do sleep 1; done\n");
    assert_int_equal(fclose(to), 0);
    assert_int_equal(chmod(path, 0700), 0);
    setenv("PATH", with, 1);
    options.launcher = TR_LAUNCHER_SSH;
    struct running running = begin(&options);
    ok(tr_launch_next(running.task, LONG, &event, &failure));
    assert_int_equal(event.kind, TR_LAUNCH_HELPER);
    assert_int_equal(event.process, UINT32_MAX);
    assert_int_equal(event.stream, 1);
    assert_string_equal(event.host, "a");
    assert_string_equal(event.text, "copying");
    /* It heeds no signal, so it is killed. */
    tr_task_cancel(running.task);
    assert_int_equal(tr_task_wait(running.task, LONG, &failure), TR_ECANCELED);
    assert_non_null(strstr(failure.message, "rsync"));
    assert_int_equal(tr_launch_next(running.task, LONG, &event, &failure), TR_EEND);
    end(&running);
    setenv("PATH", before, 1);
}

static void lines_are_kept_or_the_oldest_go(void **state)
{
    struct tr_launch_options options = options_of("print");
    struct seen all = { 0 }, late = { 0 };
    (void)state;
    options.keep_lines = true;
    struct running running = begin(&options);
    /* It waits for room as long as nobody takes any. */
    assert_int_equal(tr_task_wait(running.task, SECOND / 5, &failure), TR_ETIMEDOUT);
    take_all(&running, &all);
    ok(tr_task_wait(running.task, LONG, &failure));
    assert_int_equal(all.dropped, 0);
    assert_int_equal(all.lines, LINES + PROCESSES + 1); /* each is ready, one says complete */
    end(&running);
    options.keep_lines = false;
    running = begin(&options);
    ok(tr_task_wait(running.task, LONG, &failure)); /* though nobody takes any */
    take_all(&running, &late);
    assert_true(late.dropped > 0);
    assert_int_equal(late.lines + late.dropped, LINES + PROCESSES + 1);
    assert_int_equal(late.ended, PROCESSES);
    end(&running);
}

static void full_events_pass_their_bound_by_one_read_at_most(void **state)
{
    struct tr_launch_options options = options_of("print");
    size_t before, now = 0;
    (void)state;
    options.keep_lines = true;
    struct running running = begin(&options);
    struct launch_job *job = tr_task_arg(running.task, &launch_work);
    do { /* until nothing more is added to a full queue */
        before = now;
        usleep(100000);
        pthread_mutex_lock(&job->events.queue.mutex);
        now = job->events.queue.cost;
        pthread_mutex_unlock(&job->events.queue.mutex);
    } while (now < TR_LAUNCH_EVENT_BYTES || now != before);
    /* Each of these lines costs its event too, which is less than three times its text. */
    assert_true(now < TR_LAUNCH_EVENT_BYTES + 4 * LINE_BYTES_MAX);
    end(&running);
}

struct waiting {
    struct tr_task *task;
    struct tr_observer *observer;
    atomic_int thread; /* its number for the system; 0: not begun */
};

static void *wait_for_event(void *arg)
{
    struct waiting *waiting = arg;
    struct tr_launch_event event = TR_LAUNCH_EVENT_INIT;
    atomic_store(&waiting->thread, (int)syscall(SYS_gettid));
    return (void *)(intptr_t)tr_launch_next(waiting->task, LONG, &event, NULL);
}

static void *wait_for_answers(void *arg)
{
    struct waiting *waiting = arg;
    atomic_store(&waiting->thread, (int)syscall(SYS_gettid));
    return (void *)(intptr_t)tr_observer_wait(waiting->observer, UINT64_MAX, LONG, NULL);
}

static bool sleeps(int thread)
{
    char path[64], state = 'R';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *from = fopen(path, "re");
    if (from == NULL || fscanf(from, "%*d (%*[^)]) %c", &state) != 1)
        state = 'R';
    if (from != NULL)
        fclose(from);
    return state == 'S';
}

/* A thread that does not wait yet would begin a call on what is being closed. */
static pthread_t begin_waiting(void *(*wait)(void *), struct waiting *waiting)
{
    pthread_t thread;
    atomic_store(&waiting->thread, 0);
    assert_int_equal(pthread_create(&thread, NULL, wait, waiting), 0);
    while (atomic_load(&waiting->thread) == 0 || !sleeps(atomic_load(&waiting->thread)))
        usleep(1000);
    return thread;
}

static void closing_wakes_whoever_waits(void **state)
{
    const struct tr_launch_options options = options_of("wait");
    struct tr_observer_options observing = TR_OBSERVER_OPTIONS_INIT;
    struct tr_launch_info info = TR_LAUNCH_INFO_INIT;
    struct tr_process_status status = TR_PROCESS_STATUS_INIT;
    struct seen seen = { 0 };
    void *rv;
    (void)state;
    struct running running = begin(&options);
    take_until(&running, &seen, PROCESSES);
    struct waiting waiting = { .task = running.task };
    pthread_t thread = begin_waiting(wait_for_event, &waiting);
    tr_task_close(running.task);
    pthread_join(thread, &rv);
    assert_int_equal((intptr_t)rv, TR_ECLOSED);
    ok(tr_launch_info(running.launch, &info, &failure));
    observing.cluster = cluster;
    observing.shared_key = info.shared_key;
    ok(tr_observer_open(&observing, 0, &waiting.observer, &failure));
    /* The reason why nobody answers is given. */
    ok(tr_observer_wait(waiting.observer, 1, LONG, &failure));
    ok(tr_observer_process(waiting.observer, 0, &status, &failure));
    assert_false(status.up);
    assert_non_null(strstr(status.why, "cannot connect"));
    thread = begin_waiting(wait_for_answers, &waiting);
    tr_observer_close(waiting.observer);
    pthread_join(thread, &rv);
    assert_int_equal((intptr_t)rv, TR_ECLOSED);
    tr_launch_close(running.launch);
}

static void an_event_that_cannot_be_given_is_not_lost(void **state)
{
    const struct tr_launch_options options = options_of("train");
    struct tr_launch_event event = TR_LAUNCH_EVENT_INIT;
    (void)state;
    struct running running = begin(&options);
    struct pollfd polled = { .fd = tr_launch_descriptor(running.task), .events = POLLIN };
    assert_int_equal(poll(&polled, 1, 60000), 1);
    event.size = 0;
    assert_int_equal(tr_launch_next(running.task, LONG, &event, &failure), TR_EINVAL);
    event.size = sizeof event;
    ok(tr_launch_next(running.task, LONG, &event, &failure));
    assert_int_equal(event.kind, TR_LAUNCH_STARTED);
    assert_int_equal(event.process, 0);
    end(&running);
}

static void a_start_that_failed_may_be_tried_again(void **state)
{
    const struct tr_launch_options options = options_of("train");
    struct rlimit before, none;
    struct running running;
    struct seen seen = { 0 };
    (void)state;
    ok(tr_launch_open(&options, &running.launch, &failure));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int rv = tr_launch_start(running.launch, &running.task, &failure);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_not_equal(rv, 0);
    ok(tr_launch_start(running.launch, &running.task, &failure));
    take_all(&running, &seen);
    ok(tr_task_wait(running.task, LONG, &failure));
    end(&running);
}

static void commands_are_lines_of_a_shell(void **state)
{
    struct tr_launch_options options = options_of("train");
    const char *const arguments[] = { "--lr", "two words" };
    struct tr_launch *launch;
    char text[4096], prefix[TR_LAUNCH_PREFIX_MAX];
    size_t needed;
    (void)state;
    options.arguments = arguments;
    options.num_arguments = 2;
    ok(tr_launch_open(&options, &launch, &failure));
    ok(tr_launch_command(launch, 2, text, sizeof text, &needed, &failure));
    assert_int_equal(needed, strlen(text) + 1);
    assert_non_null(strstr(text, "TROUPE_LAUNCHED=1"));
    assert_non_null(strstr(text, "--lr 'two words'"));
    ok(tr_launch_command(launch, 2, text, 4, &needed, &failure));
    assert_string_equal(text, "env");
    assert_int_equal(tr_launch_command(launch, 9, NULL, 0, &needed, &failure), TR_ERANGE);
    ok(tr_launch_prefix(launch, 0, prefix, &failure));
    assert_string_equal(prefix, "[a/server 0]");
    tr_launch_close(launch);
}

static void bad_options_are_refused(void **state)
{
    struct tr_launch_options options = TR_LAUNCH_OPTIONS_INIT;
    struct tr_launch *launch;
    const char *const words[] = { NULL };
    struct tr_task *task;
    (void)state;
    assert_int_equal(tr_launch_open(&options, &launch, &failure), TR_EINVAL);
    assert_null(launch);
    options.cluster = "/nowhere/c.json";
    assert_int_equal(tr_launch_open(&options, &launch, &failure), TR_ENOENT);
    options.cluster = cluster;
    options.program = "/nowhere/troupe";
    assert_int_equal(tr_launch_open(&options, &launch, &failure), TR_ENOENT);
    options.program = self;
    for (unsigned kind = TR_LAUNCHER_FILE; kind <= TR_LAUNCHER_SRUN; kind++) {
        options.launcher = (enum tr_launcher)kind;
        ok(tr_launch_open(&options, &launch, &failure));
        tr_launch_close(launch);
    }
    options.launcher = (enum tr_launcher)(TR_LAUNCHER_SRUN + 1);
    assert_int_equal(tr_launch_open(&options, &launch, &failure), TR_EINVAL);
    assert_string_equal(failure.message,
                        "launcher: there is no launcher 4; they are numbered below 4");
    options.launcher = TR_LAUNCHER_LOCAL;
    options.master_port = 65535;
    ok(tr_launch_open(&options, &launch, &failure));
    tr_launch_close(launch);
    options.master_port = 65536;
    assert_int_equal(tr_launch_open(&options, &launch, &failure), TR_ERANGE);
    options.master_port = 0;
    options.num_arguments = 1;
    assert_int_equal(tr_launch_open(&options, &launch, &failure), TR_EINVAL);
    options.arguments = words;
    assert_int_equal(tr_launch_open(&options, &launch, &failure), TR_EINVAL);
    assert_int_equal(tr_hold_start(words, 1, &task, &failure), TR_EINVAL);
    assert_null(task);
    tr_launch_close(NULL);
    tr_launch_stop(NULL, true);
}

static void a_forked_child_is_refused(void **state)
{
    const struct tr_launch_options options = options_of("wait");
    struct seen seen = { 0 };
    int status;
    (void)state;
    struct running running = begin(&options);
    take_until(&running, &seen, PROCESSES);
    pid_t pid = fork();
    if (pid == 0) {
        struct tr_launch_info info = TR_LAUNCH_INFO_INIT;
        struct tr_launch_event event = TR_LAUNCH_EVENT_INIT;
        bool refused = tr_launch_info(running.launch, &info, NULL) == TR_EFORKED &&
                       tr_launch_next(running.task, 0, &event, NULL) == TR_EFORKED &&
                       tr_launch_descriptor(running.task) == -1;
        tr_launch_stop(running.task, true);
        end(&running);
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(kill(seen.trainer, 0), 0); /* the child stopped nothing */
    end(&running);
}

static void *wait_for_ever(void *observer)
{
    return (void *)(intptr_t)tr_observer_wait(observer, UINT64_MAX, TR_WAIT_FOREVER, NULL);
}

/* A wait under way ends though the interrupt is over before it looks. */
static void assert_interrupted_though_resumed(struct tr_observer *observer)
{
    pthread_t thread;
    void *result;
    int rv;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, observer), 0);
    do { /* until one falls into the call */
        struct timespec soon;
        tr_observer_interrupt(observer);
        tr_observer_resume(observer);
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_sec += 1;
        rv = pthread_timedjoin_np(thread, &result, &soon);
    } while (rv == ETIMEDOUT);
    assert_int_equal(rv, 0);
    assert_int_equal((intptr_t)result, TR_ECANCELED);
}

/* On a busy machine one may not have answered in time just now. */
static bool are_seen_up(struct tr_observer *observer)
{
    for (uint32_t p = 0; p < PROCESSES; p++) {
        struct tr_process_status status = TR_PROCESS_STATUS_INIT;
        ok(tr_observer_process(observer, p, &status, &failure));
        assert_string_equal(status.host, "a");
        if (!status.up)
            return false;
        assert_string_equal(status.why, "");
        assert_true(status.incarnation > 0);
    }
    return true;
}

static void a_job_is_observed_from_outside(void **state)
{
    const struct tr_launch_options options = options_of("job");
    struct tr_observer_options observing = TR_OBSERVER_OPTIONS_INIT;
    struct tr_job_status job = TR_JOB_STATUS_INIT;
    struct tr_process_status status = TR_PROCESS_STATUS_INIT;
    struct tr_launch_info info = TR_LAUNCH_INFO_INIT;
    struct tr_observer *observer;
    struct seen seen = { 0 };
    (void)state;
    struct running running = begin(&options);
    take_until(&running, &seen, PROCESSES);
    ok(tr_launch_info(running.launch, &info, &failure));
    assert_int_equal(tr_observer_open(&observing, 0, &observer, &failure), TR_EINVAL);
    assert_null(observer);
    observing.cluster = cluster;
    /* The key of a launcher of this user is found by the cluster file alone. */
    ok(tr_observer_open(&observing, 0, &observer, &failure));
    tr_observer_close(observer);
    observing.shared_key = info.shared_key;
    observing.cluster = no_graph;
    assert_int_equal(tr_observer_open(&observing, 0, &observer, &failure), TR_EINVAL);
    assert_non_null(strstr(failure.message, "names no graph"));
    assert_null(observer);
    observing.cluster = cluster;
    ok(tr_observer_open(&observing, 0, &observer, &failure));
    do {
        ok(tr_observer_process(observer, 0, &status, &failure));
        ok(tr_observer_wait(observer, status.asked + 1, LONG, &failure));
        ok(tr_observer_job(observer, &job, &failure));
    } while (job.num_up < PROCESSES || !are_seen_up(observer));
    assert_string_equal(job.name, "job");
    assert_int_equal(job.num_processes, PROCESSES);
    assert_int_equal(tr_observer_process(observer, PROCESSES, &status, &failure), TR_ERANGE);
    assert_int_equal(tr_observer_wait(observer, UINT64_MAX, 1, &failure), TR_ETIMEDOUT);
    pid_t pid = fork();
    if (pid == 0) {
        bool refused = tr_observer_job(observer, &job, NULL) == TR_EFORKED;
        tr_observer_close(observer);
        _exit(refused ? 0 : 1);
    }
    int ended;
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    assert_int_equal(ended, 0);
    tr_observer_interrupt(observer);
    for (int twice = 0; twice < 2; twice++)
        assert_int_equal(tr_observer_wait(observer, UINT64_MAX, LONG, &failure), TR_ECANCELED);
    tr_observer_resume(observer);
    assert_int_equal(tr_observer_wait(observer, UINT64_MAX, 1, &failure), TR_ETIMEDOUT);
    assert_interrupted_though_resumed(observer);
    tr_observer_close(observer);
    tr_observer_close(NULL);
    end(&running);
}

/* In a child whose standard input is ours. */
static int hold(int in, const char *script)
{
    const char *const words[] = { "sh", "-c", script };
    struct tr_task *task;
    int code = -1, number = -1;
    dup2(in, STDIN_FILENO);
    if (tr_hold_start(words, 3, &task, NULL) != 0 || tr_task_wait(task, LONG, NULL) != 0 ||
        tr_hold_end(task, &code, &number, NULL) != 0)
        return 99;
    tr_task_close(task);
    return number != 0 ? 100 + number : code;
}

static int hold_until(const char *script, bool close_input)
{
    int in[2], status;
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(in[1]);
        _exit(hold(in[0], script));
    }
    close(in[0]);
    if (close_input)
        close(in[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!close_input)
        close(in[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_held_program_ends_with_the_input(void **state)
{
    (void)state;
    assert_int_equal(hold_until("exit 7", false), 7);
    assert_int_equal(hold_until("exec sleep 1000", true), 100 + SIGTERM);
}

/* Stops a program that does so on SIGTERM, and once more where only that signal ends it. Whether
 * it ended in less than the 15 s after which the first stop kills by itself. */
static bool ends_soon_when_stopped(const char *trap, int signal)
{
    char ready[300], script[400];
    const char *const words[] = { "sh", "-c", script };
    struct tr_task *task;
    int code = -1, number = -1, in[2], kept = dup(STDIN_FILENO);
    snprintf(ready, sizeof ready, "%s/held", world_folder());
    unlink(ready);
    snprintf(script, sizeof script, "%s; echo > %s; while :; do sleep 0.01; done", trap, ready);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_true(kept >= 0 && dup2(in[0], STDIN_FILENO) == STDIN_FILENO);
    ok(tr_hold_start(words, 3, &task, &failure));
    while (access(ready, F_OK) != 0)
        usleep(1000);
    assert_int_equal(tr_hold_end(task, &code, &number, &failure), TR_ETIMEDOUT);
    tr_hold_stop(task);
    if (signal != 0) {
        /* It heeds no signal, and is not killed for that at once. */
        assert_int_equal(tr_task_wait(task, SECOND / 10, &failure), TR_ETIMEDOUT);
        tr_hold_stop(task);
    }
    bool soon = tr_task_wait(task, 10 * SECOND, &failure) == 0;
    ok(tr_task_wait(task, LONG, &failure));
    ok(tr_hold_end(task, &code, &number, &failure));
    assert_int_equal(number, signal);
    assert_int_equal(signal == 0 ? code : 0, 0);
    tr_task_close(task);
    dup2(kept, STDIN_FILENO);
    close(kept);
    close(in[0]);
    close(in[1]);
    return soon;
}

/* A stop asks, a second one kills: a program that does as it is asked ends by itself, one that
 * does not is killed, and only then. The machine may stand still for once, but not each time. */
static void a_held_program_is_killed_when_asked_twice(void **state)
{
    static const struct {
        const char *trap;
        int signal;
    } cases[] = { { "trap 'exit 0' TERM", 0 }, { "trap '' TERM", SIGKILL } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int tries = 0; !ends_soon_when_stopped(cases[i].trap, cases[i].signal); tries++)
            assert_true(tries < 2);
}

static void write_cluster(const char *path, const char *fields)
{
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fprintf(to,
            "{\"name\": \"job\", %s\"restart\": {\"times\": 2}, \"hosts\": "
            "[{\"name\": \"a\", \"address\": \"127.0.0.1\", \"port\": %d, \"servers\": 1, "
            "\"samplers\": 1, \"trainers\": 1, \"processes\": \"role\"}]}",
            fields, 20000 + (int)(getpid() % 3000) * (int)PROCESSES);
    assert_int_equal(fclose(to), 0);
}

static int set_up(void **state)
{
    char named[300];
    world_setup(state);
    world_partition(PARTITION_RANDOM, 2, graph);
    snprintf(cluster, sizeof cluster, "%s/c.json", world_folder());
    snprintf(no_graph, sizeof no_graph, "%s/no_graph.json", world_folder());
    snprintf(named, sizeof named, "\"graph\": \"%s\", ", graph);
    write_cluster(cluster, named);
    write_cluster(no_graph, "");
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_runs_to_its_end),
        cmocka_unit_test(a_process_that_dies_is_started_again),
        cmocka_unit_test(a_job_that_fails_says_which_process),
        cmocka_unit_test(an_interrupt_stops_all_in_order),
        cmocka_unit_test(a_process_that_hangs_is_killed_by_whoever_is_in_a_hurry),
        cmocka_unit_test(a_killed_process_comes_back),
        cmocka_unit_test(errors_are_read_as_they_come),
        cmocka_unit_test(a_copy_that_hangs_is_ended_by_an_interrupt),
        cmocka_unit_test(lines_are_kept_or_the_oldest_go),
        cmocka_unit_test(full_events_pass_their_bound_by_one_read_at_most),
        cmocka_unit_test(closing_wakes_whoever_waits),
        cmocka_unit_test(an_event_that_cannot_be_given_is_not_lost),
        cmocka_unit_test(a_start_that_failed_may_be_tried_again),
        cmocka_unit_test(commands_are_lines_of_a_shell),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(a_forked_child_is_refused),
        cmocka_unit_test(a_job_is_observed_from_outside),
        cmocka_unit_test(a_held_program_ends_with_the_input),
        cmocka_unit_test(a_held_program_is_killed_when_asked_twice),
    };
    if (argc > 1)
        return play(argv[1]);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    return cmocka_run_group_tests(tests, set_up, world_teardown);
}

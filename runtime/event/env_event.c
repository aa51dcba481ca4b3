/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real env: a libevent base and a thread for each loop, and the crew's threads.
 *
 * Bases are NOLOCK: another thread only ever writes the loop's eventfd. One timerfd serves all
 * timers of a loop and is set only when the loop goes to sleep and it would fire too late. A
 * time-out of epoll_wait would be set and taken back by the system at each sleep instead: 0.1 us
 * more on a sleep, and 2.5 us on a virtual machine when it is due before the next tick. The events
 * of sockets (stream_event.c) are looked at between any two turns, of which none takes much longer
 * than 1 ms unless an actor's callback does; they only note what the next turn tells the actors.
 */
#include "runtime/event/env_event.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "runtime/base/memory_limit.h"
#include "runtime/base/thread.h"
#include "runtime/core/crew_impl.h"
#include "runtime/core/loop.h"
#include "runtime/event/env_event_impl.h"

#define CREW_THREADS_MAX 256u
#define WAITERS_MAX 8u /* names that no server answers for, at a time, before others wait */

/* Jobs in a line and the threads that take them from it. */
struct team {
    struct env_event *env;
    pthread_cond_t filled;
    struct job *jobs, *last_job;
    size_t num_threads, num_idle, num_jobs;
    pthread_t *threads;
};

struct env_event {
    struct env env;
    pthread_mutex_t mutex; /* guards all below */
    bool closing;
    struct team crew;
    /* For jobs that wait; its threads are made when they are needed. */
    struct team waiters;
    pthread_t waiter_threads[WAITERS_MAX];
};

struct driver {
    struct loop *loop;
    struct event_base *base;
    struct event *wake;
    struct event *timer;
    int wake_fd, timer_fd;
    uint64_t armed_ns; /* when the timer fires; UINT64_MAX: it is not set */
    bool started;
    pthread_t thread;
};

static struct env_event *env_event_of(struct env *env)
{
    return (struct env_event *)(void *)env;
}

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static uint64_t env_event_now(struct env *env)
{
    (void)env;
    return read_clock(CLOCK_MONOTONIC);
}

static uint64_t env_event_coarse(struct env *env)
{
    (void)env;
    return read_clock(CLOCK_MONOTONIC_COARSE);
}

static uint64_t random_number(struct env *env)
{
    uint64_t number = 0;
    (void)env;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = read_clock(CLOCK_MONOTONIC); /* jitter, not secrets */
    return number;
}

static uint64_t env_event_wall(struct env *env)
{
    (void)env;
    return read_clock(CLOCK_REALTIME) / 1000000;
}

static bool env_event_never(struct env *env)
{
    (void)env;
    return false;
}

static void no_trace(struct env *env, uint64_t a, uint64_t b)
{
    (void)env;
    (void)a;
    (void)b;
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    uint64_t count;
    (void)what;
    (void)arg;
    ssize_t n = read(fd, &count, sizeof count);
    (void)n; /* nothing to read is a wake that came twice */
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct driver *driver = arg;
    uint64_t count;
    (void)what;
    ssize_t n = read(fd, &count, sizeof count);
    (void)n;
    driver->armed_ns = UINT64_MAX; /* the next turn fires what is due */
}

static void driver_free(struct driver *driver)
{
    /* The events go before their base, and the base before the descriptors that it watches. */
    if (driver->timer != NULL)
        event_free(driver->timer);
    if (driver->wake != NULL)
        event_free(driver->wake);
    if (driver->base != NULL)
        event_base_free(driver->base);
    if (driver->wake_fd >= 0)
        close(driver->wake_fd);
    if (driver->timer_fd >= 0)
        close(driver->timer_fd);
    free(driver);
}

static struct event_base *make_base(void)
{
    struct event_config *config = event_config_new();
    if (config == NULL)
        return NULL;
    /* Nothing here asks libevent for the time. */
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_NO_CACHE_TIME);
    struct event_base *base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static int loop_create(struct env *env, struct loop *loop, void **out)
{
    (void)env;
    struct driver *driver = calloc(1, sizeof *driver);
    if (driver == NULL)
        return TR_ENOMEM;
    driver->loop = loop;
    driver->armed_ns = UINT64_MAX;
    /* Each step needs the one above it; driver_free takes down as much as there is. */
    driver->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    driver->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    driver->base = driver->wake_fd >= 0 && driver->timer_fd >= 0 ? make_base() : NULL;
    if (driver->base == NULL)
        goto err_after_driver;
    driver->wake = event_new(driver->base, driver->wake_fd, EV_READ | EV_PERSIST, on_wake, driver);
    driver->timer = event_new(driver->base, driver->timer_fd, EV_READ | EV_PERSIST, on_timer,
                              driver);
    if (driver->wake == NULL || driver->timer == NULL || event_add(driver->wake, NULL) < 0 ||
        event_add(driver->timer, NULL) < 0)
        goto err_after_driver;
    *out = driver;
    return 0;

err_after_driver:
    driver_free(driver);
    return TR_ENOMEM;
}

struct event_base *env_event_base(struct loop *loop)
{
    return ((struct driver *)loop->driver)->base;
}

/* One that fires too early stays: it costs one turn, and setting it anew would cost something at
 * each sleep of a loop whose first timer comes and goes. */
static void env_event_arm(struct driver *driver, uint64_t until_ns)
{
    if (driver->armed_ns <= until_ns)
        return;
    struct itimerspec at = { .it_value = { (time_t)(until_ns / UINT64_C(1000000000)),
                                           (long)(until_ns % UINT64_C(1000000000)) } };
    int rc = timerfd_settime(driver->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
    assert(rc == 0); /* it fails of wrong arguments only */
    driver->armed_ns = until_ns;
}

static void sleep_until(struct driver *driver, uint64_t until_ns)
{
    env_event_arm(driver, until_ns);
    event_base_loop(driver->base, EVLOOP_ONCE);
}

static void *run_loop(void *arg)
{
    struct driver *driver = arg;
    struct loop *loop = driver->loop;
    while (!loop_is_done(loop)) {
        uint64_t until_ns = UINT64_MAX;
        /* The turn comes first, as it may end the last actor; then the end of the node is asked;
         * the sleep comes last, since after it senders count on having to wake the loop. */
        if (!loop_turn(loop) && !loop_is_done(loop) && loop_sleep(loop, &until_ns)) {
            /* The last actor may have gone between the look and loop_sleep. Its wake came before
             * this loop counted as asleep, so the loop looks again. */
            if (!loop_is_done(loop))
                sleep_until(driver, until_ns);
            loop_awake(loop);
        } else {
            event_base_loop(driver->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        }
    }
    return NULL;
}

static int loop_start(struct env *env, void *arg)
{
    struct driver *driver = arg;
    (void)env;
    char name[16];
    snprintf(name, sizeof name, "tr-loop-%u", driver->loop->index & 0xffu);
    int rc = thread_create(&driver->thread, name, run_loop, driver);
    driver->started = rc == 0;
    return rc;
}

static void loop_wake_up(struct env *env, void *arg)
{
    struct driver *driver = arg;
    uint64_t one = 1;
    (void)env;
    ssize_t n = write(driver->wake_fd, &one, sizeof one);
    (void)n; /* EAGAIN: it is as awake as can be */
}

static void loop_join(struct env *env, void *arg)
{
    struct driver *driver = arg;
    (void)env;
    if (driver->started)
        pthread_join(driver->thread, NULL);
}

static void loop_destroy(struct env *env, void *arg)
{
    (void)env;
    driver_free(arg);
}

static void *run_team(void *arg);

static int team_grow(struct team *team, const char *name)
{
    int rc = thread_create(&team->threads[team->num_threads], name, run_team, team);
    team->num_threads += rc == 0;
    return rc;
}

/* Under the mutex: the team that has to take this job. */
static struct team *team_of(struct env_event *self, const struct job *job)
{
    struct team *waiters = &self->waiters;
    if (!job->waits)
        return &self->crew;
    /* `num_jobs` does not count this job yet: where no more threads idle than jobs wait, none is
     * left for it. */
    if (waiters->num_idle <= waiters->num_jobs && waiters->num_threads < WAITERS_MAX)
        team_grow(waiters, "tr-wait");
    return waiters->num_threads > 0 ? waiters : &self->crew;
}

static void crew_push(struct env *env, struct job *job)
{
    struct env_event *self = env_event_of(env);
    pthread_mutex_lock(&self->mutex);
    /* The team is chosen before the job counts in its line, which team_of reads. */
    struct team *team = team_of(self, job);
    job->next = NULL;
    if (team->jobs == NULL)
        team->jobs = job;
    else
        team->last_job->next = job;
    team->last_job = job;
    team->num_jobs++;
    pthread_cond_signal(&team->filled);
    pthread_mutex_unlock(&self->mutex);
}

/* The next job; NULL: the env closes. */
static struct job *wait_for_job(struct team *team)
{
    struct env_event *self = team->env;
    pthread_mutex_lock(&self->mutex);
    /* The thread counts as idle while it waits: team_of compares the number with the jobs in
     * line. */
    team->num_idle++;
    while (team->jobs == NULL && !self->closing)
        pthread_cond_wait(&team->filled, &self->mutex);
    team->num_idle--;
    /* A job counts more than the closing, since its actor waits for it. */
    struct job *job = team->jobs;
    if (job != NULL) {
        team->jobs = job->next;
        team->num_jobs--;
    }
    pthread_mutex_unlock(&self->mutex);
    return job;
}

static void *run_team(void *arg)
{
    for (struct job *job = wait_for_job(arg); job != NULL; job = wait_for_job(arg))
        while (!job_run_piece(job)) {
        }
    return NULL;
}

static void team_init(struct team *team, struct env_event *self, pthread_t *threads)
{
    *team = (struct team){ .env = self, .threads = threads };
    pthread_cond_init(&team->filled, NULL);
}

static void team_fini(struct team *team)
{
    for (size_t i = 0; i < team->num_threads; i++)
        pthread_join(team->threads[i], NULL);
    assert(team->jobs == NULL);
    pthread_cond_destroy(&team->filled);
}

static void env_event_destroy(struct env *env)
{
    struct env_event *self = env_event_of(env);
    pthread_mutex_lock(&self->mutex);
    self->closing = true;
    pthread_cond_broadcast(&self->crew.filled);
    pthread_cond_broadcast(&self->waiters.filled);
    pthread_mutex_unlock(&self->mutex);
    /* The threads are joined without the mutex, which they need to see the closing, and before it
     * goes. */
    team_fini(&self->crew);
    team_fini(&self->waiters);
    pthread_mutex_destroy(&self->mutex);
    free(self->crew.threads);
    free(self);
}

static const struct env_ops event_ops = {
    .now_ns = env_event_now,
    .coarse_ns = env_event_coarse,
    .random = random_number,
    .wall_ms = env_event_wall,
    .loop_create = loop_create,
    .loop_start = loop_start,
    .loop_wake = loop_wake_up,
    .loop_join = loop_join,
    .loop_destroy = loop_destroy,
    .crew_push = crew_push,
    .fails = env_event_never,
    .trace = no_trace,
    .destroy = env_event_destroy,
};

static size_t default_threads(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (size_t)cores : 1;
}

static uint64_t memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes
                                                 : UINT64_MAX;
    uint64_t group_bytes = memory_limit(files_posix, "");
    return bytes < group_bytes ? bytes : group_bytes;
}

int env_event_create(size_t crew_threads, struct env **env, struct error *error)
{
    size_t wanted = crew_threads != 0 ? crew_threads : default_threads();
    if (wanted > CREW_THREADS_MAX)
        wanted = CREW_THREADS_MAX;
    struct env_event *self = calloc(1, sizeof *self);
    pthread_t *threads = calloc(wanted, sizeof *threads);
    if (self == NULL || threads == NULL) {
        free(threads);
        free(self);
        return error_set(error, TR_ENOMEM, "env: out of memory");
    }
    self->env = (struct env){ .ops = &event_ops,
                              .streams = &stream_event_ops,
                              .memory_bytes = memory_bytes() };
    pthread_mutex_init(&self->mutex, NULL);
    team_init(&self->crew, self, threads);
    team_init(&self->waiters, self, self->waiter_threads);
    /* This comes after everything that a thread of the crew uses from its first step on. */
    while (self->crew.num_threads < wanted && team_grow(&self->crew, "tr-crew") == 0)
        continue;
    if (self->crew.num_threads == 0) {
        env_event_destroy(&self->env);
        return error_set(error, TR_ENOMEM, "env: no thread could be made for the crew");
    }
    *env = &self->env;
    return 0;
}

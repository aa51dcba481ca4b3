/*
 * The real env: a libevent base and a thread for each loop, and the crew's threads.
 *
 * Bases are NOLOCK: another thread only ever writes the loop's eventfd. One timer event serves all
 * timers of a loop and is armed only when the loop goes to sleep. The events of sockets
 * (stream_event.c) are looked at between any two turns, of which none takes much longer than
 * 1 ms unless an actor's callback does; they only note what the next turn tells the actors.
 */
#include "runtime/env.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "runtime/crew_impl.h"
#include "runtime/env_event_impl.h"
#include "runtime/loop.h"
#include "runtime/thread.h"

#define CREW_THREADS_MAX 256u

struct env_event {
    struct env env;
    pthread_mutex_t mutex; /* guards jobs and closing */
    pthread_cond_t filled;
    struct job *jobs, *last_job;
    bool closing;
    size_t num_threads;
    pthread_t *threads;
};

struct driver {
    struct loop *loop;
    struct event_base *base;
    struct event *wake;
    struct event *timer;
    int wake_fd;
    bool started;
    pthread_t thread;
};

static struct env_event *of(struct env *env)
{
    return (struct env_event *)(void *)env;
}

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static uint64_t now(struct env *env)
{
    (void)env;
    return read_clock(CLOCK_MONOTONIC);
}

static uint64_t coarse(struct env *env)
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

static uint64_t wall(struct env *env)
{
    (void)env;
    return read_clock(CLOCK_REALTIME) / 1000000;
}

static bool never(struct env *env)
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
    (void)fd;
    (void)what;
    (void)arg; /* the next turn fires what is due */
}

static void driver_free(struct driver *driver)
{
    if (driver->timer != NULL)
        event_free(driver->timer);
    if (driver->wake != NULL)
        event_free(driver->wake);
    if (driver->base != NULL)
        event_base_free(driver->base);
    if (driver->wake_fd >= 0)
        close(driver->wake_fd);
    free(driver);
}

static struct event_base *make_base(void)
{
    struct event_config *config = event_config_new();
    if (config == NULL)
        return NULL;
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
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
    driver->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    driver->base = driver->wake_fd >= 0 ? make_base() : NULL;
    if (driver->base == NULL)
        goto err_after_driver;
    driver->wake = event_new(driver->base, driver->wake_fd, EV_READ | EV_PERSIST, on_wake, driver);
    driver->timer = event_new(driver->base, -1, 0, on_timer, driver);
    if (driver->wake == NULL || driver->timer == NULL || event_add(driver->wake, NULL) < 0)
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

static void sleep_until(struct driver *driver, uint64_t until_ns)
{
    int flags = EVLOOP_ONCE;
    if (until_ns != UINT64_MAX) {
        uint64_t now_ns = read_clock(CLOCK_MONOTONIC);
        uint64_t wait_us = until_ns > now_ns ? (until_ns - now_ns + 999) / 1000 : 0;
        struct timeval wait = { (time_t)(wait_us / 1000000), (suseconds_t)(wait_us % 1000000) };
        if (event_add(driver->timer, &wait) < 0)
            flags |= EVLOOP_NONBLOCK; /* no memory: rather busy than late */
    }
    event_base_loop(driver->base, flags);
    if (until_ns != UINT64_MAX)
        event_del(driver->timer);
}

static void *run_loop(void *arg)
{
    struct driver *driver = arg;
    struct loop *loop = driver->loop;
    while (!loop_is_done(loop)) {
        uint64_t until_ns = UINT64_MAX;
        if (!loop_turn(loop) && !loop_is_done(loop) && loop_sleep(loop, &until_ns)) {
            /* The last actor may have gone between the look and the sleep; its wake came
             * before we were asleep, so look again. */
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

static void loop_destroy(struct env *env, void *arg)
{
    struct driver *driver = arg;
    (void)env;
    if (driver->started)
        pthread_join(driver->thread, NULL);
    driver_free(driver);
}

static void crew_push(struct env *env, struct job *job)
{
    struct env_event *self = of(env);
    pthread_mutex_lock(&self->mutex);
    job->next = NULL;
    if (self->jobs == NULL)
        self->jobs = job;
    else
        self->last_job->next = job;
    self->last_job = job;
    pthread_cond_signal(&self->filled);
    pthread_mutex_unlock(&self->mutex);
}

/* The next job; NULL: the env closes. */
static struct job *wait_for_job(struct env_event *self)
{
    pthread_mutex_lock(&self->mutex);
    while (self->jobs == NULL && !self->closing)
        pthread_cond_wait(&self->filled, &self->mutex);
    struct job *job = self->jobs;
    if (job != NULL)
        self->jobs = job->next;
    pthread_mutex_unlock(&self->mutex);
    return job;
}

static void *run_crew(void *arg)
{
    for (struct job *job = wait_for_job(arg); job != NULL; job = wait_for_job(arg))
        while (!job_run_piece(job)) {
        }
    return NULL;
}

static void destroy(struct env *env)
{
    struct env_event *self = of(env);
    pthread_mutex_lock(&self->mutex);
    self->closing = true;
    pthread_cond_broadcast(&self->filled);
    pthread_mutex_unlock(&self->mutex);
    for (size_t i = 0; i < self->num_threads; i++)
        pthread_join(self->threads[i], NULL);
    assert(self->jobs == NULL);
    pthread_cond_destroy(&self->filled);
    pthread_mutex_destroy(&self->mutex);
    free(self->threads);
    free(self);
}

static const struct env_ops event_ops = {
    .now_ns = now,
    .coarse_ns = coarse,
    .random = random_number,
    .wall_ms = wall,
    .loop_create = loop_create,
    .loop_start = loop_start,
    .loop_wake = loop_wake_up,
    .loop_destroy = loop_destroy,
    .crew_push = crew_push,
    .fails = never,
    .trace = no_trace,
    .destroy = destroy,
};

static size_t default_threads(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (size_t)cores : 1;
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
    self->env = (struct env){ .ops = &event_ops, .streams = &stream_event_ops };
    self->threads = threads;
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->filled, NULL);
    while (self->num_threads < wanted &&
           thread_create(&threads[self->num_threads], "tr-crew", run_crew, self) == 0)
        self->num_threads++;
    if (self->num_threads == 0) {
        destroy(&self->env);
        return error_set(error, TR_ENOMEM, "env: no thread could be made for the crew");
    }
    *env = &self->env;
    return 0;
}

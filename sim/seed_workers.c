/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/seed_workers.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(struct sim_result) <= PIPE_BUF, "a result is written whole");

/* A worker's last word, which no result is as short as. */
#define WORKER_FINISHED 'f'

struct worker {
    pid_t pid;
    int fd;        /* of its pipe */
    uint64_t next; /* place of the seed that it runs, or of the first that it did not run */
    bool running;
    bool finished; /* it said that it runs no more seeds */
};

struct seed_workers {
    const struct seed_workers_options *options;
    struct worker workers[SEED_WORKERS_WORKERS_MAX];
    void (*done)(void *arg, const struct sim_result *result);
    void *arg;
    uint64_t done_count;
};

static uint64_t seed_at(const struct seed_workers_options *options, uint64_t at)
{
    return options->seeds != NULL ? options->seeds[at] : options->first_seed + at;
}

static bool is_late(const struct seed_workers_options *options)
{
    struct timespec now;
    if (options->until_ns == 0)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec >= options->until_ns;
}

static void run_seed(const struct seed_workers_options *options, uint64_t at,
                     struct sim_result *result)
{
    bool twice = options->twice_every != 0 && at % options->twice_every == 0;
    if (options->die_at != NULL)
        sim_run_failpoints(seed_at(options, at), options->die_at, options->verbose, result);
    else
        (twice ? sim_run_twice : sim_run)(seed_at(options, at), options->verbose, result);
    if (options->verbose != NULL)
        fflush(options->verbose);
}

/* A worker's life: every so many seeds, from `at` on. Never returns. */
static void worker_run(const struct seed_workers_options *options, uint64_t at, int fd)
{
    for (; at < options->num_seeds && !is_late(options); at += options->workers) {
        struct sim_result result;
        memset(&result, 0, sizeof result);
        alarm(SEED_WORKERS_SEED_SECONDS);
        run_seed(options, at, &result);
        if (write(fd, &result, sizeof result) != (ssize_t)sizeof result)
            _exit(1);
    }
    /* This is written before exit(): what a sanitizer finds there is distinguished from the death
     * of a seed. */
    if (write(fd, &(char){ WORKER_FINISHED }, 1) != 1)
        _exit(1);
    exit(0); /* so that a sanitizer looks for leaks */
}

static int start_worker(struct seed_workers *workers, struct worker *worker, struct error *error)
{
    int ends[2];
    if (pipe(ends) != 0)
        return error_set_errno(error, errno, "a pipe for a worker");
    /* The streams are flushed before the fork: what is buffered would be printed by both. */
    fflush(NULL);
    worker->pid = fork();
    if (worker->pid == 0) {
        close(ends[0]);
        worker_run(workers->options, worker->next, ends[1]);
    }
    /* The writing end is closed here, before the next worker is forked, which would hold it
     * open: this pipe would not end with its worker. */
    close(ends[1]);
    if (worker->pid < 0) {
        close(ends[0]);
        return error_set_errno(error, errno, "starting a worker");
    }
    worker->fd = ends[0];
    worker->running = true;
    worker->finished = false;
    return 0;
}

static void take_result(struct seed_workers *workers, struct worker *worker,
                        const struct sim_result *result)
{
    worker->next += workers->options->workers;
    workers->done_count++;
    workers->done(workers->arg, result);
}

/* Its pipe ended: it has finished, or died in the seed that it ran. */
static int end_worker(struct seed_workers *workers, struct worker *worker, struct error *error)
{
    int status = 0;
    close(worker->fd);
    worker->running = false;
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (worker->finished && (status == 0 || worker->next < workers->options->workers))
        return 0;
    if (worker->finished) /* something was found at its end, whichever seed it was */
        worker->next -= workers->options->workers;
    struct sim_result result = { .seed = seed_at(workers->options, worker->next) };
    if (WIFSIGNALED(status))
        error_set(&result.error, TR_EINTERNAL, "the run died: %s", strsignal(WTERMSIG(status)));
    else
        error_set(&result.error, TR_EINTERNAL, "the run ended its process with status %d",
                  WEXITSTATUS(status));
    /* The result is taken before the next start: it moves the worker past the seed that ended
     * it. */
    take_result(workers, worker, &result);
    return worker->finished || worker->next >= workers->options->num_seeds ||
                   is_late(workers->options)
               ? 0
               : start_worker(workers, worker, error);
}

static int read_worker(struct seed_workers *workers, struct worker *worker, struct error *error)
{
    struct sim_result result;
    ssize_t count = read(worker->fd, &result, sizeof result);
    if (count < 0 && errno == EINTR)
        return 0;
    if (count == 1) {
        worker->finished = true;
        return 0;
    }
    if (count != (ssize_t)sizeof result)
        return end_worker(workers, worker, error);
    take_result(workers, worker, &result);
    return 0;
}

static int wait_workers(struct seed_workers *workers, struct error *error)
{
    struct pollfd fds[SEED_WORKERS_WORKERS_MAX];
    uint32_t n = workers->options->workers;
    for (uint32_t i = 0; i < n; i++) {
        const struct worker *worker = &workers->workers[i];
        fds[i] = (struct pollfd){ .fd = worker->running ? worker->fd : -1, .events = POLLIN };
    }
    if (poll(fds, n, -1) < 0 && errno != EINTR)
        return error_set_errno(error, errno, "waiting for workers");
    int rv = 0;
    for (uint32_t i = 0; i < n && rv == 0; i++)
        if (workers->workers[i].running && fds[i].revents != 0)
            rv = read_worker(workers, &workers->workers[i], error);
    return rv;
}

static bool any_running(const struct seed_workers *workers)
{
    for (uint32_t i = 0; i < workers->options->workers; i++)
        if (workers->workers[i].running)
            return true;
    return false;
}

static void kill_all(struct seed_workers *workers)
{
    for (uint32_t i = 0; i < workers->options->workers; i++) {
        struct worker *worker = &workers->workers[i];
        if (!worker->running)
            continue;
        kill(worker->pid, SIGKILL);
        close(worker->fd);
        waitpid(worker->pid, NULL, 0);
    }
}

int seed_workers_run(const struct seed_workers_options *options,
                     void (*done)(void *arg, const struct sim_result *result), void *arg,
                     struct error *error)
{
    struct seed_workers *workers = calloc(1, sizeof *workers);
    if (workers == NULL)
        return error_set(error, TR_ENOMEM, "no memory for workers");
    workers->options = options;
    workers->done = done;
    workers->arg = arg;
    int rv = 0;
    for (uint32_t i = 0; i < options->workers && i < options->num_seeds && rv == 0; i++) {
        workers->workers[i].next = i;
        rv = start_worker(workers, &workers->workers[i], error);
    }
    while (rv == 0 && any_running(workers))
        rv = wait_workers(workers, error);
    if (rv != 0)
        kill_all(workers);
    free(workers);
    return rv;
}

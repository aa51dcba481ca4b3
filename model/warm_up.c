/* SPDX-License-Identifier: Apache-2.0 */
#include "model/warm_up.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "model/matmul.h"
#include "model/ticks.h"
#include "runtime/base/thread.h"

/* A product that takes a buffer for about a millisecond, often enough that all threads are at it at
 * the same time. */
#define SIDE 256u
#define ROUNDS 8
#define LOOK_NS UINT64_C(1000000)

/* The last that is done with it frees it: threads that are stuck, or slower than an interrupt, are
 * not waited for. */
struct warming {
    atomic_size_t ready, done, holders;
    size_t threads;
    float input[SIDE * SIDE];
    float output[][SIDE * SIDE];
};

static void release(struct warming *warming, size_t holders)
{
    if (atomic_fetch_sub(&warming->holders, holders) == holders)
        free(warming);
}

static void *compute(void *arg)
{
    struct warming *warming = arg;
    size_t mine = atomic_fetch_add(&warming->ready, 1);
    while (atomic_load(&warming->ready) < warming->threads)
        sched_yield(); /* to those that are still to be made */
    for (int i = 0; i < ROUNDS; i++)
        matmul_forward(SIDE, SIDE, SIDE, warming->input, warming->input, 0, warming->output[mine]);
    atomic_fetch_add(&warming->done, 1);
    release(warming, 1);
    return NULL;
}

static int refuse(size_t threads, size_t done, struct error *error)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    if (limited)
        return error_set(
            error, TR_ENOMEM,
            "the BLAS found no memory to compute with in %u s for "
            "%zu of %zu threads: this process may have %llu MiB of addresses; raise "
            "that (ulimit -v; about 130 MiB a thread), or compute with fewer (options.threads)",
            (unsigned)(WARM_UP_NS / UINT64_C(1000000000)), threads - done, threads,
            (unsigned long long)limit.rlim_cur >> 20);
    return error_set(
        error, TR_ENOMEM,
        "the BLAS found no memory to compute with in %u s for %zu of "
        "%zu threads; free some (about 130 MiB of addresses a thread), or compute with "
        "fewer (options.threads)",
        (unsigned)(WARM_UP_NS / UINT64_C(1000000000)), threads - done, threads);
}

int warm_up(size_t threads, const struct cancel *cancel, bool *stuck, struct error *error)
{
    *stuck = false;
    struct warming *warming = calloc(1, sizeof *warming + threads * sizeof warming->output[0]);
    pthread_t *made = calloc(threads, sizeof *made);
    size_t count = 0;
    if (warming == NULL || made == NULL) {
        free(warming);
        free(made);
        return error_set(error, TR_ENOMEM, "no memory to compute with on %zu threads", threads);
    }
    matmul_single_threaded();
    atomic_init(&warming->ready, 0);
    atomic_init(&warming->done, 0);
    /* All holders are counted before the first thread, which may give its share up at once. */
    atomic_init(&warming->holders, threads + 1);
    warming->threads = threads;
    while (count < threads && thread_create(&made[count], "tr-warm-up", compute, warming) == 0)
        count++;
    /* Those that could not be made: the others need not wait for them. */
    atomic_fetch_add(&warming->ready, threads - count);
    struct ticks ticks;
    ticks_init(&ticks);
    while (atomic_load(&warming->done) < count && ticks.counted_ns < WARM_UP_NS &&
           !cancel_asked(cancel))
        ticks_wait(&ticks, LOOK_NS);
    /* The count is read once: what is said, and whether threads are joined, follows from the same
     * number. The memory goes behind it, since the threads that are left may be the last to have
     * it. */
    size_t done = atomic_load(&warming->done);
    *stuck = done < count;
    for (size_t i = 0; i < count; i++)
        if (*stuck)
            pthread_detach(made[i]);
        else
            pthread_join(made[i], NULL);
    free(made);
    release(warming, 1 + threads - count);
    if (*stuck && cancel_asked(cancel))
        return error_set(error, TR_ECANCELED, "stopped before training began");
    if (*stuck)
        return refuse(threads, done, error);
    return count == threads
               ? 0
               : error_set(error, TR_ENOMEM,
                           "%zu of %zu threads to compute with "
                           "could not be made; compute with fewer (options.threads), or raise the "
                           "limits of threads and addresses (ulimit -u, -v)",
                           threads - count, threads);
}

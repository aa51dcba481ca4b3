/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parallel loop on threads of its own: indices are handed out one by one, the caller helps.
 *
 * Invariants: a run is a round, which every helper joins and ends once; the next one begins when
 * all have ended it. `count`, `body` and `arg` change between rounds alone.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "runtime/base/thread.h"
#include "runtime/core/crew.h"

struct helper {
    pthread_t thread;
    struct crew_parallel *crew;
    size_t worker;
};

struct crew_parallel {
    struct parallel parallel;
    pthread_mutex_t mutex;
    pthread_cond_t begun, ended;
    /* Under the mutex. */
    size_t round;  /* counts runs */
    size_t active; /* helpers that have not finished this round */
    bool closing;
    /* Set before a round begins, under the mutex; read by the helpers after it. */
    size_t count;
    void (*body)(void *arg, size_t index, size_t worker);
    void *arg;
    bool watched;       /* set before the helpers begin */
    atomic_size_t next; /* relaxed: it only hands out indices; the mutex orders the rest */
    size_t num_helpers;
    struct helper helpers[];
};

static void work(struct crew_parallel *crew, size_t worker)
{
    for (;;) {
        size_t index = atomic_fetch_add_explicit(&crew->next, 1, memory_order_relaxed);
        if (index >= crew->count)
            return;
        crew->body(crew->arg, index, worker);
    }
}

static void *help(void *arg)
{
    struct helper *helper = arg;
    struct crew_parallel *crew = helper->crew;
    size_t seen = 0;
    if (crew->watched)
        thread_take_stack_signal();
    pthread_mutex_lock(&crew->mutex);
    for (;;) {
        while (crew->round == seen && !crew->closing)
            pthread_cond_wait(&crew->begun, &crew->mutex);
        /* This comes before the round: the crew closes between rounds, so no round is left
         * undone. */
        if (crew->closing)
            break;
        seen = crew->round;
        pthread_mutex_unlock(&crew->mutex);
        work(crew, helper->worker);
        pthread_mutex_lock(&crew->mutex);
        if (--crew->active == 0)
            pthread_cond_signal(&crew->ended);
    }
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

static void run(struct parallel *self, size_t count,
                void (*body)(void *arg, size_t index, size_t worker), void *arg)
{
    struct crew_parallel *crew = (struct crew_parallel *)(void *)self;
    if (count == 1) { /* waking others costs more than they could help */
        body(arg, 0, 0);
        return;
    }
    pthread_mutex_lock(&crew->mutex);
    /* The work is set before its round: a helper that sees the round reads it without the mutex. */
    crew->count = count;
    crew->body = body;
    crew->arg = arg;
    atomic_store_explicit(&crew->next, 0, memory_order_relaxed);
    crew->active = crew->num_helpers;
    crew->round++;
    pthread_cond_broadcast(&crew->begun);
    pthread_mutex_unlock(&crew->mutex);
    work(crew, 0);
    pthread_mutex_lock(&crew->mutex);
    /* This waits for every helper, even for one that finds no index left: it reads `count` and
     * `body`, which the next run overwrites. */
    while (crew->active > 0)
        pthread_cond_wait(&crew->ended, &crew->mutex);
    pthread_mutex_unlock(&crew->mutex);
}

static struct parallel *create(size_t threads, bool watched)
{
    struct crew_parallel *crew = calloc(1, sizeof *crew + threads * sizeof(struct helper));
    if (crew == NULL)
        return NULL;
    crew->parallel = (struct parallel){ .run = run, .workers = threads + 1 };
    crew->watched = watched;
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->begun, NULL);
    pthread_cond_init(&crew->ended, NULL);
    for (size_t i = 0; i < threads; i++) {
        struct helper *helper = &crew->helpers[i];
        /* Both are set before the thread starts, which reads them at once. */
        helper->crew = crew;
        helper->worker = i + 1;
        if (thread_create(&helper->thread, "tr-parallel", help, helper) < 0) {
            crew_parallel_destroy(&crew->parallel);
            return NULL;
        }
        /* The helper is counted when it runs: destroying a crew that is half made joins only
         * those. */
        crew->num_helpers++;
    }
    return &crew->parallel;
}

struct parallel *crew_parallel_create(size_t threads)
{
    return create(threads, false);
}

struct parallel *crew_parallel_create_watched(size_t threads)
{
    return create(threads, true);
}

void crew_parallel_destroy(struct parallel *parallel)
{
    struct crew_parallel *crew = (struct crew_parallel *)(void *)parallel;
    if (crew == NULL)
        return;
    pthread_mutex_lock(&crew->mutex);
    crew->closing = true;
    pthread_cond_broadcast(&crew->begun);
    pthread_mutex_unlock(&crew->mutex);
    /* All helpers end before the mutex and the conditions go, which they use to the last. */
    for (size_t i = 0; i < crew->num_helpers; i++)
        pthread_join(crew->helpers[i].thread, NULL);
    pthread_cond_destroy(&crew->begun);
    pthread_cond_destroy(&crew->ended);
    pthread_mutex_destroy(&crew->mutex);
    free(crew);
}

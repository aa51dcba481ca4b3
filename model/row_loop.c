/* SPDX-License-Identifier: Apache-2.0 */
#include "model/row_loop.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/core/crew.h"

struct tr_model_threads {
    struct parallel *crew; /* NULL: one thread */
    pthread_mutex_t busy;
    pid_t process; /* a child of a fork has the crew's memory and none of its threads */
};

int tr_model_threads_create(uint32_t threads, struct tr_model_threads **out, struct tr_error *error)
{
    *out = NULL;
    if (threads > TR_AGGREGATION_THREADS_MAX)
        return tr_error_set(error, TR_ERANGE, "threads is %u; at most %d compute", threads,
                            TR_AGGREGATION_THREADS_MAX);
    long online = threads == 0 ? sysconf(_SC_NPROCESSORS_ONLN) : (long)threads;
    size_t count = online < 1 ? 1 : (size_t)online;
    count = count < TR_AGGREGATION_THREADS_MAX ? count : TR_AGGREGATION_THREADS_MAX;
    struct tr_model_threads *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for threads that compute");
    made->process = getpid();
    if (count > 1) {
        made->crew = crew_parallel_create(count - 1);
        if (made->crew == NULL) {
            free(made);
            return tr_error_set(error, TR_ENOMEM, "no memory for %zu threads that compute", count);
        }
    }
    pthread_mutex_init(&made->busy, NULL);
    *out = made;
    return 0;
}

void tr_model_threads_destroy(struct tr_model_threads *threads)
{
    if (threads == NULL)
        return;
    if (threads->process == getpid()) {
        crew_parallel_destroy(threads->crew);
        pthread_mutex_destroy(&threads->busy);
    }
    free(threads);
}

struct parallel *row_loop_take(struct tr_model_threads *threads)
{
    bool shared = threads != NULL && threads->crew != NULL && threads->process == getpid() &&
                  pthread_mutex_trylock(&threads->busy) == 0;
    return shared ? threads->crew : parallel_serial;
}

void row_loop_return(struct tr_model_threads *threads, struct parallel *taken)
{
    if (taken != parallel_serial)
        pthread_mutex_unlock(&threads->busy);
}

void row_loop(struct tr_model_threads *threads, size_t num_rows,
              void (*body)(void *arg, size_t chunk, size_t worker), void *arg)
{
    size_t chunks = num_rows / ROW_LOOP_ROWS + (num_rows % ROW_LOOP_ROWS != 0);
    struct parallel *parallel = row_loop_take(threads);
    parallel_for(parallel, chunks, body, arg);
    row_loop_return(threads, parallel);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop over rows on the threads that a program has made for it (troupe/aggregate.h).
 *
 * Thread rules: any thread; one that finds the threads at work loops alone.
 */
#ifndef MODEL_ROW_LOOP_H
#define MODEL_ROW_LOOP_H

#include <stddef.h>

#include <troupe/aggregate.h>

#include "runtime/base/parallel.h"

/* Rows that a thread takes at once: enough that taking them costs nothing, few enough that the
 * threads end together. */
#define ROW_LOOP_ROWS ((size_t)256)

/* The threads as a struct parallel until they are returned; the caller's alone where there are none
 * or others use them. threads may be NULL. */
struct parallel *row_loop_take(struct tr_model_threads *threads);
void row_loop_return(struct tr_model_threads *threads, struct parallel *taken);

/* Calls body(arg, chunk, worker) for each chunk of rows, which begins at chunk * ROW_LOOP_ROWS.
 * threads may be NULL. */
void row_loop(struct tr_model_threads *threads, size_t num_rows,
              void (*body)(void *arg, size_t chunk, size_t worker), void *arg);

/* The end of a chunk. */
static inline size_t row_loop_end(size_t begin, size_t num_rows)
{
    return num_rows - begin < ROW_LOOP_ROWS ? num_rows : begin + ROW_LOOP_ROWS;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/matmul.h"

#include <assert.h>
#include <cblas.h>
#include <pthread.h>
#include <string.h>

#include "config.h"

#ifdef HAVE_OPENBLAS
/* OpenBLAS keeps one number of threads for the process, so what it was before it was held is one
 * number too. Under the mutex: between two calls of OpenBLAS another thread may hold it as well. */
static pthread_mutex_t threads_mutex = PTHREAD_MUTEX_INITIALIZER;
static size_t threads_holders;
static int threads_before;

void matmul_single_threaded(void)
{
    pthread_mutex_lock(&threads_mutex);
    threads_before = 1; /* those that hold it now release it to this */
    openblas_set_num_threads(1);
    pthread_mutex_unlock(&threads_mutex);
}

void matmul_hold_single_threaded(void)
{
    pthread_mutex_lock(&threads_mutex);
    if (threads_holders++ == 0) {
        threads_before = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&threads_mutex);
}

void matmul_release_threads(void)
{
    pthread_mutex_lock(&threads_mutex);
    assert(threads_holders > 0);
    if (--threads_holders == 0)
        openblas_set_num_threads(threads_before);
    pthread_mutex_unlock(&threads_mutex);
}
#else
void matmul_single_threaded(void)
{
}

void matmul_hold_single_threaded(void)
{
}

void matmul_release_threads(void)
{
}
#endif

const char *matmul_kernels(void)
{
#ifdef HAVE_OPENBLAS
    return openblas_get_corename();
#else
    return "cblas";
#endif
}

struct lanes matmul_lanes(size_t rows)
{
    struct lanes lanes = { .blocks = matmul_blocks(rows) };
    lanes.blocks_per_lane = (lanes.blocks + MATMUL_LANES_MAX - 1) / MATMUL_LANES_MAX;
    if (lanes.blocks_per_lane > 0)
        lanes.count = (lanes.blocks + lanes.blocks_per_lane - 1) / lanes.blocks_per_lane;
    return lanes;
}

/* A product over no inner elements is zero; CBLAS refuses leading dimensions of 0. */
static int is_trivial(size_t rows, size_t cols, size_t inner, float beta, float *out)
{
    if (rows == 0 || cols == 0)
        return 1;
    if (inner == 0 && beta == 0)
        memset(out, 0, rows * cols * sizeof *out);
    return inner == 0;
}

void matmul_forward(size_t rows, size_t in, size_t out, const float *x, const float *weight,
                    float beta, float *y)
{
    assert(rows <= MATMUL_ROWS);
    if (is_trivial(rows, out, in, beta, y))
        return;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)out, (int)in, 1.0f, x,
                (int)in, weight, (int)in, beta, y, (int)out);
}

void matmul_backward(size_t rows, size_t in, size_t out, const float *dy, const float *weight,
                     float *dx)
{
    assert(rows <= MATMUL_ROWS);
    if (is_trivial(rows, in, out, 0, dx))
        return;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)in, (int)out, 1.0f, dy,
                (int)out, weight, (int)in, 0.0f, dx, (int)in);
}

void matmul_gradient(size_t rows, size_t in, size_t out, const float *dy, const float *x,
                     float beta, float *dweight)
{
    assert(rows <= MATMUL_ROWS);
    if (is_trivial(out, in, rows, beta, dweight))
        return;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)out, (int)in, (int)rows, 1.0f, dy,
                (int)out, x, (int)in, beta, dweight, (int)in);
}

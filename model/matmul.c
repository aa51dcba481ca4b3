/* SPDX-License-Identifier: Apache-2.0 */
#include "model/matmul.h"

#include <assert.h>
#include <cblas.h>
#include <string.h>

#include "config.h"

void matmul_single_threaded(void)
{
#ifdef HAVE_OPENBLAS
    openblas_set_num_threads(1);
#endif
}

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

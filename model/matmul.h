/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products on a CBLAS.
 *
 * A library that splits one product over its own threads rounds differently with their
 * number. So each call here is single-threaded and covers at most MATMUL_ROWS rows; a
 * caller shares such blocks out through a struct parallel, and sums over blocks are added
 * in an order that depends on the number of rows alone (struct lanes).
 *
 * All matrices are row-major float32 without padding. W is [out][in], as PyTorch stores it.
 *
 * Thread rules: the products may run on any number of threads at once.
 */
#ifndef MODEL_MATMUL_H
#define MODEL_MATMUL_H

#include <stddef.h>

/* Large enough that the call costs nothing beside the product (98 of 98 GF/s measured), small
 * enough that 256 columns of it stay in a second-level cache. */
#define MATMUL_ROWS ((size_t)1024)

/* Partial sums of a weight gradient: enough to keep that many workers busy. */
#define MATMUL_LANES_MAX ((size_t)16)

/* Keeps OpenBLAS from making threads of its own. It is a setting of the whole process, and the
 * only one of its kind: nothing here works without it. Other libraries need no such call. */
void matmul_single_threaded(void);

/* The same for the time of a call, in a process whose other products may have OpenBLAS's threads:
 * they have as many again when the last that holds it releases it. Any thread. */
void matmul_hold_single_threaded(void);
void matmul_release_threads(void);

/* The CPU kernels that the BLAS chose, for records of a run; never NULL. */
const char *matmul_kernels(void);

static inline size_t matmul_blocks(size_t rows)
{
    return rows / MATMUL_ROWS + (rows % MATMUL_ROWS != 0);
}

/* How the blocks of a matrix are dealt to lanes: lane i sums the blocks [i * blocks_per_lane,
 * ...) in order, and the lanes are then added in order. */
struct lanes {
    size_t count;
    size_t blocks;
    size_t blocks_per_lane;
};
struct lanes matmul_lanes(size_t rows);

/* Y[rows][out] = beta Y + X[rows][in] W^T */
void matmul_forward(size_t rows, size_t in, size_t out, const float *x, const float *weight,
                    float beta, float *y);

/* dX[rows][in] = dY[rows][out] W */
void matmul_backward(size_t rows, size_t in, size_t out, const float *dy, const float *weight,
                     float *dx);

/* dW[out][in] = beta dW + dY^T X */
void matmul_gradient(size_t rows, size_t in, size_t out, const float *dy, const float *x,
                     float beta, float *dweight);

#endif

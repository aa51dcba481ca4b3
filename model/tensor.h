/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reusable memory for the matrices of a training step.
 *
 * Every step needs the same dozen large matrices. Taking them afresh from the allocator
 * costs a page fault for every 4 KiB, which was half the time of a step elsewhere; so a
 * piece of memory here only ever grows, and its pages stay.
 *
 * Ownership: embedded in its user. Thread rules: one thread resizes; while a parallel loop runs
 * nobody does.
 */
#ifndef MODEL_TENSOR_H
#define MODEL_TENSOR_H

#include <stddef.h>
#include <stdint.h>

/* Untyped memory that grows; all zero = empty. */
struct storage {
    void *data;
    size_t bytes;
};

/* A row-major float32 matrix without padding between rows; all zero = empty. */
struct tensor {
    float *data;
    size_t rows;
    size_t cols;
    struct storage memory;
};

/* Makes room for count elements of size bytes; the contents are unspecified after it grew.
 * 0, TR_ENOMEM, or TR_ETOOBIG where count * size overflows. */
int storage_reserve(struct storage *storage, size_t count, size_t size);
void storage_fini(struct storage *storage);

/* As storage_reserve, for rows * cols floats. */
int tensor_resize(struct tensor *tensor, size_t rows, size_t cols);
void tensor_fini(struct tensor *tensor);

static inline float *tensor_row(const struct tensor *tensor, size_t row)
{
    return tensor->data + row * tensor->cols;
}

#endif

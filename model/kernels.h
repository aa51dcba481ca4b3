/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The element-wise loops of a training step, once for each kind of CPU.
 *
 * The library is built for the oldest CPU of its architecture; the wider variants are
 * compiled beside it and one is chosen at run time. All variants give the same bits: each
 * element goes through the same IEEE operations in the same order, none of them fused.
 *
 * Thread rules: pure functions on the memory they are given.
 */
#ifndef MODEL_KERNELS_H
#define MODEL_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Inverted dropout whose mask is a function of (key, row, column) alone. */
struct dropout {
    uint64_t key;
    uint32_t threshold; /* of 65536: an element whose 16 bits are below it is dropped; 0 = none */
    float scale;        /* of the kept ones */
};

struct dropout dropout_make(float rate, uint64_t key);

/* One step of Adam; biases are 1 - beta^t. */
struct adam_step {
    float lr; /* already divided by the bias of the first moment */
    float beta1;
    float beta2;
    float bias2_root; /* square root of the bias of the second moment */
    float eps;
    float l2;     /* added to the gradient times the weight */
    float shrink; /* 1 - lr * decoupled weight decay */
};

#define KERNELS_NO_ID UINT32_MAX

/* Which rows gather() adds up. */
struct gather_list {
    const uint32_t *ids;
    size_t count;
    size_t readable;      /* >= count: ids that may be read, to prefetch the next rows */
    const float *scales;  /* indexed by ID; NULL: 1 */
    const float *weights; /* [count], beside the IDs; NULL: 1 */
    uint32_t skip;        /* an ID left out, or KERNELS_NO_ID */
};

struct kernels {
    const char *name;
    /* out[width] = sum over the list of weight * scales[id] * rows[id], in the order of the list */
    void (*gather)(float *out, size_t width, const float *rows, const struct gather_list *list);
    /* y += a * x */
    void (*axpy)(float *y, const float *x, float a, size_t n);
    /* x *= a */
    void (*scale)(float *x, float a, size_t n);
    /* row = relu(row + bias), then dropout */
    void (*activate)(float *row, const float *bias, size_t n, const struct dropout *dropout,
                     size_t row_number);
    /* Through dropout and relu: grad = h > 0 ? scale * grad : 0, h being what activate() left. */
    void (*deactivate)(float *grad, const float *h, float scale, size_t n);
    /* to = dropout(from) */
    void (*drop)(float *to, const float *from, size_t n, const struct dropout *dropout,
                 size_t row_number);
    /* The sum of |x|, in eight partial sums of every eighth element. */
    double (*magnitude)(const float *x, size_t n);
    void (*adam)(float *weights, const float *grads, float *first, float *second, size_t n,
                 const struct adam_step *step);
};

/* The fastest variant that this CPU runs. */
const struct kernels *kernels_best(void);

/* Variant number i among those that this CPU runs, slowest first; NULL after the last. */
const struct kernels *kernels_variant(size_t i);

#endif

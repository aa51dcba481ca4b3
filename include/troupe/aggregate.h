/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops of a layer: what a layer of a graph neural network adds up of its neighbours' rows,
 * over the edges of one block, and the transpose, which carries gradients back. Part of
 * libtroupe-model:
 *
 *     out[d] = to[d] * (sum over edges e = (s, d) of weights[e] * from[s] * rows[s])
 *              + own[d] * rows[d]
 *
 * where weights, from and to are 1 and own is 0 unless they are set; and the product of these sums
 * with a layer's weights. Matrices are row-major float32 without padding. Sums run in the order of
 * the edges, products over blocks of rows of one size: a result has the same bits whatever the
 * number of threads, and as the built-in models have it.
 *
 * Ownership: an aggregation borrows the arrays that it is given, as long as it lives, and a product
 * its aggregation and weights; threads live until tr_model_threads_destroy(). Thread rules: an
 * aggregation, with its products, is one thread's at a time. Threads
 * may be shared: a call that finds them at work, or that is made in the child of a fork(), computes
 * on its own thread alone.
 */
#ifndef TROUPE_AGGREGATE_H
#define TROUPE_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_model_threads;
struct tr_model_aggregation;
struct tr_model_product;

/* As many as compute are useful: memory is the limit of more. */
#define TR_AGGREGATION_THREADS_MAX 64

/* The caller's thread counts as one. 0: a thread for each CPU. TR_ERANGE; TR_ENOMEM. */
TR_API int tr_model_threads_create(uint32_t threads, struct tr_model_threads **out,
                                   struct tr_error *error);
/* NULL is ignored. No call may be using them. */
TR_API void tr_model_threads_destroy(struct tr_model_threads *threads);

/* Edges in CSC form, as struct tr_block has them (troupe/batch.h): index [num_dst + 1] from 0 to
 * num_edges, never falling, and sources [num_edges] below num_src. All of it is checked: TR_EINVAL
 * says what is wrong. TR_ENOMEM. */
TR_API int tr_model_aggregation_create(uint32_t num_src, uint32_t num_dst, uint32_t num_edges,
                                       const uint32_t *index, const uint32_t *sources,
                                       struct tr_model_aggregation **out, struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_model_aggregation_destroy(struct tr_model_aggregation *aggregation);

/* weights [count], count being the number of edges, else TR_EINVAL; any numbers. NULL: 1. */
TR_API int tr_model_aggregation_set_weights(struct tr_model_aggregation *aggregation,
                                            const float *weights, size_t count,
                                            struct tr_error *error);

/* from [num_src], to and own [num_dst]; NULL: as above. without_loops: edges from a node to itself
 * are left out. TR_EINVAL where own or without_loops are given and there are more destinations than
 * sources, of which they are the first. */
TR_API int tr_model_aggregation_set_scales(struct tr_model_aggregation *aggregation,
                                           const float *from, const float *to, const float *own,
                                           bool without_loops, struct tr_error *error);

/* Makes sums means: to[d] becomes 1 / (the sum of the weights of d's edges), and 0 where that is not
 * above 0. Behind tr_model_aggregation_set_weights(). TR_ENOMEM. */
TR_API int tr_model_aggregation_set_mean(struct tr_model_aggregation *aggregation,
                                         struct tr_error *error);

/* out [num_out][width] of rows [num_rows][width]: num_out is num_dst and num_rows num_src, else
 * TR_EINVAL. threads may be NULL: the caller's alone. */
TR_API int tr_model_aggregation_forward(const struct tr_model_aggregation *aggregation,
                                        struct tr_model_threads *threads, size_t width,
                                        const float *rows, size_t num_rows, float *out,
                                        size_t num_out, struct tr_error *error);

/* row_grads [num_rows][width], what the gradients of out, out_grads [num_out][width], are to rows;
 * num_rows and num_out as above. added [num_added][width], or NULL, is added to the first rows, of
 * which there are as many at least: it is what other uses of the destinations' own rows give. The
 * first call sorts the edges by source: TR_ENOMEM. */
TR_API int tr_model_aggregation_backward(struct tr_model_aggregation *aggregation,
                                         struct tr_model_threads *threads, size_t width,
                                         const float *out_grads, size_t num_out, const float *added,
                                         size_t num_added, float *row_grads, size_t num_rows,
                                         struct tr_error *error);

/* A layer of GraphSAGE or GCN before its activation:
 *
 *     sums[d] = what the aggregation makes of rows [num_src][width]
 *     out[d] = sums[d] neigh^T + rows[d] own^T + bias
 *
 * of widths above 0, else TR_EINVAL. TR_ENOMEM. While it computes, an OpenBLAS of the process has no
 * threads of its own, for other callers neither. */
TR_API int tr_model_product_create(struct tr_model_aggregation *aggregation, size_t width,
                                   size_t out_width, struct tr_model_product **out,
                                   struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_model_product_destroy(struct tr_model_product *product);

/* neigh [out_width][width]; own of the same shape, or NULL: own rows are not part of it; bias
 * [out_width], or NULL. TR_EINVAL without neigh, and of own where there are more destinations than
 * sources, of which they are the first. */
TR_API int tr_model_product_set_weights(struct tr_model_product *product, const float *neigh,
                                        const float *own, const float *bias,
                                        struct tr_error *error);

/* Fills sums [num_out][width] and out [num_out][out_width] from rows [num_rows][width]; num_rows and
 * num_out as above. TR_EINVAL before the weights are set. */
TR_API int tr_model_product_forward(struct tr_model_product *product,
                                    struct tr_model_threads *threads, const float *rows,
                                    size_t num_rows, float *sums, float *out, size_t num_out,
                                    struct tr_error *error);

/* Where tr_model_product_backward() leaves the gradients of the weights, of their shapes, which it
 * overwrites; NULL: they are not computed. Those of own only where own is given, else TR_EINVAL. */
TR_API int tr_model_product_set_gradients(struct tr_model_product *product, float *neigh_grads,
                                          float *own_grads, float *bias_grads,
                                          struct tr_error *error);

/* The gradients from those of out, out_grads [num_out][out_width]; rows and sums are what forward was
 * given and left. row_grads [num_rows][width], or NULL: they are not computed. TR_ENOMEM. */
TR_API int tr_model_product_backward(struct tr_model_product *product,
                                     struct tr_model_threads *threads, const float *rows,
                                     size_t num_rows, const float *sums, const float *out_grads,
                                     size_t num_out, float *row_grads, struct tr_error *error);

/* rows [num_rows][width] become dropout(relu(rows)) where they lie. An element is dropped with the
 * probability rate, in [0, 1), rounded to a 65536th, as key, row and column say; the others are
 * divided by 1 - rate. NaN stays. TR_ERANGE; TR_ENOMEM. */
TR_API int tr_model_activate(struct tr_model_threads *threads, float *rows, size_t num_rows,
                             size_t width, float rate, uint64_t key, struct tr_error *error);

/* row_grads [num_rows][width] of grads of the same shape, through what tr_model_activate() left in
 * rows at that rate. */
TR_API int tr_model_activate_backward(struct tr_model_threads *threads, const float *rows,
                                      const float *grads, size_t num_rows, size_t width, float rate,
                                      float *row_grads, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph attention (Velickovic et al., ICLR 2018) along the edges of one relation:
 *
 *     z = W rows;   share[e] = softmax over the edges e = (s, d) into d of
 *                              leaky_relu(a_src . z[s] + a_dst . z[d], slope 0.2)
 *     d gets, of each head, the sum of share[e] * z[s]
 *
 * Heads have shares of their own. Those of a hidden layer lie side by side; of the last layer the mean
 * over heads is taken. Edges that were drawn by weights (edge_weights of struct block_edges) count as
 * so many edges each. Where destinations are of another type than sources, z[d] is made by a matrix of
 * its own. Where nodes attend to themselves (params_attends_to_self()), each has an edge to itself
 * behind its others, once, whether the graph has one or not. A destination without an edge gets
 * nothing.
 *
 * Sums run over the edges of a destination in their order, and of a source by destination: no number of
 * threads changes a bit.
 *
 * Ownership: belongs to a term. Thread rules: those of the layer; attention_add() any thread.
 */
#ifndef MODEL_ATTENTION_H
#define MODEL_ATTENTION_H

#include "model/layer.h"

struct attention;

#define ATTENTION_SLOPE 0.2f

/* NULL: out of memory. */
struct attention *attention_create(uint32_t heads, bool to_self);
void attention_destroy(struct attention *attention);

/* The edges of the block; they are borrowed until the way back is done. */
void attention_take(struct attention *attention, const struct block_edges *edges, uint32_t num_src);

/* Makes the products of sources and destinations, and the two numbers of each head that an edge adds.
 * TR_ENOMEM. */
int attention_forward(struct term *term, const struct layer *layer, struct layer_tools *tools,
                      const float *weights, const float *const *rows);

/* Finds the shares of a destination's edges, and adds what it gets to its row [width]. */
void attention_add(struct attention *attention, const struct kernels *kernels, uint32_t dst,
                   float *out, size_t width);

/* From the layer's out_grads: adds the term's gradients to grads, and to the layer's self_grads what
 * reaches destinations of another type; fills attention_row_grads(). TR_ENOMEM. */
int attention_backward(struct term *term, struct layer *layer, struct layer_tools *tools,
                       const float *const *rows, const float *weights, float *grads);

/* The gradients of the rows that the term read, [num_src][in]. */
const struct tensor *attention_row_grads(const struct attention *attention);

#endif

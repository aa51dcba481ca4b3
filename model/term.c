/* SPDX-License-Identifier: Apache-2.0 */
#include "model/term.h"

#include <string.h>

#include "model/attention.h"
#include "model/matmul.h"
#include "model/sage.h"

void term_fini(struct term *term)
{
    propagation_fini(&term->prop);
    storage_fini(&term->places);
    tensor_fini(&term->aggregate);
    tensor_fini(&term->aggregate_grads);
    attention_destroy(term->attention);
}

void term_take_all(struct term *term, const struct block_edges *edges, uint32_t num_src)
{
    term->prop.edges = edges;
    term->prop.num_src = num_src;
    term->prop.num_dst = edges->num_dst;
    term->rows = term->begins = NULL;
}

static uint32_t count_reached(const struct block_edges *edges)
{
    uint32_t count = 0;
    for (uint32_t d = 0; edges->num_edges > 0 && d < edges->num_dst; d++)
        count += edges->index[d + 1] > edges->index[d];
    return count;
}

/* Fills the edges of destinations that have some; sources is their array. */
static int term_make_dense(struct term *term, const struct block_edges *edges, size_t num_sources,
                           uint32_t **sources)
{
    uint32_t reached = count_reached(edges);
    size_t blocks = matmul_blocks(edges->num_dst);
    int rc = storage_reserve(&term->places, 2 * (size_t)reached + blocks + 2 + num_sources,
                             sizeof(uint32_t));
    if (rc != 0)
        return rc;
    uint32_t *index = term->places.data, *rows = index + reached + 1, *begins = rows + reached;
    uint32_t at = 0;
    index[0] = 0;
    for (uint32_t d = 0; d < edges->num_dst; d++) {
        if (d % MATMUL_ROWS == 0)
            begins[d / MATMUL_ROWS] = at;
        if (edges->num_edges == 0 || edges->index[d + 1] == edges->index[d])
            continue;
        rows[at++] = d;
        index[at] = edges->index[d + 1];
    }
    begins[blocks] = at;
    *sources = begins + blocks + 1;
    term->dense = (struct block_edges){ .num_dst = reached,
                                        .num_edges = edges->num_edges,
                                        .index = index,
                                        .sources = edges->sources,
                                        .edge_weights = edges->edge_weights };
    return 0;
}

static int term_take_dense(struct term *term, uint32_t num_src)
{
    uint32_t *index = term->places.data;
    term_take_all(term, &term->dense, num_src);
    term->rows = index + term->dense.num_dst + 1;
    term->begins = term->rows + term->dense.num_dst;
    term->prop.weights = term->dense.edge_weights;
    return sage_scales(&term->prop);
}

int term_take_means(struct term *term, const struct block_edges *edges, uint32_t num_src)
{
    uint32_t *unused;
    int rc = term_make_dense(term, edges, 0, &unused);
    return rc == 0 ? term_take_dense(term, num_src) : rc;
}

int term_take_rows(struct term *term, const struct block_edges *edges, const uint64_t *original_ids)
{
    uint32_t *sources;
    int rc = term_make_dense(term, edges, edges->num_edges, &sources);
    if (rc != 0)
        return rc;
    for (uint32_t e = 0; e < edges->num_edges; e++)
        sources[e] = (uint32_t)original_ids[edges->sources[e]];
    term->dense.sources = sources;
    return term_take_dense(term, term->params->in);
}

void term_gradient(const struct term *term, const struct kernels *kernels, uint32_t src,
                   size_t width, float *grad)
{
    if (term->attention != NULL)
        memcpy(grad, tensor_row(attention_row_grads(term->attention), src), width * sizeof *grad);
    else
        propagate_back(&term->prop, kernels, src, width, term->aggregate_grads.data, grad);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/graph/edge_draws.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/samplers.h"

const struct draw_way DRAW_WAYS[NUM_DRAW_WAYS] = {
    { SAMPLE_UNIFORM, SAMPLE_NO_TABLE, SAMPLE_NO_TABLE, false },
    { SAMPLE_UNIFORM, SAMPLE_NO_TABLE, SAMPLE_NO_TABLE, true },
    { SAMPLE_UNIFORM, SAMPLE_NO_TABLE, EDGE_MASK, false },
    { SAMPLE_UNIFORM, SAMPLE_NO_TABLE, EDGE_MASK, true },
    { SAMPLE_WEIGHTED, EDGE_WEIGHTS, SAMPLE_NO_TABLE, false },
    { SAMPLE_WEIGHTED, EDGE_WEIGHTS, SAMPLE_NO_TABLE, true },
    { SAMPLE_WEIGHTED, EDGE_WEIGHTS, EDGE_MASK, false },
    { SAMPLE_WEIGHTED, EDGE_WEIGHTS, EDGE_MASK, true },
    { SAMPLE_LABOR, SAMPLE_NO_TABLE, SAMPLE_NO_TABLE, false },
    { SAMPLE_LABOR, SAMPLE_NO_TABLE, EDGE_MASK, false },
    { SAMPLE_LABOR_POISSON, SAMPLE_NO_TABLE, SAMPLE_NO_TABLE, false },
    { SAMPLE_LABOR_POISSON, SAMPLE_NO_TABLE, EDGE_MASK, false },
};

struct feature_table edge_feature(const char *name, enum tr_dtype dtype, uint64_t num_edges,
                                  const void *rows)
{
    return (struct feature_table){ .name = name,
                                   .dtype = dtype,
                                   .num_rows = num_edges,
                                   .width = 1,
                                   .row_bytes = (uint32_t)tr_dtype_size(dtype),
                                   .rows = rows };
}

struct sample_term draw_term(const struct draw_way *way, int32_t fanout)
{
    struct sample_term term = SAMPLE_TERM(fanout, way->replace);
    term.weights = way->weights;
    term.mask = way->mask;
    return term;
}

int read_same_ids(void *arg, uint32_t ntype, uint64_t first, size_t count, uint64_t *ids,
                  struct error *error)
{
    (void)arg, (void)ntype, (void)error;
    for (size_t i = 0; i < count; i++)
        ids[i] = first + i;
    return 0;
}

void draw_edges_of(const struct local_sample *what, struct sample_space *space,
                   struct sample_result *result, float *weights)
{
    struct sample_request request;
    int rv;
    if (sample_gives_weights(what->kind, &what->term))
        result->edge_weights = weights;
    while ((rv = local_sample_make(what, NULL)) == 1)
        ;
    assert_int_equal(rv, 0);
    assert_int_equal(local_sample_prepare(what, &request, NULL), 0);
    assert_int_equal(local_sample_draw(space, &request, result), 0);
    assert_true(result->num_edges <= local_sample_bound(&request));
}

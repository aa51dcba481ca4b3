/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/typed_graph.h"

#include <stdio.h>

#include "runtime/base/hotmem.h"

/* How many of a row's edges have positions of that remainder. */
static uint64_t share_of(uint64_t degree, uint32_t type)
{
    return (degree + TYPED_GRAPH_TYPES - 1 - type) / TYPED_GRAPH_TYPES;
}

static int fill_type(struct typed_graph *typed, const struct csc *from, uint32_t type)
{
    uint64_t *index = hotmem_alloc((from->num_rows + 1) * sizeof *index);
    typed->index[type] = index;
    if (index == NULL)
        return TR_ENOMEM;
    index[0] = 0;
    for (uint64_t row = 0; row < from->num_rows; row++)
        index[row + 1] = index[row] + share_of(from->index[row + 1] - from->index[row], type);
    struct csc *csc = &typed->edges[type].csc;
    *csc = (struct csc){ .num_rows = from->num_rows,
                         .num_edges = index[from->num_rows],
                         .index = index };
    uint32_t *to = typed->indices[type] = hotmem_alloc((csc->num_edges + 1) * sizeof *to);
    if (to == NULL)
        return TR_ENOMEM;
    csc->indices = to;
    for (uint64_t row = 0; row < from->num_rows; row++)
        for (uint64_t e = from->index[row] + type; e < from->index[row + 1]; e += TYPED_GRAPH_TYPES)
            *to++ = from->indices[e];
    return 0;
}

int typed_graph_init(struct typed_graph *typed, const struct biggraph *graph)
{
    *typed = (struct typed_graph){ .part = graph->part };
    typed->part.types = &typed->types;
    typed->part.edges = typed->edges;
    int rv = graph_types_add_ntype(&typed->types, GRAPH_NTYPE_DEFAULT, NULL);
    for (uint32_t type = 0; type < TYPED_GRAPH_TYPES && rv == 0; type++) {
        char name[32];
        snprintf(name, sizeof name, "%s:%u:%s", GRAPH_NTYPE_DEFAULT, type, GRAPH_NTYPE_DEFAULT);
        rv = graph_types_add_etype(&typed->types, name, NULL);
        if (rv == 0)
            rv = fill_type(typed, &graph->edge.csc, type);
    }
    if (rv != 0)
        typed_graph_fini(typed);
    return rv;
}

void typed_graph_fini(struct typed_graph *typed)
{
    for (uint32_t type = 0; type < TYPED_GRAPH_TYPES; type++) {
        const struct csc *csc = &typed->edges[type].csc;
        hotmem_free(typed->index[type], (csc->num_rows + 1) * sizeof *typed->index[type]);
        hotmem_free(typed->indices[type], (csc->num_edges + 1) * sizeof *typed->indices[type]);
    }
    graph_types_fini(&typed->types);
    *typed = (struct typed_graph){ 0 };
}

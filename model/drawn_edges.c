/* SPDX-License-Identifier: Apache-2.0 */
#include "model/drawn_edges.h"

#include <inttypes.h>
#include <stdlib.h>

/* *seen: whether an edge type had it. */
static int find_rows(const struct edge_part *edges, const char *name, struct weight_rows *rows,
                     bool *seen, struct error *error)
{
    const struct feature_table *table = name == NULL ? NULL : edge_part_feature(edges, name);
    if (table == NULL)
        return 0;
    if (table->width != 1)
        return error_set(error, TR_EMISMATCH,
                         "edge feature '%s' has %" PRIu64 " numbers an edge, where draws take one",
                         name, table->width);
    *rows = (struct weight_rows){ table->dtype, table->rows };
    *seen = true;
    return 0;
}

int drawn_edges_find(const struct graph_part *const *parts, uint32_t num_parts, const char *by,
                     const char *mask, struct drawn_edges **out, struct error *error)
{
    bool has_by = by == NULL, has_mask = mask == NULL;
    size_t etypes = num_parts == 0 ? 0 : parts[0]->types->num_etypes;
    struct drawn_edges *drawn = calloc((size_t)num_parts * etypes + 1, sizeof *drawn);
    int rv = 0;
    *out = NULL;
    if (drawn == NULL)
        return error_set(error, TR_ENOMEM, "exact inference: out of memory");
    for (size_t i = 0; rv == 0 && i < num_parts * etypes; i++) {
        const struct edge_part *edges = &parts[i / etypes]->edges[i % etypes];
        rv = find_rows(edges, by, &drawn[i].by, &has_by, error);
        if (rv == 0)
            rv = find_rows(edges, mask, &drawn[i].mask, &has_mask, error);
    }
    if (rv == 0 && !(has_by && has_mask))
        rv = error_set(error, TR_ENOENT, "the edges have no feature '%s' (options.%s)",
                       has_by ? mask : by, has_by ? "draw_mask" : "draw_by");
    if (rv != 0) {
        free(drawn);
        return rv;
    }
    *out = drawn;
    return 0;
}

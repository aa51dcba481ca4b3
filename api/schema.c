/* SPDX-License-Identifier: Apache-2.0 */
#include "api/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/sized.h"

static char *make_canonical(const struct graph_types *types, uint32_t etype)
{
    int length = graph_types_canonical(types, etype, NULL, 0);
    char *text = malloc((size_t)length + 1);
    if (text != NULL)
        graph_types_canonical(types, etype, text, (size_t)length + 1);
    return text;
}

int schema_init(struct schema *schema, const struct graph_types *types, const uint64_t *num_nodes,
                const uint64_t *num_edges)
{
    *schema = (struct schema){ .types = types, .num_nodes = num_nodes, .num_edges = num_edges };
    schema->canonical = calloc((size_t)types->num_etypes + 1, sizeof *schema->canonical);
    if (schema->canonical == NULL)
        return TR_ENOMEM;
    for (uint32_t t = 0; t < types->num_etypes; t++) {
        schema->canonical[t] = make_canonical(types, t);
        if (schema->canonical[t] == NULL) {
            schema_fini(schema);
            return TR_ENOMEM;
        }
    }
    return 0;
}

void schema_fini(struct schema *schema)
{
    for (uint32_t t = 0; schema->canonical != NULL && t < schema->types->num_etypes; t++)
        free(schema->canonical[t]);
    free(schema->canonical);
    *schema = (struct schema){ 0 };
}

static uint64_t sum(const uint64_t *counts, uint32_t count)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += counts[i];
    return total;
}

uint64_t schema_total_nodes(const struct schema *schema)
{
    return sum(schema->num_nodes, schema->types->num_ntypes);
}

uint64_t schema_total_edges(const struct schema *schema)
{
    return sum(schema->num_edges, schema->types->num_etypes);
}

int schema_refuse(const char *what, uint64_t number, uint64_t count, struct tr_error *error)
{
    return tr_error_set(error, TR_ERANGE, "there is no %s %" PRIu64 ", only %" PRIu64 " of them",
                        what, number, count);
}

int schema_ntype(const struct schema *schema, uint32_t ntype, struct tr_ntype_info *info,
                 struct tr_error *error)
{
    if (ntype >= schema->types->num_ntypes)
        return schema_refuse("node type", ntype, schema->types->num_ntypes, error);
    const struct tr_ntype_info known = { .name = schema->types->ntypes[ntype],
                                         .num_nodes = schema->num_nodes[ntype],
                                         .first_id = schema->first_id };
    return sized_write(info, &known, sizeof known, "tr_ntype_info", error);
}

int schema_etype(const struct schema *schema, uint32_t etype, struct tr_etype_info *info,
                 struct tr_error *error)
{
    if (etype >= schema->types->num_etypes)
        return schema_refuse("edge type", etype, schema->types->num_etypes, error);
    const struct graph_etype *type = &schema->types->etypes[etype];
    const struct tr_etype_info known = { .name = schema->canonical[etype],
                                         .relation = type->name,
                                         .src_ntype = type->src,
                                         .dst_ntype = type->dst,
                                         .num_edges = schema->num_edges[etype] };
    return sized_write(info, &known, sizeof known, "tr_etype_info", error);
}

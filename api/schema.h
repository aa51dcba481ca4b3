/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types and tables of a raw graph or a book, in the public structs of troupe/schema.h.
 *
 * Ownership: schema_init makes the names of edge types, schema_fini frees them; the rest is
 * borrowed. Thread rules: immutable after schema_init.
 */
#ifndef API_SCHEMA_H
#define API_SCHEMA_H

#include <troupe/schema.h>

#include "graph/types.h"

struct schema {
    const struct graph_types *types;
    const uint64_t *num_nodes; /* [types->num_ntypes] */
    const uint64_t *num_edges; /* [types->num_etypes] */
    char **canonical;          /* [types->num_etypes] */
    uint64_t first_id;         /* of all node types */
};

/* TR_ENOMEM, and then nothing is to be freed. */
int schema_init(struct schema *schema, const struct graph_types *types, const uint64_t *num_nodes,
                const uint64_t *num_edges);
void schema_fini(struct schema *schema);

uint64_t schema_total_nodes(const struct schema *schema);
uint64_t schema_total_edges(const struct schema *schema);

/* TR_ERANGE; TR_EINVAL: info was not initialised. */
int schema_ntype(const struct schema *schema, uint32_t ntype, struct tr_ntype_info *info,
                 struct tr_error *error);
int schema_etype(const struct schema *schema, uint32_t etype, struct tr_etype_info *info,
                 struct tr_error *error);

/* TR_ERANGE: there is no such `what`, only `count` of them. */
int schema_refuse(const char *what, uint64_t number, uint64_t count, struct tr_error *error);

#endif

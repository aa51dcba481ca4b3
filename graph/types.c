/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/types.h"

#include "graph/part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_name(const char *name, size_t length, struct error *error)
{
    if (length == 0)
        return error_set(error, TR_EINVAL, "a type name is empty; give it one");
    for (size_t i = 0; i < length; i++) {
        if (strchr(":/~", name[i]) != NULL)
            return error_set(error, TR_EINVAL,
                             "type name '%.*s' holds '%c', which separates names in files; rename "
                             "it",
                             (int)length, name, name[i]);
    }
    return 0;
}

int graph_types_add_ntype(struct graph_types *types, const char *name, struct error *error)
{
    int rv = check_name(name, strlen(name), error);
    if (rv != 0)
        return rv;
    if (graph_types_find_ntype(types, name) >= 0)
        return error_set(error, TR_EEXIST, "node type '%s' is listed twice", name);
    if (types->num_ntypes == GRAPH_TYPES_MAX)
        return error_set(error, TR_ETOOBIG, "more than %d node types", GRAPH_TYPES_MAX);
    char **grown = realloc(types->ntypes, (types->num_ntypes + 1) * sizeof *grown);
    if (grown == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the node types");
    types->ntypes = grown;
    grown[types->num_ntypes] = strdup(name);
    if (grown[types->num_ntypes] == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the node types");
    types->num_ntypes++;
    return 0;
}

/* The node type named by text[0, length), or -1. */
static int find_ntype(const struct graph_types *types, const char *text, size_t length)
{
    for (uint32_t i = 0; i < types->num_ntypes; i++) {
        if (strlen(types->ntypes[i]) == length && memcmp(types->ntypes[i], text, length) == 0)
            return (int)i;
    }
    return -1;
}

int graph_types_add_etype(struct graph_types *types, const char *canonical, struct error *error)
{
    const char *first = strchr(canonical, ':');
    const char *second = first == NULL ? NULL : strchr(first + 1, ':');
    if (second == NULL)
        return error_set(error, TR_EINVAL,
                         "edge type '%s' is not of the form source:name:destination", canonical);
    size_t name_length = (size_t)(second - first - 1);
    int rv = check_name(first + 1, name_length, error);
    if (rv != 0)
        return rv;
    int src = find_ntype(types, canonical, (size_t)(first - canonical));
    int dst = find_ntype(types, second + 1, strlen(second + 1));
    if (src < 0 || dst < 0)
        return error_set(error, TR_EINVAL, "edge type '%s' names a node type that is not listed",
                         canonical);
    if (graph_types_find_etype(types, canonical) >= 0)
        return error_set(error, TR_EEXIST, "edge type '%s' is listed twice", canonical);
    if (types->num_etypes == GRAPH_TYPES_MAX)
        return error_set(error, TR_ETOOBIG, "more than %d edge types", GRAPH_TYPES_MAX);
    struct graph_etype *grown = realloc(types->etypes, (types->num_etypes + 1) * sizeof *grown);
    if (grown == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the edge types");
    types->etypes = grown;
    char *name = strndup(first + 1, name_length);
    if (name == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the edge types");
    grown[types->num_etypes++] = (struct graph_etype){ .name = name,
                                                       .src = (uint32_t)src,
                                                       .dst = (uint32_t)dst };
    return 0;
}

int graph_types_init_homogeneous(struct graph_types *types)
{
    *types = (struct graph_types){ 0 };
    int rv = graph_types_add_ntype(types, GRAPH_NTYPE_DEFAULT, NULL);
    if (rv == 0)
        rv = graph_types_add_etype(
            types, GRAPH_NTYPE_DEFAULT ":" GRAPH_ETYPE_DEFAULT ":" GRAPH_NTYPE_DEFAULT, NULL);
    if (rv != 0)
        graph_types_fini(types);
    return rv;
}

int graph_types_copy(struct graph_types *types, const struct graph_types *from)
{
    *types = (struct graph_types){ 0 };
    int rv = 0;
    for (uint32_t i = 0; i < from->num_ntypes && rv == 0; i++)
        rv = graph_types_add_ntype(types, from->ntypes[i], NULL);
    for (uint32_t i = 0; i < from->num_etypes && rv == 0; i++) {
        int length = graph_types_canonical(from, i, NULL, 0);
        char *text = malloc((size_t)length + 1);
        if (text == NULL) {
            rv = TR_ENOMEM;
            break;
        }
        graph_types_canonical(from, i, text, (size_t)length + 1);
        rv = graph_types_add_etype(types, text, NULL);
        free(text);
    }
    if (rv != 0)
        graph_types_fini(types);
    return rv;
}

void graph_types_fini(struct graph_types *types)
{
    for (uint32_t i = 0; i < types->num_ntypes; i++)
        free(types->ntypes[i]);
    for (uint32_t i = 0; i < types->num_etypes; i++)
        free(types->etypes[i].name);
    free(types->ntypes);
    free(types->etypes);
    *types = (struct graph_types){ 0 };
}

int graph_types_find_ntype(const struct graph_types *types, const char *name)
{
    return find_ntype(types, name, strlen(name));
}

static int find_canonical(const struct graph_types *types, const char *name)
{
    for (uint32_t i = 0; i < types->num_etypes; i++) {
        const struct graph_etype *etype = &types->etypes[i];
        const char *src = types->ntypes[etype->src];
        size_t src_length = strlen(src), name_length = strlen(etype->name);
        if (strncmp(name, src, src_length) == 0 && name[src_length] == ':' &&
            strncmp(name + src_length + 1, etype->name, name_length) == 0 &&
            name[src_length + 1 + name_length] == ':' &&
            strcmp(name + src_length + 1 + name_length + 1, types->ntypes[etype->dst]) == 0)
            return (int)i;
    }
    return -1;
}

int graph_types_find_etype(const struct graph_types *types, const char *name)
{
    if (strchr(name, ':') != NULL)
        return find_canonical(types, name);
    int found = -1;
    for (uint32_t i = 0; i < types->num_etypes; i++) {
        if (strcmp(types->etypes[i].name, name) != 0)
            continue;
        if (found >= 0)
            return -1;
        found = (int)i;
    }
    return found;
}

int graph_types_canonical(const struct graph_types *types, uint32_t etype, char *text,
                          size_t text_size)
{
    const struct graph_etype *e = &types->etypes[etype];
    return snprintf(text, text_size, "%s:%s:%s", types->ntypes[e->src], e->name,
                    types->ntypes[e->dst]);
}

static const struct feature_table *find_table(const struct feature_table *tables, uint32_t count,
                                              const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(tables[i].name, name) == 0)
            return &tables[i];
    }
    return NULL;
}

const struct feature_table *node_part_feature(const struct node_part *part, const char *name)
{
    return find_table(part->features, part->num_features, name);
}

const struct feature_table *edge_part_feature(const struct edge_part *part, const char *name)
{
    return find_table(part->features, part->num_features, name);
}

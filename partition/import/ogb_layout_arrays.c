/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layouts of OGB's sets that are arrays, of one type and of several.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/import/ogb_finder.h"
#include "partition/raw/npz.h"
#include "partition/raw/raw_memory.h"

/* The only number of an array of counts. */
static int read_array_count(struct ogb_finder *finder, const struct npz *npz, const char *name,
                            uint64_t *count)
{
    struct npz_array array;
    if (!npz_has(npz, name))
        return error_set(finder->error, TR_EFORMAT, "%s: holds no array '%s'", npz->path, name);
    int rv = npz_load(&array, npz, name, finder->error);
    if (rv != 0)
        return rv;
    if (array.header.num_items != 1)
        rv = error_set(finder->error, TR_EUNSUPPORTED,
                       "%s: holds %" PRIu64 " graphs; sets of many graphs are not imported",
                       array.place, array.header.num_items);
    if (rv == 0)
        rv = npz_id(&array, 0, count, finder->error);
    if (rv == 0 && *count >= RAW_NODES_MAX)
        rv = error_set(finder->error, TR_ERANGE, "%s: is %" PRIu64 "; it must be below %" PRIu64,
                       array.place, *count, RAW_NODES_MAX);
    npz_array_fini(&array);
    return rv;
}

int ogb_lay_out_arrays(struct ogb_finder *finder, const char *raw, const char *path)
{
    struct npz npz;
    uint64_t count;
    finder->layout->arrays = true;
    int rv = npz_init(&npz, finder->files, path, finder->cancel, finder->error);
    if (rv != 0)
        return rv;
    rv = ogb_set_one_type(finder);
    if (rv == 0)
        rv = read_array_count(finder, &npz, "num_nodes_list", &finder->layout->num_nodes[0]);
    if (rv == 0)
        rv = read_array_count(finder, &npz, "num_edges_list", &count);
    if (rv == 0)
        rv = ogb_add_item(finder, OGB_EDGES, 0, strdup(path), "edge_index", NULL);
    if (rv == 0)
        finder->layout->items[finder->layout->num_items - 1].num_edges = count;
    for (uint32_t i = 0; rv == 0 && i < npz.count; i++) {
        const char *name = npz.names[i];
        bool on_edges = strncmp(name, "edge_", 5) == 0;
        if (strcmp(name, "edge_index") != 0 && (on_edges || strncmp(name, "node_", 5) == 0))
            rv = ogb_add_item(finder, on_edges ? OGB_EDGE_TABLE : OGB_NODE_TABLE, 0, strdup(path),
                              name, name + 5);
    }
    npz_fini(&npz);
    char *labels = rv == 0 ? ogb_join(finder, raw, "node-label.npz") : NULL;
    if (labels != NULL && files_exists(finder->files, labels))
        return ogb_add_item(finder, OGB_NODE_TABLE, 0, labels, "node_label", "label");
    free(labels);
    return rv == 0 ? finder->rv : rv;
}

/* Visits the arrays of an archive in raw/: each is of one type. */
static int each_array(struct ogb_finder *finder, const char *raw, const char *file,
                      int (*visit)(struct ogb_finder *finder, const struct npz *npz,
                                   const char *array, const char *table),
                      const char *table)
{
    struct npz npz;
    char *path = ogb_join(finder, raw, file);
    if (path == NULL)
        return finder->rv;
    int rv = npz_init(&npz, finder->files, path, finder->cancel, finder->error);
    for (uint32_t i = 0; rv == 0 && i < npz.count; i++)
        rv = visit(finder, &npz, npz.names[i], table);
    npz_fini(&npz);
    free(path);
    return rv;
}

static int visit_num_nodes(struct ogb_finder *finder, const struct npz *npz, const char *array,
                           const char *table)
{
    struct ogb_layout *layout = finder->layout;
    (void)table;
    uint32_t type = layout->types.num_ntypes;
    uint64_t *grown = realloc(layout->num_nodes, (type + 1) * sizeof *grown);
    if (grown == NULL)
        return ogb_no_memory(finder);
    layout->num_nodes = grown;
    int rv = graph_types_add_ntype(&layout->types, array, finder->error);
    return rv == 0 ? read_array_count(finder, npz, array, &grown[type]) : rv;
}

/* Splits "A___rel___B". */
static int split_relation(struct ogb_finder *finder, const char *array, char parts[3][OGB_WORD_MAX])
{
    const char *first = strstr(array, OGB_SEPARATOR);
    const char *second = first != NULL ? strstr(first + 3, OGB_SEPARATOR) : NULL;
    if (second == NULL || strlen(array) >= OGB_WORD_MAX)
        return error_set(
            finder->error, TR_EFORMAT,
            "%s: '%.100s' is not an edge type of the form SOURCE___RELATION___DESTINATION",
            finder->folder, array);
    snprintf(parts[0], OGB_WORD_MAX, "%.*s", (int)(first - array), array);
    snprintf(parts[1], OGB_WORD_MAX, "%.*s", (int)(second - first - 3), first + 3);
    snprintf(parts[2], OGB_WORD_MAX, "%s", second + 3);
    return 0;
}

static int visit_edges(struct ogb_finder *finder, const struct npz *npz, const char *array,
                       const char *table)
{
    char parts[3][OGB_WORD_MAX];
    uint32_t etype = 0;
    (void)table;
    int rv = split_relation(finder, array, parts);
    if (rv == 0)
        rv = ogb_add_relation(finder, parts[0], parts[1], parts[2], &etype);
    return rv == 0 ? ogb_add_item(finder, OGB_EDGES, etype, strdup(npz->path), array, NULL) : rv;
}

static int visit_node_table(struct ogb_finder *finder, const struct npz *npz, const char *array,
                            const char *table)
{
    int type = graph_types_find_ntype(&finder->layout->types, array);
    if (type < 0)
        return error_set(finder->error, TR_EFORMAT, "%s: '%.100s' is not a node type", npz->path,
                         array);
    return ogb_add_item(finder, OGB_NODE_TABLE, (uint32_t)type, strdup(npz->path), array, table);
}

static int visit_edge_table(struct ogb_finder *finder, const struct npz *npz, const char *array,
                            const char *table)
{
    char parts[3][OGB_WORD_MAX], canonical[3 * OGB_WORD_MAX + 2];
    int rv = split_relation(finder, array, parts);
    if (rv != 0)
        return rv;
    snprintf(canonical, sizeof canonical, "%s:%s:%s", parts[0], parts[1], parts[2]);
    int type = graph_types_find_etype(&finder->layout->types, canonical);
    if (type < 0)
        return error_set(finder->error, TR_EFORMAT, "%s: '%.100s' is not an edge type", npz->path,
                         array);
    return ogb_add_item(finder, OGB_EDGE_TABLE, (uint32_t)type, strdup(npz->path), array, table);
}

/* "node_feat_dict.npz" is "feat", "edge_reltype.npz" is "reltype". */
static int visit_archive(void *arg, const char *file_name)
{
    struct ogb_finder *finder = arg;
    char name[OGB_WORD_MAX];
    bool on_edges = strncmp(file_name, "edge_", 5) == 0;
    size_t length = strlen(file_name);
    if (finder->rv != 0 || (!on_edges && strncmp(file_name, "node_", 5) != 0) || length < 10 ||
        length >= sizeof name || strcmp(file_name + length - 4, ".npz") != 0 ||
        strcmp(file_name, "edge_index_dict.npz") == 0)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)length - 9, file_name + 5);
    length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, "_dict") == 0)
        name[length - 5] = '\0';
    finder->rv = each_array(finder, finder->in, file_name,
                            on_edges ? visit_edge_table : visit_node_table, name);
    return 0;
}

int ogb_lay_out_typed_arrays(struct ogb_finder *finder, const char *raw)
{
    finder->layout->heterogeneous = finder->layout->arrays = true;
    int rv = each_array(finder, raw, "num_nodes_dict.npz", visit_num_nodes, NULL);
    if (rv == 0)
        rv = each_array(finder, raw, "edge_index_dict.npz", visit_edges, NULL);
    if (rv != 0)
        return rv;
    finder->in = raw;
    uint32_t first = finder->layout->num_items;
    (void)finder->files->list(finder->files, raw, visit_archive, finder);
    ogb_sort_tables(finder->layout, first);
    char *labels = finder->rv == 0 ? ogb_join(finder, raw, "node-label.npz") : NULL;
    if (labels != NULL && files_exists(finder->files, labels))
        finder->rv = each_array(finder, raw, "node-label.npz", visit_node_table, "label");
    free(labels);
    return finder->rv;
}

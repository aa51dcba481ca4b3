/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/ogb_layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/raw/npz.h"
#include "partition/raw/raw_memory.h"
#include "partition/raw/text.h"

#define SEPARATOR "___" /* between the parts of "A___rel___B" */
#define WORD_BYTES_MAX 256

struct finder {
    struct ogb_layout *layout;
    struct files *files;
    const char *folder;
    const struct cancel *cancel;
    struct error *error;
    int rv; /* of visits, which cannot say it */
    /* What the visit of a folder's names looks for. */
    const char *in;
    enum ogb_part part;
    uint32_t type;
    uint32_t schemes;
    char scheme[WORD_BYTES_MAX];
};

static int no_memory(const struct finder *finder)
{
    return error_set(finder->error, TR_ENOMEM, "%s: no memory to read it", finder->folder);
}

/* Adds an item; takes the path even when it fails. */
static int add_item(struct finder *finder, enum ogb_part part, uint32_t type, char *path,
                    const char *array, const char *name)
{
    struct ogb_layout *layout = finder->layout;
    if (path == NULL || layout->num_items == OGB_ITEMS_MAX) {
        free(path);
        return path == NULL ? no_memory(finder)
                            : error_set(finder->error, TR_ETOOBIG, "%s: has more than %d files",
                                        finder->folder, OGB_ITEMS_MAX);
    }
    struct ogb_item *grown = realloc(layout->items, (layout->num_items + 1) * sizeof *grown);
    if (grown == NULL) {
        free(path);
        return no_memory(finder);
    }
    layout->items = grown;
    struct ogb_item *item = &grown[layout->num_items++];
    *item = (struct ogb_item){ part, type, path, NULL, NULL, UINT64_MAX };
    item->array = array != NULL ? strdup(array) : NULL;
    item->name = name != NULL ? strdup(name) : NULL;
    return (array != NULL && item->array == NULL) || (name != NULL && item->name == NULL)
               ? no_memory(finder)
               : 0;
}

static void note_unread(struct finder *finder, const char *name)
{
    struct ogb_layout *layout = finder->layout;
    size_t before = layout->unread != NULL ? strlen(layout->unread) : 0;
    char *grown = realloc(layout->unread, before + strlen(name) + 3);
    if (grown == NULL) {
        finder->rv = no_memory(finder);
        return;
    }
    sprintf(grown + before, "%s%s", before > 0 ? ", " : "", name);
    for (char *c = grown + before; *c != '\0'; c++)
        *c = *c >= ' ' && *c < 127 ? *c : '?';
    layout->unread = grown;
}

/* "FOLDER/NAME.csv.gz", or without ".gz"; NULL: there is none, or no memory, which rv says. */
static char *find_text(struct finder *finder, const char *in, const char *name)
{
    static const char *const ENDS[] = { ".csv.gz", ".csv" };
    for (int i = 0; i < 2; i++) {
        char *path = malloc(strlen(in) + strlen(name) + 10);
        if (path == NULL) {
            finder->rv = no_memory(finder);
            return NULL;
        }
        sprintf(path, "%s/%s%s", in, name, ENDS[i]);
        if (files_exists(finder->files, path))
            return path;
        free(path);
    }
    return NULL;
}

/* As find_text, where the layout needs the file. */
static char *need_text(struct finder *finder, const char *in, const char *name)
{
    char *path = find_text(finder, in, name);
    if (path == NULL && finder->rv == 0)
        finder->rv = error_set(finder->error, TR_ENOENT,
                               "%s/%s.csv.gz: is not there; unpack the "
                               "whole download",
                               in, name);
    return path;
}

/* "FOLDER/NAME", which may be a file or folder; NULL without memory. */
static char *layout_join(struct finder *finder, const char *folder, const char *name)
{
    char *path = files_join(folder, name);
    if (path == NULL)
        finder->rv = no_memory(finder);
    return path;
}

/* A single number in a text: that of a list of one graph. Sets of many graphs have more lines. */
static int read_count(struct finder *finder, const char *in, const char *name, uint64_t *count)
{
    struct text text;
    char *path = need_text(finder, in, name);
    if (path == NULL)
        return finder->rv;
    int rv = text_open(&text, finder->files, path, finder->cancel, finder->error);
    if (rv == 0) {
        rv = text_number(&text, RAW_NODES_MAX, "the count", count);
        if (rv == 0)
            rv = text_end_line(&text);
        text_skip_comments(&text, false);
        if (rv == 0 && text_peek(&text) != TEXT_END)
            rv = text_fail(&text, TR_EUNSUPPORTED,
                           "is of a second graph; sets of many graphs are not imported");
        rv = text.rv != 0 ? text.rv : rv;
        text_close(&text);
    }
    free(path);
    return rv;
}

/* A field up to a comma or the line's end. */
static int take_field(struct text *text, char word[WORD_BYTES_MAX])
{
    size_t length = 0;
    int c;
    while ((c = text_peek(text)) != ',' && c != '\n' && c != '\r' && c != TEXT_END) {
        if (length == WORD_BYTES_MAX - 1)
            return text_fail(text, TR_EFORMAT, "has a name of more than %d bytes",
                             WORD_BYTES_MAX - 1);
        word[length++] = (char)c;
        text_skip(text);
    }
    word[length] = '\0';
    if (c == ',')
        text_skip(text);
    return text->rv;
}

static bool line_ends(struct text *text)
{
    text_skip_blanks(text);
    int c = text_peek(text);
    return c == '\n' || c == TEXT_END;
}

/* The node types are the header, their numbers the line below. */
static int read_num_nodes(struct finder *finder, const char *raw)
{
    struct ogb_layout *layout = finder->layout;
    struct text text;
    char word[WORD_BYTES_MAX];
    char *path = need_text(finder, raw, "num-node-dict");
    if (path == NULL)
        return finder->rv;
    int rv = text_open(&text, finder->files, path, finder->cancel, finder->error);
    while (rv == 0 && !line_ends(&text)) {
        rv = take_field(&text, word);
        if (rv == 0 && layout->types.num_ntypes == GRAPH_TYPES_MAX)
            rv = text_fail(&text, TR_ETOOBIG, "has more than %d node types", GRAPH_TYPES_MAX);
        if (rv == 0)
            rv = graph_types_add_ntype(&layout->types, word, finder->error);
    }
    uint32_t count = layout->types.num_ntypes;
    layout->num_nodes = calloc(count + 1, sizeof *layout->num_nodes);
    if (rv == 0 && layout->num_nodes == NULL)
        rv = no_memory(finder);
    if (rv == 0)
        rv = text_end_line(&text);
    for (uint32_t i = 0; rv == 0 && i < count; i++) {
        rv = text_number(&text, RAW_NODES_MAX, "the number of nodes", &layout->num_nodes[i]);
        if (rv == 0 && i + 1 < count && text_peek(&text) == ',')
            text_skip(&text);
    }
    if (rv == 0)
        rv = text_end_line(&text);
    if (rv == 0 && !line_ends(&text))
        rv = text_fail(&text, TR_EUNSUPPORTED,
                       "is of a second graph; sets of many graphs are not imported");
    text_close(&text);
    free(path);
    return rv;
}

static int add_relation(struct finder *finder, const char *src, const char *rel, const char *dst,
                        uint32_t *etype)
{
    char canonical[3 * WORD_BYTES_MAX + 2];
    *etype = finder->layout->types.num_etypes;
    snprintf(canonical, sizeof canonical, "%s:%s:%s", src, rel, dst);
    int rv = *etype == GRAPH_TYPES_MAX
                 ? error_set(finder->error, TR_ETOOBIG, "%s: has more than %d edge types",
                             finder->folder, GRAPH_TYPES_MAX)
                 : graph_types_add_etype(&finder->layout->types, canonical, finder->error);
    if (rv != 0)
        error_prefix(finder->error, "%s", finder->folder);
    return rv;
}

/* "year" for "node_year.csv.gz", as DGL names it; NULL: the file is no table of this kind. */
static const char *table_of(const char *file_name, const char *front, char name[WORD_BYTES_MAX])
{
    size_t length = strlen(front);
    if (strncmp(file_name, front, length) != 0)
        return NULL;
    snprintf(name, WORD_BYTES_MAX, "%s", file_name + length);
    char *end = strstr(name, ".csv");
    if (end == NULL || (strcmp(end, ".csv") != 0 && strcmp(end, ".csv.gz") != 0))
        return NULL;
    *end = '\0';
    return name;
}

static int visit_table(void *arg, const char *file_name)
{
    struct finder *finder = arg;
    char name[WORD_BYTES_MAX];
    const char *found = table_of(file_name, finder->part == OGB_NODE_TABLE ? "node_" : "edge_",
                                 name);
    if (found == NULL || finder->rv != 0)
        return 0;
    finder->rv = add_item(finder, finder->part, finder->type,
                          layout_join(finder, finder->in, file_name), NULL, found);
    return 0;
}

static int add_text(struct finder *finder, enum ogb_part part, uint32_t type, const char *in,
                    const char *file, const char *name)
{
    char *path = find_text(finder, in, file);
    return path != NULL ? add_item(finder, part, type, path, NULL, name) : finder->rv;
}

static int compare_names(const void *a, const void *b)
{
    const struct ogb_item *one = a, *other = b;
    int by_name = strcmp(one->name, other->name);
    return by_name != 0 ? by_name : one->type < other->type ? -1 : one->type > other->type;
}

/* Folders list their names in any order, and a graph that is imported again has to be the same. */
static void sort_tables(struct ogb_layout *layout, uint32_t first)
{
    if (layout->num_items > first)
        qsort(layout->items + first, layout->num_items - first, sizeof *layout->items,
              compare_names);
}

/* Features under their own names, and those that "node_" or "edge_" begins. */
static int add_tables(struct finder *finder, enum ogb_part part, uint32_t type, const char *in)
{
    const char *feat = part == OGB_NODE_TABLE ? "node-feat" : "edge-feat";
    int rv = add_text(finder, part, type, in, feat, "feat");
    /* ogbn-proteins as it is downloaded. */
    if (rv == 0 && part == OGB_NODE_TABLE)
        rv = add_text(finder, part, type, in, "species", "species");
    if (rv != 0 || !files_is_folder(finder->files, in))
        return rv;
    finder->in = in;
    finder->part = part;
    finder->type = type;
    uint32_t first = finder->layout->num_items;
    /* A folder that cannot be listed fails where its files are opened. */
    (void)finder->files->list(finder->files, in, visit_table, finder);
    sort_tables(finder->layout, first);
    return finder->rv;
}

static int add_edges(struct finder *finder, uint32_t type, const char *in)
{
    uint64_t count = 0;
    char *path = need_text(finder, in, "edge");
    int rv = path == NULL ? finder->rv : add_item(finder, OGB_EDGES, type, path, NULL, NULL);
    if (rv == 0)
        rv = read_count(finder, in, "num-edge-list", &count);
    if (rv != 0)
        return rv;
    finder->layout->items[finder->layout->num_items - 1].num_edges = count;
    return add_tables(finder, OGB_EDGE_TABLE, type, in);
}

static int set_one_type(struct finder *finder)
{
    struct ogb_layout *layout = finder->layout;
    layout->num_nodes = calloc(2, sizeof *layout->num_nodes);
    return layout->num_nodes == NULL || graph_types_init_homogeneous(&layout->types) != 0
               ? no_memory(finder)
               : 0;
}

static int lay_out_text(struct finder *finder, const char *raw)
{
    int rv = set_one_type(finder);
    if (rv == 0)
        rv = read_count(finder, raw, "num-node-list", &finder->layout->num_nodes[0]);
    if (rv == 0)
        rv = add_edges(finder, 0, raw);
    if (rv == 0)
        rv = add_tables(finder, OGB_NODE_TABLE, 0, raw);
    return rv == 0 ? add_text(finder, OGB_NODE_TABLE, 0, raw, "node-label", "label") : rv;
}

static int add_text_relation(struct finder *finder, const char *raw, const char *src,
                             const char *rel, const char *dst)
{
    char below[3 * WORD_BYTES_MAX + 20];
    uint32_t etype;
    snprintf(below, sizeof below, "relations/%s" SEPARATOR "%s" SEPARATOR "%s", src, rel, dst);
    int rv = add_relation(finder, src, rel, dst, &etype);
    char *in = rv == 0 ? layout_join(finder, raw, below) : NULL;
    if (in != NULL)
        rv = add_edges(finder, etype, in);
    else if (rv == 0)
        rv = finder->rv;
    free(in);
    return rv;
}

static int read_relations(struct finder *finder, const char *raw, char *path)
{
    struct text text;
    char src[WORD_BYTES_MAX], rel[WORD_BYTES_MAX], dst[WORD_BYTES_MAX];
    int rv = text_open(&text, finder->files, path, finder->cancel, finder->error);
    if (rv != 0)
        return rv;
    for (text_skip_comments(&text, false); rv == 0 && text_peek(&text) != TEXT_END;
         text_skip_comments(&text, false)) {
        rv = take_field(&text, src);
        if (rv == 0)
            rv = take_field(&text, rel);
        if (rv == 0)
            rv = take_field(&text, dst);
        if (rv == 0)
            rv = text_end_line(&text);
        if (rv == 0)
            rv = add_text_relation(finder, raw, src, rel, dst);
    }
    rv = rv == 0 ? text.rv : rv;
    text_close(&text);
    return rv;
}

static int add_text_nodes(struct finder *finder, const char *raw, uint32_t type)
{
    char below[WORD_BYTES_MAX + 20];
    const char *name = finder->layout->types.ntypes[type];
    snprintf(below, sizeof below, "node-feat/%s", name);
    char *in = layout_join(finder, raw, below);
    int rv = in == NULL ? finder->rv : add_tables(finder, OGB_NODE_TABLE, type, in);
    free(in);
    snprintf(below, sizeof below, "node-label/%s", name);
    in = rv == 0 ? layout_join(finder, raw, below) : NULL;
    if (in != NULL)
        rv = add_text(finder, OGB_NODE_TABLE, type, in, "node-label", "label");
    free(in);
    return rv == 0 ? finder->rv : rv;
}

static int lay_out_typed_text(struct finder *finder, const char *raw, char *triplets)
{
    finder->layout->heterogeneous = true;
    int rv = read_num_nodes(finder, raw);
    if (rv == 0)
        rv = read_relations(finder, raw, triplets);
    for (uint32_t i = 0; rv == 0 && i < finder->layout->types.num_ntypes; i++)
        rv = add_text_nodes(finder, raw, i);
    return rv;
}

/* The only number of an array of counts. */
static int read_array_count(struct finder *finder, const struct npz *npz, const char *name,
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
                       "%s: is of %" PRIu64 " graphs; sets of many graphs are not imported",
                       array.place, array.header.num_items);
    if (rv == 0)
        rv = npz_id(&array, 0, count, finder->error);
    if (rv == 0 && *count >= RAW_NODES_MAX)
        rv = error_set(finder->error, TR_ERANGE, "%s: is %" PRIu64 "; it must be below %" PRIu64,
                       array.place, *count, RAW_NODES_MAX);
    npz_array_fini(&array);
    return rv;
}

static int lay_out_arrays(struct finder *finder, const char *raw, const char *path)
{
    struct npz npz;
    uint64_t count;
    finder->layout->arrays = true;
    int rv = npz_init(&npz, finder->files, path, finder->cancel, finder->error);
    if (rv != 0)
        return rv;
    rv = set_one_type(finder);
    if (rv == 0)
        rv = read_array_count(finder, &npz, "num_nodes_list", &finder->layout->num_nodes[0]);
    if (rv == 0)
        rv = read_array_count(finder, &npz, "num_edges_list", &count);
    if (rv == 0)
        rv = add_item(finder, OGB_EDGES, 0, strdup(path), "edge_index", NULL);
    if (rv == 0)
        finder->layout->items[finder->layout->num_items - 1].num_edges = count;
    for (uint32_t i = 0; rv == 0 && i < npz.count; i++) {
        const char *name = npz.names[i];
        bool on_edges = strncmp(name, "edge_", 5) == 0;
        if (strcmp(name, "edge_index") != 0 && (on_edges || strncmp(name, "node_", 5) == 0))
            rv = add_item(finder, on_edges ? OGB_EDGE_TABLE : OGB_NODE_TABLE, 0, strdup(path), name,
                          name + 5);
    }
    npz_fini(&npz);
    char *labels = rv == 0 ? layout_join(finder, raw, "node-label.npz") : NULL;
    if (labels != NULL && files_exists(finder->files, labels))
        return add_item(finder, OGB_NODE_TABLE, 0, labels, "node_label", "label");
    free(labels);
    return rv == 0 ? finder->rv : rv;
}

/* Visits the arrays of an archive in raw/: each is of one type. */
static int each_array(struct finder *finder, const char *raw, const char *file,
                      int (*visit)(struct finder *finder, const struct npz *npz, const char *array,
                                   const char *table),
                      const char *table)
{
    struct npz npz;
    char *path = layout_join(finder, raw, file);
    if (path == NULL)
        return finder->rv;
    int rv = npz_init(&npz, finder->files, path, finder->cancel, finder->error);
    for (uint32_t i = 0; rv == 0 && i < npz.count; i++)
        rv = visit(finder, &npz, npz.names[i], table);
    npz_fini(&npz);
    free(path);
    return rv;
}

static int visit_num_nodes(struct finder *finder, const struct npz *npz, const char *array,
                           const char *table)
{
    struct ogb_layout *layout = finder->layout;
    (void)table;
    uint32_t type = layout->types.num_ntypes;
    uint64_t *grown = realloc(layout->num_nodes, (type + 1) * sizeof *grown);
    if (grown == NULL)
        return no_memory(finder);
    layout->num_nodes = grown;
    int rv = graph_types_add_ntype(&layout->types, array, finder->error);
    return rv == 0 ? read_array_count(finder, npz, array, &grown[type]) : rv;
}

/* Splits "A___rel___B". */
static int split_relation(struct finder *finder, const char *array, char parts[3][WORD_BYTES_MAX])
{
    const char *first = strstr(array, SEPARATOR);
    const char *second = first != NULL ? strstr(first + 3, SEPARATOR) : NULL;
    if (second == NULL || strlen(array) >= WORD_BYTES_MAX)
        return error_set(finder->error, TR_EFORMAT,
                         "%s: '%.100s' is no edge type; SOURCE___RELATION___DESTINATION is",
                         finder->folder, array);
    snprintf(parts[0], WORD_BYTES_MAX, "%.*s", (int)(first - array), array);
    snprintf(parts[1], WORD_BYTES_MAX, "%.*s", (int)(second - first - 3), first + 3);
    snprintf(parts[2], WORD_BYTES_MAX, "%s", second + 3);
    return 0;
}

static int visit_edges(struct finder *finder, const struct npz *npz, const char *array,
                       const char *table)
{
    char parts[3][WORD_BYTES_MAX];
    uint32_t etype = 0;
    (void)table;
    int rv = split_relation(finder, array, parts);
    if (rv == 0)
        rv = add_relation(finder, parts[0], parts[1], parts[2], &etype);
    return rv == 0 ? add_item(finder, OGB_EDGES, etype, strdup(npz->path), array, NULL) : rv;
}

static int visit_node_table(struct finder *finder, const struct npz *npz, const char *array,
                            const char *table)
{
    int type = graph_types_find_ntype(&finder->layout->types, array);
    if (type < 0)
        return error_set(finder->error, TR_EFORMAT, "%s: '%.100s' is no node type", npz->path,
                         array);
    return add_item(finder, OGB_NODE_TABLE, (uint32_t)type, strdup(npz->path), array, table);
}

static int visit_edge_table(struct finder *finder, const struct npz *npz, const char *array,
                            const char *table)
{
    char parts[3][WORD_BYTES_MAX], canonical[3 * WORD_BYTES_MAX + 2];
    int rv = split_relation(finder, array, parts);
    if (rv != 0)
        return rv;
    snprintf(canonical, sizeof canonical, "%s:%s:%s", parts[0], parts[1], parts[2]);
    int type = graph_types_find_etype(&finder->layout->types, canonical);
    if (type < 0)
        return error_set(finder->error, TR_EFORMAT, "%s: '%.100s' is no edge type", npz->path,
                         array);
    return add_item(finder, OGB_EDGE_TABLE, (uint32_t)type, strdup(npz->path), array, table);
}

/* "node_feat_dict.npz" is "feat", "edge_reltype.npz" is "reltype". */
static int visit_archive(void *arg, const char *file_name)
{
    struct finder *finder = arg;
    char name[WORD_BYTES_MAX];
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

static int lay_out_typed_arrays(struct finder *finder, const char *raw)
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
    sort_tables(finder->layout, first);
    char *labels = finder->rv == 0 ? layout_join(finder, raw, "node-label.npz") : NULL;
    if (labels != NULL && files_exists(finder->files, labels))
        finder->rv = each_array(finder, raw, "node-label.npz", visit_node_table, "label");
    free(labels);
    return finder->rv;
}

/* The one of four layouts whose edges are there. */
static int lay_out_raw(struct finder *finder, const char *raw)
{
    char *path = find_text(finder, raw, "edge");
    int rv = finder->rv;
    if (path != NULL) {
        rv = lay_out_text(finder, raw);
    } else if (rv == 0 && (path = find_text(finder, raw, "triplet-type-list")) != NULL) {
        rv = lay_out_typed_text(finder, raw, path);
    } else if (finder->rv == 0 && (path = layout_join(finder, raw, "data.npz")) != NULL) {
        char *typed = layout_join(finder, raw, "edge_index_dict.npz");
        if (files_exists(finder->files, path))
            rv = lay_out_arrays(finder, raw, path);
        else if (typed != NULL && files_exists(finder->files, typed))
            rv = lay_out_typed_arrays(finder, raw);
        else
            rv = error_set(finder->error, TR_ENOENT,
                           "%s: holds none of edge.csv.gz, triplet-type-list.csv.gz, data.npz and "
                           "edge_index_dict.npz; name the folder that the download was unpacked "
                           "to (processed/ holds pickles, which are not read)",
                           raw);
        free(typed);
    } else {
        rv = finder->rv;
    }
    free(path);
    return rv;
}

static int visit_scheme(void *arg, const char *name)
{
    struct finder *finder = arg;
    char *path = layout_join(finder, finder->in, name);
    if (path != NULL && files_is_folder(finder->files, path)) {
        finder->schemes++;
        snprintf(finder->scheme, sizeof finder->scheme, "%s", name);
    }
    free(path);
    return 0;
}

/* Masks of one type; *any: there is a text for one of them. */
static int add_masks(struct finder *finder, const char *in, uint32_t type, bool *any)
{
    static const char *const NAMES[] = { "train", "valid", "test" };
    int rv = 0;
    for (int i = 0; rv == 0 && i < 3; i++) {
        uint32_t before = finder->layout->num_items;
        rv = add_text(finder, (enum ogb_part)(OGB_TRAIN + i), type, in, NAMES[i], NULL);
        *any |= finder->layout->num_items > before;
    }
    return rv;
}

static int visit_pickle(void *arg, const char *name)
{
    struct finder *finder = arg;
    size_t length = strlen(name);
    char shown[3 * WORD_BYTES_MAX];
    if (finder->rv != 0 || length < 4 || strcmp(name + length - 3, ".pt") != 0)
        return 0;
    snprintf(shown, sizeof shown, "split/%s/%s", finder->scheme, name);
    note_unread(finder, shown);
    return 0;
}

static int lay_out_scheme(struct finder *finder, const char *in)
{
    struct ogb_layout *layout = finder->layout;
    bool any = false;
    int rv = layout->heterogeneous ? 0 : add_masks(finder, in, 0, &any);
    for (uint32_t i = 0; rv == 0 && layout->heterogeneous && i < layout->types.num_ntypes; i++) {
        char *of_type = layout_join(finder, in, layout->types.ntypes[i]);
        rv = of_type == NULL ? finder->rv : add_masks(finder, of_type, i, &any);
        free(of_type);
    }
    if (rv != 0)
        return rv;
    (void)finder->files->list(finder->files, in, visit_pickle, finder);
    layout->split = any ? strdup(finder->scheme) : NULL;
    return any && layout->split == NULL ? no_memory(finder) : finder->rv;
}

static int lay_out_split(struct finder *finder, const char *split)
{
    char *splits = layout_join(finder, finder->folder, "split");
    if (splits == NULL)
        return finder->rv;
    finder->in = splits;
    if (files_is_folder(finder->files, splits))
        (void)finder->files->list(finder->files, splits, visit_scheme, finder);
    if (split != NULL)
        snprintf(finder->scheme, sizeof finder->scheme, "%s", split);
    char *in = finder->rv == 0 ? layout_join(finder, splits, finder->scheme) : NULL;
    int rv = finder->rv;
    if (rv == 0 && split != NULL &&
        (strchr(split, '/') != NULL || split[0] == '.' || split[0] == '\0' ||
         !files_is_folder(finder->files, in)))
        rv = error_set(finder->error, TR_ENOENT, "%s: holds no \"split\" '%.100s'", splits, split);
    else if (rv == 0 && split == NULL && finder->schemes > 1)
        rv = error_set(finder->error, TR_EINVAL,
                       "%s: holds %u splits, '%s' among them; say which by \"split\"", splits,
                       finder->schemes, finder->scheme);
    else if (rv == 0 && finder->schemes > 0)
        rv = lay_out_scheme(finder, in);
    free(in);
    free(splits);
    return rv;
}

int ogb_layout_init(struct ogb_layout *layout, struct files *files, const char *folder,
                    const char *split, const struct cancel *cancel, struct error *error)
{
    struct finder finder = {
        .layout = layout, .files = files, .folder = folder, .cancel = cancel, .error = error
    };
    *layout = (struct ogb_layout){ 0 };
    layout->name = raw_name_of(folder);
    char *raw = files_join(folder, "raw"), *mapping = files_join(folder, "mapping");
    int rv = layout->name == NULL || raw == NULL || mapping == NULL ? no_memory(&finder) : 0;
    if (rv == 0)
        rv = lay_out_raw(&finder, raw);
    if (rv == 0)
        rv = lay_out_split(&finder, split);
    if (rv == 0 && files_exists(files, mapping)) {
        note_unread(&finder, "mapping");
        rv = finder.rv;
    }
    free(raw);
    free(mapping);
    if (rv != 0)
        ogb_layout_fini(layout);
    return rv;
}

void ogb_layout_fini(struct ogb_layout *layout)
{
    for (uint32_t i = 0; i < layout->num_items; i++) {
        free(layout->items[i].path);
        free(layout->items[i].array);
        free(layout->items[i].name);
    }
    free(layout->items);
    free(layout->unread);
    free(layout->split);
    free(layout->name);
    free(layout->num_nodes);
    graph_types_fini(&layout->types);
    *layout = (struct ogb_layout){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layouts of OGB's sets that are texts, of one type and of several.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/import/ogb_finder.h"
#include "partition/raw/raw_memory.h"
#include "partition/raw/text.h"

/* As find_text, where the layout needs the file. */
static char *need_text(struct ogb_finder *finder, const char *in, const char *name)
{
    char *path = ogb_find_text(finder, in, name);
    if (path == NULL && finder->rv == 0)
        finder->rv = error_set(finder->error, TR_ENOENT,
                               "%s/%s.csv.gz: is not there; unpack the "
                               "whole download",
                               in, name);
    return path;
}

/* A single number in a text: that of a list of one graph. Sets of many graphs have more lines. */
static int read_text_count(struct ogb_finder *finder, const char *in, const char *name,
                           uint64_t *count)
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
                           "belongs to a second graph; sets of many graphs are not imported");
        rv = text.rv != 0 ? text.rv : rv;
        text_close(&text);
    }
    free(path);
    return rv;
}

/* A field up to a comma or the line's end. */
static int take_text_field(struct text *text, char word[OGB_WORD_MAX])
{
    size_t length = 0;
    int c;
    while ((c = text_peek(text)) != ',' && c != '\n' && c != '\r' && c != TEXT_END) {
        if (length == OGB_WORD_MAX - 1)
            return text_fail(text, TR_EFORMAT, "has a name of more than %d bytes",
                             OGB_WORD_MAX - 1);
        word[length++] = (char)c;
        text_skip(text);
    }
    word[length] = '\0';
    if (c == ',')
        text_skip(text);
    return text->rv;
}

static bool text_line_ends(struct text *text)
{
    text_skip_blanks(text);
    int c = text_peek(text);
    return c == '\n' || c == TEXT_END;
}

/* The node types are the header, their numbers the line below. */
static int read_num_nodes(struct ogb_finder *finder, const char *raw)
{
    struct ogb_layout *layout = finder->layout;
    struct text text;
    char word[OGB_WORD_MAX];
    char *path = need_text(finder, raw, "num-node-dict");
    if (path == NULL)
        return finder->rv;
    int rv = text_open(&text, finder->files, path, finder->cancel, finder->error);
    while (rv == 0 && !text_line_ends(&text)) {
        rv = take_text_field(&text, word);
        if (rv == 0 && layout->types.num_ntypes == GRAPH_TYPES_MAX)
            rv = text_fail(&text, TR_ETOOBIG, "has more than %d node types", GRAPH_TYPES_MAX);
        if (rv == 0)
            rv = graph_types_add_ntype(&layout->types, word, finder->error);
    }
    uint32_t count = layout->types.num_ntypes;
    layout->num_nodes = calloc(count + 1, sizeof *layout->num_nodes);
    if (rv == 0 && layout->num_nodes == NULL)
        rv = ogb_no_memory(finder);
    if (rv == 0)
        rv = text_end_line(&text);
    for (uint32_t i = 0; rv == 0 && i < count; i++) {
        rv = text_number(&text, RAW_NODES_MAX, "the number of nodes", &layout->num_nodes[i]);
        if (rv == 0 && i + 1 < count && text_peek(&text) == ',')
            text_skip(&text);
    }
    if (rv == 0)
        rv = text_end_line(&text);
    if (rv == 0 && !text_line_ends(&text))
        rv = text_fail(&text, TR_EUNSUPPORTED,
                       "belongs to a second graph; sets of many graphs are not imported");
    text_close(&text);
    free(path);
    return rv;
}

/* "year" for "node_year.csv.gz", as DGL names it; NULL: the file is no table of this kind. */
static const char *table_of(const char *file_name, const char *front, char name[OGB_WORD_MAX])
{
    size_t length = strlen(front);
    if (strncmp(file_name, front, length) != 0)
        return NULL;
    snprintf(name, OGB_WORD_MAX, "%s", file_name + length);
    char *end = strstr(name, ".csv");
    if (end == NULL || (strcmp(end, ".csv") != 0 && strcmp(end, ".csv.gz") != 0))
        return NULL;
    *end = '\0';
    return name;
}

static int visit_text_table(void *arg, const char *file_name)
{
    struct ogb_finder *finder = arg;
    char name[OGB_WORD_MAX];
    const char *found = table_of(file_name, finder->part == OGB_NODE_TABLE ? "node_" : "edge_",
                                 name);
    if (found == NULL || finder->rv != 0)
        return 0;
    finder->rv = ogb_add_item(finder, finder->part, finder->type,
                              ogb_join(finder, finder->in, file_name), NULL, found);
    return 0;
}

/* Features under their own names, and those that "node_" or "edge_" begins. */
static int add_tables(struct ogb_finder *finder, enum ogb_part part, uint32_t type, const char *in)
{
    const char *feat = part == OGB_NODE_TABLE ? "node-feat" : "edge-feat";
    int rv = ogb_add_text(finder, part, type, in, feat, "feat");
    /* ogbn-proteins as it is downloaded. */
    if (rv == 0 && part == OGB_NODE_TABLE)
        rv = ogb_add_text(finder, part, type, in, "species", "species");
    if (rv != 0 || !files_is_folder(finder->files, in))
        return rv;
    finder->in = in;
    finder->part = part;
    finder->type = type;
    uint32_t first = finder->layout->num_items;
    /* A folder that cannot be listed fails where its files are opened. */
    (void)finder->files->list(finder->files, in, visit_text_table, finder);
    ogb_sort_tables(finder->layout, first);
    return finder->rv;
}

static int add_edges(struct ogb_finder *finder, uint32_t type, const char *in)
{
    uint64_t count = 0;
    char *path = need_text(finder, in, "edge");
    int rv = path == NULL ? finder->rv : ogb_add_item(finder, OGB_EDGES, type, path, NULL, NULL);
    if (rv == 0)
        rv = read_text_count(finder, in, "num-edge-list", &count);
    if (rv != 0)
        return rv;
    finder->layout->items[finder->layout->num_items - 1].num_edges = count;
    return add_tables(finder, OGB_EDGE_TABLE, type, in);
}

int ogb_lay_out_text(struct ogb_finder *finder, const char *raw)
{
    int rv = ogb_set_one_type(finder);
    if (rv == 0)
        rv = read_text_count(finder, raw, "num-node-list", &finder->layout->num_nodes[0]);
    if (rv == 0)
        rv = add_edges(finder, 0, raw);
    if (rv == 0)
        rv = add_tables(finder, OGB_NODE_TABLE, 0, raw);
    return rv == 0 ? ogb_add_text(finder, OGB_NODE_TABLE, 0, raw, "node-label", "label") : rv;
}

static int add_text_relation(struct ogb_finder *finder, const char *raw, const char *src,
                             const char *rel, const char *dst)
{
    char below[3 * OGB_WORD_MAX + 20];
    uint32_t etype;
    snprintf(below, sizeof below, "relations/%s" OGB_SEPARATOR "%s" OGB_SEPARATOR "%s", src, rel,
             dst);
    int rv = ogb_add_relation(finder, src, rel, dst, &etype);
    char *in = rv == 0 ? ogb_join(finder, raw, below) : NULL;
    if (in != NULL)
        rv = add_edges(finder, etype, in);
    else if (rv == 0)
        rv = finder->rv;
    free(in);
    return rv;
}

static int read_relations(struct ogb_finder *finder, const char *raw, char *path)
{
    struct text text;
    char src[OGB_WORD_MAX], rel[OGB_WORD_MAX], dst[OGB_WORD_MAX];
    int rv = text_open(&text, finder->files, path, finder->cancel, finder->error);
    if (rv != 0)
        return rv;
    for (text_skip_comments(&text, false); rv == 0 && text_peek(&text) != TEXT_END;
         text_skip_comments(&text, false)) {
        rv = take_text_field(&text, src);
        if (rv == 0)
            rv = take_text_field(&text, rel);
        if (rv == 0)
            rv = take_text_field(&text, dst);
        if (rv == 0)
            rv = text_end_line(&text);
        if (rv == 0)
            rv = add_text_relation(finder, raw, src, rel, dst);
    }
    rv = rv == 0 ? text.rv : rv;
    text_close(&text);
    return rv;
}

static int add_text_nodes(struct ogb_finder *finder, const char *raw, uint32_t type)
{
    char below[OGB_WORD_MAX + 20];
    const char *name = finder->layout->types.ntypes[type];
    snprintf(below, sizeof below, "node-feat/%s", name);
    char *in = ogb_join(finder, raw, below);
    int rv = in == NULL ? finder->rv : add_tables(finder, OGB_NODE_TABLE, type, in);
    free(in);
    snprintf(below, sizeof below, "node-label/%s", name);
    in = rv == 0 ? ogb_join(finder, raw, below) : NULL;
    if (in != NULL)
        rv = ogb_add_text(finder, OGB_NODE_TABLE, type, in, "node-label", "label");
    free(in);
    return rv == 0 ? finder->rv : rv;
}

int ogb_lay_out_typed_text(struct ogb_finder *finder, const char *raw, char *triplets)
{
    finder->layout->heterogeneous = true;
    int rv = read_num_nodes(finder, raw);
    if (rv == 0)
        rv = read_relations(finder, raw, triplets);
    for (uint32_t i = 0; rv == 0 && i < finder->layout->types.num_ntypes; i++)
        rv = add_text_nodes(finder, raw, i);
    return rv;
}

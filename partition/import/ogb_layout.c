/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/ogb_layout.h"

#include <stdlib.h>
#include <string.h>

#include "partition/import/ogb_finder.h"
#include "partition/raw/raw_memory.h"

/* The one of four layouts whose edges are there. */
static int lay_out_raw(struct ogb_finder *finder, const char *raw)
{
    char *path = ogb_find_text(finder, raw, "edge");
    int rv = finder->rv;
    if (path != NULL) {
        rv = ogb_lay_out_text(finder, raw);
    } else if (rv == 0 && (path = ogb_find_text(finder, raw, "triplet-type-list")) != NULL) {
        rv = ogb_lay_out_typed_text(finder, raw, path);
    } else if (finder->rv == 0 && (path = ogb_join(finder, raw, "data.npz")) != NULL) {
        char *typed = ogb_join(finder, raw, "edge_index_dict.npz");
        if (files_exists(finder->files, path))
            rv = ogb_lay_out_arrays(finder, raw, path);
        else if (typed != NULL && files_exists(finder->files, typed))
            rv = ogb_lay_out_typed_arrays(finder, raw);
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

/* Names of raw/ that are left out, as many as a report may list. */
#define LEFT_OUT_MAX 64

struct ogb_left_out {
    const struct ogb_layout *layout;
    const char *raw;
    uint32_t count; /* also of those beyond the bound */
    char *names[LEFT_OUT_MAX];
    bool failed;
};

/* What says how many of others there are, or holds them; also where nothing of it was needed. */
static bool counts_others(const char *name)
{
    static const char *const KNOWN[] = {
        "num-node-list",  "num-edge-list",     "num-node-dict",     "num_nodes_dict",
        "num_edges_dict", "relations",         "node-feat",         "node-label",
        "node_feat_dict", "triplet-type-list", "nodetype-has-feat", "nodetype-has-label"
    };
    size_t length = strcspn(name, ".");
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        if (strlen(KNOWN[i]) == length && strncmp(name, KNOWN[i], length) == 0)
            return true;
    }
    return false;
}

/* Whether an item is the file of raw/, or lies in the folder of that name. */
static bool has_item(const struct ogb_layout *layout, const char *raw, const char *name)
{
    size_t above = strlen(raw), length = strlen(name);
    for (uint32_t i = 0; i < layout->num_items; i++) {
        const char *path = layout->items[i].path;
        if (strncmp(path, raw, above) == 0 && path[above] == '/' &&
            strncmp(path + above + 1, name, length) == 0 &&
            (path[above + 1 + length] == '\0' || path[above + 1 + length] == '/'))
            return true;
    }
    return false;
}

static int visit_left_out(void *arg, const char *name)
{
    struct ogb_left_out *left = arg;
    if (counts_others(name) || has_item(left->layout, left->raw, name))
        return 0;
    if (left->count < LEFT_OUT_MAX) {
        left->names[left->count] = strdup(name);
        left->failed = left->names[left->count] == NULL;
    }
    left->count += !left->failed;
    return left->failed;
}

static int compare_left_out(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Folders list their names in any order, and reports of one folder are the same. */
static int note_left_out(struct ogb_finder *finder, const char *raw)
{
    struct ogb_left_out left = { .layout = finder->layout, .raw = raw };
    (void)finder->files->list(finder->files, raw, visit_left_out, &left);
    uint32_t count = left.count < LEFT_OUT_MAX ? left.count : LEFT_OUT_MAX;
    int rv = left.failed ? ogb_no_memory(finder) : 0;
    qsort(left.names, count, sizeof *left.names, compare_left_out);
    for (uint32_t i = 0; i < count; i++) {
        char *shown = rv == 0 ? ogb_join(finder, "raw", left.names[i]) : NULL;
        if (shown != NULL)
            ogb_note_unread(finder, shown);
        free(shown);
        free(left.names[i]);
        rv = rv == 0 ? finder->rv : rv;
    }
    if (rv == 0 && left.count > count)
        ogb_note_unread(finder, "and more of raw");
    return rv == 0 ? finder->rv : rv;
}

int ogb_layout_init(struct ogb_layout *layout, struct files *files, const char *folder,
                    const char *split, const struct cancel *cancel, struct error *error)
{
    struct ogb_finder finder = {
        .layout = layout, .files = files, .folder = folder, .cancel = cancel, .error = error
    };
    *layout = (struct ogb_layout){ 0 };
    layout->name = raw_name_of(folder);
    char *raw = files_join(folder, "raw"), *mapping = files_join(folder, "mapping");
    int rv = layout->name == NULL || raw == NULL || mapping == NULL ? ogb_no_memory(&finder) : 0;
    if (rv == 0 && !files_is_folder(files, folder))
        rv = error_set(
            error, TR_ENOENT,
            "%s: there is no such folder; name the one that the download was unpacked to, "
            "which holds raw/",
            folder);
    if (rv == 0 && !files_is_folder(files, raw))
        rv = error_set(
            error, TR_ENOENT,
            "%s: holds no folder raw/; name the folder that the download was unpacked to, "
            "such as dataset/ogbn_arxiv",
            folder);
    if (rv == 0)
        rv = lay_out_raw(&finder, raw);
    if (rv == 0)
        rv = ogb_lay_out_split(&finder, split);
    if (rv == 0)
        rv = note_left_out(&finder, raw);
    if (rv == 0 && files_exists(files, mapping)) {
        ogb_note_unread(&finder, "mapping");
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
    free(layout->pickle);
    free(layout->name);
    free(layout->num_nodes);
    graph_types_fini(&layout->types);
    *layout = (struct ogb_layout){ 0 };
}

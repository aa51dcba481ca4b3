/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/ogb_finder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ogb_no_memory(const struct ogb_finder *finder)
{
    return error_set(finder->error, TR_ENOMEM, "%s: no memory to read it", finder->folder);
}

int ogb_add_item(struct ogb_finder *finder, enum ogb_part part, uint32_t type, char *path,
                 const char *array, const char *name)
{
    struct ogb_layout *layout = finder->layout;
    if (path == NULL || layout->num_items == OGB_ITEMS_MAX) {
        free(path);
        return path == NULL ? ogb_no_memory(finder)
                            : error_set(finder->error, TR_ETOOBIG, "%s: has more than %d files",
                                        finder->folder, OGB_ITEMS_MAX);
    }
    struct ogb_item *grown = realloc(layout->items, (layout->num_items + 1) * sizeof *grown);
    if (grown == NULL) {
        free(path);
        return ogb_no_memory(finder);
    }
    layout->items = grown;
    struct ogb_item *item = &grown[layout->num_items++];
    *item = (struct ogb_item){ part, type, path, NULL, NULL, UINT64_MAX };
    item->array = array != NULL ? strdup(array) : NULL;
    item->name = name != NULL ? strdup(name) : NULL;
    return (array != NULL && item->array == NULL) || (name != NULL && item->name == NULL)
               ? ogb_no_memory(finder)
               : 0;
}

void ogb_note_unread(struct ogb_finder *finder, const char *name)
{
    struct ogb_layout *layout = finder->layout;
    size_t before = layout->unread != NULL ? strlen(layout->unread) : 0;
    char *grown = realloc(layout->unread, before + strlen(name) + 3);
    if (grown == NULL) {
        finder->rv = ogb_no_memory(finder);
        return;
    }
    sprintf(grown + before, "%s%s", before > 0 ? ", " : "", name);
    for (char *c = grown + before; *c != '\0'; c++)
        *c = *c >= ' ' && *c < 127 ? *c : '?';
    layout->unread = grown;
}

char *ogb_find_text(struct ogb_finder *finder, const char *in, const char *name)
{
    static const char *const ENDS[] = { ".csv.gz", ".csv" };
    for (int i = 0; i < 2; i++) {
        char *path = malloc(strlen(in) + strlen(name) + 10);
        if (path == NULL) {
            finder->rv = ogb_no_memory(finder);
            return NULL;
        }
        sprintf(path, "%s/%s%s", in, name, ENDS[i]);
        if (files_exists(finder->files, path))
            return path;
        free(path);
    }
    return NULL;
}

char *ogb_join(struct ogb_finder *finder, const char *folder, const char *name)
{
    char *path = files_join(folder, name);
    if (path == NULL)
        finder->rv = ogb_no_memory(finder);
    return path;
}

int ogb_add_text(struct ogb_finder *finder, enum ogb_part part, uint32_t type, const char *in,
                 const char *file, const char *name)
{
    char *path = ogb_find_text(finder, in, file);
    return path != NULL ? ogb_add_item(finder, part, type, path, NULL, name) : finder->rv;
}

int ogb_add_relation(struct ogb_finder *finder, const char *src, const char *rel, const char *dst,
                     uint32_t *etype)
{
    char canonical[3 * OGB_WORD_MAX + 2];
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

int ogb_set_one_type(struct ogb_finder *finder)
{
    struct ogb_layout *layout = finder->layout;
    layout->num_nodes = calloc(2, sizeof *layout->num_nodes);
    return layout->num_nodes == NULL || graph_types_init_homogeneous(&layout->types) != 0
               ? ogb_no_memory(finder)
               : 0;
}

static int compare_names(const void *a, const void *b)
{
    const struct ogb_item *one = a, *other = b;
    int by_name = strcmp(one->name, other->name);
    return by_name != 0 ? by_name : one->type < other->type ? -1 : one->type > other->type;
}

void ogb_sort_tables(struct ogb_layout *layout, uint32_t first)
{
    if (layout->num_items > first)
        qsort(layout->items + first, layout->num_items - first, sizeof *layout->items,
              compare_names);
}

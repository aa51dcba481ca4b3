/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The split of an OGB folder, whose parts become masks: texts of node IDs. Splits in .pt files are
 * pickles, which are named and never read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/import/ogb_finder.h"

static int visit_scheme(void *arg, const char *name)
{
    struct ogb_finder *finder = arg;
    char *path = ogb_join(finder, finder->in, name);
    if (path != NULL && files_is_folder(finder->files, path)) {
        finder->schemes++;
        snprintf(finder->scheme, sizeof finder->scheme, "%s", name);
    }
    free(path);
    return 0;
}

/* Masks of one type; *any: there is a text for one of them. */
static int add_masks(struct ogb_finder *finder, const char *in, uint32_t type, bool *any)
{
    static const char *const NAMES[] = { "train", "valid", "test" };
    int rv = 0;
    for (int i = 0; rv == 0 && i < 3; i++) {
        uint32_t before = finder->layout->num_items;
        rv = ogb_add_text(finder, (enum ogb_part)(OGB_TRAIN + i), type, in, NAMES[i], NULL);
        *any |= finder->layout->num_items > before;
    }
    return rv;
}

static int visit_pickle(void *arg, const char *name)
{
    struct ogb_finder *finder = arg;
    size_t length = strlen(name);
    char shown[3 * OGB_WORD_MAX];
    if (finder->rv != 0 || length < 4 || strcmp(name + length - 3, ".pt") != 0)
        return 0;
    snprintf(shown, sizeof shown, "split/%s/%s", finder->scheme, name);
    ogb_note_unread(finder, shown);
    if (strcmp(name, "split_dict.pt") == 0) {
        free(finder->layout->pickle);
        finder->layout->pickle = strdup(shown);
        if (finder->layout->pickle == NULL)
            finder->rv = ogb_no_memory(finder);
    }
    return 0;
}

/* The split of a set of links is of edges, and would give no mask. */
static bool has_labels(const struct ogb_layout *layout)
{
    for (uint32_t i = 0; i < layout->num_items; i++)
        if (layout->items[i].part == OGB_NODE_TABLE && strcmp(layout->items[i].name, "label") == 0)
            return true;
    return false;
}

static int lay_out_scheme(struct ogb_finder *finder, const char *in)
{
    struct ogb_layout *layout = finder->layout;
    bool any = false;
    int rv = layout->heterogeneous ? 0 : add_masks(finder, in, 0, &any);
    for (uint32_t i = 0; rv == 0 && layout->heterogeneous && i < layout->types.num_ntypes; i++) {
        char *of_type = ogb_join(finder, in, layout->types.ntypes[i]);
        rv = of_type == NULL ? finder->rv : add_masks(finder, of_type, i, &any);
        free(of_type);
    }
    if (rv != 0)
        return rv;
    (void)finder->files->list(finder->files, in, visit_pickle, finder);
    if (any || !has_labels(layout)) {
        free(layout->pickle);
        layout->pickle = NULL;
    }
    layout->split = any ? strdup(finder->scheme) : NULL;
    return any && layout->split == NULL ? ogb_no_memory(finder) : finder->rv;
}

int ogb_lay_out_split(struct ogb_finder *finder, const char *split)
{
    char *splits = ogb_join(finder, finder->folder, "split");
    if (splits == NULL)
        return finder->rv;
    finder->in = splits;
    if (files_is_folder(finder->files, splits))
        (void)finder->files->list(finder->files, splits, visit_scheme, finder);
    if (split != NULL)
        snprintf(finder->scheme, sizeof finder->scheme, "%s", split);
    char *in = finder->rv == 0 ? ogb_join(finder, splits, finder->scheme) : NULL;
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

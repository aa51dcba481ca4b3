/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/ogb_layout.h"

#include <stdlib.h>

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
    if (rv == 0)
        rv = lay_out_raw(&finder, raw);
    if (rv == 0)
        rv = ogb_lay_out_split(&finder, split);
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

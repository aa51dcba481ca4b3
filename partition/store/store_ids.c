/* SPDX-License-Identifier: Apache-2.0 */
/* Reading original IDs of a range of global IDs, which may lie in several partitions. */
#include <inttypes.h>

#include "partition/store/part_files.h"
#include "partition/store/store_private.h"

/* IDs [begin, end) of one partition's extent. */
static int read_extent(struct store *store, bool on_edges, uint32_t type,
                       const struct extent *extent, uint64_t begin, uint64_t end, uint64_t *ids,
                       struct error *error)
{
    const struct graph_types *types = &store->file.book.types;
    char *name = on_edges ? part_file_edge(types, type, PART_ORIGINAL_IDS)
                          : part_file_node(types, type, PART_ORIGINAL_IDS);
    struct array_form form = {
        .kind = 'u', .item_bytes = 8, .ndim = 1, .rows = extent->end - extent->begin
    };
    struct npy npy;
    int rv = store_open_array(store, store_path(store, extent->owner, name), &form, &npy, error);
    if (rv != 0)
        return rv;
    rv = npy_read_rows(&npy, begin - extent->begin, end - begin, ids, error);
    npy_close(&npy);
    return rv;
}

int store_read_original_ids(struct store *store, bool on_edges, uint32_t type, uint64_t first,
                            size_t count, uint64_t *ids, struct error *error)
{
    const struct book *book = &store->file.book;
    const char *what = on_edges ? "edge" : "node";
    uint32_t num_types = on_edges ? book->types.num_etypes : book->types.num_ntypes;
    if (type >= num_types)
        return error_set(error, TR_ERANGE, "%s: there is no %s type %u, only %u of them",
                         store->path, what, type, num_types);
    uint64_t total = on_edges ? book->num_edges[type] : book->num_nodes[type];
    if (first > total || count > total - first)
        return error_set(error, TR_ERANGE,
                         "%s: %zu %s IDs from %" PRIu64 " on were asked for, of %" PRIu64,
                         store->path, count, what, first, total);
    if (on_edges && !store->file.original_edge_ids)
        return error_set(
            error, TR_ENOENT,
            "%s: the graph was partitioned without original edge IDs; partition it again with them",
            store->path);
    const struct extent *extents = on_edges ? book->edge_extents[type] : book->node_extents[type];
    uint64_t last = first + count;
    int rv = 0;
    for (uint64_t next = first; next < last && rv == 0;) {
        const struct extent *extent = &extents[extents_owner(extents, book->num_parts, next)];
        uint64_t end = extent->end < last ? extent->end : last;
        rv = read_extent(store, on_edges, type, extent, next, end, ids + (next - first), error);
        next = end;
    }
    return rv;
}

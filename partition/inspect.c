#include "partition/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "partition/store_private.h"

/* Adds the sizes of the files of one folder. */
struct summing {
    struct store *store;
    const char *folder;
    uint64_t bytes;
    struct error *error;
    int rv;
};

static int add_size(void *arg, const char *name)
{
    struct summing *summing = arg;
    uint64_t size = 0;
    char *path = files_join(summing->folder, name);
    summing->rv = path == NULL
                      ? error_set(summing->error, TR_ENOMEM, "no memory for a file's name")
                      : files_size(summing->store->files, path, &size, summing->error);
    summing->bytes += size;
    free(path);
    return summing->rv != 0;
}

static int sum_files(struct store *store, uint32_t part, uint64_t *bytes, struct error *error)
{
    char *folder = store_path(store, part, strdup("."));
    struct summing summing = { .store = store, .folder = folder, .error = error };
    if (folder == NULL)
        return error_set(error, TR_ENOMEM, "no memory for a folder's name");
    int rv = store->files->list(store->files, folder, add_size, &summing);
    if (rv < 0)
        error_set_errno(error, -rv, "%s: cannot list the folder", folder);
    rv = rv < 0 ? error_from_errno(-rv) : summing.rv;
    free(folder);
    *bytes = summing.bytes;
    return rv;
}

static int count_halo(struct store *store, uint32_t part, uint64_t *total, struct error *error)
{
    const struct book *book = store_book(store);
    int rv = 0;
    for (uint32_t hop = 1; hop <= book->halo_hops && rv == 0; hop++) {
        for (uint32_t t = 0; t < book->types.num_ntypes && rv == 0; t++) {
            uint64_t *ids, count = 0;
            rv = store_read_halo(store, part, t, hop, &ids, &count, error);
            if (rv == 0)
                free(ids);
            *total += count;
        }
    }
    return rv;
}

static int inspect_part(struct inspection *inspection, struct store *store, uint32_t part,
                        struct error *error)
{
    const struct book *book = store_book(store);
    struct inspect_part *facts = &inspection->parts[part];
    struct partition_load topology = { 0 }, all = { .features = true };
    for (uint32_t t = 0; t < book->types.num_ntypes; t++)
        facts->num_nodes += book->node_extents[t][part].end - book->node_extents[t][part].begin;
    for (uint32_t e = 0; e < book->types.num_etypes; e++)
        facts->num_edges += book->edge_extents[e][part].end - book->edge_extents[e][part].begin;
    facts->topology_bytes = store_part_bytes(store, part, &topology);
    facts->feature_bytes = store_part_bytes(store, part, &all) - facts->topology_bytes;
    int rv = count_halo(store, part, &facts->halo_nodes, error);
    return rv == 0 ? sum_files(store, part, &facts->file_bytes, error) : rv;
}

int inspect_init(struct inspection *inspection, struct store *store, struct error *error)
{
    const struct book *book = store_book(store);
    uint64_t largest_nodes = 0, largest_edges = 0;
    int rv = 0;
    *inspection = (struct inspection){ .file = store_book_file(store) };
    inspection->parts = calloc(book->num_parts, sizeof *inspection->parts);
    if (inspection->parts == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the partitions");
    for (uint32_t p = 0; p < book->num_parts && rv == 0; p++) {
        const struct inspect_part *facts = &inspection->parts[p];
        rv = inspect_part(inspection, store, p, error);
        inspection->num_nodes += facts->num_nodes;
        inspection->num_edges += facts->num_edges;
        inspection->file_bytes += facts->file_bytes;
        largest_nodes = facts->num_nodes > largest_nodes ? facts->num_nodes : largest_nodes;
        largest_edges = facts->num_edges > largest_edges ? facts->num_edges : largest_edges;
    }
    if (inspection->num_nodes > 0)
        inspection->node_balance =
            (double)largest_nodes * book->num_parts / (double)inspection->num_nodes;
    if (inspection->num_edges > 0)
        inspection->edge_balance =
            (double)largest_edges * book->num_parts / (double)inspection->num_edges;
    if (rv != 0)
        inspect_fini(inspection);
    return rv;
}

void inspect_fini(struct inspection *inspection)
{
    free(inspection->parts);
    *inspection = (struct inspection){ 0 };
}

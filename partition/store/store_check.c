/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing every array of a directory with its checksum, without what they were made of. */
#include <stdlib.h>
#include <string.h>

#include "partition/store/store_private.h"

static int check_file(struct store *store, uint32_t part, const char *name,
                      struct parallel *parallel, const struct cancel *cancel,
                      struct store_checked *checked, struct error *error)
{
    struct npy npy;
    const void *data;
    uint32_t sum;
    char *path = store_path(store, part, strdup(name));
    int rv = path == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory for a file's name", store->path)
                 : npy_open(&npy, store->files, path, error);
    if (rv != 0) {
        free(path);
        return rv;
    }
    uint64_t bytes = npy.header.num_items * npy.header.item_bytes;
    rv = npy_map(&npy, &data, error);
    if (rv == 0)
        rv = store_sum_array(&npy, data, (size_t)bytes, parallel, cancel, &sum, error);
    if (rv == 0)
        rv = store_check_sum(store, part, path, sum, error);
    checked->num_files++;
    checked->bytes += npy.file.size;
    npy_close(&npy);
    free(path);
    return rv;
}

/* The arrays of one partition, or with CHECKSUMS_GRAPH those beside NAME.json. */
static int check_folder(struct store *store, uint32_t part, struct parallel *parallel,
                        const struct cancel *cancel, struct store_checked *checked,
                        struct error *error)
{
    const struct checksums *checksums = &store->file.checksums;
    int rv = 0;
    for (uint32_t i = 0; i < checksums->num_rows && rv == 0; i++) {
        if (checksums->rows[i].of_graph == (part == CHECKSUMS_GRAPH))
            rv = check_file(store, part, checksums->rows[i].name, parallel, cancel, checked, error);
    }
    return rv;
}

static bool is_here(const struct store *store, uint32_t part)
{
    char *folder = store_path(store, part, strdup("."));
    bool here = folder == NULL || files_is_folder(store->files, folder);
    free(folder);
    return here;
}

int store_check_files(struct store *store, bool some, struct parallel *parallel,
                      const struct cancel *cancel,
                      int (*step)(void *arg, uint32_t part, struct error *error), void *arg,
                      struct store_checked *checked, struct error *error)
{
    *checked = (struct store_checked){ 0 };
    if (!store_has_checksums(store))
        return error_set(error, TR_ENOENT,
                         "%s: it has no checksums, as an older version wrote it; "
                         "compare it with the graph that it was made of, or partition again",
                         store->path);
    int rv = check_folder(store, CHECKSUMS_GRAPH, parallel, cancel, checked, error);
    for (uint32_t part = 0; part < store->file.book.num_parts && rv == 0; part++) {
        rv = step == NULL ? 0 : step(arg, part, error);
        if (rv != 0)
            break;
        if (some && !is_here(store, part))
            checked->elsewhere++;
        else
            rv = check_folder(store, part, parallel, cancel, checked, error);
    }
    return rv;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A .npy file: what opens can be read and mapped to its last row. */
#include "partition/store/npy.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

#define ROWS_BYTES_MAX ((uint64_t)1 << 16)

static void read_rows(struct npy *npy, uint64_t begin, uint64_t count)
{
    struct error error = { 0 };
    void *rows = malloc((size_t)(count * npy->row_bytes) + 1);
    assert(rows != NULL);
    fuzz_check(npy_read_rows(npy, begin, count, rows, &error), &error);
    free(rows);
    if (npy->row_items != 1)
        return;
    uint64_t *ids = malloc((size_t)count * sizeof *ids + 1);
    assert(ids != NULL);
    fuzz_check(npy_read_ids(npy, begin, count, ids, &error), &error);
    free(ids);
}

static void use(struct npy *npy)
{
    struct error error = { 0 };
    const void *data;
    enum tr_dtype dtype;
    uint64_t most = ROWS_BYTES_MAX / (npy->row_bytes + 8);
    uint64_t count = npy->num_rows < most ? npy->num_rows : most;
    assert(npy->num_rows * npy->row_bytes == npy->header.num_items * npy->header.item_bytes);
    read_rows(npy, 0, count);
    read_rows(npy, npy->num_rows - count, count);
    fuzz_check(npy_dtype(npy, false, &dtype, &error), &error);
    fuzz_check(npy_dtype(npy, true, &dtype, &error), &error);
    int rv = npy_map(npy, &data, &error);
    fuzz_check(rv, &error);
    if (rv == 0)
        fuzz_touch(data, npy->num_rows * npy->row_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_files files;
    struct error error = { 0 };
    struct npy npy;
    memory_files_init(&files, "a.npy", data, size);
    int rv = npy_open(&npy, &files.base, FUZZ_FOLDER "/a.npy", &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        use(&npy);
        npy_close(&npy);
    }
    memory_files_fini(&files);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A table of numbers as text; its first byte chooses the delimiter. */
#include "partition/raw/csv.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[] = { '\0', ',', ';', '|' };
    struct fuzz_bytes bytes = { data, size };
    char delimiter = delimiters[fuzz_byte(&bytes) % 4];
    struct memory_files files;
    struct error error = { 0 };
    struct npy_header header;
    uint64_t header_line;
    void *rows;
    memory_files_init(&files, "a.csv", bytes.at, bytes.left);
    int rv = csv_parse(FUZZ_FOLDER "/a.csv", &files.base, NULL, delimiter, &header, &rows,
                       &header_line, &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        fuzz_touch(rows, header.num_items * header.item_bytes);
        free(rows);
    }
    memory_files_fini(&files);
    return 0;
}

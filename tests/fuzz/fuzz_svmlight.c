/* SPDX-License-Identifier: Apache-2.0 */
/* A text of features in SVMlight's format; the first byte chooses from where its indices count. */
#include "partition/raw/svmlight.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = { data, size };
    enum svmlight_base base = (enum svmlight_base)(fuzz_byte(&bytes) % 3);
    struct memory_files files;
    struct svmlight read;
    struct error error = { 0 };
    memory_files_init(&files, "f.svm", bytes.at, bytes.left);
    int rv = svmlight_read(&read, &files.base, FUZZ_FOLDER "/f.svm", base, NULL, &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        const struct feature_rows *rows = &read.rows;
        assert(rows->num_rows > 0 && rows->width > 0 && rows->index[0] == 0);
        assert(rows->index[rows->num_rows] == rows->num_items);
        fuzz_touch(read.labels, rows->num_rows * sizeof *read.labels);
        for (uint64_t row = 0; row < rows->num_rows; row++) {
            for (uint64_t i = rows->index[row]; i < rows->index[row + 1]; i++)
                assert(rows->columns[i] < rows->width && rows->values[i] != 0 &&
                       (i == rows->index[row] || rows->columns[i - 1] < rows->columns[i]));
        }
        svmlight_fini(&read);
    }
    memory_files_fini(&files);
    return 0;
}

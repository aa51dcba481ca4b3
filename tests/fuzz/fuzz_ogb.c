/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of the Open Graph Benchmark: its texts, and what of it is arrays as it lies. The input's
 * first byte chooses options. */
#include "partition/import/ogb_import.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/sink_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = { data, size };
    uint8_t choice = fuzz_byte(&bytes);
    struct memory_files input;
    struct sink_files files;
    struct error error = { 0 };
    struct ogb_facts facts;
    const struct ogb_import_options options = { .undirected = choice & 1,
                                                .split = choice & 2 ? "time" : NULL };
    memory_files_init(&input, "raw/edge.csv", bytes.at, bytes.left);
    sink_files_init(&files, &input);
    const struct raw_write_options write = { .files = &files.base };
    int rv = ogb_import(FUZZ_FOLDER, &options, SINK_OUT, &write, &facts, &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        assert(facts.pairs_mutual <= facts.pairs_seen);
        ogb_facts_fini(&facts);
    }
    sink_files_fini(&files);
    memory_files_fini(&input);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of the Open Graph Benchmark. The input's first byte chooses options, and what its first
 * file is, by which the layout is known.
 */
#include "partition/import/ogb_import.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/sink_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const FIRST[] = { "raw/edge.csv", "raw/triplet-type-list.csv",
                                         "raw/data.npz", "raw/edge_index_dict.npz" };
    struct fuzz_bytes bytes = { data, size };
    uint8_t choice = fuzz_byte(&bytes);
    struct memory_files input;
    struct sink_files files;
    struct error error = { 0 };
    struct ogb_facts facts;
    const struct ogb_import_options options = { .undirected = choice & 1,
                                                .split = choice & 2 ? "time" : NULL };
    memory_files_init(&input, FIRST[choice >> 2 & 3], bytes.at, bytes.left);
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

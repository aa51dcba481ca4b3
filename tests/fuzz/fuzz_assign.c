/* SPDX-License-Identifier: Apache-2.0 */
/* A file that says which partition each node has, as text or .npy; the first byte chooses. Input
 * that is taken names a partition for each node. */
#include "graph/types.h"
#include "partition/build/assign.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

#define NODES 7u
#define PARTS 3u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = { data, size };
    bool npy = fuzz_byte(&bytes) % 2 != 0;
    struct memory_files files;
    struct error error = { 0 };
    struct assignment assignment;
    uint64_t num_nodes[1] = { NODES };
    struct raw_graph raw = { .types = { .num_ntypes = 1 }, .num_nodes = num_nodes };
    struct partition_options options = { .method = PARTITION_FILE,
                                         .num_parts = PARTS,
                                         .assignment = npy ? FUZZ_FOLDER "/a.npy"
                                                           : FUZZ_FOLDER "/a.txt" };
    memory_files_init(&files, npy ? "a.npy" : "a.txt", bytes.at, bytes.left);
    struct partition_job job = { .raw = &raw, .options = &options, .files = &files.base };
    assert(assignment_init(&assignment, &job, &error) == 0);
    int rv = assign_file(&assignment, &job, &error);
    fuzz_check(rv, &error);
    for (uint32_t v = 0; rv == 0 && v < NODES; v++)
        assert(assignment.parts[0][v] < PARTS);
    assignment_fini(&assignment);
    memory_files_fini(&files);
    return 0;
}

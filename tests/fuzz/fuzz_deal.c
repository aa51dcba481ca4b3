/* SPDX-License-Identifier: Apache-2.0 */
/* The .npy that says which trainer trains which node: what is taken is a fair deal. */
#include "partition/store/seed_split.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

#define NODES 9u
#define TRAINERS 3u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_files files;
    struct error error = { 0 };
    struct seed_split deal;
    uint32_t counts[TRAINERS] = { 0 };
    memory_files_init(&files, "deal.npy", data, size);
    int rv = seed_split_read(&deal, &files.base, FUZZ_FOLDER "/deal.npy", NODES, TRAINERS, NULL,
                             &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        for (uint32_t v = 0; v < NODES; v++) {
            assert(deal.trainers[v] >= -1 && deal.trainers[v] < (int32_t)TRAINERS);
            if (deal.trainers[v] >= 0)
                counts[deal.trainers[v]]++;
        }
        for (uint32_t t = 1; t < TRAINERS; t++)
            assert(counts[t] <= counts[0] + 1 && counts[0] <= counts[t] + 1);
        seed_split_fini(&deal);
    }
    memory_files_fini(&files);
    return 0;
}

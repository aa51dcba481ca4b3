/* SPDX-License-Identifier: Apache-2.0 */
/* An edge list; its first byte chooses the options it is read with. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/raw_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[] = { '\0', ' ', ',', '|' };
    struct fuzz_bytes bytes = { data, size };
    uint8_t choice = fuzz_byte(&bytes);
    const struct raw_options options = {
        .undirected = choice & 1,
        .num_nodes = choice & 2 ? 100 : 0,
        .delimiter = delimiters[choice / 4 % 4],
        .source = choice & 16 ? "weight" : NULL,
        .target = choice & 16 ? "1" : NULL,
        .first_id = choice >> 5 & 1,
        .loops = choice & 64 ? RAW_LOOPS_DROP : RAW_LOOPS_KEEP,
        .duplicates = choice & 128 ? RAW_DUPLICATES_MERGE : RAW_DUPLICATES_COUNT,
    };
    raw_use("a.txt", "a.txt", &options, bytes.at, bytes.left);
    return 0;
}

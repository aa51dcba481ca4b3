/* SPDX-License-Identifier: Apache-2.0 */
/* A folder with edges.npy, and beside it meta.json, features, labels and masks as .npy. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/raw_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct raw_options options = { 0 };
    raw_use("", "edges.npy", &options, data, size);
    return 0;
}

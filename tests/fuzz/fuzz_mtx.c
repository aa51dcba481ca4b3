/* SPDX-License-Identifier: Apache-2.0 */
/* A Matrix Market file, plain or gzip. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/raw_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct raw_options options = { 0 };
    raw_use("a.mtx", "a.mtx", &options, data, size);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* metadata.json of the chunked format, and the files that it names. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/raw_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct raw_options options = { 0 };
    raw_use("", "metadata.json", &options, data, size);
    return 0;
}

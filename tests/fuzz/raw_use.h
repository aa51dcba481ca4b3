/* SPDX-License-Identifier: Apache-2.0 */
/* A folder that opens as a raw graph can be read: every edge list and table, at both ends. */
#ifndef TESTS_FUZZ_RAW_USE_H
#define TESTS_FUZZ_RAW_USE_H

#include "partition/raw/raw.h"

/* Opens FUZZ_FOLDER/name, or with "" the folder, of an input whose first file is first. */
void raw_use(const char *name, const char *first, const struct raw_options *options,
             const uint8_t *data, size_t size);

#endif

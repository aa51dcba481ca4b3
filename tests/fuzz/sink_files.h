/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of an input to read, and a disk that takes all that is written and forgets it: for targets
 * that import.
 *
 * Ownership: the input's files are borrowed. sink_files_fini asserts that all was closed.
 */
#ifndef TESTS_FUZZ_SINK_FILES_H
#define TESTS_FUZZ_SINK_FILES_H

#include "tests/fuzz/memory_files.h"

/* What is imported goes here. */
#define SINK_OUT "out/raw"

struct sink_files {
    struct files base;
    struct memory_files *input;
    uint32_t num_open;
};

void sink_files_init(struct sink_files *files, struct memory_files *input);
void sink_files_fini(struct sink_files *files);

#endif

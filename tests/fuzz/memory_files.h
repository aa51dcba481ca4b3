/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of one input: a folder FUZZ_FOLDER, in memory, read-only.
 *
 * The input is the first file; a line "@@ NAME" begins another one, up to MEMORY_FILES_MAX.
 *
 * Ownership: the input is borrowed. memory_files_fini asserts that all was closed and unmapped.
 */
#ifndef TESTS_FUZZ_MEMORY_FILES_H
#define TESTS_FUZZ_MEMORY_FILES_H

#include "runtime/base/files.h"

#define FUZZ_FOLDER "in"
#define MEMORY_FILES_MAX 96
#define MEMORY_FILES_MARK "\n@@ "

struct memory_file {
    const char *name;
    size_t name_length;
    const uint8_t *data;
    size_t size;
};

struct memory_files {
    struct files base;
    uint32_t count, num_open, num_mapped;
    struct memory_file all[MEMORY_FILES_MAX];
};

void memory_files_init(struct memory_files *files, const char *first_name, const uint8_t *data,
                       size_t size);
void memory_files_fini(struct memory_files *files);

#endif

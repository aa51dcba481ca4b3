/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that a partitioned graph has of the classes of a table of labels.
 *
 * Ownership: class_names_read fills it, class_names_free frees it, also after a failure. Thread
 * rules: one thread at a time.
 */
#ifndef CLI_LIB_CLASS_NAMES_H
#define CLI_LIB_CLASS_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

struct class_names {
    char *text; /* each name ends with a 0 */
    uint64_t *offsets;
    size_t count; /* 0: the graph has no names of them */
};

/* path: of NAME.json. Reads the first `most` names. */
int class_names_read(struct class_names *names, const char *path, const char *labels, size_t most,
                     struct tr_error *error);
void class_names_free(struct class_names *names);

/* NULL: the class has no name. */
const char *class_names_find(const struct class_names *names, size_t class);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sizes of all public structs, as the headers have them and as those of a later version do.
 */
#ifndef TESTS_API_STRUCT_ENDS_H
#define TESTS_API_STRUCT_ENDS_H

#include <stddef.h>

struct struct_end {
    const char *tag;
    size_t bytes;
    size_t added; /* where the field of the later version begins; 0: there is none */
};

/* In the same order; the last one has no tag. */
extern const struct struct_end struct_ends_now[], struct_ends_later[];

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable array of hot memory that keeps its capacity when it is used again.
 *
 * Batches of one loader are about equally large, so after the first few no array grows any
 * more and no fresh page is touched.
 *
 * Ownership: the struct owns its block. All zeros is a valid, empty one. One thread at a time.
 */
#ifndef GRAPH_VEC_H
#define GRAPH_VEC_H

#include <stddef.h>

struct vec {
    void *data;      /* 64-byte aligned, or NULL */
    size_t capacity; /* bytes */
};

void vec_fini(struct vec *vec);

/* Makes room for count elements of size bytes; the first keep bytes survive. Afterwards data is not
 * NULL, also where count is 0: an array of none differs from none. TR_ENOMEM. */
int vec_reserve(struct vec *vec, size_t count, size_t size, size_t keep);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs that grow: how the library reads and fills what a caller with another header declared.
 *
 * Each begins with `size_t size`, the caller's sizeof. A struct that is read is copied over
 * defaults of the library's own size, so that fields which an older caller lacks keep their
 * defaults; fields that only a newer caller knows must be zero. A struct that is filled in is cut
 * at the caller's size.
 */
#ifndef API_SIZED_H
#define API_SIZED_H

#include <stddef.h>

#include <troupe/error.h>

/* Fills *to, a caller's struct of `size` bytes, with the defaults that this library has for
 * those. */
void sized_init(void *to, size_t size, const void *defaults, size_t bytes);

/* Copies *from, a caller's struct, over *to [bytes], which holds the defaults and its own size
 * first. what: the struct's name, for the message. TR_EINVAL: it was not initialised;
 * TR_EUNSUPPORTED: it sets what this library does not know. */
int sized_read(void *to, size_t bytes, const void *from, const char *what, struct tr_error *error);

/* Copies *from [bytes] to *to, a caller's struct, which keeps its size; fields that only a newer
 * caller knows become zero. TR_EINVAL: it was not initialised. */
int sized_write(void *to, const void *from, size_t bytes, const char *what, struct tr_error *error);

#endif

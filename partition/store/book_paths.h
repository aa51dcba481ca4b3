/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths that make up a graph at rest, and which of them a host needs that serves some of its
 * partitions: the book, the deals, which every trainer reads, the lists of names, with which any of
 * them writes predictions, and the folders of those partitions.
 *
 * Everything that carries a graph elsewhere takes its list from here. A test compares the list with
 * what partitioning writes, so a new kind of file cannot be left behind.
 *
 * Ownership: paths are the list's, for the time of the visit. Pure functions.
 */
#ifndef PARTITION_STORE_BOOK_PATHS_H
#define PARTITION_STORE_BOOK_PATHS_H

#include <stdbool.h>

#include "partition/store/book_json.h"

/* Visits each path, where book_path is that of NAME.json. serves: [num_parts], NULL: all of them.
 * A visit that returns non-zero ends with that result; TR_ENOMEM. */
int book_paths(const struct book_file *file, const char *book_path, const bool *serves,
               int (*visit)(void *arg, const char *path), void *arg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An edge list that becomes a raw graph while it is parsed: its edges are never in memory together,
 * and the disk writes them while the text is read.
 *
 * That is possible where nothing has to see all edges first. How many nodes there are decides
 * whether IDs are written as int32 or int64, and is known behind the last line: int32 is taken, and
 * a text with a larger ID is left to others.
 */
#ifndef PARTITION_RAW_EDGE_IMPORT_H
#define PARTITION_RAW_EDGE_IMPORT_H

#include "partition/raw/raw_write.h"

/* Writes the folder as raw_open() and raw_copy_with() would, with the same failures, and looks at
 * edges that each have their reverse (reverse_pairs.h). 1: it was left to them, and nothing is left
 * behind, since the file is no edge list, duplicates have to be looked for, or an ID is too large.
 * found is freed by raw_edges_found_fini() (raw.h); after anything but 0 nothing is in it. */
int edge_import(const char *path, const struct raw_options *options, const char *out,
                const struct raw_write_options *write, struct raw_edges_found *found,
                struct error *error);

#endif

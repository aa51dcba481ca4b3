/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of an edge list, parsed by threads before their rows are reached (read_ahead.h).
 *
 * A thread takes the rows that are whole in a block, from behind its first line end up to its last
 * one, and stops before a row that is wrong. What it made counts where the reader comes to the
 * block's first row as to the begin of a row; then it is what the reader would have made. Where a
 * quotation mark hides line ends the reader comes to another place, and parses the block itself;
 * and it parses what failed itself, so that it alone has messages.
 *
 * Ownership: a struct edge_blocks outlives the reading, and borrows what the lines do. Thread rules:
 * one thread calls.
 */
#ifndef PARTITION_RAW_EDGE_BLOCKS_H
#define PARTITION_RAW_EDGE_BLOCKS_H

#include "partition/raw/edge_lines.h"

struct edge_blocks {
    struct block_parser parser;
    struct edge_lines like; /* what rows are like; nothing of it changes while threads parse */
};

/* Has blocks of the lines' text parsed from now on; the lines have taken a row, which says how many
 * columns each has. */
void edge_blocks_start(struct edge_blocks *blocks, const struct edge_lines *lines);

/* At the begin of a row: takes the rows that were parsed of what is loaded, if that is the first of
 * them; false: none were taken. */
bool edge_blocks_take(struct edge_lines *lines);

#endif

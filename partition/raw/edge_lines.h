/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of an edge list (raw_edgelist.c), behind its header: two IDs each, among other columns.
 *
 * It knows of rows alone, so that it parses a text from its begin as well as a block from somewhere
 * in it (edge_blocks.h). Nothing of a row that fails counts, or becomes an edge.
 *
 * Ownership: all is borrowed. Thread rules: one thread at a time.
 */
#ifndef PARTITION_RAW_EDGE_LINES_H
#define PARTITION_RAW_EDGE_LINES_H

#include "partition/raw/column_roles.h"
#include "partition/raw/end_signs.h"
#include "partition/raw/raw_memory.h"
#include "partition/raw/text.h"

/* What lines add up to, those whose edges are dropped too. */
struct edge_tally {
    uint64_t lines, self_loops;
    struct id_range ends[2]; /* less first_id */
    /* Lines without a header whose third column is a whole number, and the range of these. */
    uint64_t thirds;
    struct id_range third;
};

#define EDGE_TALLY_NONE \
    ((struct edge_tally){ 0, 0, { ID_RANGE_NONE, ID_RANGE_NONE }, 0, ID_RANGE_NONE })

struct edge_lines {
    struct text *text;
    const struct raw_options *options;
    struct edge_columns columns;
    char delimiter;
    bool header;          /* for messages */
    bool guessed;         /* neither names nor options say what the columns are */
    uint32_t num_columns; /* of every line; 0: the first one says it */
    uint64_t num_nodes;   /* IDs less first_id are below */
    struct pairs *pairs;
    struct edge_tally tally;
};

/* What to do about a text that is not understood, by those who read it. */
struct edge_remedies {
    const char *unknown, *times, *first, *names;
    const char *two_kinds, *triples; /* of columns without names */
};

const struct edge_remedies *edge_remedies_of(enum raw_remedy remedy);

/* Blanks, empty lines and comments. */
void edge_lines_skip(struct text *text, char delimiter);

/* Takes the row that stands here, and those behind it that are as plain. Fails with the row's line
 * before the message. */
int edge_lines_take(struct edge_lines *lines);

/* Adds what other lines add up to. */
void edge_tally_add(struct edge_tally *tally, const struct edge_tally *more);

#endif

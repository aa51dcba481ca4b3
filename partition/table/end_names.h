/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What in the columns of an edge's ends can be no names of nodes: numbers with a fraction, times,
 * lists of IDs; and numbers of a table without a header that two columns of nodes do not have
 * (partition/raw/end_signs.h).
 *
 * Ownership: end_names_fini frees. Thread rules: one thread.
 */
#ifndef PARTITION_TABLE_END_NAMES_H
#define PARTITION_TABLE_END_NAMES_H

#include "partition/raw/end_signs.h"
#include "partition/table/id_map.h"
#include "partition/table/table_import.h"

/* Rows that are looked at for names that can be none: what all of them are, the others are too. */
#define END_NAMES_ROWS 1000u

struct end_names {
    bool guessed; /* no name and no option says which columns are the ends */
    bool chosen;  /* nor does a header say anything: signs are noted */
    /* How many of the first rows have such a name at each end, and the first line of some. */
    uint64_t wholes[2], times[2], fractions[2], lists[2];
    uint64_t fraction_lines[2], list_lines[2];
    struct end_signs signs;
    struct id_range columns[3]; /* of whole numbers in the first three columns */
    bool words;                 /* there is something else among them */
};

/* TR_ENOMEM. */
int end_names_init(struct end_names *names, bool guessed, bool header);
void end_names_fini(struct end_names *names);

/* A row of the table, with source and target; first: it is one of the first rows. */
void end_names_note(struct end_names *names, const struct table_reader *reader,
                    const struct table_roles *roles, const struct table_field *fields, bool first);
/* Behind the first rows, of which there are so many: fails on the reader. */
int end_names_check(const struct end_names *names, struct table_reader *reader,
                    const struct table_roles *roles, uint64_t rows);
/* Behind the last row. */
int end_names_check_signs(const struct end_names *names, struct table_reader *reader,
                          const struct table_options *options, struct table_found *found);

/* Looks for numbers that are spelt in two ways, "001" and "1", and so are two nodes: *found counts
 * them, and pair has the first two. */
void end_names_find_spellings(const struct id_map *ids, uint64_t *found,
                              char pair[TABLE_DOUBTED_MAX]);

#endif

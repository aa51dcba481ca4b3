/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain rows of a text with a delimiter: printable ASCII without quotation marks, and without blanks
 * around fields. Nearly all rows of nearly all files are plain; table_reader.c splits the others.
 */
#ifndef PARTITION_TABLE_PLAIN_ROWS_H
#define PARTITION_TABLE_PLAIN_ROWS_H

#include "partition/raw/text.h"
#include "partition/table/table_values.h"

/* Where the rows go: fields [at most rows_max][columns]. */
struct plain_rows {
    struct table_field *fields;
    uint32_t columns, rows_max;
};

/* Takes the plain rows that come next in what is loaded of the text; returns how many. The fields are
 * good until more of it is loaded. *first_line is the line of the first one, unchanged where there is
 * none. */
uint32_t plain_rows_take(const struct plain_rows *rows, struct text *text, char delimiter,
                         uint64_t *first_line);

#endif

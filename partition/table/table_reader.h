/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's table as a stream of rows: text with a delimiter, as RFC 4180 has it, or JSON lines.
 *
 *  - Columns are separated by a comma, a semicolon or a tab, the first of these that the first
 *    line has, or else by blanks. A field in quotation marks may hold the delimiter, line ends, and
 *    quotation marks written twice. Blanks around a field are not part of it. Every row has as many
 *    fields as the first line.
 *  - JSON lines have an object each, with the keys of the first one; its columns are those keys. A
 *    key that is not there is an empty field, and a list of numbers is its text.
 *  - Empty lines are skipped, and lines before the first row that begin with '#' or '%'. The last
 *    of them may be the header, as some programs write one: '#' and as many names as the first line
 *    has.
 *
 * Whether a first line is a header is for the caller to say, who knows the names that it wants:
 * "alice,bob" may be one.
 *
 * Ownership: table_reader_close frees all; a row is there until the next one is asked for. Thread
 * rules: one thread at a time.
 */
#ifndef PARTITION_TABLE_TABLE_READER_H
#define PARTITION_TABLE_TABLE_READER_H

#include "partition/raw/column_roles.h"
#include "partition/raw/text.h"

/* Bytes of what a message calls a column. */
#define COLUMN_SHOWN 96

struct table_field {
    const char *at;
    uint32_t length;
};

struct table_reader {
    struct text text;
    struct column_names names; /* of the first line, be it a header or not */
    bool json;                 /* then the keys of the first line are the header */
    bool looks_like_header;    /* its first name begins as a word does */
    /* Its names are no numbers, and a column has numbers alone in the lines after it. */
    bool names_over_numbers;
    /* Its first line says so, as in KONECT's files and SNAP's: "% bip", "# Undirected graph". */
    bool bipartite;
    bool undirected;
    /* Of the comment before the first line, where it may be a header. */
    struct column_names comment;
    uint64_t comment_line;
    uint64_t header_line;       /* that was skipped; 0: none */
    uint64_t line;              /* of the row's begin */
    struct table_field *fields; /* [names.count]: the row */
    char *copy;                 /* what fields stand in, where the text has them otherwise */
    size_t copy_room;
    char *joined; /* a row of several lines */
    size_t joined_room;
    void *object; /* of a JSON line */
    bool lists;   /* lists of numbers in it are texts; else they are refused. The caller sets it. */
};

/* delimiter 0: found. path and error are kept. An empty table has no columns. TR_EFORMAT and others
 * name the line. */
int table_reader_open(struct table_reader *reader, struct files *files, const char *path,
                      char delimiter, const struct cancel *cancel, struct error *error);
void table_reader_close(struct table_reader *reader);

/* Takes the names of the comment for those of the columns: the first line is a row. */
void table_reader_take_comment(struct table_reader *reader);

/* Skips the first line as a header, unless the comment is the header; before the first row. */
int table_reader_skip_header(struct table_reader *reader);

/* Whether a row of these fields has the names of the header, as where tables were joined; it then
 * fails. */
int table_reader_refuse_header(struct table_reader *reader, const struct table_field *fields);

/* The next row into fields; TR_EEND behind the last one. */
int table_reader_next(struct table_reader *reader);

/* Rows of printable ASCII without quotation marks, and without blanks around fields, that stand one
 * after the other in what is loaded: fields [at most rows_max][names.count], until the reader is
 * asked for more; row i is of line reader->line + i. Returns how many; 0 where table_reader_next has
 * to look at the next row, or there is none. */
uint32_t table_reader_take_plain(struct table_reader *reader, struct table_field *fields,
                                 uint32_t rows_max);

/* A column, from 1, as a message calls it before its verb: with the name that the header has. */
const char *table_reader_show_column(const struct table_reader *reader, uint32_t column,
                                     char text[COLUMN_SHOWN]);

/* Fails with the row's file and line before the message. */
int table_reader_fail(struct table_reader *reader, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a table that is text: the names in its header, and which column has which role.
 *
 * A role is found by the name or number that the user gave, or by the names that people give to
 * such columns. Where neither says it, that is an error: a guess would make another graph.
 *
 * Ownership: column_names_fini frees what column_names_split made. Thread rules: pure.
 */
#ifndef PARTITION_RAW_COLUMN_ROLES_H
#define PARTITION_RAW_COLUMN_ROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

/* More columns than a table of features has; a longer line is no header. */
#define COLUMNS_MAX 65536u

/* The names of a first line. Columns are numbered from 1. */
struct column_names {
    uint32_t count;
    char delimiter; /* 0: blanks, commas or semicolons */
    char **names;   /* [count]; without blanks and quotes around them */
    char *arena;    /* that they stand in */
};

/* delimiter 0: that which the line has, a comma before a semicolon before a tab before a bar, which
 * counts where no blank separates too. TR_ENOMEM;
 * TR_ETOOBIG: there are too many. Fails without a message. */
int column_names_split(struct column_names *columns, const char *line, size_t length,
                       char delimiter);
void column_names_fini(struct column_names *columns);

/* Whether the line is a header: the first name that is not empty begins as a word does. */
bool column_names_are_header(const struct column_names *columns);

/* The column of that name, however its letters are written, or of that number. TR_EINVAL where
 * there is none, or two. header: whether the columns have names. */
int column_find(const struct column_names *columns, bool header, const char *wanted,
                uint32_t *column, struct error *error);

struct edge_columns {
    uint32_t source, target;
};

/* Whether two of the names are such as people give to the ends of an edge. */
bool edge_columns_are_named(const struct column_names *columns);

/* Whether they are called as IDs of two kinds of things: "userId" and "movieId", not "from_id" and
 * "to_id". Columns from 1. */
bool edge_columns_are_two_kinds(const struct column_names *columns, struct edge_columns ends);
/* Whether a file's first line says that its ends are two kinds, as KONECT's do: "% bip weighted". */
bool edge_banner_is_bipartite(const char *line, size_t length);
/* That its edges are undirected: "% sym" of KONECT's files, "# Undirected graph" of SNAP's. */
bool edge_banner_is_undirected(const char *line, size_t length);

/* source and target: what the user gave, or NULL. TR_EINVAL, TR_EFORMAT: say what to name; remedy:
 * what to do where neither the user nor the header says it. */
int edge_columns_choose(const struct column_names *columns, bool header, const char *source,
                        const char *target, const char *remedy, struct edge_columns *chosen,
                        struct error *error);

#endif

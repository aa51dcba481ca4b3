/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files ("pieces") whose rows, one after the other, make a table or an edge list.
 *
 * Every .npy piece is opened and checked when it is added; then only the one that is read is held
 * open, since a graph may have more pieces than a process may open files. Text pieces are parsed
 * when they are added and stay in memory.
 *
 * Ownership: series_fini frees all. One thread at a time.
 */
#ifndef PARTITION_RAW_RAW_SERIES_H
#define PARTITION_RAW_RAW_SERIES_H

#include "partition/raw/raw_memory.h"
#include "partition/store/npy.h"

struct series_piece {
    char *path;
    uint64_t begin; /* row in the series */
    uint64_t count;
    bool columns; /* pairs only: the file is [2, count], not [count, 2] */
    bool parsed;  /* the file was text; these hold what it said: */
    struct pairs pairs;
    void *rows;
};

struct series {
    struct files *files;
    struct series_piece *pieces;
    uint32_t num_pieces;
    uint64_t num_rows;
    struct npy_header header; /* of the first piece, that the others must equal but in rows */
    uint32_t opened;          /* index of the piece in npy */
    bool is_open;
    struct npy npy;
};

void series_init(struct series *series, struct files *files);
void series_fini(struct series *series);
/* Closes the file that the last read left open; the next read opens it again. */
void series_rest(struct series *series);

/* Adds a file of feature rows; all pieces must have one type and one shape of a row. */
int series_add_rows(struct series *series, const char *path, struct error *error);
/* Adds a file of (source, destination) pairs, [N, 2] or [2, N] ([2, 2] is [N, 2]), of integers. */
int series_add_pairs(struct series *series, const char *path, struct error *error);

/* Adds parsed text; takes the pairs (the rows, malloc'ed) even when it fails. header: type and
 * shape of the rows, as a .npy file would say it. */
int series_add_parsed_pairs(struct series *series, const char *path, struct pairs *pairs,
                            struct error *error);
int series_add_parsed_rows(struct series *series, const char *path, const struct npy_header *header,
                           void *rows, struct error *error);

int series_read_rows(struct series *series, uint64_t begin, uint64_t count, void *rows,
                     struct error *error);
int series_read_pairs(struct series *series, uint64_t begin, uint64_t count, uint64_t *src,
                      uint64_t *dst, struct error *error);

/* "FILE: row N" for a row of the series. */
void series_name_row(const struct series *series, const char *what, uint64_t row, char *text,
                     size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that a partitioned graph has of its nodes and classes, as predictions are written with
 * them: those of nodes in their order, a piece at a time, and those of classes by their numbers.
 *
 * Ownership: name_reader_close frees all; the book is its own. Thread rules: one thread.
 */
#ifndef MODEL_NAME_READER_H
#define MODEL_NAME_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/book.h>

#include "runtime/base/error.h"

/* A list of names of the book, and those of them that are in memory: [first, first + count). */
struct name_piece {
    bool there;
    uint32_t list;
    uint64_t total;
    uint64_t first, count;
    uint64_t *offsets; /* [count + 1] */
    char *text;
    size_t text_room;
};

struct name_reader {
    struct tr_book *book;
    struct name_piece nodes, classes;
    uint64_t first_id; /* of nodes, where they have no names */
};

/* path: of NAME.json. labels: the table whose values are the classes. A graph without names has
 * none to read. Failures name the file. */
int name_reader_open(struct name_reader *reader, const char *path, uint32_t ntype,
                     const char *labels, struct error *error);
void name_reader_close(struct name_reader *reader);

/* The name of number `at`, which stays until the next call for the piece; false: there is none. A
 * failure of reading is in *rv, which is 0 otherwise. */
bool name_reader_find(struct name_reader *reader, struct name_piece *piece, uint64_t at,
                      const char **name, size_t *length, int *rv, struct error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names in their order at rest: the user's names of nodes, of the values of a table, or of its
 * columns.
 *
 * A list is two arrays. STEM.text.npy has the bytes (uint8) of all names, UTF-8 with a line end
 * behind each; STEM.offsets.npy (int64) has where each begins, and the number of bytes as its last
 * element, so that any range of names is read without the others.
 *
 * Ownership: close frees all. Thread rules: one thread at a time.
 */
#ifndef PARTITION_STORE_NAME_LIST_H
#define PARTITION_STORE_NAME_LIST_H

#include "partition/store/npy.h"

#define NAME_LIST_TEXT ".text.npy"
#define NAME_LIST_OFFSETS ".offsets.npy"
/* A name that a file claims to be longer is none. */
#define NAME_LIST_BYTES_MAX 65536u

/* What a list of names is of. */
enum names_of {
    NAMES_NODES,   /* of a type, by original ID */
    NAMES_VALUES,  /* the numbers that a table of a type has: classes, categories */
    NAMES_COLUMNS, /* the elements of a row of a table of a type */
};
#define NAMES_OF_MAX 3

/* Which names they are. */
struct names_key {
    enum names_of of;
    uint32_t ntype;
    char *table; /* NULL of nodes */
};

/* "nodes", "values", "columns": as files and their names have it. */
const char *names_of_word(enum names_of of);
/* And back; false: it is none of them. */
bool names_of_find(const char *word, enum names_of *of);

struct name_list_writer {
    struct npy_writer text, offsets;
    uint64_t count, bytes;
};

/* Creates the two files. Zeroed is a closed writer. */
int name_list_create(struct name_list_writer *writer, struct files *files, const char *stem,
                     struct error *error);
/* A name without a line end in it. */
int name_list_add(struct name_list_writer *writer, const char *name, size_t length,
                  struct error *error);
int name_list_finish(struct name_list_writer *writer, struct error *error);
void name_list_writer_close(struct name_list_writer *writer);

struct name_list {
    struct npy text, offsets;
    uint64_t count;
};

/* count: the names that there must be; TR_EFORMAT where the files say otherwise. */
int name_list_open(struct name_list *list, struct files *files, const char *stem, uint64_t count,
                   struct error *error);
void name_list_close(struct name_list *list);

/* offsets [count + 1]: where the names [first, first + count), which must exist, begin in the text,
 * and the end of the last one; each lies behind the one before it, with its line end. */
int name_list_offsets(struct name_list *list, uint64_t first, uint64_t count, uint64_t *offsets,
                      struct error *error);
/* Those names, with the line end of each, into text [offsets[count] - offsets[0]]. */
int name_list_text(struct name_list *list, const uint64_t *offsets, uint64_t count, char *text,
                   struct error *error);

#endif

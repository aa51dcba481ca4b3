/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The items of a folder of the Open Graph Benchmark as they are found: what its layouts, of texts and
 * of arrays, and its split add to an ogb_layout.
 *
 * Errors are in finder->error and name the file; visits of a folder's names, which cannot return
 * one, leave it in finder->rv. Thread rules: one thread at a time.
 */
#ifndef PARTITION_IMPORT_OGB_FINDER_H
#define PARTITION_IMPORT_OGB_FINDER_H

#include "partition/import/ogb_layout.h"

#define OGB_SEPARATOR "___" /* between the parts of "A___rel___B" */
#define OGB_WORD_MAX 256

struct ogb_finder {
    struct ogb_layout *layout;
    struct files *files;
    const char *folder;
    const struct cancel *cancel;
    struct error *error;
    int rv; /* of visits, which cannot say it */
    /* What the visit of a folder's names looks for. */
    const char *in;
    enum ogb_part part;
    uint32_t type;
    uint32_t schemes;
    char scheme[OGB_WORD_MAX];
};

int ogb_no_memory(const struct ogb_finder *finder);

/* Adds an item; takes the path even when it fails. */
int ogb_add_item(struct ogb_finder *finder, enum ogb_part part, uint32_t type, char *path,
                 const char *array, const char *name);

/* Adds a name to layout->unread; fails in finder->rv. */
void ogb_note_unread(struct ogb_finder *finder, const char *name);

/* "FOLDER/NAME", which may be a file or folder; NULL without memory. */
char *ogb_join(struct ogb_finder *finder, const char *folder, const char *name);

/* "FOLDER/NAME.csv.gz", or without ".gz"; NULL: there is none, or no memory, which rv says. */
char *ogb_find_text(struct ogb_finder *finder, const char *in, const char *name);

/* Adds the text as an item, where it is there. */
int ogb_add_text(struct ogb_finder *finder, enum ogb_part part, uint32_t type, const char *in,
                 const char *file, const char *name);

/* The layout is of one node type and one edge type. */
int ogb_set_one_type(struct ogb_finder *finder);
int ogb_add_relation(struct ogb_finder *finder, const char *src, const char *rel, const char *dst,
                     uint32_t *etype);

/* Sorts the items from `first` on, which are tables: folders list their names in any order, and a
 * graph that is imported again has to be the same. */
void ogb_sort_tables(struct ogb_layout *layout, uint32_t first);

/* The four layouts; raw is the folder that holds them. */
int ogb_lay_out_text(struct ogb_finder *finder, const char *raw);
int ogb_lay_out_typed_text(struct ogb_finder *finder, const char *raw, char *triplets);
int ogb_lay_out_arrays(struct ogb_finder *finder, const char *raw, const char *path);
int ogb_lay_out_typed_arrays(struct ogb_finder *finder, const char *raw);

/* The split of that name; NULL: the only one. */
int ogb_lay_out_split(struct ogb_finder *finder, const char *split);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seeds of a loader: a list that a user gave, or a range of ranks, which no list of nodes is
 * ever made of.
 *
 * Thread rules: pure.
 */
#ifndef ACTORS_DATA_SEED_SET_H
#define ACTORS_DATA_SEED_SET_H

#include "partition/store/book.h"
#include "runtime/base/error.h"
#include "schemas/messages.h"

/* Holds the seeds of a loader against the book. TR_ERANGE: a type or table that there is not, or
 * ranks beyond its end; TR_EUNSUPPORTED: seeds of a kind that no loader serves. */
int seed_set_check(const struct book *book, const struct msg_loader_open *open,
                   struct error *error);

/* The table of ranks that has to be asked for the seeds' IDs; NULL: the IDs are listed, or ranks
 * are IDs. */
const struct rank_table *seed_set_table(const struct book *book,
                                        const struct msg_loader_open *open);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the trainers of several processes come to the shape of their model where nobody named one: rank
 * 0's process tries (run_trial.c), and announces what it chose.
 *
 * The announcement is the first sum of every era: rank 0 gives its choice, all others give 0. A
 * process that has to know the choice before it can open its models takes its ranks into the group
 * early, hears it there, and lets its trainers begin in that era. Rank 0 announces a choice that
 * config.json has, and announces it again in every era: so it does not matter which process dies, or
 * when.
 *
 * Invariant: every rank makes this sum once behind a restore, before all others of the era.
 *
 * Ownership: entries are the caller's. Thread rules: one thread, which makes others for the ranks of
 * its process and waits for them.
 */
#ifndef MODEL_SHAPE_CHOICE_H
#define MODEL_SHAPE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/run_tried.h"
#include "runtime/base/cancel.h"
#include "runtime/base/error.h"

struct tr_graph;
struct tr_group;

/* A rank that entered its group before its model was open. */
struct shape_entry {
    struct tr_group *group; /* whoever takes it closes it */
    bool entered;           /* the era is under way, and its first sum is made */
    void *bytes;            /* the rank's part of the checkpoint that it began with; NULL: none */
    size_t count;
};

/* The first sum of an era, of one rank. tried: counts where rank is 0. *heard: rank 0's. */
int shape_choice_announce(struct tr_group *group, uint32_t rank, const struct run_tried *tried,
                          int64_t timeout_ns, struct run_tried *heard, struct error *error);

/* Enters entries[count], of the ranks from `first` on, which are all of this process, and waits for
 * the announcement. A rank may be left outside: then its trainer enters. TR_ECANCELED. */
int shape_choice_await(struct tr_graph *graph, uint32_t first, uint32_t count,
                       const struct cancel *cancel, struct shape_entry *entries,
                       struct run_tried *heard, struct error *error);

void shape_entry_fini(struct shape_entry *entry);

#endif

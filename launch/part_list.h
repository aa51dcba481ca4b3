/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The partitions of a job's graph: how large each is, and which processes serve it.
 *
 * Ownership: part_list_fini frees it; a zeroed struct has none. Thread rules: immutable once made,
 * any thread.
 */
#ifndef LAUNCH_PART_LIST_H
#define LAUNCH_PART_LIST_H

#include <stddef.h>

#include <troupe/observe.h>

#include "actors/cluster/plan.h"
#include "partition/store/book.h"

struct part_list {
    struct tr_part_status *parts; /* [count], which point into processes */
    uint32_t *processes;
    uint32_t count;
    size_t num_processes;
};

/* The plan is one for the graph of that book. TR_ENOMEM. */
int part_list_make(struct part_list *list, const struct plan *plan, const struct book *book);
/* TR_ENOMEM. */
int part_list_copy(struct part_list *to, const struct part_list *from);
void part_list_fini(struct part_list *list);

/* TR_ERANGE: there is no such partition. */
int part_list_get(const struct part_list *list, uint32_t part, struct tr_part_status *out,
                  struct tr_error *error);

#endif

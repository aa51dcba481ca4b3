/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seeds that users listed, as the threads and the trainer-proxies of one process share them.
 *
 * A list is never part of a message. Its owner puts it here under the number of a loader before the
 * proxy is asked to open that loader; the proxy takes a reference of its own and reads the IDs
 * where they lie. A proxy that is started again finds them here again. The owner drops the entry
 * after it has closed the loader: a proxy that has not heard of the close yet still holds the IDs.
 *
 * Ownership: references of a list are counted; the entry of a loader has one, and so has each
 * proxy that has the loader open. The last one frees the IDs, and nothing else, on whatever thread
 * that is; so a loop that gives a list back never closes a graph. Thread rules: every function on
 * any thread. The IDs of a list are written by the one that created it, before it is put anywhere,
 * and never afterwards.
 */
#ifndef ACTORS_DATA_SEED_LISTS_H
#define ACTORS_DATA_SEED_LISTS_H

#include <stdatomic.h>
#include <stdint.h>

struct seed_list {
    atomic_uint references;
    uint64_t num_ids; /* 2 of a pair */
    uint64_t *ids;    /* [num_ids] */
};

/* A list of zeroes with one reference, the caller's. NULL: no memory. */
struct seed_list *seed_list_create(uint64_t num_ids);
struct seed_list *seed_list_acquire(struct seed_list *list);
/* NULL is ignored. */
void seed_list_release(struct seed_list *list);

/* The lists of the loaders of one process. */
struct seed_lists;

/* NULL: no memory. */
struct seed_lists *seed_lists_create(void);
/* Gives back what was not dropped; those that hold lists keep them. NULL is ignored. */
void seed_lists_destroy(struct seed_lists *lists);

/* The lists of a loader's segments that are listed, in their order: of[count], of which it takes
 * references of its own. They take the place of those that the loader had. TR_ENOMEM. */
int seed_lists_put(struct seed_lists *lists, uint64_t loader, struct seed_list *const *of,
                   uint32_t count);
void seed_lists_drop(struct seed_lists *lists, uint64_t loader);

/* A reference to the loader's list of that number; NULL: there is none. */
struct seed_list *seed_lists_take(struct seed_lists *lists, uint64_t loader, uint32_t at);

#endif

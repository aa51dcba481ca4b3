/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IDs of nodes as their user has them: names, or numbers that may begin elsewhere than at 0.
 *
 * Ownership: borrows the book. Thread rules: one thread.
 */
#ifndef CLI_OWN_IDS_H
#define CLI_OWN_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/book.h>

struct own_ids {
    const struct tr_book *book;
    uint32_t ntype, list; /* of the names, where there are some */
    bool named;
    uint64_t num_nodes, first_id;
};

int own_ids_init(struct own_ids *ids, const struct tr_book *book, uint32_t ntype,
                 struct tr_error *error);

/* Whether they say more than the original IDs from 0 on. */
static inline bool own_ids_differ(const struct own_ids *ids)
{
    return ids->named || ids->first_id > 0;
}

/* The ID of an original ID, in malloc'ed memory. */
int own_ids_text(const struct own_ids *ids, uint64_t original, char **text, struct tr_error *error);

/* The global ID of a user's own; reads the names or the original IDs of all nodes. TR_ENOENT: no node
 * has that one. */
int own_ids_find(const struct own_ids *ids, const char *text, uint64_t *global,
                 struct tr_error *error);

#endif

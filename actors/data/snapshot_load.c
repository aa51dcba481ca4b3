/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions of a store, loaded and added to a set of snapshots. One that was added is the set's,
 * which unloads it; one that could not be added is unloaded here.
 */
#include "actors/data/snapshot.h"

static void unload(void *arg, struct graph_part *part)
{
    store_unload(arg, part);
}

int snapshots_load(struct snapshots *set, struct store *store, const uint32_t *parts,
                   uint32_t num_parts, const struct partition_load *load, struct error *error)
{
    for (uint32_t i = 0; i < num_parts; i++) {
        struct graph_part *part;
        int rv = store_load(store, parts[i], load, &part, error);
        if (rv != 0)
            return rv;
        rv = snapshots_add(set, part, unload, store, error);
        if (rv != 0) {
            store_unload(store, part);
            return rv;
        }
    }
    return 0;
}

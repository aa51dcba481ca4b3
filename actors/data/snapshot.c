/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/data/snapshot.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "graph/on_demand.h"

struct snapshot {
    struct snapshots *set;
    struct graph_part *part;
    struct graph_part shown; /* the same, with what samplers have made of it */
    void (*unload)(void *arg, struct graph_part *part);
    void *arg;
    struct snapshot *older; /* of the same partition */
    uint64_t references;    /* guarded by the set's mutex */
};

/* The mutex is taken a few times a batch, never a row. */
struct snapshots {
    const struct book *book;
    snapshots_read_ids *read_ids; /* of partitions that are not here */
    void *read_arg;
    pthread_mutex_t mutex;
    uint64_t live;            /* snapshots that are not freed, retired ones included */
    struct snapshot **newest; /* [book->num_parts], NULL: not here */
};

int snapshots_create(const struct book *book, struct snapshots **out)
{
    struct snapshots *set = calloc(1, sizeof *set);
    if (set == NULL)
        return TR_ENOMEM;
    set->newest = calloc(book->num_parts > 0 ? book->num_parts : 1, sizeof *set->newest);
    if (set->newest == NULL) {
        free(set);
        return TR_ENOMEM;
    }
    set->book = book;
    pthread_mutex_init(&set->mutex, NULL);
    *out = set;
    return 0;
}

void snapshots_destroy(struct snapshots *set)
{
    if (set == NULL)
        return;
    for (uint32_t i = 0; i < set->book->num_parts; i++)
        while (set->newest[i] != NULL)
            snapshots_retire(set, i, set->newest[i]->part->version);
    assert(set->live == 0); /* a reader outlived the node */
    pthread_mutex_destroy(&set->mutex);
    free(set->newest);
    free(set);
}

const struct book *snapshots_book(const struct snapshots *set)
{
    return set->book;
}

/* The link that points at that version, or at the end of the list. */
static struct snapshot **find_snapshot(struct snapshots *set, uint32_t part, uint32_t version)
{
    struct snapshot **at = &set->newest[part];
    while (*at != NULL && version != SNAPSHOT_NEWEST && (*at)->part->version != version)
        at = &(*at)->older;
    return at;
}

static int check_part(const struct book *book, const struct graph_part *part, struct error *error)
{
    if (part->part_id >= book->num_parts)
        return error_set(error, TR_EMISMATCH,
                         "partition %" PRIu32 " is not of graph %s, which has "
                         "%" PRIu32,
                         part->part_id, book->graph_name, book->num_parts);
    if (part->types->num_ntypes != book->types.num_ntypes ||
        part->types->num_etypes != book->types.num_etypes)
        return error_set(error, TR_EMISMATCH, "partition %" PRIu32 " has other types than graph %s",
                         part->part_id, book->graph_name);
    return 0;
}

void snapshots_set_ids(struct snapshots *set, snapshots_read_ids *read, void *arg)
{
    set->read_ids = read;
    set->read_arg = arg;
}

/* Those of nodes that are owned by a partition which is here; they never change. */
static bool read_ids_here(struct snapshots *set, uint32_t owner, uint32_t ntype, uint64_t first,
                          size_t count, uint64_t *ids)
{
    struct snapshot *snapshot = snapshot_acquire(set, owner, SNAPSHOT_NEWEST);
    if (snapshot == NULL)
        return false;
    const struct node_part *nodes = &snapshot_part(snapshot)->nodes[ntype];
    memcpy(ids, nodes->original_ids + (first - nodes->global_begin), count * sizeof *ids);
    snapshot_release(snapshot);
    return true;
}

/* Reads the original IDs of any nodes of a type, those of each owner from its partition. */
static int read_original_ids(void *arg, uint32_t ntype, uint64_t first, size_t count, uint64_t *ids,
                             struct error *error)
{
    struct snapshots *set = arg;
    int rv = 0;
    while (count > 0 && rv == 0) {
        int owner = book_node_owner(set->book, ntype, first);
        if (owner < 0)
            return error_set(error, TR_ERANGE, "node %" PRIu64 " is in no partition", first);
        uint64_t left = set->book->node_extents[ntype][owner].end - first;
        size_t piece = left < count ? (size_t)left : count;
        if (read_ids_here(set, (uint32_t)owner, ntype, first, piece, ids))
            rv = 0;
        else if (set->read_ids != NULL)
            rv = set->read_ids(set->read_arg, ntype, first, piece, ids, error);
        else
            rv = error_set(error, TR_ENOENT, "partition %d is not here", owner);
        first += piece;
        ids += piece;
        count -= piece;
    }
    return rv;
}

int snapshots_add(struct snapshots *set, struct graph_part *part,
                  void (*unload)(void *arg, struct graph_part *part), void *arg,
                  struct error *error)
{
    int rv = check_part(set->book, part, error);
    if (rv != 0)
        return rv;
    struct snapshot *snapshot = malloc(sizeof *snapshot);
    if (snapshot == NULL)
        return error_set(error, TR_ENOMEM, "partition %" PRIu32 ": out of memory", part->part_id);
    *snapshot = (struct snapshot){
        .set = set, .part = part, .shown = *part, .unload = unload, .arg = arg, .references = 1
    };
    const struct original_ids_of ids = { set, read_original_ids, set->book->num_nodes };
    snapshot->shown.on_demand = on_demand_create(&snapshot->shown, &ids);
    if (snapshot->shown.on_demand == NULL) {
        free(snapshot);
        return error_set(error, TR_ENOMEM, "partition %" PRIu32 ": out of memory", part->part_id);
    }
    pthread_mutex_lock(&set->mutex);
    if (*find_snapshot(set, part->part_id, part->version) != NULL) {
        rv = TR_EEXIST;
    } else {
        /* It goes in front of the others: SNAPSHOT_NEWEST is the first of the list. */
        snapshot->older = set->newest[part->part_id];
        set->newest[part->part_id] = snapshot;
        set->live++;
    }
    pthread_mutex_unlock(&set->mutex);
    if (rv != 0) {
        on_demand_destroy(snapshot->shown.on_demand);
        free(snapshot);
        error_set(error, rv, "version %" PRIu32 " of partition %" PRIu32 " is here already",
                  part->version, part->part_id);
    }
    return rv;
}

int snapshots_retire(struct snapshots *set, uint32_t part, uint32_t version)
{
    struct snapshot *found = NULL;
    pthread_mutex_lock(&set->mutex);
    if (part < set->book->num_parts) {
        struct snapshot **at = find_snapshot(set, part, version);
        found = *at;
        if (found != NULL)
            *at = found->older;
    }
    pthread_mutex_unlock(&set->mutex);
    snapshot_release(found); /* after it left the list: the last release frees it */
    return found != NULL ? 0 : TR_ENOENT;
}

struct snapshot *snapshot_acquire(struct snapshots *set, uint32_t part, uint32_t version)
{
    struct snapshot *found = NULL;
    pthread_mutex_lock(&set->mutex);
    if (part < set->book->num_parts)
        found = *find_snapshot(set, part, version);
    if (found != NULL)
        found->references++;
    pthread_mutex_unlock(&set->mutex);
    return found;
}

struct snapshot *snapshot_hold(struct snapshot *snapshot)
{
    if (snapshot == NULL)
        return NULL;
    pthread_mutex_lock(&snapshot->set->mutex);
    assert(snapshot->references > 0);
    snapshot->references++;
    pthread_mutex_unlock(&snapshot->set->mutex);
    return snapshot;
}

void snapshot_release(struct snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    struct snapshots *set = snapshot->set;
    pthread_mutex_lock(&set->mutex);
    assert(snapshot->references > 0);
    uint64_t left = --snapshot->references;
    pthread_mutex_unlock(&set->mutex);
    if (left > 0)
        return;
    /* Unloading takes long, so it runs without the mutex: nobody finds it any more, for its own
     * reference went when it left the list. It counts as live until all of it is gone. */
    on_demand_destroy(snapshot->shown.on_demand);
    if (snapshot->unload != NULL)
        snapshot->unload(snapshot->arg, snapshot->part);
    free(snapshot);
    pthread_mutex_lock(&set->mutex);
    set->live--;
    pthread_mutex_unlock(&set->mutex);
}

const struct graph_part *snapshot_part(const struct snapshot *snapshot)
{
    return &snapshot->shown;
}

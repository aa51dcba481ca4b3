/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants: an array is on the list from its first question on, and never leaves it. It is made in
 * one phase or two, each over a range of items: rows, or nodes whose original IDs are read first.
 * Items below `next` are made or being made by some thread, without the mutex; `left` counts those
 * of the phase that are not made. The last piece of a phase, whoever made it, begins the next one.
 * After a failure no more items are begun; the failure of the first item that has one is kept,
 * whichever thread found it, since all before it were begun too.
 */
#include "graph/on_demand.h"

#include <pthread.h>
#include <stdlib.h>

#include "runtime/base/hotmem.h"
#include "schemas/sample_spec.h"

/* Where an ID takes 8 bytes. */
#define WIDE_IDS (UINT64_C(1) << 32)

enum phase { READ_IDS, MAKE_ROWS, WHOLE_ARRAY };

struct array {
    struct array *next_array;
    struct on_demand_key key;
    enum phase phase;
    struct weight_sums sums;
    struct source_ids sources;
    uint64_t *ids; /* of the source type's nodes, until the sources are made */
    bool moved;    /* some node has another original ID than its global one */
    void *first, *second;
    size_t first_bytes, second_bytes, ids_bytes;
    uint64_t next, left;
    uint64_t failed; /* the first item; UINT64_MAX: none */
    struct error failure;
};

struct on_demand {
    const struct graph_part *part;
    struct original_ids_of ids;
    pthread_mutex_t mutex;
    struct array *arrays;
    uint32_t num_arrays;
};

struct on_demand *on_demand_create(const struct graph_part *part, const struct original_ids_of *ids)
{
    struct on_demand *set = calloc(1, sizeof *set);
    if (set == NULL)
        return NULL;
    set->part = part;
    if (ids != NULL)
        set->ids = *ids;
    pthread_mutex_init(&set->mutex, NULL);
    return set;
}

static void free_array(struct array *array)
{
    hotmem_free(array->ids, array->ids_bytes);
    hotmem_free(array->first, array->first_bytes);
    hotmem_free(array->second, array->second_bytes);
    free(array);
}

void on_demand_destroy(struct on_demand *set)
{
    if (set == NULL)
        return;
    while (set->arrays != NULL) {
        struct array *array = set->arrays;
        set->arrays = array->next_array;
        free_array(array);
    }
    pthread_mutex_destroy(&set->mutex);
    free(set);
}

static struct array *find_array(const struct on_demand *set, const struct on_demand_key *key)
{
    struct array *array = set->arrays;
    while (array != NULL && (array->key.what != key->what || array->key.etype != key->etype ||
                             array->key.weights != key->weights || array->key.mask != key->mask))
        array = array->next_array;
    return array;
}

static const struct csc *csc_of(const struct on_demand *set, const struct on_demand_key *key)
{
    return &set->part->edges[key->etype].csc;
}

static uint32_t source_type(const struct on_demand *set, const struct on_demand_key *key)
{
    return set->part->types->etypes[key->etype].src;
}

/* Memory is touched when it is written: taking it costs nothing. */
static int allocate_block(void **block, size_t *bytes, uint64_t count, size_t size)
{
    *bytes = (size_t)(count + 1) * size;
    *block = hotmem_alloc(*bytes);
    return *block == NULL ? TR_ENOMEM : 0;
}

static int begin_sums(const struct on_demand *set, struct array *array)
{
    const struct csc *csc = csc_of(set, &array->key);
    int rv = allocate_block(&array->first, &array->first_bytes, csc->num_edges,
                            sizeof *array->sums.ends);
    uint64_t num_guides = csc->num_edges / WEIGHT_GUIDED;
    if (rv == 0)
        rv = allocate_block(&array->second, &array->second_bytes, csc->num_rows + num_guides,
                            sizeof *array->sums.guides);
    uint32_t *guides = array->second;
    array->sums = (struct weight_sums){ .ends = array->first,
                                        .guides = guides,
                                        .positives = rv == 0 ? guides + num_guides : NULL };
    array->phase = MAKE_ROWS;
    array->left = csc->num_rows;
    return rv;
}

static int begin_sources(const struct on_demand *set, struct array *array)
{
    const struct csc *csc = csc_of(set, &array->key);
    uint64_t nodes = set->ids.num_nodes[source_type(set, &array->key)];
    void *ids;
    int rv = allocate_block(&ids, &array->ids_bytes, nodes, sizeof *array->ids);
    array->ids = ids;
    if (rv == 0)
        rv = allocate_block(&array->first, &array->first_bytes, csc->num_edges,
                            nodes < WIDE_IDS ? sizeof(uint32_t) : sizeof(uint64_t));
    array->left = nodes;
    return rv;
}

static int add_array(struct on_demand *set, const struct on_demand_key *key, struct array **out,
                     struct error *error)
{
    if (set->num_arrays == ON_DEMAND_MAX)
        return error_set(error, TR_EFULL, "partition %u is drawn by %u features already",
                         set->part->part_id, ON_DEMAND_MAX);
    if (key->what == ON_DEMAND_SOURCES && set->ids.read == NULL)
        return error_set(error, TR_EUNSUPPORTED,
                         "partition %u: the original IDs of other partitions' nodes are not known",
                         set->part->part_id);
    struct array *array = calloc(1, sizeof *array);
    int rv = array == NULL ? TR_ENOMEM : 0;
    if (rv == 0) {
        array->key = *key;
        array->failed = UINT64_MAX;
        rv = key->what == ON_DEMAND_WEIGHTS ? begin_sums(set, array) : begin_sources(set, array);
    }
    if (rv != 0) {
        if (array != NULL)
            free_array(array);
        return error_set(error, rv, "partition %u: no memory to draw %llu edges by",
                         set->part->part_id, (unsigned long long)csc_of(set, key)->num_edges);
    }
    array->next_array = set->arrays;
    set->arrays = array;
    set->num_arrays++;
    *out = array;
    return 0;
}

/* All items of a phase are made. */
static void end_phase(const struct on_demand *set, struct array *array)
{
    const struct csc *csc = csc_of(set, &array->key);
    bool reads = array->phase == READ_IDS;
    array->phase = reads && array->moved ? MAKE_ROWS : WHOLE_ARRAY;
    array->next = 0;
    array->left = csc->num_rows;
    if (array->phase == MAKE_ROWS)
        return;
    hotmem_free(array->ids, array->ids_bytes);
    array->ids = NULL;
    if (reads) { /* IDs are those of columns */
        hotmem_free(array->first, array->first_bytes);
        array->first = NULL;
    } else if (array->key.what == ON_DEMAND_SOURCES) {
        bool narrow = set->ids.num_nodes[source_type(set, &array->key)] < WIDE_IDS;
        array->sources = (struct source_ids){ narrow ? array->first : NULL,
                                              narrow ? NULL : array->first };
    }
}

static uint64_t num_items(const struct on_demand *set, const struct array *array)
{
    return array->phase == READ_IDS ? set->ids.num_nodes[source_type(set, &array->key)]
                                    : csc_of(set, &array->key)->num_rows;
}

/* The items behind `first` that make a piece. */
static uint64_t piece_end(const struct on_demand *set, const struct array *array)
{
    const struct csc *csc = csc_of(set, &array->key);
    uint64_t end = array->next;
    if (array->phase == READ_IDS)
        return num_items(set, array) - end < ON_DEMAND_PIECE_IDS ? num_items(set, array)
                                                                 : end + ON_DEMAND_PIECE_IDS;
    while (end < csc->num_rows &&
           csc->index[end] - csc->index[array->next] + (end - array->next) < ON_DEMAND_PIECE_EDGES)
        end++;
    return end;
}

static bool are_moved(const uint64_t *ids, uint64_t first, uint64_t end)
{
    bool moved = false;
    for (uint64_t i = first; i < end; i++)
        moved |= ids[i] != i;
    return moved;
}

static void make_sources(const struct array *array, const struct csc *csc, uint64_t first,
                         uint64_t end, bool narrow)
{
    for (uint64_t e = csc->index[first]; e < csc->index[end]; e++) {
        uint64_t column = csc->indices[e];
        uint64_t id = array->ids[csc->column_global != NULL ? csc->column_global[column] : column];
        if (narrow)
            ((uint32_t *)array->first)[e] = (uint32_t)id;
        else
            ((uint64_t *)array->first)[e] = id;
    }
}

/* Items of a phase, without the mutex. */
static int make_items(const struct on_demand *set, const struct array *array, enum phase phase,
                      uint64_t first, uint64_t end, bool *moved, struct error *failure)
{
    const struct edge_part *edges = &set->part->edges[array->key.etype];
    uint32_t type = source_type(set, &array->key);
    if (phase == READ_IDS) {
        int rv = set->ids.read(set->ids.arg, type, first, (size_t)(end - first), array->ids + first,
                               failure);
        *moved = rv == 0 && are_moved(array->ids, first, end);
        return rv == 0
                   ? 0
                   : error_prefix(failure, "a LABOR sampler needs the original IDs of all nodes");
    }
    if (array->key.what == ON_DEMAND_SOURCES) {
        make_sources(array, &edges->csc, first, end, set->ids.num_nodes[type] < WIDE_IDS);
        return 0;
    }
    const struct feature_table *mask = array->key.mask == SAMPLE_NO_TABLE
                                           ? NULL
                                           : &edges->features[array->key.mask];
    int rv = weight_sums_fill(&array->sums, edges, &edges->features[array->key.weights], mask,
                              first, end, set->part->part_id, failure);
    return rv == 0 ? 0
                   : error_prefix(failure, "edges of type %s",
                                  set->part->types->etypes[array->key.etype].name);
}

/* With the mutex, which is let go of while the items are made. */
static void make_piece(struct on_demand *set, struct array *array)
{
    uint64_t first = array->next, end = piece_end(set, array);
    enum phase phase = array->phase;
    struct error failure = { 0 };
    bool moved = false;
    array->next = end;
    pthread_mutex_unlock(&set->mutex);
    int rv = make_items(set, array, phase, first, end, &moved, &failure);
    pthread_mutex_lock(&set->mutex);
    array->moved |= moved;
    if (rv == 0) {
        array->left -= end - first;
        if (array->left == 0)
            end_phase(set, array);
    } else if (first < array->failed) {
        array->failed = first;
        array->failure = failure;
    }
}

int on_demand_make(struct on_demand *set, const struct on_demand_key *key, struct error *error)
{
    int rv = 0;
    pthread_mutex_lock(&set->mutex);
    struct array *array = find_array(set, key);
    if (array == NULL)
        rv = add_array(set, key, &array, error);
    /* A phase without items ends here. */
    while (rv == 0 && array->phase != WHOLE_ARRAY && num_items(set, array) == 0)
        end_phase(set, array);
    if (rv == 0 && array->failed == UINT64_MAX && array->phase != WHOLE_ARRAY &&
        array->next < num_items(set, array))
        make_piece(set, array);
    if (rv == 0 && array->failed != UINT64_MAX)
        rv = error_set(error, array->failure.code, "%s", array->failure.text);
    else if (rv == 0)
        rv = array->phase != WHOLE_ARRAY;
    pthread_mutex_unlock(&set->mutex);
    return rv;
}

static const struct array *find_whole(struct on_demand *set, const struct on_demand_key *key)
{
    if (set == NULL)
        return NULL;
    pthread_mutex_lock(&set->mutex);
    const struct array *array = find_array(set, key);
    bool whole = array != NULL && array->phase == WHOLE_ARRAY;
    pthread_mutex_unlock(&set->mutex);
    return whole ? array : NULL;
}

const struct weight_sums *on_demand_weights(struct on_demand *set, const struct on_demand_key *key)
{
    const struct array *array = find_whole(set, key);
    return array == NULL ? NULL : &array->sums;
}

const struct source_ids *on_demand_sources(struct on_demand *set, const struct on_demand_key *key)
{
    const struct array *array = find_whole(set, key);
    return array == NULL ? NULL : &array->sources;
}

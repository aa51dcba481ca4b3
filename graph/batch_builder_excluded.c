/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges that a batch leaves out, in every hop: a list for each edge type, by their IDs in
 * order. Until the first hop opens, more may come in any order, and some several times: the list is a
 * few ordered runs then.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/batch_builder.h"
#include "graph/excluded.h"

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_ordered(const uint64_t *ids, uint64_t count)
{
    bool ordered = true;
    for (uint64_t i = 1; i < count; i++)
        ordered &= ids[i - 1] <= ids[i];
    return ordered;
}

/* Puts the last run among the one before it. There is room for the last one behind them. */
static void merge_runs(struct batch_builder_excluded *excluded)
{
    uint64_t *runs = excluded->runs, last = excluded->num_runs - 1;
    uint64_t count = runs[last - 1], more = runs[last];
    uint64_t *ids = (uint64_t *)excluded->ids.data + (excluded->count - count - more);
    uint64_t *piece = ids + count + more;
    runs[last - 1] += more;
    excluded->num_runs--;
    if (ids[count - 1] <= ids[count])
        return;
    memcpy(piece, ids + count, more * sizeof *ids);
    /* From the end on: what was there moves up before its place is taken. */
    for (uint64_t to = count + more; more > 0; to--) {
        bool old = count > 0 && ids[count - 1] > piece[more - 1];
        ids[to - 1] = old ? ids[--count] : piece[--more];
    }
}

/* Puts a piece of `more` IDs, at least one, which lie behind the others, in order, as a run of its own.
 * Runs of about one length are merged, so that each ID is moved once for each doubling of a run: k
 * pieces in no order take log k times what one takes, and those of a list in order, each of which goes
 * on where the last run ends, their own time alone. No turn takes more than a sort of its piece and one
 * pass over what there is, where one sort of all would. */
static void add_run(struct batch_builder_excluded *excluded, uint64_t more)
{
    uint64_t *ids = (uint64_t *)excluded->ids.data + excluded->count;
    uint64_t *runs = excluded->runs;
    if (!is_ordered(ids, more))
        qsort(ids, more, sizeof *ids, compare_ids);
    excluded->count += more;
    if (excluded->num_runs > 0 && ids[-1] <= ids[0]) {
        runs[excluded->num_runs - 1] += more;
    } else {
        assert(excluded->num_runs < BATCH_BUILDER_RUNS_MAX);
        runs[excluded->num_runs++] = more;
    }
    while (excluded->num_runs > 1 &&
           runs[excluded->num_runs - 2] <= 2 * runs[excluded->num_runs - 1])
        merge_runs(excluded);
}

int batch_builder_exclude(struct batch_builder *builder, uint32_t etype, const uint64_t *edge_ids,
                          uint64_t count, struct error *error)
{
    if (etype >= builder->num_etypes)
        return error_set(error, TR_ERANGE,
                         "batch %" PRIu64 ": edges of type %" PRIu32
                         " are to be left out, the graph has %" PRIu32 " types",
                         builder->key.batch, etype, builder->num_etypes);
    struct batch_builder_excluded *excluded = &builder->excluded[etype];
    uint64_t num_edges = builder->graph.num_edges[etype];
    const char *name = builder->graph.types->etypes[etype].name;
    for (uint64_t i = 0; i < count; i++)
        if (edge_ids[i] >= num_edges)
            return error_set(error, TR_ERANGE,
                             "batch %" PRIu64 ": edge %" PRIu64
                             " is to be left out, there are %" PRIu64 " of type %s",
                             builder->key.batch, edge_ids[i], num_edges, name);
    /* Room for all once more, where runs are merged from. */
    if (vec_reserve(&excluded->ids, 2 * (excluded->count + count), sizeof(uint64_t),
                    excluded->count * sizeof(uint64_t)) != 0)
        return error_set(error, TR_ENOMEM,
                         "batch %" PRIu64 ": no memory to leave out %" PRIu64 " edges of type %s",
                         builder->key.batch, excluded->count + count, name);
    if (count == 0)
        return 0;
    memcpy((uint64_t *)excluded->ids.data + excluded->count, edge_ids, count * sizeof *edge_ids);
    add_run(excluded, count);
    return 0;
}

void batch_builder_unify_excluded(struct batch_builder *builder)
{
    for (uint32_t e = 0; e < builder->num_etypes; e++) {
        struct batch_builder_excluded *excluded = &builder->excluded[e];
        uint64_t *ids = excluded->ids.data, count = 0;
        while (excluded->num_runs > 1)
            merge_runs(excluded);
        excluded->num_runs = 0;
        for (uint64_t i = 0; i < excluded->count; i++)
            if (count == 0 || ids[count - 1] != ids[i])
                ids[count++] = ids[i];
        excluded->count = count;
    }
}

const uint64_t *batch_builder_excluded(const struct batch_builder *builder, uint32_t etype,
                                       uint32_t part, uint64_t *count)
{
    const struct batch_builder_excluded *excluded = &builder->excluded[etype];
    const uint64_t *ids = excluded->ids.data;
    *count = 0;
    if (excluded->count == 0)
        return NULL;
    /* The out-edges of a partition's nodes lie with their destinations. */
    if (batch_builder_term(builder, etype)->direction == SAMPLE_OUT) {
        *count = excluded->count;
        return ids;
    }
    const struct extent *extent = &builder->graph.edge_extents[etype][part];
    uint64_t begin = excluded_bound(ids, excluded->count, extent->begin);
    *count = excluded_bound(ids + begin, excluded->count - begin, extent->end);
    return ids + begin;
}

const struct sample_excluded *batch_builder_excluded_by_type(const struct batch_builder *builder,
                                                             uint32_t part)
{
    bool some = false;
    for (uint32_t e = 0; e < builder->num_etypes; e++) {
        struct sample_excluded *of_type = &builder->excluded_by_type[e];
        of_type->ids = batch_builder_excluded(builder, e, part, &of_type->count);
        some |= of_type->count > 0;
    }
    return some ? builder->excluded_by_type : NULL;
}

void batch_builder_reset_excluded(struct batch_builder *builder)
{
    for (uint32_t e = 0; e < builder->num_etypes; e++)
        builder->excluded[e].count = builder->excluded[e].num_runs = 0;
}

void batch_builder_fini_excluded(struct batch_builder *builder)
{
    for (uint32_t e = 0; builder->excluded != NULL && e < builder->num_etypes; e++)
        vec_fini(&builder->excluded[e].ids);
    free(builder->excluded);
    free(builder->excluded_by_type);
    builder->excluded_by_type = NULL;
    builder->excluded = NULL;
}

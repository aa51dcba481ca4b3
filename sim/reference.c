/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/reference.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/data/epoch_plan.h"
#include "graph/digest.h"
#include "graph/local_sample.h"
#include "graph/negatives.h"
#include "graph/permute.h"
#include "graph/reverse_edges.h"
#include "graph/samplers.h"
#include "schemas/body.h"

void reference_init(struct reference *reference, const struct sim_graph *raw)
{
    uint32_t num_ntypes = raw->types.num_ntypes;
    *reference = (struct reference){ .nodes = calloc(num_ntypes, sizeof *reference->nodes) };
    assert(reference->nodes != NULL);
    sim_partitions_init(&reference->partitions, raw, 1, NULL);
    reference->on_demand = on_demand_create(&reference->partitions.parts[0], NULL);
    assert(reference->on_demand != NULL);
    for (uint32_t t = 0; t < num_ntypes; t++) {
        struct reference_nodes *nodes = &reference->nodes[t];
        nodes->room = 2 * (size_t)raw->num_nodes[t] + 1;
        nodes->ids = calloc(nodes->room, sizeof *nodes->ids);
        nodes->positions = calloc(raw->num_nodes[t] + 1, sizeof *nodes->positions);
        assert(nodes->ids != NULL && nodes->positions != NULL);
    }
}

void reference_fini(struct reference *reference)
{
    for (uint32_t t = 0; t < reference->partitions.book.types.num_ntypes; t++) {
        free(reference->nodes[t].ids);
        free(reference->nodes[t].positions);
    }
    free(reference->nodes);
    batch_space_fini(&reference->batch);
    sample_space_fini(&reference->space);
    on_demand_destroy(reference->on_demand);
    sim_partitions_fini(&reference->partitions);
}

static const struct msg_seed_segment *segment_at(const struct wanted_loader *loader, uint64_t seed)
{
    const struct msg_seed_segment *segment = loader->segments;
    for (uint64_t end = segment->num_seeds; seed >= end; end += segment->num_seeds)
        segment++;
    return segment;
}

static uint32_t type_of(const struct wanted_loader *loader, uint64_t seed)
{
    return loader->segments == NULL ? loader->open.ntype : segment_at(loader, seed)->ntype;
}

size_t wanted_loader_bytes(const struct wanted_loader *loader)
{
    return loader->open.num_segments * sizeof *loader->segments + sample_spec_bytes(&loader->spec);
}

/* Edge types that its pairs have. */
static uint32_t num_pair_types(const struct wanted_loader *loader)
{
    return loader->pairs == NULL ? 0 : loader->segments == NULL ? 1 : loader->open.num_segments;
}

/* The i-th of them, and what the loader says of its pairs. */
static struct msg_seed_segment pair_segment(const struct wanted_loader *loader, uint32_t i)
{
    const struct msg_loader_open *open = &loader->open;
    if (loader->segments != NULL)
        return loader->segments[i];
    return (struct msg_seed_segment){ .seeds = open->seeds,
                                      .etype = open->etype,
                                      .first_rank = open->first_rank,
                                      .num_seeds = open->num_seeds,
                                      .reverse_etype = open->reverse_etype,
                                      .reverse_rule = open->reverse_rule };
}

/* What a list says of an edge, which four of five have: any edge, that is. REVERSE_NO_EDGE: none. */
static uint64_t listed_reverse(const struct wanted_loader *loader, const struct sim_graph *raw,
                               uint32_t etype, uint64_t edge)
{
    uint64_t drawn = key_mix(loader->listed_reverses + edge * KEY_STEP);
    return drawn % 5 == 0 ? REVERSE_NO_EDGE : (drawn >> 8) % raw->edges[etype].count;
}

/* A pair by what a placement calls its ends, or an edge by its own number there, with that of its
 * reverse where the seeds are of that kind: count of an edge type from that one on. */
static uint64_t *write_pairs(const struct wanted_loader *loader,
                             const struct sim_partitions *partitions, uint32_t kind, uint32_t etype,
                             uint64_t first, uint64_t count, uint64_t *ids)
{
    const struct graph_etype *type = &partitions->raw->types.etypes[etype];
    for (uint64_t i = first; i < first + count; i++) {
        if (loader->edges != NULL) {
            *ids++ = sim_partitions_edge_id(partitions, etype, loader->edges[i]);
            if (seed_kind_ids(kind) == 1)
                continue;
            uint64_t reverse = listed_reverse(loader, partitions->raw, etype, loader->edges[i]);
            *ids++ = reverse == REVERSE_NO_EDGE
                         ? reverse
                         : sim_partitions_edge_id(partitions, etype, reverse);
            continue;
        }
        *ids++ = partitions->global[type->src][loader->pairs[2 * i]];
        *ids++ = partitions->global[type->dst][loader->pairs[2 * i + 1]];
    }
    return ids;
}

uint64_t *wanted_loader_write_seeds(const struct wanted_loader *loader,
                                    const struct sim_partitions *partitions, uint64_t *ids)
{
    const struct msg_loader_open *open = &loader->open;
    if (loader->pairs != NULL)
        return write_pairs(loader, partitions, open->seeds, open->etype, 0, open->num_seeds, ids);
    for (uint64_t i = 0; i < open->num_seeds; i++)
        *ids++ = partitions->global[open->ntype][loader->seeds[i]];
    return ids;
}

void wanted_loader_write(const struct wanted_loader *loader, struct msg_loader_open *head,
                         void *body)
{
    size_t segment_bytes = loader->open.num_segments * sizeof *loader->segments;
    if (segment_bytes > 0)
        memcpy(body, loader->segments, segment_bytes);
    sample_spec_write(&loader->spec, (unsigned char *)body + segment_bytes);
    head->spec_bytes = (uint32_t)sample_spec_bytes(&loader->spec);
}

/* A list of num_seeds from that one on, all of one type. */
static struct seed_list *list_nodes(const struct wanted_loader *loader,
                                    const struct sim_partitions *partitions, uint64_t first,
                                    uint64_t num_seeds)
{
    struct seed_list *list = seed_list_create(num_seeds);
    assert(list != NULL);
    for (uint64_t i = 0; i < num_seeds; i++)
        list->ids[i] = partitions->global[type_of(loader, first + i)][loader->seeds[first + i]];
    return list;
}

static struct seed_list *list_pairs(const struct wanted_loader *loader,
                                    const struct sim_partitions *partitions, uint32_t kind,
                                    uint32_t etype, uint64_t first, uint64_t count)
{
    struct seed_list *list = seed_list_create(seed_kind_ids(kind) * count);
    assert(list != NULL);
    write_pairs(loader, partitions, kind, etype, first, count, list->ids);
    return list;
}

void wanted_loader_put(const struct wanted_loader *loader, const struct sim_partitions *partitions,
                       struct seed_lists *lists, uint64_t number)
{
    const struct msg_loader_open *open = &loader->open;
    struct seed_list **of = calloc(open->num_segments + (size_t)1, sizeof(struct seed_list *));
    uint32_t count = 0;
    uint64_t first = 0;
    assert(of != NULL);
    if (open->seeds == MSG_SEEDS_LISTED)
        of[count++] = list_nodes(loader, partitions, 0, open->num_seeds);
    else if (seed_kind_is_listed(open->seeds))
        of[count++] = list_pairs(loader, partitions, open->seeds, open->etype, 0, open->num_seeds);
    for (uint32_t i = 0; i < open->num_segments; i++) {
        const struct msg_seed_segment *segment = &loader->segments[i];
        if (segment->seeds == MSG_SEEDS_LISTED)
            of[count++] = list_nodes(loader, partitions, first, segment->num_seeds);
        else if (seed_kind_is_listed(segment->seeds))
            of[count++] = list_pairs(loader, partitions, segment->seeds, segment->etype, first,
                                     segment->num_seeds);
        first += segment->num_seeds;
    }
    int rv = count == 0 ? 0 : seed_lists_put(lists, number, of, count);
    assert(rv == 0);
    while (count > 0)
        seed_list_release(of[--count]);
    free(of);
}

/* Draws some nodes of each other type, some of them twice; types stand in no order of their
 * numbers. */
void wanted_loader_join(struct wanted_loader *loader, const struct sim_graph *raw)
{
    struct msg_loader_open *open = &loader->open;
    uint32_t num_ntypes = raw->types.num_ntypes;
    uint64_t most = open->num_seeds;
    if (num_ntypes < 2 || key_mix(open->seed + 7) % 3 != 0)
        return;
    for (uint32_t t = 0; t < num_ntypes; t++)
        most += 2 * (uint64_t)raw->num_nodes[t];
    loader->seeds = realloc(loader->seeds, (most + 1) * sizeof *loader->seeds);
    loader->segments = calloc(num_ntypes, sizeof *loader->segments);
    assert(loader->seeds != NULL && loader->segments != NULL);
    loader->segments[0] = (struct msg_seed_segment){ .ntype = open->ntype,
                                                     .seeds = MSG_SEEDS_LISTED,
                                                     .num_seeds = open->num_seeds };
    open->seeds = MSG_SEEDS_SEVERAL;
    open->num_segments = 1;
    for (uint32_t i = 1; i < num_ntypes; i++) {
        uint32_t t = (open->ntype + i) % num_ntypes;
        uint64_t begin = open->num_seeds, drawn = key_mix(open->seed * 31 + t);
        for (uint32_t v = 0; v < raw->num_nodes[t]; v++) {
            uint64_t times = key_mix(drawn + v * KEY_STEP) % (2 + drawn % 5);
            for (uint64_t j = 0; j < times && j < 2; j++)
                loader->seeds[open->num_seeds++] = v;
        }
        loader->segments[open->num_segments++] = (struct msg_seed_segment){
            .ntype = t, .seeds = MSG_SEEDS_LISTED, .num_seeds = open->num_seeds - begin
        };
    }
}

/* count edges of a type at the places from `first` on. */
static void pick_edges(struct wanted_loader *loader, const struct sim_edges *edges, uint64_t drawn,
                       uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t edge = key_mix(drawn + (i % 5 == 4 ? i - 1 : i) * KEY_STEP) % edges->count;
        loader->edges[first + i] = edge;
        loader->pairs[2 * (first + i)] = edges->src[edge];
        loader->pairs[2 * (first + i) + 1] = edges->dst[edge];
    }
}

/* The same with pairs of nodes. */
static void pick_pairs(struct wanted_loader *loader, uint64_t num_src, uint64_t num_dst,
                       uint64_t drawn, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t pair = key_mix(drawn + (i % 5 == 4 ? i - 1 : i) * KEY_STEP);
        loader->pairs[2 * (first + i)] = pair % num_src;
        loader->pairs[2 * (first + i) + 1] = (pair >> 32) % num_dst;
    }
}

/* Some pairs come twice, some ends in many pairs; that there is such an edge does not matter. */
void wanted_loader_pair(struct wanted_loader *loader, const struct sim_graph *raw)
{
    struct msg_loader_open *open = &loader->open;
    uint64_t drawn = key_mix(open->seed + 11);
    if (loader->segments != NULL || drawn % 4 != 0 || raw->types.num_etypes == 0)
        return;
    uint32_t etype = (uint32_t)(drawn >> 8) % raw->types.num_etypes;
    const struct graph_etype *type = &raw->types.etypes[etype];
    uint64_t num_src = raw->num_nodes[type->src], num_dst = raw->num_nodes[type->dst];
    if (num_src == 0 || num_dst == 0)
        return;
    loader->pairs = calloc(open->num_seeds + 1, 2 * sizeof *loader->pairs);
    assert(loader->pairs != NULL);
    pick_pairs(loader, num_src, num_dst, drawn, 0, open->num_seeds);
    open->seeds = MSG_SEEDS_PAIRS;
    open->etype = etype;
    /* Half of them, where there are some, are edges. */
    if ((drawn >> 4) % 2 != 0 || raw->edges[etype].count == 0)
        return;
    loader->edges = calloc(open->num_seeds + 1, sizeof *loader->edges);
    assert(loader->edges != NULL);
    pick_edges(loader, &raw->edges[etype], drawn, 0, open->num_seeds);
    open->seeds = MSG_SEEDS_EDGES;
}

/* The edges of a type whose ranks are [first_rank, first_rank + count), at the places from `first` on.
 * Ranks are found plainly: destination by destination, the edges in their order. */
static void pick_ranks(struct wanted_loader *loader, const struct sim_graph *raw, uint32_t etype,
                       uint64_t first_rank, uint64_t first, uint64_t count)
{
    const struct sim_edges *edges = &raw->edges[etype];
    uint64_t rank = 0;
    for (uint32_t v = 0; v < raw->num_nodes[raw->types.etypes[etype].dst]; v++)
        for (uint32_t i = 0; i < edges->count; i++) {
            uint64_t at = edges->dst[i] == v ? rank++ : UINT64_MAX;
            if (at < first_rank || at - first_rank >= count)
                continue;
            at += first - first_rank;
            loader->edges[at] = i;
            loader->pairs[2 * at] = edges->src[i];
            loader->pairs[2 * at + 1] = v;
        }
}

void wanted_loader_range(struct wanted_loader *loader, const struct sim_graph *raw)
{
    struct msg_loader_open *open = &loader->open;
    uint64_t drawn = key_mix(open->seed + 13);
    if (loader->edges == NULL || drawn % 2 != 0)
        return;
    const struct sim_edges *edges = &raw->edges[open->etype];
    open->num_seeds = open->num_seeds < edges->count ? open->num_seeds : edges->count;
    open->first_rank = (drawn >> 8) % (edges->count - open->num_seeds + 1);
    open->seeds = MSG_SEEDS_EDGE_RANKS;
    pick_ranks(loader, raw, open->etype, open->first_rank, 0, open->num_seeds);
}

/* Of each other edge type as many at most as the loader has already, which may be none. */
static void mix_type(struct wanted_loader *loader, const struct sim_graph *raw, uint32_t etype)
{
    struct msg_loader_open *open = &loader->open;
    const struct graph_etype *type = &raw->types.etypes[etype];
    const struct sim_edges *edges = &raw->edges[etype];
    const uint64_t drawn = key_mix(open->seed * 31 + 47 + etype);
    struct msg_seed_segment *segment = &loader->segments[open->num_segments++];
    *segment = (struct msg_seed_segment){
        .seeds = loader->edges == NULL ? MSG_SEEDS_PAIRS : MSG_SEEDS_EDGES,
        .etype = etype,
        .num_seeds = (drawn >> 8) % (loader->segments[0].num_seeds + 1),
        .reverse_rule = REVERSE_NONE,
    };
    if (loader->edges != NULL && drawn % 2 == 0 && edges->count >= segment->num_seeds) {
        segment->seeds = MSG_SEEDS_EDGE_RANKS;
        segment->first_rank = (drawn >> 16) % (edges->count - segment->num_seeds + 1);
        pick_ranks(loader, raw, etype, segment->first_rank, open->num_seeds, segment->num_seeds);
    } else if (loader->edges != NULL) {
        pick_edges(loader, edges, drawn, open->num_seeds, segment->num_seeds);
    } else {
        pick_pairs(loader, raw->num_nodes[type->src], raw->num_nodes[type->dst], drawn,
                   open->num_seeds, segment->num_seeds);
    }
    open->num_seeds += segment->num_seeds;
    for (uint32_t e = 0; e < raw->types.num_etypes; e++) {
        const struct graph_etype *other = &raw->types.etypes[e];
        if (e == etype || other->src != type->dst || other->dst != type->src)
            continue;
        segment->reverse_etype = e;
        segment->reverse_rule = REVERSE_SAME;
    }
}

void wanted_loader_mix(struct wanted_loader *loader, const struct sim_graph *raw)
{
    struct msg_loader_open *open = &loader->open;
    const uint32_t num_etypes = raw->types.num_etypes, first = open->etype;
    uint64_t most = (num_etypes + UINT64_C(1)) * (open->num_seeds + 1);
    if (loader->pairs == NULL || key_mix(open->seed + 47) % 3 == 0)
        return;
    loader->pairs = reallocarray(loader->pairs, most, 2 * sizeof *loader->pairs);
    if (loader->edges != NULL)
        loader->edges = reallocarray(loader->edges, most, sizeof *loader->edges);
    loader->segments = calloc(num_etypes, sizeof *loader->segments);
    assert(loader->pairs != NULL && loader->segments != NULL);
    loader->segments[0] = (struct msg_seed_segment){ .seeds = open->seeds,
                                                     .etype = first,
                                                     .first_rank = open->first_rank,
                                                     .num_seeds = open->num_seeds,
                                                     .reverse_etype = open->reverse_etype,
                                                     .reverse_rule = open->reverse_rule };
    open->seeds = MSG_SEEDS_SEVERAL;
    open->num_segments = 1;
    for (uint32_t i = 1; i < num_etypes; i++)
        if (raw->edges[(first + i) % num_etypes].count > 0)
            mix_type(loader, raw, (first + i) % num_etypes);
}

void wanted_loader_link(struct wanted_loader *loader)
{
    struct msg_loader_open *open = &loader->open;
    uint64_t drawn = key_mix(open->seed + 29);
    if (loader->pairs == NULL || drawn % 4 == 0)
        return;
    open->flags |= MSG_LOADER_ENDS_ONCE;
    open->num_negatives = (uint32_t)(drawn >> 8) % 4;
    if (open->num_negatives > 0 && (drawn >> 16) % 2 == 0)
        open->flags |= MSG_LOADER_SHARED_NEGATIVES;
    if (loader->edges != NULL && (drawn >> 24) % 4 != 0)
        open->flags |= MSG_LOADER_EXCLUDE_SELF;
}

void wanted_loader_reverse(struct wanted_loader *loader, const struct sim_graph *raw)
{
    struct msg_loader_open *open = &loader->open;
    uint64_t drawn = key_mix(open->seed + 31);
    uint32_t count = raw->types.num_etypes, first = (uint32_t)(drawn >> 8) % count;
    if ((open->flags & MSG_LOADER_EXCLUDE_SELF) == 0 || drawn % 4 == 0)
        return;
    for (uint32_t i = 0; i < count && (open->flags & MSG_LOADER_EXCLUDE_REVERSE) == 0; i++) {
        uint32_t e = (first + i) % count;
        const struct graph_etype *type = &raw->types.etypes[e];
        const struct graph_etype *own = &raw->types.etypes[open->etype];
        if (type->dst != own->src || type->src != own->dst)
            continue;
        open->flags |= MSG_LOADER_EXCLUDE_REVERSE;
        open->reverse_etype = e;
        open->reverse_rule = e != open->etype         ? REVERSE_SAME
                             : (drawn >> 16) % 2 == 0 ? REVERSE_HALVES
                                                      : REVERSE_ADJACENT;
    }
}

/* Edges by rank have no list. */
static void list_reverses(uint32_t *seeds, uint32_t *rule)
{
    *rule = *seeds == MSG_SEEDS_EDGES ? REVERSE_LISTED : REVERSE_NONE;
    *seeds = *seeds == MSG_SEEDS_EDGES ? MSG_SEEDS_EDGES_REVERSED : *seeds;
}

void wanted_loader_list_reverses(struct wanted_loader *loader)
{
    struct msg_loader_open *open = &loader->open;
    uint64_t drawn = key_mix(open->seed + 53);
    if ((open->flags & MSG_LOADER_EXCLUDE_SELF) == 0 || drawn % 2 == 0)
        return;
    open->flags |= MSG_LOADER_EXCLUDE_REVERSE;
    loader->listed_reverses = drawn;
    if (loader->segments == NULL)
        list_reverses(&open->seeds, &open->reverse_rule);
    for (uint32_t i = 0; i < open->num_segments; i++)
        list_reverses(&loader->segments[i].seeds, &loader->segments[i].reverse_rule);
}

void wanted_loader_corrupt(struct wanted_loader *loader)
{
    struct msg_loader_open *open = &loader->open;
    uint64_t drawn = key_mix(open->seed + 37);
    if (open->num_negatives == 0)
        return;
    open->negative_ends = (uint32_t)drawn % NEGATIVE_ENDS;
    if ((drawn >> 8) % 3 == 0) {
        open->flags &= ~MSG_LOADER_SHARED_NEGATIVES;
        open->flags |= MSG_LOADER_NEGATIVES_IN_BATCH;
    }
}

void wanted_loader_redraw(struct wanted_loader *loader)
{
    struct msg_loader_open *open = &loader->open;
    if (open->num_negatives > 0 && (open->flags & MSG_LOADER_SHARED_NEGATIVES) == 0 &&
        key_mix(open->seed + 41) % 2 == 0)
        open->flags |= MSG_LOADER_NEGATIVES_NO_EDGES;
}

void wanted_loader_weigh(struct wanted_loader *loader, const struct sim_graph *raw)
{
    struct msg_loader_open *open = &loader->open;
    if (open->num_negatives > 0 && (open->flags & MSG_LOADER_NEGATIVES_IN_BATCH) == 0 &&
        raw->edges[open->etype].count > 0 && key_mix(open->seed + 43) % 2 == 0)
        open->flags |= MSG_LOADER_NEGATIVES_BY_DEGREE;
}

/* Negatives are drawn from all nodes of a type. */
static uint32_t rank_all(struct sim_partitions *partitions, uint32_t ntype)
{
    uint32_t count = partitions->raw->num_nodes[ntype];
    uint64_t *originals = calloc(count + (size_t)1, sizeof *originals);
    assert(originals != NULL);
    for (uint32_t v = 0; v < count; v++)
        originals[v] = v;
    uint32_t ranks = sim_partitions_rank(partitions, ntype, originals, count);
    free(originals);
    return ranks;
}

struct wanted_loader wanted_loader_first(const struct wanted_loader *loader)
{
    struct wanted_loader first = *loader;
    const struct msg_seed_segment *segment = loader->segments;
    if (segment == NULL || loader->open.num_seeds == 0)
        return first;
    while (segment->num_seeds == 0)
        segment++;
    first.segments = NULL;
    first.open.num_segments = 0;
    first.open.num_seeds = segment->num_seeds;
    first.open.ntype = segment->ntype;
    first.open.seeds = loader->pairs == NULL ? MSG_SEEDS_LISTED : segment->seeds;
    first.open.etype = segment->etype;
    first.open.negative_ranks = segment->negative_ranks;
    first.open.negative_source_ranks = segment->negative_source_ranks;
    first.open.reverse_etype = segment->reverse_etype;
    first.open.reverse_rule = segment->reverse_rule;
    return first;
}

void wanted_loader_vary(struct wanted_loader *loader, bool replace)
{
    struct sample_spec *spec = &loader->spec;
    bool differ = key_mix(loader->open.seed) % 2 == 0;
    for (uint32_t l = 0; l < spec->num_layers; l++)
        for (uint32_t e = 0; e < spec->num_etypes; e++) {
            struct sample_term *term = sample_spec_term(spec, l, e);
            uint64_t drawn = key_mix((loader->open.seed << 16) + l * spec->num_etypes + e);
            term->flags = replace ? SAMPLE_REPLACE : 0;
            if (!differ || drawn % 2 == 0)
                continue;
            term->fanout = drawn % 10 == 1 ? SAMPLE_EVERY : (int32_t)((drawn >> 8) % 6);
            term->flags = (drawn >> 4) % 2 == 0 ? SAMPLE_REPLACE : 0;
        }
}

uint32_t reference_max_degree(uint64_t seed, const struct sim_graph *raw)
{
    uint32_t in = sim_graph_max_degree(raw, raw->in_degrees);
    uint32_t out = seed >= WANTED_OUT_FROM ? sim_graph_max_degree(raw, raw->out_degrees) : 0;
    return in > out ? in : out;
}

uint64_t reference_row_bytes(uint64_t seed, const struct sim_graph *raw)
{
    /* An edge's source, its ID and, from some samplers, its weight travel. */
    uint64_t edge_bytes = 2 * sizeof(uint64_t) + (seed >= WANTED_SAMPLERS_FROM ? sizeof(float) : 0);
    return edge_bytes * reference_max_degree(seed, raw) + 1024;
}

/* The edge type's tables by which terms draw are PLACED_EDGE_WEIGHTS and PLACED_EDGE_MASK. */
void wanted_loader_sample(struct wanted_loader *loader)
{
    struct sample_spec *spec = &loader->spec;
    uint64_t drawn = key_mix(loader->open.seed + 19);
    spec->kind = drawn % 2 == 0 ? SAMPLE_UNIFORM : SAMPLE_WEIGHTED + (uint32_t)(drawn >> 8) % 3;
    for (uint32_t i = 0; i < spec->num_layers * spec->num_etypes; i++) {
        struct sample_term *term = &spec->terms[i];
        uint64_t of_term = key_mix(drawn + i);
        if (of_term % 3 == 0)
            term->mask = PLACED_EDGE_MASK;
        if (spec->kind == SAMPLE_WEIGHTED && (of_term >> 8) % 4 != 0)
            term->weights = PLACED_EDGE_WEIGHTS;
        if (spec->kind == SAMPLE_LABOR || spec->kind == SAMPLE_LABOR_POISSON)
            term->flags = 0;
    }
}

void wanted_loader_turn(struct wanted_loader *loader)
{
    struct sample_spec *spec = &loader->spec;
    uint64_t drawn = key_mix(loader->open.seed + 23);
    for (uint32_t i = 0; i < spec->num_layers * spec->num_etypes; i++) {
        struct sample_term *term = &spec->terms[i];
        bool even = (spec->kind == SAMPLE_UNIFORM || spec->kind == SAMPLE_WEIGHTED) &&
                    term->mask == SAMPLE_NO_TABLE && term->weights == SAMPLE_NO_TABLE;
        if (even && key_mix(drawn + i) % 3 == 0)
            term->direction = SAMPLE_OUT;
    }
}

/* What the negatives of the i-th edge type are drawn by. */
static void rank_ends(struct wanted_loader *loader, struct sim_partitions *partitions, uint32_t i)
{
    struct msg_loader_open *open = &loader->open;
    const struct msg_seed_segment segment = pair_segment(loader, i);
    const struct graph_etype *type = &partitions->raw->types.etypes[segment.etype];
    uint32_t *ranks = loader->segments == NULL ? &open->negative_ranks
                                               : &loader->segments[i].negative_ranks;
    uint32_t *source_ranks = loader->segments == NULL ? &open->negative_source_ranks
                                                      : &loader->segments[i].negative_source_ranks;
    *ranks = rank_all(partitions, type->dst);
    if (open->negative_ends != NEGATIVE_DESTINATIONS)
        *source_ranks = rank_all(partitions, type->src);
}

/* All edge types of a layer alike, which is more than those that draw together need. */
void wanted_loader_total(struct wanted_loader *loader)
{
    struct sample_spec *spec = &loader->spec;
    uint64_t drawn = key_mix(loader->open.seed + 29);
    for (uint32_t l = 0; l < spec->num_layers && spec->num_etypes > 0; l++) {
        bool even = spec->kind == SAMPLE_UNIFORM || spec->kind == SAMPLE_WEIGHTED;
        for (uint32_t e = 0; e < spec->num_etypes; e++) {
            const struct sample_term *term = sample_spec_term(spec, l, e);
            even &= term->mask == SAMPLE_NO_TABLE && term->weights == SAMPLE_NO_TABLE;
        }
        if (!even || key_mix(drawn + l) % 2 == 0)
            continue;
        struct sample_term alike = *sample_spec_term(spec, l, 0);
        alike.flags |= SAMPLE_TOTAL;
        sample_spec_set_layer(spec, l, &alike);
    }
}

/* Two of three do: lists are what is left to users. */
void wanted_loader_rank(struct wanted_loader *loader, struct sim_partitions *partitions)
{
    struct msg_loader_open *open = &loader->open;
    uint64_t *seeds = loader->seeds;
    for (uint32_t i = 0; i < num_pair_types(loader) && open->num_negatives > 0; i++)
        rank_ends(loader, partitions, i);
    for (uint32_t i = 0; i < open->num_segments && loader->pairs == NULL; i++) {
        struct msg_seed_segment *segment = &loader->segments[i];
        if (key_mix(open->seed + i + 1) % 3 != 0) {
            segment->seeds = MSG_SEEDS_RANKS;
            segment->ranks = sim_partitions_rank(partitions, segment->ntype, seeds,
                                                 segment->num_seeds);
        }
        seeds += segment->num_seeds;
    }
    if (open->seeds != MSG_SEEDS_LISTED || key_mix(open->seed + 1) % 3 == 0)
        return;
    open->seeds = MSG_SEEDS_RANKS;
    open->ranks = sim_partitions_rank(partitions, open->ntype, loader->seeds, open->num_seeds);
}

void wanted_loader_list(struct wanted_loader *loader, const struct sim_partitions *partitions)
{
    const struct graph_meta *meta = &partitions->meta;
    struct sample_spec *spec = &loader->spec;
    uint64_t drawn = key_mix(loader->open.seed + 3);
    uint32_t layer = (uint32_t)(drawn >> 8) % spec->num_layers;
    const uint32_t of_nodes[] = { SAMPLE_FOR_ALL, SAMPLE_FOR_SEEDS, layer };
    const uint32_t of_edges[] = { SAMPLE_FOR_ALL, layer };
    struct sample_table tables[] = {
        { SAMPLE_OF_NODES, (uint32_t)(drawn >> 16) % meta->num_ntypes, PLACED_LABEL,
          of_nodes[(drawn >> 24) % 3] },
        { SAMPLE_OF_EDGES, 0, 0, of_edges[(drawn >> 32) % 2] },
        { SAMPLE_OF_NODES, loader->open.ntype, PLACED_LABEL, SAMPLE_FOR_SEEDS },
    };
    if (drawn % 2 == 0 || meta->num_etypes == 0)
        return;
    tables[1].type = (uint32_t)(drawn >> 40) % meta->num_etypes;
    tables[1].name = (uint32_t)graph_meta_edge_name(meta, "edge");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        int rv = sample_spec_add_table(spec, &tables[i]);
        assert(rv == 0);
    }
}

void wanted_loader_fini(struct wanted_loader *loader)
{
    sample_spec_free(&loader->spec);
    free(loader->segments);
    free(loader->pairs);
    free(loader->edges);
    free(loader->seeds);
}

uint64_t reference_steps(const struct msg_loader_open *open)
{
    uint64_t size = (uint64_t)open->batch_size * open->world;
    bool drop = (open->flags & MSG_LOADER_DROP_LAST) != 0;
    return drop ? open->num_seeds / size : (open->num_seeds + size - 1) / size;
}

/* Which seeds the rank has in that step, into seeds[open->batch_size]; returns their number. */
static uint32_t reference_deal(const struct wanted_loader *loader, uint32_t epoch, uint64_t step,
                               uint64_t *seeds, uint32_t *step_seeds)
{
    const struct msg_loader_open *open = &loader->open;
    uint32_t *order = calloc(open->num_seeds + 1, sizeof *order);
    assert(order != NULL && open->num_seeds < EPOCH_LISTED_MAX);
    for (uint32_t i = 0; i < open->num_seeds; i++)
        order[i] = i;
    const struct draw_key key = { .seed = open->seed, .purpose = KEY_SHUFFLE, .epoch = epoch };
    if ((open->flags & MSG_LOADER_SHUFFLE) != 0)
        permute_u32(order, open->num_seeds, key_base(&key));
    uint64_t size = (uint64_t)open->batch_size * open->world, first = step * size;
    uint64_t all = open->num_seeds - first < size ? open->num_seeds - first : size;
    uint64_t begin = all * open->rank / open->world;
    uint64_t end = all * (open->rank + UINT64_C(1)) / open->world;
    for (uint64_t i = begin; i < end; i++)
        seeds[i - begin] = order[first + i];
    free(order);
    *step_seeds = (uint32_t)all;
    return (uint32_t)(end - begin);
}

static void forget_nodes(struct reference *r)
{
    for (uint32_t t = 0; t < r->partitions.book.types.num_ntypes; t++) {
        r->nodes[t].count = 0;
        memset(r->nodes[t].positions, 0xff,
               r->partitions.raw->num_nodes[t] * sizeof *r->nodes[t].positions);
    }
}

static uint32_t reference_meet(struct reference_nodes *nodes, uint64_t id)
{
    if (nodes->positions[id] == UINT32_MAX) {
        nodes->positions[id] = nodes->count;
        nodes->ids[nodes->count++] = id;
    }
    return nodes->positions[id];
}

/* A seed has a place of its own even where its node was met. */
static void meet_seed(struct reference_nodes *nodes, uint64_t id)
{
    uint32_t count = nodes->count;
    if (reference_meet(nodes, id) < count)
        nodes->ids[nodes->count++] = id;
}

static void *reference_room(struct vec *vec, size_t count, size_t size)
{
    int rv = vec_reserve(vec, count, size, 0);
    assert(rv == 0);
    return vec->data;
}

/* Which occurrence of its node each of the first n is, by looking at all before it. */
static uint32_t *find_salts(const struct reference *r, uint32_t ntype, uint32_t n)
{
    const uint64_t *ids = r->nodes[ntype].ids;
    uint32_t *salts = calloc(n + UINT64_C(1), sizeof *salts);
    assert(salts != NULL);
    for (uint32_t i = 0; i < n && i < r->batch.nodes[ntype].num_seeds; i++)
        for (uint32_t j = 0; j < i; j++)
            salts[i] += ids[j] == ids[i];
    return salts;
}

static const struct weight_sums *make_sums(const struct reference *r, uint32_t etype,
                                           const struct sample_term *term)
{
    const struct on_demand_key key = { ON_DEMAND_WEIGHTS, etype, term->weights, term->mask };
    int rv;
    while ((rv = on_demand_make(r->on_demand, &key, NULL)) == 1)
        ;
    assert(rv == 0);
    return on_demand_weights(r->on_demand, &key);
}

uint32_t wanted_loader_excluded(const struct wanted_loader *loader,
                                const struct sim_partitions *partitions,
                                struct msg_excluded_edge *excluded)
{
    const struct sim_graph *raw = partitions->raw;
    uint32_t count = 0;
    for (uint32_t e = 0; loader->excludes && e < raw->types.num_etypes; e++)
        for (uint64_t i = 0; i < raw->edges[e].count; i++) {
            if (key_mix(loader->open.seed + e + i * KEY_STEP) % 3 != 0)
                continue;
            if (excluded != NULL)
                excluded[count] = (struct msg_excluded_edge){ e, sim_partitions_edge_id(partitions,
                                                                                        e, i) };
            count++;
        }
    return count;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Whether other is the reverse of an edge, by their original IDs: plainly, by its ID and ends. */
static bool is_reverse(const struct msg_seed_segment *segment, const struct sim_graph *raw,
                       uint64_t edge, uint64_t other)
{
    const struct sim_edges *edges = &raw->edges[segment->etype];
    const struct sim_edges *others = &raw->edges[segment->reverse_etype];
    uint64_t half = others->count / 2;
    if (others->src[other] != edges->dst[edge] || others->dst[other] != edges->src[edge])
        return false;
    switch (segment->reverse_rule) {
    case REVERSE_NONE:
    case REVERSE_LISTED:
        return false;
    case REVERSE_SAME:
        return other == edge;
    case REVERSE_HALVES:
        return other == edge + half ? other < 2 * half : edge == other + half && edge < 2 * half;
    default:
        return other == edge + 1 || edge == other + 1;
    }
}

/* Those that a list has for a segment's edges in the batch; returns how many. */
static uint64_t add_listed(const struct reference *r, const struct wanted_loader *loader,
                           const struct batch_pairs *pairs, uint64_t *ids)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < pairs->count; i++) {
        uint64_t edge = sim_partitions_edge(&r->partitions, pairs->etype, pairs->edge_ids[i]);
        uint64_t reverse = listed_reverse(loader, r->partitions.raw, pairs->etype, edge);
        if (reverse != REVERSE_NO_EDGE)
            ids[count++] = sim_partitions_edge_id(&r->partitions, pairs->etype, reverse);
    }
    return count;
}

/* Puts the reverses of a segment's edges in the batch behind; returns how many. */
static uint64_t add_reverses(const struct reference *r, const struct msg_seed_segment *segment,
                             const struct batch_pairs *pairs, uint64_t *ids)
{
    const struct sim_graph *raw = r->partitions.raw;
    uint64_t count = 0;
    for (uint32_t i = 0; i < pairs->count; i++) {
        uint64_t edge = sim_partitions_edge(&r->partitions, segment->etype, pairs->edge_ids[i]);
        for (uint64_t other = 0; other < raw->edges[segment->reverse_etype].count; other++)
            if (is_reverse(segment, raw, edge, other))
                ids[count++] = sim_partitions_edge_id(&r->partitions, segment->reverse_etype,
                                                      other);
    }
    return count;
}

/* The edges of a type that the batch leaves out, increasing; to be freed. */
static uint64_t *find_excluded(const struct reference *r, const struct wanted_loader *loader,
                               uint32_t etype, uint64_t *count)
{
    const struct mini_batch *batch = &r->batch.batch;
    bool own = (loader->open.flags & MSG_LOADER_EXCLUDE_SELF) != 0;
    bool reverse = (loader->open.flags & MSG_LOADER_EXCLUDE_REVERSE) != 0;
    uint32_t all = wanted_loader_excluded(loader, &r->partitions, NULL);
    struct msg_excluded_edge *excluded = calloc(all + (size_t)1, sizeof *excluded);
    uint64_t different = 0, most = all + UINT64_C(1);
    /* An edge has at most two reverses. */
    for (uint32_t i = 0; i < batch->num_pair_types; i++)
        most += 3 * (uint64_t)batch->pairs[i].count;
    uint64_t *ids = calloc(most, sizeof *ids);
    assert(excluded != NULL && ids != NULL);
    wanted_loader_excluded(loader, &r->partitions, excluded);
    *count = 0;
    for (uint32_t i = 0; i < all; i++)
        if (excluded[i].etype == etype)
            ids[(*count)++] = excluded[i].edge;
    for (uint32_t i = 0; i < batch->num_pair_types; i++) {
        const struct batch_pairs *pairs = &batch->pairs[i];
        const struct msg_seed_segment segment = pair_segment(loader, i);
        for (uint32_t j = 0; own && pairs->etype == etype && j < pairs->count; j++)
            ids[(*count)++] = pairs->edge_ids[j];
        if (reverse && segment.reverse_rule == REVERSE_LISTED && pairs->etype == etype)
            *count += add_listed(r, loader, pairs, ids + *count);
        else if (reverse && segment.reverse_etype == etype)
            *count += add_reverses(r, &segment, pairs, ids + *count);
    }
    qsort(ids, *count, sizeof *ids, compare_ids);
    for (uint64_t i = 0; i < *count; i++)
        if (i == 0 || ids[i] != ids[i - 1])
            ids[different++] = ids[i];
    *count = different;
    free(excluded);
    return ids;
}

/* The same of every edge type, to be freed with its lists. */
static struct sample_excluded *find_all_excluded(const struct reference *r,
                                                 const struct wanted_loader *loader, uint32_t count)
{
    struct sample_excluded *all = calloc(count, sizeof *all);
    assert(all != NULL);
    for (uint32_t e = 0; e < count; e++)
        all[e].ids = find_excluded(r, loader, e, &all[e].count);
    return all;
}

/* Draws for the first n nodes met of the type that draws. */
static void reference_draw(struct reference *r, const struct wanted_loader *loader,
                           const struct draw_key *key, uint32_t n, struct edge_space *space,
                           struct block_edges *edges)
{
    const struct sample_spec *spec = &loader->spec;
    uint64_t num_excluded;
    uint64_t *excluded = find_excluded(r, loader, key->type, &num_excluded);
    const struct graph_part *part = &r->partitions.parts[0];
    const struct sample_term *term = sample_spec_term(spec, spec->num_layers - 1 - key->hop,
                                                      key->type);
    uint32_t drawing = sample_row_type(&part->types->etypes[key->type], term);
    const struct csc out = out_edges_csc(&part->edges[key->type].out);
    struct draw_key of_rows = *key;
    if (term->direction == SAMPLE_OUT)
        of_rows.purpose = KEY_OUT_NEIGHBOURS;
    struct sample_excluded *by_type = NULL;
    if ((term->flags & SAMPLE_TOTAL) != 0) {
        of_rows.purpose = term->direction == SAMPLE_OUT ? KEY_OUT_TOTAL : KEY_TOTAL;
        of_rows.type = drawing;
        by_type = find_all_excluded(r, loader, spec->num_etypes);
    }
    uint32_t *rows = calloc(n + 1, sizeof *rows);
    assert(rows != NULL);
    for (uint32_t i = 0; i < n; i++)
        rows[i] = (uint32_t)r->nodes[drawing].ids[i];
    uint32_t *salts = find_salts(r, drawing, n);
    /* One partition has all nodes by their original IDs. */
    static const struct source_ids original = { NULL, NULL };
    struct draw_key of_sources = *key;
    of_sources.purpose = KEY_SOURCES;
    of_sources.type = part->types->etypes[key->type].src;
    const struct feature_table *tables = part->edges[key->type].features;
    const struct sample_request request = {
        .method = sample_method_find(spec->kind),
        .weights = term->weights == SAMPLE_NO_TABLE ? NULL : &tables[term->weights],
        .mask = term->mask == SAMPLE_NO_TABLE ? NULL : &tables[term->mask],
        .sums = term->weights == SAMPLE_NO_TABLE ? NULL : make_sums(r, key->type, term),
        .sources = &original,
        .source_base = key_base(&of_sources),
        .csc = term->direction == SAMPLE_OUT ? &out : &part->edges[key->type].csc,
        .nodes_end = part->edges[key->type].out.nodes_end,
        .edges_end = part->edges[key->type].out.edges_end,
        .original_ids = part->nodes[drawing].original_ids,
        .rows = rows,
        .with = { .salts = salts },
        .excluded = excluded,
        .num_excluded = num_excluded,
        .part = part,
        .etype = key->type,
        .excluded_by_type = by_type,
        .num_rows = n,
        .term = *term,
        .key_base = key_base(&of_rows),
    };
    uint64_t bound = local_sample_bound(&request) + 1;
    uint32_t *index = reference_room(&space->index, n + UINT64_C(1), sizeof *index);
    struct sample_result result = {
        .counts = index + 1,
        .columns = reference_room(&space->sources, bound, sizeof(uint32_t)),
        .edge_ids = reference_room(&space->edge_ids, bound, sizeof(uint64_t)),
    };
    if (sample_gives_weights(spec->kind, term))
        result.edge_weights = reference_room(&space->edge_weights, bound, sizeof(float));
    int rv = local_sample_draw(&r->space, &request, &result);
    assert(rv == 0);
    index[0] = 0;
    for (uint32_t i = 0; i < n; i++)
        index[i + 1] += index[i];
    *edges = (struct block_edges){ n,
                                   (uint32_t)result.num_edges,
                                   index,
                                   result.columns,
                                   result.edge_ids,
                                   result.edge_weights,
                                   term->direction };
    for (uint32_t e = 0; by_type != NULL && e < spec->num_etypes; e++)
        free((uint64_t *)(uintptr_t)by_type[e].ids);
    free(by_type);
    free(rows);
    free(salts);
    free(excluded);
}

static void build_hop(struct reference *r, const struct wanted_loader *loader, struct draw_key *key)
{
    const struct sample_spec *spec = &loader->spec;
    const struct graph_types *types = &r->partitions.book.types;
    uint32_t layer = spec->num_layers - 1 - key->hop;
    struct block *block = &r->batch.blocks[layer];
    uint32_t *num_src = r->batch.num_src + (size_t)layer * types->num_ntypes;
    uint32_t *num_dst = r->batch.num_dst + (size_t)layer * types->num_ntypes;
    for (uint32_t t = 0; t < types->num_ntypes; t++)
        num_dst[t] = r->nodes[t].count;
    for (key->type = 0; key->type < types->num_etypes; key->type++) {
        struct edge_space *space = batch_space_edge_space(&r->batch, layer, key->type);
        struct block_edges *edges = batch_space_edges(&r->batch, layer, key->type);
        const struct graph_etype *etype = &types->etypes[key->type];
        const struct sample_term *term = sample_spec_term(spec, layer, key->type);
        uint32_t *sources, neighbours = sample_neighbour_type(etype, term);
        reference_draw(r, loader, key, block->num_dst[sample_row_type(etype, term)], space, edges);
        sources = space->sources.data;
        for (uint32_t i = 0; i < edges->num_edges; i++)
            sources[i] = reference_meet(&r->nodes[neighbours], sources[i]);
    }
    for (uint32_t t = 0; t < types->num_ntypes; t++)
        num_src[t] = r->nodes[t].count;
}

/* Where a seed stands: it has a place of its own, or that of its node. */
static uint32_t meet_end(struct reference *r, const struct wanted_loader *loader, uint32_t ntype,
                         uint64_t id)
{
    uint32_t next = r->nodes[ntype].count;
    if ((loader->open.flags & MSG_LOADER_ENDS_ONCE) != 0)
        return reference_meet(&r->nodes[ntype], id);
    meet_seed(&r->nodes[ntype], id);
    return next;
}

/* An end of a negative: a node by its original ID, and its position where a pair has it. */
struct negative_node {
    bool drawn;
    uint64_t node;
    uint32_t position;
};

/* Another pair's, or a node that is drawn plainly, by its number among all of the batch, or the
 * pair's own. One partition has all nodes by their original IDs. end: 0 of a destination. */
static struct negative_node draw_negative(const struct reference *r,
                                          const struct wanted_loader *loader,
                                          const struct batch_pairs *pairs, struct draw_key key,
                                          const uint32_t *by_rank, uint32_t number, uint32_t end,
                                          uint32_t try, bool drawn)
{
    const struct msg_loader_open *open = &loader->open;
    const struct graph_etype *type = &r->partitions.raw->types.etypes[pairs->etype];
    const uint32_t ntype = end == 0 ? type->dst : type->src;
    bool in_batch = (open->flags & MSG_LOADER_NEGATIVES_IN_BATCH) != 0;
    uint64_t draw = 0;
    key.purpose = KEY_NEGATIVES;
    key.type = pairs->etype;
    key.hop = end;
    uint64_t node = key_occurrence(key_node(key_base(&key), number), try);
    if (drawn && by_rank != NULL) {
        const struct sim_edges *edges = &r->partitions.raw->edges[pairs->etype];
        uint32_t edge = by_rank[key_below(node, &draw, edges->count)];
        return (struct negative_node){ .drawn = true,
                                       .node = end == 0 ? edges->dst[edge] : edges->src[edge] };
    }
    if (drawn && !in_batch)
        return (struct negative_node){
            .drawn = true, .node = key_below(node, &draw, r->partitions.raw->num_nodes[ntype])
        };
    uint64_t pair = number / open->num_negatives;
    uint64_t other = drawn ? key_below(node, &draw, pairs->count - 1) : pair;
    other += drawn && other >= pair;
    uint32_t position = end == 0 ? pairs->destinations[other] : pairs->sources[other];
    return (struct negative_node){ .node = r->nodes[ntype].ids[position], .position = position };
}

static bool is_edge(const struct sim_edges *edges, uint64_t source, uint64_t destination)
{
    for (uint32_t i = 0; i < edges->count; i++)
        if (edges->src[i] == source && edges->dst[i] == destination)
            return true;
    return false;
}

static uint32_t meet_node(struct reference *r, uint32_t ntype, const struct negative_node *end)
{
    return end->drawn ? reference_meet(&r->nodes[ntype], end->node) : end->position;
}

/* Draws until it is no edge, where that is wanted, and puts the ends that are drawn behind the others;
 * of two the source comes first. */
static void meet_negative(struct reference *r, const struct wanted_loader *loader, uint32_t type,
                          const struct draw_key *batch, const uint32_t *by_rank, uint32_t number,
                          bool source, bool destination)
{
    struct batch_pairs *pairs = &r->batch.pairs[type];
    const struct sim_edges *edges = &r->partitions.raw->edges[pairs->etype];
    const struct graph_etype *etype = &r->partitions.raw->types.etypes[pairs->etype];
    const uint32_t tries = pairs->negatives_rule.no_edges != 0 ? NEGATIVE_TRIES : 0;
    uint32_t *to = r->batch.pair_space[type].negatives.data, try = 0;
    uint32_t *from = r->batch.pair_space[type].negative_sources.data;
    struct negative_node ends[2];
    bool edge;
    do {
        ends[0] = draw_negative(r, loader, pairs, *batch, by_rank, number, 0, try, destination);
        ends[1] = draw_negative(r, loader, pairs, *batch, by_rank, number, 1, try, source);
        edge = tries > 0 && is_edge(edges, ends[1].node, ends[0].node);
    } while (edge && ++try < tries);
    pairs->negative_edges += edge;
    if (source)
        from[pairs->count_negative_sources++] = meet_node(r, etype->src, &ends[1]);
    if (destination)
        to[pairs->count_negatives++] = meet_node(r, etype->dst, &ends[0]);
}

/* Which edge has a rank: found plainly, destination by destination, the edges in their order. */
static uint32_t *rank_edges(const struct reference *r, uint32_t etype)
{
    const struct sim_graph *raw = r->partitions.raw;
    const struct sim_edges *edges = &raw->edges[etype];
    uint32_t *by_rank = calloc(edges->count + (size_t)1, sizeof *by_rank), rank = 0;
    assert(by_rank != NULL);
    for (uint32_t v = 0; v < raw->num_nodes[raw->types.etypes[etype].dst]; v++)
        for (uint32_t i = 0; i < edges->count; i++)
            if (edges->dst[i] == v)
                by_rank[rank++] = i;
    return by_rank;
}

/* Those of the pairs of an edge type, pair by pair. */
static void meet_negatives(struct reference *r, const struct wanted_loader *loader,
                           const struct draw_key *batch, uint32_t type)
{
    const struct msg_loader_open *open = &loader->open;
    struct batch_pairs *pairs = &r->batch.pairs[type];
    const uint32_t n = pairs->count;
    bool shared = (open->flags & MSG_LOADER_SHARED_NEGATIVES) != 0;
    bool in_batch = (open->flags & MSG_LOADER_NEGATIVES_IN_BATCH) != 0;
    uint32_t each = open->num_negatives, ends = open->negative_ends;
    uint32_t groups = shared ? n > 0 : in_batch && n == 1 ? 0 : n;
    struct pair_space *space = &r->batch.pair_space[type];
    size_t room = groups * each + (size_t)1;
    pairs->negatives = reference_room(&space->negatives, room, sizeof *pairs->negatives);
    pairs->negative_sources = reference_room(&space->negative_sources, room,
                                             sizeof *pairs->negative_sources);
    pairs->negatives_rule = (struct negatives_rule){
        .each = each,
        .of = shared     ? NEGATIVES_OF_BATCH
              : in_batch ? NEGATIVES_IN_BATCH
                         : NEGATIVES_OF_PAIR,
        .ends = ends,
        .no_edges = (open->flags & MSG_LOADER_NEGATIVES_NO_EDGES) != 0,
        .by_degree = (open->flags & MSG_LOADER_NEGATIVES_BY_DEGREE) != 0,
    };
    uint32_t *by_rank = pairs->negatives_rule.by_degree != 0 ? rank_edges(r, pairs->etype) : NULL;
    for (uint32_t k = 0; k < groups * each; k++) {
        /* The second half of each pair's, which is the smaller one. */
        bool late = 2 * (k % each) >= each;
        bool either = ends == NEGATIVE_EITHER, both = ends == NEGATIVE_BOTH;
        meet_negative(r, loader, type, batch, by_rank, k,
                      ends == NEGATIVE_SOURCES || both || (either && late),
                      ends == NEGATIVE_DESTINATIONS || both || (either && !late));
    }
    free(by_rank);
}

/* The number of a pair's edge type among those that the loader's pairs have. */
static uint32_t pair_type_of(const struct wanted_loader *loader, uint64_t seed)
{
    return loader->segments == NULL ? 0 : (uint32_t)(segment_at(loader, seed) - loader->segments);
}

/* In the order of the batch, whatever their edge type. Where both ends are of one type, the source's
 * place is the first. */
static void meet_pairs(struct reference *r, const struct wanted_loader *loader,
                       const uint64_t *seeds, uint32_t n)
{
    r->batch.batch.num_pair_types = num_pair_types(loader);
    for (uint32_t i = 0; i < num_pair_types(loader); i++) {
        struct pair_space *space = &r->batch.pair_space[i];
        struct batch_pairs *pairs = &r->batch.pairs[i];
        *pairs = (struct batch_pairs){ .etype = pair_segment(loader, i).etype };
        pairs->sources = reference_room(&space->sources, n, sizeof *pairs->sources);
        pairs->destinations = reference_room(&space->destinations, n, sizeof *pairs->destinations);
        if (loader->edges != NULL)
            pairs->edge_ids = reference_room(&space->edge_ids, n + UINT64_C(1),
                                             sizeof *pairs->edge_ids);
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t number = pair_type_of(loader, seeds[i]);
        struct pair_space *space = &r->batch.pair_space[number];
        struct batch_pairs *pairs = &r->batch.pairs[number];
        const struct graph_etype *type = &r->partitions.raw->types.etypes[pairs->etype];
        ((uint32_t *)space->sources.data)[pairs->count] = meet_end(r, loader, type->src,
                                                                   loader->pairs[2 * seeds[i]]);
        ((uint32_t *)space->destinations.data)[pairs->count] = meet_end(
            r, loader, type->dst, loader->pairs[2 * seeds[i] + 1]);
        if (loader->edges != NULL)
            ((uint64_t *)space->edge_ids.data)[pairs->count] = sim_partitions_edge_id(
                &r->partitions, pairs->etype, loader->edges[seeds[i]]);
        pairs->count++;
    }
}

/* Seeds of a batch name a node as often as they like. */
static void grow_nodes(struct reference *r, uint64_t num_seeds)
{
    for (uint32_t t = 0; t < r->partitions.book.types.num_ntypes; t++) {
        struct reference_nodes *nodes = &r->nodes[t];
        size_t room = r->partitions.raw->num_nodes[t] + 2 * num_seeds + 1;
        if (room <= nodes->room)
            continue;
        nodes->ids = realloc(nodes->ids, room * sizeof *nodes->ids);
        assert(nodes->ids != NULL);
        nodes->room = room;
    }
}

void reference_build(struct reference *r, const struct wanted_loader *loader, uint32_t epoch,
                     uint64_t step, struct mini_batch *batch)
{
    const struct msg_loader_open *open = &loader->open;
    const struct graph_types *types = &r->partitions.book.types;
    uint64_t *seeds = calloc((size_t)open->batch_size + 1, sizeof *seeds);
    assert(seeds != NULL);
    batch_space_fini(&r->batch);
    int rv = batch_space_init(&r->batch, types->num_ntypes, types->num_etypes,
                              loader->spec.num_layers);
    assert(rv == 0);
    forget_nodes(r);
    uint32_t n = reference_deal(loader, epoch, step, seeds, &r->batch.batch.step_seeds);
    grow_nodes(r, n);
    struct draw_key key = { .seed = open->seed,
                            .batch = step,
                            .purpose = KEY_NEIGHBOURS,
                            .epoch = epoch,
                            .rank = open->rank };
    if (loader->pairs != NULL)
        meet_pairs(r, loader, seeds, n);
    for (uint32_t i = 0; i < num_pair_types(loader) && open->num_negatives > 0; i++)
        meet_negatives(r, loader, &key, i);
    for (uint32_t i = 0; i < n && loader->pairs == NULL; i++)
        meet_seed(&r->nodes[type_of(loader, seeds[i])], loader->seeds[seeds[i]]);
    for (uint32_t t = 0; t < types->num_ntypes; t++)
        r->batch.nodes[t].num_seeds = r->nodes[t].count;
    for (key.hop = 0; key.hop < loader->spec.num_layers; key.hop++)
        build_hop(r, loader, &key);
    for (uint32_t t = 0; t < types->num_ntypes; t++) {
        struct batch_nodes *nodes = &r->batch.nodes[t];
        nodes->num_nodes = r->nodes[t].count;
        nodes->ids = nodes->original_ids = r->nodes[t].ids;
    }
    *batch = r->batch.batch;
    batch->seed = open->seed;
    batch->epoch = epoch;
    batch->rank = open->rank;
    batch->index = step;
    free(seeds);
}

static int check_head(const struct mini_batch *batch, const struct mini_batch *wanted,
                      const struct wanted_loader *loader, uint32_t epoch, uint64_t step,
                      struct error *error)
{
    if (batch->index != step || batch->epoch != epoch || batch->seed != loader->open.seed ||
        batch->rank != loader->open.rank || batch->step_seeds != wanted->step_seeds)
        return error_set(error, TR_EMISMATCH,
                         "it says batch %" PRIu64 " of epoch %" PRIu32 ", rank %" PRIu32
                         ", %" PRIu32 " step seeds (of %" PRIu32 ")",
                         batch->index, batch->epoch, batch->rank, batch->step_seeds,
                         wanted->step_seeds);
    return 0;
}

/* Equal as numbers, so that nothing is left to a hash. */
static int check_nodes(const struct sim_partitions *partitions, uint32_t t,
                       const struct batch_nodes *nodes, const struct batch_nodes *wanted,
                       struct error *error)
{
    if (nodes->num_nodes != wanted->num_nodes || nodes->num_seeds != wanted->num_seeds)
        return error_set(
            error, TR_EMISMATCH,
            "type %" PRIu32 ": %" PRIu32 " nodes, %" PRIu32 " seeds, not %" PRIu32 ", %" PRIu32, t,
            nodes->num_nodes, nodes->num_seeds, wanted->num_nodes, wanted->num_seeds);
    for (uint32_t i = 0; i < nodes->num_nodes; i++) {
        uint64_t id = nodes->ids[i], original = wanted->ids[i];
        if (id >= partitions->raw->num_nodes[t] || partitions->original[t][id] != original)
            return error_set(error, TR_EMISMATCH,
                             "type %" PRIu32 ", node %" PRIu32 " is %" PRIu64
                             ", not the original %" PRIu64,
                             t, i, id, original);
        if (nodes->original_ids != NULL && nodes->original_ids[i] != original)
            return error_set(error, TR_EMISMATCH,
                             "type %" PRIu32 ", node %" PRIu32 ": original ID %" PRIu64
                             ", not %" PRIu64,
                             t, i, nodes->original_ids[i], original);
    }
    return 0;
}

static int check_positions(const uint32_t *positions, const uint32_t *wanted, uint32_t count,
                           const char *what, struct error *error)
{
    for (uint32_t i = 0; i < count; i++)
        if (positions[i] != wanted[i])
            return error_set(error, TR_EMISMATCH,
                             "negative %s %" PRIu32 " is seed %" PRIu32 ", not %" PRIu32, what, i,
                             positions[i], wanted[i]);
    return 0;
}

static int check_negatives(const struct batch_pairs *pairs, const struct batch_pairs *wanted,
                           struct error *error)
{
    if (memcmp(&pairs->negatives_rule, &wanted->negatives_rule, sizeof pairs->negatives_rule) !=
            0 ||
        pairs->count_negatives != wanted->count_negatives ||
        pairs->count_negative_sources != wanted->count_negative_sources ||
        pairs->negative_edges != wanted->negative_edges)
        return error_set(error, TR_EMISMATCH,
                         "%" PRIu32 " negative destinations and %" PRIu32
                         " sources came, not %" PRIu32 " and %" PRIu32 ", by their rule",
                         pairs->count_negatives, pairs->count_negative_sources,
                         wanted->count_negatives, wanted->count_negative_sources);
    int rv = check_positions(pairs->negatives, wanted->negatives, pairs->count_negatives,
                             "destination", error);
    return rv != 0 ? rv
                   : check_positions(pairs->negative_sources, wanted->negative_sources,
                                     pairs->count_negative_sources, "source", error);
}

static int check_pairs(struct reference *r, const struct sim_partitions *partitions,
                       const struct batch_pairs *pairs, const struct batch_pairs *wanted,
                       struct error *error)
{
    if ((pairs->edge_ids == NULL) != (wanted->edge_ids == NULL) || pairs->etype != wanted->etype ||
        pairs->count != wanted->count)
        return error_set(error, TR_EMISMATCH,
                         "%" PRIu32 " pairs of edge type %" PRIu32 " came, not %" PRIu32,
                         pairs->count, pairs->etype, wanted->count);
    for (uint32_t i = 0; i < pairs->count; i++)
        if (pairs->sources[i] != wanted->sources[i] ||
            pairs->destinations[i] != wanted->destinations[i])
            return error_set(error, TR_EMISMATCH,
                             "pair %" PRIu32 " is from seed %" PRIu32 " to %" PRIu32, i,
                             pairs->sources[i], pairs->destinations[i]);
    for (uint32_t i = 0; i < pairs->count && wanted->edge_ids != NULL; i++)
        if (sim_partitions_edge(partitions, pairs->etype, pairs->edge_ids[i]) !=
            sim_partitions_edge(&r->partitions, pairs->etype, wanted->edge_ids[i]))
            return error_set(error, TR_EMISMATCH, "pair %" PRIu32 " has the ID of another edge", i);
    return check_negatives(pairs, wanted, error);
}

static int check_degrees(const struct sim_graph *raw, uint32_t t, const struct batch_nodes *nodes,
                         const uint64_t *originals, struct error *error)
{
    for (uint32_t i = 0; i < nodes->num_nodes && nodes->in_degrees != NULL; i++)
        if (nodes->in_degrees[i] != raw->in_degrees[t][originals[i]] ||
            nodes->out_degrees[i] != raw->out_degrees[t][originals[i]])
            return error_set(error, TR_EMISMATCH,
                             "type %" PRIu32 ", node %" PRIu32 ": degrees are wrong", t, i);
    return 0;
}

static int check_features(const struct sim_graph *raw, uint32_t t, const struct batch_rows *rows,
                          uint32_t num_rows, const uint64_t *originals, struct error *error)
{
    if (!raw->featured[t] || num_rows == 0)
        return 0;
    if (rows->rows == NULL || rows->num_rows != num_rows || rows->width != raw->width[t])
        return error_set(error, TR_EMISMATCH,
                         "type %" PRIu32 ": %" PRIu32 " rows of features "
                         "came, not %" PRIu32,
                         t, rows->num_rows, num_rows);
    for (uint32_t i = 0; i < num_rows; i++)
        for (uint32_t c = 0; c < raw->width[t]; c++) {
            const float *row = (const void *)((const char *)rows->rows + i * rows->row_bytes);
            if (row[c] != raw_feature(t, originals[i], c))
                return error_set(error, TR_EMISMATCH,
                                 "type %" PRIu32 ", row %" PRIu32 ": features of another node", t,
                                 i);
        }
    return 0;
}

static int check_labels(uint32_t t, const struct batch_rows *rows, uint32_t num_seeds,
                        const uint64_t *originals, struct error *error)
{
    if (num_seeds > 0 && (rows->rows == NULL || rows->num_rows != num_seeds))
        return error_set(error, TR_EMISMATCH, "%" PRIu32 " labels came, not %" PRIu32,
                         rows->num_rows, num_seeds);
    for (uint32_t i = 0; i < num_seeds; i++)
        if (((const int64_t *)rows->rows)[i] != raw_label(t, originals[i]))
            return error_set(error, TR_EMISMATCH, "label %" PRIu32 " is of another node", i);
    return 0;
}

static int check_edges(struct reference *r, const struct sim_partitions *partitions, uint32_t e,
                       const struct block_edges *edges, const struct block_edges *wanted,
                       bool edge_ids, struct error *error)
{
    if (edges->num_dst != wanted->num_dst || edges->num_edges != wanted->num_edges ||
        edges->direction != wanted->direction ||
        memcmp(edges->index, wanted->index, (wanted->num_dst + UINT64_C(1)) * 4) != 0 ||
        (wanted->num_edges > 0 &&
         memcmp(edges->sources, wanted->sources, (size_t)wanted->num_edges * 4) != 0))
        return error_set(error, TR_EMISMATCH, "edge type %" PRIu32 ": other edges were drawn", e);
    bool weighed = wanted->edge_weights != NULL && wanted->num_edges > 0;
    if (weighed && (edges->edge_weights == NULL || memcmp(edges->edge_weights, wanted->edge_weights,
                                                          wanted->num_edges * sizeof(float)) != 0))
        return error_set(error, TR_EMISMATCH, "edge type %" PRIu32 ": other weights came", e);
    if (edge_ids && edges->num_edges > 0 && edges->edge_ids == NULL)
        return error_set(error, TR_EMISMATCH, "edge type %" PRIu32 ": edge IDs are missing", e);
    for (uint32_t i = 0; i < edges->num_edges && edge_ids; i++)
        if (sim_partitions_edge(partitions, e, edges->edge_ids[i]) !=
            sim_partitions_edge(&r->partitions, e, wanted->edge_ids[i]))
            return error_set(error, TR_EMISMATCH,
                             "edge type %" PRIu32 ", edge %" PRIu32 ": its ID names another", e, i);
    return 0;
}

static int check_digest(const struct mini_batch *batch, const struct mini_batch *wanted,
                        struct error *error)
{
    uint64_t digest = 0, other = 1;
    int rv = batch_digest(wanted, &other);
    if (rv == 0)
        rv = batch_digest(batch, &digest);
    if (rv != 0 || digest != other)
        return error_set(error, TR_EMISMATCH, "digest %016" PRIx64 ", not %016" PRIx64, digest,
                         other);
    return 0;
}

/* A table of nodes has as many rows as the block, the batch or its seeds have nodes of the type. */
static uint32_t rows_of(const struct sample_table *table, const struct mini_batch *wanted)
{
    return table->where == SAMPLE_FOR_ALL     ? wanted->nodes[table->type].num_nodes
           : table->where == SAMPLE_FOR_SEEDS ? wanted->nodes[table->type].num_seeds
                                              : wanted->blocks[table->where].num_src[table->type];
}

static int check_table(struct reference *r, const struct batch_table *got,
                       const struct sample_table *table, const struct mini_batch *wanted,
                       struct error *error)
{
    bool of_edges = table->of == SAMPLE_OF_EDGES;
    const struct block_edges *edges = of_edges ? &wanted->blocks[got->layer].edges[table->type]
                                               : NULL;
    uint32_t count = of_edges ? edges->num_edges : rows_of(table, wanted);
    if (got->of != table->of || got->type != table->type || got->rows.num_rows != count ||
        got->rows.row_bytes != sizeof(int64_t))
        return error_set(error, TR_EMISMATCH,
                         "table %" PRIu32 ": %" PRIu32 " rows came, not %" PRIu32, got->table,
                         got->rows.num_rows, count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t original = of_edges ? sim_partitions_edge(&r->partitions, table->type,
                                                           edges->edge_ids[i])
                                     : wanted->nodes[table->type].ids[i];
        uint32_t type = table->type + (of_edges ? PLACED_EDGES : 0);
        if (((const int64_t *)got->rows.rows)[i] != raw_label(type, original))
            return error_set(error, TR_EMISMATCH, "table %" PRIu32 ", row %" PRIu32 " is another's",
                             got->table, i);
    }
    return 0;
}

/* Every listed table, of each layer that it is wanted of, and no other. */
static int check_tables(struct reference *r, const struct sample_spec *spec,
                        const struct mini_batch *batch, const struct mini_batch *wanted,
                        struct error *error)
{
    uint32_t at = 0;
    int rv = 0;
    for (uint32_t i = 0; i < spec->num_tables && rv == 0; i++) {
        const struct sample_table *table = &spec->tables[i];
        bool each = table->of == SAMPLE_OF_EDGES && table->where == SAMPLE_FOR_ALL;
        for (uint32_t l = 0; l < (each ? spec->num_layers : 1) && rv == 0; l++, at++) {
            uint32_t layer = each ? l : table->of == SAMPLE_OF_EDGES ? table->where : 0;
            if (at >= batch->num_tables || batch->tables[at].table != i ||
                batch->tables[at].layer != layer)
                return error_set(error, TR_EMISMATCH, "table %" PRIu32 " is missing", i);
            rv = check_table(r, &batch->tables[at], table, wanted, error);
        }
    }
    if (rv == 0 && at != batch->num_tables)
        rv = error_set(error, TR_EMISMATCH, "%" PRIu32 " tables came, not %" PRIu32,
                       batch->num_tables, at);
    return rv;
}

int reference_check(struct reference *r, const struct sim_partitions *partitions,
                    const struct wanted_loader *loader, uint32_t epoch, uint64_t step,
                    const struct mini_batch *batch, struct error *error)
{
    const struct graph_types *types = &partitions->book.types;
    const struct msg_loader_open *open = &loader->open;
    struct mini_batch wanted;
    reference_build(r, loader, epoch, step, &wanted);
    int rv = check_head(batch, &wanted, loader, epoch, step, error);
    if (rv == 0 && batch->num_layers != loader->spec.num_layers)
        rv = error_set(error, TR_EMISMATCH, "%" PRIu32 " layers", batch->num_layers);
    if (rv == 0 && batch->num_pair_types != wanted.num_pair_types)
        rv = error_set(error, TR_EMISMATCH, "pairs of %" PRIu32 " edge types came, not %" PRIu32,
                       batch->num_pair_types, wanted.num_pair_types);
    for (uint32_t i = 0; i < wanted.num_pair_types && rv == 0; i++)
        rv = check_pairs(r, partitions, &batch->pairs[i], &wanted.pairs[i], error);
    for (uint32_t t = 0; t < types->num_ntypes && rv == 0; t++) {
        const struct batch_nodes *nodes = &batch->nodes[t];
        rv = check_nodes(partitions, t, nodes, &wanted.nodes[t], error);
        if (rv == 0 && (open->flags & MSG_LOADER_DEGREES) != 0 && nodes->num_nodes > 0 &&
            (nodes->in_degrees == NULL || nodes->out_degrees == NULL))
            rv = error_set(error, TR_EMISMATCH, "type %" PRIu32 ": no degrees", t);
        if (rv == 0)
            rv = check_degrees(partitions->raw, t, nodes, wanted.nodes[t].ids, error);
        if (rv == 0 && open->features != MSG_MASK_ALL)
            rv = check_features(partitions->raw, t, &nodes->features, nodes->num_nodes,
                                wanted.nodes[t].ids, error);
        if (rv == 0 && open->labels != MSG_MASK_ALL &&
            (t == open->ntype || open->seeds == MSG_SEEDS_SEVERAL || loader->pairs != NULL))
            rv = check_labels(t, &nodes->labels, nodes->num_seeds, wanted.nodes[t].ids, error);
    }
    for (uint32_t l = 0; l < loader->spec.num_layers && rv == 0; l++)
        for (uint32_t e = 0; e < types->num_etypes && rv == 0; e++)
            rv = check_edges(r, partitions, e, &batch->blocks[l].edges[e],
                             &wanted.blocks[l].edges[e], (open->flags & MSG_LOADER_EDGE_IDS) != 0,
                             error);
    if (rv == 0)
        rv = check_tables(r, &loader->spec, batch, &wanted, error);
    if (rv == 0 && (open->flags & MSG_LOADER_ORIGINAL_IDS) != 0)
        rv = check_digest(batch, &wanted, error);
    return rv;
}

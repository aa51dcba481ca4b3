#include "tests/graph/fixture.h"

#include <stdlib.h>
#include <string.h>

#include "graph/key.h"
#include "graph/permute.h"
#include "graph/shard.h"

static void assign_ids(struct fixture *fixture, uint64_t seed)
{
    for (uint32_t t = 0; t < FIXTURE_NTYPES; t++) {
        uint64_t next = 0;
        for (uint32_t p = 0; p < fixture->num_parts; p++) {
            fixture->begins[t][p] = next;
            for (uint64_t id = 0; id < fixture->num_nodes[t]; id++) {
                if (key_mix(seed + id * 3 + t) % fixture->num_parts != p)
                    continue;
                fixture->global[t][id] = next;
                fixture->original[t][next++] = id;
            }
        }
        fixture->begins[t][fixture->num_parts] = next;
    }
}

static void draw_edges(struct fixture *fixture, uint64_t seed)
{
    for (uint32_t e = 0; e < FIXTURE_ETYPES; e++) {
        const struct graph_etype *type = &fixture->types.etypes[e];
        uint64_t sources = fixture->num_nodes[type->src], draw = 0;
        for (uint64_t id = 0; id < fixture->num_nodes[type->dst]; id++) {
            uint64_t key = key_node(seed + e, id);
            uint32_t degree = (uint32_t)key_below(key, &draw, 30);
            degree = degree < 5 || sources == 0 || e == 4 ? 0 : degree;
            fixture->degree[e][id] = degree;
            fixture->neighbours[e][id] = malloc(degree * sizeof(uint32_t) + 1);
            for (uint32_t i = 0; i < degree; i++) /* a few sources, so that edges repeat */
                fixture->neighbours[e][id][i] =
                    (uint32_t)(i % 7 == 3 ? id % sources : key_below(key, &draw, sources));
        }
    }
}

static void make_csc(struct fixture *fixture, uint32_t part, uint32_t e)
{
    const struct graph_etype *type = &fixture->types.etypes[e];
    uint64_t begin = fixture->begins[type->dst][part], end = fixture->begins[type->dst][part + 1];
    uint64_t *index = calloc(end - begin + 1, sizeof *index);
    for (uint64_t row = 0; row < end - begin; row++)
        index[row + 1] =
            index[row] + fixture->degree[e][fixture->original[type->dst][begin + row]];
    uint32_t *indices = malloc(index[end - begin] * sizeof *indices + 1);
    for (uint64_t row = 0; row < end - begin; row++) {
        uint64_t id = fixture->original[type->dst][begin + row];
        for (uint32_t i = 0; i < fixture->degree[e][id]; i++)
            indices[index[row] + i] =
                (uint32_t)fixture->global[type->src][fixture->neighbours[e][id][i]];
    }
    fixture->csc[part][e] = (struct csc){ .num_rows = end - begin, .index = index,
                                          .num_edges = index[end - begin], .indices = indices };
}

void fixture_init(struct fixture *fixture, uint64_t seed, uint32_t num_parts)
{
    static const char *ntypes[] = { "a", "b", "c" };
    static const char *etypes[] = { "a:self:a", "a:to:b", "b:to:a", "c:to:a", "b:none:b" };
    *fixture = (struct fixture){ .num_parts = num_parts, .num_nodes = { 300, 170, 0 } };
    for (int i = 0; i < FIXTURE_NTYPES; i++)
        graph_types_add_ntype(&fixture->types, ntypes[i], NULL);
    for (int i = 0; i < FIXTURE_ETYPES; i++)
        graph_types_add_etype(&fixture->types, etypes[i], NULL);
    assign_ids(fixture, num_parts);
    draw_edges(fixture, seed);
    for (uint32_t p = 0; p < num_parts; p++) {
        for (uint32_t e = 0; e < FIXTURE_ETYPES; e++)
            make_csc(fixture, p, e);
    }
}

void fixture_fini(struct fixture *fixture)
{
    for (uint32_t e = 0; e < FIXTURE_ETYPES; e++) {
        for (uint32_t p = 0; p < fixture->num_parts; p++) {
            free((void *)(uintptr_t)fixture->csc[p][e].index);
            free((void *)(uintptr_t)fixture->csc[p][e].indices);
        }
        for (uint32_t i = 0; i < FIXTURE_NODES_MAX; i++)
            free(fixture->neighbours[e][i]);
    }
    graph_types_fini(&fixture->types);
}

uint64_t fixture_base(const struct fixture_plan *plan, uint32_t hop, uint32_t etype)
{
    struct draw_key key = { .seed = plan->seed, .purpose = KEY_NEIGHBOURS, .hop = hop,
                            .type = etype };
    return key_base(&key);
}

void fixture_seeds(const struct fixture *fixture, const struct fixture_plan *plan, uint32_t ntype,
                   uint64_t *ids)
{
    for (uint64_t i = 0; i < fixture->num_nodes[ntype]; i++)
        ids[i] = i;
    permute_u64(ids, fixture->num_nodes[ntype], plan->seed + ntype);
}

static uint32_t owner_of(const struct fixture *fixture, uint32_t ntype, uint64_t id)
{
    uint32_t owner = 0;
    while (id >= fixture->begins[ntype][owner + 1])
        owner++;
    return owner;
}

/* Answers of the partitions to one request, in memory of the stack: the tests are small. */
struct answers {
    uint32_t owners[FIXTURE_NODES_MAX], rows[FIXTURE_NODES_MAX], starts[FIXTURE_PARTS_MAX + 1];
    uint32_t counts[2][FIXTURE_NODES_MAX], columns[2][FIXTURE_NODES_MAX * 30];
    struct shard shards[FIXTURE_PARTS_MAX];
};

static int sample_part(const struct fixture *fixture, const struct fixture_plan *plan,
                       struct answers *answers, uint32_t hop, uint32_t etype, uint32_t part,
                       uint32_t *edges)
{
    const struct graph_etype *type = &fixture->types.etypes[etype];
    uint32_t first = answers->starts[part];
    struct sample_space space = { 0 };
    struct sample_request request = {
        .csc = &fixture->csc[part][etype],
        .original_ids = &fixture->original[type->dst][fixture->begins[type->dst][part]],
        .rows = answers->rows + first, .num_rows = answers->starts[part + 1] - first,
        .fanout = plan->fanouts[hop], .replace = plan->replace,
        .key_base = fixture_base(plan, hop, etype) };
    struct shard *shard = &answers->shards[part];
    *shard = (struct shard){ .num_rows = request.num_rows };
    shard->answer.counts = answers->counts[0] + first;
    shard->answer.columns = answers->columns[0] + *edges;
    int rv = sample_check(&request);
    if (rv == 0)
        rv = sample_uniform(&space, &request, &shard->answer);
    *edges += (uint32_t)shard->answer.num_edges;
    sample_space_fini(&space);
    return rv;
}

static int add_etype(const struct fixture *fixture, const struct fixture_plan *plan,
                     struct answers *answers, struct batch_builder *builder, uint32_t hop,
                     uint32_t etype)
{
    uint32_t n, edges = 0, dst = fixture->types.etypes[etype].dst;
    const uint64_t *ids = batch_builder_frontier(builder, dst, &n);
    for (uint32_t i = 0; i < n; i++)
        answers->owners[i] = owner_of(fixture, dst, ids[i]);
    shard_split(ids, answers->owners, n, fixture->num_parts, fixture->begins[dst],
                answers->starts, answers->rows, NULL);
    for (uint32_t p = 0; p < fixture->num_parts; p++) {
        int rv = sample_part(fixture, plan, answers, hop, etype, p, &edges);
        if (rv != 0)
            return rv;
    }
    struct sample_result merged = { .counts = answers->counts[1], .columns = answers->columns[1] };
    int rv = shard_merge(answers->owners, n, answers->shards, fixture->num_parts, &merged);
    return rv != 0 ? rv : batch_builder_add_edges(builder, etype, &merged);
}

static int add_seeds(const struct fixture *fixture, const struct fixture_plan *plan,
                     struct batch_builder *builder)
{
    int rv = 0;
    for (uint32_t t = 0; t < FIXTURE_NTYPES && rv == 0; t++) {
        uint64_t ids[FIXTURE_NODES_MAX];
        fixture_seeds(fixture, plan, t, ids);
        for (uint32_t i = 0; i < plan->num_seeds[t]; i++)
            ids[i] = fixture->global[t][ids[i]];
        rv = batch_builder_add_seeds(builder, t, ids, plan->num_seeds[t], NULL);
    }
    return rv;
}

static int fill_originals(const struct fixture *fixture, struct batch_arena *arena,
                          struct batch_nodes *nodes)
{
    for (uint32_t t = 0; t < FIXTURE_NTYPES; t++) {
        uint64_t *ids;
        int rv = arena_alloc(arena, nodes[t].num_nodes, sizeof *ids, &ids);
        if (rv != 0)
            return rv;
        for (uint32_t i = 0; i < nodes[t].num_nodes; i++)
            ids[i] = fixture->original[t][nodes[t].ids[i]];
        nodes[t].original_ids = ids;
    }
    return 0;
}

int fixture_batch(const struct fixture *fixture, const struct fixture_plan *plan,
                  struct batch_builder *builder, struct batch_arena *arena,
                  struct mini_batch *batch)
{
    struct answers answers;
    struct batch_nodes *nodes = NULL;
    int rv = batch_builder_begin(builder, arena, plan->num_layers, false);
    if (rv == 0)
        rv = add_seeds(fixture, plan, builder);
    for (uint32_t hop = 0; hop < plan->num_layers && rv == 0; hop++) {
        rv = batch_builder_begin_hop(builder);
        for (uint32_t e = 0; e < FIXTURE_ETYPES && rv == 0; e++)
            rv = e == 3 ? 0 : add_etype(fixture, plan, &answers, builder, hop, e);
        if (rv == 0)
            rv = batch_builder_end_hop(builder);
    }
    if (rv == 0)
        rv = batch_builder_finish(builder, batch, &nodes);
    return rv != 0 ? rv : fill_originals(fixture, arena, nodes);
}

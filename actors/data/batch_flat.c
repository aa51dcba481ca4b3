/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/data/batch_flat.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

#include <troupe/error.h>
#include <troupe/types.h>

#include "schemas/body.h"
#include "schemas/sample_spec.h"

/* Each of a spec's tables, in each layer. */
#define FLAT_TABLES_MAX (SAMPLE_TABLES_MAX * SAMPLE_LAYERS_MAX)

enum flat_mode { FLAT_SIZE, FLAT_WRITE, FLAT_READ };

/* One walk over a batch serves all three, so that they cannot disagree. */
struct flat {
    enum flat_mode mode;
    unsigned char *to;         /* writing */
    uint64_t at;               /* sizing, writing */
    struct body_reader reader; /* reading */
    int rv;                    /* the first failure */
};

struct flat_head {
    uint64_t seed, index;
    uint32_t epoch, rank, step_seeds, num_ntypes, num_etypes, num_layers;
    uint32_t num_tables, num_pair_types;
};

struct flat_pairs {
    uint32_t etype, count;
    uint32_t edge_ids; /* 0 or 1 */
    uint32_t num_negatives, count_negatives;
    uint32_t negatives_of; /* enum negatives_of */
    uint32_t negative_ends, count_negative_sources;
    uint32_t no_edges, by_degree; /* 0 or 1 */
    uint32_t negative_edges;
};

struct flat_edges {
    uint32_t num_dst, num_edges;
    uint32_t edge_ids; /* 0 or 1 */
    uint32_t absent;   /* 1: an edge type that no hop drew has no arrays */
    uint32_t weights;  /* 0 or 1 */
    uint32_t direction;
};

struct flat_rows {
    uint64_t width, row_bytes;
    uint32_t dtype, num_rows;
    uint32_t fetched, zero;
};

struct flat_table {
    uint32_t table, of, type, layer;
    struct flat_rows rows;
};

struct flat_nodes {
    uint32_t num_nodes, num_seeds;
    uint32_t original_ids, in_degrees, out_degrees, zero; /* 0 or 1 */
    struct flat_rows features, labels;
};

static void flat_put(struct flat *f, const void *from, uint64_t bytes, uint64_t align)
{
    uint64_t begin = (f->at + align - 1) / align * align;
    memset(f->to + f->at, 0, begin - f->at);
    if (bytes > 0)
        memcpy(f->to + begin, from, bytes);
    f->at = begin + bytes;
}

/* count elements from or to memory that is there already. */
static void flat_plain(struct flat *f, void *data, uint64_t count, uint64_t size)
{
    const void *bytes;
    if (f->rv != 0)
        return;
    if (f->mode == FLAT_SIZE)
        f->rv = body_grow(&f->at, count, size, 8);
    else if (f->mode == FLAT_WRITE)
        flat_put(f, data, count * size, 8);
    else if ((f->rv = body_take(&f->reader, count, size, 8, &bytes)) == 0 && count > 0)
        memcpy(data, bytes, count * size);
}

/* An array of the batch; reading makes room for it once it is known to be there. */
static void *flat_array(struct flat *f, struct vec *vec, const void *data, uint64_t count,
                        uint64_t size, bool wanted)
{
    const void *bytes;
    if (f->rv != 0 || !wanted)
        return NULL;
    if (f->mode == FLAT_SIZE)
        f->rv = body_grow(&f->at, count, size, 64);
    else if (f->mode == FLAT_WRITE)
        flat_put(f, data, count * size, 64);
    else if ((f->rv = body_take(&f->reader, count, size, 64, &bytes)) == 0 &&
             (f->rv = vec_reserve(vec, count, size, 0)) == 0 && count * size > 0)
        memcpy(vec->data, bytes, count * size);
    return f->rv == 0 && f->mode == FLAT_READ ? vec->data : (void *)(uintptr_t)data;
}

static void walk_edges(struct flat *f, struct block_edges *e, struct edge_space *space)
{
    struct flat_edges head = {
        e->num_dst,  e->num_edges, e->edge_ids != NULL, e->index == NULL, e->edge_weights != NULL,
        e->direction
    };
    flat_plain(f, &head, 1, sizeof head);
    if (f->rv != 0 || head.absent != 0) {
        f->rv = f->rv == 0 && head.num_edges != 0 ? TR_EFORMAT : f->rv;
        if (f->mode == FLAT_READ)
            *e = (struct block_edges){ .num_dst = head.num_dst, .direction = head.direction };
        return;
    }
    struct block_edges out = { .num_dst = head.num_dst,
                               .num_edges = head.num_edges,
                               .direction = head.direction };
    out.index = flat_array(f, &space->index, e->index, head.num_dst + UINT64_C(1), 4, true);
    out.sources = flat_array(f, &space->sources, e->sources, head.num_edges, 4, true);
    out.edge_ids = flat_array(f, &space->edge_ids, e->edge_ids, head.num_edges, 8,
                              head.edge_ids != 0);
    out.edge_weights = flat_array(f, &space->edge_weights, e->edge_weights, head.num_edges,
                                  sizeof(float), head.weights != 0);
    if (f->rv == 0 && f->mode == FLAT_READ)
        *e = out;
}

static struct flat_rows rows_head(const struct batch_rows *r)
{
    return (struct flat_rows){ r->width,    r->row_bytes,    (uint32_t)r->dtype,
                               r->num_rows, r->rows != NULL, 0 };
}

static void walk_rows(struct flat *f, struct batch_rows *r, struct vec *vec,
                      const struct flat_rows *head)
{
    struct batch_rows out = { (enum tr_dtype)head->dtype, head->num_rows, head->width,
                              (size_t)head->row_bytes, NULL };
    out.rows = flat_array(f, vec, r->rows, head->num_rows, head->row_bytes, head->fetched != 0);
    if (f->rv == 0 && f->mode == FLAT_READ)
        *r = out;
}

static void walk_nodes(struct flat *f, struct batch_nodes *n, struct node_space *space)
{
    struct flat_nodes head = { n->num_nodes,
                               n->num_seeds,
                               n->original_ids != NULL,
                               n->in_degrees != NULL,
                               n->out_degrees != NULL,
                               0,
                               rows_head(&n->features),
                               rows_head(&n->labels) };
    flat_plain(f, &head, 1, sizeof head);
    if (f->rv != 0)
        return;
    struct batch_nodes out = { .num_nodes = head.num_nodes, .num_seeds = head.num_seeds };
    uint32_t count = head.num_nodes;
    out.ids = flat_array(f, &space->ids, n->ids, count, 8, true);
    out.original_ids = flat_array(f, &space->original_ids, n->original_ids, count, 8,
                                  head.original_ids != 0);
    out.in_degrees = flat_array(f, &space->in_degrees, n->in_degrees, count, 4,
                                head.in_degrees != 0);
    out.out_degrees = flat_array(f, &space->out_degrees, n->out_degrees, count, 4,
                                 head.out_degrees != 0);
    walk_rows(f, &n->features, &space->features, &head.features);
    walk_rows(f, &n->labels, &space->labels, &head.labels);
    out.features = n->features;
    out.labels = n->labels;
    if (f->rv == 0 && f->mode == FLAT_READ)
        *n = out;
}

static void walk_table(struct flat *f, struct batch_table *t, struct vec *space)
{
    struct flat_table head = { t->table, t->of, t->type, t->layer, rows_head(&t->rows) };
    flat_plain(f, &head, 1, sizeof head);
    if (f->rv == 0 && f->mode == FLAT_READ)
        *t = (struct batch_table){ head.table, head.of, head.type, head.layer, { 0 } };
    walk_rows(f, &t->rows, space, &head.rows);
}

static void walk_pairs(struct flat *f, struct batch_pairs *p, struct pair_space *space)
{
    const struct negatives_rule *rule = &p->negatives_rule;
    struct flat_pairs head = {
        p->etype,           p->count,        p->edge_ids != NULL, rule->each,
        p->count_negatives, rule->of,        rule->ends,          p->count_negative_sources,
        rule->no_edges,     rule->by_degree, p->negative_edges
    };
    flat_plain(f, &head, 1, sizeof head);
    struct batch_pairs out = { .etype = head.etype,
                               .count = head.count,
                               .negatives_rule = { head.num_negatives, head.negatives_of,
                                                   head.negative_ends, head.no_edges,
                                                   head.by_degree },
                               .negative_edges = head.negative_edges,
                               .count_negatives = head.count_negatives,
                               .count_negative_sources = head.count_negative_sources };
    out.sources = flat_array(f, &space->sources, p->sources, head.count, 4, true);
    out.destinations = flat_array(f, &space->destinations, p->destinations, head.count, 4, true);
    out.edge_ids = flat_array(f, &space->edge_ids, p->edge_ids, head.count, 8, head.edge_ids != 0);
    out.negatives = flat_array(f, &space->negatives, p->negatives, head.count_negatives, 4,
                               head.count_negatives != 0);
    out.negative_sources = flat_array(f, &space->negative_sources, p->negative_sources,
                                      head.count_negative_sources, 4,
                                      head.count_negative_sources != 0);
    if (f->rv == 0 && f->mode == FLAT_READ)
        *p = out;
}

static void flat_walk(struct flat *f, struct batch_space *s)
{
    struct mini_batch *m = &s->batch;
    struct flat_head head = { m->seed,       m->index,         m->epoch,      m->rank,
                              m->step_seeds, m->num_ntypes,    m->num_etypes, m->num_layers,
                              m->num_tables, m->num_pair_types };
    flat_plain(f, &head, 1, sizeof head);
    /* The shape is compared before the arrays are walked: the batch that reads them has places
     * by its own shape. */
    if (f->rv == 0 && (head.num_ntypes != m->num_ntypes || head.num_etypes != m->num_etypes ||
                       head.num_layers != m->num_layers || head.num_tables > FLAT_TABLES_MAX ||
                       head.num_pair_types > m->num_etypes))
        f->rv = TR_EFORMAT;
    if (f->rv == 0 && f->mode == FLAT_READ)
        f->rv = batch_space_set_tables(s, head.num_tables);
    if (f->rv == 0 && f->mode == FLAT_READ) {
        m->seed = head.seed;
        m->index = head.index;
        m->epoch = head.epoch;
        m->rank = head.rank;
        m->step_seeds = head.step_seeds;
        m->num_pair_types = head.num_pair_types;
    }
    size_t cells = (size_t)m->num_layers * m->num_ntypes;
    flat_plain(f, s->num_src, cells, sizeof *s->num_src);
    flat_plain(f, s->num_dst, cells, sizeof *s->num_dst);
    for (size_t i = 0; i < (size_t)m->num_layers * m->num_etypes && f->rv == 0; i++)
        walk_edges(f, &s->edges[i], &s->edge_space[i]);
    for (uint32_t t = 0; t < m->num_ntypes && f->rv == 0; t++)
        walk_nodes(f, &s->nodes[t], &s->node_space[t]);
    for (uint32_t i = 0; i < m->num_tables && f->rv == 0; i++)
        walk_table(f, &s->tables[i], &s->table_space[i]);
    for (uint32_t i = 0; i < m->num_pair_types && f->rv == 0; i++)
        walk_pairs(f, &s->pairs[i], &s->pair_space[i]);
}

/* All of them are below the bound; ids NULL: there are none. */
static bool ids_fit(const uint64_t *ids, uint32_t count, uint64_t bound)
{
    for (uint32_t i = 0; ids != NULL && i < count; i++)
        if (ids[i] >= bound)
            return false;
    return true;
}

static bool edges_fit(const struct block_edges *e, uint32_t num_src, uint32_t num_dst)
{
    if (e->index == NULL)
        return e->num_dst <= num_dst;
    if (e->num_dst != num_dst || e->index[0] != 0 || e->index[num_dst] != e->num_edges)
        return false;
    for (uint32_t i = 0; i < num_dst; i++)
        if (e->index[i] > e->index[i + 1])
            return false;
    for (uint32_t i = 0; i < e->num_edges; i++)
        if (e->sources[i] >= num_src)
            return false;
    for (uint32_t i = 0; e->edge_weights != NULL && i < e->num_edges; i++)
        if (!(e->edge_weights[i] > 0 && e->edge_weights[i] <= FLT_MAX))
            return false;
    return true;
}

static bool rows_fit(const struct batch_rows *r, uint32_t most)
{
    size_t size = (unsigned)r->dtype <= TR_BOOL ? tr_dtype_size(r->dtype) : 0;
    uint64_t bytes;
    return r->rows == NULL ||
           (size > 0 && r->num_rows <= most && !__builtin_mul_overflow(r->width, size, &bytes) &&
            bytes == r->row_bytes);
}

/* Nodes of a layer's destinations are the next layer's sources; the last ones are the seeds. */
static bool type_fits(const struct batch_space *s, uint32_t ntype)
{
    const struct mini_batch *m = &s->batch;
    const struct batch_nodes *n = &m->nodes[ntype];
    uint32_t above = n->num_nodes;
    for (uint32_t l = 0; l < m->num_layers; l++) {
        if (m->blocks[l].num_src[ntype] != above || m->blocks[l].num_dst[ntype] > above)
            return false;
        above = m->blocks[l].num_dst[ntype];
    }
    return above == n->num_seeds && rows_fit(&n->features, n->num_nodes) &&
           rows_fit(&n->labels, n->num_nodes);
}

/* A table says no more rows than there are nodes or edges for it. */
static bool table_fits(const struct mini_batch *m, const struct batch_table *t)
{
    if (t->layer >= m->num_layers || t->rows.rows == NULL)
        return false;
    if (t->of == SAMPLE_OF_EDGES)
        return t->type < m->num_etypes &&
               t->rows.num_rows == m->blocks[t->layer].edges[t->type].num_edges &&
               rows_fit(&t->rows, t->rows.num_rows);
    return t->of == SAMPLE_OF_NODES && t->type < m->num_ntypes &&
           rows_fit(&t->rows, m->nodes[t->type].num_nodes);
}

static bool positions_fit(const uint32_t *positions, uint32_t count, uint32_t num_seeds)
{
    for (uint32_t i = 0; i < count; i++)
        if (positions[i] >= num_seeds)
            return false;
    return true;
}

/* Each pair has as many nodes that stand for its ends as the batch says. */
static bool negatives_fit(const struct batch_pairs *p, uint32_t num_sources,
                          uint32_t num_destinations)
{
    const struct negatives_rule *rule = &p->negatives_rule;
    uint64_t groups = negatives_groups(rule, p->count);
    return rule->of <= NEGATIVES_IN_BATCH && rule->ends < NEGATIVE_ENDS && rule->no_edges <= 1 &&
           rule->by_degree <= 1 &&
           p->negative_edges <= (rule->no_edges != 0 ? groups * rule->each : 0) &&
           p->count_negatives == groups * negatives_each(rule, PAIR_DESTINATION) &&
           p->count_negative_sources == groups * negatives_each(rule, PAIR_SOURCE) &&
           positions_fit(p->negatives, p->count_negatives, num_destinations) &&
           positions_fit(p->negative_sources, p->count_negative_sources, num_sources);
}

/* Both ends of each pair are seeds, and edges are the book's. */
static bool pairs_fit(const struct mini_batch *m, const struct batch_pairs *p,
                      const struct book *book)
{
    /* An edge type has one struct of pairs at most. */
    if (p->etype >= m->num_etypes || &m->pairs[batch_find_pairs(m, p->etype)] != p)
        return false;
    const struct graph_etype *type = &book->types.etypes[p->etype];
    for (uint32_t i = 0; i < p->count; i++)
        if (p->sources[i] >= m->nodes[type->src].num_seeds ||
            p->destinations[i] >= m->nodes[type->dst].num_seeds)
            return false;
    return negatives_fit(p, m->nodes[type->src].num_seeds, m->nodes[type->dst].num_seeds) &&
           ids_fit(p->edge_ids, p->count, book->num_edges[p->etype]);
}

static bool flat_fits(const struct batch_space *s, const struct book *book)
{
    const struct mini_batch *m = &s->batch;
    for (uint32_t i = 0; i < m->num_pair_types; i++)
        if (!pairs_fit(m, &m->pairs[i], book))
            return false;
    for (uint32_t t = 0; t < m->num_ntypes; t++)
        if (!type_fits(s, t) ||
            !ids_fit(m->nodes[t].ids, m->nodes[t].num_nodes, book->num_nodes[t]))
            return false;
    for (uint32_t i = 0; i < m->num_tables; i++)
        if (!table_fits(m, &m->tables[i]))
            return false;
    for (uint32_t l = 0; l < m->num_layers; l++)
        for (uint32_t e = 0; e < m->num_etypes; e++) {
            const struct graph_etype *type = &book->types.etypes[e];
            const struct block *block = &m->blocks[l];
            const struct block_edges *edges = &block->edges[e];
            bool out = edges->direction == SAMPLE_OUT;
            if (edges->direction > SAMPLE_OUT ||
                !edges_fit(edges, block->num_src[out ? type->dst : type->src],
                           block->num_dst[out ? type->src : type->dst]) ||
                !ids_fit(edges->edge_ids, edges->num_edges, book->num_edges[e]))
                return false;
        }
    return true;
}

int batch_flat_bytes(const struct sampled_batch *batch, uint64_t *bytes)
{
    struct flat f = { .mode = FLAT_SIZE };
    flat_walk(&f, (struct batch_space *)(uintptr_t)&batch->space);
    *bytes = f.at;
    return f.rv;
}

void batch_flatten(const struct sampled_batch *batch, void *to)
{
    struct flat f = { .mode = FLAT_WRITE, .to = to };
    flat_walk(&f, (struct batch_space *)(uintptr_t)&batch->space);
}

int batch_unflatten(struct sampled_batch *batch, const struct book *book, const void *bytes,
                    uint64_t length)
{
    const struct graph_types *types = &book->types;
    struct flat f = { .mode = FLAT_READ, .reader = { bytes, length, 0 } };
    struct batch_space *s = &batch->space;
    if (s->batch.num_ntypes != types->num_ntypes || s->batch.num_etypes != types->num_etypes)
        return TR_EFORMAT;
    for (uint32_t e = 0; e < types->num_etypes; e++) {
        s->etype_src[e] = types->etypes[e].src;
        s->etype_dst[e] = types->etypes[e].dst;
    }
    flat_walk(&f, s);
    /* The parts are held against each other only when all of them are read. */
    if (f.rv == 0 && (f.reader.at != length || !flat_fits(s, book)))
        f.rv = TR_EFORMAT;
    return f.rv;
}

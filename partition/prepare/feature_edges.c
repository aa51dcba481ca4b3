/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/prepare/feature_edges.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define EDGES_AT_ONCE ((uint64_t)1 << 16)
#define DAMPING 0.85

/* A pass over all edges of all types, in their original order. */
struct edge_pass {
    struct raw_graph *graph;
    const struct feature_options *options;
    const char *phase;
    uint64_t *src; /* EDGES_AT_ONCE of them, and as many destinations behind them */
    void (*visit)(void *arg, const struct graph_etype *type, uint64_t count, const uint64_t *src,
                  const uint64_t *dst);
    void *arg;
};

static int no_memory(uint64_t nodes, struct error *error)
{
    return error_set(error, TR_ENOMEM, "no memory for features of %" PRIu64 " nodes", nodes);
}

static uint64_t sum_counts(const uint64_t *counts, uint32_t num)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < num; i++)
        all += counts[i];
    return all;
}

static int edge_pass_run(const struct edge_pass *pass, struct error *error)
{
    struct raw_graph *graph = pass->graph;
    const struct feature_options *options = pass->options;
    uint64_t passed = 0, total = sum_counts(graph->num_edges, graph->types.num_etypes);
    for (uint32_t type = 0; type < graph->types.num_etypes; type++) {
        for (uint64_t done = 0; done < graph->num_edges[type];) {
            uint64_t left = graph->num_edges[type] - done;
            uint64_t count = left < EDGES_AT_ONCE ? left : EDGES_AT_ONCE;
            uint64_t *dst = pass->src + EDGES_AT_ONCE;
            if (cancel_asked(options->cancel))
                return error_set(error, TR_ECANCELED, "feature: interrupted; nothing was added");
            int rv = raw_read_edges(graph, type, done, count, pass->src, dst, error);
            if (rv != 0)
                return rv;
            pass->visit(pass->arg, &graph->types.etypes[type], count, pass->src, dst);
            done += count;
            passed += count;
            if (options->progress != NULL)
                options->progress(options->progress_arg, pass->phase, "edges", passed, total);
        }
    }
    return 0;
}

struct degree_counts {
    uint32_t ntype;
    uint32_t *in, *out; /* NULL: not counted */
};

static void count_one(uint32_t *degree)
{
    *degree += *degree != UINT32_MAX;
}

static void count_degrees(void *arg, const struct graph_etype *type, uint64_t count,
                          const uint64_t *src, const uint64_t *dst)
{
    struct degree_counts *degrees = arg;
    for (uint64_t i = 0; i < count && type->dst == degrees->ntype; i++)
        count_one(&degrees->in[dst[i]]);
    for (uint64_t i = 0; i < count && type->src == degrees->ntype; i++)
        count_one(&degrees->out[src[i]]);
}

int feature_degrees(struct raw_graph *graph, uint32_t ntype, const struct feature_options *options,
                    uint32_t **in, uint32_t **out, struct error *error)
{
    uint64_t nodes = graph->num_nodes[ntype];
    struct edge_pass pass = {
        .graph = graph, .options = options, .phase = "counting degrees", .visit = count_degrees
    };
    *in = calloc((size_t)nodes + 1, sizeof **in);
    *out = calloc((size_t)nodes + 1, sizeof **out);
    pass.src = malloc(2 * EDGES_AT_ONCE * sizeof *pass.src);
    struct degree_counts degrees = { ntype, *in, *out };
    pass.arg = &degrees;
    int rv = *in == NULL || *out == NULL || pass.src == NULL ? no_memory(nodes, error)
                                                             : edge_pass_run(&pass, error);
    free(pass.src);
    if (rv != 0) {
        free(*in);
        free(*out);
        *in = *out = NULL;
    }
    return rv;
}

/* Nodes of all types are numbered one type after the other. */
struct rank_walk {
    uint64_t num_nodes;
    uint64_t *first; /* [ntypes] the number of each type's first node */
    uint32_t *out;   /* [num_nodes] out-degrees */
    double *ranks;   /* [num_nodes] */
    double *next;    /* [num_nodes] what comes in over edges */
};

static void count_out(void *arg, const struct graph_etype *type, uint64_t count,
                      const uint64_t *src, const uint64_t *dst)
{
    struct rank_walk *walk = arg;
    (void)dst;
    for (uint64_t i = 0; i < count; i++)
        count_one(&walk->out[walk->first[type->src] + src[i]]);
}

/* A node's rank was divided by its out-degree before the pass. */
static void carry_ranks(void *arg, const struct graph_etype *type, uint64_t count,
                        const uint64_t *src, const uint64_t *dst)
{
    struct rank_walk *walk = arg;
    const double *from = walk->ranks + walk->first[type->src];
    double *to = walk->next + walk->first[type->dst];
    for (uint64_t i = 0; i < count; i++)
        to[dst[i]] += from[src[i]];
}

/* One round; *change is the sum of what the ranks changed by. Only one array of ranks is kept:
 * during the pass it holds the share that a node gives to each of its out-edges, from which the rank
 * comes back by a product. That may differ from the rank in its last bit, which is the same bit on
 * every machine. */
static int walk_round(struct rank_walk *walk, const struct edge_pass *pass, double *change,
                      struct error *error)
{
    uint64_t n = walk->num_nodes;
    double stuck = 0; /* the rank of nodes without out-edges */
    for (uint64_t v = 0; v < n; v++) {
        walk->next[v] = 0;
        if (walk->out[v] == 0)
            stuck += walk->ranks[v];
        else
            walk->ranks[v] /= walk->out[v];
    }
    int rv = edge_pass_run(pass, error);
    if (rv != 0)
        return rv;
    double jump = (1 - DAMPING) / (double)n + DAMPING * stuck / (double)n;
    *change = 0;
    for (uint64_t v = 0; v < n; v++) {
        double was = walk->out[v] == 0 ? walk->ranks[v] : walk->ranks[v] * walk->out[v];
        double rank = jump + DAMPING * walk->next[v];
        *change += rank > was ? rank - was : was - rank;
        walk->ranks[v] = rank;
    }
    return 0;
}

static int walk_run(struct rank_walk *walk, struct edge_pass *pass, uint32_t *rounds,
                    struct error *error)
{
    char phase[64];
    double change = 1;
    pass->phase = "counting degrees";
    pass->visit = count_out;
    int rv = edge_pass_run(pass, error);
    for (uint64_t v = 0; v < walk->num_nodes; v++)
        walk->ranks[v] = 1 / (double)walk->num_nodes;
    pass->phase = phase;
    pass->visit = carry_ranks;
    for (*rounds = 0; rv == 0 && change >= FEATURE_TOLERANCE;) {
        if (*rounds == FEATURE_ROUNDS_MAX)
            return error_set(error, TR_EINTERNAL, "the ranks still change by %g after %u rounds",
                             change, *rounds);
        snprintf(phase, sizeof phase, "walking, round %u", ++*rounds);
        rv = walk_round(walk, pass, &change, error);
    }
    return rv;
}

int feature_pagerank(struct raw_graph *graph, const struct feature_options *options, double **ranks,
                     uint32_t *rounds, struct error *error)
{
    struct rank_walk walk = { .num_nodes = sum_counts(graph->num_nodes, graph->types.num_ntypes) };
    struct edge_pass pass = { .graph = graph, .options = options, .arg = &walk };
    walk.first = calloc((size_t)graph->types.num_ntypes + 1, sizeof *walk.first);
    walk.out = calloc((size_t)walk.num_nodes + 1, sizeof *walk.out);
    walk.ranks = malloc(((size_t)walk.num_nodes + 1) * sizeof *walk.ranks);
    walk.next = malloc(((size_t)walk.num_nodes + 1) * sizeof *walk.next);
    pass.src = malloc(2 * EDGES_AT_ONCE * sizeof *pass.src);
    int rv = 0;
    if (walk.first == NULL || walk.out == NULL || walk.ranks == NULL || walk.next == NULL ||
        pass.src == NULL)
        rv = no_memory(walk.num_nodes, error);
    for (uint32_t t = 1; rv == 0 && t < graph->types.num_ntypes; t++)
        walk.first[t] = walk.first[t - 1] + graph->num_nodes[t - 1];
    if (rv == 0)
        rv = walk_run(&walk, &pass, rounds, error);
    free(pass.src);
    free(walk.next);
    free(walk.out);
    free(walk.first);
    if (rv != 0) {
        free(walk.ranks);
        walk.ranks = NULL;
    }
    *ranks = walk.ranks;
    return rv;
}

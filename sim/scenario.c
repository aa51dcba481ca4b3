/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario.h"

#include "graph/key.h"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* Purposes of the streams of draws. */
enum { DRAWS_GRAPH = 1, DRAWS_LAYOUT, DRAWS_CLIENTS, DRAWS_FAULTS, DRAWS_SERVERS };

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

/* A list of nodes, in order; in some loaders some come twice. */
static void draw_seeds(struct wanted_loader *loader, const struct sim_graph *raw,
                       struct draws *draws)
{
    uint32_t n = raw->num_nodes[loader->open.ntype];
    uint32_t percent = (uint32_t)draws_between(draws, 0, 100);
    bool all = draws_chance(draws, 40);
    bool repeats = key_mix(loader->open.seed + 1) % 3 == 0; /* leaves the other draws as they are */
    loader->seeds = calloc(2 * (size_t)n + 1, sizeof *loader->seeds);
    assert(loader->seeds != NULL);
    for (uint32_t v = 0; v < n; v++) {
        if (!all && !draws_chance(draws, percent))
            continue;
        loader->seeds[loader->open.num_seeds++] = v;
        if (repeats && key_mix(loader->open.seed + v * KEY_STEP) % 4 == 0)
            loader->seeds[loader->open.num_seeds++] = v;
    }
}

static uint32_t draw_flags(struct draws *draws, bool *replace)
{
    uint32_t flags = draws_chance(draws, 70) ? MSG_LOADER_SHUFFLE : 0;
    *replace = draws_chance(draws, 30);
    flags |= draws_chance(draws, 30) ? MSG_LOADER_DROP_LAST : 0;
    flags |= draws_chance(draws, 40) ? MSG_LOADER_EDGE_IDS : 0;
    flags |= draws_chance(draws, 70) ? MSG_LOADER_ORIGINAL_IDS : 0;
    flags |= draws_chance(draws, 40) ? MSG_LOADER_DEGREES : 0;
    return flags;
}

static void draw_loader(struct wanted_loader *loader, const struct scenario *s, struct draws *draws)
{
    const struct sim_graph *raw = &s->raw;
    struct msg_loader_open *open = &loader->open;
    open->seed = draws_below(draws, 1000);
    open->ntype = (uint32_t)draws_below(draws, raw->types.num_ntypes);
    draw_seeds(loader, raw, draws);
    wanted_loader_join(loader, raw);
    if (s->seed >= WANTED_PAIRS_FROM)
        wanted_loader_pair(loader, raw);
    if (s->seed >= WANTED_RANGES_FROM)
        wanted_loader_range(loader, raw);
    struct sample_spec *spec = &loader->spec;
    int rv = sample_spec_alloc(spec, (uint32_t)draws_between(draws, 1, 3), raw->types.num_etypes);
    assert(rv == 0);
    for (uint32_t l = 0; l < spec->num_layers; l++) {
        struct sample_term term = SAMPLE_TERM(0, false);
        term.fanout = draws_chance(draws, 15) ? SAMPLE_EVERY : (int32_t)draws_below(draws, 9);
        sample_spec_set_layer(spec, l, &term);
    }
    open->world = draws_chance(draws, 60) ? 1 : (uint32_t)draws_between(draws, 1, 4);
    open->rank = (uint32_t)draws_below(draws, open->world);
    /* Between two and thirty batches an epoch, mostly. */
    uint64_t steps = draws_between(draws, 1, 12);
    uint64_t size = open->num_seeds / (steps * open->world);
    open->batch_size = size > 0 ? (uint32_t)size : (uint32_t)draws_between(draws, 1, 4);
    bool replace;
    open->flags = draw_flags(draws, &replace);
    wanted_loader_vary(loader, replace);
    if (s->seed >= WANTED_SAMPLERS_FROM)
        wanted_loader_sample(loader);
    if (s->seed >= WANTED_OUT_FROM)
        wanted_loader_turn(loader);
    if (s->seed >= WANTED_TOTALS_FROM)
        wanted_loader_total(loader);
    if (s->seed >= WANTED_LINKS_FROM)
        wanted_loader_link(loader);
    if (s->seed >= WANTED_CORRUPTIONS_FROM)
        wanted_loader_corrupt(loader);
    if (s->seed >= WANTED_NO_EDGES_FROM)
        wanted_loader_redraw(loader);
    if (s->seed >= WANTED_DEGREES_FROM)
        wanted_loader_weigh(loader, raw);
    if (s->seed >= WANTED_REVERSES_FROM)
        wanted_loader_reverse(loader, raw);
    if (s->seed >= WANTED_PAIR_TYPES_FROM)
        wanted_loader_mix(loader, raw);
    if (s->seed >= WANTED_LISTED_FROM)
        wanted_loader_list_reverses(loader);
    loader->excludes_in_draw = s->seed >= WANTED_EXCLUSIONS_FROM;
    bool features = raw_is_featured(raw) && draws_chance(draws, 75);
    open->features = features ? PLACED_FEATURE : MSG_MASK_ALL;
    open->labels = draws_chance(draws, 75) ? PLACED_LABEL : MSG_MASK_ALL;
    open->prefetch = draws_chance(draws, 50) ? 0 : (uint32_t)draws_between(draws, 1, 9);
}

static void draw_client(struct client_plan *client, const struct scenario *s, struct draws *draws)
{
    draw_loader(&client->loader, s, draws);
    client->loop = (uint32_t)draws_below(draws, s->loops);
    client->epochs = (uint32_t)draws_between(draws, 1, 3);
    client->hold = draws_chance(draws, 50) ? 0 : (uint32_t)draws_below(draws, SCENARIO_HOLD_MAX);
    client->keep = draws_chance(draws, 30);
    client->look_ns = draws_scale(draws, 20 * US, 100 * MS);
    client->think_ns = draws_chance(draws, 50) ? 1 : draws_scale(draws, 1 * US, 2 * MS);
    client->disturbances = draws_chance(draws, 60) ? 0 : (uint32_t)draws_between(draws, 1, 4);
    client->disturbance_percent = (uint32_t)draws_between(draws, 5, 50);
    if (draws_chance(draws, 15))
        client->quit_after = draws_between(draws, 1, 10);
}

/* Far above what one batch of that loader holds. */
static size_t batch_bytes(const struct scenario *s, const struct wanted_loader *loader)
{
    const struct sim_graph *raw = &s->raw;
    const struct sample_spec *spec = &loader->spec;
    /* Both ends of a pair are seeds, however often they come; negatives too. */
    uint32_t of_pair = 2 + 2 * loader->open.num_negatives;
    uint32_t ends = loader->pairs != NULL ? of_pair * ((uint32_t)loader->open.num_seeds + 1) : 0;
    size_t nodes = ends, bytes = (size_t)256 << 10;
    for (uint32_t t = 0; t < raw->types.num_ntypes; t++)
        nodes += 2 * (size_t)raw->num_nodes[t]; /* a seed may come twice */
    bytes += nodes * 2 * (4 * RAW_WIDTH_MAX + 48);
    for (uint32_t l = 0; l < spec->num_layers; l++)
        for (uint32_t e = 0; e < raw->types.num_etypes; e++) {
            const struct sample_term *term = sample_spec_term(spec, l, e);
            uint32_t n = 2 * raw->num_nodes[sample_row_type(&raw->types.etypes[e], term)] + ends;
            int32_t fanout = term->fanout;
            /* Each time that a node comes as an end it draws by itself, where all are drawn all. */
            size_t edges = fanout < 0 || spec->kind == SAMPLE_LABOR_POISSON
                               ? (size_t)ends * reference_max_degree(s->seed, raw)
                               : (size_t)n * (size_t)fanout;
            size_t edge_bytes = spec->kind == SAMPLE_WEIGHTED ? 16 : 12;
            bytes += 2 * (4 * (size_t)n + edge_bytes * (edges + 2 * raw->edges[e].count));
        }
    return bytes;
}

static void draw_bounds(struct scenario *s, struct draws *draws)
{
    size_t most = 0;
    for (uint32_t c = 0; c < s->clients; c++) {
        size_t bytes = batch_bytes(s, &s->client[c].loader);
        most = bytes > most ? bytes : most;
    }
    s->batch_bytes_max = draws_chance(draws, 50) ? (size_t)1 << 30
                                                 : (size_t)draws_scale(draws, most, 8 * most);
    s->mailbox_bytes_max = draws_chance(draws, 50) ? 0 : (size_t)draws_scale(draws, 200, 1 << 20);
    /* Each loop keeps slabs of every size of message. */
    size_t slabs = (size_t)s->loops * (MESSAGE_CELL_CLASSES * 65536 + 65536);
    s->message_bytes_max = draws_chance(draws, 60)
                               ? 0
                               : slabs + (size_t)draws_scale(draws, 2 << 20, 64 << 20);
}

static void draw_layout(struct scenario *s, struct draws *draws)
{
    s->parts = (uint32_t)draws_scale(draws, 1, 8);
    s->servers = (uint32_t)draws_between(draws, 0, s->parts);
    s->samplers = (uint32_t)draws_between(draws, 1, 3);
    s->loops = (uint32_t)draws_between(draws, 1, 4);
    s->checkers = draws_chance(draws, 50) ? 3 : 0;
    s->direct = draws_chance(draws, 40);
    s->codec = draws_chance(draws, 40);
    /* Room for the largest row, alone in a reply. */
    uint64_t row_bytes = reference_row_bytes(s->seed, &s->raw);
    s->reply_bytes_max = draws_chance(draws, 40) ? 0 : draws_scale(draws, row_bytes, 1 << 20);
    if (draws_chance(draws, 60))
        s->slice_edges = reference_max_degree(s->seed, &s->raw) +
                         (uint32_t)draws_scale(draws, 16, 65536);
    s->call_ns = draws_chance(draws, 50) ? 0 : draws_scale(draws, 2 * MS, 10 * ENV_SECOND_NS);
    s->env = (struct env_sim_options){
        .turn_ns_max = draws_scale(draws, 10, 20 * US),
        .timer_late_ns_max = draws_scale(draws, 10, 5 * MS),
        .steps_max = 20000000, /* a thousand times what a run takes */
    };
}

static void draw_faults(struct scenario *s, struct draws *draws)
{
    struct fault_plan *f = &s->faults;
    if (draws_chance(draws, 20))
        return;
    f->faults = (uint32_t)draws_below(draws, 2 * FAULT_STOP);
    f->count = f->faults == 0 ? 0 : (uint32_t)draws_between(draws, 1, 16);
    f->gap_ns = draws_scale(draws, 10 * US, 20 * MS);
    f->pause_ns = draws_scale(draws, 10 * US, 20 * ENV_SECOND_NS);
    f->memory_ppm = (uint32_t)draws_scale(draws, 100, 100000);
    if (draws_chance(draws, 10))
        s->stop_at_ns = draws_scale(draws, 10 * US, 20 * MS);
}

static void draw_server_faults(struct server_fault_plan *f, struct draws *draws)
{
    if (draws_chance(draws, 50))
        return;
    f->count = (uint32_t)draws_between(draws, 1, 8);
    f->gap_ns = draws_scale(draws, 10 * US, 20 * MS);
    f->lasts_ns = draws_scale(draws, MS, 20 * ENV_SECOND_NS);
}

void scenario_init(struct scenario *scenario, uint64_t seed)
{
    *scenario = (struct scenario){ .seed = seed };
    struct draws draws = draws_of(seed, DRAWS_GRAPH);
    sim_graph_init(&scenario->raw, &draws);
    if (scenario->seed >= WANTED_REVERSES_FROM)
        sim_graph_reverse(&scenario->raw, scenario->seed);
    draws = draws_of(seed, DRAWS_LAYOUT);
    draw_layout(scenario, &draws);
    draws = draws_of(seed, DRAWS_CLIENTS);
    scenario->clients = (uint32_t)draws_between(&draws, 1, SCENARIO_CLIENTS_MAX);
    for (uint32_t c = 0; c < scenario->clients; c++)
        draw_client(&scenario->client[c], scenario, &draws);
    draw_bounds(scenario, &draws);
    draws = draws_of(seed, DRAWS_FAULTS);
    draw_faults(scenario, &draws);
    draws = draws_of(seed, DRAWS_SERVERS);
    draw_server_faults(&scenario->server_faults, &draws);
}

void scenario_fini(struct scenario *scenario)
{
    for (uint32_t c = 0; c < scenario->clients; c++)
        wanted_loader_fini(&scenario->client[c].loader);
    sim_graph_fini(&scenario->raw);
}

void scenario_print(const struct scenario *s, FILE *out)
{
    fprintf(out,
            "seed %" PRIu64 ": %" PRIu32 " node types, %" PRIu32 " edge types, %" PRIu32
            " parts, %" PRIu32 " servers, %" PRIu32 " samplers, %" PRIu32 " loops%s%s, bounds %zu "
            "%zu %zu, faults %#" PRIx32 " x %" PRIu32 ", of servers %" PRIu32 "%s\n",
            s->seed, s->raw.types.num_ntypes, s->raw.types.num_etypes, s->parts, s->servers,
            s->samplers, s->loops, s->direct ? ", direct" : "", s->codec ? ", codec" : "",
            s->batch_bytes_max, s->mailbox_bytes_max, s->message_bytes_max, s->faults.faults,
            s->faults.count, s->server_faults.count, s->stop_at_ns != 0 ? ", stopped early" : "");
    for (uint32_t c = 0; c < s->clients; c++) {
        const struct client_plan *p = &s->client[c];
        fprintf(out,
                "    trainer %" PRIu32 ": %" PRIu64 " seeds of type %" PRIu32 ", %" PRIu64
                " batches of %" PRIu32 ", %" PRIu32 " epochs, %" PRIu32 " layers, flags %#" PRIx32
                ", window %" PRIu32 ", holds %" PRIu32 ", %" PRIu32 " disturbances\n",
                c, p->loader.open.num_seeds, p->loader.open.ntype, reference_steps(&p->loader.open),
                p->loader.open.batch_size, p->epochs, p->loader.spec.num_layers,
                p->loader.open.flags, p->loader.open.prefetch, p->hold, p->disturbances);
    }
}

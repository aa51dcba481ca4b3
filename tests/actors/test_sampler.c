/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler by itself: large epochs are put in order by the crew, requests that
 * it can't serve are refused. Whole batches under faults are compared in sim/. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "actors/data/epoch_plan.h"
#include "actors/data/sampler.h"
#include "actors/data/seed_set.h"
#include "graph/digest.h"
#include "graph/ranks.h"
#include "graph/reverse_edges.h"
#include "schemas/messages.h"
#include "tests/actors/asker.h"
#include "tests/actors/graphs.h"
#include "tests/seeds.h"

#define NODES 100u    /* of a type, over both partitions */
#define SEEDS 200000u /* beyond what is shuffled as a list */
#define BATCH 30u

struct world {
    struct asker asker;
    struct test_graph graph;
    struct graph_meta meta;
    struct batch_store *store;
    struct snapshots *snapshots;
    struct sampler_options options;
    struct msg_loader_open open;
    uint64_t *seeds; /* [SEEDS] */
};

static void open_world(struct world *world, uint64_t seed, bool flat)
{
    *world = (struct world){ .seeds = calloc(SEEDS, sizeof(uint64_t)) };
    assert_non_null(world->seeds);
    for (uint32_t i = 0; i < SEEDS; i++)
        world->seeds[i] = i % NODES;
    test_graph_init(&world->graph, 3, NODES / GRAPH_PARTS, 10);
    assert_int_equal(graph_meta_init(&world->meta, &world->graph.parts[0]), 0);
    world->store = batch_store_create((size_t)1 << 24);
    assert_non_null(world->store);
    assert_int_equal(batch_store_open_loader(world->store, 1, 1000), 0);
    assert_int_equal(snapshots_create(&world->graph.book, &world->snapshots), 0);
    for (uint32_t p = 0; p < GRAPH_PARTS; p++) {
        graph_meta_add_part(&world->meta, &world->graph.parts[p]);
        assert_int_equal(snapshots_add(world->snapshots, &world->graph.parts[p], NULL, NULL, NULL),
                         0);
    }
    world->options = (struct sampler_options){ .book = &world->graph.book,
                                               .meta = &world->meta,
                                               .store = world->store,
                                               .snapshots = world->snapshots,
                                               .flat = flat,
                                               .recovery_ns = 60 * ENV_SECOND_NS };
    world->open = (struct msg_loader_open){ .loader = 1,
                                            .seed = seed,
                                            .num_seeds = SEEDS,
                                            .batch_size = BATCH,
                                            .world = 1,
                                            .seeds = MSG_SEEDS_GIVEN,
                                            .features = MSG_MASK_ALL,
                                            .labels = MSG_MASK_ALL,
                                            .flags = MSG_LOADER_SHUFFLE };
    asker_open(&world->asker, seed, false);
    asker_spawn(&world->asker, &sampler_ops, &world->options);
    const int32_t fanout = 0;
    assert_int_equal(
        asker_open_loader(&world->asker, &world->open, world->seeds, 1, &fanout, GRAPH_ETYPES), 0);
    assert_int_equal(world->asker.reply_kind, MSG_LOADER_OPENED);
}

static void close_world(struct world *world)
{
    asker_close(&world->asker);
    batch_store_close(world->store);
    batch_store_release(world->store);
    snapshots_destroy(world->snapshots);
    graph_meta_fini(&world->meta);
    test_graph_fini(&world->graph);
    free(world->seeds);
}

/* Asks for a batch with that many seeds, of the list in its order. */
static int ask_given(struct world *world, const struct msg_batch_request *asked)
{
    uint64_t first = asked->batch * BATCH < SEEDS ? asked->batch * BATCH : 0;
    int rv = asker_ask(&world->asker, MSG_BATCH_REQUEST, asked, sizeof *asked, world->seeds + first,
                       asked->num_seeds * sizeof *world->seeds);
    if (rv == 0 && world->asker.reply_kind == MSG_ERROR_REPLY)
        rv = ((const struct msg_error_reply *)(const void *)world->asker.reply_head)->code;
    return rv;
}

static int ask(struct world *world, uint64_t loader, uint32_t epoch, uint64_t batch)
{
    const struct msg_batch_request asked = { .loader = loader,
                                             .batch = batch,
                                             .epoch = epoch,
                                             .num_seeds = world->seeds == NULL ? 0 : BATCH };
    return ask_given(world, &asked);
}

/* The list of seeds has its order from the process that lists them: the sampler takes them as they
 * are given, also where one comes again, and as many as the batch has. */
static void batches_take_the_seeds_that_they_are_given(void **state)
{
    (void)state;
    static const uint64_t asked[][2] = { { 0, 0 }, { 0, 6666 }, { 1, 3 }, { 2, 0 }, { 4, 5 } };
    struct world world;
    open_world(&world, 3, false);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        uint32_t epoch = (uint32_t)asked[i][0];
        uint64_t step = asked[i][1], first = step * BATCH;
        uint32_t count = SEEDS - first < BATCH ? (uint32_t)(SEEDS - first) : BATCH;
        batch_store_set_epoch(world.store, 1, epoch, step);
        for (uint32_t wrong = 0; wrong < 2 * BATCH; wrong += 7) {
            const struct msg_batch_request request = {
                .loader = 1, .epoch = epoch, .batch = step, .num_seeds = wrong
            };
            if (wrong != count && first + wrong <= SEEDS)
                assert_int_equal(ask_given(&world, &request), TR_EINVAL);
        }
        const struct msg_batch_request request = {
            .loader = 1, .epoch = epoch, .batch = step, .num_seeds = count
        };
        assert_int_equal(ask_given(&world, &request), 0);
        struct sampled_batch *batch = batch_store_collect(world.store, 1, epoch, step);
        assert_non_null(batch);
        const struct batch_nodes *nodes = &batch->space.nodes[0];
        assert_true(nodes->num_seeds == count && nodes->num_nodes == count);
        assert_memory_equal(nodes->ids, world.seeds + first, count * sizeof *world.seeds);
        sampled_batch_release(batch);
    }
    close_world(&world);
}

/* A batch is under way when the loader is closed, or the node stops. */
static void a_loader_may_close_while_a_batch_is_made(void **state)
{
    (void)state;
    struct seeds seeds = seeds_wanted(20);
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        struct world world;
        const struct msg_loader_close close = { .loader = 1 };
        seeds_note(seed);
        open_world(&world, seed + 1, false);
        world.asker.timeout_ns = 1 + seed * 500; /* gives up, the work goes on */
        int rv = ask(&world, 1, 0, 0);
        assert_true(rv == 0 || rv == TR_ETIMEDOUT);
        world.asker.timeout_ns = 0;
        if (seed % 3 != 0) /* a call that nobody answers tells when it was read */
            assert_int_equal(
                asker_ask(&world.asker, MSG_LOADER_CLOSE, &close, sizeof close, NULL, 0),
                TR_EPEERDOWN);
        if (seed % 3 == 1)
            assert_int_equal(ask(&world, 1, 0, 0), TR_ECLOSED);
        close_world(&world);
    }
}

static void what_cannot_be_served_is_refused(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 1, false);
    assert_int_equal(ask(&world, 2, 0, 0), TR_ECLOSED);
    assert_int_equal(ask(&world, 1, 0, (SEEDS + BATCH - 1) / BATCH), TR_ERANGE);
    const struct msg_loader_open good = world.open;
    struct msg_loader_open bad[] = { good, good, good, good, good };
    const int32_t fanout = 0;
    bad[0].ntype = GRAPH_NTYPES;
    bad[1].batch_size = 0;
    bad[2].rank = 1;
    bad[4].seeds = MSG_SEEDS_LISTED;
    /* The fourth has a spec for a graph of other edge types. */
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bad[i].loader = 10 + i;
        assert_int_equal(asker_open_loader(&world.asker, &bad[i], world.seeds, 1, &fanout,
                                           GRAPH_ETYPES + (i == 3)),
                         0);
        assert_int_equal(world.asker.reply_kind, MSG_ERROR_REPLY);
        assert_int_equal(ask(&world, 10 + i, 0, 0), TR_ECLOSED);
    }
    close_world(&world);
}

/* A mistake that stays is reported, though the sampler is full: after TR_EFULL a proxy would ask
 * again for ever. */
static void a_full_sampler_says_what_is_wrong_with_a_loader(void **state)
{
    (void)state;
    struct world world;
    const int32_t fanout = 0;
    open_world(&world, 1, false);
    struct msg_loader_open open = world.open;
    for (open.loader = 2; open.loader <= SAMPLER_LOADERS_MAX; open.loader++) {
        assert_int_equal(
            asker_open_loader(&world.asker, &open, world.seeds, 1, &fanout, GRAPH_ETYPES), 0);
        assert_int_equal(world.asker.reply_kind, MSG_LOADER_OPENED);
    }
    for (uint32_t wrong = 0; wrong < 3; wrong++) {
        struct msg_loader_open last = open;
        last.batch_size = wrong == 1 ? 0 : open.batch_size;
        last.rank = wrong == 2 ? 1 : open.rank;
        assert_int_equal(
            asker_open_loader(&world.asker, &last, world.seeds, 1, &fanout, GRAPH_ETYPES), 0);
        assert_int_equal(world.asker.reply_kind, MSG_ERROR_REPLY);
        assert_int_equal(
            ((const struct msg_error_reply *)(const void *)world.asker.reply_head)->code,
            wrong > 0 ? TR_EINVAL : TR_EFULL);
    }
    close_world(&world);
}

/* The digests of three batches of a loader; a newer version without edges comes after the first,
 * and takes the place of the old one. */
static void draw_three(struct world *world, uint64_t loader, bool replaced, uint64_t digests[3])
{
    struct msg_loader_open open = world->open;
    const struct sample_term term = SAMPLE_TERM(3, false);
    struct sample_spec spec;
    static const uint64_t empty[NODES + 1];
    static struct graph_part newer[GRAPH_PARTS];
    static struct edge_part edges[GRAPH_PARTS][GRAPH_ETYPES];
    open.loader = loader;
    open.flags = MSG_LOADER_ORIGINAL_IDS;
    /* The last edge type, whose sources are no nodes of this graph, draws nothing. */
    assert_int_equal(sample_spec_alloc(&spec, 2, GRAPH_ETYPES), 0);
    for (uint32_t e = 0; e < GRAPH_ETYPES - 1; e++)
        *sample_spec_term(&spec, 0, e) = *sample_spec_term(&spec, 1, e) = term;
    assert_int_equal(asker_open_spec(&world->asker, &open, world->seeds, &spec), 0);
    sample_spec_free(&spec);
    assert_int_equal(world->asker.reply_kind, MSG_LOADER_OPENED);
    assert_int_equal(batch_store_open_loader(world->store, loader, 1000), 0);
    for (uint32_t b = 0; b < 3; b++) {
        batch_store_set_epoch(world->store, loader, 0, b);
        assert_int_equal(ask(world, loader, 0, b), 0);
        struct sampled_batch *batch = batch_store_collect(world->store, loader, 0, b);
        assert_non_null(batch);
        assert_true(batch->space.batch.blocks[0].edges[0].num_edges > 0);
        assert_int_equal(batch_digest(&batch->space.batch, &digests[b]), 0);
        sampled_batch_release(batch);
        for (uint32_t p = 0; p < GRAPH_PARTS && b == 0 && replaced; p++) {
            newer[p] = world->graph.parts[p];
            newer[p].version++;
            newer[p].edges = edges[p];
            for (uint32_t e = 0; e < GRAPH_ETYPES; e++) {
                edges[p][e] = world->graph.parts[p].edges[e];
                edges[p][e].csc.index = empty;
                edges[p][e].csc.num_edges = 0;
            }
            assert_int_equal(snapshots_add(world->snapshots, &newer[p], NULL, NULL, NULL), 0);
            assert_int_equal(snapshots_retire(world->snapshots, p, newer[p].version - 1), 0);
        }
    }
}

static void a_loader_reads_the_version_it_was_opened_on(void **state)
{
    (void)state;
    uint64_t kept[3], replaced[3];
    struct world world;
    open_world(&world, 1, false);
    draw_three(&world, 2, false, kept);
    draw_three(&world, 3, true, replaced);
    assert_memory_equal(kept, replaced, sizeof kept);
    close_world(&world);
}

#define PIECE 64u

/* The status of the call for the piece at that place, which is compared with what came before. */
static int pull(struct world *world, uint64_t at, uint64_t bytes, unsigned char *batch, bool again)
{
    const struct msg_batch_pull asked = { .loader = 1, .offset = at, .bytes_max = PIECE };
    int rv = asker_ask(&world->asker, MSG_BATCH_PULL, &asked, sizeof asked, NULL, 0);
    if (rv != 0)
        return rv;
    uint64_t count = bytes - at < PIECE ? bytes - at : PIECE;
    assert_int_equal(world->asker.reply_bytes, count);
    if (again)
        assert_memory_equal(batch + at, world->asker.reply, count);
    memcpy(batch + at, world->asker.reply, count);
    return 0;
}

static uint64_t offered(struct world *world)
{
    assert_int_equal(ask(world, 1, 0, 0), 0);
    return ((const struct msg_batch_reply *)(const void *)world->asker.reply_head)->bytes;
}

/* Pieces that a full mailbox refused come after the end of the batch, which is kept for them; and
 * as a whole again for a requester that begins anew in the middle. */
static void a_batch_is_kept_until_all_of_it_was_pulled(void **state)
{
    (void)state;
    struct world world;
    struct batch_store_counts counts;
    open_world(&world, 5, true);
    uint64_t bytes = offered(&world);
    assert_true(bytes > 3 * PIECE);
    unsigned char *batch = calloc(bytes, 1);
    assert_non_null(batch);
    uint64_t end = (bytes - 1) / PIECE * PIECE;
    assert_int_equal(pull(&world, end, bytes, batch, false), 0);
    assert_int_equal(pull(&world, PIECE, bytes, batch, false), 0);
    assert_int_equal(offered(&world), bytes);
    batch_store_counts(world.store, &counts);
    assert_true(counts.made == 1 && counts.taken == 0); /* for whomever: once */
    for (uint64_t at = end; at > 0; at -= PIECE)
        assert_int_equal(pull(&world, at, bytes, batch, at == end || at == PIECE), 0);
    assert_int_equal(pull(&world, 0, bytes, batch, false), 0);
    assert_int_equal(pull(&world, 0, bytes, batch, false), TR_ENOENT);
    free(batch);
    close_world(&world);
}

/* A draw of two seeds from the given number on, with one fanout of 0. */
static int draw(struct world *world, uint64_t number, uint32_t num_seeds)
{
    uint64_t body[64] = { 7, 7 };
    struct sample_spec spec;
    assert_int_equal(sample_spec_alloc(&spec, 1, GRAPH_ETYPES), 0);
    const struct msg_draw_request head = { .draw = number,
                                           .seed = 11,
                                           .num_seeds = num_seeds,
                                           .features = MSG_MASK_ALL,
                                           .labels = MSG_MASK_ALL,
                                           .flags = MSG_LOADER_SHUFFLE | MSG_LOADER_DROP_LAST,
                                           .spec_bytes = (uint32_t)sample_spec_bytes(&spec) };
    size_t bytes = num_seeds * sizeof *body + head.spec_bytes;
    assert_true(bytes <= sizeof body);
    sample_spec_write(&spec, body + num_seeds);
    sample_spec_free(&spec);
    int rv = asker_ask(&world->asker, MSG_DRAW_REQUEST, &head, sizeof head, body, bytes);
    if (rv == 0 && world->asker.reply_kind == MSG_ERROR_REPLY)
        rv = ((const struct msg_error_reply *)(const void *)world->asker.reply_head)->code;
    return rv;
}

static int pull_draw(struct world *world, uint64_t number, uint64_t offset, uint32_t bytes)
{
    const struct msg_batch_pull asked = { .loader = number, .offset = offset, .bytes_max = bytes };
    return asker_ask(&world->asker, MSG_BATCH_PULL, &asked, sizeof asked, NULL, 0);
}

/* The seeds as they stand, whatever the flags of loaders say; and nothing is open afterwards. */
static void a_draw_needs_no_loader(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 5, false);
    assert_int_equal(batch_store_open_loader(world.store, 2, 1000), 0);
    assert_int_equal(draw(&world, 2, 2), 0);
    struct sampled_batch *batch = batch_store_collect(world.store, 2, 0, 0);
    assert_non_null(batch);
    assert_true(batch->space.nodes[0].num_seeds == 2 && batch->space.batch.step_seeds == 2);
    assert_true(batch->space.nodes[0].ids[0] == 7 && batch->space.nodes[0].ids[1] == 7);
    sampled_batch_release(batch);
    assert_int_equal(ask(&world, 2, 0, 0), TR_ECLOSED);
    assert_int_equal(draw(&world, 3, 2), TR_ECANCELED); /* the store expects nothing of it */
    close_world(&world);
}

/* A batch that is pulled is kept until then, or until it is not wanted; the draw goes with it. */
static void a_draw_ends_when_its_batch_was_pulled(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 5, true);
    for (uint64_t number = 2; number < 5; number++) {
        assert_int_equal(draw(&world, number, 2), 0);
        uint64_t bytes =
            ((const struct msg_batch_reply *)(const void *)world.asker.reply_head)->bytes;
        assert_true(bytes > 0);
        assert_int_equal(draw(&world, number, 2), 0); /* repeated: offered again */
        if (number == 3)
            assert_int_equal(pull_draw(&world, number, MSG_PULL_NONE, 0), TR_EPEERDOWN);
        else
            assert_int_equal(pull_draw(&world, number, 0, (uint32_t)bytes), 0);
        assert_int_equal(pull_draw(&world, number, 0, (uint32_t)bytes), TR_ENOENT);
        assert_int_equal(ask(&world, number, 0, 0), TR_ECLOSED);
    }
    close_world(&world);
}

/* 2^33 nodes in four partitions that nobody has loaded, in the order of original IDs, and 2^33
 * edges, all of them in the first partition. */
static void make_huge_book(struct book *book)
{
    static const uint64_t nodes[4] = { UINT64_C(1) << 31, UINT64_C(1) << 31, UINT64_C(1) << 31,
                                       UINT64_C(1) << 31 };
    static const uint64_t edges[4] = { UINT64_C(1) << 33 };
    struct graph_types types = { 0 };
    assert_int_equal(graph_types_add_ntype(&types, "_N", NULL), 0);
    assert_int_equal(graph_types_add_etype(&types, "_N:_E:_N", NULL), 0);
    assert_int_equal(book_init(book, "huge", &types, 4, nodes, edges), 0);
    const struct rank_table all = { .set = RANKS_ALL, .num_ranks = UINT64_C(1) << 33 };
    assert_int_equal(book_add_ranks(book, &all), 0);
    graph_types_fini(&types);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static long peak_kib(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* A sampler of a huge book, with the loader open. */
static void open_huge_world(struct world *world, struct book *book,
                            const struct msg_loader_open *open)
{
    struct node_part nodes = { .num_nodes = 0 };
    struct edge_part edges = { .edge_rank = NULL };
    struct graph_part part = { .types = &book->types, .nodes = &nodes, .edges = &edges };
    const int32_t fanout = 0;
    *world = (struct world){ .asker = { .env = NULL } };
    make_huge_book(book);
    assert_int_equal(graph_meta_init(&world->meta, &part), 0);
    world->store = batch_store_create((size_t)1 << 24);
    assert_int_equal(batch_store_open_loader(world->store, 1, 1000), 0);
    world->options = (struct sampler_options){
        .book = book, .meta = &world->meta, .store = world->store, .recovery_ns = ENV_SECOND_NS
    };
    asker_open(&world->asker, 1, false);
    asker_spawn(&world->asker, &sampler_ops, &world->options);
    assert_int_equal(asker_open_loader(&world->asker, open, NULL, 1, &fanout, 1), 0);
    assert_int_equal(world->asker.reply_kind, MSG_LOADER_OPENED);
}

static void close_huge_world(struct world *world, struct book *book)
{
    asker_close(&world->asker);
    batch_store_close(world->store);
    batch_store_release(world->store);
    graph_meta_fini(&world->meta);
    book_fini(book);
}

/* No list of its nodes, no order of its epoch is ever made. */
static void an_epoch_of_a_huge_set_begins_at_once(void **state)
{
    (void)state;
    struct world world;
    struct book book;
    double begin = cpu_seconds();
    long before = peak_kib();
    const struct msg_loader_open open = { .loader = 1,
                                          .seed = 5,
                                          .num_seeds = UINT64_C(1) << 33,
                                          .seeds = MSG_SEEDS_RANKS,
                                          .batch_size = 1024,
                                          .world = 1,
                                          .features = MSG_MASK_ALL,
                                          .labels = MSG_MASK_ALL,
                                          .flags = MSG_LOADER_SHUFFLE };
    open_huge_world(&world, &book, &open);
    for (uint64_t step = 0; step < 3; step++) {
        const struct epoch_plan plan = {
            .num_seeds = open.num_seeds, .seed = 5, .batch_size = 1024, .world = 1, .shuffle = true
        };
        struct epoch_order order = { 0 };
        batch_store_set_epoch(world.store, 1, 0, step);
        assert_int_equal(ask(&world, 1, 0, step), 0);
        struct sampled_batch *batch = batch_store_collect(world.store, 1, 0, step);
        assert_non_null(batch);
        assert_int_equal(batch->space.nodes[0].num_seeds, 1024);
        assert_int_equal(epoch_order_make(&order, &plan, 0), 0);
        for (uint32_t i = 0; i < 1024; i++)
            assert_int_equal(batch->space.nodes[0].ids[i], epoch_order_at(&order, step * 1024 + i));
        epoch_order_fini(&order);
        sampled_batch_release(batch);
    }
    /* It takes milliseconds, and megabytes that do not depend on the set. */
    assert_true(cpu_seconds() - begin < 1);
    assert_true(peak_kib() - before < 100 * 1024);
    close_huge_world(&world, &book);
}

/* An edge that lies farther into its partition than a row's number counts is refused, and is not
 * taken for another one: those before it are asked for, of a server that is not there. */
static void edges_beyond_the_rows_of_a_partition_are_refused(void **state)
{
    (void)state;
    const uint64_t rows = UINT64_C(1) << 32;
    const struct {
        uint64_t edge;
        int code;
        const char *text;
    } edges[] = {
        { 5, TR_ETIMEDOUT, "partition 0 did not answer" },
        { rows - 1, TR_ETIMEDOUT, "partition 0 did not answer" },
        { rows, TR_ETOOBIG, "edge 4294967296 of type _E" },
        { rows + 5, TR_ETOOBIG, "edge 4294967301 of type _E" },
        { 2 * rows, TR_ERANGE, "edge 8589934592 is not of type _E" },
    };
    const struct msg_loader_open open = { .loader = 1,
                                          .num_seeds = 10,
                                          .seeds = MSG_SEEDS_EDGES_GIVEN,
                                          .batch_size = 1,
                                          .world = 1,
                                          .features = MSG_MASK_ALL,
                                          .labels = MSG_MASK_ALL };
    struct world world;
    struct book book;
    char text[ERROR_TEXT_MAX];
    open_huge_world(&world, &book, &open);
    for (uint64_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        const struct msg_batch_request asked = { .loader = 1, .batch = i, .num_seeds = 1 };
        batch_store_set_epoch(world.store, 1, 0, i);
        assert_int_equal(asker_ask(&world.asker, MSG_BATCH_REQUEST, &asked, sizeof asked,
                                   &edges[i].edge, sizeof edges[i].edge),
                         0);
        assert_int_equal(world.asker.reply_kind, MSG_ERROR_REPLY);
        const struct msg_error_reply *reply = (const void *)world.asker.reply_head;
        snprintf(text, sizeof text, "%.*s", (int)world.asker.reply_bytes,
                 (const char *)world.asker.reply);
        if (reply->code != edges[i].code || strstr(text, edges[i].text) == NULL)
            fail_msg("edge %" PRIu64 ": %d, %s", edges[i].edge, reply->code, text);
    }
    close_huge_world(&world, &book);
}

/* A rank that has none of a step's edges: its batch says all the same that its seeds are edges, and
 * of pairs that they are not. */
static void an_empty_batch_says_whether_its_seeds_are_edges(void **state)
{
    (void)state;
    for (uint32_t edges = 0; edges < 2; edges++) {
        const struct msg_loader_open open = { .loader = 1,
                                              .num_seeds = 1,
                                              .seeds = edges != 0 ? MSG_SEEDS_EDGES_GIVEN
                                                                  : MSG_SEEDS_PAIRS_GIVEN,
                                              .batch_size = 1,
                                              .rank = 0,
                                              .world = 2,
                                              .features = MSG_MASK_ALL,
                                              .labels = MSG_MASK_ALL };
        struct world world;
        struct book book;
        open_huge_world(&world, &book, &open);
        batch_store_set_epoch(world.store, 1, 0, 0);
        assert_int_equal(ask(&world, 1, 0, 0), 0);
        struct sampled_batch *batch = batch_store_collect(world.store, 1, 0, 0);
        assert_non_null(batch);
        const struct batch_pairs *pairs = batch->space.batch.pairs;
        assert_true(batch->space.batch.num_pair_types == 1 && pairs->count == 0);
        assert_true((pairs->edge_ids != NULL) == (edges != 0));
        sampled_batch_release(batch);
        close_huge_world(&world, &book);
    }
}

static void seeds_that_no_loader_serves_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct msg_loader_open open;
        int code;
        const char *text;
    } bad[] = {
        { { .seeds = MSG_SEEDS_EDGES, .etype = 1 },
          TR_ERANGE,
          "edge type 1: types are numbered from 0, and the graph has" },
        { { .seeds = MSG_SEEDS_EDGES_GIVEN, .etype = 9 }, TR_ERANGE, "edge type 9" },
        { { .seeds = MSG_SEEDS_EDGE_RANKS, .etype = 1 },
          TR_ERANGE,
          "edge type 1: types are numbered from 0, and the graph has" },
        { { .seeds = MSG_SEEDS_EDGE_RANKS, .num_seeds = 1 },
          TR_EUNSUPPORTED,
          "partition again to have them" },
        { { .seeds = MSG_SEEDS_PAIRS, .etype = 1 },
          TR_ERANGE,
          "edge type 1: types are numbered from 0, and the graph has" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN, .etype = 3 }, TR_ERANGE, "edge type 3" },
        { { .seeds = MSG_SEEDS_GIVEN, .flags = MSG_LOADER_ENDS_ONCE },
          TR_EINVAL,
          "seeds that are pairs with" },
        { { .seeds = MSG_SEEDS_GIVEN, .num_negatives = 1 },
          TR_EINVAL,
          "seeds that are pairs with" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN, .num_negatives = 1 },
          TR_EINVAL,
          "seeds that are pairs with" },
        { { .seeds = MSG_SEEDS_EDGES_GIVEN, .flags = MSG_LOADER_EXCLUDE_SELF },
          TR_EINVAL,
          "seeds that are pairs with" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE | MSG_LOADER_EXCLUDE_SELF },
          TR_EINVAL,
          "only edges can be left out" },
        { { .seeds = MSG_SEEDS_EDGES_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE | MSG_LOADER_EXCLUDE_REVERSE },
          TR_EINVAL,
          "by rule 0, and these not" },
        { { .seeds = MSG_SEEDS_EDGES_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE | MSG_LOADER_EXCLUDE_SELF | MSG_LOADER_EXCLUDE_REVERSE,
            .reverse_rule = REVERSE_RULES },
          TR_EINVAL,
          "by rule 5; give one of the 5" },
        { { .seeds = MSG_SEEDS_EDGES_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE | MSG_LOADER_EXCLUDE_SELF | MSG_LOADER_EXCLUDE_REVERSE,
            .reverse_etype = 1 },
          TR_ERANGE,
          "reverses of edge type 1" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE | MSG_LOADER_EXCLUDE_REVERSE },
          TR_EINVAL,
          "only edges can be left out" },
        { { .seeds = MSG_SEEDS_EDGES_GIVEN,
            .num_seeds = UINT64_C(1) << 30,
            .batch_size = MSG_EXCLUDED_MAX + 1,
            .flags = MSG_LOADER_ENDS_ONCE | MSG_LOADER_EXCLUDE_SELF },
          TR_ETOOBIG,
          "a batch would leave out 1048577 edges" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE,
            .num_negatives = 1,
            .negative_ranks = 1 },
          TR_ERANGE,
          "no table of ranks 1" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE,
            .num_negatives = 1,
            .negative_ends = 2,
            .negative_source_ranks = 3 },
          0,
          "" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE,
            .num_negatives = 1,
            .negative_ends = 1,
            .negative_source_ranks = 3 },
          TR_ERANGE,
          "no table of ranks 3" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE,
            .num_negatives = 1,
            .negative_ends = 4 },
          TR_EINVAL,
          "ends of kind 4" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE | MSG_LOADER_SHARED_NEGATIVES |
                     MSG_LOADER_NEGATIVES_IN_BATCH,
            .num_negatives = 1 },
          TR_EINVAL,
          "give one of the 4 kinds, and one of the flags" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE | MSG_LOADER_SHARED_NEGATIVES |
                     MSG_LOADER_NEGATIVES_NO_EDGES,
            .num_negatives = 1 },
          TR_EINVAL,
          "a negative that all pairs share may be an edge with one of them" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE | MSG_LOADER_NEGATIVES_IN_BATCH |
                     MSG_LOADER_NEGATIVES_BY_DEGREE,
            .num_negatives = 1 },
          TR_EINVAL,
          "negatives that are ends of other pairs, by degree" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE | MSG_LOADER_NEGATIVES_BY_DEGREE,
            .num_negatives = 1 },
          TR_EUNSUPPORTED,
          "negatives by degree, and the partitions have no runs of edges" },
        { { .seeds = MSG_SEEDS_GIVEN, .negative_ends = 1 },
          TR_EINVAL,
          "seeds that are pairs with" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN,
            .flags = MSG_LOADER_ENDS_ONCE | MSG_LOADER_NEGATIVES_IN_BATCH,
            .num_negatives = 1,
            .negative_ranks = 9 },
          0,
          "" },
        { { .seeds = MSG_SEEDS_PAIRS_GIVEN,
            .num_seeds = 9,
            .batch_size = 3,
            .flags = MSG_LOADER_ENDS_ONCE,
            .num_negatives = (UINT32_C(1) << 26) / 3 + 1 },
          TR_ETOOBIG,
          "3 times 22369622 negatives" },
        { { .seeds = 77 }, TR_EUNSUPPORTED, "seeds of kind 77" },
        { { .seeds = MSG_SEEDS_RANKS, .ranks = 1 }, TR_ERANGE, "no table of ranks 1" },
        { { .seeds = MSG_SEEDS_RANKS, .num_seeds = (UINT64_C(1) << 33) + 1 }, TR_ERANGE, "has 8" },
        { { .seeds = MSG_SEEDS_RANKS, .num_seeds = 2, .first_rank = UINT64_MAX },
          TR_ERANGE,
          "has 8" },
        { { .ntype = 1 }, TR_ERANGE, "node type 1" },
    };
    struct book book;
    make_huge_book(&book);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error error = { 0 };
        assert_int_equal(seed_set_check(&book, &bad[i].open, NULL, 0, &error), bad[i].code);
        if (strstr(error.text, bad[i].text) == NULL)
            fail_msg("%s", error.text);
    }
    const struct msg_loader_open good = { .seeds = MSG_SEEDS_RANKS,
                                          .first_rank = UINT64_C(1) << 32,
                                          .num_seeds = UINT64_C(1) << 32 };
    const struct seed_segment segment = { .seeds = MSG_SEEDS_RANKS };
    assert_int_equal(seed_set_check(&book, &good, NULL, 0, NULL), 0);
    assert_null(seed_segment_table(&book, &segment));
    book_fini(&book);
}

#define SEGMENT(type, kind, first, count)                                             \
    {                                                                                 \
        .ntype = (type), .seeds = (kind), .first_rank = (first), .num_seeds = (count) \
    }

/* Segments of types 0 and 1 in a graph of two; the first is of ranks that are IDs. */
static void sets_of_several_types_are_checked(void **state)
{
    (void)state;
    enum { HUGE = 33 };
    const uint64_t most = BIJECTION_MAX, all = UINT64_C(1) << HUGE;
    static const struct {
        struct msg_seed_segment segments[2];
        uint64_t num_seeds;
        int code;
        const char *text;
    } sets[] = {
        { { SEGMENT(0, MSG_SEEDS_RANKS, 5, 7), SEGMENT(1, MSG_SEEDS_GIVEN, 0, 3) }, 10, 0, "" },
        { { SEGMENT(0, MSG_SEEDS_RANKS, 5, 7), SEGMENT(1, MSG_SEEDS_GIVEN, 0, 3) },
          11,
          TR_EINVAL,
          "11 seeds in all" },
        { { SEGMENT(1, MSG_SEEDS_GIVEN, 0, UINT64_MAX), SEGMENT(0, MSG_SEEDS_GIVEN, 0, 3) },
          2,
          TR_EINVAL,
          "2 seeds in all" },
        { { SEGMENT(1, MSG_SEEDS_GIVEN, 0, 2), SEGMENT(1, MSG_SEEDS_GIVEN, 0, 3) },
          5,
          TR_EINVAL,
          "node type b has two sets" },
        { { SEGMENT(0, MSG_SEEDS_GIVEN, 0, 2), SEGMENT(2, MSG_SEEDS_GIVEN, 0, 3) },
          5,
          TR_ERANGE,
          "node type 2: types are numbered from 0, and the graph has 2" },
        { { SEGMENT(1, MSG_SEEDS_RANKS, 0, 2), SEGMENT(0, MSG_SEEDS_GIVEN, 0, 3) },
          5,
          TR_ERANGE,
          "no table of ranks 0 of node type b" },
        { { SEGMENT(0, MSG_SEEDS_RANKS, UINT64_C(1) << HUGE, 1),
            SEGMENT(1, MSG_SEEDS_GIVEN, 0, 3) },
          4,
          TR_ERANGE,
          "the set has 8589934592" },
        { { SEGMENT(0, MSG_SEEDS_EDGES, 0, 1), SEGMENT(1, MSG_SEEDS_GIVEN, 0, 3) },
          4,
          TR_EUNSUPPORTED,
          "edges or pairs of nodes cannot be mixed" },
        { { SEGMENT(0, MSG_SEEDS_PAIRS, 0, 1), SEGMENT(1, MSG_SEEDS_GIVEN, 0, 3) },
          4,
          TR_EUNSUPPORTED,
          "edges or pairs of nodes cannot be mixed" },
        { { SEGMENT(1, MSG_SEEDS_GIVEN, 0, 3), SEGMENT(0, MSG_SEEDS_PAIRS_GIVEN, 0, 1) },
          4,
          TR_EUNSUPPORTED,
          "edges or pairs of nodes cannot be mixed" },
        { { SEGMENT(0, MSG_SEEDS_SEVERAL, 0, 1), SEGMENT(1, MSG_SEEDS_GIVEN, 0, 3) },
          4,
          TR_EUNSUPPORTED,
          "seeds of kind 5" },
    };
    char a[] = "a", b[] = "b", *names[] = { a, b };
    struct rank_table table = { .set = RANKS_ALL, .ntype = 0, .num_ranks = all };
    struct book book = { .types = { .num_ntypes = 2, .ntypes = names },
                         .num_ranks = 1,
                         .ranks = &table };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct error error = { 0 };
        const struct msg_loader_open open = { .seeds = MSG_SEEDS_SEVERAL,
                                              .num_segments = 2,
                                              .num_seeds = sets[i].num_seeds };
        const size_t bytes = sizeof sets[i].segments;
        assert_int_equal(seed_set_check(&book, &open, sets[i].segments, bytes, &error),
                         sets[i].code);
        if (strstr(error.text, sets[i].text) == NULL)
            fail_msg("%s", error.text);
        assert_int_equal(seed_set_check(&book, &open, sets[i].segments, bytes - 8, NULL),
                         TR_EFORMAT);
    }
    /* As many as a bijection orders, and one more. */
    for (uint64_t more = 0; more < 2; more++) {
        const struct msg_seed_segment segments[] = {
            { .ntype = 1, .seeds = MSG_SEEDS_GIVEN, .num_seeds = most - all + more },
            { .ntype = 0, .seeds = MSG_SEEDS_RANKS, .num_seeds = all },
        };
        const struct msg_loader_open open = { .seeds = MSG_SEEDS_SEVERAL,
                                              .num_segments = 2,
                                              .batch_size = 1,
                                              .world = 1,
                                              .num_seeds = most + more };
        struct epoch_plan plan;
        struct seed_set set;
        assert_int_equal(seed_set_check(&book, &open, segments, sizeof segments, NULL), 0);
        assert_int_equal(epoch_plan_init(&plan, &open, NULL), more == 0 ? 0 : TR_ETOOBIG);
        assert_int_equal(seed_set_init(&set, &open, segments, sizeof segments), 0);
        assert_int_equal(seed_set_find(&set, 0), 0);
        assert_int_equal(seed_set_find(&set, most - all + more - 1), 0);
        assert_int_equal(seed_set_find(&set, most - all + more), 1);
        assert_int_equal(seed_set_find(&set, most + more - 1), 1);
        seed_set_fini(&set);
    }
}

/* Edges of types 0 and 1, of which the second has ends of two types. */
static void edges_of_several_types_are_checked(void **state)
{
    (void)state;
    static const struct {
        struct msg_seed_segment segments[2];
        uint32_t flags;
        int code;
        const char *text;
    } sets[] = {
        { { { .seeds = MSG_SEEDS_EDGES_GIVEN, .num_seeds = 2 },
            { .seeds = MSG_SEEDS_EDGES_REVERSED_GIVEN, .etype = 1, .num_seeds = 3 } },
          0,
          0,
          "" },
        { { { .seeds = MSG_SEEDS_EDGES_GIVEN, .num_seeds = 2 },
            { .seeds = MSG_SEEDS_EDGES_GIVEN, .num_seeds = 3 } },
          0,
          TR_EINVAL,
          "edge type e has two sets" },
        { { { .seeds = MSG_SEEDS_EDGES_GIVEN, .num_seeds = 1 },
            { .seeds = MSG_SEEDS_EDGES_GIVEN, .etype = 1, .num_seeds = 3 } },
          0,
          TR_EINVAL,
          "5 seeds in all" },
        { { { .seeds = MSG_SEEDS_EDGES_GIVEN, .num_seeds = 2 },
            { .seeds = MSG_SEEDS_PAIRS_GIVEN, .etype = 1, .num_seeds = 3 } },
          0,
          TR_EUNSUPPORTED,
          "cannot be mixed" },
        { { { .seeds = MSG_SEEDS_EDGES_GIVEN, .num_seeds = 2 },
            { .seeds = MSG_SEEDS_EDGES_GIVEN, .etype = 2, .num_seeds = 3 } },
          0,
          TR_ERANGE,
          "edge type 2" },
        { { { .seeds = MSG_SEEDS_EDGES_REVERSED_GIVEN,
              .num_seeds = 2,
              .reverse_rule = REVERSE_LISTED },
            { .seeds = MSG_SEEDS_EDGES_GIVEN,
              .etype = 1,
              .num_seeds = 3,
              .reverse_rule = REVERSE_NONE } },
          MSG_LOADER_EXCLUDE_REVERSE,
          0,
          "" },
        { { { .seeds = MSG_SEEDS_EDGES_GIVEN, .num_seeds = 2, .reverse_rule = REVERSE_HALVES },
            { .seeds = MSG_SEEDS_EDGES_GIVEN,
              .etype = 1,
              .num_seeds = 3,
              .reverse_rule = REVERSE_LISTED } },
          MSG_LOADER_EXCLUDE_REVERSE,
          TR_EINVAL,
          "reverses are to come with the edges, and do not" },
        { { { .seeds = MSG_SEEDS_EDGES_GIVEN, .num_seeds = 2 },
            { .seeds = MSG_SEEDS_EDGES_GIVEN, .etype = 1, .num_seeds = 3, .reverse_etype = 1 } },
          MSG_LOADER_EXCLUDE_REVERSE,
          TR_EINVAL,
          "edges of type f do not reverse those of type f" },
    };
    char a[] = "a", b[] = "b", *names[] = { a, b }, e[] = "e", f[] = "f";
    struct graph_etype etypes[] = { { .name = e }, { .name = f, .dst = 1 } };
    uint64_t num_edges[] = { 9, 9 };
    struct book book = {
        .types = { .num_ntypes = 2, .ntypes = names, .num_etypes = 2, .etypes = etypes },
        .num_edges = num_edges
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct error error = { 0 };
        const struct msg_loader_open open = { .seeds = MSG_SEEDS_SEVERAL,
                                              .num_segments = 2,
                                              .num_seeds = 5,
                                              .batch_size = 4,
                                              .flags = MSG_LOADER_ENDS_ONCE |
                                                       MSG_LOADER_EXCLUDE_SELF | sets[i].flags };
        assert_int_equal(
            seed_set_check(&book, &open, sets[i].segments, sizeof sets[i].segments, &error),
            sets[i].code);
        if (strstr(error.text, sets[i].text) == NULL)
            fail_msg("%s", error.text);
    }
}

/* Sets for batches up to the bound; a set that has fewer pairs has no larger batch. */
static void sets_of_pairs_are_checked(void **state)
{
    (void)state;
    struct graph_etype etype = { 0 };
    struct book book = { .types = { .num_etypes = 1, .etypes = &etype } };
    const uint32_t most = MSG_PAIRS_BATCH_MAX;
    const struct {
        uint32_t batch_size;
        uint64_t num_seeds;
        int code;
    } sets[] = {
        { most, UINT64_C(1) << 40, 0 },
        { most + 1, most, 0 },
        { most + 1, most + UINT64_C(1), TR_ETOOBIG },
        { UINT32_MAX, UINT64_C(1) << 40, TR_ETOOBIG },
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const struct msg_loader_open open = { .seeds = MSG_SEEDS_PAIRS_GIVEN,
                                              .batch_size = sets[i].batch_size,
                                              .num_seeds = sets[i].num_seeds };
        struct error error = { 0 };
        assert_int_equal(seed_set_check(&book, &open, NULL, 0, &error), sets[i].code);
        if (sets[i].code != 0 && strstr(error.text, "at most 2147483647") == NULL)
            fail_msg("%s", error.text);
    }
    uint64_t num_edges = 10;
    struct book ranked = {
        .num_parts = 1, .types = book.types, .num_edges = &num_edges, .edge_runs = true
    };
    struct msg_loader_open range = {
        .seeds = MSG_SEEDS_EDGE_RANKS, .batch_size = 1, .num_seeds = 7, .first_rank = 3
    };
    assert_int_equal(seed_set_check(&ranked, &range, NULL, 0, NULL), 0);
    num_edges = (UINT64_C(1) << 32) + 1; /* more than a slice has */
    assert_int_equal(seed_set_check(&ranked, &range, NULL, 0, NULL), TR_EUNSUPPORTED);
    ranked.num_parts = 2;
    assert_int_equal(seed_set_check(&ranked, &range, NULL, 0, NULL), 0);
    num_edges = RANKS_MAX + 1;
    ranked.num_parts = 65536;
    assert_int_equal(seed_set_check(&ranked, &range, NULL, 0, NULL), TR_EUNSUPPORTED);
    num_edges = 10;
    range.first_rank = 4;
    assert_int_equal(seed_set_check(&ranked, &range, NULL, 0, NULL), TR_ERANGE);
    range.first_rank = UINT64_MAX;
    assert_int_equal(seed_set_check(&ranked, &range, NULL, 0, NULL), TR_ERANGE);
    assert_int_equal(seed_kind_given(MSG_SEEDS_PAIRS), MSG_SEEDS_PAIRS_GIVEN);
    assert_int_equal(seed_kind_given(MSG_SEEDS_LISTED), MSG_SEEDS_GIVEN);
    for (uint32_t kind = 0; kind <= MSG_SEEDS_EDGE_RANKS; kind++) {
        bool listed = kind == MSG_SEEDS_PAIRS || kind == MSG_SEEDS_LISTED ||
                      kind == MSG_SEEDS_EDGES;
        assert_true(seed_kind_is_listed(kind) == listed);
        assert_true(!listed || seed_kind_is_given(seed_kind_given(kind)));
    }
}

/* The slice of a rank is the one whose bounds it lies between, also where there are fewer ranks
 * than slices. */
static void every_rank_has_one_slice(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 60; n++)
        for (uint32_t parts = 1; parts < 40; parts++)
            for (uint64_t rank = 0; rank < n; rank++) {
                uint32_t part = ranks_part(n, parts, rank);
                assert_true(part < parts);
                assert_true(ranks_begin(n, parts, part) <= rank);
                assert_true(rank < ranks_begin(n, parts, part + 1));
            }
    assert_int_equal(ranks_part(RANKS_MAX, BOOK_PARTS_MAX, RANKS_MAX - 1), BOOK_PARTS_MAX - 1);
    assert_int_equal(ranks_begin(RANKS_MAX, BOOK_PARTS_MAX, BOOK_PARTS_MAX), RANKS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loader_reads_the_version_it_was_opened_on),
        cmocka_unit_test(every_rank_has_one_slice),
        cmocka_unit_test(seeds_that_no_loader_serves_are_refused),
        cmocka_unit_test(sets_of_several_types_are_checked),
        cmocka_unit_test(edges_of_several_types_are_checked),
        cmocka_unit_test(sets_of_pairs_are_checked),
        cmocka_unit_test(an_epoch_of_a_huge_set_begins_at_once),
        cmocka_unit_test(an_empty_batch_says_whether_its_seeds_are_edges),
        cmocka_unit_test(edges_beyond_the_rows_of_a_partition_are_refused),
        cmocka_unit_test(what_cannot_be_served_is_refused),
        cmocka_unit_test(a_full_sampler_says_what_is_wrong_with_a_loader),
        cmocka_unit_test(a_draw_needs_no_loader),
        cmocka_unit_test(a_draw_ends_when_its_batch_was_pulled),
        cmocka_unit_test(a_batch_is_kept_until_all_of_it_was_pulled),
        cmocka_unit_test(a_loader_may_close_while_a_batch_is_made),
        cmocka_unit_test(batches_take_the_seeds_that_they_are_given),
    };
    return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The words of others are checked before they are used: a sampler's servers that lie, a server's
 * askers that bring more than it may keep waiting. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_locator.h"
#include "actors/data/batch_store.h"
#include "actors/data/sampler.h"
#include "actors/data/server.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "schemas/body.h"
#include "tests/actors/asker.h"
#include "tests/actors/graphs.h"

#define SEEDS 8u

/* A server that answers each row with one neighbour, which may be none. */
struct liar {
    uint64_t neighbour;
};

static int liar_start(struct actor *self, const void *arg)
{
    int rv = 0;
    actor_set_state(self, (void *)(uintptr_t)arg);
    for (uint32_t p = 0; p < GRAPH_PARTS && rv == 0; p++) {
        char name[DIRECTORY_NAME_MAX];
        server_part_name(p, name);
        rv = directory_register(self, name, NULL, NULL);
    }
    return rv;
}

static size_t padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

static size_t put_section(unsigned char *to, const struct msg_sample_section *section,
                          uint64_t neighbour)
{
    bool wide = section->etype == 2; /* see graphs.h */
    size_t at = padded(sizeof(struct msg_sample_answer));
    *(struct msg_sample_answer *)(void *)to = (struct msg_sample_answer){
        .num_rows = section->num_rows,
        .column_bytes = wide ? 8 : 4,
        .num_edges = section->num_rows,
    };
    for (uint32_t i = 0; i < section->num_rows; i++) {
        uint32_t narrow = (uint32_t)neighbour, one = 1;
        memcpy(to + at + i * sizeof one, &one, sizeof one);
        unsigned char *columns = to + at + padded(section->num_rows * sizeof one);
        if (wide)
            memcpy(columns + i * sizeof neighbour, &neighbour, sizeof neighbour);
        else
            memcpy(columns + i * sizeof narrow, &narrow, sizeof narrow);
    }
    return padded(at + padded(section->num_rows * 4) + section->num_rows * (wide ? 8u : 4u));
}

static int liar_receive(struct actor *self, struct message *request)
{
    const struct liar *liar = actor_state(self);
    const struct msg_sample_section *section;
    const uint32_t *rows;
    struct request_walk walk;
    if (request->frame.kind != MSG_SAMPLE_REQUEST) {
        actor_refuse(self, request, TR_EUNSUPPORTED);
        return 0;
    }
    const struct msg_sample_request *asked = message_head(request);
    struct message *reply = message_create(self, MSG_SAMPLE_REPLY);
    unsigned char *body = message_body_alloc(self, reply, 4096);
    memset(body, 0, 4096);
    assert_int_equal(
        sample_walk_begin(&walk, asked, message_body(request), request->frame.body_bytes), 0);
    size_t bytes = 0;
    while (sample_walk_next(&walk, &section, &rows) == 1) {
        assert_true(bytes + section->num_rows * 12 + 64 <= 4096);
        bytes += put_section(body + bytes, section, liar->neighbour);
    }
    reply->frame.body_bytes = bytes;
    *(struct msg_sample_reply *)message_head(
        reply) = (struct msg_sample_reply){ .num_sections = asked->num_sections, .done = 1 };
    return actor_reply(self, request, reply);
}

static const struct actor_ops liar_ops = { "liar", liar_start, liar_receive, NULL, NULL };

static int ask_batch(uint64_t seed, uint64_t neighbour, char *sentence, size_t room)
{
    static struct test_graph graph;
    struct asker asker;
    struct graph_meta meta = { 0 };
    struct liar liar = { neighbour };
    struct address address;
    test_graph_init(&graph, 3, 50, 40);
    assert_int_equal(graph_meta_init(&meta, &graph.parts[0]), 0);
    for (int p = 0; p < GRAPH_PARTS; p++)
        graph_meta_add_part(&meta, &graph.parts[p]);
    struct batch_store *store = batch_store_create(1 << 24);
    const struct sampler_options options = {
        .book = &graph.book, .meta = &meta, .store = store, .recovery_ns = 60 * ENV_SECOND_NS
    };
    asker_open(&asker, 5, true);
    const struct actor_options server = { .ops = &liar_ops, .arg = &liar };
    assert_int_equal(node_spawn(asker.node, &server, &address), 0);
    asker_spawn(&asker, &sampler_ops, &options);
    uint64_t seeds[SEEDS];
    for (uint32_t i = 0; i < SEEDS; i++)
        seeds[i] = seed + i;
    const struct msg_loader_open open = { .loader = 1,
                                          .num_seeds = SEEDS,
                                          .batch_size = SEEDS,
                                          .world = 1,
                                          .ntype = 1,
                                          .seeds = MSG_SEEDS_GIVEN,
                                          .features = MSG_MASK_ALL,
                                          .labels = MSG_MASK_ALL };
    const int32_t fanout = 2;
    assert_int_equal(asker_open_loader(&asker, &open, NULL, 1, &fanout, GRAPH_ETYPES), 0);
    assert_int_equal(asker.reply_kind, MSG_LOADER_OPENED);
    assert_int_equal(batch_store_open_loader(store, 1, 1000), 0);
    const struct msg_batch_request asked = { .loader = 1, .num_seeds = SEEDS };
    assert_int_equal(
        asker_ask(&asker, MSG_BATCH_REQUEST, &asked, sizeof asked, seeds, sizeof seeds), 0);
    int rv = 0;
    sentence[0] = '\0';
    if (asker.reply_kind == MSG_ERROR_REPLY) {
        rv = ((const struct msg_error_reply *)(const void *)asker.reply_head)->code;
        snprintf(sentence, room, "%.*s", (int)asker.reply_bytes, (const char *)asker.reply);
    }
    asker_close(&asker);
    batch_store_close(store);
    batch_store_release(store);
    graph_meta_fini(&meta);
    test_graph_fini(&graph);
    return rv;
}

static void a_neighbour_that_is_no_node_fails_the_batch(void **state)
{
    char sentence[256];
    (void)state;
    assert_int_equal(ask_batch(0, 7, sentence, sizeof sentence), 0);
    assert_int_equal(ask_batch(0, UINT32_MAX, sentence, sizeof sentence), TR_EFORMAT);
    assert_non_null(strstr(sentence, "a neighbour that is no node"));
    /* The first number beyond a type is one too much already: no type has more than 100 nodes. */
    assert_int_equal(ask_batch(0, 100, sentence, sizeof sentence), TR_EFORMAT);
}

/* Also one that would be a node if its upper half were lost. */
static void a_seed_that_is_no_node_fails_the_batch(void **state)
{
    char sentence[256];
    (void)state;
    assert_int_equal(ask_batch(UINT64_C(1) << 34, 7, sentence, sizeof sentence), TR_ERANGE);
    assert_non_null(strstr(sentence, "a seed is no node of type"));
    assert_int_equal(ask_batch(100 - SEEDS + 1, 7, sentence, sizeof sentence), TR_ERANGE);
    assert_int_equal(ask_batch(100 - SEEDS, 7, sentence, sizeof sentence), 0);
}

/* Sends all its requests at once, and counts how they were answered. */
struct flood {
    struct address to;
    uint32_t left, served, refused;
    char sentence[256];
};

#define FLOOD_REQUESTS 20u
#define FLOOD_ROWS 400u

static void flood_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct flood *flood = arg;
    assert_int_equal(status, 0);
    bool failed = reply->frame.kind == MSG_ERROR_REPLY;
    flood->served += !failed;
    flood->refused += failed;
    if (failed) {
        assert_int_equal(((const struct msg_error_reply *)message_head(reply))->code, TR_EFULL);
        snprintf(flood->sentence, sizeof flood->sentence, "%.*s", (int)reply->frame.body_bytes,
                 (const char *)message_body(reply));
    }
    message_release(self, reply);
    if (--flood->left == 0)
        actor_exit(self, 0);
}

static int flood_start(struct actor *self, const void *arg)
{
    struct flood *flood = (struct flood *)(uintptr_t)arg;
    for (flood->left = 0; flood->left < FLOOD_REQUESTS; flood->left++) {
        struct message *request = message_create(self, MSG_SAMPLE_REQUEST);
        struct msg_sample_section *section = message_body_alloc(
            self, request, sizeof *section + FLOOD_ROWS * sizeof(uint32_t));
        *section = (struct msg_sample_section){ .num_rows = FLOOD_ROWS,
                                                .term = SAMPLE_TERM(5, false) };
        uint32_t *rows = (uint32_t *)(section + 1);
        for (uint32_t i = 0; i < FLOOD_ROWS; i++)
            rows[i] = i % 50;
        *(struct msg_sample_request *)message_head(
            request) = (struct msg_sample_request){ .version = 3, .num_sections = 1 };
        int rv = actor_call(self, flood->to, request, actor_now_ns(self) + 600 * ENV_SECOND_NS,
                            flood_answered, flood, NULL);
        if (rv != 0)
            return rv;
    }
    return 0;
}

static int flood_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops flood_ops = { "flood", flood_start, flood_receive, NULL, NULL };

static bool is_over(void *arg)
{
    const struct flood *flood = arg;
    return flood->served + flood->refused == FLOOD_REQUESTS;
}

/* Floods one server again and again, each time when it has answered all: those of the last one. */
static void run_floods(uint32_t rounds, uint64_t waiting_bytes_max, uint32_t slice_edges,
                       struct flood *flood)
{
    static const uint32_t parts[] = { 0, 1 };
    static struct test_graph graph;
    struct snapshots *snapshots;
    struct asker asker;
    struct address address;
    test_graph_init(&graph, 3, 50, 40);
    assert_int_equal(snapshots_create(&graph.book, &snapshots), 0);
    for (int p = 0; p < GRAPH_PARTS; p++)
        assert_int_equal(snapshots_add(snapshots, &graph.parts[p], NULL, NULL, NULL), 0);
    const struct server_options options = { .snapshots = snapshots,
                                            .parts = parts,
                                            .num_parts = 2,
                                            .slice_edges = slice_edges,
                                            .waiting_bytes_max = waiting_bytes_max };
    asker_open(&asker, 9, false);
    asker_spawn(&asker, &server_ops, &options);
    const struct actor_options askers = { .ops = &flood_ops, .arg = flood, .loop = 1 };
    for (uint32_t round = 0; round < rounds; round++) {
        *flood = (struct flood){ .to = asker.to };
        assert_int_equal(node_spawn(asker.node, &askers, &address), 0);
        env_sim_run(asker.env, is_over, flood, env_sim_now_ns(asker.env) + 600 * ENV_SECOND_NS);
        assert_true(is_over(flood));
    }
    asker_close(&asker);
    snapshots_destroy(snapshots);
    test_graph_fini(&graph);
}

static void run_flood(uint64_t waiting_bytes_max, uint32_t slice_edges, struct flood *flood)
{
    run_floods(1, waiting_bytes_max, slice_edges, flood);
}

/* A request that was answered waits no more: the tenth flood finds as much room as the first. */
static void waiting_bodies_are_given_back(void **state)
{
    struct flood first, flood;
    (void)state;
    run_flood(5 * FLOOD_ROWS * sizeof(uint32_t) / 2, 50, &first);
    run_floods(10, 5 * FLOOD_ROWS * sizeof(uint32_t) / 2, 50, &flood);
    assert_true(first.served >= 2 && flood.served >= 2);
}

static void waiting_bodies_have_a_bound(void **state)
{
    struct flood flood;
    (void)state;
    run_flood(0, 50, &flood);
    assert_int_equal(flood.refused, 0);
    /* Room for two and a half. */
    run_flood(5 * FLOOD_ROWS * sizeof(uint32_t) / 2, 50, &flood);
    assert_true(flood.refused > 0);
    assert_true(flood.served >= 2);
    assert_non_null(strstr(flood.sentence, " is busy: "));
    /* Room for none: one at a time is served all the same. */
    run_flood(1, 50, &flood);
    assert_true(flood.served >= 1);
}

/* Two wait where there is room for the bodies of just two, and one where a byte is missing; the
 * refusal says how many, and how much they are. */
static void waiting_bodies_fit_to_the_last_byte(void **state)
{
    const uint64_t body = sizeof(struct msg_sample_section) + FLOOD_ROWS * sizeof(uint32_t);
    (void)state;
    for (uint64_t wait = 1; wait <= 3; wait++) {
        for (uint64_t missing = 0; missing < 2; missing++) {
            struct flood flood;
            char says[96];
            uint64_t fit = wait + 1 - missing;
            run_flood((wait + 1) * body - missing, 50, &flood);
            assert_true(flood.refused > 0 && flood.served >= fit);
            snprintf(says, sizeof says,
                     "server 0 is busy: %" PRIu64 " requests of %" PRIu64 " bytes wait", fit,
                     fit * body);
            if (strstr(flood.sentence, says) == NULL)
                fail_msg("'%s' does not say '%s'", flood.sentence, says);
        }
    }
}

/* Requests of one slice each that arrive together are not all worked on in the turn that finds
 * them: at least one still waits when the next one comes. */
static void a_turn_works_on_one_slice(void **state)
{
    struct flood flood;
    (void)state;
    run_flood(1, 0, &flood);
    assert_true(flood.served >= 1);
    assert_true(flood.refused > 0);
}

/* Counts the questions for several rows, and those for one; it answers none. */
static int silent_receive(struct actor *self, struct message *request)
{
    uint32_t *asked = actor_state(self);
    const struct msg_rows_section *section = message_body(request);
    if (request->frame.kind == MSG_ROWS_REQUEST)
        asked[section->num_rows == 1]++;
    actor_refuse(self, request, TR_EFULL);
    return 0;
}

static const struct actor_ops silent_ops = { "silent", liar_start, silent_receive, NULL, NULL };

/* A sampler that has partition 0 and not 1. It has fewer edges of partition 0 than the book says,
 * so reading fails there: the server of partition 1 was asked before that, and its answer is not
 * waited for. */
static void servers_are_asked_for_seeds_before_what_is_here_is_read(void **state)
{
    (void)state;
    static struct test_graph graph;
    struct asker asker;
    struct graph_meta meta = { 0 };
    struct address address;
    struct snapshots *snapshots;
    uint32_t asked[2] = { 0 };
    test_graph_init(&graph, 3, 50, 40);
    assert_int_equal(graph_meta_init(&meta, &graph.parts[0]), 0);
    for (int p = 0; p < GRAPH_PARTS; p++)
        graph_meta_add_part(&meta, &graph.parts[p]);
    assert_int_equal(snapshots_create(&graph.book, &snapshots), 0);
    struct graph_part here = graph.parts[0];
    struct edge_part edges[GRAPH_ETYPES];
    memcpy(edges, here.edges, sizeof edges);
    const uint64_t num_edges = edges[0].csc.num_edges;
    edges[0].csc.num_edges--;
    here.edges = edges;
    assert_int_equal(snapshots_add(snapshots, &here, NULL, NULL, NULL), 0);
    struct batch_store *store = batch_store_create(1 << 24);
    const struct sampler_options options = { .book = &graph.book,
                                             .meta = &meta,
                                             .store = store,
                                             .snapshots = snapshots,
                                             .recovery_ns = 60 * ENV_SECOND_NS };
    asker_open(&asker, 5, false);
    const struct actor_options server = { .ops = &silent_ops, .arg = asked };
    assert_int_equal(node_spawn(asker.node, &server, &address), 0);
    asker_spawn(&asker, &sampler_ops, &options);
    const struct msg_loader_open open = { .loader = 1,
                                          .num_seeds = 4,
                                          .batch_size = 2,
                                          .world = 1,
                                          .seeds = MSG_SEEDS_EDGES_GIVEN,
                                          .features = MSG_MASK_ALL,
                                          .labels = MSG_MASK_ALL };
    const int32_t fanout = 0;
    assert_int_equal(batch_store_open_loader(store, 1, 1000), 0);
    assert_int_equal(asker_open_loader(&asker, &open, NULL, 1, &fanout, GRAPH_ETYPES), 0);
    assert_int_equal(asker.reply_kind, MSG_LOADER_OPENED);
    const uint64_t elsewhere = graph.book.edge_extents[0][1].begin;
    const uint64_t seeds[2][2] = { { elsewhere, elsewhere }, { elsewhere, num_edges - 1 } };
    for (uint64_t b = 0; b < 2; b++) {
        const struct msg_batch_request request = { .loader = 1, .batch = b, .num_seeds = 2 };
        batch_store_set_epoch(store, 1, 0, b);
        /* The first finds the server, so that the second need not. */
        asker.timeout_ns = b == 0 ? ENV_SECOND_NS : 0;
        int rv = asker_ask(&asker, MSG_BATCH_REQUEST, &request, sizeof request, seeds[b],
                           sizeof seeds[b]);
        assert_true(b == 0 ? rv == TR_ETIMEDOUT : rv == 0 && asker.reply_kind == MSG_ERROR_REPLY);
        assert_true(asked[b] > 0);
    }
    asker_close(&asker);
    batch_store_close(store);
    batch_store_release(store);
    snapshots_destroy(snapshots);
    graph_meta_fini(&meta);
    test_graph_fini(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_are_asked_for_seeds_before_what_is_here_is_read),
        cmocka_unit_test(a_neighbour_that_is_no_node_fails_the_batch),
        cmocka_unit_test(a_seed_that_is_no_node_fails_the_batch),
        cmocka_unit_test(waiting_bodies_have_a_bound),
        cmocka_unit_test(waiting_bodies_are_given_back),
        cmocka_unit_test(waiting_bodies_fit_to_the_last_byte),
        cmocka_unit_test(a_turn_works_on_one_slice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client does whole operations: what it answers is the truth, whatever dies, stalls or finds no
 * memory meanwhile; each operation completes once; what can't be done is said with a sentence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "actors/common/node_sort.h"
#include "actors/common/part_locator.h"
#include "actors/data/client.h"
#include "actors/data/server.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/supervisor.h"
#include "runtime/core/timer.h"
#include "schemas/messages.h"
#include "tests/actors/asker.h"
#include "tests/actors/graphs.h"
#include "tests/schemas/random.h"
#include "tests/seeds.h"

#define ROWS 150u /* of each type of each partition */
#define OPS 10u
#define IDS_MAX 400u
#define MS UINT64_C(1000000)

enum { FEAT, MASK, NONE };

struct world {
    struct test_graph graph;
    struct snapshots *all, *here; /* servers read all, the client what is here */
};

static void open_world(struct world *w, uint64_t seed, uint32_t parts_here)
{
    test_graph_init(&w->graph, seed, ROWS, 5);
    assert_int_equal(snapshots_create(&w->graph.book, &w->all), 0);
    assert_int_equal(snapshots_create(&w->graph.book, &w->here), 0);
    for (uint32_t i = 0; i < GRAPH_PARTS; i++) {
        w->graph.parts[i].version = w->graph.book.node_extents[0][i].version;
        assert_int_equal(snapshots_add(w->all, &w->graph.parts[i], NULL, NULL, NULL), 0);
        if (i < parts_here)
            assert_int_equal(snapshots_add(w->here, &w->graph.parts[i], NULL, NULL, NULL), 0);
    }
}

static void close_world(struct world *w)
{
    snapshots_destroy(w->all);
    snapshots_destroy(w->here);
    test_graph_fini(&w->graph);
}

/* The row of a table as it lies in its partition. */
static const void *true_row(const struct test_graph *graph, uint32_t ntype, uint32_t table,
                            uint64_t id)
{
    const struct node_part *nodes = &graph->parts[id / ROWS].nodes[ntype];
    uint64_t row = id % ROWS;
    switch (table) {
    case MSG_TABLE_ORIGINAL_ID:
        return &nodes->original_ids[row];
    case MSG_TABLE_IN_DEGREE:
        return &nodes->in_degrees[row];
    case MSG_TABLE_OUT_DEGREE:
        return &nodes->out_degrees[row];
    default:
        return (const char *)nodes->features[table].rows + row * nodes->features[table].row_bytes;
    }
}

static uint64_t row_bytes(uint32_t table)
{
    return table == FEAT                    ? 20
           : table == MASK                  ? 1
           : table == NONE                  ? 0
           : table == MSG_TABLE_ORIGINAL_ID ? 8
                                            : 4;
}

/* Through simple calls. */

struct fixture {
    struct world world;
    struct client_options options;
    struct asker asker;
};

static void open_fixture(struct fixture *f, bool codec)
{
    open_world(&f->world, 3, GRAPH_PARTS);
    f->options = (struct client_options){ .book = &f->world.graph.book,
                                          .snapshots = f->world.here };
    asker_open(&f->asker, 3, codec);
}

static void close_fixture(struct fixture *f)
{
    asker_close(&f->asker);
    close_world(&f->world);
}

static int fetch(struct fixture *f, uint32_t table, uint64_t bytes, const uint64_t *ids,
                 uint32_t count, uint64_t timeout_ns)
{
    const struct msg_fetch_request head = {
        .timeout_ns = timeout_ns, .first = 1000, .row_bytes = bytes, .table = table, .count = count
    };
    return asker_ask(&f->asker, MSG_FETCH_REQUEST, &head, sizeof head, ids, count * sizeof *ids);
}

static void assert_failed(const struct fixture *f, int code, const char *words)
{
    assert_int_equal(f->asker.reply_kind, MSG_ERROR_REPLY);
    assert_int_equal(((const struct msg_error_reply *)(const void *)f->asker.reply_head)->code,
                     code);
    f->asker.reply[f->asker.reply_bytes] = '\0';
    if (strstr((const char *)f->asker.reply, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, (const char *)f->asker.reply);
}

static void bad_requests_name_what_is_wrong(void **unused)
{
    (void)unused;
    struct fixture f;
    uint64_t ids[] = { 5, 2 * ROWS, 7 };
    open_fixture(&f, true);
    asker_spawn(&f.asker, &graph_client_ops, &f.options);
    fetch(&f, FEAT, 20, ids, 3, ENV_SECOND_NS);
    assert_failed(&f, TR_ERANGE, "ids[1001] = 300 is no node of type user, which has 300");
    fetch(&f, MSG_TABLE_EDGE_RANKS, 8, (const uint64_t[]){ UINT64_MAX }, 1, ENV_SECOND_NS);
    assert_failed(&f, TR_ERANGE, "is no rank of edges of type");
    fetch(&f, MSG_TABLE_EDGE_RANKS, 8, ids, 1, ENV_SECOND_NS);
    assert_failed(&f, TR_ENOENT, "no runs of edges of type");
    fetch(&f, FEAT, 24, ids, 1, ENV_SECOND_NS);
    assert_failed(&f, TR_EMISMATCH, "rows of 24 bytes asked for, the table has 20");
    fetch(&f, 9, 20, ids, 1, ENV_SECOND_NS);
    assert_failed(&f, TR_ERANGE, "table 9");
    fetch(&f, FEAT, MSG_REPLY_BYTES_MAX, ids, 2, ENV_SECOND_NS);
    assert_failed(&f, TR_ETOOBIG, "ask for at most 1");
    struct msg_nodes_request nodes = { .timeout_ns = ENV_SECOND_NS, .table = FEAT };
    asker_ask(&f.asker, MSG_NODES_REQUEST, &nodes, sizeof nodes, NULL, 0);
    assert_failed(&f, TR_EINVAL, "a mask has one");
    nodes.ntype = 2;
    asker_ask(&f.asker, MSG_NODES_REQUEST, &nodes, sizeof nodes, NULL, 0);
    assert_failed(&f, TR_ERANGE, "node type 2, the graph has 2");
    close_fixture(&f);
}

static void an_account_that_is_too_small_is_named(void **unused)
{
    (void)unused;
    struct fixture f;
    uint64_t ids[50] = { 0 };
    open_fixture(&f, false);
    f.options.bytes_max = 900;
    f.options.piece_bytes = 16;
    asker_spawn(&f.asker, &graph_client_ops, &f.options);
    assert_int_equal(fetch(&f, MASK, 1, ids, 3, ENV_SECOND_NS), 0);
    assert_int_equal(f.asker.reply_kind, MSG_FETCH_REPLY);
    fetch(&f, FEAT, 20, ids, 50, ENV_SECOND_NS);
    assert_failed(&f, TR_ETOOBIG, "account \"client\": ");
    close_fixture(&f);
}

/* An operation that takes all of the account runs, and none that takes a byte more. */
static void the_account_is_used_to_its_last_byte(void **unused)
{
    (void)unused;
    enum { COUNT = 50 };
    uint64_t ids[COUNT];
    size_t wanted = 0;
    for (uint64_t i = 0; i < COUNT; i++)
        ids[i] = i * 5;
    for (int turn = 0; turn < 3; turn++) {
        struct fixture f;
        open_fixture(&f, false);
        f.options.bytes_max = turn == 0 ? 900 : turn == 1 ? wanted - 1 : wanted;
        f.options.piece_bytes = 16;
        asker_spawn(&f.asker, &graph_client_ops, &f.options);
        fetch(&f, FEAT, 20, ids, COUNT, ENV_SECOND_NS);
        if (turn == 2) {
            assert_int_equal(f.asker.reply_kind, MSG_FETCH_REPLY);
            assert_int_equal(f.asker.reply_bytes, COUNT * 20);
            for (uint32_t i = 0; i < COUNT; i++)
                assert_memory_equal(f.asker.reply + i * 20,
                                    true_row(&f.world.graph, 0, FEAT, ids[i]), 20);
        } else {
            assert_failed(&f, TR_ETOOBIG, "bytes wanted, its bound is ");
            const char *number = strstr((const char *)f.asker.reply, ": ");
            assert_non_null(number);
            wanted = strtoull(number + 2, NULL, 10);
        }
        close_fixture(&f);
    }
    /* Rows, what of them is on its way, their places and their IDs, and where each owner's begin. */
    assert_int_equal(wanted, COUNT * 20 + 8 * 20 + COUNT * 16 + (GRAPH_PARTS + 1) * 4);
}

/* As many rows as an answer holds, and IDs as many as are announced. */
static void fetches_are_bounded(void **unused)
{
    (void)unused;
    const struct {
        uint64_t row_bytes;
        uint32_t rows;
    } bounds[] = {
        { 0, CLIENT_FETCH_ROWS_MAX },
        { 1, CLIENT_FETCH_ROWS_MAX },
        { MSG_REPLY_BYTES_MAX / CLIENT_FETCH_ROWS_MAX, CLIENT_FETCH_ROWS_MAX },
        { MSG_REPLY_BYTES_MAX / 2, 2 },
        { MSG_REPLY_BYTES_MAX / 2 + 1, 1 },
        { MSG_REPLY_BYTES_MAX, 1 },
        { MSG_REPLY_BYTES_MAX + UINT64_C(1), 0 },
    };
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        assert_int_equal(client_fetch_rows_max(bounds[i].row_bytes), bounds[i].rows);
    struct fixture f;
    uint64_t *ids = calloc(CLIENT_FETCH_ROWS_MAX + 1, sizeof *ids);
    assert_non_null(ids);
    open_fixture(&f, false);
    asker_spawn(&f.asker, &graph_client_ops, &f.options);
    fetch(&f, MASK, 1, ids, CLIENT_FETCH_ROWS_MAX, 100 * ENV_SECOND_NS);
    assert_int_equal(f.asker.reply_kind, MSG_FETCH_REPLY);
    assert_int_equal(f.asker.reply_bytes, CLIENT_FETCH_ROWS_MAX);
    fetch(&f, MASK, 1, ids, CLIENT_FETCH_ROWS_MAX + 1, ENV_SECOND_NS);
    assert_failed(&f, TR_ETOOBIG, "65537 rows of 1 bytes asked for at once; ask for at most 65536");
    fetch(&f, FEAT, UINT64_MAX, ids, 2, ENV_SECOND_NS);
    assert_failed(&f, TR_ETOOBIG, "ask for at most 0");
    for (uint32_t more = 0; more < 2; more++) {
        const struct msg_fetch_request head = {
            .timeout_ns = ENV_SECOND_NS, .row_bytes = 1, .table = MASK, .count = more ? 4 : 2
        };
        asker_ask(&f.asker, MSG_FETCH_REQUEST, &head, sizeof head, ids, 3 * sizeof *ids);
        assert_failed(&f, TR_EFORMAT, more ? "4 IDs announced, 24" : "2 IDs announced, 24");
    }
    const struct msg_fetch_request head = {
        .timeout_ns = ENV_SECOND_NS, .ntype = GRAPH_NTYPES, .row_bytes = 1, .count = 1
    };
    asker_ask(&f.asker, MSG_FETCH_REQUEST, &head, sizeof head, ids, sizeof *ids);
    assert_failed(&f, TR_ERANGE, "node type 2, the graph has 2");
    close_fixture(&f);
    free(ids);
}

/* A node set grows while it runs: then the account is full. */
static void a_set_that_outgrows_the_account_fails(void **unused)
{
    (void)unused;
    struct fixture f;
    const struct msg_nodes_request nodes = { .timeout_ns = ENV_SECOND_NS, .table = MSG_MASK_ALL };
    open_fixture(&f, false);
    f.options.bytes_max = ((size_t)8 << 20) + 32 * 200; /* lanes, and 200 of 300 nodes */
    asker_spawn(&f.asker, &graph_client_ops, &f.options);
    asker_ask(&f.asker, MSG_NODES_REQUEST, &nodes, sizeof nodes, NULL, 0);
    assert_failed(&f, TR_EFULL, "client");
    close_fixture(&f);
}

/* Nobody answers for the partitions: the sentence comes before the caller gives up. */
static void an_owner_that_never_comes_is_named_at_the_deadline(void **unused)
{
    (void)unused;
    struct fixture f;
    uint64_t ids[] = { ROWS };
    open_fixture(&f, true);
    f.options.snapshots = NULL;
    asker_spawn(&f.asker, &graph_client_ops, &f.options);
    assert_int_equal(fetch(&f, FEAT, 20, ids, 1, 200 * MS), 0);
    assert_failed(&f, TR_ETIMEDOUT, "not done within 200 ms");
    close_fixture(&f);
}

/* Scenarios: several operations at once, while owners die. */

struct operation_case {
    struct scenario *scenario;
    uint32_t number;
    bool nodes, hasty, bad;
    uint32_t ntype, table, count;
    uint64_t ids[IDS_MAX];
    uint64_t begin_ns, timeout_ns;
    struct timer timer;
    uint32_t answers;
};

struct scenario {
    struct world world;
    uint64_t state; /* of draws */
    struct env *env;
    struct kinds kinds;
    struct node *node;
    struct server_options servers[GRAPH_PARTS];
    uint32_t parts[GRAPH_PARTS];
    struct client_options client;
    bool client_dies;
    uint32_t kills;
    struct timer kill_timer;
    struct operation_case ops[OPS];
    uint32_t answered, right, failed;
};

static uint64_t below(struct scenario *s, uint64_t n)
{
    return random_below(&s->state, n);
}

static void check_rows(struct operation_case *op, const struct message *reply)
{
    uint64_t bytes = row_bytes(op->table);
    assert_int_equal(reply->frame.kind, MSG_FETCH_REPLY);
    assert_int_equal(reply->frame.body_bytes, op->count * bytes);
    const unsigned char *rows = message_body(reply);
    for (uint32_t i = 0; i < op->count && bytes > 0; i++)
        assert_memory_equal(rows + i * bytes,
                            true_row(&op->scenario->world.graph, op->ntype, op->table, op->ids[i]),
                            bytes);
}

static void check_nodes(struct operation_case *op, const struct message *reply)
{
    const struct msg_nodes_reply *head = (const void *)reply->head;
    const struct test_graph *graph = &op->scenario->world.graph;
    const uint64_t *ids = message_body(reply), *original = ids + head->count;
    uint64_t want = 0;
    for (uint64_t id = 0; id < 2 * ROWS; id++)
        want += op->table == MSG_MASK_ALL ||
                *(const uint8_t *)true_row(graph, op->ntype, MASK, id) != 0;
    assert_int_equal(reply->frame.kind, MSG_NODES_REPLY);
    assert_int_equal(head->count, want);
    for (uint64_t i = 0; i < want; i++) {
        assert_true(i == 0 || original[i - 1] <= original[i]);
        assert_int_equal(original[i], *(const uint64_t *)true_row(graph, op->ntype,
                                                                  MSG_TABLE_ORIGINAL_ID, ids[i]));
        assert_true(op->table == MSG_MASK_ALL ||
                    *(const uint8_t *)true_row(graph, op->ntype, MASK, ids[i]) != 0);
    }
}

static bool may_fail(const struct operation_case *op, int code)
{
    return (op->bad && code == TR_ERANGE) || (op->hasty && code == TR_ETIMEDOUT) ||
           (op->scenario->client_dies && code == TR_EPEERDOWN) ||
           (op->nodes && code == TR_EFULL && op->scenario->client.bytes_max != 0);
}

static void issue(struct actor *self, void *arg);

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct operation_case *op = arg;
    struct error error = { 0 };
    int code = status == 0 ? error_reply_read(reply, &error) : status;
    op->answers++;
    op->scenario->answered++;
    assert_int_equal(op->answers, 1);
    if (code != 0 && !may_fail(op, code))
        fail_msg("operation %u: %s: %s", op->number, tr_error_name(code), error.text);
    if (code == 0) {
        assert_false(op->bad);
        if (op->nodes)
            check_nodes(op, reply);
        else
            check_rows(op, reply);
    }
    op->scenario->right += code == 0;
    op->scenario->failed += code != 0;
    message_release(self, reply);
}

static struct message *make_nodes(struct actor *self, const struct operation_case *op)
{
    struct message *request = message_create(self, MSG_NODES_REQUEST);
    if (request != NULL)
        *(struct msg_nodes_request *)message_head(request) = (struct msg_nodes_request){
            op->timeout_ns,
            op->ntype,
            op->table,
        };
    return request;
}

static struct message *make_fetch(struct actor *self, const struct operation_case *op)
{
    struct message *request = message_create(self, MSG_FETCH_REQUEST);
    void *ids = request == NULL ? NULL
                                : message_body_alloc(self, request, op->count * sizeof *op->ids);
    if (ids == NULL) {
        message_release(self, request);
        return NULL;
    }
    memcpy(ids, op->ids, op->count * sizeof *op->ids);
    *(struct msg_fetch_request *)message_head(request) = (struct msg_fetch_request){
        .timeout_ns = op->timeout_ns,
        .row_bytes = row_bytes(op->table),
        .ntype = op->ntype,
        .table = op->table,
        .count = op->count,
    };
    return request;
}

static void issue_later(struct actor *self, struct operation_case *op)
{
    timer_start(self, &op->timer, actor_now_ns(self) + MS, issue, op);
}

static void found(struct actor *self, void *arg, int status, struct address client)
{
    struct operation_case *op = arg;
    if (status == TR_ECANCELED)
        return;
    struct message *request = status != 0 ? NULL
                              : op->nodes ? make_nodes(self, op)
                                          : make_fetch(self, op);
    if (request == NULL ||
        actor_call(self, client, request, actor_now_ns(self) + 200 * ENV_SECOND_NS, answered, op,
                   NULL) != 0)
        issue_later(self, op);
}

static void issue(struct actor *self, void *arg)
{
    if (directory_wait(self, CLIENT_NAME, actor_now_ns(self) + ENV_SECOND_NS, found, arg) != 0)
        issue_later(self, arg);
}

static void kill_one(struct actor *self, void *arg);

static void kill_later(struct actor *self, struct scenario *s)
{
    if (s->kills > 0 && s->kills-- > 0)
        timer_start(self, &s->kill_timer, actor_now_ns(self) + below(s, 8 * MS), kill_one, s);
}

static void kill_found(struct actor *self, void *arg, int status, struct address who)
{
    if (status == TR_ECANCELED)
        return;
    if (status == 0)
        actor_kill(self, who, TR_EIO);
    kill_later(self, arg);
}

static void kill_one(struct actor *self, void *arg)
{
    struct scenario *s = arg;
    char name[DIRECTORY_NAME_MAX];
    if (s->client_dies && below(s, 4) == 0)
        snprintf(name, sizeof name, "%s", CLIENT_NAME);
    else
        server_part_name((uint32_t)below(s, GRAPH_PARTS), name);
    if (directory_lookup(self, name, kill_found, s) != 0)
        kill_later(self, s);
}

static int start_driver(struct actor *self, const void *arg)
{
    struct scenario *s = (struct scenario *)(uintptr_t)arg;
    for (uint32_t i = 0; i < OPS; i++)
        timer_start(self, &s->ops[i].timer, actor_now_ns(self) + s->ops[i].begin_ns, issue,
                    &s->ops[i]);
    kill_later(self, s);
    return 0;
}

static int receive_nothing(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops driver_ops = { .name = "driver",
                                             .start = start_driver,
                                             .receive = receive_nothing };

static int spawn(struct actor *self, const struct actor_ops *ops, const void *arg, uint32_t loop)
{
    const struct actor_options options = {
        .ops = ops, .arg = arg, .loop = loop, .restart = ACTOR_RESTART_ON_FAILURE
    };
    struct address address;
    return actor_spawn(self, &options, &address);
}

static int start_house(struct actor *self, const void *arg)
{
    const struct scenario *s = arg;
    const struct supervisor_options restarts = { SUPERVISOR_ONE_FOR_ONE, 60, MS };
    int rv = actor_supervise(self, &restarts);
    for (uint32_t i = 0; i < GRAPH_PARTS && rv == 0; i++)
        rv = spawn(self, &server_ops, &s->servers[i], i);
    return rv != 0 ? rv : spawn(self, &graph_client_ops, &s->client, 2);
}

static const struct actor_ops house_ops = { .name = "house",
                                            .start = start_house,
                                            .receive = receive_nothing };

static void draw_operation(struct scenario *s, struct operation_case *op, uint32_t number)
{
    static const uint32_t tables[] = {
        FEAT, MASK, NONE, MSG_TABLE_ORIGINAL_ID, MSG_TABLE_IN_DEGREE, MSG_TABLE_OUT_DEGREE
    };
    op->scenario = s;
    op->number = number + 1;
    op->nodes = below(s, 3) == 0;
    op->hasty = below(s, 3) == 0;
    op->timeout_ns = op->hasty ? 1 + below(s, 3 * MS) : 100 * ENV_SECOND_NS;
    op->ntype = (uint32_t)below(s, GRAPH_NTYPES);
    op->table = op->nodes ? (below(s, 2) == 0 ? MSG_MASK_ALL : MASK) : tables[below(s, 6)];
    op->count = below(s, 5) == 0 ? 0 : (uint32_t)below(s, IDS_MAX);
    for (uint32_t i = 0; i < op->count; i++)
        op->ids[i] = below(s, 2 * ROWS);
    op->bad = !op->nodes && op->count > 0 && below(s, 8) == 0;
    if (op->bad)
        op->ids[below(s, op->count)] = 2 * ROWS + below(s, 1000);
    op->begin_ns = below(s, 30 * MS);
}

static void open_scenario(struct scenario *s, uint64_t seed)
{
    static const size_t pieces[] = { 1, 64, 1000, 0 };
    s->state = seed;
    open_world(&s->world, seed, (uint32_t)below(s, GRAPH_PARTS + 1));
    assert_int_equal(env_sim_create(seed, NULL, &s->env), 0);
    assert_int_equal(messages_register(&s->kinds, NULL), 0);
    struct node_options options = {
        .id = 1, .loops = 3, .kinds = &s->kinds, .codec = below(s, 2) == 0
    };
    assert_int_equal(node_create(s->env, &options, &s->node, NULL), 0);
    for (uint32_t i = 0; i < GRAPH_PARTS; i++) {
        s->parts[i] = i;
        s->servers[i] = (struct server_options){ .snapshots = s->world.all,
                                                 .parts = &s->parts[i],
                                                 .num_parts = 1,
                                                 .rank = i,
                                                 .named = true };
    }
    s->client = (struct client_options){
        .book = &s->world.graph.book,
        .snapshots = s->world.here,
        .call_ns = below(s, 2) == 0 ? 0 : 2 * MS,
        .piece_bytes = pieces[below(s, 4)],
        .running_max = (uint32_t)below(s, 4),
        .bytes_max = below(s, 3) == 0 ? ((size_t)8 << 20) + 40000 : 0,
    };
    s->client_dies = below(s, 4) == 0;
    s->kills = (uint32_t)below(s, 12);
    for (uint32_t i = 0; i < OPS; i++)
        draw_operation(s, &s->ops[i], i);
}

static bool all_answered(void *arg)
{
    return ((struct scenario *)arg)->answered == OPS;
}

static void run(struct scenario *s)
{
    struct actor_options house = { .ops = &house_ops, .arg = s };
    struct actor_options driver = { .ops = &driver_ops, .arg = s, .loop = 1 };
    struct address address;
    uint32_t fail_ppm = below(s, 2) == 0 ? 0 : (uint32_t)below(s, 60000);
    assert_int_equal(node_spawn(s->node, &house, &address), 0);
    assert_int_equal(node_start(s->node), 0);
    env_sim_run(s->env, NULL, NULL, env_sim_now_ns(s->env) + 10 * MS);
    assert_int_equal(node_spawn(s->node, &driver, &address), 0);
    env_sim_set_alloc_fail(s->env, fail_ppm);
    assert_int_equal(
        env_sim_run(s->env, all_answered, s, env_sim_now_ns(s->env) + 300 * ENV_SECOND_NS), 0);
    env_sim_set_alloc_fail(s->env, 0);
    env_sim_run(s->env, NULL, NULL, env_sim_now_ns(s->env) + ENV_SECOND_NS);
    assert_int_equal(s->answered, OPS); /* none twice */
}

static void close_scenario(struct scenario *s)
{
    struct node_counters counters;
    node_stop(s->node, env_sim_now_ns(s->env) + 10 * ENV_SECOND_NS);
    env_sim_run(s->env, NULL, NULL, env_sim_now_ns(s->env) + 60 * ENV_SECOND_NS);
    assert_true(node_is_stopped(s->node));
    node_counters(s->node, &counters);
    assert_int_equal(counters.messages_live, 0);
    assert_int_equal(counters.buffers_live, 0);
    assert_int_equal(counters.calls_open, 0);
    node_destroy(s->node);
    env_destroy(s->env);
    close_world(&s->world);
}

static void operations_tell_the_truth_whatever_fails(void **unused)
{
    (void)unused;
    struct seeds seeds = seeds_wanted(150);
    uint32_t right = 0, failed = 0;
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        struct scenario *s = calloc(1, sizeof *s);
        assert_non_null(s);
        seeds_note(seed);
        open_scenario(s, seed);
        run(s);
        right += s->right;
        failed += s->failed;
        close_scenario(s);
        free(s);
    }
    assert_true(seeds.end - seeds.begin < 100 || (right > 500 && failed > 100));
}

static void pieces_of_a_sort_give_the_sorted_whole(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    for (uint32_t round = 0; round < 300; round++) {
        struct node_pair a[100], b[100];
        size_t count = random_below(&state, 101);
        uint64_t spread = 1 + random_below(&state, 200), sum = 0;
        for (size_t i = 0; i < count; i++) {
            uint64_t base = random_below(&state, 8) == 0 ? 0 : i;
            a[i] = (struct node_pair){ base + random_below(&state, spread), i };
            sum += i;
        }
        struct node_sort sort = { .from = a, .to = b, .count = count };
        while (!node_sort_step(&sort))
            continue;
        for (size_t i = 0; i < count; i++) {
            assert_true(i == 0 || sort.from[i - 1].original <= sort.from[i].original);
            sum -= sort.from[i].global;
        }
        assert_int_equal(sum, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_requests_name_what_is_wrong),
        cmocka_unit_test(an_account_that_is_too_small_is_named),
        cmocka_unit_test(a_set_that_outgrows_the_account_fails),
        cmocka_unit_test(the_account_is_used_to_its_last_byte),
        cmocka_unit_test(fetches_are_bounded),
        cmocka_unit_test(an_owner_that_never_comes_is_named_at_the_deadline),
        cmocka_unit_test(pieces_of_a_sort_give_the_sorted_whole),
        cmocka_unit_test(operations_tell_the_truth_whatever_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

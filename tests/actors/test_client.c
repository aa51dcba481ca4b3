/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client does whole operations: what it answers is the truth, whatever dies, stalls or finds no
 * memory meanwhile; each operation completes once; what can't be done is said with a message.
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
#include "schemas/body.h"
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
    assert_failed(&f, TR_ERANGE,
                  "ids[1001] = 300: no node of type user has this ID; it must be below 300");
    fetch(&f, MSG_TABLE_EDGE_RANKS, 8, (const uint64_t[]){ UINT64_MAX }, 1, ENV_SECOND_NS);
    assert_failed(&f, TR_ERANGE, "no rank of edges of type");
    fetch(&f, MSG_TABLE_EDGE_RANKS, 8, ids, 1, ENV_SECOND_NS);
    assert_failed(&f, TR_ENOENT, "no runs of edges of type");
    fetch(&f, MSG_TABLE_EDGES, 8, (const uint64_t[]){ 0, UINT64_MAX }, 2, ENV_SECOND_NS);
    assert_failed(&f, TR_ERANGE, "ids[1001] = 18446744073709551615: no edge of type");
    fetch(&f, MSG_TABLE_EDGES, 8, ids, 1, ENV_SECOND_NS);
    assert_failed(&f, TR_ERANGE, "table 0");
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
    assert_failed(&f, TR_ERANGE, "node type 2: types are numbered from 0, and the graph has 2");
    close_fixture(&f);
}

/* A row of edges is counted with 32 bits: one that lies farther into its partition is not taken for
 * another. */
static void rows_of_edges_beyond_counting_are_named(void **unused)
{
    (void)unused;
    const uint64_t most = UINT64_C(1) << 32, first = 7;
    struct fixture f;
    open_fixture(&f, false);
    struct book *book = &f.world.graph.book;
    struct extent *extents = book->edge_extents[0];
    book->num_edges[0] = 2 * most;
    extents[0].begin = 0;
    extents[0].end = extents[1].begin = first;
    extents[1].end = 2 * most;
    asker_spawn(&f.asker, &graph_client_ops, &f.options);
    fetch(&f, MSG_TABLE_EDGES, 8, (const uint64_t[]){ 0, first + most }, 2, ENV_SECOND_NS);
    assert_failed(&f, TR_ETOOBIG, "ids[1001] = 4294967303 of type");
    assert_failed(&f, TR_ETOOBIG, "beyond the first 2^32 edges of its partition");
    /* The last one that is counted is asked for, where nobody has such a table. */
    fetch(&f, MSG_TABLE_EDGES, 8, (const uint64_t[]){ first + most - 1 }, 1, ENV_SECOND_NS);
    assert_failed(&f, TR_ERANGE, "table 0");
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
            assert_failed(&f, TR_ETOOBIG, " bytes are needed, more than its bound of ");
            const char *number = strstr((const char *)f.asker.reply, ": ");
            assert_non_null(number);
            wanted = strtoull(number + 2, NULL, 10);
        }
        close_fixture(&f);
    }
    /* Rows, what of them is on its way, their places and their IDs, and where each owner's
     * begin. */
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
    assert_failed(&f, TR_ERANGE, "node type 2: types are numbered from 0, and the graph has 2");
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

/* Nobody answers for the partitions: the message comes before the caller gives up. */
static void an_owner_that_never_comes_is_named_at_the_deadline(void **unused)
{
    (void)unused;
    struct fixture f;
    uint64_t ids[] = { ROWS };
    open_fixture(&f, true);
    f.options.snapshots = NULL;
    asker_spawn(&f.asker, &graph_client_ops, &f.options);
    assert_int_equal(fetch(&f, FEAT, 20, ids, 1, 200 * MS), 0);
    assert_failed(&f, TR_ETIMEDOUT, "gave up after 200 ms");
    close_fixture(&f);
}

/* A server of all partitions that notes what it is asked, and answers with the truth, a few rows
 * at a time, or with something else. */
enum lie {
    NO_LIE,
    OTHER_KIND,
    TOO_SHORT,
    TOO_LONG,
    STANDS_STILL,
    GOES_BACK,
    SAYS_NOTHING /* for ever */
};

#define TOLD_MAX 256
#define HELD_MAX (2 * CLIENT_WAITING_MAX)
#define ROWS_A_TELL 3u
#define MAX_TOLD_ROWS 16u

struct told {
    uint32_t kind;
    struct msg_select_request select;
    struct msg_rows_request rows;
    struct msg_rows_section section;
    uint32_t row[IDS_MAX];
};

struct teller {
    const struct test_graph *graph;
    enum lie lie;
    uint32_t lie_part, lie_from; /* the first request of the partition that is lied to */
    uint32_t asked[GRAPH_PARTS];
    struct told told[TOLD_MAX];
    uint32_t num_told;
    struct message *held[HELD_MAX];
    uint32_t num_held;
    struct sparse_form form; /* of the table, for requests that take sparse rows */
};

static int start_teller(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    for (uint32_t p = 0; p < GRAPH_PARTS; p++) {
        char name[DIRECTORY_NAME_MAX];
        server_part_name(p, name);
        assert_int_equal(directory_register(self, name, NULL, NULL), 0);
    }
    return 0;
}

static struct message *tell_selection(struct actor *self, const struct teller *teller,
                                      const struct msg_select_request *asked, enum lie lie)
{
    const struct node_part *nodes = &teller->graph->parts[asked->part].nodes[asked->ntype];
    uint32_t left = (uint32_t)(ROWS - asked->begin),
             count = left < ROWS_A_TELL ? left : ROWS_A_TELL;
    /* Every other answer has no node in it, as where a mask has none. */
    bool empty = asked->begin / ROWS_A_TELL % 2 != 0 && lie == NO_LIE;
    struct message *reply = message_create(self, MSG_SELECT_REPLY);
    uint32_t told = empty ? 0 : count;
    uint64_t bytes = told * UINT64_C(16) + (lie == TOO_LONG ? 8 : lie == TOO_SHORT ? -8 : 0);
    uint64_t *body = bytes == 0 ? NULL : message_body_alloc(self, reply, bytes);
    for (uint32_t i = 0; i < told && lie != TOO_SHORT; i++) {
        body[i] = nodes->global_begin + asked->begin + i;
        body[told + i] = nodes->original_ids[asked->begin + i];
    }
    uint64_t next = asked->begin + count;
    *(struct msg_select_reply *)message_head(reply) = (struct msg_select_reply){
        .next = lie == STANDS_STILL ? asked->begin
                : lie == GOES_BACK  ? asked->begin - 1
                                    : next,
        .count = told,
        .done = next == ROWS,
    };
    return reply;
}

/* The rows of 5 floats as their table would give them if it were kept sparse. */
static struct message *tell_sparse(struct actor *self, const struct teller *teller,
                                   const struct msg_rows_request *asked, const struct told *told)
{
    uint32_t count = told->section.num_rows, num_elements = 0, counts[MAX_TOLD_ROWS] = { 0 };
    uint32_t columns[5 * MAX_TOLD_ROWS];
    float values[5 * MAX_TOLD_ROWS];
    struct sparse_layout layout;
    assert_in_range(count, 1, MAX_TOLD_ROWS);
    for (uint32_t i = 0; i < count; i++) {
        const float *row = true_row(teller->graph, told->section.ntype, FEAT,
                                    asked->part * UINT64_C(150) + told->row[i]);
        for (uint32_t c = 0; c < 5; c++) {
            if (row[c] == 0)
                continue;
            columns[num_elements] = c;
            values[num_elements++] = row[c];
            counts[i]++;
        }
    }
    assert_int_equal(sparse_layout_make(&layout, 0, count, num_elements, &teller->form), 0);
    assert_false(layout.dense);
    struct message *reply = message_create(self, MSG_ROWS_REPLY);
    char *body = message_body_alloc(self, reply, layout.end);
    const struct msg_sparse_rows head = { num_elements, false, true };
    memset(body, 0, layout.end);
    memcpy(body + layout.head, &head, sizeof head);
    memcpy(body + layout.counts, counts, count * sizeof *counts);
    memcpy(body + layout.columns, columns, num_elements * sizeof *columns);
    memcpy(body + layout.values, values, num_elements * sizeof *values);
    ((struct msg_rows_reply *)message_head(reply))->num_sections = 1;
    return reply;
}

static struct message *tell_rows(struct actor *self, const struct teller *teller,
                                 const struct msg_rows_request *asked, const struct told *told,
                                 enum lie lie)
{
    struct message *reply = message_create(self, MSG_ROWS_REPLY);
    uint64_t bytes = told->section.num_rows * UINT64_C(20);
    char *body = message_body_alloc(self, reply,
                                    bytes + (lie == TOO_LONG    ? 4
                                             : lie == TOO_SHORT ? -4
                                                                : 0));
    for (uint32_t i = 0; i < told->section.num_rows && lie != TOO_SHORT; i++)
        memcpy(body + i * UINT64_C(20),
               true_row(teller->graph, told->section.ntype, FEAT,
                        asked->part * UINT64_C(150) + told->row[i]),
               20);
    ((struct msg_rows_reply *)message_head(reply))->num_sections = 1;
    return reply;
}

static int tell(struct actor *self, struct message *request)
{
    struct teller *teller = actor_state(self);
    struct message *reply;
    if (teller->lie == SAYS_NOTHING) {
        assert_true(teller->num_held < HELD_MAX);
        teller->held[teller->num_held++] = request;
        return 0;
    }
    assert_true(teller->num_told < TOLD_MAX);
    struct told *told = &teller->told[teller->num_told++];
    bool selects = request->frame.kind == MSG_SELECT_REQUEST;
    told->kind = request->frame.kind;
    if (selects) {
        memcpy(&told->select, message_head(request), sizeof told->select);
    } else {
        memcpy(&told->rows, message_head(request), sizeof told->rows);
        memcpy(&told->section, message_body(request), sizeof told->section);
        assert_int_equal(request->frame.body_bytes,
                         sizeof told->section + told->section.num_rows * sizeof *told->row);
        memcpy(told->row, (const char *)message_body(request) + sizeof told->section,
               told->section.num_rows * sizeof *told->row);
    }
    uint32_t part = selects ? told->select.part : told->rows.part;
    bool lies = part == teller->lie_part && teller->asked[part]++ >= teller->lie_from;
    enum lie lie = lies ? teller->lie : NO_LIE;
    if (lie == OTHER_KIND)
        reply = message_create(self, MSG_NODES_REPLY);
    else if (selects)
        reply = tell_selection(self, teller, &told->select, lie);
    else if (told->rows.sparse)
        reply = tell_sparse(self, teller, &told->rows, told);
    else
        reply = tell_rows(self, teller, &told->rows, told, lie);
    actor_reply(self, request, reply);
    return 0;
}

static void release_held(struct actor *self)
{
    struct teller *teller = actor_state(self);
    while (teller->num_held > 0)
        message_release(self, teller->held[--teller->num_held]);
}

static const struct actor_ops teller_ops = {
    .name = "teller", .start = start_teller, .receive = tell, .fini = release_held
};

/* A client that has no partition here, of a graph whose versions all differ. */
static struct teller *open_teller(struct fixture *f, size_t piece_bytes)
{
    struct teller *teller = calloc(1, sizeof *teller);
    assert_non_null(teller);
    open_fixture(f, false); /* a codec would refuse some lies */
    for (uint32_t t = 0; t < GRAPH_NTYPES; t++)
        for (uint32_t p = 0; p < GRAPH_PARTS; p++)
            f->world.graph.book.node_extents[t][p].version = 20 + 2 * t + p;
    teller->graph = &f->world.graph;
    f->options.snapshots = NULL;
    f->options.piece_bytes = piece_bytes;
    asker_spawn(&f->asker, &teller_ops, teller);
    asker_spawn(&f->asker, &graph_client_ops, &f->options);
    return teller;
}

static void close_teller(struct fixture *f, struct teller *teller)
{
    close_fixture(f);
    free(teller);
}

static void ask_nodes(struct fixture *f, uint32_t ntype, uint32_t table)
{
    const struct msg_nodes_request head = { .timeout_ns = ENV_SECOND_NS,
                                            .ntype = ntype,
                                            .table = table };
    assert_int_equal(asker_ask(&f->asker, MSG_NODES_REQUEST, &head, sizeof head, NULL, 0), 0);
}

/* Each partition is asked for the type and the table, from where its last answer ended. */
static void a_set_is_asked_for_piece_by_piece(void **unused)
{
    (void)unused;
    for (uint32_t ntype = 0; ntype < GRAPH_NTYPES; ntype++) {
        struct fixture f;
        struct teller *teller = open_teller(&f, 16 * 7 + 15);
        uint64_t begins[GRAPH_PARTS] = { 0 }, wanted = 0, original_before = 0;
        ask_nodes(&f, ntype, MASK);
        for (uint32_t i = 0; i < teller->num_told; i++) {
            const struct msg_select_request *asked = &teller->told[i].select;
            assert_int_equal(teller->told[i].kind, MSG_SELECT_REQUEST);
            assert_in_range(asked->part, 0, GRAPH_PARTS - 1);
            assert_int_equal(asked->version, 20 + 2 * ntype + asked->part);
            assert_int_equal(asked->ntype, ntype);
            assert_int_equal(asked->table, MASK);
            assert_int_equal(asked->rows_max, 7);
            assert_int_equal(asked->begin, begins[asked->part]);
            begins[asked->part] += ROWS_A_TELL;
        }
        assert_int_equal(begins[0], ROWS);
        assert_int_equal(begins[1], ROWS);
        for (uint64_t row = 0; row < ROWS; row++)
            wanted += 2 * (row / ROWS_A_TELL % 2 == 0);
        assert_int_equal(f.asker.reply_kind, MSG_NODES_REPLY);
        const struct msg_nodes_reply *head = (const void *)f.asker.reply_head;
        const uint64_t *ids = (const void *)f.asker.reply, *originals = ids + wanted;
        assert_int_equal(head->count, wanted);
        assert_int_equal(f.asker.reply_bytes, wanted * 16);
        for (uint64_t i = 0; i < wanted; i++) {
            assert_int_equal(ids[i] % ROWS / ROWS_A_TELL % 2, 0);
            assert_int_equal(
                originals[i],
                *(const uint64_t *)true_row(&f.world.graph, ntype, MSG_TABLE_ORIGINAL_ID, ids[i]));
            assert_true(i == 0 || originals[i] >= original_before);
            original_before = originals[i];
        }
        close_teller(&f, teller);
    }
}

/* As many nodes as a piece holds, one at least, and never more than a lane is charged for. */
static void pieces_of_sets_are_bounded(void **unused)
{
    (void)unused;
    static const struct {
        size_t piece_bytes;
        uint32_t rows_max;
    } cases[] = { { 1, 1 },
                  { 15, 1 },
                  { 16, 1 },
                  { 31, 1 },
                  { 32, 2 },
                  { 160, 10 },
                  { 16 * 65535, 65535 },
                  { 16 * 65536 - 1, 65535 },
                  { 16 * 65536, 65536 },
                  { 16 * 65537, 65536 },
                  { 0, 65536 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        struct teller *teller = open_teller(&f, cases[i].piece_bytes);
        ask_nodes(&f, 0, MSG_MASK_ALL);
        assert_int_equal(f.asker.reply_kind, MSG_NODES_REPLY);
        assert_int_equal(teller->told[0].select.rows_max, cases[i].rows_max);
        assert_int_equal(teller->told[0].select.table, MSG_MASK_ALL);
        close_teller(&f, teller);
    }
}

static void selections_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    for (uint32_t part = 0; part < GRAPH_PARTS; part++)
        for (enum lie lie = OTHER_KIND; lie < SAYS_NOTHING; lie++) {
            struct fixture f;
            char text[128];
            struct teller *teller = open_teller(&f, 0);
            teller->lie = lie;
            teller->lie_part = part;
            teller->lie_from = 2; /* the first two answers are true */
            snprintf(text, sizeof text, "partition %u answered with a selection of the wrong shape",
                     part);
            ask_nodes(&f, 1, MSG_MASK_ALL);
            assert_failed(&f, TR_EFORMAT, text);
            assert_int_equal(teller->asked[part], 3);
            close_teller(&f, teller);
        }
}

/* The rows of a partition in the order of the IDs, in pieces of which the question and the answer
 * stay within the bound. */
static void rows_are_asked_for_piece_by_piece(void **unused)
{
    (void)unused;
    static const uint64_t ids[] = { 149, 150, 3, 299, 3, 0, 151, 148 };
    static const uint32_t of_parts[GRAPH_PARTS][5] = { { 149, 3, 3, 0, 148 }, { 0, 149, 1 } };
    static const uint32_t num_rows[GRAPH_PARTS] = { 5, 3 };
    static const struct {
        size_t piece_bytes;
        uint32_t rows; /* in a piece */
    } cases[] = { { 1, 1 }, { 24, 1 }, { 47, 1 }, { 48, 2 }, { 71, 2 }, { 72, 3 }, { 0, 5 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        struct teller *teller = open_teller(&f, cases[i].piece_bytes);
        uint32_t at[GRAPH_PARTS] = { 0 };
        assert_int_equal(fetch(&f, FEAT, 20, ids, 8, ENV_SECOND_NS), 0);
        assert_int_equal(f.asker.reply_kind, MSG_FETCH_REPLY);
        const struct msg_fetch_reply *head = (const void *)f.asker.reply_head;
        assert_int_equal(head->count, 8);
        assert_int_equal(head->row_bytes, 20);
        assert_int_equal(f.asker.reply_bytes, 160);
        for (uint32_t row = 0; row < 8; row++)
            assert_memory_equal(f.asker.reply + row * 20UL,
                                true_row(&f.world.graph, 0, FEAT, ids[row]), 20);
        for (uint32_t n = 0; n < teller->num_told; n++) {
            const struct told *told = &teller->told[n];
            uint32_t part = told->rows.part, left = num_rows[part] - at[part];
            assert_int_equal(told->kind, MSG_ROWS_REQUEST);
            assert_int_equal(told->rows.version, 20 + part);
            assert_int_equal(told->rows.num_sections, 1);
            assert_int_equal(told->section.ntype, 0);
            assert_int_equal(told->section.table, FEAT);
            assert_int_equal(told->section.same_rows, 0);
            assert_int_equal(told->section.num_rows, left < cases[i].rows ? left : cases[i].rows);
            assert_memory_equal(told->row, &of_parts[part][at[part]],
                                told->section.num_rows * sizeof *told->row);
            at[part] += told->section.num_rows;
        }
        assert_int_equal(at[0], 5);
        assert_int_equal(at[1], 3);
        close_teller(&f, teller);
    }
}

/* Rows of a table that partitions keep sparse are asked for so, and widened: they are those of the
 * dense table, whatever of them one answer brings and in which order they were asked for. */
static void sparse_rows_are_widened(void **unused)
{
    static const uint64_t ids[] = { 299, 1, 152, 2, 3, 151, 0, 153, 150, 4 };
    static const size_t pieces[] = { 0, 48, 100 };
    enum { COUNT = sizeof ids / sizeof *ids };
    (void)unused;
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        struct fixture f;
        struct graph_meta meta;
        struct teller *teller = open_teller(&f, pieces[p]);
        for (uint32_t part = 0; part < GRAPH_PARTS; part++) {
            const struct feature_table *feat = &f.world.graph.parts[part].nodes[0].features[FEAT];
            float *rows = (float *)(uintptr_t)feat->rows;
            for (uint64_t i = 0; i < feat->num_rows * feat->width; i++)
                rows[i] = i % 10 == i / 5 % 5 ? (float)i + 1 : 0; /* every other row has none */
        }
        assert_int_equal(graph_meta_init(&meta, &f.world.graph.parts[0]), 0);
        meta.nodes[0].features[FEAT].form = TABLE_CSR;
        meta.nodes[0].features[FEAT].row_nnz_max = 1;
        meta.nodes[0].features[FEAT].has_values = true;
        teller->form = (struct sparse_form){ 5, 4, 1, true };
        f.options.meta = &meta;
        assert_int_equal(fetch(&f, FEAT, 20, ids, COUNT, ENV_SECOND_NS), 0);
        assert_int_equal(f.asker.reply_kind, MSG_FETCH_REPLY);
        assert_int_equal(f.asker.reply_bytes, COUNT * 20);
        for (int i = 0; i < COUNT; i++)
            assert_memory_equal(f.asker.reply + i * 20, true_row(&f.world.graph, 0, FEAT, ids[i]),
                                20);
        for (uint32_t i = 0; i < teller->num_told; i++)
            assert_true(teller->told[i].rows.sparse);
        /* A table that is not sparse is asked for as ever. */
        teller->num_told = 0;
        meta.nodes[0].features[FEAT].form = TABLE_DENSE;
        assert_int_equal(fetch(&f, FEAT, 20, ids, COUNT, ENV_SECOND_NS), 0);
        assert_int_equal(f.asker.reply_kind, MSG_FETCH_REPLY);
        for (uint32_t i = 0; i < teller->num_told; i++)
            assert_false(teller->told[i].rows.sparse);
        close_teller(&f, teller);
        graph_meta_fini(&meta);
    }
}

static void rows_of_the_wrong_shape_are_refused(void **unused)
{
    (void)unused;
    static const uint64_t ids[] = { 1, 2, 3, 151, 152, 153 };
    for (uint32_t part = 0; part < GRAPH_PARTS; part++)
        for (enum lie lie = OTHER_KIND; lie <= TOO_LONG; lie++) {
            struct fixture f;
            char text[128];
            struct teller *teller = open_teller(&f, 48);
            teller->lie = lie;
            teller->lie_part = part;
            teller->lie_from = 1;
            snprintf(text, sizeof text, "partition %u answered with rows of the wrong shape", part);
            assert_int_equal(fetch(&f, FEAT, 20, ids, 6, ENV_SECOND_NS), 0);
            assert_failed(&f, TR_EFORMAT, text);
            close_teller(&f, teller);
        }
}

/* A time that is longer than any clock runs is as long as the requester likes. */
static void a_time_beyond_all_clocks_is_enough(void **unused)
{
    (void)unused;
    static const uint64_t ids[] = { 149, 150 };
    struct fixture f;
    struct teller *teller = open_teller(&f, 0);
    assert_int_equal(fetch(&f, FEAT, 20, ids, 2, UINT64_MAX), 0);
    assert_int_equal(f.asker.reply_kind, MSG_FETCH_REPLY);
    close_teller(&f, teller);
}

/* The lanes of a set, and each of its nodes, are charged; the set that takes all there is runs, and
 * none that takes a byte more. */
static void sets_use_the_account_to_its_last_byte(void **unused)
{
    (void)unused;
    const size_t lanes = (size_t)CLIENT_LANES * 65536 * 16, nodes = 2 * (size_t)ROWS * 32;
    const struct {
        size_t bytes;
        int code;
        const char *text;
    } cases[] = {
        { lanes - 1, TR_ETOOBIG,
          "account \"client\": 8388608 bytes are needed, more than its bound of 8388607" },
        { lanes, TR_EFULL, "client" },
        { lanes + nodes - 1, TR_EFULL, "client" },
        { lanes + nodes, 0, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        open_fixture(&f, false);
        f.options.bytes_max = cases[i].bytes;
        asker_spawn(&f.asker, &graph_client_ops, &f.options);
        ask_nodes(&f, 1, MSG_MASK_ALL);
        if (cases[i].code != 0)
            assert_failed(&f, cases[i].code, cases[i].text);
        else
            assert_int_equal(f.asker.reply_bytes, 2 * ROWS * 16);
        /* The charge is given back: the same again ends alike. */
        ask_nodes(&f, 1, MSG_MASK_ALL);
        assert_int_equal(f.asker.reply_kind,
                         cases[i].code != 0 ? MSG_ERROR_REPLY : MSG_NODES_REPLY);
        close_fixture(&f);
    }
}

/* Asks for a row once, and when that is under way for many more. Looks, when all of these have
 * come and none is over, how many of them a partition was asked for. */
struct flood {
    struct address client;
    uint32_t count;
    const struct teller *teller;
    struct timer timer, look;
    uint32_t answered, refused, late, running;
};

static void flood_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct flood *flood = arg;
    flood->answered++;
    flood->refused += status == TR_EFULL;
    if (status == 0)
        flood->late += error_reply_read(reply, NULL) == TR_ETIMEDOUT;
    message_release(self, reply);
}

static void flood_ask(struct actor *self, struct flood *flood)
{
    struct message *request = message_create(self, MSG_FETCH_REQUEST);
    uint64_t *id = message_body_alloc(self, request, sizeof *id);
    *id = ROWS;
    *(struct msg_fetch_request *)message_head(request) = (struct msg_fetch_request){
        .timeout_ns = ENV_SECOND_NS, .row_bytes = 20, .table = FEAT, .count = 1
    };
    assert_int_equal(actor_call(self, flood->client, request,
                                actor_now_ns(self) + 10 * ENV_SECOND_NS, flood_answered, flood,
                                NULL),
                     0);
}

static void flood_on(struct actor *self, void *arg)
{
    struct flood *flood = arg;
    for (uint32_t i = 1; i < flood->count; i++)
        flood_ask(self, flood);
}

static void flood_look(struct actor *self, void *arg)
{
    struct flood *flood = arg;
    (void)self;
    flood->running = flood->teller->num_held;
}

static int start_flood(struct actor *self, const void *arg)
{
    struct flood *flood = (struct flood *)(uintptr_t)arg;
    flood_ask(self, flood);
    timer_start(self, &flood->look, actor_now_ns(self) + 800 * MS, flood_look, flood);
    timer_start(self, &flood->timer, actor_now_ns(self) + 100 * MS, flood_on, flood);
    return 0;
}

static int drop_message(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops flood_ops = { .name = "flood",
                                            .start = start_flood,
                                            .receive = drop_message };

static bool flood_is_over(void *arg)
{
    const struct flood *flood = arg;
    return flood->answered == flood->count;
}

static void run_flood(struct fixture *f, struct flood *flood)
{
    const struct actor_options options = { .ops = &flood_ops, .arg = flood };
    struct address ignored;
    flood->client = f->asker.to;
    assert_int_equal(node_spawn(f->asker.node, &options, &ignored), 0);
    assert_int_equal(env_sim_run(f->asker.env, flood_is_over, flood,
                                 env_sim_now_ns(f->asker.env) + 100 * ENV_SECOND_NS),
                     0);
}

/* So many of the operations that nobody answers run, and so many wait; more are refused at once. */
static void waiting_is_bounded(void **unused)
{
    (void)unused;
    struct fixture f;
    struct teller *teller = open_teller(&f, 0);
    struct flood flood = { .count = 1 + CLIENT_WAITING_MAX + 3, .teller = teller };
    f.options.running_max = 1;
    teller->lie = SAYS_NOTHING;
    run_flood(&f, &flood);
    assert_int_equal(flood.refused, 3);
    assert_int_equal(flood.late, 1 + CLIENT_WAITING_MAX);
    assert_int_equal(flood.running, 1);
    close_teller(&f, teller);
}

static void running_is_bounded(void **unused)
{
    (void)unused;
    for (uint32_t most = 0; most < 4; most++) {
        struct fixture f;
        struct teller *teller = open_teller(&f, 0);
        struct flood flood = { .count = CLIENT_RUNNING_MAX + 5, .teller = teller };
        f.options.running_max = most;
        teller->lie = SAYS_NOTHING;
        run_flood(&f, &flood);
        assert_int_equal(flood.late, flood.count);
        assert_int_equal(flood.running, most == 0 ? CLIENT_RUNNING_MAX : most);
        close_teller(&f, teller);
    }
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
    uint64_t retire_ns;  /* when a partition that is here is here no more; 0: never */
    bool retired_within; /* while operations ran */
    struct timer retire_timer;
    struct operation_case ops[OPS];
    uint32_t asked, answered, right, failed;
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
    else
        op->scenario->asked++;
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

static void retire_one(struct actor *self, void *arg)
{
    struct scenario *s = arg;
    (void)self;
    s->retired_within = s->asked > s->answered;
    assert_int_equal(snapshots_retire(s->world.here, GRAPH_PARTS - 1, SNAPSHOT_NEWEST), 0);
}

static int start_driver(struct actor *self, const void *arg)
{
    struct scenario *s = (struct scenario *)(uintptr_t)arg;
    for (uint32_t i = 0; i < OPS; i++)
        timer_start(self, &s->ops[i].timer, actor_now_ns(self) + s->ops[i].begin_ns, issue,
                    &s->ops[i]);
    kill_later(self, s);
    if (s->retire_ns != 0)
        timer_start(self, &s->retire_timer, actor_now_ns(self) + s->retire_ns, retire_one, s);
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

/* All partitions are here, and all operations begin at about the same time, so that they take turns
 * with reading: what is retired meanwhile is still read, or asked for. */
static void what_is_retired_meanwhile_is_not_left_out(void **unused)
{
    (void)unused;
    struct seeds seeds = seeds_wanted(150);
    uint32_t within = 0;
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        struct scenario *s = calloc(1, sizeof *s);
        assert_non_null(s);
        seeds_note(seed);
        open_scenario(s, seed);
        for (uint32_t i = 0; i < GRAPH_PARTS; i++)
            (void)snapshots_add(s->world.here, &s->world.graph.parts[i], NULL, NULL, NULL);
        s->client_dies = false;
        s->kills = 0;
        s->client.running_max = s->client.bytes_max = 0;
        for (uint32_t i = 0; i < OPS; i++) {
            s->ops[i].hasty = false;
            s->ops[i].timeout_ns = 100 * ENV_SECOND_NS;
            s->ops[i].begin_ns = MS;
        }
        s->retire_ns = MS + below(s, MS / 2);
        run(s);
        within += s->retired_within;
        close_scenario(s);
        free(s);
    }
    assert_true(seeds.end - seeds.begin < 100 || within > 75);
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
        cmocka_unit_test(rows_of_edges_beyond_counting_are_named),
        cmocka_unit_test(fetches_are_bounded),
        cmocka_unit_test(an_owner_that_never_comes_is_named_at_the_deadline),
        cmocka_unit_test(a_set_is_asked_for_piece_by_piece),
        cmocka_unit_test(pieces_of_sets_are_bounded),
        cmocka_unit_test(selections_that_cannot_be_are_refused),
        cmocka_unit_test(rows_are_asked_for_piece_by_piece),
        cmocka_unit_test(sparse_rows_are_widened),
        cmocka_unit_test(rows_of_the_wrong_shape_are_refused),
        cmocka_unit_test(a_time_beyond_all_clocks_is_enough),
        cmocka_unit_test(sets_use_the_account_to_its_last_byte),
        cmocka_unit_test(waiting_is_bounded),
        cmocka_unit_test(running_is_bounded),
        cmocka_unit_test(pieces_of_a_sort_give_the_sorted_whole),
        cmocka_unit_test(operations_tell_the_truth_whatever_fails),
        cmocka_unit_test(what_is_retired_meanwhile_is_not_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

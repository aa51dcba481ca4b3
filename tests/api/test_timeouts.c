/* SPDX-License-Identifier: Apache-2.0 */
/* A timeout counts once, from the call on, however many questions the call asks one by one. */
#include "tests/partition/graph_util.h"
#include "tests/scratch.h"

#include <time.h>

#include "api/internal.h"
#include "outcome.h"
#include "partition/store/npy.h"

#define TIMEOUT_NS INT64_C(200000000000)
/* So long each question is held up behind its answer. */
#define HELD_NS 100000000L
#define PARTS 3

static char dir[64];
static struct sample sample;
static struct tr_session *session;
static struct tr_graph *graph;

/* Questions of the call, and how much time the last of them had. */
static uint32_t questions;
static int64_t left_ns;

int __real_graph_await(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                       int (*make)(void *arg, struct port *port, uint64_t timeout_ns,
                                   struct message **request),
                       void *arg, struct message **reply, struct error *error);
int __wrap_graph_await(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                       int (*make)(void *arg, struct port *port, uint64_t timeout_ns,
                                   struct message **request),
                       void *arg, struct message **reply, struct error *error);
int __real_port_wait_or_keep(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                             struct message **reply);
int __wrap_port_wait_or_keep(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                             struct message **reply);
int __real_tr_graph_wait_end(struct tr_graph *of, int64_t timeout_ns, struct tr_error *error);
int __wrap_tr_graph_wait_end(struct tr_graph *of, int64_t timeout_ns, struct tr_error *error);

static void hold_up(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = HELD_NS }, NULL);
}

int __wrap_graph_await(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                       int (*make)(void *arg, struct port *port, uint64_t timeout_ns,
                                   struct message **request),
                       void *arg, struct message **reply, struct error *error)
{
    questions++;
    left_ns = (int64_t)(deadline_ns - port_now_ns(port));
    int rv = __real_graph_await(port, errand, deadline_ns, make, arg, reply, error);
    hold_up();
    return rv;
}

int __wrap_port_wait_or_keep(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                             struct message **reply)
{
    questions++;
    int rv = __real_port_wait_or_keep(port, errand, deadline_ns, reply);
    hold_up();
    return rv;
}

int __wrap_tr_graph_wait_end(struct tr_graph *of, int64_t timeout_ns, struct tr_error *error)
{
    questions++;
    left_ns = timeout_ns;
    return __real_tr_graph_wait_end(of, timeout_ns, error);
}

/* The last question had what those before it have left. */
static void counts_once(const char *call)
{
    if (questions < 2)
        fail_msg("%s asked %u questions", call, questions);
    if (left_ns > TIMEOUT_NS - (int64_t)(questions - 1) * HELD_NS)
        fail_msg("%s: after %u questions %lld ms are left", call, questions - 1,
                 (long long)(left_ns / 1000000));
    questions = 0;
}

static void degrees_have_one_timeout(void **state)
{
    const uint64_t ids[] = { 0, 1 };
    uint32_t in[2], out[2];
    (void)state;
    ok(tr_graph_degrees(graph, 0, ids, 2, TIMEOUT_NS, in, out, &failure));
    counts_once("tr_graph_degrees");
}

static void questions_about_edges_have_one_timeout(void **state)
{
    const uint64_t ids[] = { 0, 1 };
    uint64_t index[3], edge_ids[2];
    (void)state;
    int rv = tr_graph_in_edges(graph, 0, ids, 2, TIMEOUT_NS, 0, index, NULL, NULL, &failure);
    assert_int_equal(rv, TR_ETOOBIG);
    uint64_t *edges = calloc((size_t)index[2] * 2, sizeof *edges);
    assert_non_null(edges);
    questions = 0;
    ok(tr_graph_in_edges(graph, 0, ids, 2, TIMEOUT_NS, (size_t)index[2], index, edges,
                         edges + index[2], &failure));
    counts_once("tr_graph_in_edges");
    ok(tr_graph_edges_between(graph, 0, ids, ids, 2, TIMEOUT_NS, edge_ids, &failure));
    counts_once("tr_graph_edges_between");
    const size_t nodes[] = { 2, 0 }, none[8] = { 1, 1 };
    uint64_t found[8], ends[8];
    size_t counts[8];
    rv = tr_graph_in_subgraph(graph, ids, nodes, TIMEOUT_NS, 0, counts, NULL, NULL, NULL, &failure);
    assert_int_equal(rv, TR_ETOOBIG);
    questions = 0;
    ok(tr_graph_edge_subgraph(graph, ids, none, TIMEOUT_NS, ends, ends + 4, found, counts,
                              &failure));
    counts_once("tr_graph_edge_subgraph");
    free(edges);
}

static void pieces_of_sets_have_one_timeout(void **state)
{
    struct tr_nodes *sets[2], *joined;
    (void)state;
    ok(tr_nodes_masked(graph, 0, "train_mask", TIMEOUT_NS, &sets[0], &failure));
    ok(tr_nodes_all(graph, 1, TIMEOUT_NS, &sets[1], &failure));
    ok(tr_nodes_join(sets, 2, &joined, &failure));
    size_t count = tr_nodes_count(joined);
    uint64_t *ids = calloc(count, sizeof *ids);
    assert_non_null(ids);
    questions = 0;
    ok(tr_nodes_original_ids(sets[0], 0, tr_nodes_count(sets[0]), TIMEOUT_NS, ids, &failure));
    counts_once("tr_nodes_original_ids of a mask");
    ok(tr_nodes_ids(joined, 0, count, TIMEOUT_NS, ids, &failure));
    counts_once("tr_nodes_ids of two types");
    ok(tr_nodes_original_ids(joined, 0, count, TIMEOUT_NS, ids, &failure));
    counts_once("tr_nodes_original_ids of two types");
    free(ids);
    tr_nodes_close(joined);
    tr_nodes_close(sets[0]);
    tr_nodes_close(sets[1]);
}

/* One trainer has all nodes. */
static void a_deal_has_one_timeout(void **state)
{
    struct tr_nodes *nodes, *group;
    struct error error = { 0 };
    const uint64_t count = tr_graph_num_nodes(graph, 0);
    int32_t *deal = calloc(count, sizeof *deal);
    char path[256];
    (void)state;
    assert_non_null(deal);
    snprintf(path, sizeof path, "%s/deal.npy", dir);
    assert_int_equal(npy_write(files_posix, path, "<i4", 1, &count, deal, &error), 0);
    ok(tr_nodes_masked(graph, 0, "train_mask", TIMEOUT_NS, &nodes, &failure));
    questions = 0;
    ok(tr_nodes_deal(nodes, path, 0, 1, TIMEOUT_NS, &group, &failure));
    counts_once("tr_nodes_deal by a file");
    assert_int_equal(tr_nodes_count(group), tr_nodes_count(nodes));
    tr_nodes_close(group);
    tr_nodes_close(nodes);
    free(deal);
}

/* Last of all: the job has ended then. */
static void finishing_has_one_timeout(void **state)
{
    struct tr_checkpoint checkpoint = TR_CHECKPOINT_INIT;
    struct tr_group *group;
    (void)state;
    ok(tr_group_open(graph, 0, &group, &failure));
    ok(tr_group_restore(group, TIMEOUT_NS, &checkpoint, &failure));
    questions = 0;
    ok(tr_group_finish(group, TIMEOUT_NS, &failure));
    counts_once("tr_group_finish");
    tr_group_close(group);
}

static int open_graph(void **state)
{
    const struct partition_options options = {
        .name = "g", .method = PARTITION_RANDOM, .num_parts = PARTS, .seed = 7, .halo_hops = 1
    };
    struct partition_report report;
    struct error error = { 0 };
    char path[256];
    (void)state;
    assert_non_null(scratch_folder(dir, sizeof dir, "timeouts"));
    sample_init(&sample, true, 300, 2000, 5);
    snprintf(path, sizeof path, "%s/raw", dir);
    struct raw_graph *raw = sample_raw(&sample, path);
    snprintf(path, sizeof path, "%s/p", dir);
    if (partition_graph(raw, &options, path, parallel_serial, NULL, &report, &error) != 0)
        fail_msg("%s", error.text);
    raw_close(raw);
    snprintf(path, sizeof path, "%s/p/g.json", dir);
    ok(tr_session_open(NULL, &session, &failure));
    ok(tr_graph_open(session, path, TR_WAIT_FOREVER, &graph, &failure));
    return 0;
}

static int close_graph(void **state)
{
    (void)state;
    tr_graph_close(graph);
    tr_session_close(session);
    sample_fini(&sample);
    return files_remove_tree(files_posix, dir, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(degrees_have_one_timeout),
        cmocka_unit_test(questions_about_edges_have_one_timeout),
        cmocka_unit_test(pieces_of_sets_have_one_timeout),
        cmocka_unit_test(a_deal_has_one_timeout),
        cmocka_unit_test(finishing_has_one_timeout),
    };
    return cmocka_run_group_tests(tests, open_graph, close_graph);
}

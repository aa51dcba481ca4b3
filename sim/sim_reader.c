/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants: a read is under way from reader_begin() to reader_done(), with one deadline; between
 * them there is a search for the client, a call of it or the timer, and exactly one of them.
 */
#include "sim/sim_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_call.h"
#include "actors/data/client.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "sim/fleet.h"

/* As api/graph_call.c: a client that is not there is looked for after this, */
#define READ_AGAIN_NS UINT64_C(5000000)
/* and one that did not answer is given up so long after the deadline. */
#define READ_GRACE_NS UINT64_C(1000000000)
/* As a session's recovery deadline, by which calls without one of their own end. */
#define RECOVERY_NS (600 * ENV_SECOND_NS)
/* The shortest deadline that a read is given. */
#define DEADLINE_FIRST_NS UINT64_C(1000000)
#define READ_ROWS_MAX 200u

/* What is read. */
enum sim_reading {
    READ_NODES,
    READ_LABELS,
    READ_FEATURES,
    READ_ORIGINALS,
    READ_IN,
    READ_OUT,
    READ_EDGES,
    READ_ENDS,
    READ_SOURCES,
    READ_IN_EDGES,
    READ_OUT_EDGES,
    READ_OUT_PLACES,
    READ_EDGE_ORIGINALS
};

#define READINGS_FIRST (READ_EDGES + 1) /* those that the oldest seeds draw */
#define READINGS (READ_EDGE_ORIGINALS + 1)

struct sim_reader {
    struct actor *self;
    struct fleet *fleet;
    struct fleet_process *process;
    struct draws draws;
    struct timer timer;
    enum sim_reading reading;
    uint32_t type; /* of nodes, or of edges */
    uint32_t table, count;
    uint64_t row_bytes;
    uint64_t ids[READ_ROWS_MAX];
    uint64_t begin_ns, deadline_ns;
    bool patient; /* the deadline is far */
    bool under_way;
    uint32_t left; /* reads to come */
};

static void reader_find(struct sim_reader *r);
static void reader_begin(struct actor *self, void *arg);

static const char *reading_name(enum sim_reading reading)
{
    static const char *const NAMES[READINGS] = {
        "nodes",
        "labels",
        "features",
        "original IDs",
        "in-degrees",
        "out-degrees",
        "edges by rank",
        "ends of edges",
        "sources of edges",
        "in-edges",
        "out-edges",
        "places of out-edges",
        "original IDs of edges",
    };
    return NAMES[reading];
}

static void reader_fail(struct sim_reader *r, const char *what)
{
    fleet_fail(r->fleet,
               "process %" PRIu32 ", a read of %" PRIu32 " %s of type %" PRIu32
               ", begun at %.6f: %s, at %.6f",
               r->process->number, r->count, reading_name(r->reading), r->type,
               (double)r->begin_ns / 1e9, what, (double)actor_now_ns(r->self) / 1e9);
}

/* Where the job goes on and no fault is under way, a read is answered in the time that the job has
 * to get on. */
static void check_in_time(struct sim_reader *r)
{
    const struct fleet *fleet = r->fleet;
    const struct fleet_liveness *liveness = &fleet->liveness;
    uint64_t from_ns = r->begin_ns > liveness->calm_ns ? r->begin_ns : liveness->calm_ns;
    if (r->patient && !fleet->complete && liveness->stop_ns == 0 && !r->process->orphan &&
        actor_now_ns(r->self) > from_ns + liveness->progress_ns)
        reader_fail(r, "was not answered in time");
}

static void reader_done(struct sim_reader *r)
{
    check_in_time(r);
    r->under_way = false;
    if (r->left == 0)
        return;
    r->left--;
    timer_start(r->self, &r->timer,
                actor_now_ns(r->self) + draws_below(&r->draws, r->fleet->plan.read_ns),
                reader_begin, r);
}

/* The edge of that rank: in the order of (original destination, original edge ID). */
static uint64_t find_edge(const struct sim_graph *raw, uint32_t etype, uint64_t rank)
{
    const struct sim_edges *edges = &raw->edges[etype];
    for (uint32_t dst = 0; dst < raw->num_nodes[raw->types.etypes[etype].dst]; dst++)
        for (uint32_t i = 0; i < edges->count; i++)
            if (edges->dst[i] == dst && rank-- == 0)
                return i;
    return UINT64_MAX;
}

static bool are_ends(const struct sim_reader *r, const unsigned char *row, uint64_t id)
{
    const struct sim_partitions *placed = &r->fleet->partitions;
    const struct sim_graph *raw = placed->raw;
    const struct graph_etype *etype = &raw->types.etypes[r->type];
    uint64_t edge = sim_partitions_edge(placed, r->type, id), ends[2];
    memcpy(ends, row, sizeof ends);
    return ends[0] == placed->global[etype->src][raw->edges[r->type].src[edge]] &&
           ends[1] == placed->global[etype->dst][raw->edges[r->type].dst[edge]];
}

/* The first in-edge of a node, where it has some, and their number. */
static bool are_in_edges(const struct sim_reader *r, const unsigned char *row, uint64_t id)
{
    const struct sim_partitions *placed = &r->fleet->partitions;
    const struct sim_edges *edges = &placed->raw->edges[r->type];
    uint64_t original = placed->original[placed->raw->types.etypes[r->type].dst][id], range[2];
    uint64_t first = UINT64_MAX, count = 0;
    for (uint32_t i = 0; i < edges->count; i++) {
        first = edges->dst[i] == original && count == 0 ? i : first;
        count += edges->dst[i] == original;
    }
    memcpy(range, row, sizeof range);
    return range[1] == count &&
           (count == 0 || sim_partitions_edge(placed, r->type, range[0]) == first);
}

/* Where the out-edges of a node are, or what stands at a place of them. */
static bool is_out(const struct sim_reader *r, const unsigned char *row, uint64_t id)
{
    const struct sim_partitions *placed = &r->fleet->partitions;
    const struct graph_etype *etype = &placed->raw->types.etypes[r->type];
    const struct sim_edges *edges = &placed->raw->edges[r->type];
    uint64_t pair[2], count = 0, before = 0;
    bool range = r->reading == READ_OUT_EDGES;
    memcpy(pair, row, sizeof pair);
    /* Places go by the global IDs of sources, then by original edges. */
    uint64_t edge = range ? 0 : sim_partitions_edge(placed, r->type, pair[0]);
    if (edge >= edges->count && !range)
        return false;
    uint64_t source = range ? id : placed->global[etype->src][edges->src[edge]];
    for (uint32_t i = 0; i < edges->count; i++) {
        uint64_t other = placed->global[etype->src][edges->src[i]];
        count += other == source;
        before += other < source || (!range && other == source && i < edge);
    }
    return range ? pair[1] == count && pair[0] == before
                 : before == id && pair[1] == placed->global[etype->dst][edges->dst[edge]];
}

static bool is_source(const struct sim_reader *r, const unsigned char *row, uint64_t id)
{
    const struct sim_partitions *placed = &r->fleet->partitions;
    const struct sim_graph *raw = placed->raw;
    uint64_t edge = sim_partitions_edge(placed, r->type, id), source;
    memcpy(&source, row, sizeof source);
    return source == placed->global[raw->types.etypes[r->type].src][raw->edges[r->type].src[edge]];
}

static bool is_row(const struct sim_reader *r, const unsigned char *row, uint64_t id)
{
    const struct sim_partitions *placed = &r->fleet->partitions;
    const struct sim_graph *raw = placed->raw;
    uint64_t number;
    uint32_t degree;
    int64_t label;
    float value;
    if (r->reading == READ_EDGES) {
        memcpy(&number, row, sizeof number);
        return sim_partitions_edge(placed, r->type, number) == find_edge(raw, r->type, id);
    }
    if (r->reading == READ_ENDS)
        return are_ends(r, row, id);
    if (r->reading == READ_SOURCES)
        return is_source(r, row, id);
    if (r->reading == READ_IN_EDGES)
        return are_in_edges(r, row, id);
    if (r->reading == READ_OUT_EDGES || r->reading == READ_OUT_PLACES)
        return is_out(r, row, id);
    if (r->reading == READ_EDGE_ORIGINALS) {
        memcpy(&number, row, sizeof number);
        return number == sim_partitions_edge(placed, r->type, id);
    }
    uint64_t original = placed->original[r->type][id];
    switch (r->reading) {
    case READ_LABELS:
        memcpy(&label, row, sizeof label);
        return label == raw_label(r->type, original);
    case READ_FEATURES:
        for (uint32_t c = 0; c < raw->width[r->type]; c++) {
            memcpy(&value, row + c * sizeof value, sizeof value);
            if (value != raw_feature(r->type, original, c))
                return false;
        }
        return true;
    case READ_ORIGINALS:
        memcpy(&number, row, sizeof number);
        return number == original;
    case READ_IN:
        memcpy(&degree, row, sizeof degree);
        return degree == raw->in_degrees[r->type][original];
    default:
        memcpy(&degree, row, sizeof degree);
        return degree == raw->out_degrees[r->type][original];
    }
}

static void check_rows(struct sim_reader *r, const struct message *reply)
{
    const struct msg_fetch_reply *head = (const void *)reply->head;
    const unsigned char *rows = message_body(reply);
    if (reply->frame.kind != MSG_FETCH_REPLY || head->count != r->count ||
        head->row_bytes != r->row_bytes || reply->frame.body_bytes != r->count * r->row_bytes) {
        reader_fail(r, "the answer has another shape");
        return;
    }
    for (uint32_t i = 0; i < r->count; i++)
        if (!is_row(r, rows + i * r->row_bytes, r->ids[i])) {
            reader_fail(r, "the answer has another row");
            return;
        }
}

/* All nodes of the type, in the order of original IDs. */
static void check_nodes(struct sim_reader *r, const struct message *reply)
{
    const struct msg_nodes_reply *head = (const void *)reply->head;
    const struct sim_partitions *placed = &r->fleet->partitions;
    const uint64_t *ids = message_body(reply);
    uint64_t n = placed->raw->num_nodes[r->type];
    if (reply->frame.kind != MSG_NODES_REPLY || head->count != n ||
        reply->frame.body_bytes != n * 2 * sizeof *ids) {
        reader_fail(r, "the answer has another number of nodes");
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        if (ids[i] != placed->global[r->type][i] || ids[n + i] != i) {
            reader_fail(r, "the answer has other nodes");
            return;
        }
}

static void reader_look(struct actor *self, void *arg)
{
    (void)self;
    reader_find(arg);
}

/* As graph_operate() has it. */
static void reader_again(struct sim_reader *r)
{
    uint64_t now_ns = actor_now_ns(r->self);
    if (now_ns < r->deadline_ns)
        timer_start(r->self, &r->timer, now_ns + READ_AGAIN_NS, reader_look, r);
    else
        reader_done(r);
}

/* The deadline is over, and not before: the client says so, if need be without a message, or it, or
 * the search for it, was given up. */
static void reader_expired(struct sim_reader *r)
{
    uint64_t now_ns = actor_now_ns(r->self);
    if (now_ns < r->deadline_ns)
        reader_fail(r, "its time was over before the deadline");
    else if (now_ns >= r->deadline_ns + READ_GRACE_NS && r->process->paused_until_ns < r->begin_ns)
        reader_fail(r, "the client did not keep the deadline");
    reader_done(r);
}

static void reader_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct sim_reader *r = arg;
    struct error error = { 0 };
    r->fleet->tally.calls_completed++;
    int failed = status == 0 ? error_reply_read(reply, &error) : 0;
    if (status == TR_ECANCELED) { /* this actor ends */
    } else if (status == TR_ETIMEDOUT || failed == TR_ETIMEDOUT) {
        reader_expired(r);
    } else if (part_call_peer_recovers(status)) {
        reader_again(r);
    } else if (status != 0) {
        reader_fail(r, tr_error_name(status));
    } else if (failed != 0) {
        reader_fail(r, error.text);
    } else {
        if (r->reading == READ_NODES)
            check_nodes(r, reply);
        else
            check_rows(r, reply);
        r->fleet->tally.reads++;
        r->fleet->tally.queries += r->reading >= READINGS_FIRST;
        reader_done(r);
    }
    message_release(self, reply);
}

static struct message *make_read(struct sim_reader *r)
{
    uint64_t now_ns = actor_now_ns(r->self);
    uint64_t timeout_ns = r->deadline_ns > now_ns ? r->deadline_ns - now_ns : 0;
    bool nodes = r->reading == READ_NODES;
    struct message *request = message_create(r->self,
                                             nodes ? MSG_NODES_REQUEST : MSG_FETCH_REQUEST);
    if (request == NULL)
        return NULL;
    if (nodes) {
        *(struct msg_nodes_request *)message_head(request) = (struct msg_nodes_request){
            .timeout_ns = timeout_ns, .ntype = r->type, .table = MSG_MASK_ALL
        };
        return request;
    }
    size_t bytes = r->count * sizeof *r->ids;
    void *body = message_body_alloc(r->self, request, bytes);
    if (body == NULL) {
        message_release(r->self, request);
        return NULL;
    }
    if (bytes > 0)
        memcpy(body, r->ids, bytes);
    *(struct msg_fetch_request *)message_head(request) = (struct msg_fetch_request){
        .timeout_ns = timeout_ns,
        .row_bytes = r->row_bytes,
        .ntype = r->type,
        .table = r->table,
        .count = r->count,
    };
    return request;
}

static void reader_found(struct actor *self, void *arg, int status, struct address client)
{
    struct sim_reader *r = arg;
    if (status == TR_ECANCELED) /* this actor ends */
        return;
    if (status == TR_ETIMEDOUT) {
        reader_expired(r);
        return;
    }
    struct message *request = status == 0 ? make_read(r) : NULL;
    if (request == NULL || actor_call(self, client, request, r->deadline_ns + READ_GRACE_NS,
                                      reader_answered, r, NULL) != 0)
        reader_again(r);
    else
        r->fleet->tally.calls_opened++;
}

static void reader_find(struct sim_reader *r)
{
    if (directory_wait(r->self, CLIENT_NAME, r->deadline_ns + READ_GRACE_NS, reader_found, r) != 0)
        reader_again(r);
}

/* Whether types are of edges. */
static bool reads_edges(const struct sim_reader *r)
{
    return r->reading >= READ_EDGES;
}

static uint64_t draw_type(struct sim_reader *r)
{
    const struct graph_types *types = &r->fleet->partitions.raw->types;
    r->reading = (enum sim_reading)draws_below(
        &r->draws, r->fleet->plan.seed < FLEET_QUERIES_FROM ? READINGS_FIRST : READINGS);
    if (reads_edges(r) && types->num_etypes == 0)
        r->reading = READ_NODES;
    bool edges = reads_edges(r);
    r->type = (uint32_t)draws_below(&r->draws, edges ? types->num_etypes : types->num_ntypes);
    const struct sim_graph *raw = r->fleet->partitions.raw;
    if (r->reading == READ_IN_EDGES)
        return raw->num_nodes[types->etypes[r->type].dst];
    if (r->reading == READ_OUT_EDGES)
        return raw->num_nodes[types->etypes[r->type].src];
    return edges ? raw->edges[r->type].count : raw->num_nodes[r->type];
}

static void choose_table(struct sim_reader *r)
{
    const struct sim_partitions *placed = &r->fleet->partitions;
    if (r->reading == READ_FEATURES && !placed->raw->featured[r->type])
        r->reading = READ_LABELS;
    switch (r->reading) {
    case READ_LABELS:
        r->table = (uint32_t)graph_meta_table(&placed->meta, r->type, PLACED_LABEL);
        r->row_bytes = sizeof(int64_t);
        break;
    case READ_FEATURES:
        r->table = (uint32_t)graph_meta_table(&placed->meta, r->type, PLACED_FEATURE);
        r->row_bytes = placed->raw->width[r->type] * sizeof(float);
        break;
    case READ_IN:
    case READ_OUT:
        r->table = r->reading == READ_IN ? MSG_TABLE_IN_DEGREE : MSG_TABLE_OUT_DEGREE;
        r->row_bytes = sizeof(uint32_t);
        break;
    case READ_ENDS:
    case READ_IN_EDGES:
    case READ_OUT_EDGES:
    case READ_OUT_PLACES:
        r->table = r->reading == READ_ENDS        ? MSG_TABLE_EDGE_ENDS
                   : r->reading == READ_IN_EDGES  ? MSG_TABLE_IN_EDGES
                   : r->reading == READ_OUT_EDGES ? MSG_TABLE_OUT_EDGES
                                                  : MSG_TABLE_OUT_PLACES;
        r->row_bytes = 2 * sizeof(uint64_t);
        break;
    case READ_SOURCES:
    case READ_EDGE_ORIGINALS:
        r->table = r->reading == READ_SOURCES ? MSG_TABLE_EDGE_SOURCES : MSG_TABLE_EDGE_ORIGINALS;
        r->row_bytes = sizeof(uint64_t);
        break;
    default:
        r->table = r->reading == READ_EDGES ? MSG_TABLE_EDGE_RANKS : MSG_TABLE_ORIGINAL_ID;
        r->row_bytes = sizeof(uint64_t);
        break;
    }
}

static void reader_begin(struct actor *self, void *arg)
{
    struct sim_reader *r = arg;
    uint64_t rows = draw_type(r);
    /* No call of the API asks for no row: of nothing there is the set alone. */
    if (rows == 0 && reads_edges(r))
        r->type = 0;
    if (rows == 0)
        r->reading = READ_NODES;
    choose_table(r);
    r->count = rows == 0 ? 0 : 1 + (uint32_t)draws_below(&r->draws, READ_ROWS_MAX);
    for (uint32_t i = 0; i < r->count; i++)
        r->ids[i] = draws_below(&r->draws, rows);
    r->patient = draws_chance(&r->draws, 75);
    r->begin_ns = actor_now_ns(self);
    r->deadline_ns = r->begin_ns +
                     (r->patient ? RECOVERY_NS
                                 : draws_scale(&r->draws, DEADLINE_FIRST_NS, 10 * ENV_SECOND_NS));
    r->under_way = true;
    reader_find(r);
}

static int sim_reader_start(struct actor *self, const void *arg)
{
    const struct fleet_seat *seat = arg;
    struct sim_reader *r = calloc(1, sizeof *r);
    if (r == NULL)
        return TR_ENOMEM;
    actor_set_state(self, r);
    r->self = self;
    r->fleet = seat->fleet;
    r->process = seat->process;
    r->left = seat->fleet->plan.reads;
    r->draws = draws_of(seat->fleet->plan.seed,
                        (uint64_t)1 << 56 | (uint64_t)seat->process->incarnation << 16 |
                            (uint64_t)seat->process->number << 8 | seat->rank);
    reader_done(r);
    return 0;
}

static int sim_reader_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

/* What is under way now would have been answered by now. */
static void sim_reader_fini(struct actor *self)
{
    struct sim_reader *r = actor_state(self);
    if (r != NULL && r->under_way)
        check_in_time(r);
    free(r);
}

const struct actor_ops sim_reader_ops = {
    .name = "reader",
    .start = sim_reader_start,
    .receive = sim_reader_receive,
    .fini = sim_reader_fini,
};

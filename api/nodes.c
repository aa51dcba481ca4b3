/* SPDX-License-Identifier: Apache-2.0 */
/* Node sets, in the order of original IDs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/common/node_sort.h"
#include "api/internal.h"
#include "graph/bijection.h"

struct selection {
    uint32_t ntype, table;
};

static int make_request(void *arg, struct port *port, uint64_t timeout_ns, struct message **out)
{
    const struct selection *s = arg;
    struct message *request = port_message(port, MSG_NODES_REQUEST);
    if (request == NULL)
        return TR_ENOMEM;
    *(struct msg_nodes_request *)message_head(request) = (struct msg_nodes_request){
        .timeout_ns = timeout_ns,
        .ntype = s->ntype,
        .table = s->table,
    };
    *out = request;
    return 0;
}

static int by_original(const void *a, const void *b)
{
    const struct node_pair *x = a, *y = b;
    return (x->original > y->original) - (x->original < y->original);
}

struct tr_nodes *nodes_create(struct tr_graph *graph, uint32_t ntype, size_t count,
                              struct tr_error *error)
{
    struct tr_nodes *nodes = calloc(1, sizeof *nodes);
    struct seed_list *list = seed_list_create(count);
    uint64_t *original_ids = calloc(count + 1, sizeof *original_ids);
    if (nodes == NULL || list == NULL || original_ids == NULL) {
        free(nodes);
        seed_list_release(list);
        free(original_ids);
        tr_error_set(error, TR_ENOMEM, "no memory for a set of %zu nodes", count);
        return NULL;
    }
    graph_acquire(graph);
    *nodes = (struct tr_nodes){ .graph = graph,
                                .ntype = ntype,
                                .count = count,
                                .ranks = -1,
                                .list = list,
                                .ids = list->ids,
                                .original_ids = original_ids };
    atomic_init(&nodes->references, 1);
    return nodes;
}

struct tr_nodes *nodes_create_range(struct tr_graph *graph, int ranks, uint64_t first_rank,
                                    uint64_t count, struct tr_error *error)
{
    struct tr_nodes *nodes = calloc(1, sizeof *nodes);
    if (nodes == NULL) {
        tr_error_set(error, TR_ENOMEM, "no memory for a set of nodes");
        return NULL;
    }
    graph_acquire(graph);
    *nodes = (struct tr_nodes){ .graph = graph,
                                .ntype = graph->book->ranks[ranks].ntype,
                                .count = count,
                                .ranks = ranks,
                                .first_rank = first_rank };
    atomic_init(&nodes->references, 1);
    return nodes;
}

static int take_reply(struct tr_graph *graph, uint32_t ntype, const struct message *reply,
                      struct tr_nodes **out, struct tr_error *error)
{
    const struct msg_nodes_reply *head = (const void *)reply->head;
    uint64_t bytes;
    if (reply->frame.kind != MSG_NODES_REPLY ||
        __builtin_mul_overflow(head->count, 2 * sizeof(uint64_t), &bytes) ||
        reply->frame.body_bytes != bytes)
        return tr_error_set(error, TR_EFORMAT, "the client answered with nodes of the wrong shape");
    /* The shape was checked before memory is taken by what the reply says of itself. */
    struct tr_nodes *nodes = nodes_create(graph, ntype, head->count, error);
    if (nodes == NULL)
        return TR_ENOMEM;
    const uint64_t *ids = message_body(reply);
    if (bytes > 0) {
        memcpy(nodes->ids, ids, bytes / 2);
        memcpy(nodes->original_ids, ids + head->count, bytes / 2);
    }
    *out = nodes;
    return 0;
}

/* The set has ranks: nobody is asked for its nodes before they are needed. */
static int name_range(struct tr_graph *graph, int ranks, struct tr_nodes **out,
                      struct tr_error *error)
{
    struct graph_port *port;
    int rv = graph_enter(graph, &port);
    if (rv != 0)
        return graph_refused(graph, rv, error);
    /* Nothing is asked; entering alone refuses the call where the graph is closed or interrupted,
     * as it is for a set that is listed. */
    graph_leave(graph, port);
    *out = nodes_create_range(graph, ranks, 0, graph->book->ranks[ranks].num_ranks, error);
    return *out == NULL ? TR_ENOMEM : 0;
}

/* A list, since an older version wrote the graph without the ranks of the set. */
static int select_nodes(struct tr_graph *graph, uint32_t ntype, uint32_t table, int64_t timeout_ns,
                        struct tr_nodes **out, struct tr_error *error)
{
    struct selection s = { ntype, table };
    struct error why = { 0 };
    struct graph_port *port;
    struct message *reply;
    *out = NULL;
    if (ntype >= graph->book->types.num_ntypes)
        return tr_error_set(error, TR_ERANGE,
                            "node type %u: types are numbered from 0, and the graph has %u", ntype,
                            graph->book->types.num_ntypes);
    int rv = graph_enter(graph, &port);
    if (rv != 0)
        return graph_refused(graph, rv, error);
    uint64_t deadline_ns = graph_deadline(graph, port->port, timeout_ns);
    rv = graph_operate(port->port, deadline_ns, make_request, &s, &reply, &why);
    if (rv == 0) {
        /* The reply is read before it goes home, and a reason is found before the port is given
         * back. */
        rv = take_reply(graph, ntype, reply, out, error);
        port_release(port->port, reply);
    } else {
        rv = graph_failed(graph, &why, error);
    }
    graph_leave(graph, port);
    return rv;
}

int tr_nodes_all(struct tr_graph *graph, uint32_t ntype, int64_t timeout_ns, struct tr_nodes **out,
                 struct tr_error *error)
{
    *out = NULL;
    int rv = session_mine(graph->session, error);
    if (rv != 0)
        return rv;
    int ranks = book_find_ranks(graph->book, RANKS_ALL, ntype, NULL);
    return ranks >= 0 ? name_range(graph, ranks, out, error)
                      : select_nodes(graph, ntype, MSG_MASK_ALL, timeout_ns, out, error);
}

int tr_nodes_masked(struct tr_graph *graph, uint32_t ntype, const char *mask, int64_t timeout_ns,
                    struct tr_nodes **out, struct tr_error *error)
{
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    *out = NULL;
    int rv = tr_graph_find_feature(graph, ntype, mask, &info, error);
    if (rv != 0)
        return rv;
    if (info.width != 1 || (info.dtype != TR_BOOL && info.dtype != TR_U8))
        return tr_error_set(error, TR_EINVAL,
                            "feature \"%s\" is %s with %" PRIu64
                            " elements a row; a mask is bool or uint8 with one",
                            mask, tr_dtype_name(info.dtype), info.width);
    int number = graph_meta_name(&graph->meta, mask);
    int ranks = book_find_ranks(graph->book, RANKS_MASK, ntype, mask);
    if (ranks >= 0)
        return name_range(graph, ranks, out, error);
    return select_nodes(graph, ntype,
                        (uint32_t)graph_meta_table(&graph->meta, ntype, (uint32_t)number),
                        timeout_ns, out, error);
}

static int make_set(struct tr_graph *graph, uint32_t ntype, const struct node_pair *pairs,
                    size_t count, struct tr_nodes **out, struct tr_error *error)
{
    struct tr_nodes *nodes = nodes_create(graph, ntype, count, error);
    if (nodes == NULL)
        return TR_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        nodes->ids[i] = pairs[i].global;
        nodes->original_ids[i] = pairs[i].original;
    }
    *out = nodes;
    return 0;
}

int tr_nodes_listed(struct tr_graph *graph, uint32_t ntype, const uint64_t *ids, size_t count,
                    int64_t timeout_ns, struct tr_nodes **out, struct tr_error *error)
{
    *out = NULL;
    int mine = session_mine(graph->session, error);
    if (mine != 0)
        return mine;
    if (count > TR_LISTED_MAX)
        return tr_error_set(error, TR_ETOOBIG, "%zu nodes; at most 2^40", count);
    struct node_pair *pairs = calloc(count + 1, sizeof *pairs);
    uint64_t *original_ids = calloc(count + 1, sizeof *original_ids);
    int rv = pairs != NULL && original_ids != NULL
                 ? 0
                 : tr_error_set(error, TR_ENOMEM, "no memory for a set of %zu nodes", count);
    if (rv == 0)
        rv = tr_graph_original_ids(graph, ntype, ids, count, timeout_ns, original_ids, error);
    for (size_t i = 0; i < count && rv == 0; i++)
        pairs[i] = (struct node_pair){ original_ids[i], ids[i] };
    if (rv == 0 && count > 0)
        qsort(pairs, count, sizeof *pairs, by_original);
    if (rv == 0)
        rv = make_set(graph, ntype, pairs, count, out, error);
    free(pairs);
    free(original_ids);
    return rv;
}

static int check_joined(struct tr_nodes *const *sets, uint32_t at, struct tr_error *error)
{
    const struct tr_nodes *set = sets[at];
    if (nodes_are_pairs(set))
        return tr_error_set(error, TR_EINVAL,
                            "set %u has %s, which tr_pairs_join() joins with others of their kind; "
                            "nodes have a loader of their own",
                            at, set->edges ? "edges" : "pairs of nodes");
    if (set->parts != NULL)
        return tr_error_set(error, TR_EINVAL,
                            "set %u has several node types; join the sets that it was made of", at);
    if (set->world != 0)
        return tr_error_set(error, TR_EINVAL,
                            "set %u is the group of trainer %u of %u; join whole sets", at,
                            set->rank, set->world);
    for (uint32_t i = 0; i < at; i++)
        if (sets[i]->ntype == set->ntype)
            return tr_error_set(error, TR_EINVAL,
                                "sets %u and %u are both of node type %s; give one of each", i, at,
                                tr_graph_ntype_name(set->graph, set->ntype));
    return 0;
}

int nodes_join(struct tr_nodes *const *sets, uint32_t num_sets, joined_check *check,
               struct tr_nodes **out, struct tr_error *error)
{
    uint64_t count = 0;
    *out = NULL;
    if (num_sets == 0)
        return tr_error_set(error, TR_EINVAL, "no sets to join");
    int rv = session_mine(sets[0]->graph->session, error);
    for (uint32_t i = 0; i < num_sets && rv == 0; i++) {
        rv = sets[i]->graph == sets[0]->graph
                 ? check(sets, i, error)
                 : tr_error_set(error, TR_EMISMATCH, "set %u belongs to another graph than set 0",
                                i);
        /* Sums of counts below 2^64 that stop beyond 2^40 do not overflow. */
        if (rv == 0 && sets[i]->count > BIJECTION_MAX - count)
            rv = tr_error_set(error, TR_ETOOBIG,
                              "%" PRIu64 " %s of the sets before set %u, which has %zu; at most "
                              "2^40 together",
                              count, nodes_are_pairs(sets[i]) ? "seeds" : "nodes", i,
                              sets[i]->count);
        count += rv == 0 ? sets[i]->count : 0;
    }
    if (rv != 0)
        return rv;
    struct tr_nodes *nodes = calloc(1, sizeof *nodes);
    struct tr_nodes **parts = calloc(num_sets, sizeof(struct tr_nodes *));
    if (nodes == NULL || parts == NULL) {
        free(nodes);
        free(parts);
        return tr_error_set(error, TR_ENOMEM, "no memory for a set of %u sets", num_sets);
    }
    /* References are taken when nothing fails any more: there is none to give back above. */
    graph_acquire(sets[0]->graph);
    for (uint32_t i = 0; i < num_sets; i++) {
        parts[i] = sets[i];
        atomic_fetch_add_explicit(&parts[i]->references, 1, memory_order_relaxed);
    }
    bool pairs = nodes_are_pairs(sets[0]), some_reversed = false;
    for (uint32_t i = 0; i < num_sets; i++)
        some_reversed = some_reversed || sets[i]->reversed;
    *nodes = (struct tr_nodes){ .graph = sets[0]->graph,
                                .ntype = pairs ? TR_NTYPE_PAIRS : TR_NTYPE_SEVERAL,
                                .etype = pairs ? TR_ETYPE_SEVERAL : 0,
                                .edges = sets[0]->edges,
                                .reversed = some_reversed,
                                .count = count,
                                .ranks = -1,
                                .parts = parts,
                                .num_parts = num_sets };
    atomic_init(&nodes->references, 1);
    *out = nodes;
    return 0;
}

int tr_nodes_join(struct tr_nodes *const *sets, uint32_t num_sets, struct tr_nodes **out,
                  struct tr_error *error)
{
    return nodes_join(sets, num_sets, check_joined, out, error);
}

uint32_t tr_nodes_num_parts(const struct tr_nodes *nodes)
{
    return nodes_are_pairs(nodes) ? 0 : nodes_num_parts(nodes);
}

int tr_nodes_part(const struct tr_nodes *nodes, uint32_t part, uint32_t *ntype, uint64_t *offset,
                  uint64_t *count, struct tr_error *error)
{
    int rv = session_mine(nodes->graph->session, error);
    if (rv != 0)
        return rv;
    if (part >= tr_nodes_num_parts(nodes))
        return tr_error_set(error, TR_ERANGE, "part %" PRIu32 "; the set has %" PRIu32, part,
                            tr_nodes_num_parts(nodes));
    *ntype = nodes_part(nodes, part)->ntype;
    *offset = nodes_part_offset(nodes, part);
    *count = nodes_part(nodes, part)->count;
    return 0;
}

uint64_t nodes_part_offset(const struct tr_nodes *nodes, uint32_t part)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < part; i++)
        offset += nodes->parts[i]->count;
    return offset;
}

void nodes_release(struct tr_nodes *nodes)
{
    if (atomic_fetch_sub_explicit(&nodes->references, 1, memory_order_acq_rel) > 1)
        return;
    for (uint32_t i = 0; i < nodes->num_parts; i++)
        nodes_release(nodes->parts[i]);
    free(nodes->parts);
    graph_release(nodes->graph);
    seed_list_release(nodes->list);
    free(nodes->original_ids);
    free(nodes);
}

void tr_nodes_close(struct tr_nodes *nodes)
{
    if (nodes != NULL && !session_is_child(nodes->graph->session))
        nodes_release(nodes);
}

uint32_t tr_nodes_ntype(const struct tr_nodes *nodes)
{
    return nodes->ntype;
}

size_t tr_nodes_count(const struct tr_nodes *nodes)
{
    return nodes->count;
}

static int check_piece(const struct tr_nodes *nodes, uint64_t offset, size_t count,
                       struct tr_error *error)
{
    if (nodes_are_pairs(nodes))
        return tr_error_set(error, TR_EINVAL, "the set has %s",
                            nodes->edges ? "edges; tr_edges_ids() gives them"
                                         : "pairs of nodes; tr_pairs_ids() gives their ends");
    if (offset <= nodes->count && count <= nodes->count - offset)
        return 0;
    return tr_error_set(error, TR_ERANGE, "nodes %" PRIu64 " to %" PRIu64 " of a set that has %zu",
                        offset, offset + count, nodes->count);
}

static void copy_ids(uint64_t *to, const uint64_t *from, size_t count)
{
    if (count > 0)
        memcpy(to, from, count * sizeof *to);
}

static void fill_ranks(const struct tr_nodes *nodes, uint64_t offset, size_t count, uint64_t *ids)
{
    for (size_t i = 0; i < count; i++)
        ids[i] = nodes->first_rank + offset + i;
}

/* A list is copied, since the set that it is of may be closed. */
static struct tr_nodes *copy_piece(const struct tr_nodes *nodes, uint64_t first, size_t count,
                                   struct tr_error *error)
{
    struct tr_nodes *piece = nodes_create(nodes->graph, nodes->ntype, count, error);
    if (piece == NULL)
        return NULL;
    copy_ids(piece->ids, nodes->ids + first, count);
    copy_ids(piece->original_ids, nodes->original_ids + first, count);
    return piece;
}

int tr_nodes_range(const struct tr_nodes *nodes, uint64_t first, size_t count,
                   struct tr_nodes **out, struct tr_error *error)
{
    *out = NULL;
    int rv = session_mine(nodes->graph->session, error);
    if (rv != 0)
        return rv;
    if (nodes_are_pairs(nodes))
        return tr_error_set(error, TR_EINVAL, "the set has %s",
                            nodes->edges ? "edges; tr_edges_range() takes a range of them"
                                         : "pairs of nodes; list those of the range");
    if (nodes->parts != NULL)
        return tr_error_set(error, TR_EINVAL,
                            "the set has several node types; take ranges of the sets that it was "
                            "made of, and join them");
    if (nodes->world != 0)
        return tr_error_set(error, TR_EINVAL,
                            "the set is the group of trainer %u of %u; take a range of the whole "
                            "set",
                            nodes->rank, nodes->world);
    rv = check_piece(nodes, first, count, error);
    if (rv != 0)
        return rv;
    *out = nodes->ranks < 0 ? copy_piece(nodes, first, count, error)
                            : nodes_create_range(nodes->graph, nodes->ranks,
                                                 nodes->first_rank + first, count, error);
    return *out != NULL ? 0 : TR_ENOMEM;
}

/* The IDs of a piece, or its original IDs. */
static int read_piece(struct tr_nodes *nodes, uint64_t offset, size_t count, int64_t timeout_ns,
                      bool original, uint64_t *ids, struct tr_error *error);

/* A piece of a set of several types, part by part, which share the time. */
static int read_parts(struct tr_nodes *nodes, uint64_t offset, size_t count, int64_t timeout_ns,
                      bool original, uint64_t *ids, struct tr_error *error)
{
    const struct deadline until = graph_until(nodes->graph, timeout_ns);
    int rv = 0;
    for (uint32_t i = 0; i < nodes->num_parts && count > 0 && rv == 0; i++) {
        struct tr_nodes *part = nodes->parts[i];
        size_t here = part->count > offset ? part->count - offset : 0;
        here = here < count ? here : count;
        if (here > 0)
            rv = read_piece(part, offset, here, deadline_left_ns(&until), original, ids, error);
        offset -= offset < part->count ? offset : part->count;
        ids += here;
        count -= here;
    }
    return rv;
}

static int read_piece(struct tr_nodes *nodes, uint64_t offset, size_t count, int64_t timeout_ns,
                      bool original, uint64_t *ids, struct tr_error *error)
{
    struct tr_graph *graph = nodes->graph;
    const struct deadline until = graph_until(graph, timeout_ns);
    int rv = session_mine(graph->session, error);
    if (rv == 0)
        rv = check_piece(nodes, offset, count, error);
    if (rv != 0)
        return rv;
    if (nodes->parts != NULL)
        return read_parts(nodes, offset, count, timeout_ns, original, ids, error);
    if (nodes->ranks < 0) {
        copy_ids(ids, (original ? nodes->original_ids : nodes->ids) + offset, count);
        return 0;
    }
    fill_ranks(nodes, offset, count, ids);
    /* In the set of all nodes, the node with rank r has the original ID r. */
    if (original && graph->book->ranks[nodes->ranks].set == RANKS_ALL)
        return 0;
    if (graph->book->ranks[nodes->ranks].stored)
        rv = graph_fetch_ranks(graph, nodes->ranks, ids, count, deadline_left_ns(&until), error);
    if (rv != 0 || !original)
        return rv;
    return tr_graph_original_ids(graph, nodes->ntype, ids, count, deadline_left_ns(&until), ids,
                                 error);
}

int tr_nodes_ids(struct tr_nodes *nodes, uint64_t offset, size_t count, int64_t timeout_ns,
                 uint64_t *ids, struct tr_error *error)
{
    return read_piece(nodes, offset, count, timeout_ns, false, ids, error);
}

int tr_nodes_original_ids(struct tr_nodes *nodes, uint64_t offset, size_t count, int64_t timeout_ns,
                          uint64_t *ids, struct tr_error *error)
{
    return read_piece(nodes, offset, count, timeout_ns, true, ids, error);
}

int nodes_read(struct tr_nodes *nodes, int64_t timeout_ns, uint64_t **ids, uint64_t **original_ids,
               struct tr_error *error)
{
    const struct deadline until = graph_until(nodes->graph, timeout_ns);
    *ids = malloc((nodes->count + 1) * sizeof **ids);
    *original_ids = malloc((nodes->count + 1) * sizeof **original_ids);
    int rv = *ids == NULL || *original_ids == NULL
                 ? tr_error_set(error, TR_ENOMEM, "no memory for a set of %zu nodes", nodes->count)
                 : tr_nodes_ids(nodes, 0, nodes->count, deadline_left_ns(&until), *ids, error);
    if (rv == 0)
        rv = tr_nodes_original_ids(nodes, 0, nodes->count, deadline_left_ns(&until), *original_ids,
                                   error);
    if (rv == 0)
        return 0;
    free(*ids);
    free(*original_ids);
    *ids = *original_ids = NULL;
    return rv;
}

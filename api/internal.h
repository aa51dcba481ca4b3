/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structs behind the public handles, for the command line, the model and tests; not exported.
 *
 * Lifetimes: everything made from a session holds the session's memory by a counted reference.
 * A graph runs its actors on a node of its own; they stop when the last handle on the graph is
 * closed or the session is. Frozen partitions are opened before the actors and closed after them.
 *
 * tr_session_interrupt() may do only what a signal handler may: it counts interrupts up and posts a
 * semaphore, on which a thread of the session waits to wake the ports of all graphs. A call notes
 * the number when it enters, and ends once it has changed; so none misses an interrupt that comes
 * between its entry and its sleep, and those that were inside end though the session is resumed at
 * once.
 *
 * A blocking call takes a port of the graph (graph_enter), talks to actors, and gives it back
 * (graph_leave); closing waits until all calls have left, after it woke them. The end of the actors
 * (the job is over, or this process has lost it) wakes them too, and refuses later ones.
 */
#ifndef API_INTERNAL_H
#define API_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include <troupe/troupe.h>

#include "actors/cluster/cluster.h"
#include "actors/cluster/plan.h"
#include "actors/data/batch_store.h"
#include "actors/data/seed_lists.h"
#include "actors/data/snapshot.h"
#include "actors/process_actors.h"
#include "actors/report/status.h"
#include "api/public_error.h"
#include "api/sized.h"
#include "graph/batch.h"
#include "graph/graph_meta.h"
#include "partition/store/store.h"
#include "runtime/base/deadline.h"
#include "runtime/base/error.h"
#include "runtime/base/fork_mark.h"
#include "runtime/core/node.h"
#include "runtime/core/port.h"
#include "schemas/messages.h"

/* A thread that waits for the end of a job polls this often. */
#define GRAPH_LOOK_NS 20000000L

struct tr_session {
    atomic_uint references;
    pthread_mutex_t mutex;             /* guards all below but what is set once */
    struct tr_session_options options; /* defaults filled in; set once */
    bool in_cluster;                   /* set once */
    struct cluster cluster;            /* set once; all zeros: none */
    char *checkpoints;                 /* what the options name */
    struct env *env;                   /* set once */
    struct batch_store *store;         /* set once */
    struct seed_lists *lists;          /* of its loaders; set once */
    /* See links_options; set before a graph is opened. Released when no loop is left to call it. */
    void (*silent)(void *arg, uint32_t node, uint32_t incarnation);
    void (*silent_release)(void *arg);
    void *silent_arg;
    uint32_t restarts; /* of this process, by its launcher; set before a graph is opened */
    atomic_ullong next_loader;
    atomic_uint interrupts; /* counted up by each */
    atomic_uint resumed;    /* the number up to which they are over */
    atomic_bool ended;      /* nobody has the session any more: the waker ends */
    sem_t woken;
    bool has_waker; /* set once */
    pthread_t waker;
    bool closed;
    struct tr_graph *graphs, *opening;
};

struct graph_port {
    struct port *port;
    struct graph_port *next;
};

struct tr_graph {
    atomic_uint references;
    struct tr_session *session; /* a reference */
    struct tr_graph *next;      /* of the session's, or of those that it is opening */
    unsigned seen;              /* interrupts when its opening began */
    char *path;                 /* of its book, as it was named; set once */
    struct store *store;
    const struct book *book;
    struct graph_meta meta;
    pthread_mutex_t mapping;         /* one thread at a time adds to parts and held */
    const struct graph_part **parts; /* [book->num_parts], while it runs; NULL: not here */
    struct snapshots *snapshots;
    struct snapshot **held;      /* [book->num_parts] */
    struct cluster_plan placing; /* without a cluster its plan alone */
    const struct plan *plan;     /* of placing */
    uint32_t process;            /* of the plan: this one */
    struct security *security;   /* NULL: no TLS */
    struct process_actors actors;
    struct job_progress progress;
    struct status_options status;
    char roles[64];
    struct kinds kinds;
    struct node *node;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t left;
    bool stopping;
    bool stopped;
    bool over;      /* its actors have gone, and nobody here answers a call any more */
    uint32_t calls; /* threads inside */
    struct graph_port *idle, *busy;
    struct graph_metrics *metrics; /* that its node serves; freed after it */
};

struct tr_nodes {
    atomic_uint references;
    struct tr_graph *graph; /* a reference */
    uint32_t ntype;
    size_t count;
    /* A range of ranks of the book's table of that number; or -1: listed. */
    int ranks;
    uint64_t first_rank;
    /* Where they are listed: the IDs, which loaders' proxies read in place and may hold longer than
     * the set lives, are those of the list, a reference. */
    struct seed_list *list;
    uint64_t *ids, *original_ids;
    /* These are of edges and pairs, where ntype is TR_NTYPE_PAIRS. The ids of edges are theirs, or
     * they are a range from first_rank on; the ids of pairs are those of the first one's source and
     * destination, then of the second one's, and so on. No original_ids. */
    uint32_t etype;
    bool edges;
    bool
        reversed; /* ids are of each edge and its reverse, or UINT64_MAX; of several types: of some */
    /* A set of several types has a set of each, of which this holds a reference; then ntype is
     * TR_NTYPE_SEVERAL or, of edges and pairs, etype TR_ETYPE_SEVERAL. NULL: the set is of one. */
    struct tr_nodes **parts; /* [num_parts] */
    uint32_t num_parts;
    /* These are of a trainer's group; world 0: it is none. */
    uint64_t all_count, deal_hash;
    uint32_t rank, world;
};

static inline bool nodes_are_pairs(const struct tr_nodes *nodes)
{
    return nodes->ntype == TR_NTYPE_PAIRS;
}

/* Whether they are edges by rank, which no list is made of; of several types: none of them. */
static inline bool nodes_are_edge_ranks(const struct tr_nodes *nodes)
{
    return nodes->edges && nodes->ids == NULL && nodes->parts == NULL;
}

/* The sets of one type each that a set is made of: itself, where it is of one. */
static inline uint32_t nodes_num_parts(const struct tr_nodes *nodes)
{
    return nodes->parts == NULL ? 1 : nodes->num_parts;
}
static inline const struct tr_nodes *nodes_part(const struct tr_nodes *nodes, uint32_t part)
{
    return nodes->parts == NULL ? nodes : nodes->parts[part];
}

/* nodes.c: one set of several, where `check` finds nothing wrong with set `at` beside those before
 * it. */
typedef int joined_check(struct tr_nodes *const *sets, uint32_t at, struct tr_error *error);
int nodes_join(struct tr_nodes *const *sets, uint32_t num_sets, joined_check *check,
               struct tr_nodes **out, struct tr_error *error);
uint64_t nodes_part_offset(const struct tr_nodes *nodes, uint32_t part);

/* The mini-batch inside, as the model takes it; as long as the batch is held. */
const struct mini_batch *batch_mini(const struct tr_batch *batch);

/* The frozen partitions [tr_graph_num_parts], until graph or session is closed; NULL after that.
 * In a cluster those are NULL that are not here, unless graph_map_parts brought them. */
const struct graph_part *const *graph_parts(const struct tr_graph *graph);

/* Maps the files of all partitions that are not here, for exact inference. TR_ENOENT with a text
 * where they are not to be seen from this host. */
int graph_map_parts(struct tr_graph *graph, struct tr_error *error);

/* The node that runs the graph's actors; until graph or session is closed. */
struct node *graph_node(struct tr_graph *graph);

/* session.c */
void session_acquire(struct tr_session *session);
void session_release(struct tr_session *session);
/* Whether this process forked from the one that opened the session. Nothing of the session may be
 * touched then: its threads are not here, and they may have held any lock. */
static inline bool session_is_child(const struct tr_session *session)
{
    return fork_mark_is_child(batch_store_mark(session->store));
}
/* TR_EFORKED in such a process. First of all in every call. */
static inline int session_mine(const struct tr_session *session, struct tr_error *error)
{
    return session_is_child(session) ? error_forked(error, "the session") : 0;
}

/* 0, *seen: interrupts so far; TR_ECANCELED: it was interrupted and is not resumed. */
int session_seen(const struct tr_session *session, unsigned *seen);
/* Whether one came since then. */
bool session_is_interrupted(const struct tr_session *session, unsigned seen);

/* Why a call ended that only an interrupt cancels. */
static inline const char *call_text(int code)
{
    return code == TR_ECANCELED ? "interrupted" : tr_strerror(code);
}

/* The roles that this process plays. */
static inline const struct plan_process *graph_plays(const struct tr_graph *graph)
{
    return &graph->plan->processes[graph->process];
}

/* Loops of this process: the plan may say how many. */
static inline uint32_t graph_loops(const struct tr_graph *graph)
{
    uint32_t loops = graph_plays(graph)->loops;
    return loops != 0 ? loops : graph->session->options.loops;
}

/* graph_load.c: opens the book, makes the plan, and loads what is to be here. TR_ECANCELED: the
 * session was interrupted; TR_ETIMEDOUT. */
int graph_load(struct tr_graph *graph, const char *path, int64_t timeout_ns, struct error *error);
/* Processes of the job on this machine, this one included. */
uint32_t graph_processes_here(const struct tr_graph *graph);

/* graph_cluster.c: what this process plays, and its links to the others. */
int graph_make_plan(struct tr_graph *graph, struct error *error);
/* Waits while another process listens at this one's address: at most timeout_ns, and never longer
 * than a process whose launcher was killed takes to end. TR_ETIMEDOUT and TR_ECANCELED name it. */
int graph_link(struct tr_graph *graph, int64_t timeout_ns, struct error *error);
/* Says of itself what graph->status holds; in a cluster an actor tells it to those that ask. */
int graph_spawn_status(struct tr_graph *graph);
/* The incarnation of its node: that of the session's options, or from the wall clock, so that each
 * life of a process of a cluster has a higher one than those before. */
uint32_t graph_incarnation(const struct tr_graph *graph);

/* graph.c */
void graph_acquire(struct tr_graph *graph);
/* False: the last reference has gone, the graph is being closed. */
bool graph_try_acquire(struct tr_graph *graph);
void graph_release(struct tr_graph *graph);
void graph_stop(struct tr_graph *graph);
/* TR_ECLOSED once the graph is stopping, or its actors have gone; TR_ECANCELED: interrupted. What
 * waits at the port ends with an interrupt. */
int graph_enter(struct tr_graph *graph, struct graph_port **port);
/* The same for what does not wait, and is to be said whether the session is interrupted or not. */
int graph_enter_to_tell(struct tr_graph *graph, struct graph_port **port);
void graph_leave(struct tr_graph *graph, struct graph_port *port);
/* Has all calls inside look whether they are interrupted. */
void graph_wake(struct tr_graph *graph);

/* graph_metrics.c: as the cluster file says, from the node's start on; what it cannot have is
 * logged. */
int graph_serve_cluster_metrics(struct tr_graph *graph, struct error *error);
/* graph_metrics.c: once the actors have gone. */
void graph_metrics_free(struct tr_graph *graph);

/* graph_call.c */
/* Why a call ended as rv says: where that is TR_ECLOSED since the actors of this process ended for
 * a reason, or its node failed, it is that reason; else rv. */
int graph_reason(struct tr_graph *graph, int rv);
/* Give error what a call ended with, or the reason behind it. Before graph_leave, after which
 * another thread may have closed the graph. */
int graph_refused(struct tr_graph *graph, int rv, struct tr_error *error);
/* Adds to a failure by time the first process that there is no connection with, if there is one. */
void graph_name_absent(struct tr_graph *graph, struct error *why);
int graph_failed(struct tr_graph *graph, const struct error *why, struct tr_error *error);
/* TR_ECLOSED of a call of that name: the text names what ended, the session or the job; while
 * neither has, it is the call's own (why, which may be NULL). */
int graph_say_closed(struct tr_graph *graph, const char *call, const struct error *why,
                     struct tr_error *error);

/* A time of the port's clock for a timeout of a public call (TR_WAIT_FOREVER, or ns). */
uint64_t graph_deadline(const struct tr_graph *graph, const struct port *port, int64_t timeout_ns);
/* The same for a call of several steps, which share its time: deadline_left_ns() is each one's. */
struct deadline graph_until(const struct tr_graph *graph, int64_t timeout_ns);

/* One operation of the graph's client (actors/data/client.h), again while the client is down.
 * make(arg, port, timeout_ns, &request) makes the request of each attempt, which may take
 * timeout_ns. */
int graph_operate(struct port *port, uint64_t deadline_ns,
                  int (*make)(void *arg, struct port *port, uint64_t timeout_ns,
                              struct message **request),
                  void *arg, struct message **reply, struct error *error);

int graph_find_client(struct port *port, uint64_t deadline_ns, struct address *client);

/* The same in two steps, so that several are under way: to the client at that address, and to
 * another one if that is gone. A call that has begun is awaited or, by port_abandon, given up,
 * once; one that could not begin (errand NULL) is awaited all the same, and tried again then. */
int graph_begin(struct port *port, struct address client, uint64_t deadline_ns,
                int (*make)(void *arg, struct port *port, uint64_t timeout_ns,
                            struct message **request),
                void *arg, struct port_errand **errand);
int graph_await(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                int (*make)(void *arg, struct port *port, uint64_t timeout_ns,
                            struct message **request),
                void *arg, struct message **reply, struct error *error);

/* graph_info.c: the number of a feature's name (NULL: MSG_MASK_ALL); TR_ENOENT names the option. */
int graph_find_name(const struct tr_graph *graph, const char *name, const char *option,
                    uint32_t *out, struct tr_error *error);

/* nodes.c */
/* A set with room for that many nodes; NULL: no memory, and the error says so. */
struct tr_nodes *nodes_create(struct tr_graph *graph, uint32_t ntype, size_t count,
                              struct tr_error *error);
/* A range of ranks of a table of the book. The same. */
struct tr_nodes *nodes_create_range(struct tr_graph *graph, int ranks, uint64_t first_rank,
                                    uint64_t count, struct tr_error *error);
/* All IDs of a set, of both kinds; free them. */
int nodes_read(struct tr_nodes *nodes, int64_t timeout_ns, uint64_t **ids, uint64_t **original_ids,
               struct tr_error *error);
void nodes_release(struct tr_nodes *nodes);

/* pairs.c: whether all are nodes of a type; TR_ERANGE names the first that is none, by the name of the
 * array. */
int graph_check_ends(const struct tr_graph *graph, uint32_t ntype, const char *name,
                     const uint64_t *ends, size_t count, struct tr_error *error);

/* fetch.c: whether the graph has that type, and is of this process: first of all in a call. */
int graph_check_ntype(const struct tr_graph *graph, uint32_t ntype, struct tr_error *error);
int graph_check_etype(const struct tr_graph *graph, uint32_t etype, struct tr_error *error);
/* The same of what only out-edges answer; TR_EUNSUPPORTED: the partitions have none. */
int graph_check_out_edges(const struct tr_graph *graph, uint32_t etype, struct tr_error *error);

/* fetch.c: rows of a tensor, of a thread that has entered the graph. */
struct graph_tensor_rows {
    uint32_t ntype, era;
    uint64_t number, row_bytes;
};
int graph_fetch_tensor(struct tr_graph *graph, struct port *port,
                       const struct graph_tensor_rows *tensor, const uint64_t *ids, size_t count,
                       uint64_t deadline_ns, void *rows, struct error *error);

/* fetch.c: the global IDs of ranks of a table, or of ranks of edges, which take their places. */
int graph_fetch_ranks(struct tr_graph *graph, int ranks, uint64_t *ids, size_t count,
                      int64_t timeout_ns, struct tr_error *error);
int graph_fetch_edges(struct tr_graph *graph, uint32_t etype, uint64_t *ids, size_t count,
                      int64_t timeout_ns, struct tr_error *error);
/* fetch.c: rows [count * row_bytes] of a table; type: of nodes or of edges, as the table says; it was
 * checked. */
int graph_fetch_table(struct tr_graph *graph, uint32_t type, uint32_t table, size_t row_bytes,
                      const uint64_t *ids, size_t count, int64_t timeout_ns, void *rows,
                      struct tr_error *error);
/* fetch.c: rows of a table of pairs of IDs, which go to two arrays [count]; either may be NULL. */
int graph_fetch_pairs(struct tr_graph *graph, uint32_t type, uint32_t table, const uint64_t *ids,
                      size_t count, int64_t timeout_ns, uint64_t *firsts, uint64_t *seconds,
                      struct tr_error *error);

#endif

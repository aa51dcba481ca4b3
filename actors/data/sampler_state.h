/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the sampler share this. */
#ifndef ACTORS_DATA_SAMPLER_STATE_H
#define ACTORS_DATA_SAMPLER_STATE_H

#include "actors/common/part_call.h"
#include "actors/common/part_locator.h"
#include "actors/common/process_member.h"
#include "actors/data/epoch_plan.h"
#include "actors/data/sampled_batch.h"
#include "actors/data/sampler.h"
#include "actors/data/seed_set.h"
#include "graph/batch_builder.h"
#include "graph/edge_ends.h"
#include "graph/reverse_edges.h"
#include "runtime/core/account.h"
#include "runtime/core/call.h"
#include "runtime/core/crew.h"
#include "runtime/core/timer.h"
#include "schemas/body.h"
#include "schemas/messages.h"

struct sampler;
struct task;

struct loader_state;

/* A batch for a proxy in another process, flattened, until it was pulled. */
struct kept_batch {
    struct kept_batch *next;
    struct sampler *sampler;
    uint32_t epoch;
    uint64_t batch;
    struct buffer *buffer;
    uint64_t bytes, pulled;     /* of its pieces, in whatever order */
    struct sampled_batch *from; /* until it is flattened */
    struct message *request;    /* answered then */
    bool dropped;               /* and freed when the crew is done with it */
    struct job job;
};

/* The source of batches and the rule by which they are drawn: an open loader or, from its request
 * until its batch was handed over, a single draw. */
struct loader_state {
    struct sampler *sampler;
    struct address opener; /* the proxy; with its number this names the loader */
    struct call_id down;   /* the monitor of one in another process */
    struct kept_batch *kept;
    struct msg_loader_open open;
    bool once;               /* a single draw */
    struct message *message; /* kept: its body has the spec */
    struct epoch_plan epochs;
    struct seed_set seeds; /* without lists: requests for batches give those IDs */
    /* The nodes that negatives are drawn from, all their ranks: of each segment of pairs for each enum
     * pair_end. */
    struct seed_segment *negatives; /* [2 * seeds.num_segments] */
    /* The one version of each partition that its batches are drawn from, read here or asked for;
     * and what of these is here, held until the loader closes. */
    uint32_t *versions;       /* [num_parts] */
    struct snapshot **pinned; /* [num_parts]; NULL: elsewhere */
    struct sample_spec spec;  /* its terms lie in the message */
    struct batch_builder_plan plan;
    struct epoch_orders orders;
    uint64_t made; /* (partition, term): those before have what their draws here are made by */
    struct loader_state *next;
};

/* The questions to one partition for one task, one request at a time. */
enum ask_what { ASK_NOTHING, ASK_SEEDS, ASK_SAMPLES, ASK_ROWS };

struct ask {
    struct task *task;
    uint32_t part;
    enum ask_what what;
    struct part_call call;
    /* Samples: what was answered so far. */
    uint32_t sections_done, rows_done;
    /* Rows: of this list of the builder's, from `at` on; the piece that is under way. */
    uint32_t list, at, piece;
};

enum task_step {
    TASK_MAKE,
    TASK_SEEDS,
    TASK_READ_SEEDS,
    TASK_WAIT_SEEDS,
    TASK_PLACE,
    TASK_WAIT_SAMPLES,
    TASK_DRAW,
    TASK_GATHER,
    TASK_WAIT_ROWS,
    TASK_WAIT_KEEP, /* the batch is made; there was no room to keep it */
};

/* Seeds of one slice: each is mapped by its order, and its ID lies anywhere in a large set. */
#define SAMPLER_SLICE_SEEDS 16384u
/* Edges, each of whose ends is searched for. */
#define SAMPLER_SLICE_EDGES (SAMPLER_SLICE_SEEDS / EDGE_ENDS_COST)

struct task {
    struct sampler *sampler;
    struct batch_builder builder;
    struct sampled_batch *out;
    struct snapshot **snapshots;     /* [num_parts]; NULL: asked for by message */
    const struct graph_part **parts; /* of the snapshots */
    struct loader_state *loader;
    /* Places in the epoch's order: the first, and those whose seeds are not added yet. */
    uint64_t first_seed, next_seed, end_seed;
    /* The slice that is found next: what each holds when is said in sampler_seeds.c. */
    uint32_t num_seeds;
    struct vec seeds;          /* uint64_t[num_seeds], of listed pairs [2 * num_seeds] */
    bool finds_ranks;          /* seeds are ranks of edges, whose IDs are asked for */
    struct vec ends;           /* uint64_t[2 * num_seeds], of edges */
    bool finds_reverses;       /* the ends are known, and now the edges' reverses are asked for: */
    uint32_t reverse_segment;  /* those of this segment; of the ones before they are left out */
    struct vec originals;      /* uint64_t[num_seeds], of edges whose reverses are left out */
    struct vec reverses;       /* see sampler_reverse.c */
    struct vec given_reverses; /* uint64_t[num_seeds], of edges that come with theirs */
    /* [segments + 1], of the loader's segments, or of a negative's ends */
    uint32_t *segment_starts;
    struct vec mixed_seeds;    /* uint64_t[num_seeds], of several segments; of pairs two each */
    struct vec mixed_segments; /* uint32_t[num_seeds] */
    struct vec seed_rows;      /* uint32_t[num_seeds] */
    struct vec seed_places;    /* uint32_t[num_seeds] */
    uint32_t *seed_starts;     /* [num_parts * segments + 1] */
    uint32_t next_given;       /* of the seeds that the request gives */
    /* Once all pairs are added, segment by segment: of so many were negatives begun, and of the last of
     * these the numbers of the negatives that are not added yet. */
    uint32_t negative_segments;
    uint64_t next_negative, end_negative;
    bool finds_negatives;   /* the slice is of these, see sampler_negatives.c, */
    uint32_t num_slice;     /* of so many; num_seeds are the nodes that are drawn for them */
    struct vec negatives;   /* uint64_t[2 * num_slice] */
    struct vec pending;     /* uint32_t[num_slice] */
    uint32_t num_pending;   /* those that are drawn, for the time: */
    uint32_t negative_try;  /* from 0 */
    bool finds_edges;       /* their nodes are known, and now it is asked whether they are edges */
    uint32_t next_question; /* of those that are answered here */
    struct edge_scan scan;
    struct message *request; /* NULL: the task is idle */
    enum task_step step;
    uint64_t recover_until_ns;
    uint32_t asks_open;  /* asks that are not answered */
    struct ask *asks;    /* [num_parts] */
    uint64_t order;      /* of their beginning: older ones first */
    uint64_t flat_bytes; /* of a batch that will be pulled */
    struct timer keep;   /* ends its waiting for room */
};

struct sampler {
    struct actor *self;
    const struct sampler_options *options;
    struct loader_state *loaders;
    uint32_t num_loaders, num_draws; /* draws are among the loaders */
    struct part_locator servers;
    struct task tasks[SAMPLER_DRAFTS_MAX];
    struct message *queue[SAMPLER_QUEUE_MAX]; /* a ring of batch requests */
    uint32_t queue_first, queue_count;
    uint64_t tasks_begun;
    bool said_single; /* that edges have no reverse, which is said once */
    struct batch_builder_space space;
    struct account kept; /* batches that are to be pulled */
    struct process_member member;
    struct timer work;
};

/* sampler_loader.c */
/* A loader that this process opened: proxies of others may use the same number. */
struct loader_state *sampler_find_loader(struct sampler *sampler, struct address opener,
                                         uint64_t loader);
void sampler_open_loader(struct sampler *sampler, struct message *request);
/* The loader that a request for a single draw describes: from now on, or since it came before. A
 * TR_E* with its message: it cannot be drawn. */
int sampler_open_draw(struct sampler *sampler, struct message *request, struct loader_state **out,
                      struct error *error);
/* Removes the draws whose batches were handed over or given up. */
void sampler_forget_draws(struct sampler *sampler);
/* Takes it off the list: its tasks have ended. */
void sampler_remove_loader(struct sampler *sampler, struct loader_state *loader);
void sampler_free_loaders(struct sampler *sampler);

/* sampler_ask.c: messages to servers. They send nothing where nothing is to be asked. */
void sampler_init_ask(struct ask *ask, struct task *task, uint32_t part);
void sampler_ask_seeds(struct task *task);
void sampler_ask_samples(struct task *task);
void sampler_ask_rows(struct task *task);
void sampler_cancel_asks(struct task *task);

/* sampler.c */
/* Lets sampler_work() go on, in this turn or the next one. */
void sampler_schedule(struct sampler *sampler);
/* Ends what waits for its batches, and removes it. */
void sampler_close_loader(struct loader_state *loader);

/* sampler_task.c */
int sampler_init_task(struct sampler *sampler, struct task *task);
void sampler_fini_task(struct task *task);
/* Takes the request over: answers it, or makes it that of the task, which is idle. */
void sampler_begin_task(struct task *task, struct message *request);
/* Does one slice of a task that waits for nothing. */
void sampler_step_task(struct task *task);
/* Whether answers or room are to come before the task can go on. */
bool sampler_task_waits(const struct task *task);
/* Answers its request with the error, and makes it idle. */
void sampler_fail_task(struct task *task, int code, const char *text);

/* sampler_reply.c */
/* Which batch a MSG_BATCH_REQUEST or a MSG_DRAW_REQUEST wants. */
struct msg_batch_request sampler_asked(const struct message *request);
/* The IDs of seeds that it gives. */
const uint64_t *sampler_given(const struct message *request, uint32_t *num_ids);
/* The batch is made, and takes that many bytes to pull; 0: it lies in the store. */
void sampler_answer(struct sampler *sampler, struct message *request, uint64_t bytes);
/* The store has no room for a batch of that many bytes. */
void sampler_answer_full(struct sampler *sampler, struct message *request, uint64_t bytes);
void sampler_fail_request(struct sampler *sampler, struct message *request, int code,
                          const char *text);

/* sampler_keep.c: batches that are pulled. The bytes of a finished one, which may wait for room
 * from now on; then it and its request are taken over: it is kept, and the request is answered when
 * it is flattened, now or by the crew. 0 or a TR_E* with its message: then they are not. */
int sampler_measure(struct task *task, struct error *error);
bool sampler_has_room(const struct task *task);
int sampler_keep(struct task *task, struct error *error);
/* The bytes of a batch that is kept, to be pulled from its beginning; 0: it is not kept, or not
 * flattened yet. */
uint64_t sampler_offer_kept(struct loader_state *loader, uint32_t epoch, uint64_t batch);
void sampler_drop_kept(struct loader_state *loader);
void sampler_pull(struct sampler *sampler, struct message *request);
/* Nobody will pull it: drops what is kept of it. */
void sampler_unwanted(struct sampler *sampler, const struct message *notice);

/* sampler_slice.c: the next slice's seeds in seeds[], segment by segment. TR_EINVAL: the request gives
 * fewer seeds than the batch has, or more. */
int sampler_fill_slice(struct task *task, struct error *error);

/* sampler_seeds.c: finds the next slice of seeds (1: partitions are to be asked for some, 0: all are
 * known); reads what of it is here (1: more is left), once the others are asked; then, when all came,
 * adds it to the batch (1: more slices are to come). Before that it finds the ends of edges whose ranks
 * were asked for first (finds_ranks), which are to be asked for (1). */
int sampler_find_seeds(struct task *task, struct error *error);
int sampler_read_seeds(struct task *task, struct error *error);
int sampler_find_ends(struct task *task, struct error *error);
int sampler_add_seeds(struct task *task, struct error *error);
/* Which negatives of a slice are edges: 1, that is to be asked. */
int sampler_find_negative_edges(struct task *task, struct error *error);
/* Draws the negatives of a slice that were edges again: 0: all are known, 1: some are to be asked
 * for. */
int sampler_draw_again(struct task *task, struct error *error);
/* Before any seed: the edges that a single draw leaves out. */
int sampler_exclude(struct task *task, struct error *error);
int sampler_make_seeds(const struct ask *ask, struct message **request);
int sampler_take_seeds(struct ask *ask, struct message *reply, struct error *error);

/* The segment of pairs whose negatives are found. */
static inline const struct seed_segment *sampler_negative_pairs(const struct task *task)
{
    return &task->loader->seeds.segments[task->negative_segments - 1];
}

/* A segment of the slice: one of the loader's or, of negatives, an enum pair_end. */
static inline const struct seed_segment *sampler_segment(const struct task *task, uint32_t s)
{
    return task->finds_negatives
               ? &task->loader->negatives[2 * (size_t)(task->negative_segments - 1) + s]
               : &task->loader->seeds.segments[s];
}

/* Whether edges have their ends found now. */
static inline bool sampler_finds_ends(const struct task *task)
{
    const struct seed_segment *segment = sampler_segment(task, 0);
    return !task->finds_ranks && !task->finds_reverses && !task->finds_edges &&
           seed_segment_has_edges(segment);
}

/* Bytes that identify a seed: the ID of a node or of an edge, or those of an edge's ends. */
static inline size_t sampler_seed_bytes(const struct task *task)
{
    return (sampler_finds_ends(task) ? 2 : 1) * sizeof(uint64_t);
}

/* Of negatives those of each enum pair_end. Questions about edges are of one segment. */
static inline uint32_t sampler_num_segments(const struct task *task)
{
    if (task->finds_reverses || task->finds_edges)
        return 1;
    return task->finds_negatives ? 2 : task->loader->seeds.num_segments;
}

/* Seeds of the slice whose IDs, or whose ends, a partition knows. */
static inline uint32_t sampler_seeds_of(const struct task *task, uint32_t part)
{
    const size_t segments = sampler_num_segments(task);
    return task->seed_starts[(part + 1) * segments] - task->seed_starts[part * segments];
}

/* Whether the slice is of edges whose reverses the batch leaves out. */
static inline bool sampler_leaves_reverses(const struct task *task)
{
    return !task->finds_negatives && (task->loader->open.flags & MSG_LOADER_EXCLUDE_REVERSE) != 0;
}

/* Whether the original IDs of a segment's edges come with their ends, now. */
static inline bool sampler_finds_originals(const struct task *task, uint32_t s)
{
    return sampler_leaves_reverses(task) && sampler_finds_ends(task) &&
           reverse_candidates(sampler_segment(task, s)->reverse_rule) > 0;
}

/* sampler_questions.c: what a partition is asked of the row at that place of a slice, and the request
 * that asks it of all rows in the partition. TR_ENOMEM. */
typedef struct reverse_question sampler_question(const struct task *task, uint32_t at);
int sampler_make_questions(const struct ask *ask, uint32_t etype, sampler_question *question,
                           struct message **request);

/* sampler_reverse.c: leaves the reverses that were found out of the batch, and goes on to the next
 * segment of the slice's edges, whose ends are known (1: its reverses are to be asked for, 0: all are
 * left out); reads those here. */
int sampler_find_reverses(struct task *task, struct error *error);
int sampler_read_reverses(struct task *task, uint32_t part, struct error *error);
int sampler_make_reverses(const struct ask *ask, struct message **request);
int sampler_take_reverses(struct ask *ask, struct message *reply, struct error *error);

/* Whether negatives of the slice that are edges are drawn again. */
static inline bool sampler_checks_negatives(const struct task *task)
{
    return task->finds_negatives && task->loader->plan.negatives.no_edges != 0;
}

/* sampler_negatives.c: whether negatives are left, once all pairs are added; goes on to the next
 * segment that has some. */
bool sampler_has_negatives(struct task *task);
/* Draws the next slice of negatives, whose nodes are found then; makes the
 * questions which are edges; answers those here (1: more is left); whether some are to be drawn again;
 * draws these, whose nodes are found then; adds the slice (1: more slices are to come). */
int sampler_fill_negatives(struct task *task, struct error *error);
int sampler_question_negatives(struct task *task, struct error *error);
int sampler_read_negative_edges(struct task *task);
int sampler_make_negative_edges(const struct ask *ask, struct message **request);
bool sampler_settle_negatives(struct task *task);
void sampler_redraw_negatives(struct task *task);
int sampler_add_negatives(struct task *task, struct error *error);

/* sampler_answer.c: what came back; 1 more is to be asked of that partition, 0 done. */
int sampler_take_samples(struct ask *ask, struct message *reply, struct error *error);
int sampler_take_rows(struct ask *ask, struct message *reply, struct error *error);

/* sampler_request.c: whether something is left to ask; then the bytes of its reply are in the call.
 * And the request for it. */
bool sampler_wants_samples(struct ask *ask);
bool sampler_wants_rows(struct ask *ask);
int sampler_make_samples(const struct ask *ask, struct message **request);
int sampler_make_rows(const struct ask *ask, struct message **request);

/* The sections of the rows request that the ask stands at: each table that is wanted of the nodes
 * [ask->at, ask->at + ask->piece) of ask->list. Returns their number. */
struct rows_piece {
    struct batch_builder_rows rows;
    uint32_t count; /* of those nodes that have a row: seeds have labels, others none */
};
uint32_t sampler_rows_pieces(const struct ask *ask,
                             struct rows_piece pieces[BATCH_BUILDER_TABLES_MAX]);

/* Whether that edge type has a section in sample requests to that partition. */
bool sampler_samples_etype(const struct ask *ask, uint32_t etype);

static inline const struct batch_builder_list *ask_list(const struct ask *ask, uint32_t list)
{
    return &batch_builder_lists(&ask->task->builder, list)[ask->part];
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch request becomes a task when one is idle, and a task goes through these steps:
 *
 *     MAKE                                         until what its draws are made by is there, then
 *     SEEDS -> [READ_SEEDS] -> WAIT_SEEDS          once a slice of seeds (for edges by rank, the
 *       ^            ^_____________|               last two once more for their ends), then
 *       |__________________________|
 *     PLACE -> WAIT_SAMPLES -> DRAW                once a layer, then
 *       ^________________________|
 *     PLACE -> GATHER -> WAIT_ROWS -> [WAIT_KEEP] -> idle
 *
 * Invariants: a task that has a request answers it exactly once, and is idle afterwards; it holds
 * its snapshots, its batch and its asks until then. It waits only for what it asked of others
 * (asks_open) or for room to keep its batch; everything else is done a slice at a time by
 * sampler_work(), which is scheduled whenever something can go on. Servers are asked before what is
 * here is read, for seeds, in each hop and for rows, so that the answers travel meanwhile.
 */
#include "actors/data/sampler.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "actors/common/error_reply.h"
#include "actors/data/sampler_state.h"
#include "graph/local_sample.h"
#include "graph/samplers.h"
#include "runtime/core/directory.h"

void sampler_name(uint32_t number, char *name, size_t name_size)
{
    snprintf(name, name_size, "sampler/%" PRIu32, number);
}

void sampler_fail_request(struct sampler *s, struct message *request, int code,
                          const char *sentence)
{
    struct error error;
    error_set(&error, code, "%s", sentence);
    error_reply_send(s->self, request, &error);
}

static void sampler_work(struct actor *self, void *arg);

void sampler_schedule(struct sampler *s)
{
    if (!timer_is_started(&s->work))
        timer_start(s->self, &s->work, actor_now_ns(s->self), sampler_work, s);
}

/* Releases the snapshots that this task pinned and, unless it was handed over, its batch. */
static void release_borrowed(struct task *task)
{
    batch_builder_end(&task->builder);
    for (uint32_t p = 0; p < task->builder.num_parts; p++) {
        snapshot_release(task->snapshots[p]);
        task->snapshots[p] = NULL;
    }
    sampled_batch_release(task->out);
    task->out = NULL;
}

static void finish_task(struct task *task)
{
    /* The asks end first: an answer is put where the batch's memory is. The request was answered
     * by the caller; without it the task is idle. */
    sampler_cancel_asks(task);
    timer_stop(&task->keep);
    release_borrowed(task);
    task->request = NULL;
    sampler_schedule(task->sampler);
}

void sampler_fail_task(struct task *task, int code, const char *sentence)
{
    sampler_fail_request(task->sampler, task->request, code, sentence);
    finish_task(task);
}

const uint64_t *sampler_given(const struct message *request, uint32_t *num_ids)
{
    const struct msg_draw_request *draw = (const void *)request->head;
    const uint64_t *ids;
    uint64_t count;
    *num_ids = ((const struct msg_batch_request *)(const void *)request->head)->num_seeds;
    if (request->frame.kind != MSG_DRAW_REQUEST)
        return message_body(request);
    int rv = draw_request_ids(draw, message_body(request), request->frame.body_bytes, &ids, &count);
    *num_ids = rv == 0 ? (uint32_t)count : 0;
    return rv == 0 ? ids : NULL;
}

struct msg_batch_request sampler_asked(const struct message *request)
{
    const struct msg_draw_request *draw = (const void *)request->head;
    if (request->frame.kind == MSG_DRAW_REQUEST)
        return (struct msg_batch_request){ .loader = draw->draw };
    return *(const struct msg_batch_request *)(const void *)request->head;
}

static void sampler_reply(struct sampler *s, struct message *request, uint64_t bytes, bool full)
{
    const struct msg_batch_request asked = sampler_asked(request);
    struct message *reply = message_create(s->self, MSG_BATCH_REPLY);
    if (reply == NULL) {
        sampler_fail_request(s, request, TR_ENOMEM, "no memory for a reply");
        return;
    }
    *(struct msg_batch_reply *)message_head(reply) = (struct msg_batch_reply){
        .loader = asked.loader,
        .batch = asked.batch,
        .bytes = bytes,
        .epoch = asked.epoch,
        .full = full,
    };
    actor_reply(s->self, request, reply);
}

/* bytes 0: the batch lies in the store. */
void sampler_answer(struct sampler *s, struct message *request, uint64_t bytes)
{
    sampler_reply(s, request, bytes, false);
}

/* The requester shares no batch store with this sampler: it pulls the batch by messages. */
static bool is_pulled(const struct sampler *s, const struct message *request)
{
    return s->options->flat || request->frame.from.node != actor_address(s->self).node;
}

/* The store may be full: that is no failure of the sampler, which asking again would mend. */
static void put_in_store(struct task *task)
{
    struct sampler *s = task->sampler;
    struct sampled_batch *batch = task->out;
    task->out = NULL;
    size_t bytes = sampled_batch_bytes(batch); /* before the deposit, which consumes it */
    /* The deposit comes before the answer: the batch may be collected as soon as that has come. */
    int rv = batch_store_deposit(s->options->store, batch);
    if (rv != 0 && rv != TR_EFULL) {
        sampler_fail_task(task, rv, "no loader waits for the batch any more");
        return;
    }
    if (rv == 0)
        batch_store_note_made(s->options->store);
    sampler_reply(s, task->request, rv == 0 ? 0 : bytes, rv != 0);
    finish_task(task);
}

static void keep_task(struct task *task)
{
    struct error error = { 0 };
    int rv = sampler_keep(task, &error);
    if (rv != 0)
        sampler_fail_task(task, rv, error.text);
    else
        finish_task(task);
}

static void complete_task(struct task *task)
{
    struct error error = { 0 };
    int rv;
    if (!is_pulled(task->sampler, task->request))
        put_in_store(task);
    /* The batch is measured before it waits: one that can never have room would wait in vain. */
    else if ((rv = sampler_measure(task, &error)) != 0)
        sampler_fail_task(task, rv, error.text);
    else
        task->step = TASK_WAIT_KEEP;
}

static void finish_hop(struct task *task, struct error *error, int *rv)
{
    *rv = batch_builder_open_hop(&task->builder, error);
    /* The step is set before the asks are sent, so that whatever comes of them finds it. */
    task->step = TASK_WAIT_SAMPLES;
    if (*rv == 0)
        sampler_ask_samples(task);
}

static void open_rows(struct task *task, struct error *error, int *rv)
{
    *rv = batch_builder_open_rows(&task->builder, error);
    task->step = TASK_GATHER; /* before the asks, as in finish_hop */
    if (*rv == 0)
        sampler_ask_rows(task);
}

/* Makes a piece of what the loader's draws of partitions that are read here are made by: 1 more, 0
 * all is there. Once a loader: each of its tasks goes on where the one before stood. */
static int make_slice(struct task *task, struct error *error)
{
    struct loader_state *l = task->loader;
    const struct sample_spec *spec = &l->spec;
    const uint64_t terms = (uint64_t)spec->num_layers * spec->num_etypes;
    const struct sample_method *method = sample_method_find(spec->kind);
    const uint64_t all = method == NULL || method->make == NULL ? 0
                                                                : terms * task->builder.num_parts;
    for (; l->made < all; l->made++) {
        struct local_sample what = { .part = task->parts[l->made / terms],
                                     .kind = spec->kind,
                                     .etype = (uint32_t)(l->made % terms) % spec->num_etypes,
                                     .term = spec->terms[l->made % terms] };
        int rv = what.part == NULL ? 0 : local_sample_make(&what, error);
        if (rv != 0)
            return rv;
    }
    return 0;
}

/* One slice. Where asking ends the task, nothing has failed here (rv >= 0). */
static void step_task(struct task *task)
{
    struct batch_builder *builder = &task->builder;
    struct error error = { 0 };
    int rv = 0;
    switch (task->step) {
    case TASK_MAKE:
        rv = make_slice(task, &error);
        if (rv == 0)
            task->step = TASK_SEEDS;
        break;
    case TASK_SEEDS:
        rv = sampler_find_seeds(task, &error);
        /* Answers come in later turns, so the step may be chosen behind the questions. */
        task->step = rv == 0 ? TASK_WAIT_SEEDS : TASK_READ_SEEDS;
        break;
    case TASK_READ_SEEDS:
        rv = sampler_read_seeds(task, &error);
        task->step = rv == 0 ? TASK_WAIT_SEEDS : TASK_READ_SEEDS;
        break;
    case TASK_WAIT_SEEDS:
        if (task->finds_ranks) {
            rv = sampler_find_ends(task, &error);
            task->step = TASK_READ_SEEDS;
            break;
        }
        if (sampler_leaves_reverses(task) && (rv = sampler_find_reverses(task, &error)) != 0) {
            task->step = TASK_READ_SEEDS;
            break;
        }
        if (sampler_checks_negatives(task) && !task->finds_edges) {
            rv = sampler_find_negative_edges(task, &error);
            task->step = TASK_READ_SEEDS;
            break;
        }
        if (sampler_checks_negatives(task) && sampler_settle_negatives(task)) {
            rv = sampler_draw_again(task, &error);
            task->step = rv == 0 ? TASK_WAIT_SEEDS : TASK_READ_SEEDS;
            break;
        }
        rv = sampler_add_seeds(task, &error);
        task->step = rv == 0 ? TASK_PLACE : TASK_SEEDS;
        break;
    case TASK_PLACE:
        rv = batch_builder_place(builder, &error);
        if (rv == 0 && builder->hop < builder->plan->spec->num_layers)
            finish_hop(task, &error, &rv);
        else if (rv == 0)
            open_rows(task, &error, &rv);
        break;
    case TASK_WAIT_SAMPLES:
        task->step = TASK_DRAW;
        break;
    case TASK_DRAW:
        rv = batch_builder_draw(builder, &task->sampler->space, &error);
        if (rv == 0)
            task->step = TASK_PLACE;
        break;
    case TASK_GATHER:
        rv = batch_builder_gather(builder, &error);
        if (rv == 0)
            task->step = TASK_WAIT_ROWS;
        break;
    /* The last two end the task by themselves, or hand it on: it is not theirs to fail below. */
    case TASK_WAIT_ROWS:
        complete_task(task);
        return;
    case TASK_WAIT_KEEP:
        keep_task(task);
        return;
    }
    if (rv < 0)
        sampler_fail_task(task, rv, error.text);
}

static bool is_waiting(const struct task *task)
{
    if (task->step == TASK_WAIT_KEEP)
        return !sampler_has_room(task);
    return task->asks_open > 0 && (task->step == TASK_WAIT_SEEDS ||
                                   task->step == TASK_WAIT_SAMPLES || task->step == TASK_WAIT_ROWS);
}

/* The oldest task that can go on, so that batches come in order and caches serve one at a time. */
static struct task *next_task(struct sampler *s)
{
    struct task *first = NULL;
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX; i++) {
        struct task *task = &s->tasks[i];
        if (task->request != NULL && !is_waiting(task) &&
            (first == NULL || task->order < first->order))
            first = task;
    }
    return first;
}

/* Those of the loader, whatever came since: what is not here in that version is asked for in it. */
static void acquire_parts(struct task *task)
{
    for (uint32_t p = 0; p < task->builder.num_parts; p++) {
        task->snapshots[p] = snapshot_hold(task->loader->pinned[p]);
        task->parts[p] = task->snapshots[p] == NULL ? NULL : snapshot_part(task->snapshots[p]);
    }
}

static int begin_builder(struct task *task, const struct msg_batch_request *asked,
                         struct error *error)
{
    struct sampler *s = task->sampler;
    struct loader_state *l = task->loader;
    /* The steps that may refuse come before the batch is taken from the store: nobody would give it
     * back, since it is not the task's yet. */
    if (asked->batch >= epoch_plan_steps(&l->epochs))
        return error_set(error, TR_ERANGE,
                         "batch %" PRIu64 " was asked for; an epoch has %" PRIu64 ", from 0",
                         asked->batch, epoch_plan_steps(&l->epochs));
    uint32_t count, step_seeds;
    epoch_plan_step(&l->epochs, asked->batch, &task->first_seed, &count, &step_seeds);
    /* The IDs of both ends of a pair. */
    uint64_t given = (uint64_t)count * l->seeds.segments[0].num_ids;
    uint32_t num_ids;
    sampler_given(task->request, &num_ids);
    if (seed_set_is_given(&l->seeds) && num_ids != given)
        return error_set(error, TR_EINVAL,
                         "batch %" PRIu64 " asked for with %" PRIu32 " seeds, it has %" PRIu64,
                         asked->batch, num_ids, given);
    struct sampled_batch *out = batch_store_take(
        s->options->store, s->options->book->types.num_ntypes, s->options->book->types.num_etypes,
        l->spec.num_layers);
    if (out == NULL)
        return error_set(error, TR_ENOMEM, "no memory for batch %" PRIu64, asked->batch);
    const struct draw_key key = {
        .seed = l->open.seed, .batch = asked->batch, .epoch = asked->epoch, .rank = l->open.rank
    };
    out->space.batch.step_seeds = step_seeds;
    task->next_seed = task->first_seed;
    task->next_given = 0;
    task->end_seed = task->next_seed + count;
    task->negative_segments = 0;
    task->next_negative = task->end_negative = 0;
    task->finds_negatives = false;
    /* The batch is the task's before the builder takes anything: where that fails, ending the
     * task releases batch and snapshots. */
    task->out = out;
    out->loader = l->open.loader;
    acquire_parts(task);
    int rv = batch_builder_begin(&task->builder, &l->plan, &key, task->parts, &out->space, error);
    return rv != 0 ? rv : sampler_exclude(task, error);
}

/* A draw brings what it is drawn by; of a loader that was opened before. */
static int find_source(struct sampler *s, struct message *request, struct loader_state **out,
                       struct error *error)
{
    if (request->frame.kind == MSG_DRAW_REQUEST)
        return sampler_open_draw(s, request, out, error);
    *out = sampler_find_loader(s, request->frame.from, sampler_asked(request).loader);
    return *out != NULL ? 0 : error_set(error, TR_ECLOSED, "this loader is not open here");
}

static void begin_task(struct task *task, struct message *request)
{
    struct sampler *s = task->sampler;
    const struct msg_batch_request asked = sampler_asked(request);
    struct error error = { 0 };
    int rv = find_source(s, request, &task->loader, &error);
    if (rv != 0) {
        sampler_fail_request(s, request, rv, error.text);
        return;
    }
    /* A repeat of a request whose batch is made, but was not pulled, gets that one. */
    uint64_t kept = sampler_offer_kept(task->loader, asked.epoch, asked.batch);
    if (kept != 0) {
        sampler_answer(s, request, kept);
        return;
    }
    /* The request is the task's before the builder begins: what fails from here on answers it. */
    task->request = request;
    task->order = s->tasks_begun++;
    task->step = TASK_MAKE;
    task->asks_open = 0;
    task->recover_until_ns = actor_now_ns(s->self) + s->options->recovery_ns;
    rv = begin_builder(task, &asked, &error);
    if (rv != 0)
        sampler_fail_task(task, rv, error.text);
}

static struct message *pop_request(struct sampler *s)
{
    struct message *request = s->queue[s->queue_first];
    s->queue_first = (s->queue_first + 1) % SAMPLER_QUEUE_MAX;
    s->queue_count--;
    return request;
}

static struct task *idle_task(struct sampler *s)
{
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX; i++)
        if (s->tasks[i].request == NULL)
            return &s->tasks[i];
    return NULL;
}

static void sampler_work(struct actor *self, void *arg)
{
    struct sampler *s = arg;
    struct task *task = next_task(s);
    (void)self;
    /* Draws are forgotten here, where nothing walks over tasks and loaders. The task that was
     * chosen has a request, so its loader stays. It is done before a request begins: a draw that
     * is over may have the last place of a loader. */
    sampler_forget_draws(s);
    /* Tasks that can go on come before new ones, whose batches are wanted later. */
    if (task == NULL && s->queue_count > 0 && (task = idle_task(s)) != NULL)
        begin_task(task, pop_request(s));
    else if (task != NULL)
        step_task(task);
    else
        return;
    sampler_schedule(s);
}

/* Requests of one process for a loader, or for the draw of that number: for all its batches, or for
 * one. */
struct dropped {
    struct address opener;
    uint64_t loader;
    const struct msg_batch_pull *one;
};

static bool is_of(const struct dropped *dropped, const struct message *request)
{
    const struct msg_batch_request asked = sampler_asked(request);
    const struct address from = request->frame.from;
    const struct msg_batch_pull *one = dropped->one;
    if (asked.loader != dropped->loader || from.node != dropped->opener.node ||
        from.incarnation != dropped->opener.incarnation)
        return false;
    return one == NULL || (asked.epoch == one->epoch && asked.batch == one->batch);
}

static void drop_requests(struct sampler *s, const struct dropped *dropped)
{
    uint32_t count = s->queue_count;
    for (uint32_t i = 0; i < count; i++) {
        struct message *request = pop_request(s);
        if (is_of(dropped, request))
            actor_refuse(s->self, request, TR_ECANCELED);
        else
            s->queue[(s->queue_first + s->queue_count++) % SAMPLER_QUEUE_MAX] = request;
    }
    /* Queue and tasks go in any order: a task that ends here takes no other request before
     * sampler_work(). */
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX; i++)
        if (s->tasks[i].request != NULL && is_of(dropped, s->tasks[i].request))
            sampler_fail_task(&s->tasks[i], TR_ECANCELED,
                              "the loader that asked for the batch has dropped it");
}

void sampler_close_loader(struct loader_state *l)
{
    /* Whatever points at the loader goes before it: queued requests, tasks, batches that
     * are kept. */
    drop_requests(l->sampler, &(struct dropped){ l->opener, l->open.loader, NULL });
    sampler_drop_kept(l);
    sampler_schedule(l->sampler);
    sampler_remove_loader(l->sampler, l);
}

static void close_loader(struct sampler *s, const struct message *message)
{
    const struct msg_loader_close *head = (const void *)message->head;
    struct loader_state *l = sampler_find_loader(s, message->frame.from, head->loader);
    if (l != NULL)
        sampler_close_loader(l);
}

static void sampler_take_pull(struct sampler *s, struct message *message)
{
    const struct msg_batch_pull *head = message_head(message);
    if (head->offset != MSG_PULL_NONE) {
        sampler_pull(s, message);
        return;
    }
    /* A draw that waits in the queue has nothing of its own here yet, but its request. */
    drop_requests(s, &(struct dropped){ message->frame.from, head->loader, head });
    sampler_unwanted(s, message);
    message_release(s->self, message);
}

static void queue_request(struct sampler *s, struct message *request)
{
    if (s->queue_count == SAMPLER_QUEUE_MAX) {
        actor_refuse(s->self, request, TR_EFULL);
        return;
    }
    s->queue[(s->queue_first + s->queue_count++) % SAMPLER_QUEUE_MAX] = request;
    sampler_schedule(s);
}

static int sampler_receive(struct actor *self, struct message *message)
{
    struct sampler *s = actor_state(self);
    switch (message->frame.kind) {
    case MSG_LOADER_OPEN:
        sampler_open_loader(s, message);
        break;
    case MSG_BATCH_REQUEST:
    case MSG_DRAW_REQUEST:
        queue_request(s, message);
        break;
    case MSG_LOADER_CLOSE:
        close_loader(s, message);
        message_release(self, message);
        break;
    case MSG_BATCH_PULL:
        sampler_take_pull(s, message);
        break;
    default:
        actor_refuse(self, message, TR_EUNSUPPORTED);
        break;
    }
    return 0;
}

static int init_task(struct sampler *s, struct task *task)
{
    const struct book *book = s->options->book;
    const struct batch_builder_graph graph = { .types = &book->types,
                                               .num_parts = book->num_parts,
                                               .num_nodes = book->num_nodes,
                                               .num_edges = book->num_edges,
                                               .node_extents = book->node_extents,
                                               .edge_extents = book->edge_extents,
                                               .meta = s->options->meta };
    task->sampler = s;
    task->asks = calloc(book->num_parts, sizeof *task->asks);
    task->snapshots = calloc(book->num_parts, sizeof *task->snapshots);
    task->parts = calloc(book->num_parts, sizeof *task->parts);
    /* A node type has one segment at most, or an edge type; a loader of one segment may be of a graph
     * without types, and the ends of negatives are two, of one type perhaps. */
    const uint32_t ntypes = book->types.num_ntypes, etypes = book->types.num_etypes;
    size_t segments = (ntypes > etypes ? ntypes : etypes) + (size_t)2;
    task->segment_starts = calloc(segments + 1, sizeof *task->segment_starts);
    task->seed_starts = calloc(book->num_parts * segments + 1, sizeof *task->seed_starts);
    if (task->asks == NULL || task->snapshots == NULL || task->parts == NULL ||
        task->segment_starts == NULL || task->seed_starts == NULL)
        return TR_ENOMEM;
    for (uint32_t p = 0; p < book->num_parts; p++)
        sampler_init_ask(&task->asks[p], task, p);
    return batch_builder_init(&task->builder, &graph);
}

static void fini_task(struct task *task)
{
    message_release(task->sampler->self, task->request);
    /* The snapshots go before the builder, which knows how many there are. */
    if (task->snapshots != NULL)
        release_borrowed(task);
    for (uint32_t p = 0; task->asks != NULL && p < task->sampler->options->book->num_parts; p++)
        part_call_fini(&task->asks[p].call);
    batch_builder_fini(&task->builder);
    vec_fini(&task->seeds);
    vec_fini(&task->ends);
    vec_fini(&task->seed_rows);
    vec_fini(&task->seed_places);
    vec_fini(&task->originals);
    vec_fini(&task->reverses);
    vec_fini(&task->given_reverses);
    vec_fini(&task->negatives);
    vec_fini(&task->pending);
    vec_fini(&task->mixed_seeds);
    vec_fini(&task->mixed_segments);
    free(task->segment_starts);
    free(task->seed_starts);
    free(task->snapshots);
    free(task->parts);
    free(task->asks);
}

static int sampler_start(struct actor *self, const void *arg)
{
    const struct sampler_options *options = arg;
    struct sampler *s = calloc(1, sizeof *s);
    if (s == NULL)
        return TR_ENOMEM;
    actor_set_state(self, s);
    s->self = self;
    s->options = options;
    account_init(&s->kept, "kept batches",
                 options->kept_bytes_max != 0 ? options->kept_bytes_max : SAMPLER_KEPT_BYTES);
    int rv = part_locator_init(&s->servers, self, options->plan, options->book->num_parts);
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX && rv == 0; i++)
        rv = init_task(s, &s->tasks[i]);
    /* The sampler gets its name when all its tasks are there, since an actor that finds the name
     * may ask at once. */
    char name[DIRECTORY_NAME_MAX];
    sampler_name(options->number, name, sizeof name);
    if (rv == 0)
        rv = directory_register(self, name, NULL, NULL);
    s->member = (struct process_member){ .role = MSG_ROLE_SAMPLER,
                                         .rank = options->number,
                                         .plan = options->plan,
                                         .root = options->root };
    return rv == 0 && options->join ? process_member_join(self, &s->member) : rv;
}

static void sampler_stop(struct actor *self)
{
    struct sampler *sampler = actor_state(self);
    process_member_stop(self, &sampler->member);
}

static void sampler_fini(struct actor *self)
{
    struct sampler *s = actor_state(self);
    if (s == NULL)
        return;
    while (s->queue_count > 0)
        message_release(self, pop_request(s));
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX; i++) {
        if (s->tasks[i].sampler != NULL)
            fini_task(&s->tasks[i]);
    }
    /* The loaders go after the tasks, whose builders point at their plans; the account goes
     * after both, since what was kept gives its bytes back. */
    sampler_free_loaders(s);
    batch_builder_space_fini(&s->space);
    part_locator_fini(&s->servers);
    account_fini(&s->kept);
    free(s);
}

const struct actor_ops sampler_ops = {
    .name = "sampler",
    .start = sampler_start,
    .receive = sampler_receive,
    .stop = sampler_stop,
    .fini = sampler_fini,
};

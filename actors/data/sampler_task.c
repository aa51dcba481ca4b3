/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch request becomes a task when one is idle, and a task goes through these steps:
 *
 *     MAKE                                         until what its draws are made by is there, then
 *     SEEDS -> [READ_SEEDS] -> WAIT_SEEDS          once a slice of seeds (the last two again for each
 *       ^            ^_____________|               question more: ends of edges, reverses, and which
 *       |__________________________|               negatives are edges), then
 *     PLACE -> WAIT_SAMPLES -> DRAW                once a layer, then
 *       ^________________________|
 *     PLACE -> GATHER -> WAIT_ROWS -> [WAIT_KEEP] -> idle
 *
 * Invariants: a task that has a request answers it exactly once, and is idle afterwards; it holds
 * its snapshots, its batch and its asks until then. It waits only for what it asked of others
 * (asks_open) or for room to keep its batch; everything else is done a slice at a time by
 * sampler_step_task(). Servers are asked before what is here is read, for seeds, in each hop and for
 * rows, so that the answers travel meanwhile.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "actors/data/sampler_state.h"
#include "graph/local_sample.h"
#include "graph/samplers.h"

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

void sampler_fail_task(struct task *task, int code, const char *text)
{
    sampler_fail_request(task->sampler, task->request, code, text);
    finish_task(task);
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
    if (rv == 0)
        sampler_answer(s, task->request, 0);
    else
        sampler_answer_full(s, task->request, bytes);
    finish_task(task);
}

static void keep_task(struct task *task)
{
    struct error error = { 0 };
    int rv = sampler_keep(task, &error);
    if (rv != 0) {
        sampler_fail_task(task, rv, error.text);
        return;
    }
    batch_store_note_made(task->sampler->options->store);
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

/* Asks what a slice of seeds lacks, where something does (rv 1): what is here of it is read in a
 * turn of its own, since questions leave at the end of one. Returns rv. */
static int ask_seeds(struct task *task, int rv)
{
    if (rv == 1)
        sampler_ask_seeds(task);
    /* Answers come in later turns, so the step may be chosen behind the questions. */
    task->step = rv == 1 ? TASK_READ_SEEDS : TASK_WAIT_SEEDS;
    return rv;
}

/* All that was asked about a slice of seeds is known: asks what follows from it, or adds the slice to
 * the batch. */
static int settle_seeds(struct task *task, struct error *error)
{
    int rv;
    if (task->finds_ranks)
        return ask_seeds(task, sampler_find_ends(task, error));
    if (sampler_leaves_reverses(task) && (rv = sampler_find_reverses(task, error)) != 0)
        return ask_seeds(task, rv);
    if (sampler_checks_negatives(task) && !task->finds_edges)
        return ask_seeds(task, sampler_find_negative_edges(task, error));
    if (sampler_checks_negatives(task) && sampler_settle_negatives(task))
        return ask_seeds(task, sampler_draw_again(task, error));
    rv = sampler_add_seeds(task, error);
    task->step = rv == 0 ? TASK_PLACE : TASK_SEEDS;
    return rv;
}

/* One slice. Where asking ends the task, nothing has failed here (rv >= 0). */
void sampler_step_task(struct task *task)
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
        rv = ask_seeds(task, sampler_find_seeds(task, &error));
        break;
    case TASK_READ_SEEDS:
        rv = sampler_read_seeds(task, &error);
        task->step = rv == 0 ? TASK_WAIT_SEEDS : TASK_READ_SEEDS;
        break;
    case TASK_WAIT_SEEDS:
        rv = settle_seeds(task, &error);
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

bool sampler_task_waits(const struct task *task)
{
    if (task->step == TASK_WAIT_KEEP)
        return !sampler_has_room(task);
    return task->asks_open > 0 && (task->step == TASK_WAIT_SEEDS ||
                                   task->step == TASK_WAIT_SAMPLES || task->step == TASK_WAIT_ROWS);
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

void sampler_begin_task(struct task *task, struct message *request)
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

int sampler_init_task(struct sampler *s, struct task *task)
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

void sampler_fini_task(struct task *task)
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The actor: its mailbox, the queue of batch requests, and whose turn it is among the tasks
 * (sampler_task.c).
 *
 * Invariants: a request is in the queue or a task's, or was answered. sampler_work() does one slice of
 * one task, or begins one, and is scheduled again until nothing can go on; whatever lets a task go on
 * schedules it.
 */
#include "actors/data/sampler.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "actors/data/sampler_state.h"
#include "runtime/core/directory.h"

void sampler_name(uint32_t number, char *name, size_t name_size)
{
    snprintf(name, name_size, "sampler/%" PRIu32, number);
}

static void sampler_work(struct actor *self, void *arg);

void sampler_schedule(struct sampler *s)
{
    if (!timer_is_started(&s->work))
        timer_start(s->self, &s->work, actor_now_ns(s->self), sampler_work, s);
}

/* The oldest task that can go on, so that batches come in order and caches serve one at a time. */
static struct task *next_task(struct sampler *s)
{
    struct task *first = NULL;
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX; i++) {
        struct task *task = &s->tasks[i];
        if (task->request != NULL && !sampler_task_waits(task) &&
            (first == NULL || task->order < first->order))
            first = task;
    }
    return first;
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
        sampler_begin_task(task, pop_request(s));
    else if (task != NULL)
        sampler_step_task(task);
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
        rv = sampler_init_task(s, &s->tasks[i]);
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
            sampler_fini_task(&s->tasks[i]);
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

#include "actors/sampler.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "actors/failed.h"
#include "actors/sampler_state.h"
#include "runtime/directory.h"

void sampler_name(uint32_t number, char *name, size_t name_size)
{
    snprintf(name, name_size, "sampler/%" PRIu32, number);
}

static void fail(struct sampler *s, struct message *request, int code, const char *sentence)
{
    struct error error;
    error_set(&error, code, "%s", sentence);
    failed_reply(s->self, request, &error);
}

static void work(struct actor *self, void *arg);

void sampler_schedule(struct sampler *s)
{
    if (!timer_is_started(&s->work))
        timer_start(s->self, &s->work, actor_now_ns(s->self), work, s);
}

static void finish_task(struct task *task)
{
    sampler_cancel_asks(task);
    sampled_batch_release(draft_end(&task->draft));
    task->request = NULL;
    sampler_schedule(task->sampler);
}

void sampler_fail_task(struct task *task, int code, const char *sentence)
{
    fail(task->sampler, task->request, code, sentence);
    finish_task(task);
}

static void complete_task(struct task *task)
{
    struct sampler *s = task->sampler;
    const struct msg_batch_request *asked = message_head(task->request);
    struct message *reply = message_create(s->self, MSG_BATCH_REPLY);
    if (reply == NULL) {
        sampler_fail_task(task, TR_ENOMEM, "no memory for a reply");
        return;
    }
    struct msg_batch_reply *head = message_head(reply);
    head->loader = asked->loader;
    head->batch = asked->batch;
    head->epoch = asked->epoch;
    struct sampled_batch *batch = draft_end(&task->draft);
    size_t bytes = sampled_batch_bytes(batch);
    int rv = batch_bank_deposit(s->options->bank, batch);
    if (rv == 0) {
        actor_reply(s->self, task->request, reply);
        finish_task(task);
        return;
    }
    message_release(s->self, reply);
    char text[256];
    snprintf(text, sizeof text, "account \"batches\" is full: a batch of %zu bytes came, %zu of "
             "%zu are in use; release batches or raise memory_bytes_max", bytes,
             batch_bank_used(s->options->bank), batch_bank_bound(s->options->bank));
    sampler_fail_task(task, rv, rv == TR_EFULL ? text : "nobody waits for the batch");
}

static void finish_hop(struct task *task, struct error *error, int *rv)
{
    *rv = draft_open_hop(&task->draft, error);
    task->step = TASK_WAIT_SAMPLES;
    if (*rv == 0)
        sampler_ask_samples(task);
}

static void open_rows(struct task *task, struct error *error, int *rv)
{
    *rv = draft_open_rows(&task->draft, error);
    task->step = TASK_GATHER;
    if (*rv == 0)
        sampler_ask_rows(task);
}

/* One slice. Failing a task ends it, also inside of asking. */
static void step_task(struct task *task)
{
    struct draft *draft = &task->draft;
    struct error error = { 0 };
    int rv = 0;
    switch (task->step) {
    case TASK_PLACE:
        rv = draft_place(draft, &error);
        if (rv == 0 && draft->hop < draft->loader->num_layers)
            finish_hop(task, &error, &rv);
        else if (rv == 0)
            open_rows(task, &error, &rv);
        break;
    case TASK_WAIT_SAMPLES:
        task->step = TASK_DRAW;
        break;
    case TASK_DRAW:
        rv = draft->num_etypes == 0 ? 0 : draft_draw(draft, &task->sampler->space, &error);
        if (rv == 0)
            task->step = TASK_PLACE;
        break;
    case TASK_GATHER:
        rv = draft_gather(draft, &error);
        if (rv == 0)
            task->step = TASK_WAIT_ROWS;
        break;
    case TASK_WAIT_ROWS:
        complete_task(task);
        return;
    }
    if (rv < 0 && task->request != NULL)
        sampler_fail_task(task, rv, error.text);
}

static bool is_waiting(const struct task *task)
{
    return task->asks_open > 0 &&
           (task->step == TASK_WAIT_SAMPLES || task->step == TASK_WAIT_ROWS);
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

static struct loader_state *find_loader(struct sampler *s, uint64_t loader)
{
    struct loader_state *l = s->loaders;
    while (l != NULL && l->open->loader != loader)
        l = l->next;
    return l;
}

static int begin_draft(struct task *task, const struct msg_batch_request *asked,
                       struct error *error)
{
    struct sampler *s = task->sampler;
    struct loader_state *l = task->loader;
    const uint32_t *order;
    if (asked->batch >= epoch_plan_steps(&l->plan))
        return error_set(error, TR_ERANGE, "batch %" PRIu64 " asked for, an epoch has %" PRIu64,
                         asked->batch, epoch_plan_steps(&l->plan));
    int rv = epoch_plan_order(&l->plan, asked->epoch, &order);
    struct sampled_batch *out = rv != 0 ? NULL
        : batch_bank_take(s->options->bank, s->options->book->types.num_ntypes,
                          s->options->book->types.num_etypes, l->open->num_layers);
    if (out == NULL)
        return error_set(error, TR_ENOMEM, "no memory for batch %" PRIu64, asked->batch);
    struct msg_draw draw = { .seed = l->open->seed, .batch = asked->batch, .epoch = asked->epoch,
                             .rank = l->open->rank };
    uint64_t begin;
    uint32_t count;
    epoch_plan_step(&l->plan, asked->batch, &begin, &count, &out->batch.step_seeds);
    return draft_begin(&task->draft, l->open, &draw, out, l->ids + (order == NULL ? begin : 0),
                       order == NULL ? NULL : order + begin, count, error);
}

static void begin_task(struct task *task, struct message *request)
{
    struct sampler *s = task->sampler;
    const struct msg_batch_request *asked = message_head(request);
    struct error error = { 0 };
    task->loader = find_loader(s, asked->loader);
    if (task->loader == NULL) {
        fail(s, request, TR_ECLOSED, "this loader is not open here");
        return;
    }
    task->request = request;
    task->order = s->tasks_begun++;
    task->step = TASK_PLACE;
    task->asks_open = 0;
    task->recover_until_ns = actor_now_ns(s->self) + s->options->recovery_ns;
    int rv = begin_draft(task, asked, &error);
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

static void work(struct actor *self, void *arg)
{
    struct sampler *s = arg;
    struct task *task = next_task(s);
    (void)self;
    if (task == NULL && s->queue_count > 0 && (task = idle_task(s)) != NULL)
        begin_task(task, pop_request(s));
    else if (task != NULL)
        step_task(task);
    else
        return;
    sampler_schedule(s);
}

static int check_open(const struct sampler *s, const struct msg_loader_open *open,
                      struct error *error)
{
    if (open->ntype >= s->options->book->types.num_ntypes)
        return error_set(error, TR_ERANGE, "loader: node type %" PRIu32 ", the graph has %" PRIu32,
                         open->ntype, s->options->book->types.num_ntypes);
    if (open->num_layers == 0 || open->num_layers > MSG_LAYERS_MAX)
        return error_set(error, TR_ERANGE, "loader: %" PRIu32 " layers; give 1 to %d",
                         open->num_layers, MSG_LAYERS_MAX);
    if (open->batch_size == 0 || open->world == 0 || open->rank >= open->world)
        return error_set(error, TR_EINVAL, "loader: batch size %" PRIu32 ", rank %" PRIu32
                         " of %" PRIu32 " trainers", open->batch_size, open->rank, open->world);
    if (open->num_seeds > UINT32_MAX)
        return error_set(error, TR_ETOOBIG, "loader: %" PRIu64 " seeds; at most 2^32 - 1",
                         open->num_seeds);
    if (s->num_loaders == SAMPLER_LOADERS_MAX)
        return error_set(error, TR_EFULL, "%u loaders are open; close some", SAMPLER_LOADERS_MAX);
    return 0;
}

static struct message *opened(struct sampler *s, const struct loader_state *l)
{
    struct message *reply = message_create(s->self, MSG_LOADER_OPENED);
    if (reply == NULL)
        return NULL;
    struct msg_loader_opened *head = message_head(reply);
    head->loader = l->open->loader;
    head->num_batches = epoch_plan_steps(&l->plan);
    return reply;
}

static struct loader_state *add_loader(struct sampler *s, struct message *message)
{
    struct loader_state *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    l->open = message_head(message);
    l->message = message;
    l->ids = message_body(message);
    l->plan = (struct epoch_plan){
        .num_seeds = l->open->num_seeds,
        .seed = l->open->seed,
        .batch_size = l->open->batch_size,
        .rank = l->open->rank,
        .world = l->open->world,
        .shuffle = (l->open->flags & MSG_LOADER_SHUFFLE) != 0,
        .drop_last = (l->open->flags & MSG_LOADER_DROP_LAST) != 0,
    };
    l->next = s->loaders;
    s->loaders = l;
    s->num_loaders++;
    return l;
}

/* A copy of the request is kept for its seeds (which the copy shares). */
static void open_loader(struct sampler *s, struct message *request)
{
    const struct msg_loader_open *open = message_head(request);
    struct loader_state *l = find_loader(s, open->loader);
    struct error error = { 0 };
    if (l == NULL) {
        int rv = check_open(s, open, &error);
        struct message *kept = rv != 0 ? NULL : message_copy(s->self, request);
        l = kept == NULL ? NULL : add_loader(s, kept);
        if (l == NULL) {
            message_release(s->self, kept);
            fail(s, request, rv != 0 ? rv : TR_ENOMEM, rv != 0 ? error.text : "no memory");
            return;
        }
    }
    struct message *reply = opened(s, l);
    if (reply == NULL)
        actor_refuse(s->self, request, TR_ENOMEM);
    else
        actor_reply(s->self, request, reply);
}

static void free_loader(struct sampler *s, struct loader_state *l)
{
    epoch_plan_fini(&l->plan);
    message_release(s->self, l->message);
    free(l);
    s->num_loaders--;
}

static void drop_queued(struct sampler *s, uint64_t loader)
{
    uint32_t count = s->queue_count;
    for (uint32_t i = 0; i < count; i++) {
        struct message *request = pop_request(s);
        if (((const struct msg_batch_request *)message_head(request))->loader == loader)
            actor_refuse(s->self, request, TR_ECANCELED);
        else
            s->queue[(s->queue_first + s->queue_count++) % SAMPLER_QUEUE_MAX] = request;
    }
}

static void close_loader(struct sampler *s, uint64_t loader)
{
    struct loader_state **link = &s->loaders;
    while (*link != NULL && (*link)->open->loader != loader)
        link = &(*link)->next;
    struct loader_state *l = *link;
    if (l == NULL)
        return;
    drop_queued(s, loader);
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX; i++)
        if (s->tasks[i].request != NULL && s->tasks[i].loader == l)
            sampler_fail_task(&s->tasks[i], TR_ECANCELED, "the loader was closed");
    *link = l->next;
    free_loader(s, l);
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

static int receive(struct actor *self, struct message *message)
{
    struct sampler *s = actor_state(self);
    switch (message->frame.kind) {
    case MSG_LOADER_OPEN:
        open_loader(s, message);
        break;
    case MSG_BATCH_REQUEST:
        queue_request(s, message);
        break;
    case MSG_LOADER_CLOSE:
        close_loader(s, ((const struct msg_loader_close *)message_head(message))->loader);
        message_release(self, message);
        break;
    default:
        actor_refuse(self, message, TR_EUNSUPPORTED);
        break;
    }
    return 0;
}

static int init_task(struct sampler *s, struct task *task)
{
    const struct draft_options options = { .book = s->options->book, .meta = s->options->meta,
                                           .snapshots = s->options->snapshots };
    task->sampler = s;
    task->asks = calloc(s->options->book->num_parts, sizeof *task->asks);
    if (task->asks == NULL)
        return TR_ENOMEM;
    for (uint32_t p = 0; p < s->options->book->num_parts; p++) {
        task->asks[p].task = task;
        task->asks[p].part = p;
    }
    return draft_init(&task->draft, &options);
}

static int start(struct actor *self, const void *arg)
{
    const struct sampler_options *options = arg;
    struct sampler *s = calloc(1, sizeof *s);
    if (s == NULL)
        return TR_ENOMEM;
    actor_set_state(self, s);
    s->self = self;
    s->options = options;
    s->servers = calloc(options->book->num_parts, sizeof *s->servers);
    if (s->servers == NULL)
        return TR_ENOMEM;
    for (uint32_t p = 0; p < options->book->num_parts; p++)
        s->servers[p].sampler = s;
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX; i++) {
        int rv = init_task(s, &s->tasks[i]);
        if (rv != 0)
            return rv;
    }
    char name[DIRECTORY_NAME_MAX];
    sampler_name(options->number, name, sizeof name);
    return directory_register(self, name, NULL, NULL);
}

static void fini(struct actor *self)
{
    struct sampler *s = actor_state(self);
    if (s == NULL)
        return;
    while (s->queue_count > 0)
        message_release(self, pop_request(s));
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX; i++) {
        message_release(self, s->tasks[i].request);
        draft_fini(&s->tasks[i].draft);
        free(s->tasks[i].asks);
    }
    while (s->loaders != NULL) {
        struct loader_state *l = s->loaders;
        s->loaders = l->next;
        free_loader(s, l);
    }
    draft_space_fini(&s->space);
    free(s->servers);
    free(s);
}

const struct actor_ops sampler_ops = {
    .name = "sampler",
    .start = start,
    .receive = receive,
    .fini = fini,
};

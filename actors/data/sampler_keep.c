/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches for proxies in other processes: flattened and kept until they were pulled.
 *
 * Invariants: a kept batch is charged from its making to its freeing. While `from` is there the
 * crew may be at it: then it is offered to nobody, and one that is dropped is freed by the crew's
 * end. Its request is answered once, when it is flattened or was dropped before.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "actors/data/batch_flat.h"
#include "actors/data/sampler_state.h"

static struct kept_batch **sampler_keep_find(struct loader_state *l, uint32_t epoch, uint64_t batch)
{
    struct kept_batch **link = &l->kept;
    while (*link != NULL && ((*link)->epoch != epoch || (*link)->batch != batch))
        link = &(*link)->next;
    return link;
}

static void free_kept(struct kept_batch *kept)
{
    struct sampler *s = kept->sampler;
    sampled_batch_release(kept->from);
    message_release(s->self, kept->request);
    buffer_release(s->self, kept->buffer);
    account_release(&s->kept, kept->bytes);
    free(kept);
}

static void sampler_keep_drop(struct kept_batch **link)
{
    struct kept_batch *kept = *link;
    if (kept == NULL)
        return;
    /* It leaves the list first: while the crew is at it, nobody finds it to offer, pull or drop
     * it again. */
    *link = kept->next;
    kept->dropped = true;
    if (kept->from == NULL)
        free_kept(kept);
    else
        crew_cancel(&kept->job);
}

void sampler_drop_kept(struct loader_state *l)
{
    while (l->kept != NULL)
        sampler_keep_drop(&l->kept);
}

uint64_t sampler_offer_kept(struct loader_state *l, uint32_t epoch, uint64_t batch)
{
    struct kept_batch *kept = *sampler_keep_find(l, epoch, batch);
    if (kept == NULL || kept->from != NULL)
        return 0;
    kept->pulled = 0;
    return kept->bytes;
}

bool sampler_has_room(const struct task *task)
{
    const struct account *kept = &task->sampler->kept;
    return task->flat_bytes <= kept->bound_bytes - kept->used_bytes;
}

static void sampler_keep_expire(struct actor *self, void *arg)
{
    (void)self;
    sampler_fail_task(
        arg, TR_ETIMEDOUT,
        "account \"kept batches\" is full: trainers of other processes do not fetch their batches");
}

int sampler_measure(struct task *task, struct error *error)
{
    const struct sampler *s = task->sampler;
    int rv = batch_flat_bytes(task->out, &task->flat_bytes);
    if (rv == 0 && task->flat_bytes <= MSG_BATCH_BYTES_MAX &&
        task->flat_bytes <= s->kept.bound_bytes) {
        timer_start(s->self, &task->keep, task->recover_until_ns, sampler_keep_expire, task);
        return 0;
    }
    uint64_t most = s->kept.bound_bytes;
    most = most < MSG_BATCH_BYTES_MAX ? most : MSG_BATCH_BYTES_MAX;
    return error_set(error, TR_ETOOBIG,
                     "a batch of %" PRIu64 " bytes is larger than the %" PRIu64
                     " that account \"kept batches\" has for it; use smaller batches or fan-outs",
                     task->flat_bytes, most);
}

static void flatten_now(struct kept_batch *kept)
{
    batch_flatten(kept->from, kept->buffer->data);
}

static int flatten_piece(struct job *job)
{
    flatten_now(job->arg);
    return CREW_DONE;
}

static void sampler_keep_flattened(struct kept_batch *kept)
{
    struct message *request = kept->request;
    /* The batch goes back before the answer, which brings pulls: they are refused while `from`
     * is there. */
    sampled_batch_release(kept->from);
    kept->from = NULL;
    kept->request = NULL;
    sampler_answer(kept->sampler, request, kept->bytes);
}

static void flatten_done(struct actor *self, struct job *job, int status)
{
    struct kept_batch *kept = job->arg;
    struct sampler *s = kept->sampler;
    (void)self;
    /* Whether it was dropped is asked first, whatever the crew did. Then the refusal comes before
     * the freeing, which would answer that the sampler is down. */
    if (kept->dropped) {
        actor_refuse(s->self, kept->request, TR_ECANCELED);
        kept->request = NULL;
        free_kept(kept);
        sampler_schedule(s);
    } else if (status == 0) {
        sampler_keep_flattened(kept);
    } else { /* the sampler ends, and frees it with its loader */
        sampled_batch_release(kept->from);
        kept->from = NULL;
    }
}

/* Takes over the task's batch and request. */
static struct kept_batch *sampler_keep_make(struct task *task, struct msg_batch_request asked)
{
    struct sampler *s = task->sampler;
    /* The account is charged last, so that a failure leaves nothing to give back to it; batch
     * and request change hands only when nothing can fail any more. */
    struct kept_batch *kept = malloc(sizeof *kept);
    struct buffer *buffer = kept == NULL ? NULL : buffer_create(s->self, task->flat_bytes);
    if (buffer == NULL || account_reserve(&s->kept, task->flat_bytes, NULL) != 0) {
        buffer_release(s->self, buffer);
        free(kept);
        return NULL;
    }
    *kept = (struct kept_batch){ .sampler = s,
                                 .epoch = asked.epoch,
                                 .batch = asked.batch,
                                 .buffer = buffer,
                                 .bytes = task->flat_bytes,
                                 .from = task->out,
                                 .request = task->request };
    task->out = NULL;
    task->request = NULL;
    return kept;
}

int sampler_keep(struct task *task, struct error *error)
{
    struct sampler *s = task->sampler;
    struct loader_state *l = task->loader;
    const struct msg_batch_request asked = sampler_asked(task->request);
    /* One that a repeat makes anew gives its room back first. */
    sampler_keep_drop(sampler_keep_find(l, asked.epoch, asked.batch));
    struct kept_batch *kept = sampler_keep_make(task, asked);
    if (kept == NULL)
        return error_set(error, TR_ENOMEM, "no memory for a batch of %" PRIu64 " bytes",
                         task->flat_bytes);
    kept->next = l->kept;
    l->kept = kept; /* before it is flattened, whose answer lets the proxy pull it at once */
    uint64_t at_once = s->options->at_once_bytes;
    if (kept->bytes > (at_once != 0 ? at_once : SAMPLER_AT_ONCE_BYTES)) {
        kept->job = (struct job){ .piece = flatten_piece, .done = flatten_done, .arg = kept };
        crew_submit(s->self, &kept->job);
    } else {
        flatten_now(kept);
        sampler_keep_flattened(kept);
    }
    return 0;
}

/* Bytes of the batch as they lie: pieces start at a cache line, as bodies do. */
static struct message *make_piece(struct actor *self, const struct kept_batch *kept,
                                  uint64_t offset, uint64_t count)
{
    struct message *reply = message_create(self, MSG_BATCH_PIECE);
    if (reply == NULL)
        return NULL;
    message_body_attach(reply, buffer_acquire(kept->buffer), count);
    reply->body_offset = (uint32_t)offset;
    *(struct msg_batch_piece *)message_head(
        reply) = (struct msg_batch_piece){ .offset = offset, .count = (uint32_t)count };
    return reply;
}

static uint64_t piece_bytes(const struct msg_batch_pull *asked, uint64_t bytes)
{
    if (asked->offset >= bytes || asked->offset % BUFFER_ALIGN != 0)
        return 0;
    uint64_t count = bytes - asked->offset, most = asked->bytes_max;
    most = most < MSG_REPLY_BYTES_MAX ? most : MSG_REPLY_BYTES_MAX;
    return count < most ? count : most;
}

void sampler_pull(struct sampler *s, struct message *request)
{
    const struct msg_batch_pull *asked = message_head(request);
    struct loader_state *l = sampler_find_loader(s, request->frame.from, asked->loader);
    struct kept_batch **link = l == NULL ? NULL : sampler_keep_find(l, asked->epoch, asked->batch);
    if (link == NULL || *link == NULL || (*link)->from != NULL) {
        actor_refuse(s->self, request, TR_ENOENT);
        return;
    }
    struct kept_batch *kept = *link;
    uint64_t count = piece_bytes(asked, kept->bytes);
    struct message *reply = count == 0 ? NULL : make_piece(s->self, kept, asked->offset, count);
    if (reply == NULL) {
        actor_refuse(s->self, request, count == 0 ? TR_ERANGE : TR_ENOMEM);
        return;
    }
    actor_reply(s->self, request, reply); /* it holds the buffer, which the drop below gives up */
    /* The end of the batch may overtake a piece that our mailbox refused, which comes again. */
    kept->pulled += count;
    if (kept->pulled >= kept->bytes) {
        sampler_keep_drop(link);
        sampler_schedule(s); /* there is room for another */
    }
}

void sampler_unwanted(struct sampler *s, const struct message *notice)
{
    const struct msg_batch_pull *head = (const void *)notice->head;
    struct loader_state *l = sampler_find_loader(s, notice->frame.from, head->loader);
    if (l != NULL)
        sampler_keep_drop(sampler_keep_find(l, head->epoch, head->batch));
    sampler_schedule(s);
}

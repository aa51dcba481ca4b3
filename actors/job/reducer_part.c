/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This rank's part of a checkpoint: written before it is reported, read when it is restored.
 *
 *     save:     write -> [copy to another host] -> ask the coordinator -> answer, or drop -> fail
 *     restore:  ask the coordinator -> read -> [pull from another host -> keep] -> answer
 *
 * Invariants: while the crew works (`working`) the operation is not ended but marked (`ended`),
 * since the crew has its memory; the crew's end then ends it. A part is reported only when it is
 * durable, on two hosts where there are two. A part that is lost or damaged here is looked for on
 * the other host before the restore fails.
 */
#include <inttypes.h>

#include "actors/job/checkpoint.h"
#include "actors/job/reducer_state.h"
#include "runtime/base/files.h"
#include "runtime/core/log.h"

static struct files *files_of(const struct reducer *r)
{
    return r->options->files != NULL ? r->options->files : files_posix;
}

static void reducer_part_work(struct actor *self, int (*piece)(struct job *),
                              void (*done)(struct actor *, struct job *, int))
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    /* All that the piece reads is set before the crew has it, which may begin before this
     * returns. */
    op->part.files = files_of(r);
    op->part.folder = r->folder;
    op->part.rank = r->options->rank;
    op->part.job = (struct job){ .piece = piece, .done = done, .arg = &op->part };
    op->working = true;
    crew_submit(self, &op->part.job);
}

/* True: the operation goes on. */
static bool is_done(struct actor *self, int status)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    /* The work is over before the operation is ended: else that would only mark it again. */
    op->working = false;
    int ended = op->ended;
    op->ended = 0;
    /* A mark counts before the status: cancelling made the status TR_ECANCELED, which without a
     * mark means that this actor ends, and work that was faster is not wanted either. The part's
     * error has a text, so it comes before the bare status. */
    if (ended != 0)
        reducer_end(self, ended);
    else if (status == TR_ECANCELED)
        return false; /* not by us: this actor ends, and its end is the answer */
    else if (status != 0 && op->part.error.code != 0)
        reducer_fail(self, &op->part.error);
    else if (status != 0)
        reducer_end(self, status);
    return ended == 0 && status == 0;
}

static int write_part(struct job *job)
{
    struct part_work *part = job->arg;
    struct checkpoint_part written;
    int rv = checkpoint_write_part(part->files, part->folder, part->step, part->era, part->rank,
                                   part->data, part->bytes, &written, &part->error);
    part->crc32c = written.crc32c;
    return rv;
}

/* True: the disk failed. Else the crew was out of memory or the operation was cancelled: this rank
 * asks again, or never does. */
static bool is_of_disk(int status)
{
    return status != 0 && status != TR_ENOMEM && status != TR_ECANCELED;
}

void reducer_save_refused(struct actor *self, const struct error *error)
{
    struct reducer *r = actor_state(self);
    if (&r->operation.part.error != error)
        r->operation.part.error = *error;
    reducer_ask(self);
}

static void reducer_part_written(struct actor *self, struct job *job, int status)
{
    struct reducer_operation *op = &((struct reducer *)actor_state(self))->operation;
    (void)job;
    /* This comes before the operation would fail for it: the other ranks wait for this one's
     * report, be it that there is no part. The work is over before the report, which would not be
     * sent while it lasts. */
    if (op->ended == 0 && is_of_disk(status) && op->part.error.code != 0) {
        op->working = false;
        reducer_save_refused(self, &op->part.error);
        return;
    }
    if (!is_done(self, status))
        return;
    if (reducer_has_second(actor_state(self)))
        reducer_copy_begin(self);
    else
        reducer_ask(self);
}

void reducer_save_begin(struct actor *self)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    const struct msg_group_request *head = message_head(op->request);
    /* The part is set before the crew has it, which reads it. */
    op->part.step = head->value;
    op->part.era = r->era;
    op->part.bytes = head->count;
    op->part.data = message_body(op->request);
    reducer_part_work(self, write_part, reducer_part_written);
}

void reducer_skip_begin(struct actor *self)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    const struct msg_group_request *head = message_head(op->request);
    int status = (int32_t)head->count;
    struct error error = { 0 };
    /* A status after which the trainer's call is made again would never be its answer. */
    error_set(&error,
              status >= 0                      ? TR_EINTERNAL
              : part_call_is_transient(status) ? TR_EIO
                                               : status,
              "trainer %" PRIu32 " saves no part of "
              "the checkpoint of step %" PRIu64 ": %s",
              r->options->rank, head->value, tr_strerror(status));
    /* The operation is a save before anything is asked: the coordinator knows no other kind. */
    op->kind = MSG_GROUP_SAVE;
    op->part.step = head->value;
    op->part.era = r->era;
    reducer_save_refused(self, &error);
}

static int drop_part(struct job *job)
{
    struct part_work *part = job->arg;
    checkpoint_drop_part(part->files, part->folder, part->step, part->era, part->rank);
    return 0;
}

static void reducer_part_dropped(struct actor *self, struct job *job, int status)
{
    struct reducer_operation *op = &((struct reducer *)actor_state(self))->operation;
    (void)job, (void)status;
    /* The work is over before the operation is ended: else that would only mark it again. */
    op->working = false;
    int ended = op->ended;
    op->ended = 0;
    /* An answer that came before the deadline counts, for the others have it too. */
    if (ended != 0 && ended != TR_ETIMEDOUT)
        reducer_end(self, ended);
    else
        reducer_fail(self, &op->part.error);
}

void reducer_drop_begin(struct actor *self, const struct error *error)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    if (op->part.error.code == 0) /* else it names the file that this rank could not write */
        op->part.error = *error;
    /* These two may stand in any order: the other host and the crew drop what each has, and only
     * the crew is waited for. */
    reducer_copy_drop(self, r->saves);
    reducer_part_work(self, drop_part, reducer_part_dropped);
}

static int read_part(struct job *job)
{
    struct part_work *part = job->arg;
    const struct checkpoint_part wanted = { part->bytes, part->crc32c };
    return checkpoint_read_saved(part->files, part->folder, part->step, part->era, part->rank,
                                 &wanted, part->data, &part->error);
}

static void was_read(struct actor *self, struct job *job, int status)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    (void)job;
    /* This comes before the operation would fail for it: the other host may have the part. The work
     * is over before that is pulled: else an end of the operation would wait for a crew that has
     * nothing. */
    bool lost = status != 0 && status != TR_ENOMEM && status != TR_ECANCELED && op->ended == 0;
    if (lost && reducer_has_second(r)) {
        op->working = false;
        reducer_pull_begin(self);
    } else if (is_done(self, status)) {
        reducer_loaded(self);
    }
}

void reducer_loaded(struct actor *self)
{
    struct reducer *r = actor_state(self);
    actor_failpoint(self, FAILPOINT_ERA_PART_READ);
    struct message *reply = r->operation.reply;
    /* The reply is taken out of the operation before that ends, which releases the one that it
     * has. */
    r->operation.reply = NULL;
    reducer_reply(self, reply);
}

static int keep_part(struct job *job)
{
    struct part_work *part = job->arg;
    return checkpoint_keep_part(part->files, part->folder, part->step, part->era, part->rank,
                                part->data, part->bytes, &part->error);
}

static void was_kept(struct actor *self, struct job *job, int status)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    (void)job;
    /* The failure is no more before the operation would fail for it: the bytes are here, and the
     * next checkpoint has its own, so no training waits for a disk. */
    if (status != 0 && status != TR_ECANCELED) {
        log_write(actor_node(self), LOG_LEVEL_WARN, "job",
                  "trainer %" PRIu32 ": its part of the checkpoint of step %" PRIu64
                  " was fetched from another host, but cannot be written here: %s",
                  r->options->rank, op->part.step,
                  op->part.error.code != 0 ? op->part.error.text : tr_strerror(status));
        op->part.error = (struct error){ 0 };
        status = 0;
    }
    if (is_done(self, status))
        reducer_loaded(self);
}

void reducer_keep_begin(struct actor *self)
{
    struct reducer *r = actor_state(self);
    r->operation.part.error = (struct error){ 0 };
    reducer_part_work(self, keep_part, was_kept);
}

void reducer_load_begin(struct actor *self, const struct msg_restored *head)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    /* The reply and its body come first, since the crew reads the part into them; where the
     * operation ends instead, they go with it. */
    op->reply = message_create(self, MSG_GROUP_REPLY);
    op->part.data = op->reply == NULL ? NULL : message_body_alloc(self, op->reply, head->bytes);
    if (op->part.data == NULL || r->options->checkpoints == NULL) {
        reducer_end(self, r->options->checkpoints == NULL ? TR_EMISMATCH : TR_ENOMEM);
        return;
    }
    *(struct msg_group_reply *)message_head(op->reply) = (struct msg_group_reply){
        .step = head->step, .count = head->bytes, .found = 1, .era = head->era
    };
    /* The part is set before the crew has it, which reads it. */
    op->part.step = head->step;
    op->part.era = head->saved;
    op->part.bytes = head->bytes;
    op->part.crc32c = head->crc32c;
    reducer_part_work(self, read_part, was_read);
}

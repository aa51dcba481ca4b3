/* SPDX-License-Identifier: Apache-2.0 */
/* The work of the crew for a store. A reply is filled before or after the disk is asked: only work
 * that succeeded sends it. */
#include <inttypes.h>
#include <stdlib.h>

#include "actors/job/checkpoint_store_state.h"

static int look(struct job *job)
{
    struct checkpoint_task *task = job->arg;
    const struct msg_checkpoint_look *head = message_head(task->request);
    const struct checkpoint_part part = { head->bytes, head->crc32c };
    struct msg_checkpoint_seen *seen = message_head(task->reply);
    int rv = checkpoint_read_saved(task->files, task->folder, head->step, head->era, head->rank,
                                   &part, NULL, &task->error);
    /* That a part is missing or damaged is an answer, and why is nobody's business: it is copied,
     * or looked for elsewhere. A part that cannot be read now may be whole, so the failure is the
     * answer. */
    seen->found = rv == 0;
    return checkpoint_is_answer(rv) ? 0 : rv;
}

static int copy(struct job *job)
{
    struct checkpoint_task *task = job->arg;
    const struct msg_checkpoint_copy *head = message_head(task->request);
    const struct checkpoint_piece piece = {
        head->step, head->offset, head->era, head->rank, { head->bytes, head->crc32c }, head->count
    };
    struct msg_checkpoint_copied *copied = message_head(task->reply);
    copied->next = head->offset + head->count;
    return checkpoint_write_piece(task->files, task->folder, &piece, message_body(task->request),
                                  &task->error);
}

uint32_t checkpoint_store_piece_count(const struct msg_checkpoint_fetch *head)
{
    uint64_t left = head->offset < head->bytes ? head->bytes - head->offset : 0;
    return left < MSG_CHECKPOINT_PIECE_MAX ? (uint32_t)left : MSG_CHECKPOINT_PIECE_MAX;
}

static int fetch(struct job *job)
{
    struct checkpoint_task *task = job->arg;
    const struct msg_checkpoint_fetch *head = message_head(task->request);
    const struct checkpoint_piece piece = { head->step,
                                            head->offset,
                                            head->era,
                                            head->rank,
                                            { head->bytes, head->crc32c },
                                            checkpoint_store_piece_count(head) };
    *(struct msg_checkpoint_piece *)message_head(
        task->reply) = (struct msg_checkpoint_piece){ head->offset, piece.count };
    return checkpoint_read_piece(task->files, task->folder, &piece, message_body(task->reply),
                                 &task->error);
}

static int find(struct job *job)
{
    struct checkpoint_task *task = job->arg;
    const struct msg_checkpoint_find *head = message_head(task->request);
    int rv = checkpoint_newest(task->files, task->folder, head->before, &task->manifest,
                               &task->passed_over, &task->error);
    return rv == TR_ENOENT ? 0 : rv;
}

static int commit(struct job *job)
{
    struct checkpoint_task *task = job->arg;
    const struct msg_checkpoint_commit *head = message_head(task->request);
    *(struct msg_checkpoint_done *)message_head(
        task->reply) = (struct msg_checkpoint_done){ .step = head->step, .era = head->era };
    return checkpoint_receive(task->files, task->folder, &task->manifest, head->keep, &task->error);
}

static int drop_copy(struct job *job)
{
    struct checkpoint_task *task = job->arg;
    const struct msg_checkpoint_drop *head = message_head(task->request);
    *(struct msg_checkpoint_done *)message_head(task->reply) = (struct msg_checkpoint_done){
        .step = head->step, .sequence = head->sequence, .era = head->era
    };
    checkpoint_drop_part(task->files, task->folder, head->step, head->era, head->rank);
    return 0;
}

int (*checkpoint_store_work(uint32_t kind))(struct job *job)
{
    switch (kind) {
    case MSG_CHECKPOINT_LOOK:
        return look;
    case MSG_CHECKPOINT_COPY:
        return copy;
    case MSG_CHECKPOINT_FETCH:
        return fetch;
    case MSG_CHECKPOINT_FIND:
        return find;
    case MSG_CHECKPOINT_COMMIT:
        return commit;
    case MSG_CHECKPOINT_DROP:
        return drop_copy;
    default:
        return NULL;
    }
}

static int read_entries(const struct msg_checkpoint_entry *entries, uint64_t step, uint32_t era,
                        uint32_t world, struct checkpoint_manifest *manifest)
{
    *manifest = (struct checkpoint_manifest){ 0 };
    /* The number of ranks is compared with its bound before memory is taken for as many. */
    if (world > CHECKPOINT_WORLD_MAX || era == UINT32_MAX || step > INT64_MAX)
        return TR_EFORMAT;
    struct checkpoint_part *parts = calloc(world + (size_t)1, sizeof *parts);
    if (parts == NULL)
        return TR_ENOMEM;
    for (uint32_t rank = 0; rank < world; rank++) {
        if (entries[rank].crc32c > UINT32_MAX || entries[rank].bytes > INT64_MAX) {
            free(parts);
            return TR_EFORMAT;
        }
        parts[rank] = (struct checkpoint_part){ entries[rank].bytes,
                                                (uint32_t)entries[rank].crc32c };
    }
    *manifest = (struct checkpoint_manifest){ step, era, world, parts };
    return 0;
}

int checkpoint_store_read_commit(const struct message *request,
                                 struct checkpoint_manifest *manifest)
{
    const struct msg_checkpoint_commit *head = message_head((struct message *)(uintptr_t)request);
    if (head->world == 0)
        return TR_EFORMAT;
    return read_entries(message_body(request), head->step, head->era, head->world, manifest);
}

int checkpoint_store_read_found(const struct message *reply, struct checkpoint_manifest *manifest)
{
    const struct msg_checkpoint_found *head = (const void *)reply->head;
    *manifest = (struct checkpoint_manifest){ 0 };
    if (reply->frame.kind != MSG_CHECKPOINT_FOUND)
        return TR_EFORMAT;
    if (head->world == 0)
        return TR_ENOENT;
    return read_entries(message_body(reply), head->step, head->era, head->world, manifest);
}

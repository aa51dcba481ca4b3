/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants:
 *  1. A request is on the list from its coming until it is answered. The crew has one piece or drop
 *     of a rank at a time, in the order of their coming: a piece that is still being written never
 *     follows the drop of its save, nor the first piece of the next one.
 *  2. A piece of a save that was dropped, or of one before the newest, changes nothing, however
 *     late it comes; neither does the drop of a save before the newest. (era, sequence) orders the
 *     saves of one life of the rank's process; nothing of a past life comes once the next has
 *     asked. Eras begin low again where the coordinator and all ranks died. All that this store
 *     knows of them may go with it, since messages to an actor that ended do not reach the next one.
 *  3. A part is read once for one that asks, however often that repeats its look meanwhile: a disk
 *     that is slower than its patience would have more to read with each repeat, and never be done.
 */
#include "actors/job/checkpoint_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/common/error_reply.h"
#include "actors/job/checkpoint_store_state.h"
#include "runtime/base/files.h"
#include "runtime/core/directory.h"

static void checkpoint_store_drop(struct actor *self, struct checkpoint_task *task)
{
    struct checkpoint_store *store = actor_state(self);
    *task->link = task->next;
    if (task->next != NULL)
        task->next->link = task->link;
    store->num_tasks--;
    store->bytes -= task->bytes;
    message_release(self, task->request);
    message_release(self, task->repeat);
    message_release(self, task->reply);
    checkpoint_manifest_fini(&task->manifest);
    free(task->folder);
    free(task);
}

/* The parts of the manifest that was found go into the reply. */
static int fill_found(struct actor *self, struct checkpoint_task *task)
{
    const struct checkpoint_manifest *manifest = &task->manifest;
    struct msg_checkpoint_entry *entries = NULL;
    if (manifest->world > 0)
        entries = message_body_alloc(self, task->reply, manifest->world * sizeof *entries);
    if (manifest->world > 0 && entries == NULL)
        return TR_ENOMEM;
    for (uint32_t rank = 0; rank < manifest->world; rank++)
        entries[rank] = (struct msg_checkpoint_entry){ manifest->parts[rank].bytes,
                                                       manifest->parts[rank].crc32c };
    *(struct msg_checkpoint_found *)message_head(task->reply) = (struct msg_checkpoint_found){
        manifest->step, manifest->era, manifest->world, task->passed_over
    };
    return 0;
}

/* The piece or drop that a request is, as the rank's saves are ordered. */
struct save_id {
    uint64_t sequence;
    uint32_t era, rank;
};

static bool read_save(const struct message *request, struct save_id *id)
{
    const void *head = request->head;
    const struct msg_checkpoint_copy *copy = head;
    const struct msg_checkpoint_drop *drop = head;
    if (request->frame.kind == MSG_CHECKPOINT_COPY)
        *id = (struct save_id){ copy->sequence, copy->era, copy->rank };
    else if (request->frame.kind == MSG_CHECKPOINT_DROP)
        *id = (struct save_id){ drop->sequence, drop->era, drop->rank };
    else
        return false;
    return true;
}

static bool is_of_rank(const struct checkpoint_task *task, uint32_t rank)
{
    struct save_id id = { 0 };
    return task->request != NULL && read_save(task->request, &id) && id.rank == rank;
}

static void checkpoint_store_begin(struct actor *self, struct checkpoint_task *task)
{
    task->begun = true;
    crew_submit(self, &task->job);
}

/* The oldest of the rank's that waits is next. */
static void begin_next(struct actor *self, uint32_t rank)
{
    struct checkpoint_store *store = actor_state(self);
    struct checkpoint_task *oldest = NULL;
    /* The list has the newest first, so the last of the rank's is the oldest. */
    for (struct checkpoint_task *task = store->tasks; task != NULL; task = task->next)
        if (is_of_rank(task, rank))
            oldest = task;
    if (oldest != NULL && !oldest->begun)
        checkpoint_store_begin(self, oldest);
}

/* Begins a task, unless one of the same rank goes before it. */
static void begin_in_turn(struct actor *self, struct checkpoint_task *task)
{
    struct save_id id = { 0 };
    if (!read_save(task->request, &id))
        checkpoint_store_begin(self, task);
    else
        begin_next(self, id.rank);
}

static void checkpoint_store_worked(struct actor *self, struct job *job, int status)
{
    struct checkpoint_task *task = job->arg;
    struct message *request = task->request, *reply = task->reply;
    struct save_id id = { 0 };
    /* The rank is read while the request is here: its next task is looked for when that has
     * gone. */
    bool in_turn = read_save(request, &id);
    if (status == 0 && reply->frame.kind == MSG_CHECKPOINT_FOUND)
        status = fill_found(self, task);
    /* A message that is sent is not the task's any more: what the task still has is released with
     * it. */
    task->request = NULL;
    if (task->repeat != NULL) { /* its sender has given up the first */
        actor_refuse(self, request, TR_ECANCELED);
        request = task->repeat;
        task->repeat = NULL;
    }
    if (status == 0) {
        task->reply = NULL;
        actor_reply(self, request, reply);
    } else if (task->error.code == status) {
        error_reply_send(self, request, &task->error);
    } else {
        actor_refuse(self, request, status);
    }
    /* The task is off the list before the next of its rank is chosen: it is the oldest there. */
    checkpoint_store_drop(self, task);
    if (in_turn && status != TR_ECANCELED) /* else self ends */
        begin_next(self, id.rank);
}

static uint32_t reply_kind(uint32_t kind)
{
    static const uint32_t kinds[] = {
        MSG_CHECKPOINT_LOOK,   MSG_CHECKPOINT_SEEN,  MSG_CHECKPOINT_COPY, MSG_CHECKPOINT_COPIED,
        MSG_CHECKPOINT_FETCH,  MSG_CHECKPOINT_PIECE, MSG_CHECKPOINT_FIND, MSG_CHECKPOINT_FOUND,
        MSG_CHECKPOINT_COMMIT, MSG_CHECKPOINT_DONE,  MSG_CHECKPOINT_DROP, MSG_CHECKPOINT_DONE,
    };
    size_t i = 0;
    while (kinds[i] != kind)
        i += 2;
    return kinds[i + 1];
}

/* The folder is the end of every body. */
static int read_folder(const struct checkpoint_store *store, const struct message *request,
                       char **folder, struct error *error)
{
    const void *head = request->head;
    uint32_t kind = request->frame.kind;
    size_t length = kind == MSG_CHECKPOINT_LOOK
                        ? ((const struct msg_checkpoint_look *)head)->path_bytes
                    : kind == MSG_CHECKPOINT_COPY
                        ? ((const struct msg_checkpoint_copy *)head)->path_bytes
                    : kind == MSG_CHECKPOINT_FETCH
                        ? ((const struct msg_checkpoint_fetch *)head)->path_bytes
                    : kind == MSG_CHECKPOINT_DROP
                        ? ((const struct msg_checkpoint_drop *)head)->path_bytes
                    : kind == MSG_CHECKPOINT_FIND
                        ? ((const struct msg_checkpoint_find *)head)->path_bytes
                        : ((const struct msg_checkpoint_commit *)head)->path_bytes;
    const char *body = message_body(request);
    char *given = strndup(length == 0 ? "" : body + request->frame.body_bytes - length, length);
    const char *only = store->options->folder;
    int rv = given == NULL ? TR_ENOMEM : 0;
    /* A member may not have us write, or read, wherever it likes. */
    if (rv == 0 && (only == NULL || strcmp(only, given) != 0))
        rv = error_set(error, TR_EMISMATCH,
                       "this host keeps checkpoints in %s, not in %s: what "
                       "all processes use is in the cluster file, which has to be equal on all "
                       "hosts",
                       only == NULL ? "no folder" : only, given);
    if (rv == 0)
        *folder = checkpoint_folder(given, store->options->host);
    free(given);
    return rv == 0 && *folder == NULL ? TR_ENOMEM : rv;
}

static bool is_before(const struct save_id *id, const struct known_save *known)
{
    return id->era < known->era || (id->era == known->era && id->sequence < known->sequence);
}

static int make_known(struct checkpoint_store *store, uint32_t rank)
{
    if (rank < store->num_saves)
        return 0;
    struct known_save *saves = realloc(store->saves, (rank + (size_t)1) * sizeof *saves);
    if (saves == NULL)
        return TR_ENOMEM;
    memset(saves + store->num_saves, 0, (rank + (size_t)1 - store->num_saves) * sizeof *saves);
    store->saves = saves;
    store->num_saves = rank + 1;
    return 0;
}

/* Notes the save that a request is of. */
static int note_save(struct checkpoint_store *store, const struct message *request,
                     struct error *error)
{
    struct save_id id = { 0 };
    if (!read_save(request, &id))
        return 0;
    bool drops = request->frame.kind == MSG_CHECKPOINT_DROP;
    if (id.rank >= CHECKPOINT_WORLD_MAX)
        return error_set(error, TR_ERANGE, "there is no trainer %" PRIu32, id.rank);
    /* The rank is compared with its bound before the list grows to it. */
    int rv = make_known(store, id.rank);
    if (rv != 0)
        return rv;
    /* The save is noted when the request comes, not when the crew has worked for it: what comes
     * later of an older one, or of one that is dropped by this, is refused at once. */
    struct known_save *known = &store->saves[id.rank];
    uint32_t incarnation = request->frame.from.incarnation;
    bool alive = incarnation == known->incarnation;
    bool before = alive && is_before(&id, known);
    bool same = alive && id.era == known->era && id.sequence == known->sequence;
    if (before || (same && known->dropped && !drops))
        return error_set(error, TR_EINVAL,
                         "trainer %" PRIu32 " dropped its save %" PRIu64 " of era %" PRIu32,
                         id.rank, id.sequence, id.era);
    *known = (struct known_save){ id.sequence, id.era, incarnation, drops };
    return 0;
}

static int checkpoint_store_prepare(struct actor *self, struct checkpoint_task *task)
{
    struct checkpoint_store *store = actor_state(self);
    const struct message *request = task->request;
    task->files = store->options->files != NULL ? store->options->files : files_posix;
    int rv = read_folder(store, request, &task->folder, &task->error);
    /* The folder comes first: a process with another configuration changes nothing of what this
     * store knows of a rank's saves. The save comes before memory is asked for: a drop for which
     * there is none keeps late pieces out all the same, and is asked for again. */
    if (rv == 0)
        rv = note_save(store, request, &task->error);
    if (rv != 0)
        return rv;
    task->reply = message_create(self, reply_kind(request->frame.kind));
    if (task->reply == NULL)
        return TR_ENOMEM;
    if (request->frame.kind == MSG_CHECKPOINT_COMMIT)
        return checkpoint_store_read_commit(request, &task->manifest);
    if (request->frame.kind != MSG_CHECKPOINT_FETCH)
        return 0;
    size_t count = checkpoint_store_piece_count((const void *)request->head);
    return count == 0 || message_body_alloc(self, task->reply, count) != NULL ? 0 : TR_ENOMEM;
}

static size_t bytes_of(const struct message *request)
{
    return request->frame.kind == MSG_CHECKPOINT_FETCH
               ? checkpoint_store_piece_count((const void *)request->head)
               : request->frame.body_bytes;
}

/* The task that reads for the look that this one repeats; NULL: none. */
static struct checkpoint_task *find_repeated(const struct checkpoint_store *store,
                                             const struct message *look)
{
    struct checkpoint_task *task = look->frame.kind == MSG_CHECKPOINT_LOOK ? store->tasks : NULL;
    for (; task != NULL; task = task->next) {
        const struct message *one = task->request;
        if (one != NULL && one->frame.kind == MSG_CHECKPOINT_LOOK &&
            address_equal(one->frame.from, look->frame.from) &&
            one->frame.body_bytes == look->frame.body_bytes &&
            memcmp(one->head, look->head, sizeof(struct msg_checkpoint_look)) == 0 &&
            (one->frame.body_bytes == 0 ||
             memcmp(message_body(one), message_body(look), one->frame.body_bytes) == 0))
            break;
    }
    return task;
}

static int checkpoint_store_receive(struct actor *self, struct message *request)
{
    struct checkpoint_store *store = actor_state(self);
    struct checkpoint_task *reads = find_repeated(store, request);
    /* A repeat comes before the bounds: it takes no room beside the look that it repeats (3). */
    if (reads != NULL) {
        if (reads->repeat != NULL)
            actor_refuse(self, reads->repeat, TR_ECANCELED);
        reads->repeat = request;
        return 0;
    }
    int (*piece)(struct job *) = checkpoint_store_work(request->frame.kind);
    size_t bytes = bytes_of(request);
    /* A request that is alone always has room: else one above the bound would be refused for
     * ever. */
    bool full = store->num_tasks >= CHECKPOINT_STORE_TASKS_MAX ||
                (store->bytes > 0 && store->bytes + bytes > CHECKPOINT_STORE_BYTES_MAX);
    struct checkpoint_task *task = piece == NULL || full ? NULL : calloc(1, sizeof *task);
    if (task == NULL) {
        /* A kind that nobody serves comes before a lack that may pass: it is not worth another
         * attempt. */
        actor_refuse(self, request, piece == NULL ? TR_EUNSUPPORTED : full ? TR_EFULL : TR_ENOMEM);
        return 0;
    }
    task->request = request;
    task->bytes = bytes;
    /* The task is listed and charged before it is prepared: a failure of that takes it down as
     * its end does. */
    task->next = store->tasks;
    task->link = &store->tasks;
    if (task->next != NULL)
        task->next->link = &task->next;
    store->tasks = task;
    store->num_tasks++;
    store->bytes += bytes;
    int rv = checkpoint_store_prepare(self, task);
    if (rv != 0) {
        task->request = NULL;
        if (task->error.code == rv)
            error_reply_send(self, request, &task->error);
        else
            actor_refuse(self, request, rv);
        checkpoint_store_drop(self, task);
        return 0;
    }
    task->job = (struct job){ .piece = piece, .done = checkpoint_store_worked, .arg = task };
    begin_in_turn(self, task);
    return 0;
}

static int checkpoint_store_start(struct actor *self, const void *arg)
{
    struct checkpoint_store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return TR_ENOMEM;
    store->options = arg;
    actor_set_state(self, store);
    return directory_register(self, CHECKPOINT_STORE_NAME, NULL, NULL);
}

/* Its jobs are done, and with them the tasks that had begun. */
static void checkpoint_store_fini(struct actor *self)
{
    struct checkpoint_store *store = actor_state(self);
    while (store != NULL && store->tasks != NULL)
        checkpoint_store_drop(self, store->tasks);
    if (store != NULL)
        free(store->saves);
    free(store);
}

const struct actor_ops checkpoint_store_ops = {
    .name = "checkpoints",
    .start = checkpoint_store_start,
    .receive = checkpoint_store_receive,
    .fini = checkpoint_store_fini,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other side of a store: calls to the store of a node.
 *
 * Each is a part_call of its own, to the actor of a name: it asks the directory of that node, and
 * again when the store that it found is gone. Invariants:
 *  1. A call is on its actor's list from checkpoint_store_call to done, or to its cancelling.
 *  2. Its memory outlives a search of the directory, which cannot be stopped: a cancelled call
 *     whose search is under way is freed by that.
 */
#include <stdlib.h>
#include <string.h>

#include "actors/common/part_call.h"
#include "actors/job/checkpoint_store.h"
#include "runtime/core/directory.h"
#include "schemas/messages.h"

/* A store that refuses is there: it is waited for so long after each refusal, ... */
#define REFUSED_NS UINT64_C(10000000000)
/* ... and altogether. Doing without it may cost the newest checkpoint. */
#define BUSY_NS UINT64_C(60000000000)

struct checkpoint_store_call {
    struct checkpoint_store_call *next, **link;
    struct part_call call;
    struct message *request; /* each attempt sends a copy */
    uint32_t node;
    struct address store; /* none: not known */
    bool finding, cancelled;
    uint64_t busy_until_ns;
    checkpoint_store_done *done;
    void *arg;
};

static void unlink_call(struct checkpoint_store_call *k)
{
    *k->link = k->next;
    if (k->next != NULL)
        k->next->link = k->link;
    message_release(k->call.self, k->request);
    k->request = NULL;
}

static void checkpoint_store_call_found(struct actor *self, void *arg, int status,
                                        struct address address)
{
    struct checkpoint_store_call *k = arg;
    (void)self;
    /* The search is over before all else: a cancelled call is freed here (2), and one that goes on
     * may search again at once. */
    k->finding = false;
    if (k->cancelled) {
        free(k);
        return;
    }
    /* The address is noted before the call goes on, which asks for it. */
    k->store = status == 0 ? address : ADDRESS_NONE;
    if (status != TR_ECANCELED) /* self ends: checkpoint_store_calls_fini ends the call */
        part_call_located(&k->call, status);
}

static int locate_checkpoint_store(struct part_call *call, struct address *to)
{
    struct checkpoint_store_call *k = call->arg;
    *to = k->store;
    if (!address_is_none(k->store))
        return 0;
    int rv = directory_wait_at(call->self, k->node, CHECKPOINT_STORE_NAME, call->deadline_ns,
                               checkpoint_store_call_found, k);
    /* The search is noted once it has begun; its end, which clears the note, comes in a later
     * turn. */
    k->finding = rv == 0;
    return rv != 0 ? rv : 1;
}

static int copy_request(struct part_call *call, struct message **request)
{
    const struct checkpoint_store_call *k = call->arg;
    *request = message_copy(call->self, k->request);
    return *request != NULL ? 0 : TR_ENOMEM;
}

static void attempt_failed(struct part_call *call, const struct error *why)
{
    struct checkpoint_store_call *k = call->arg;
    /* A store that is down is looked for anew by the next attempt, whether or not it gets more
     * time. */
    if (why->code == TR_EPEERDOWN)
        k->store = ADDRESS_NONE;
    /* Only a refusal says that it is there, and may lengthen the deadline. */
    if (why->code != TR_EFULL && why->code != TR_ENOMEM)
        return;
    uint64_t until_ns = actor_now_ns(call->self) + REFUSED_NS;
    until_ns = until_ns < k->busy_until_ns ? until_ns : k->busy_until_ns;
    call->deadline_ns = call->deadline_ns > until_ns ? call->deadline_ns : until_ns;
}

static void checkpoint_store_call_done(struct part_call *call, int status, struct message *reply,
                                       const struct error *error)
{
    struct checkpoint_store_call *k = call->arg;
    struct actor *self = call->self;
    checkpoint_store_done *done = k->done;
    void *arg = k->arg;
    /* The call is gone before done, which may make another one or cancel all of them. */
    unlink_call(k);
    free(k);
    done(self, arg, status, reply, error);
}

static const struct part_call_ops checkpoint_store_call_ops = {
    .locate = locate_checkpoint_store,
    .make = copy_request,
    .failed = attempt_failed,
    .done = checkpoint_store_call_done,
};

int checkpoint_store_call(struct actor *self, struct checkpoint_store_calls *calls, uint32_t node,
                          struct message *request, uint64_t deadline_ns,
                          checkpoint_store_done *done, void *arg)
{
    struct checkpoint_store_call *k = malloc(sizeof *k);
    if (k == NULL) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    *k = (struct checkpoint_store_call){ .next = calls->first,
                                         .link = &calls->first,
                                         .request = request,
                                         .node = node,
                                         .store = ADDRESS_NONE,
                                         .done = done,
                                         .arg = arg,
                                         .busy_until_ns = actor_now_ns(self) + BUSY_NS };
    if (k->next != NULL)
        k->next->link = &k->next;
    calls->first = k;
    /* The call is listed before it is sent (1); `done` never runs inside that. */
    uint64_t now_ns = actor_now_ns(self);
    k->call = (struct part_call){ .ops = &checkpoint_store_call_ops, .self = self, .arg = k };
    /* One attempt may take all of the time: a store that looks for as long as half of it would
     * never get to answer else. Its end, which ends the attempt, is heard of sooner. */
    if (deadline_ns != UINT64_MAX && deadline_ns > now_ns)
        k->call.call_ns = deadline_ns - now_ns;
    part_call_send(&k->call, deadline_ns);
    return 0;
}

void checkpoint_store_calls_cancel(struct checkpoint_store_calls *calls)
{
    while (calls->first != NULL) {
        struct checkpoint_store_call *k = calls->first;
        unlink_call(k);
        /* The call ends before its memory goes, which a search that is under way keeps until it
         * ends (2). */
        part_call_cancel(&k->call);
        k->cancelled = true;
        if (!k->finding)
            free(k);
    }
}

void checkpoint_store_calls_fini(struct checkpoint_store_calls *calls)
{
    struct error error;
    error_set(&error, TR_ECANCELED, "%s", tr_strerror(TR_ECANCELED));
    while (calls->first != NULL) {
        struct checkpoint_store_call *k = calls->first;
        part_call_fini(&k->call);
        checkpoint_store_call_done(&k->call, TR_ECANCELED, NULL, &error);
    }
}

struct message *checkpoint_store_request(struct actor *self, uint32_t kind, const void *bytes,
                                         size_t count, const char *folder)
{
    size_t length = strlen(folder);
    struct message *request = message_create(self, kind);
    char *body = request == NULL ? NULL : message_body_alloc(self, request, count + length);
    if (body == NULL) {
        message_release(self, request);
        return NULL;
    }
    if (count > 0)
        memcpy(body, bytes, count);
    memcpy(body + count, folder, length);
    return request;
}

struct message *checkpoint_store_look(struct actor *self, const char *folder, uint64_t step,
                                      uint32_t era, uint32_t rank,
                                      const struct checkpoint_part *part)
{
    struct message *request = checkpoint_store_request(self, MSG_CHECKPOINT_LOOK, NULL, 0, folder);
    if (request != NULL)
        *(struct msg_checkpoint_look *)message_head(
            request) = (struct msg_checkpoint_look){ .step = step,
                                                     .bytes = part->bytes,
                                                     .crc32c = part->crc32c,
                                                     .era = era,
                                                     .rank = rank,
                                                     .path_bytes = (uint32_t)strlen(folder) };
    return request;
}

struct message *checkpoint_store_commit(struct actor *self, const char *folder, uint32_t keep,
                                        const struct checkpoint_manifest *manifest)
{
    size_t count = manifest->world * sizeof(struct msg_checkpoint_entry);
    struct msg_checkpoint_entry *entries = malloc(count + 1);
    for (uint32_t rank = 0; rank < manifest->world && entries != NULL; rank++)
        entries[rank] = (struct msg_checkpoint_entry){ manifest->parts[rank].bytes,
                                                       manifest->parts[rank].crc32c };
    struct message *request = NULL;
    if (entries != NULL)
        request = checkpoint_store_request(self, MSG_CHECKPOINT_COMMIT, entries, count, folder);
    free(entries);
    if (request != NULL)
        *(struct msg_checkpoint_commit *)message_head(
            request) = (struct msg_checkpoint_commit){ .step = manifest->step,
                                                       .era = manifest->era,
                                                       .world = manifest->world,
                                                       .keep = keep,
                                                       .path_bytes = (uint32_t)strlen(folder) };
    return request;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/data/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_locator.h"
#include "actors/common/process_member.h"
#include "actors/data/server_work.h"
#include "actors/data/tensor_shelf.h"
#include "schemas/body.h"

static const struct work_ops *const kinds[] = {
    &server_sample_ops,      &server_rows_ops,         &server_select_ops,  &server_tensor_ops,
    &server_tensor_read_ops, &server_tensor_write_ops, &server_reverse_ops,
};

static bool server_owns(const struct server_options *options, uint32_t part)
{
    for (uint32_t i = 0; i < options->num_parts; i++)
        if (options->parts[i] == part)
            return true;
    return false;
}

int server_pin(struct server_work *work, uint32_t part, uint32_t version, struct error *error)
{
    const struct server_options *options = work->server->options;
    /* This is asked first: the snapshots are the whole process's, and may have a partition of
     * another server. */
    if (!server_owns(options, part))
        return error_set(error, TR_ENOENT,
                         "partition %" PRIu32 " is not served here; server %" PRIu32 " has %" PRIu32
                         " others of %" PRIu32,
                         part, options->rank, options->num_parts,
                         snapshots_book(options->snapshots)->num_parts);
    work->snapshot = snapshot_acquire(options->snapshots, part, version);
    if (work->snapshot == NULL)
        return error_set(error, TR_EMISMATCH,
                         "version %" PRIu32 " of partition %" PRIu32
                         " is not here; open the graph again",
                         version, part);
    work->part = snapshot_part(work->snapshot);
    return 0;
}

int server_make_reply(struct actor *self, struct server_work *work, uint32_t kind,
                      struct error *error)
{
    work->reply = message_create(self, kind);
    return work->reply != NULL ? 0
                               : error_set(error, TR_ENOMEM,
                                           "the server has no memory for a "
                                           "reply");
}

int server_make_body(struct actor *self, struct server_work *work, uint32_t kind, size_t bytes,
                     void **body, struct error *error)
{
    int rv = server_make_reply(self, work, kind, error);
    if (rv != 0)
        return rv;
    *body = message_body_alloc(self, work->reply, bytes);
    return *body != NULL ? 0
                         : error_set(error, TR_ENOMEM,
                                     "the server has no memory for a reply "
                                     "of %zu bytes",
                                     bytes);
}

static void free_work(struct actor *self, struct server_work *work)
{
    if (work->ops->fini != NULL)
        work->ops->fini(self, work);
    message_release(self, work->reply);
    message_release(self, work->request);
    snapshot_release(work->snapshot);
    free(work);
}

/* Answers, unless there is more to do. */
static int server_step(struct actor *self, struct server_work *work)
{
    struct error error = { 0 };
    uint64_t deadline_ns = work->request->frame.deadline_ns;
    /* The turn is noted now, since the work may be freed below. */
    work->server->worked_ns = actor_now_ns(self);
    /* Each slice looks at the deadline first: nobody waits for what comes later. */
    if (deadline_ns != 0 && deadline_ns <= actor_now_ns(self)) {
        actor_refuse(self, work->request, TR_ETIMEDOUT);
    } else {
        int rv = work->ops->step(self, work, &error);
        if (rv == WORK_MORE)
            return WORK_MORE;
        if (rv == WORK_DONE) {
            actor_reply(self, work->request, work->reply);
            work->reply = NULL;
        } else {
            error_reply_send(self, work->request, &error);
        }
    }
    /* Each answer consumed the request: free_work() would answer it again. */
    work->request = NULL;
    free_work(self, work);
    return WORK_DONE;
}

static void step_first(struct actor *self, void *arg)
{
    struct server *server = arg;
    /* The fields that are needed afterwards are read first: a step that ends it frees it. */
    struct server_work *work = server->first, *next = work->next;
    uint64_t body_bytes = work->body_bytes;
    if (server_step(self, work) == WORK_DONE) {
        server->first = next;
        server->num_works--;
        server->waiting_bytes -= body_bytes;
    }
    /* The timer comes last, and only where work is left: step_first() takes the first without
     * asking. */
    if (server->first != NULL)
        timer_start(self, &server->timer, actor_now_ns(self), step_first, server);
}

static void server_push(struct actor *self, struct server *server, struct server_work *work)
{
    /* `last` means nothing without a first: step_first() leaves it as it was. */
    if (server->first == NULL)
        server->first = work;
    else
        server->last->next = work;
    server->last = work;
    server->num_works++;
    work->body_bytes = work->request->frame.body_bytes;
    server->waiting_bytes += work->body_bytes;
    if (!timer_is_started(&server->timer))
        timer_start(self, &server->timer, actor_now_ns(self), step_first, server);
}

static bool is_full(const struct server *server, const struct message *request)
{
    /* An idle server takes any request: one larger than the bound would else never be served. */
    if (server->num_works == 0)
        return false;
    uint64_t most = server->options->waiting_bytes_max;
    most = most != 0 ? most : SERVER_WAITING_BYTES_MAX;
    return server->num_works >= SERVER_WORKS_MAX ||
           server->waiting_bytes + request->frame.body_bytes > most;
}

/* Takes the request over. */
static void server_serve(struct actor *self, struct server *server, const struct work_ops *ops,
                         struct message *request)
{
    struct error error = { 0 };
    int rv = 0;
    struct server_work *work = NULL;
    /* The request is verified before anything reads it, and refused while that costs no memory. */
    if (messages_verify(ops->kind, message_head(request), message_body(request),
                        request->frame.body_bytes) != 0)
        rv = error_set(&error, TR_EFORMAT, "the body of a request does not match its head");
    else if (is_full(server, request))
        rv = error_set(&error, TR_EFULL,
                       "server %" PRIu32 " is busy: %" PRIu32 " requests of %" PRIu64 " bytes wait",
                       server->options->rank, server->num_works, server->waiting_bytes);
    else if ((work = calloc(1, ops->state_bytes)) == NULL)
        rv = error_set(&error, TR_ENOMEM, "the server has no memory for a request");
    if (rv != 0) {
        error_reply_send(self, request, &error);
        return;
    }
    work->ops = ops;
    work->server = server;
    work->request = request;
    if (ops->begin(self, work, &error) != 0) {
        /* The request is consumed here, so that free_work() does not answer it again. */
        error_reply_send(self, request, &error);
        work->request = NULL;
        free_work(self, work);
        return;
    }
    /* The work begins at once, but for a second slice in one turn: a mailbox may hold many
     * requests. */
    bool waits = server->first != NULL || server->worked_ns == actor_now_ns(self);
    if (waits || server_step(self, work) == WORK_MORE)
        server_push(self, server, work);
}

/* An era of the job has ended, and what programs wrote in it goes. */
static void server_end_era(struct actor *self, struct message *notice)
{
    struct server *server = actor_state(self);
    if (server->options->tensors != NULL)
        tensor_shelf_end_era(server->options->tensors,
                             ((const struct msg_era *)message_head(notice))->era);
    message_release(self, notice);
}

static int server_receive(struct actor *self, struct message *message)
{
    if (message->frame.kind == MSG_ERA) {
        server_end_era(self, message);
        return 0;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (message->frame.kind == kinds[i]->kind) {
            server_serve(self, actor_state(self), kinds[i], message);
            return 0;
        }
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static int server_start(struct actor *self, const void *arg)
{
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return TR_ENOMEM;
    server->options = arg;
    server->worked_ns = UINT64_MAX;
    actor_set_state(self, server);
    int rv = 0;
    for (uint32_t i = 0; server->options->named && i < server->options->num_parts && rv == 0; i++) {
        char name[DIRECTORY_NAME_MAX];
        server_part_name(server->options->parts[i], name);
        rv = directory_register(self, name, NULL, NULL);
    }
    /* The server joins last, when it can be asked to stop. */
    server->member = (struct process_member){ .role = MSG_ROLE_SERVER,
                                              .rank = server->options->rank,
                                              .plan = server->options->plan,
                                              .root = server->options->root };
    if (rv == 0 && server->options->join)
        rv = process_member_join(self, &server->member);
    return rv;
}

static void server_stop(struct actor *self)
{
    struct server *server = actor_state(self);
    process_member_stop(self, &server->member);
}

static void server_fini(struct actor *self)
{
    struct server *server = actor_state(self);
    if (server == NULL)
        return;
    while (server->first != NULL) {
        struct server_work *work = server->first;
        server->first = work->next;
        free_work(self, work);
    }
    sample_space_fini(&server->space);
    free(server);
}

const struct actor_ops server_ops = {
    .name = "server",
    .start = server_start,
    .receive = server_receive,
    .stop = server_stop,
    .fini = server_fini,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status actor, and a probe on each loop.
 *
 * Invariants: an inquiry lives from its request until the last probe that was asked has answered or
 * will not, and is answered then, once. When the actor ends its calls end first, and with them the
 * inquiries, so none is left to fini.
 */
#include "actors/report/status.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/json_text.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/dump.h"
#include "schemas/messages.h"

/* A loop that does not answer in this time is shown without its mailboxes. */
#define PROBE_NS UINT64_C(1000000000)

struct status {
    const struct status_options *options;
    uint32_t num_probes, asked;
    struct address *probes; /* [num_probes], one a loop */
};

/* One request while the probes are asked. */
struct inquiry {
    struct status *status;
    struct message *request;
    json_t *actors;
    uint32_t missing;
};

static void add_actor(void *arg, const struct dump_actor *actor)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(actor->name));
    json_object_set_new(object, "messages",
                        json_integer((json_int_t)(actor->control_messages + actor->data_messages)));
    json_object_set_new(object, "bytes", json_integer((json_int_t)actor->data_bytes));
    json_object_set_new(object, "bytes_max", json_integer((json_int_t)actor->data_bytes_max));
    json_object_set_new(object, "calls", json_integer(actor->calls));
    json_object_set_new(object, "received", json_integer((json_int_t)actor->received));
    json_array_append_new(arg, object);
}

/* Answers with the text of a document; gives it up. */
static void answer(struct actor *self, struct message *request, json_t *document)
{
    struct message *reply = message_create(self, MSG_STATUS_REPLY);
    char *text = json_write_text(document, JSON_COMPACT);
    size_t length = text != NULL ? strlen(text) : 0;
    void *body = reply != NULL && text != NULL ? message_body_alloc(self, reply, length) : NULL;
    if (body != NULL) {
        memcpy(body, text, length);
        ((struct msg_status_reply *)message_head(reply))->count = length;
        actor_reply(self, request, reply);
    } else {
        message_release(self, reply);
        actor_refuse(self, request, TR_ENOMEM);
    }
    free(text);
    json_decref(document);
}

static int probe_receive(struct actor *self, struct message *message)
{
    if (message->frame.kind != MSG_STATUS_REQUEST) {
        actor_refuse(self, message, TR_EUNSUPPORTED);
        return 0;
    }
    json_t *actors = json_array();
    dump_visit(self, add_actor, actors);
    answer(self, message, actors);
    return 0;
}

static const struct actor_ops probe_ops = {
    .name = "status probe",
    .receive = probe_receive,
};

static int start(struct actor *self, const void *arg)
{
    struct status *status = calloc(1, sizeof *status);
    if (status == NULL)
        return TR_ENOMEM;
    actor_set_state(self, status);
    status->options = arg;
    uint32_t loops = node_loops(actor_node(self));
    status->probes = calloc(loops, sizeof *status->probes);
    int rv = status->probes != NULL ? 0 : TR_ENOMEM;
    for (; status->num_probes < loops && rv == 0; status->num_probes += rv == 0) {
        const struct actor_options probe = { .ops = &probe_ops,
                                             .loop = status->num_probes,
                                             .restart = ACTOR_RESTART_ON_FAILURE };
        rv = actor_spawn(self, &probe, &status->probes[status->num_probes]);
    }
    /* The name comes last: a request that finds this actor finds its probes. */
    return rv == 0 ? directory_register(self, STATUS_NAME, NULL, NULL) : rv;
}

static void finish(struct actor *self, struct inquiry *inquiry)
{
    const struct status_options *options = inquiry->status->options;
    json_t *document = status_json(options, actor_node(self), actor_now_ns(self));
    inquiry->status->asked--;
    if (document == NULL) {
        json_decref(inquiry->actors);
        actor_refuse(self, inquiry->request, TR_ENOMEM);
    } else {
        json_object_set_new(document, "actors", inquiry->actors);
        answer(self, inquiry->request, document);
    }
    /* The inquiry is freed last: the request, and the actors that were found, are in it until
     * then. */
    free(inquiry);
}

static void probed(struct actor *self, void *arg, int status, struct message *reply)
{
    struct inquiry *inquiry = arg;
    if (status == 0 && reply->frame.kind == MSG_STATUS_REPLY) {
        json_t *actors = json_loadb(message_body(reply), reply->frame.body_bytes, 0, NULL);
        json_array_extend(inquiry->actors, actors);
        json_decref(actors);
    }
    /* The reply is read before it goes, and the inquiry is looked at last: its end frees it. */
    message_release(self, reply);
    if (--inquiry->missing == 0)
        finish(self, inquiry);
}

static void ask_probes(struct actor *self, struct inquiry *inquiry)
{
    struct status *status = inquiry->status;
    inquiry->missing = 1; /* us, until all are asked: no answer ends it before */
    for (uint32_t i = 0; i < status->num_probes; i++) {
        struct message *request = message_create(self, MSG_STATUS_REQUEST);
        if (request == NULL)
            break;
        inquiry->missing++;
        if (actor_call(self, status->probes[i], request, actor_now_ns(self) + PROBE_NS, probed,
                       inquiry, NULL) < 0)
            inquiry->missing--;
    }
    if (--inquiry->missing == 0)
        finish(self, inquiry);
}

static int receive(struct actor *self, struct message *message)
{
    struct status *status = actor_state(self);
    if (message->frame.kind != MSG_STATUS_REQUEST) {
        actor_refuse(self, message, TR_EUNSUPPORTED);
        return 0;
    }
    struct inquiry *inquiry = status->asked < STATUS_ASKED_MAX ? malloc(sizeof *inquiry) : NULL;
    if (inquiry == NULL) {
        actor_refuse(self, message, TR_EFULL);
        return 0;
    }
    *inquiry = (struct inquiry){ status, message, json_array(), 0 };
    /* The place is taken before the probes are asked, which may end the inquiry at once. */
    status->asked++;
    ask_probes(self, inquiry);
    return 0;
}

static void fini(struct actor *self)
{
    struct status *status = actor_state(self);
    if (status != NULL)
        free(status->probes);
    free(status);
}

const struct actor_ops status_ops = {
    .name = STATUS_NAME,
    .start = start,
    .receive = receive,
    .fini = fini,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The actor of an observer: it asks each process for its status, notes the answer, and asks again
 * a second later. */
#include "launch/observer.h"

#include <math.h>
#include <stdio.h>

#include "actors/report/status.h"
#include "launch/status_view.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/net/security.h"
#include "schemas/messages.h"

/* A process that does not answer in this time is shown as down; it is asked again. */
#define OBSERVER_ANSWER_NS UINT64_C(3000000000)
#define OBSERVER_EVERY_NS UINT64_C(1000000000)

static void observer_ask(struct actor *self, void *arg);

/* Processors that a process used since its answer before. */
static double observer_cpus(const struct observer_seen *seen, json_t *document, uint64_t now_ns)
{
    const char *const key = "cpu_seconds";
    double before = json_number_value(json_object_get(seen->document, key));
    double used = json_number_value(json_object_get(document, key)) - before;
    double seconds = (double)(now_ns - seen->at_ns) / 1e9;
    /* Less than before: it is another life of the process. */
    bool known = seen->document != NULL && document != NULL && seconds > 0 && used >= 0 &&
                 isfinite(used);
    return known ? used / seconds : -1;
}

static void observer_note(struct actor *self, struct observed_process *asked, json_t *document)
{
    struct tr_observer *observer = asked->observer;
    uint64_t now_ns = actor_now_ns(self);
    pthread_mutex_lock(&observer->mutex);
    asked->seen.cpus = observer_cpus(&asked->seen, document, now_ns);
    json_decref(asked->seen.document);
    asked->seen.document = document;
    asked->seen.at_ns = now_ns;
    asked->seen.round_trip_ns = now_ns - asked->asked_ns;
    asked->seen.answers++;
    if (document != NULL)
        asked->seen.why[0] = '\0';
    pthread_cond_broadcast(&observer->changed);
    pthread_mutex_unlock(&observer->mutex);
    /* The timer starts behind the note, whatever that says: each question leads to the next. */
    timer_start(self, &asked->again, now_ns + OBSERVER_EVERY_NS, observer_ask, asked);
}

/* A job that was launched again has another key. */
static void seek_key_again(struct tr_observer *observer)
{
    struct job_key key;
    struct error ignored = { 0 };
    if (job_key_seek(&key, observer->sought, &ignored) == 0)
        (void)security_renew_key(observer->security, key.path, &ignored);
    job_key_fini(&key);
}

static void observer_failed(struct actor *self, struct observed_process *asked)
{
    asked->status = ADDRESS_NONE;
    /* Where the key is another one no process answers, so that one of them tells it. */
    if (asked->process == 0 && asked->observer->sought != NULL)
        seek_key_again(asked->observer);
    observer_note(self, asked, NULL);
}

static void observer_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct observed_process *asked = arg;
    json_t *document = NULL;
    if (status == 0 && reply->frame.kind == MSG_STATUS_REPLY)
        document = status_view_parse(message_body(reply), reply->frame.body_bytes);
    /* The reply is read before it is released, and released before anything returns. */
    message_release(self, reply);
    if (status == TR_ECANCELED)
        return; /* we end */
    if (document != NULL)
        observer_note(self, asked, document);
    else
        observer_failed(self, asked);
}

/* On the loop too, but not in the actor. */
void observer_note_apart(void *arg, uint32_t node, const char *why)
{
    struct tr_observer *observer = arg;
    if (node >= observer->plan.plan.num_processes)
        return;
    pthread_mutex_lock(&observer->mutex);
    snprintf(observer->asked[node].seen.why, TR_OBSERVER_WHY_MAX, "%s", why);
    pthread_mutex_unlock(&observer->mutex);
}

static void ask_status(struct actor *self, struct observed_process *asked)
{
    struct message *request = message_create(self, MSG_STATUS_REQUEST);
    if (request == NULL) {
        observer_failed(self, asked);
        return;
    }
    ((struct msg_status_request *)message_head(request))->version = STATUS_VERSION;
    /* The time is noted before the call, whose failure is noted with it too. */
    asked->asked_ns = actor_now_ns(self);
    if (actor_call(self, asked->status, request, asked->asked_ns + OBSERVER_ANSWER_NS,
                   observer_answered, asked, NULL) < 0)
        observer_failed(self, asked);
}

static void observer_found(struct actor *self, void *arg, int status, struct address address)
{
    struct observed_process *asked = arg;
    if (status == TR_ECANCELED)
        return;
    if (status != 0) {
        observer_failed(self, asked);
        return;
    }
    asked->status = address;
    ask_status(self, asked);
}

static void observer_ask(struct actor *self, void *arg)
{
    struct observed_process *asked = arg;
    if (!address_is_none(asked->status)) {
        ask_status(self, asked);
        return;
    }
    asked->asked_ns = actor_now_ns(self);
    if (directory_wait_at(self, asked->process, STATUS_NAME, asked->asked_ns + OBSERVER_ANSWER_NS,
                          observer_found, asked) < 0)
        observer_failed(self, asked);
}

static int observer_start(struct actor *self, const void *arg)
{
    struct tr_observer *observer = (void *)(uintptr_t)arg;
    for (uint32_t p = 0; p < observer->plan.plan.num_processes; p++)
        observer_ask(self, &observer->asked[p]);
    return 0;
}

static int observer_receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

const struct actor_ops observer_actor_ops = {
    .name = "observer",
    .start = observer_start,
    .receive = observer_receive,
};

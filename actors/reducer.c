#include "actors/reducer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/checkpoint.h"
#include "actors/failed.h"
#include "actors/reducer_state.h"
#include "runtime/directory.h"

void reducer_name(uint32_t rank, char *name, size_t size)
{
    snprintf(name, size, "reducer/%" PRIu32, rank);
}

/* Stops what the operation has under way; its request stays. */
static void halt(struct actor *self)
{
    struct reducer *r = actor_state(self);
    struct operation *op = &r->operation;
    timer_stop(&op->expire);
    timer_stop(&op->again);
    if (op->kind == MSG_GROUP_REDUCE)
        reducer_reduce_stop(self);
    reducer_copy_stop(self);
    if (op->calling) {
        op->calling = false;
        actor_cancel(self, op->call);
    }
    message_release(self, op->reply);
    op->reply = NULL;
}

/* Takes the request out, for who answers it. NULL: the crew works for it; it ends after that. */
static struct message *take(struct actor *self, int status)
{
    struct reducer *r = actor_state(self);
    struct operation *op = &r->operation;
    if (op->working) {
        op->ended = op->ended != 0 ? op->ended : status;
        crew_cancel(&op->part.job);
        return NULL;
    }
    halt(self);
    struct message *request = op->request;
    op->request = NULL;
    return request;
}

void reducer_reply(struct actor *self, struct message *reply)
{
    struct reducer *r = actor_state(self);
    assert(!r->operation.working);
    struct message *request = take(self, 0);
    actor_reply(self, request, reply);
}

void reducer_end(struct actor *self, int status)
{
    struct message *request = take(self, status);
    if (request != NULL)
        actor_refuse(self, request, status);
}

void reducer_fail(struct actor *self, const struct error *error)
{
    struct message *request = take(self, error->code);
    if (request != NULL)
        failed_reply(self, request, error);
}

void reducer_roll_back(struct actor *self, uint32_t era)
{
    struct reducer *r = actor_state(self);
    r->seen = r->member.seen = era > r->seen ? era : r->seen;
    if (r->era == 0 || r->era >= r->seen || r->finished)
        return;
    r->era = r->member.restored = 0;
    reducer_drop_shares(self, TR_EROLLBACK);
    if (r->operation.request != NULL && r->operation.kind != MSG_GROUP_RESTORE)
        reducer_end(self, TR_EROLLBACK);
}

static void step_again(struct actor *self, void *arg)
{
    struct operation *op = arg;
    if (op->kind == MSG_GROUP_REDUCE)
        reducer_reduce_pump(self);
    else if (op->away)
        reducer_copy_again(self);
    else
        reducer_ask(self);
}

void reducer_again(struct actor *self)
{
    struct reducer *r = actor_state(self);
    if (!timer_is_started(&r->operation.again))
        timer_start(self, &r->operation.again, actor_now_ns(self) + REDUCER_AGAIN_NS, step_again,
                    &r->operation);
}

static void expire(struct actor *self, void *arg)
{
    (void)arg;
    reducer_end(self, TR_ETIMEDOUT);
}

static int begin(struct actor *self, struct error *error)
{
    struct reducer *r = actor_state(self);
    switch (r->operation.kind) {
    case MSG_GROUP_REDUCE:
        return reducer_reduce_begin(self, error);
    case MSG_GROUP_SAVE:
        reducer_save_begin(self);
        return 0;
    case MSG_GROUP_SKIP:
        reducer_skip_begin(self);
        return 0;
    case MSG_GROUP_BARRIER:
        reducer_barrier_begin(self);
        return 0;
    default:
        reducer_ask(self);
        return 0;
    }
}

static int check(const struct reducer *r, const struct msg_group_request *head, struct error *error)
{
    if (head->operation > MSG_GROUP_SKIP)
        return error_set(error, TR_EUNSUPPORTED, "a group has no operation %" PRIu32,
                         head->operation);
    /* A trainer that failed may say so at any time. */
    bool anytime = head->operation == MSG_GROUP_RESTORE ||
                   (head->operation == MSG_GROUP_FINISH && (head->value != 0 || r->finished));
    if (!anytime && r->era == 0)
        return error_set(error, TR_EROLLBACK, "trainer %" PRIu32 " is not in an era of its group; "
                         "call tr_group_restore()", r->options->rank);
    if (r->options->checkpoints != NULL && strlen(r->options->checkpoints) > MSG_PATH_BYTES_MAX)
        return error_set(error, TR_ETOOBIG, "the path of the checkpoints' folder has more than %u "
                         "bytes", MSG_PATH_BYTES_MAX);
    bool saves = head->operation == MSG_GROUP_SAVE || head->operation == MSG_GROUP_SKIP;
    if (saves && r->options->checkpoints == NULL)
        return error_set(error, TR_EINVAL, "no folder for checkpoints was set");
    return 0;
}

static int operate(struct actor *self, struct message *request, struct error *error)
{
    struct reducer *r = actor_state(self);
    const struct msg_group_request *head = message_head(request);
    struct operation *op = &r->operation;
    if (op->request != NULL)
        reducer_end(self, TR_ECANCELED); /* who asked for it does not wait any more */
    if (head->operation == MSG_GROUP_CANCEL) {
        message_release(self, request);
        return 0;
    }
    if (op->request != NULL)
        return error_set(error, TR_EFULL, "trainer %" PRIu32 " still writes a checkpoint",
                         r->options->rank);
    int rv = check(r, head, error);
    if (rv != 0)
        return rv;
    uint64_t now_ns = actor_now_ns(self);
    *op = (struct operation){ .request = request, .kind = head->operation };
    op->deadline_ns = head->timeout_ns < UINT64_MAX - now_ns ? now_ns + head->timeout_ns
                                                             : UINT64_MAX;
    /* A barrier's deadline is the coordinator's to see. */
    uint64_t late = op->kind == MSG_GROUP_BARRIER ? 2 * REDUCER_OUTCOME_NS : 0;
    uint64_t at_ns = op->deadline_ns < UINT64_MAX - late ? op->deadline_ns + late : UINT64_MAX;
    timer_start(self, &op->expire, at_ns, expire, op);
    if (op->kind == MSG_GROUP_RESTORE && r->era != 0)
        reducer_roll_back(self, r->era + 1); /* it leaves the era that it is in */
    rv = begin(self, error);
    if (rv != 0) {
        halt(self);
        op->request = NULL;
    }
    return rv;
}

static int hear(struct actor *self, struct message *message)
{
    reducer_roll_back(self, ((const struct msg_era *)message_head(message))->era);
    message_release(self, message);
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    struct error error = { 0 };
    int rv;
    switch (message->frame.kind) {
    case MSG_ERA:
        return hear(self, message);
    case MSG_REDUCE:
        rv = reducer_add(self, message, &error);
        break;
    case MSG_GROUP_REQUEST:
        rv = operate(self, message, &error);
        break;
    default:
        actor_refuse(self, message, TR_EUNSUPPORTED);
        return 0;
    }
    if (rv != 0 && error.code != 0)
        failed_reply(self, message, &error);
    else if (rv != 0)
        actor_refuse(self, message, rv);
    return 0;
}

void reducer_tell_end(struct actor *self)
{
    const struct reducer *r = actor_state(self);
    struct message *message = r->finished ? message_create(self, MSG_JOB_DONE) : NULL;
    if (message == NULL)
        return;
    *(struct msg_job_done *)message_head(message) =
        (struct msg_job_done){ r->result, r->options->rank };
    (void)actor_send(self, r->member.coordinator, message);
}

/* A coordinator that was started again is notified of what it cannot know. */
static void tell_outcome(struct actor *self, const struct reducer *r)
{
    struct message *message = NULL;
    if (r->refused.sequence != 0 && r->refused.era == r->era && r->era != 0)
        message = message_create(self, MSG_CHECKPOINT_DONE);
    if (message != NULL) {
        *(struct msg_checkpoint_done *)message_head(message) = r->refused;
        (void)actor_send(self, r->member.coordinator, message);
        message = NULL;
    }
    if (r->outcome.sequence != 0 && r->outcome.era == r->era && r->era != 0)
        message = message_create(self, MSG_BARRIER_DONE);
    if (message == NULL)
        return;
    *(struct msg_barrier_done *)message_head(message) = r->outcome;
    (void)actor_send(self, r->member.coordinator, message);
}

static void joined(struct actor *self, struct member *member)
{
    struct reducer *r = actor_state(self);
    reducer_roll_back(self, member->era);
    tell_outcome(self, r);
    reducer_tell_end(self);
    if (r->operation.request != NULL && r->operation.kind != MSG_GROUP_REDUCE)
        reducer_ask(self);
}

static int start(struct actor *self, const void *arg)
{
    struct reducer *r = calloc(1, sizeof *r);
    if (r == NULL)
        return TR_ENOMEM;
    actor_set_state(self, r);
    r->options = arg;
    r->member = (struct member){ .role = MSG_ROLE_REDUCER, .rank = r->options->rank,
                                 .plan = r->options->plan, .root = r->options->root,
                                 .joined = joined };
    const char *given = r->options->checkpoints;
    r->folder = given == NULL ? NULL : checkpoint_folder(given, r->options->host);
    if (given != NULL && r->folder == NULL)
        return TR_ENOMEM;
    char name[DIRECTORY_NAME_MAX];
    reducer_name(r->options->rank, name, sizeof name);
    int rv = directory_register(self, name, NULL, NULL);
    return rv != 0 ? rv : member_join(self, &r->member);
}

static void stop(struct actor *self)
{
    struct reducer *reducer = actor_state(self);
    member_stop(self, &reducer->member);
}

static void fini(struct actor *self)
{
    struct reducer *r = actor_state(self);
    if (r == NULL)
        return;
    message_release(self, r->operation.request);
    message_release(self, r->operation.reply);
    reducer_drop_shares(self, TR_EPEERDOWN);
    free(r->peers);
    free(r->folder);
    free(r);
}

const struct actor_ops reducer_ops = {
    .name = "reducer",
    .start = start,
    .receive = receive,
    .stop = stop,
    .fini = fini,
};

/* Barriers: all ranks, or a deadline; one outcome for all, and the same one for repeats. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "actors/coordinator_state.h"
#include "runtime/timer.h"

/* Instances of one name that are open at once: after a deadline ranks may be apart by a few. */
#define OPEN_MAX 16u

/* One (name, sequence) that not all ranks have come to. */
struct barrier {
    struct barrier *next;
    struct barrier_name *name;
    uint64_t sequence;
    uint64_t deadline_ns; /* 0: none */
    struct timer timer;
    uint32_t count;
    uint32_t arrived;
    struct message *requests[]; /* [count], NULL: not come */
};

struct outcome {
    uint64_t sequence;
    int status; /* 0 or TR_ETIMEDOUT */
};

struct barrier_name {
    struct barrier_name *next;
    uint64_t name;
    struct barrier *open;
    uint32_t num_open;
    struct outcome outcomes[COORDINATOR_OUTCOMES_MAX]; /* a ring */
    uint64_t num_outcomes;
};

static void answer(struct actor *self, struct message *request, int status)
{
    const struct msg_barrier *head = message_head(request);
    struct message *reply = status == 0 ? message_create(self, MSG_BARRIER_DONE) : NULL;
    if (reply == NULL) {
        actor_refuse(self, request, status != 0 ? status : TR_ENOMEM);
        return;
    }
    *(struct msg_barrier_done *)message_head(reply) =
        (struct msg_barrier_done){ .name = head->name, .sequence = head->sequence };
    actor_reply(self, request, reply);
}

static struct barrier_name *find_name(struct coordinator *state, uint64_t name)
{
    struct barrier_name *at = state->barriers;
    while (at != NULL && at->name != name)
        at = at->next;
    return at;
}

static int add_name(struct coordinator *state, uint64_t name, struct barrier_name **out,
                    struct error *error)
{
    if (state->num_barriers >= COORDINATOR_BARRIERS_MAX)
        return error_set(error, TR_EFULL, "%" PRIu32 " names of barriers are in use; use names "
                         "again, with the next sequence", state->num_barriers);
    struct barrier_name *added = calloc(1, sizeof *added);
    if (added == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for a barrier");
    added->name = name;
    added->next = state->barriers;
    state->barriers = added;
    state->num_barriers++;
    *out = added;
    return 0;
}

static const struct outcome *find_outcome(const struct barrier_name *name, uint64_t sequence)
{
    for (uint32_t i = 0; i < COORDINATOR_OUTCOMES_MAX && i < name->num_outcomes; i++)
        if (name->outcomes[i].sequence == sequence)
            return &name->outcomes[i];
    return NULL;
}

/* Ends an instance in one way for all who came. */
static void finish(struct actor *self, struct barrier *barrier, int status)
{
    struct barrier_name *name = barrier->name;
    struct barrier **at = &name->open;
    while (*at != barrier)
        at = &(*at)->next;
    *at = barrier->next;
    name->num_open--;
    timer_stop(&barrier->timer);
    name->outcomes[name->num_outcomes++ % COORDINATOR_OUTCOMES_MAX] =
        (struct outcome){ barrier->sequence, status };
    for (uint32_t rank = 0; rank < barrier->count; rank++)
        if (barrier->requests[rank] != NULL)
            answer(self, barrier->requests[rank], status);
    free(barrier);
}

static void expire(struct actor *self, void *arg)
{
    finish(self, arg, TR_ETIMEDOUT);
}

static int open_barrier(struct barrier_name *name, const struct msg_barrier *head,
                        struct barrier **out, struct error *error)
{
    for (struct barrier *at = name->open; at != NULL; at = at->next)
        if (at->sequence == head->sequence) {
            *out = at;
            return 0;
        }
    if (name->num_open >= OPEN_MAX)
        return error_set(error, TR_EFULL, "%u instances of a barrier are open; ranks are too far "
                         "apart", OPEN_MAX);
    struct barrier *barrier = calloc(1, sizeof *barrier + head->count * sizeof(void *));
    if (barrier == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for a barrier");
    barrier->name = name;
    barrier->sequence = head->sequence;
    barrier->count = head->count;
    barrier->next = name->open;
    name->open = barrier;
    name->num_open++;
    *out = barrier;
    return 0;
}

/* A rank comes, perhaps again: who asked first is not waiting any more. */
static void arrive(struct actor *self, struct barrier *barrier, struct message *request)
{
    const struct msg_barrier *head = message_head(request);
    uint64_t deadline_ns = request->frame.deadline_ns;
    if (barrier->requests[head->rank] != NULL)
        actor_refuse(self, barrier->requests[head->rank], TR_ECANCELED);
    else
        barrier->arrived++;
    barrier->requests[head->rank] = request;
    if (deadline_ns != 0 && (barrier->deadline_ns == 0 || deadline_ns < barrier->deadline_ns)) {
        barrier->deadline_ns = deadline_ns;
        timer_start(self, &barrier->timer, deadline_ns, expire, barrier);
    }
    if (barrier->arrived == barrier->count)
        finish(self, barrier, 0);
}

int coordinator_barrier(struct actor *self, struct message *request, struct error *error)
{
    struct coordinator *state = actor_state(self);
    const struct msg_barrier *head = message_head(request);
    if (head->count == 0 || head->count > COORDINATOR_MEMBERS_MAX || head->rank >= head->count)
        return error_set(error, TR_ERANGE, "rank %" PRIu32 " of %" PRIu32 " cannot come to a "
                         "barrier", head->rank, head->count);
    struct barrier_name *name = find_name(state, head->name);
    int rv = name == NULL ? add_name(state, head->name, &name, error) : 0;
    if (rv != 0)
        return rv;
    const struct outcome *outcome = find_outcome(name, head->sequence);
    if (outcome != NULL) {
        answer(self, request, outcome->status);
        return 0;
    }
    struct barrier *barrier = NULL;
    rv = open_barrier(name, head, &barrier, error);
    if (rv != 0)
        return rv;
    if (barrier->count != head->count)
        return error_set(error, TR_EMISMATCH, "rank %" PRIu32 " expects %" PRIu32 " ranks at a "
                         "barrier, others %" PRIu32, head->rank, head->count, barrier->count);
    arrive(self, barrier, request);
    return 0;
}

void coordinator_free_barriers(struct actor *self, struct coordinator *state)
{
    while (state->barriers != NULL) {
        struct barrier_name *name = state->barriers;
        state->barriers = name->next;
        while (name->open != NULL) {
            struct barrier *barrier = name->open;
            name->open = barrier->next;
            for (uint32_t rank = 0; rank < barrier->count; rank++)
                message_release(self, barrier->requests[rank]);
            free(barrier);
        }
        free(name);
    }
}

/*
 * Barriers: all ranks, or a deadline; one outcome for all, and the same one for repeats.
 *
 * A coordinator that was started again does not know how the barriers of its era ended. Each
 * reducer says what it knows when it joins (msg_join), and a deadline decides nothing before all of
 * them have: one may have passed the barrier that another, whose answer was lost, comes to again.
 * Until then that one's call times out by itself, and it asks for the outcome.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "actors/coordinator_state.h"
#include "runtime/timer.h"

/* How often it is looked whether all have joined. */
#define UNDECIDED_NS UINT64_C(20000000)

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
    uint32_t era; /* 0: of none */
    struct barrier *open;
    uint32_t num_open;
    struct outcome outcomes[COORDINATOR_OUTCOMES_MAX]; /* a ring */
    uint64_t num_outcomes;
    uint64_t newest, passed; /* sequences: the last that ended, that all came to; 0: none */
};

static void answer(struct actor *self, struct message *request, int status)
{
    const struct msg_barrier *head = message_head(request);
    struct message *reply = status == 0 ? message_create(self, MSG_BARRIER_DONE) : NULL;
    if (reply == NULL) {
        actor_refuse(self, request, status != 0 ? status : TR_ENOMEM);
        return;
    }
    *(struct msg_barrier_done *)message_head(reply) = (struct msg_barrier_done){
        .name = head->name, .sequence = head->sequence, .era = head->era };
    actor_reply(self, request, reply);
}

/* What ended since the last that all came to has timed out. A rank that is behind is told up to
 * where, else others, who wait no longer than their deadline, would be ahead of it for ever. */
static void answer_late(struct actor *self, struct message *request,
                        const struct barrier_name *name)
{
    const struct msg_barrier *head = message_head(request);
    bool behind = head->sequence > name->passed && head->sequence < name->newest;
    struct message *reply = behind ? message_create(self, MSG_BARRIER_DONE) : NULL;
    if (reply == NULL) {
        actor_refuse(self, request, TR_ETIMEDOUT);
        return;
    }
    *(struct msg_barrier_done *)message_head(reply) = (struct msg_barrier_done){
        .name = head->name, .sequence = name->newest, .era = head->era, .status = TR_ETIMEDOUT };
    actor_reply(self, request, reply);
}

static int find_name(struct coordinator *state, uint64_t name, uint32_t era,
                     struct barrier_name **out, struct error *error)
{
    *out = state->barriers;
    while (*out != NULL && ((*out)->name != name || (*out)->era != era))
        *out = (*out)->next;
    if (*out != NULL)
        return 0;
    if (state->num_barriers >= COORDINATOR_BARRIERS_MAX)
        return error_set(error, TR_EFULL, "%" PRIu32 " names of barriers are in use; use names "
                         "again, with the next sequence", state->num_barriers);
    struct barrier_name *added = calloc(1, sizeof *added);
    if (added == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for a barrier");
    added->name = name;
    added->era = era;
    added->next = state->barriers;
    state->barriers = added;
    state->num_barriers++;
    *out = added;
    return 0;
}

/* Of one long over: all came to the last that was passed, so nobody asks for those before it; what
 * ended since then timed out. */
static bool find_outcome(const struct barrier_name *name, uint64_t sequence, int *status)
{
    for (uint32_t i = 0; i < COORDINATOR_OUTCOMES_MAX && i < name->num_outcomes; i++)
        if (name->outcomes[i].sequence == sequence) {
            *status = name->outcomes[i].status;
            return true;
        }
    *status = sequence == name->passed ? 0 : TR_ETIMEDOUT;
    return sequence < name->newest;
}

static void note_outcome(struct barrier_name *name, uint64_t sequence, int status)
{
    name->outcomes[name->num_outcomes++ % COORDINATOR_OUTCOMES_MAX] =
        (struct outcome){ sequence, status };
    name->newest = sequence > name->newest ? sequence : name->newest;
    if (status == 0 && sequence > name->passed)
        name->passed = sequence;
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
    note_outcome(name, barrier->sequence, status);
    for (uint32_t rank = 0; rank < barrier->count; rank++)
        if (barrier->requests[rank] != NULL)
            answer(self, barrier->requests[rank], status);
    free(barrier);
}

static bool all_have_joined(const struct coordinator *state, uint32_t count)
{
    uint32_t rank = 0;
    while (rank < count &&
           !address_is_none(coordinator_member_address(state, MSG_ROLE_REDUCER, rank)))
        rank++;
    return rank == count;
}

static void expire(struct actor *self, void *arg)
{
    struct barrier *barrier = arg;
    if (barrier->name->era != 0 && !all_have_joined(actor_state(self), barrier->count))
        timer_start(self, &barrier->timer, actor_now_ns(self) + UNDECIDED_NS, expire, barrier);
    else
        finish(self, barrier, TR_ETIMEDOUT);
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
    if (head->era != 0 && head->era != state->era)
        return error_set(error, TR_EROLLBACK, "era %" PRIu32 " is over", head->era);
    struct barrier_name *name;
    int rv = find_name(state, head->name, head->era, &name, error);
    if (rv != 0)
        return rv;
    int status;
    if (find_outcome(name, head->sequence, &status)) {
        if (status == TR_ETIMEDOUT)
            answer_late(self, request, name);
        else
            answer(self, request, status);
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

static int learn_outcome(struct actor *self, uint32_t era, uint64_t called, uint64_t sequence,
                         int status, struct error *error)
{
    struct barrier_name *name;
    int known;
    int rv = find_name(actor_state(self), called, era, &name, error);
    if (rv != 0 || find_outcome(name, sequence, &known))
        return rv;
    struct barrier *open = name->open;
    while (open != NULL && open->sequence != sequence)
        open = open->next;
    if (open != NULL)
        finish(self, open, status);
    else
        note_outcome(name, sequence, status);
    return 0;
}

int coordinator_learn_barriers(struct actor *self, const struct msg_join *head,
                               struct error *error)
{
    const struct coordinator *state = actor_state(self);
    int rv = 0;
    if (head->era == 0 || head->era < state->era)
        return 0;
    /* The one that was passed first: what ended before a later one would count as given up. */
    if (head->passed_sequence != 0)
        rv = learn_outcome(self, head->era, head->passed_name, head->passed_sequence, 0, error);
    if (rv == 0 && head->over_sequence > head->passed_sequence)
        rv = learn_outcome(self, head->era, head->over_name, head->over_sequence, TR_ETIMEDOUT,
                           error);
    return rv;
}

static void free_name(struct barrier_name *name)
{
    assert(name->open == NULL);
    free(name);
}

void coordinator_end_barriers(struct actor *self)
{
    struct coordinator *state = actor_state(self);
    struct barrier_name **at = &state->barriers;
    while (*at != NULL) {
        struct barrier_name *name = *at;
        if (name->era == 0 || name->era == state->era) {
            at = &name->next;
            continue;
        }
        while (name->open != NULL)
            finish(self, name->open, TR_EROLLBACK);
        *at = name->next;
        state->num_barriers--;
        free_name(name);
    }
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
        free_name(name);
    }
}

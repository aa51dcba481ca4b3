/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers: all ranks, or a deadline; one outcome for all, and the same one for repeats, which the
 * table of clients recognizes.
 *
 * A coordinator that was started again does not know how the barriers of its era ended. Each
 * reducer says what it knows when it joins (msg_join), and a deadline decides nothing before all of
 * them have: one may have passed the barrier that another, whose answer was lost, comes to again.
 * Until then that one's call times out by itself, and it asks for the outcome.
 *
 * Invariants, for each (name, era): an instance is open until it ends, and then never opens again
 * (`newest` only grows); what ended is known by two numbers, since all ranks that come to an
 * instance have left those before it: the newest passed one is 0, every other that ended timed out.
 * Each rank that `came` has its request in the table of clients, or was forgotten there when it
 * died. Instances of eras that are over are all ended before a request of the next is taken.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "actors/job/coordinator_state.h"
#include "runtime/core/timer.h"

/* How often the coordinator polls whether all have joined. */
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
    bool came[]; /* [count] */
};

struct barrier_name {
    struct barrier_name *next;
    uint64_t name;
    uint32_t era; /* 0: of none */
    struct barrier *open;
    uint32_t num_open;
    bool any_ended, any_passed;
    uint64_t newest, passed; /* sequences: the last that ended, that all came to */
};

static struct sequenced_id id_of(const struct barrier_name *name, uint32_t rank, uint64_t sequence)
{
    return (struct sequenced_id){ { MSG_BARRIER, rank, name->name }, name->era, sequence };
}

/* sequence: of the outcome; a failure without one that is kept has none. */
static void barrier_answer(struct actor *self, const struct sequenced_id *id, uint64_t sequence,
                           int status)
{
    struct coordinator *state = actor_state(self);
    bool kept = status == 0 || sequence != id->sequence;
    struct message *reply = kept ? message_create(self, MSG_BARRIER_DONE) : NULL;
    if (reply != NULL) {
        *(struct msg_barrier_done *)message_head(reply) = (struct msg_barrier_done){
            .name = id->client.stream, .sequence = sequence, .era = id->era, .status = status
        };
        sequenced_answer(&state->clients, self, id, reply);
        return;
    }
    /* Nothing is kept in the table here: a repeat comes as new, and finds by the name's numbers how
     * the instance ended. */
    struct message *request = sequenced_release(&state->clients, id);
    if (request != NULL)
        actor_refuse(self, request, status != 0 ? status : TR_ENOMEM);
}

/* All that ended since the last that all came to timed out. A rank that is behind gets the number
 * up to which, else others, which wait no longer than their deadline, would be ahead of it. */
static void answer_late(struct actor *self, const struct sequenced_id *id,
                        const struct barrier_name *name)
{
    bool behind = (!name->any_passed || id->sequence > name->passed) && id->sequence < name->newest;
    barrier_answer(self, id, behind ? name->newest : id->sequence, TR_ETIMEDOUT);
}

static int find_barrier_name(struct coordinator *state, uint64_t name, uint32_t era,
                             struct barrier_name **out, struct error *error)
{
    *out = state->barriers;
    while (*out != NULL && ((*out)->name != name || (*out)->era != era))
        *out = (*out)->next;
    if (*out != NULL)
        return 0;
    if (state->num_barriers >= COORDINATOR_BARRIERS_MAX)
        return error_set(
            error, TR_EFULL,
            "%" PRIu32
            " names of barriers are in use, the most that is possible; use the same names again",
            state->num_barriers);
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

static struct barrier *find_open(const struct barrier_name *name, uint64_t sequence)
{
    struct barrier *at = name->open;
    while (at != NULL && at->sequence != sequence)
        at = at->next;
    return at;
}

/* The outcome of one that is not open: all came to the last that was passed, so nobody asks for
 * those before it; what ended since then timed out. False: it did not end yet. */
static bool find_outcome(const struct barrier_name *name, uint64_t sequence, int *status)
{
    *status = name->any_passed && sequence == name->passed ? 0 : TR_ETIMEDOUT;
    return name->any_ended && sequence <= name->newest;
}

static void note_outcome(struct barrier_name *name, uint64_t sequence, int status)
{
    if (!name->any_ended || sequence > name->newest)
        name->newest = sequence;
    /* The numbers are compared before these marks, without which they are none. */
    name->any_ended = true;
    if (status != 0)
        return;
    if (!name->any_passed || sequence > name->passed)
        name->passed = sequence;
    name->any_passed = true;
}

/* Ends an instance in one way for all ranks that came. */
static void barrier_end(struct actor *self, struct barrier *barrier, int status)
{
    struct barrier_name *name = barrier->name;
    struct barrier **at = &name->open;
    while (*at != barrier)
        at = &(*at)->next;
    /* The instance leaves the list, and its outcome is noted, in the turn in which ranks are
     * answered, be that before or after it: a repeat that follows the answer finds how it ended,
     * and no instance to come to. */
    *at = barrier->next;
    name->num_open--;
    timer_stop(&barrier->timer);
    note_outcome(name, barrier->sequence, status);
    for (uint32_t rank = 0; rank < barrier->count; rank++) {
        const struct sequenced_id id = id_of(name, rank, barrier->sequence);
        if (barrier->came[rank])
            barrier_answer(self, &id, barrier->sequence, status);
    }
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

static void barrier_expire(struct actor *self, void *arg)
{
    struct barrier *barrier = arg;
    /* The members are asked for first: before all of them have joined, a deadline of an era decides
     * nothing. */
    if (barrier->name->era != 0 && !all_have_joined(actor_state(self), barrier->count))
        timer_start(self, &barrier->timer, actor_now_ns(self) + UNDECIDED_NS, barrier_expire,
                    barrier);
    else
        barrier_end(self, barrier, TR_ETIMEDOUT);
}

static int open_barrier(struct barrier_name *name, const struct msg_barrier *head,
                        struct barrier **out, struct error *error)
{
    if (name->num_open >= OPEN_MAX)
        return error_set(error, TR_EFULL,
                         "%u barriers of one name are open at once: the ranks are too far apart",
                         OPEN_MAX);
    struct barrier *barrier = calloc(1, sizeof *barrier + head->count * sizeof(bool));
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

/* A rank comes, perhaps again. */
static void barrier_arrive(struct actor *self, struct barrier *barrier, uint32_t rank,
                           uint64_t deadline_ns)
{
    barrier->arrived += !barrier->came[rank];
    barrier->came[rank] = true;
    if (deadline_ns != 0 && (barrier->deadline_ns == 0 || deadline_ns < barrier->deadline_ns)) {
        barrier->deadline_ns = deadline_ns;
        timer_start(self, &barrier->timer, deadline_ns, barrier_expire, barrier);
    }
    /* The end comes after the deadline is set: the last rank frees the instance, and where all have
     * come a deadline has no say. */
    if (barrier->arrived == barrier->count)
        barrier_end(self, barrier, 0);
}

/* The request is the table's. */
static int come_to_barrier(struct actor *self, struct barrier_name *name,
                           const struct sequenced_id *id, const struct message *request,
                           struct error *error)
{
    const struct msg_barrier *head = (const void *)request->head;
    struct barrier *barrier = find_open(name, head->sequence);
    int status;
    /* An instance that is open is asked for before outcomes: a later one may have ended already,
     * after which all before it count as ended. */
    if (barrier == NULL && find_outcome(name, head->sequence, &status)) {
        if (status == TR_ETIMEDOUT)
            answer_late(self, id, name);
        else
            barrier_answer(self, id, head->sequence, status);
        return 0;
    }
    int rv = barrier == NULL ? open_barrier(name, head, &barrier, error) : 0;
    if (rv != 0)
        return rv;
    /* The count is compared before the rank comes, which has a place among as many. */
    if (barrier->count != head->count)
        return error_set(error, TR_EMISMATCH,
                         "rank %" PRIu32 " waits for %" PRIu32
                         " ranks at a barrier, and others wait for %" PRIu32
                         "; all must give the same number",
                         head->rank, head->count, barrier->count);
    barrier_arrive(self, barrier, head->rank, request->frame.deadline_ns);
    return 0;
}

int coordinator_barrier(struct actor *self, struct message *request, struct error *error)
{
    struct coordinator *state = actor_state(self);
    const struct msg_barrier *head = message_head(request);
    if (head->count == 0 || head->count > COORDINATOR_MEMBERS_MAX || head->rank >= head->count)
        return error_set(error, TR_ERANGE, "rank %" PRIu32 " of %" PRIu32 " cannot enter a barrier",
                         head->rank, head->count);
    /* The era is asked for before the name: an old one would make a name again that its end has
     * removed. */
    if (head->era != 0 && head->era != state->era)
        return error_set(error, TR_EROLLBACK, "era %" PRIu32 " is over", head->era);
    /* The name is made before the table takes the request: where there is no room for the name, the
     * table has taken nothing that would have to be forgotten. */
    struct barrier_name *name;
    int rv = find_barrier_name(state, head->name, head->era, &name, error);
    if (rv != 0)
        return rv;
    /* The table answers what it knows; only what is new, or waits, comes to an instance. */
    const struct sequenced_id id = id_of(name, head->rank, head->sequence);
    rv = sequenced_take(&state->clients, self, &id, request, error);
    if (rv < 0 || rv == SEQUENCED_ANSWERED)
        return rv < 0 ? rv : 0;
    rv = come_to_barrier(self, name, &id, request, error);
    if (rv != 0)
        (void)sequenced_release(&state->clients, &id); /* the caller answers it */
    return rv;
}

static int learn_outcome(struct actor *self, uint32_t era, uint64_t called, uint64_t sequence,
                         int status, struct error *error)
{
    struct barrier_name *name;
    int known;
    int rv = find_barrier_name(actor_state(self), called, era, &name, error);
    struct barrier *open = rv == 0 ? find_open(name, sequence) : NULL;
    /* An instance that is open ends by this, for the ranks that wait there; only one that nobody
     * waits for is noted without an end. */
    if (open != NULL)
        barrier_end(self, open, status);
    else if (rv == 0 && !find_outcome(name, sequence, &known))
        note_outcome(name, sequence, status);
    return rv;
}

int coordinator_learn_barriers(struct actor *self, const struct msg_join *head, struct error *error)
{
    const struct coordinator *state = actor_state(self);
    int rv = 0;
    /* The era comes before the barriers: those of an older one are over here. */
    if (head->era == 0 || head->era < state->era)
        return 0;
    /* The barrier that was passed comes first: what ended before a later one would count as given
     * up. */
    if (head->passed_sequence != 0)
        rv = learn_outcome(self, head->era, head->passed_name, head->passed_sequence, 0, error);
    if (rv == 0 && head->over_sequence > head->passed_sequence)
        rv = learn_outcome(self, head->era, head->over_name, head->over_sequence, TR_ETIMEDOUT,
                           error);
    return rv;
}

static void free_barrier_name(struct barrier_name *name)
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
        /* The instances end before their name goes, by which their ranks' requests are found. */
        while (name->open != NULL)
            barrier_end(self, name->open, TR_EROLLBACK);
        *at = name->next;
        state->num_barriers--;
        free_barrier_name(name);
    }
}

void coordinator_free_barriers(struct coordinator *state)
{
    while (state->barriers != NULL) {
        struct barrier_name *name = state->barriers;
        state->barriers = name->next;
        while (name->open != NULL) {
            struct barrier *barrier = name->open;
            name->open = barrier->next;
            free(barrier);
        }
        free_barrier_name(name);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Members: joining, listing, leaving by dying, and being asked to stop. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/job/coordinator_state.h"
#include "runtime/core/monitor.h"

#define STOP_AGAIN_NS UINT64_C(10000000) /* memory for what could not be told may be there then */

struct coordinator_member {
    struct coordinator_member *next;
    struct address address;
    uint32_t role;
    uint32_t rank;
};

/* The link where that member stands or would stand. */
static struct coordinator_member **find(struct coordinator *state, uint32_t role, uint32_t rank)
{
    struct coordinator_member **at = &state->members;
    while (*at != NULL && ((*at)->role < role || ((*at)->role == role && (*at)->rank < rank)))
        at = &(*at)->next;
    return at;
}

static bool stands_at(const struct coordinator_member *member, uint32_t role, uint32_t rank)
{
    return member != NULL && member->role == role && member->rank == rank;
}

/* The last member has gone, and with the coordinator goes its process. */
static void end(struct actor *self, void *arg)
{
    struct coordinator *state = arg;
    struct address root = state->options->root;
    actor_failpoint(self, FAILPOINT_END_LAST_GONE);
    /* A coordinator that is started again instead would know of no end. */
    if (!address_is_none(root) && actor_stop(self, root) == TR_ENOMEM)
        timer_start(self, &state->linger, actor_now_ns(self) + STOP_AGAIN_NS, end, state);
    else
        actor_exit(self, 0);
}

static bool is_here(struct actor *self, const struct coordinator_member *member)
{
    return member->address.node == actor_address(self).node;
}

static bool any_elsewhere(struct actor *self, const struct coordinator *state)
{
    const struct coordinator_member *m = state->members;
    while (m != NULL && is_here(self, m))
        m = m->next;
    return m != NULL;
}

/* Members of this process are the last: with them it ends, and a member that is not linked at the
 * moment would never hear that the job is over. Who could not be told for want of memory would stay
 * for ever; twice does no harm. */
static void stop_again(struct actor *self, void *arg)
{
    struct coordinator *state = arg;
    bool others = any_elsewhere(self, state);
    bool short_of_memory = false;
    for (const struct coordinator_member *m = state->members; m != NULL; m = m->next)
        if (!others || !is_here(self, m))
            short_of_memory = actor_stop(self, m->address) == TR_ENOMEM || short_of_memory;
    if (short_of_memory)
        timer_start(self, &state->linger, actor_now_ns(self) + STOP_AGAIN_NS, stop_again, state);
}

static void go_on_stopping(struct actor *self, struct coordinator *state, bool was_here)
{
    if (state->num_members == 0)
        end(self, state);
    else if (!was_here && !any_elsewhere(self, state))
        stop_again(self, state);
}

/* The one DOWN of a member. */
static void down(struct actor *self, void *arg, struct address who, int reason)
{
    struct coordinator *state = actor_state(self);
    struct coordinator_member *member = arg;
    struct coordinator_member **at = find(state, member->role, member->rank);
    assert(*at == member);
    *at = member->next;
    state->num_members--;
    if (member->role == MSG_ROLE_REDUCER && reason != TR_ECANCELED)
        coordinator_reducer_down(self, member->rank);
    if (reason != TR_ECANCELED)
        sequenced_forget(&state->clients, self, who);
    bool was_here = is_here(self, member);
    free(member);
    if (state->stopping)
        actor_failpoint(self, FAILPOINT_END_MEMBER_GONE);
    if (state->stopping)
        go_on_stopping(self, state, was_here);
}

struct address coordinator_member_address(const struct coordinator *state, uint32_t role,
                                          uint32_t rank)
{
    const struct coordinator_member *at = *find((struct coordinator *)(uintptr_t)state, role, rank);
    return stands_at(at, role, rank) ? at->address : ADDRESS_NONE;
}

/* Answers of a process that reads another graph would be wrong, and nobody could tell. */
static int check_marks(const struct plan_marks *here, const struct msg_join *head, uint32_t process,
                       struct error *error)
{
    if (head->plan != here->plan)
        return error_set(error, TR_EMISMATCH,
                         "process %" PRIu32 " has another plan of the job "
                         "than the coordinator; give all processes the same cluster file and graph",
                         process);
    if (head->graph != here->graph)
        return error_set(error, TR_EMISMATCH,
                         "process %" PRIu32 " has another graph, or another "
                         "partitioning of it, than the coordinator; copy the same partitions to "
                         "all hosts",
                         process);
    return 0;
}

static int check_join(const struct coordinator *state, const struct msg_join *head,
                      const struct coordinator_member *at, struct address from, struct error *error)
{
    if (head->role > MSG_ROLE_PROCESS)
        return error_set(error, TR_EINVAL, "there is no role %" PRIu32, head->role);
    bool fresh = head->role == MSG_ROLE_REDUCER && head->era == 0;
    if (state->code == 0 && (state->stopping || (state->over && fresh)))
        return error_set(error, TR_EEND, "the job is done; nobody can join");
    if (state->stopping)
        return error_set(error, TR_ECLOSED, "the job is ending; nobody can join");
    int rv = check_marks(&state->options->marks, head, from.node, error);
    if (rv != 0)
        return rv;
    if (stands_at(at, head->role, head->rank)) {
        if (!address_equal(at->address, from))
            return error_set(error, TR_EEXIST,
                             "rank %" PRIu32 " of role %" PRIu32 " is taken; "
                             "give each process its own rank",
                             head->rank, head->role);
        return 0;
    }
    if (state->num_members >= COORDINATOR_MEMBERS_MAX)
        return error_set(error, TR_EFULL, "the job has %" PRIu32 " members already",
                         state->num_members);
    return 0;
}

static int add(struct actor *self, struct coordinator *state, const struct msg_join *head,
               struct coordinator_member **at, struct address from, struct error *error)
{
    struct coordinator_member *member = malloc(sizeof *member);
    if (member == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for a member");
    *member = (struct coordinator_member){ *at, from, head->role, head->rank };
    int rv = actor_monitor(self, from, down, member, NULL);
    if (rv != 0) {
        free(member);
        return error_set(error, rv, "the coordinator cannot watch a member");
    }
    *at = member;
    state->num_members++;
    return 0;
}

int coordinator_join_member(struct actor *self, struct message *request, struct error *error)
{
    struct coordinator *state = actor_state(self);
    const struct msg_join *head = message_head(request);
    struct address from = request->frame.from;
    struct coordinator_member **at = find(state, head->role, head->rank);
    int rv = check_join(state, head, *at, from, error);
    if (rv == TR_EEND && head->role == MSG_ROLE_REDUCER && state->over)
        coordinator_note_refused(state, head->rank);
    if (rv != 0)
        return rv;
    struct message *reply = message_create(self, MSG_JOINED);
    if (reply == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for a reply");
    if (head->role == MSG_ROLE_REDUCER)
        rv = coordinator_learn_barriers(self, head, error);
    if (rv == 0 && !stands_at(*at, head->role, head->rank))
        rv = add(self, state, head, at, from, error);
    if (rv != 0) {
        message_release(self, reply);
        return rv;
    }
    if (head->role == MSG_ROLE_REDUCER)
        coordinator_reducer_joined(self, head);
    *(struct msg_joined *)message_head(reply) = (struct msg_joined){ .rank = head->rank,
                                                                     .era = state->era };
    actor_reply(self, request, reply);
    actor_failpoint(self, FAILPOINT_START_ADMITTED);
    return 0;
}

void coordinator_stop_members(struct actor *self)
{
    struct coordinator *state = actor_state(self);
    state->stopping = true;
    timer_stop(&state->linger);
    stop_again(self, state);
    actor_failpoint(self, FAILPOINT_END_STOPPING);
    if (state->num_members == 0)
        end(self, state);
}

bool coordinator_tell(struct actor *self, uint32_t role, uint32_t kind, const void *head,
                      size_t head_bytes)
{
    struct coordinator *state = actor_state(self);
    bool all = true;
    for (const struct coordinator_member *m = state->members; m != NULL; m = m->next) {
        if (m->role != role)
            continue;
        struct message *message = message_create(self, kind);
        if (message != NULL) {
            memcpy(message_head(message), head, head_bytes);
            actor_send(self, m->address, message);
        }
        all = all && message != NULL;
    }
    return all;
}

void coordinator_free_members(struct coordinator *state)
{
    while (state->members != NULL) {
        struct coordinator_member *member = state->members;
        state->members = member->next;
        free(member);
    }
}

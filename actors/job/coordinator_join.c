/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members come and go.
 *
 * Invariants: a member has the plan and the graph of the job. A reducer's knowledge of the era it
 * is in is taken over before it is a member, so that no barrier is given up by a coordinator that
 * has all members but not what they know. An actor that joins again, since its answer was lost, is
 * the member that it was.
 */
#include <inttypes.h>

#include "actors/job/coordinator_state.h"
#include "runtime/core/monitor.h"

/* The one DOWN of a member. */
static void member_down(struct actor *self, void *arg, struct address who, int reason)
{
    struct coordinator *state = actor_state(self);
    struct coordinator_member *member = arg;
    const struct coordinator_member gone = *member;
    bool was_here = coordinator_member_is_here(self, member);
    /* The member leaves the list first: the notice of the era that its death ends is not sent to
     * it. */
    coordinator_remove_member(state, member);
    if (gone.role == MSG_ROLE_REDUCER && reason != TR_ECANCELED)
        coordinator_reducer_down(self, gone.rank);
    /* Its requests are forgotten after the era, whose end answers them too: what is left waits for
     * nothing. */
    if (reason != TR_ECANCELED)
        sequenced_forget(&state->clients, self, who);
    if (state->stopping)
        actor_failpoint(self, FAILPOINT_END_MEMBER_GONE);
    if (state->stopping)
        coordinator_go_on_stopping(self, was_here);
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

/* The end of the job is said first: a process of another graph, too, has nothing left to join. */
static int check_join(const struct coordinator *state, const struct msg_join *head,
                      const struct coordinator_member *present, struct address from,
                      struct error *error)
{
    if (head->role > MSG_ROLE_PROCESS)
        return error_set(error, TR_EINVAL, "there is no role %" PRIu32, head->role);
    bool fresh = head->role == MSG_ROLE_REDUCER && head->era == 0;
    /* An end without a fault is said before one that only is under way: a member that is refused
     * with TR_EEND ends well, one that is refused with TR_ECLOSED does not. */
    if (state->code == 0 && (state->stopping || (state->over && fresh)))
        return error_set(error, TR_EEND, "the job is done: a process cannot join it any more");
    if (state->stopping)
        return error_set(error, TR_ECLOSED, "the job is ending: a process cannot join it any more");
    int rv = check_marks(&state->options->marks, head, from.node, error);
    if (rv != 0)
        return rv;
    /* A member that joins again comes before the bound, to which it adds nothing. */
    if (present != NULL) {
        if (!address_equal(present->address, from))
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

int coordinator_join_member(struct actor *self, struct message *request, struct error *error)
{
    struct coordinator *state = actor_state(self);
    const struct msg_join *head = message_head(request);
    struct address from = request->frame.from;
    bool is_reducer = head->role == MSG_ROLE_REDUCER;
    const struct coordinator_member *present = coordinator_find_member(state, head->role,
                                                                       head->rank);
    int rv = check_join(state, head, present, from, error);
    if (rv == TR_EEND && is_reducer && state->over)
        coordinator_note_refused(state, head->rank);
    if (rv != 0)
        return rv;
    /* The reply is there before anything changes: one that could not be answered has not joined. */
    struct message *reply = message_create(self, MSG_JOINED);
    if (reply == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for a reply");
    /* The reducer's knowledge is taken over before it is a member: with the last member deadlines
     * decide, also on what it knows. */
    if (is_reducer)
        rv = coordinator_learn_barriers(self, head, error);
    if (rv == 0 && present == NULL)
        rv = coordinator_add_member(self, head, from, member_down, error);
    if (rv != 0) {
        message_release(self, reply);
        return rv;
    }
    /* The reducer is a member before eras hear of it, so that the notice of one that its joining
     * ends reaches it; and eras hear of it before the answer, which names the era that is the
     * present one after that. */
    if (is_reducer)
        coordinator_reducer_joined(self, head);
    *(struct msg_joined *)message_head(reply) = (struct msg_joined){ .rank = head->rank,
                                                                     .era = state->era };
    actor_reply(self, request, reply);
    actor_failpoint(self, FAILPOINT_START_ADMITTED);
    return 0;
}

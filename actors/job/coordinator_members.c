/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of the job: a list by role, then rank, and messages to them.
 *
 * Invariants: at most one member has a role and rank; each is monitored from before it is listed
 * until its one DOWN, which alone removes it. So a member that is listed may be sent to, and a job
 * has ended when the list is empty.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/job/coordinator_state.h"
#include "runtime/core/monitor.h"

/* The link where that member stands or would stand. */
static struct coordinator_member **find_place(struct coordinator *state, uint32_t role,
                                              uint32_t rank)
{
    struct coordinator_member **at = &state->members;
    while (*at != NULL && ((*at)->role < role || ((*at)->role == role && (*at)->rank < rank)))
        at = &(*at)->next;
    return at;
}

struct coordinator_member *coordinator_find_member(const struct coordinator *state, uint32_t role,
                                                   uint32_t rank)
{
    struct coordinator_member *at = state->members;
    while (at != NULL && (at->role != role || at->rank != rank))
        at = at->next;
    return at;
}

struct address coordinator_member_address(const struct coordinator *state, uint32_t role,
                                          uint32_t rank)
{
    const struct coordinator_member *at = coordinator_find_member(state, role, rank);
    return at != NULL ? at->address : ADDRESS_NONE;
}

int coordinator_add_member(struct actor *self, const struct msg_join *head, struct address from,
                           monitor_down *down, struct error *error)
{
    struct coordinator *state = actor_state(self);
    struct coordinator_member **at = find_place(state, head->role, head->rank);
    struct coordinator_member *member = malloc(sizeof *member);
    if (member == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for a member");
    *member = (struct coordinator_member){ *at, from, head->role, head->rank };
    /* The member is watched before it is listed: one that is dead already has its DOWN later, and
     * is removed. */
    int rv = actor_monitor(self, from, down, member, NULL);
    if (rv != 0) {
        free(member);
        return error_set(error, rv, "the coordinator cannot watch a member");
    }
    *at = member;
    state->num_members++;
    return 0;
}

void coordinator_remove_member(struct coordinator *state, struct coordinator_member *member)
{
    struct coordinator_member **at = find_place(state, member->role, member->rank);
    assert(*at == member);
    *at = member->next;
    state->num_members--;
    free(member);
}

bool coordinator_member_is_here(struct actor *self, const struct coordinator_member *member)
{
    return member->address.node == actor_address(self).node;
}

bool coordinator_any_elsewhere(struct actor *self)
{
    const struct coordinator *state = actor_state(self);
    const struct coordinator_member *m = state->members;
    while (m != NULL && coordinator_member_is_here(self, m))
        m = m->next;
    return m != NULL;
}

bool coordinator_stop_each(struct actor *self)
{
    struct coordinator *state = actor_state(self);
    bool others = coordinator_any_elsewhere(self);
    bool all = true;
    /* Each member is asked, also after one for which there was no memory. */
    for (const struct coordinator_member *m = state->members; m != NULL; m = m->next)
        if (!others || !coordinator_member_is_here(self, m))
            all = actor_stop(self, m->address) != TR_ENOMEM && all;
    return all;
}

bool coordinator_notify(struct actor *self, uint32_t role, uint32_t kind, const void *head,
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

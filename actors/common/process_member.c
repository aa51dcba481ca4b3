/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joining the coordinator, and staying joined.
 *
 *     looking for it -> asking to join -> joined, watching it --its DOWN--> looking for it
 *
 * Invariants: exactly one thing is under way: a search, a call, a pause, or the monitor of the one
 * that was joined. `coordinator` is its address while joined, else none. All of it ends at
 * `until_ns`, which each loss sets anew: a member without a coordinator ends, and with it its
 * process.
 */
#include "actors/common/process_member.h"

#include <inttypes.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_call.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/log.h"
#include "runtime/core/monitor.h"

static void look_for_coordinator(struct actor *self, void *arg);

static uint64_t patience_ns(const struct process_member *member, bool first)
{
    uint64_t ns = member->plan == NULL ? 0 : first ? member->plan->first_ns : member->plan->lost_ns;
    return ns != 0 ? ns : first ? MEMBER_FIRST_JOIN_NS : MEMBER_JOIN_NS;
}

static void process_member_down(struct actor *self, void *arg, struct address who, int reason)
{
    struct process_member *member = arg;
    (void)who, (void)reason;
    /* From here on nothing is asked of the address, until another one has been joined. */
    member->coordinator = ADDRESS_NONE;
    member->lost = true;
    member->until_ns = actor_now_ns(self) + patience_ns(member, false);
    look_for_coordinator(self, member);
}

static void process_member_watch(struct actor *self, struct process_member *member,
                                 const struct message *reply)
{
    /* The address and the era are set before `joined`, which asks the coordinator what waited for
     * it. */
    member->coordinator = reply->frame.from;
    member->era = ((const struct msg_joined *)(const void *)reply->head)->era;
    /* The coordinator is watched before `joined` asks it for anything: one that cannot be watched
     * is not used at all. */
    int rv = actor_monitor(self, member->coordinator, process_member_down, member, NULL);
    if (rv != 0)
        actor_exit(self, rv);
    else if (member->joined != NULL)
        member->joined(self, member);
    actor_failpoint(self, FAILPOINT_START_JOINED);
}

/* TR_EEXIST: the coordinator does not know yet that a past life of this one is over. A refusal that
 * cannot be asked about again before the patience ends stands: a later try would end without an
 * answer, as if no coordinator were there. */
static bool may_pass(const struct process_member *member, int status, uint64_t now_ns)
{
    if (status == TR_EEXIST)
        return now_ns + MEMBER_RETRY_NS < member->until_ns;
    return part_call_peer_recovers(status) && now_ns < member->until_ns;
}

static void say_lost(struct actor *self, const struct process_member *member)
{
    log_write(actor_node(self), LOG_LEVEL_ERROR, "job",
              "node %" PRIu32 ": the coordinator (process %" PRIu32
              ") has not answered for %" PRIu64 " seconds; this process ends",
              actor_address(self).node,
              member->plan != NULL ? member->plan->coordinator : actor_address(self).node,
              patience_ns(member, !member->lost) / 1000000000);
}

static bool is_beside_coordinator(struct actor *self, const struct process_member *member)
{
    return member->plan == NULL || member->plan->coordinator == actor_address(self).node;
}

static void give_up(struct actor *self, struct process_member *member, int status)
{
    bool ending = status == TR_ECLOSED; /* the job, or this process */
    bool done = status == TR_EEND && !address_is_none(member->root);
    if (done && is_beside_coordinator(self, member)) {
        /* The coordinator that says so ends this process last, after those that have yet to hear of
         * the end from it. */
        actor_exit(self, 0);
        return;
    }
    /* This member ends only when the root was asked, for which memory may be short: perhaps no
     * other member of the process is there to ask it. */
    if (done && actor_stop(self, member->root) == TR_ENOMEM) {
        timer_start(self, &member->timer, actor_now_ns(self) + MEMBER_RETRY_NS,
                    look_for_coordinator, member);
        return;
    }
    /* The status becomes what this member ends with only now, since `done` was read from it. */
    if (done)
        status = 0;               /* a process that came too late ends as well as the others */
    if (status == TR_ETIMEDOUT) { /* of its node that would be no reason to end */
        say_lost(self, member);
        status = TR_EPEERDOWN;
    }
    /* The root is killed after the status is final, which becomes the reason of its end too. */
    if (!done && !ending && !address_is_none(member->root))
        actor_kill(self, member->root, status);
    actor_exit(self, status);
}

/* why: the text of the coordinator's refusal, if there is one. */
static void try_again_or_exit(struct actor *self, struct process_member *member, int status,
                              const struct error *why)
{
    /* A failure that may pass is asked for first: only one that will not pass, or has taken too
     * long, is logged and ends the member. */
    uint64_t now_ns = actor_now_ns(self);
    if (may_pass(member, status, now_ns)) {
        timer_start(self, &member->timer, now_ns + MEMBER_RETRY_NS, look_for_coordinator, member);
        return;
    }
    if (status == TR_ECANCELED) /* self is ending */
        return;
    if (why != NULL && why->code != 0 && status != TR_ECLOSED && status != TR_EEND)
        log_write(actor_node(self), LOG_LEVEL_ERROR, "job",
                  "the coordinator refuses this process: %s", why->text);
    give_up(self, member, status == TR_EPEERDOWN ? TR_ETIMEDOUT : status);
}

static void process_member_joined(struct actor *self, void *arg, int status, struct message *reply)
{
    struct process_member *member = arg;
    struct error why = { 0 };
    /* The refusal is read before the kind is compared, which is another one: as TR_EFORMAT each
     * refusal would lose its text and its code, by which a member that came too early asks again
     * and one that came too late ends well. */
    if (status == 0)
        status = error_reply_read(reply, &why);
    if (status == 0 && reply->frame.kind != MSG_JOINED)
        status = TR_EFORMAT;
    if (status == 0)
        process_member_watch(self, member, reply);
    else
        try_again_or_exit(self, member, status, &why);
    /* The reply is released last: the address and the era are read from it. */
    message_release(self, reply);
}

static void process_member_found(struct actor *self, void *arg, int status, struct address address)
{
    struct process_member *member = arg;
    struct message *request = status == 0 ? message_create(self, MSG_JOIN) : NULL;
    if (status == 0 && request == NULL)
        status = TR_ENOMEM;
    if (status == 0) {
        *(struct msg_join *)message_head(request) = (struct msg_join){
            .role = member->role,
            .rank = member->rank,
            .era = member->restored,
            .seen = member->seen,
            .plan = member->plan != NULL ? member->plan->marks.plan : 0,
            .graph = member->plan != NULL ? member->plan->marks.graph : 0,
            .passed_name = member->passed_name,
            .passed_sequence = member->passed_sequence,
            .over_name = member->over_name,
            .over_sequence = member->over_sequence,
        };
        status = actor_call(self, address, request, member->until_ns, process_member_joined, member,
                            NULL);
        actor_failpoint(self, FAILPOINT_START_JOINING);
    }
    /* The search, the request and the call fail alike: the member begins with a search again. */
    if (status != 0)
        try_again_or_exit(self, member, status, NULL);
}

static int process_member_find(struct actor *self, struct process_member *member)
{
    uint32_t node = member->plan != NULL ? member->plan->coordinator : actor_address(self).node;
    return directory_wait_at(self, node, COORDINATOR_NAME, member->until_ns, process_member_found,
                             member);
}

static void look_for_coordinator(struct actor *self, void *arg)
{
    struct process_member *member = arg;
    int rv = process_member_find(self, member);
    if (rv != 0)
        try_again_or_exit(self, member, rv, NULL);
}

int process_member_join(struct actor *self, struct process_member *member)
{
    /* The deadline is set before the search, which ends by it. */
    member->until_ns = actor_now_ns(self) + patience_ns(member, true);
    look_for_coordinator(self, member);
    return 0;
}

static void stop_process(struct actor *self, void *arg)
{
    struct process_member *member = arg;
    /* The member ends only when the root was asked, for which memory may be short: perhaps no other
     * member of the process is there to ask it. */
    if (!address_is_none(member->root) && actor_stop(self, member->root) == TR_ENOMEM)
        timer_start(self, &member->stopping, actor_now_ns(self) + MEMBER_RETRY_NS, stop_process,
                    member);
    else
        actor_exit(self, 0);
}

void process_member_stop(struct actor *self, struct process_member *member)
{
    actor_failpoint(self, FAILPOINT_END_MEMBER_STOPPED);
    stop_process(self, member);
}

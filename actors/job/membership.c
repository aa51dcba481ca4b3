/* SPDX-License-Identifier: Apache-2.0 */
/* A member without work of its own: it has a process_member alone, which joins, and which ends the
 * process. */
#include "actors/job/membership.h"

#include <stdlib.h>

#include "actors/common/process_member.h"
#include "runtime/core/call.h"
#include "schemas/messages.h"

struct membership {
    const struct membership_options *options;
    struct process_member member;
};

static int start(struct actor *self, const void *arg)
{
    const struct membership_options *options = arg;
    struct membership *membership = calloc(1, sizeof *membership);
    if (membership == NULL)
        return TR_ENOMEM;
    actor_set_state(self, membership);
    membership->options = options;
    membership->member = (struct process_member){ .role = MSG_ROLE_PROCESS,
                                                  .rank = options->process,
                                                  .plan = options->plan,
                                                  .root = options->root };
    return process_member_join(self, &membership->member);
}

static int receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static void stop(struct actor *self)
{
    struct membership *membership = actor_state(self);
    process_member_stop(self, &membership->member);
}

static void fini(struct actor *self)
{
    free(actor_state(self));
}

const struct actor_ops membership_ops = {
    .name = "membership",
    .start = start,
    .receive = receive,
    .stop = stop,
    .fini = fini,
};

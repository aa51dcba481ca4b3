#include "actors/job/membership.h"

#include <stdlib.h>

#include "actors/common/process_member.h"
#include "runtime/core/call.h"
#include "schemas/messages.h"

struct presence {
    const struct presence_options *options;
    struct member member;
};

static int start(struct actor *self, const void *arg)
{
    const struct presence_options *options = arg;
    struct presence *presence = calloc(1, sizeof *presence);
    if (presence == NULL)
        return TR_ENOMEM;
    actor_set_state(self, presence);
    presence->options = options;
    presence->member = (struct member){ .role = MSG_ROLE_PROCESS, .rank = options->process,
                                        .plan = options->plan, .root = options->root };
    return member_join(self, &presence->member);
}

static int receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static void stop(struct actor *self)
{
    struct presence *presence = actor_state(self);
    member_stop(self, &presence->member);
}

static void fini(struct actor *self)
{
    free(actor_state(self));
}

const struct actor_ops presence_ops = {
    .name = "presence",
    .start = start,
    .receive = receive,
    .stop = stop,
    .fini = fini,
};

#include "actors/presence.h"

#include <stdlib.h>

#include "actors/member.h"
#include "runtime/call.h"
#include "schemas/messages.h"

/* Memory that is short is asked for again after this. */
#define AGAIN_NS UINT64_C(10000000)

struct presence {
    const struct presence_options *options;
    struct member member;
    struct timer again;
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

/* The coordinator is gone as soon as all members are, so who ends before the process was told would
 * leave it behind. */
static void stop_process(struct actor *self, void *arg)
{
    struct presence *presence = arg;
    if (actor_stop(self, presence->options->root) == TR_ENOMEM)
        timer_start(self, &presence->again, actor_now_ns(self) + AGAIN_NS, stop_process, presence);
    else
        actor_exit(self, 0);
}

/* By the coordinator, or because the process ends already. */
static void stop(struct actor *self)
{
    stop_process(self, actor_state(self));
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

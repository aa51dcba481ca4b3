/* SPDX-License-Identifier: Apache-2.0 */
/* Looks once a second whether every link has been up, until each has or the time is over. */
#include "actors/job/first_contact.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "actors/common/process_member.h"
#include "runtime/core/call.h"
#include "runtime/core/log.h"
#include "runtime/core/timer.h"
#include "runtime/net/links.h"

#define LOOK_EVERY_NS UINT64_C(1000000000)

struct first_contact {
    const struct first_contact_options *options;
    uint64_t limit_ns, until_ns;
    struct timer timer;
};

static void give_up(struct actor *self, const struct first_contact *contact,
                    const struct links_absent *absent, uint32_t count)
{
    char others[32] = "";
    if (count > 1)
        snprintf(others, sizeof others, " and %" PRIu32 " more", count - 1);
    /* The root is killed behind the line that says why. */
    log_write(actor_node(self), LOG_LEVEL_ERROR, "job",
              "process %" PRIu32 " (%s)%s never answered in %" PRIu64
              " seconds; this process ends: start all processes of the job, and see whether one "
              "refused its options; limits.start of the cluster file says how long they are waited "
              "for",
              absent->node, absent->where, others, contact->limit_ns / 1000000000);
    actor_kill(self, contact->options->root, TR_EPEERDOWN);
}

static void look(struct actor *self, void *arg)
{
    struct first_contact *contact = arg;
    struct links_absent absent;
    uint32_t count = links_absent(actor_node(self), &absent);
    uint64_t now_ns = actor_now_ns(self);
    if (count > 0 && now_ns < contact->until_ns) {
        timer_start(self, &contact->timer, now_ns + LOOK_EVERY_NS, look, contact);
        return;
    }
    if (count > 0)
        give_up(self, contact, &absent, count);
    actor_exit(self, 0);
}

static int start(struct actor *self, const void *arg)
{
    struct first_contact *contact = calloc(1, sizeof *contact);
    if (contact == NULL)
        return TR_ENOMEM;
    actor_set_state(self, contact);
    contact->options = arg;
    uint64_t planned_ns = contact->options->plan->first_ns, now_ns = actor_now_ns(self);
    contact->limit_ns = planned_ns != 0 ? planned_ns : MEMBER_FIRST_JOIN_NS;
    contact->until_ns = now_ns + contact->limit_ns;
    timer_start(self, &contact->timer, now_ns + LOOK_EVERY_NS, look, contact);
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static void fini(struct actor *self)
{
    free(actor_state(self));
}

const struct actor_ops first_contact_ops = {
    .name = "first contact",
    .start = start,
    .receive = receive,
    .fini = fini,
};

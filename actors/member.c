#include "actors/member.h"

#include "actors/coordinator.h"
#include "actors/failed.h"
#include "runtime/call.h"
#include "runtime/directory.h"
#include "runtime/monitor.h"

static void down(struct actor *self, void *arg, struct address who, int reason)
{
    struct member *member = arg;
    (void)who, (void)reason;
    member->coordinator = ADDRESS_NONE;
    int rv = member_join(self, member);
    if (rv != 0)
        actor_exit(self, rv);
}

static void joined(struct actor *self, void *arg, int status, struct message *reply)
{
    struct member *member = arg;
    if (status == 0)
        status = failed_read(reply, NULL);
    if (status == 0 && reply->frame.kind != MSG_JOINED)
        status = TR_EFORMAT;
    if (status == 0) {
        member->coordinator = reply->frame.from;
        member->era = ((const struct msg_joined *)message_head(reply))->era;
        status = actor_monitor(self, member->coordinator, down, member, NULL);
    }
    message_release(self, reply);
    if (status == 0 && member->joined != NULL)
        member->joined(self, member);
    if (status == TR_EPEERDOWN) /* it died meanwhile; its successor will have the name */
        status = member_join(self, member);
    if (status != 0 && status != TR_ECANCELED)
        actor_exit(self, status);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct member *member = arg;
    if (status == TR_ECANCELED)
        return;
    struct message *request = status == 0 ? message_create(self, MSG_JOIN) : NULL;
    if (status == 0 && request == NULL)
        status = TR_ENOMEM;
    if (status == 0) {
        *(struct msg_join *)message_head(request) =
            (struct msg_join){ .role = member->role, .rank = member->rank };
        status = actor_call(self, address, request, actor_now_ns(self) + MEMBER_JOIN_NS, joined,
                            member, NULL);
    }
    if (status != 0)
        actor_exit(self, status);
}

int member_join(struct actor *self, struct member *member)
{
    return directory_wait(self, COORDINATOR_NAME, actor_now_ns(self) + MEMBER_JOIN_NS, found,
                          member);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room for replies, held or waited for.
 *
 * Invariants: `wait` is set while the account's line has this one or its grant is on its way, and
 * then nothing is held yet; `account` is set while the room holds something or waits for it. A wait
 * that was granted, or whose actor ended, is freed by the account, so it is forgotten here before
 * anything else is done.
 */
#include "actors/common/reply_budget.h"

static void tell(struct actor *self, void *arg, int status)
{
    struct reply_budget *room = arg;
    /* The wait is forgotten and the room accounted for before `granted`, which may give the room
     * up. */
    room->wait = NULL;
    room->bytes = status == 0 ? room->wanted : 0;
    if (status != 0)
        room->account = NULL;
    room->granted(self, room->arg, status);
}

int reply_budget_reserve(struct reply_budget *room, struct account *account, struct actor *self,
                         size_t bytes, uint64_t deadline_ns,
                         void (*granted)(struct actor *self, void *arg, int status), void *arg)
{
    /* This is asked first: a room that holds or waits already is not charged twice. */
    if (account == NULL || room->account != NULL)
        return room->wait != NULL;
    room->wanted = bytes < account->bound_bytes ? bytes : account->bound_bytes;
    room->granted = granted;
    room->arg = arg;
    int rv = account_reserve_wait(account, self, room->wanted, deadline_ns, tell, room,
                                  &room->wait);
    if (rv < 0)
        return rv;
    room->account = account;
    room->bytes = rv == 0 ? room->wanted : 0;
    if (rv == 0)
        room->wait = NULL;
    return rv;
}

void reply_budget_release(struct reply_budget *room)
{
    /* The wait is asked for before the account, which is set too: a room that waits holds nothing
     * to give back. */
    if (room->wait != NULL)
        account_wait_cancel(room->wait);
    else if (room->account != NULL)
        account_release(room->account, room->bytes);
    *room = (struct reply_budget){ 0 };
}

void reply_budget_fini(struct reply_budget *room)
{
    /* A wait that is still noted ended with the actor, and is freed already. */
    if (room->wait == NULL)
        reply_budget_release(room);
    *room = (struct reply_budget){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated trainer's loader, as api/loader_open.c and api/loader.c have it: opened at the proxy
 * of its rank, and again where that one was lost; batches are collected from the process's store,
 * and waited for by looking again and again.
 *
 * Invariants: `opened` says that the proxy of this address has the loader, so whatever loses the
 * proxy clears both. The batch is collected first, and asked for only where it is not there: a
 * notice of one that is there may have been lost.
 */
#include <inttypes.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_call.h"
#include "runtime/core/call.h"
#include "sim/sim_trainer_state.h"

/* As a program waits for a batch before it looks again. */
#define LOOK_NS (100 * SIM_TRAINER_MS)
/* As a session waits for a proxy that is started again. */
#define RECOVERY_NS (600 * ENV_SECOND_NS)

static void proxy_found(struct actor *self, void *arg, int status, struct address address)
{
    struct sim_trainer *t = arg;
    (void)self;
    t->proxy = status == 0 ? address : ADDRESS_NONE;
    sim_trainer_go_later(t, status == 0 ? 0 : SIM_TRAINER_AGAIN_NS);
}

/* As api/loader_open.c: what passes is asked for again, what does not is the trainer's failure. */
static void loader_opened(struct actor *self, void *arg, int status, struct message *reply)
{
    struct sim_trainer *t = arg;
    struct error error = { 0 };
    t->fleet->tally.calls_completed++;
    int failed = status == 0 ? error_reply_read(reply, &error) : 0;
    if (part_call_peer_recovers(status)) {
        t->proxy = ADDRESS_NONE;
        sim_trainer_go_later(t, SIM_TRAINER_AGAIN_NS);
    } else if (status == TR_ECANCELED) { /* this actor ends */
    } else if (status != 0 || failed != 0) {
        fleet_fail(t->fleet, "trainer %" PRIu32 ": its loader was not opened: %s %s", t->rank,
                   tr_error_name(status != 0 ? status : failed), error.text);
    } else if (((const struct msg_loader_opened *)message_head(reply))->num_batches !=
               t->plan->steps_epoch) {
        fleet_fail(t->fleet, "trainer %" PRIu32 ": a loader of another number of batches", t->rank);
    } else {
        t->opened = true;
        sim_trainer_go_later(t, 0);
    }
    message_release(self, reply);
}

static struct message *make_loader_open(struct sim_trainer *t)
{
    const struct wanted_loader *loader = &t->plan->loader;
    /* The lists are there before the proxy is asked, which looks for them. */
    wanted_loader_put(loader, &t->fleet->partitions, t->process->lists, t->loader);
    struct message *request = message_create(t->self, MSG_LOADER_OPEN);
    void *body = request == NULL
                     ? NULL
                     : message_body_alloc(t->self, request, wanted_loader_bytes(loader));
    if (body == NULL) {
        message_release(t->self, request);
        return NULL;
    }
    struct msg_loader_open *head = message_head(request);
    *head = loader->open;
    head->loader = t->loader;
    head->rank = t->rank;
    wanted_loader_write(loader, head, body);
    return request;
}

void sim_trainer_open_loader(struct sim_trainer *t)
{
    if (address_is_none(t->proxy)) {
        char name[DIRECTORY_NAME_MAX];
        proxy_name(t->rank, name);
        sim_trainer_find(t, name, proxy_found);
        return;
    }
    struct message *request = make_loader_open(t);
    if (request == NULL ||
        actor_call(t->self, t->proxy, request, actor_now_ns(t->self) + RECOVERY_NS, loader_opened,
                   t, NULL) != 0)
        sim_trainer_go_later(t, SIM_TRAINER_AGAIN_NS);
    else
        t->fleet->tally.calls_opened++;
}

/* The same for a batch. A look that found none before its deadline is followed by another. */
static void batch_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct sim_trainer *t = arg;
    struct error error = { 0 };
    t->fleet->tally.calls_completed++;
    int failed = status == 0 ? error_reply_read(reply, &error) : 0;
    message_release(self, reply);
    if (failed != 0) {
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 ": the batch of step %" PRIu64 " failed with %s: "
                   "%s",
                   t->rank, sim_trainer_step(t), tr_error_name(failed), error.text);
        return;
    }
    if (status == 0 || status == TR_ETIMEDOUT) {
        t->go(t);
        return;
    }
    if (status == TR_ECANCELED) /* this actor ends */
        return;
    switch (proxy_call_end(status)) {
    case PROXY_CALL_REOPEN:
        t->proxy = ADDRESS_NONE;
        t->opened = false;
        sim_trainer_go_later(t, SIM_TRAINER_AGAIN_NS);
        break;
    case PROXY_CALL_AGAIN:
        t->fleet->tally.failures_told++;
        sim_trainer_go_later(t, SIM_TRAINER_AGAIN_NS);
        break;
    case PROXY_CALL_FAILED:
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 ": the request of step %" PRIu64 " was answered "
                   "with %s",
                   t->rank, sim_trainer_step(t), tr_error_name(status));
        break;
    }
}

static struct message *make_batch_request(struct sim_trainer *t, uint64_t step)
{
    struct message *request = message_create(t->self, MSG_BATCH_REQUEST);
    if (request != NULL)
        *(struct msg_batch_request *)message_head(
            request) = (struct msg_batch_request){ .loader = t->loader,
                                                   .epoch = (uint32_t)(step / t->plan->steps_epoch),
                                                   .batch = step % t->plan->steps_epoch };
    return request;
}

static void ask_for_batch(struct sim_trainer *t)
{
    struct message *request = make_batch_request(t, sim_trainer_step(t));
    if (request == NULL || actor_call(t->self, t->proxy, request, actor_now_ns(t->self) + LOOK_NS,
                                      batch_answered, t, NULL) != 0)
        sim_trainer_go_later(t, SIM_TRAINER_AGAIN_NS);
    else
        t->fleet->tally.calls_opened++;
}

struct sampled_batch *sim_trainer_take_batch(struct sim_trainer *t)
{
    struct sampled_batch *batch = batch_store_collect(t->process->store, t->loader,
                                                      t->loop.at.epoch, t->loop.at.step);
    if (batch == NULL && t->opened)
        ask_for_batch(t);
    else if (batch == NULL) /* its proxy was lost meanwhile */
        sim_trainer_open_loader(t);
    return batch;
}

void sim_trainer_announce_next(struct sim_trainer *t)
{
    struct message *notice = make_batch_request(t, sim_trainer_step(t) + 1);
    if (notice != NULL)
        actor_send(t->self, t->proxy, notice);
}

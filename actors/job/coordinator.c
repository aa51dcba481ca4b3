/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinator as an actor: which request is whose, its beginning and its end.
 *
 * Invariants: a request is consumed by the function that serves it, or by the answer to the failure
 * that this returns, never by both. Calls, a save and a search end before the
 * state that they refer to is freed.
 */
#include "actors/job/coordinator.h"

#include <stdlib.h>

#include "actors/common/error_reply.h"
#include "actors/job/coordinator_state.h"
#include "runtime/base/files.h"
#include "runtime/core/directory.h"
#include "schemas/body.h"

/* Consumes the request unless it returns a failure, which receive() answers. */
typedef int serve(struct actor *self, struct message *request, struct error *error);

static serve *find_serve(uint32_t kind)
{
    switch (kind) {
    case MSG_JOIN:
        return coordinator_join_member;
    case MSG_BARRIER:
        return coordinator_barrier;
    case MSG_RESTORE:
        return coordinator_restore;
    case MSG_CHECKPOINT_PART:
        return coordinator_save_part;
    case MSG_CHECKPOINT_DONE:
        return coordinator_save_known;
    case MSG_JOB_DONE:
        return coordinator_job_done;
    default:
        return NULL;
    }
}

static int receive(struct actor *self, struct message *message)
{
    struct error error = { 0 };
    serve *found = find_serve(message->frame.kind);
    if (found == NULL)
        actor_refuse(self, message, TR_EUNSUPPORTED);
    else if (found(self, message, &error) != 0)
        error_reply_send(self, message, &error);
    return 0;
}

static int start(struct actor *self, const void *arg)
{
    struct coordinator *state = calloc(1, sizeof *state);
    if (state == NULL)
        return TR_ENOMEM;
    /* The state is the actor's before anything can fail: fini takes down what is there. */
    actor_set_state(self, state);
    account_init(&state->account, "sequenced", COORDINATOR_CLIENTS_BYTES);
    sequenced_init(&state->clients, &state->account, COORDINATOR_CLIENTS_MAX);
    state->options = arg;
    state->files = state->options->files != NULL ? state->options->files : files_posix;
    state->dones = calloc(state->options->trainers + UINT64_C(1), sizeof(struct message *));
    state->aware = calloc(state->options->trainers + UINT64_C(1), 1);
    if (state->dones == NULL || state->aware == NULL)
        return TR_ENOMEM;
    /* The name comes last: an actor that can be found has all that it needs. */
    return directory_register(self, COORDINATOR_NAME, NULL, NULL);
}

static void fini(struct actor *self)
{
    struct coordinator *state = actor_state(self);
    if (state == NULL)
        return;
    checkpoint_store_calls_fini(&state->checkpoint_store_calls); /* they hold what is freed below */
    coordinator_free_barriers(state);
    coordinator_free_search(state); /* the one that waits: the calls of another ended above */
    coordinator_free_restores(state);
    coordinator_free_saving(state);
    coordinator_free_members(state);
    coordinator_free_dones(self, state);
    free(state->aware);
    /* The table comes before its account, which asserts that all was given back. */
    sequenced_fini(&state->clients, self);
    account_fini(&state->account);
    free(state);
}

const struct actor_ops coordinator_ops = {
    .name = "coordinator",
    .start = start,
    .receive = receive,
    .fini = fini,
};

/* The ends of epochs and of the job. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/coordinator_state.h"

/* The last epoch that a rank said is over. */
struct epoch_mark {
    struct epoch_mark *next;
    uint64_t loader;
    uint32_t rank;
    uint32_t epoch;
};

/* Answers a report with itself; the report is over then. */
static int acknowledge(struct actor *self, struct message *request, struct error *error)
{
    struct message *reply = message_copy(self, request);
    if (reply == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for a reply");
    actor_reply(self, request, reply);
    return 0;
}

/* *first: this epoch of the rank was not reported before. */
static int mark_epoch(struct coordinator *state, const struct msg_epoch_done *head, bool *first,
                      struct error *error)
{
    struct epoch_mark *at = state->epochs;
    while (at != NULL && (at->loader != head->loader || at->rank != head->rank))
        at = at->next;
    *first = at == NULL || at->epoch < head->epoch;
    if (at != NULL) {
        at->epoch = *first ? head->epoch : at->epoch;
        return 0;
    }
    if (state->num_epochs >= COORDINATOR_EPOCHS_MAX)
        return error_set(error, TR_EFULL, "epochs of %" PRIu32 " loaders are followed already",
                         state->num_epochs);
    at = malloc(sizeof *at);
    if (at == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for an epoch");
    *at = (struct epoch_mark){ state->epochs, head->loader, head->rank, head->epoch };
    state->epochs = at;
    state->num_epochs++;
    return 0;
}

int coordinator_epoch_done(struct actor *self, struct message *request, struct error *error)
{
    struct msg_epoch_done head = *(const struct msg_epoch_done *)message_head(request);
    bool first;
    int rv = mark_epoch(actor_state(self), &head, &first, error);
    if (rv == 0)
        rv = acknowledge(self, request, error);
    if (first && rv == 0)
        (void)coordinator_tell(self, MSG_ROLE_TRAINER, MSG_EPOCH_DONE, &head, sizeof head);
    return rv;
}

int coordinator_job_done(struct actor *self, struct message *request, struct error *error)
{
    struct coordinator *state = actor_state(self);
    const struct msg_job_done head = *(const struct msg_job_done *)message_head(request);
    if (head.code == 0 && head.rank >= state->options->trainers)
        return error_set(error, TR_ERANGE, "rank %" PRIu32 " ends the job, which has %" PRIu32
                         " trainers", head.rank, state->options->trainers);
    int rv = acknowledge(self, request, error);
    if (rv != 0)
        return rv;
    if (state->code == 0)
        state->code = head.code;
    if (head.code == 0 && state->trainers_done[head.rank] == 0) {
        state->trainers_done[head.rank] = 1;
        state->num_done++;
    }
    bool all = state->options->trainers > 0 && state->num_done == state->options->trainers;
    if (!state->stopping && (state->code != 0 || all))
        coordinator_stop_members(self);
    return 0;
}

void coordinator_free_epochs(struct coordinator *state)
{
    while (state->epochs != NULL) {
        struct epoch_mark *mark = state->epochs;
        state->epochs = mark->next;
        free(mark);
    }
}

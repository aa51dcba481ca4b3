/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eras: which ranks are in one, when it ends, and from which checkpoint the next begins.
 *
 *     nobody in it  --all ranks wait to be restored; a checkpoint is chosen-->  entered
 *     entered       --a reducer goes down, joins anew or asks to be restored-->  nobody in the next
 *
 * Invariants: the era's number only grows, and is above that of any checkpoint and of any member
 * that joined, so what is said in an older era is known to be old. Everything of an era ends before
 * its reducers hear that it is over, and nobody is restored before the crew has ended what it made
 * for an era before. A coordinator that was started again has era 0 and `entered` false: it learns
 * both from the members that join. At most one search for a checkpoint is under way; a rank that
 * leaves while it is takes its wish to be restored with it, and the result is then left unused.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/cluster/plan.h"
#include "actors/common/error_reply.h"
#include "actors/common/job_progress.h"
#include "actors/job/checkpoint.h"
#include "actors/job/coordinator_state.h"
#include "runtime/core/crew.h"
#include "runtime/core/log.h"

#define CHOOSE_AGAIN_NS UINT64_C(5000000000) /* a folder may be readable then */
#define NOTIFY_AGAIN_NS UINT64_C(10000000)   /* memory for the notices may be there then */

/* Looks for the checkpoint, on the crew. Its own memory: the actor's state outlives it. */
struct choosing {
    struct job job;
    struct files *files;
    char *folder;
    uint32_t world;
    struct checkpoint_manifest manifest; /* of none: world 0 */
    struct error damaged;
    struct error error;
};

/* A member that is not notified would wait for others in vain, so the notice is repeated until all
 * have it. */
static void notify_era(struct actor *self, void *arg)
{
    struct coordinator *state = arg;
    const struct msg_era head = { .era = state->era };
    /* Servers are notified too: what programs wrote in the old era goes with it. */
    bool servers = coordinator_notify(self, MSG_ROLE_SERVER, MSG_ERA, &head, sizeof head);
    if (!coordinator_notify(self, MSG_ROLE_REDUCER, MSG_ERA, &head, sizeof head) || !servers)
        timer_start(self, &state->notify_again, actor_now_ns(self) + NOTIFY_AGAIN_NS, notify_era,
                    state);
}

static void restore_all(struct actor *self);

/* The present era is over, if anybody was in it. */
static void end_era(struct actor *self)
{
    struct coordinator *state = actor_state(self);
    /* The number comes first: whatever has a lower one ends below. */
    state->ended = ++state->era;
    state->entered = false;
    /* These may end in any order: all that waits is refused with TR_EROLLBACK once, by its barrier,
     * as one that is done, or by the table, which has the reports for the save. */
    coordinator_end_barriers(self);
    coordinator_end_saving(self, restore_all);
    sequenced_end_eras(&state->clients, self, state->era, TR_EROLLBACK);
    coordinator_end_dones(self);
    /* The notice may stand anywhere in this turn: a rank acts on it in a later one, and finds
     * nothing of the old era here. */
    notify_era(self, state);
    actor_failpoint(self, FAILPOINT_ERA_ENDED);
}

/* A member knows of a newer era than a coordinator that was started again. */
static void learn_era(struct actor *self, uint32_t era)
{
    struct coordinator *state = actor_state(self);
    /* The number is one less for the end, which adds one: so this era is the present one, nobody is
     * in it here, and all that joined are notified of it. */
    state->era = era - 1;
    end_era(self);
}

void coordinator_reducer_joined(struct actor *self, const struct msg_join *head)
{
    struct coordinator *state = actor_state(self);
    uint32_t newest = head->era > head->seen ? head->era : head->seen;
    if (state->stopping || state->over)
        return;
    /* The era is learned before it is asked whether the newcomer is inside it. */
    if (newest > state->era)
        learn_era(self, newest);
    /* An era is of all ranks. A rank that joins from within the era shows that it has begun, and
     * one that does not, or that waits to be restored, that it cannot go on, whichever came
     * first. */
    bool inside = head->era != 0 && head->era == state->era;
    state->entered = state->entered || inside;
    if (state->entered && (!inside || state->num_restores > 0))
        end_era(self);
}

/* The request belongs to no era, since it begins one: a rank has one request to be restored, which
 * repeats join. */
static struct sequenced_id id_of(uint32_t rank)
{
    return (struct sequenced_id){ { MSG_RESTORE, rank, 0 }, 0, 0 };
}

/* The request of a rank that waits to be restored, or NULL; the caller answers it. */
static struct message *release_restore(struct coordinator *state, uint32_t rank)
{
    const struct sequenced_id id = id_of(rank);
    if (rank >= state->world || !state->restores[rank])
        return NULL;
    state->restores[rank] = false;
    state->num_restores--;
    return sequenced_release(&state->clients, &id);
}

void coordinator_reducer_down(struct actor *self, uint32_t rank)
{
    struct coordinator *state = actor_state(self);
    /* The rank's wish is withdrawn before the era ends: the rank waits for nothing any more, and
     * the others' search finds that one is missing. */
    message_release(self, release_restore(state, rank));
    actor_failpoint(self, FAILPOINT_ERA_DOWN);
    /* The end of the job is asked for before the era: afterwards no death ends one. */
    if (state->over)
        coordinator_note_aware(self, rank);
    else if (state->entered && !state->stopping)
        end_era(self);
}

static int set_world(struct coordinator *state, uint32_t world, struct error *error)
{
    if (state->world == world)
        return 0;
    if (state->world != 0 || world == 0 || world > CHECKPOINT_WORLD_MAX ||
        (state->options->trainers != 0 && world != state->options->trainers))
        return error_set(error, TR_EMISMATCH,
                         "a trainer expects %" PRIu32 " trainers, the job has "
                         "%" PRIu32,
                         world, state->world != 0 ? state->world : state->options->trainers);
    /* The list comes before the number, which says how long it is. */
    state->restores = calloc(world, sizeof *state->restores);
    if (state->restores == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for trainers");
    state->world = world;
    return 0;
}

static int find_newest(struct job *job)
{
    struct choosing *choosing = job->arg;
    int rv = checkpoint_choose(choosing->files, choosing->folder, choosing->world,
                               &choosing->manifest, &choosing->damaged, &choosing->error);
    if (rv != TR_ENOENT)
        return rv;
    choosing->error = (struct error){ 0 }; /* what there is none of is begun anew */
    return 0;
}

/* Where everybody is by rank; false: one of them is not here any more. */
static bool list_reducers(const struct coordinator *state, struct address *list)
{
    bool all = true;
    for (uint32_t rank = 0; rank < state->world; rank++) {
        list[rank] = coordinator_member_address(state, MSG_ROLE_REDUCER, rank);
        all = all && !address_is_none(list[rank]);
    }
    return all;
}

static void answer_restore(struct actor *self, struct message *request, uint32_t rank,
                           const struct checkpoint_manifest *manifest)
{
    struct coordinator *state = actor_state(self);
    struct message *reply = message_create(self, MSG_RESTORED);
    struct address *list = reply == NULL
                               ? NULL
                               : message_body_alloc(self, reply, state->world * sizeof *list);
    if (list == NULL) {
        message_release(self, reply);
        actor_refuse(self, request, TR_ENOMEM);
        return;
    }
    struct msg_restored *head = message_head(reply);
    *head = (struct msg_restored){ .step = manifest->step,
                                   .found = manifest->world != 0,
                                   .era = state->era,
                                   .world = state->world,
                                   .saved = manifest->era,
                                   .ended = state->ended };
    if (head->found) {
        head->bytes = manifest->parts[rank].bytes;
        head->crc32c = manifest->parts[rank].crc32c;
    }
    (void)list_reducers(state, list);
    actor_reply(self, request, reply);
}

static void fail_restores(struct actor *self, const struct error *error)
{
    struct coordinator *state = actor_state(self);
    for (uint32_t rank = 0; rank < state->world; rank++) {
        struct message *request = release_restore(state, rank);
        if (request != NULL)
            error_reply_send(self, request, error);
    }
}

static void begin_era(struct actor *self, const struct checkpoint_manifest *manifest,
                      const struct error *damaged)
{
    struct coordinator *state = actor_state(self);
    uint32_t after = manifest->era + 1;
    /* A coordinator that was started again may know of fewer eras than the checkpoint does. */
    state->era = state->era > after ? state->era : after;
    state->entered = true;
    job_progress_note_era(state->options->progress, state->era, manifest->world != 0,
                          manifest->step);
    /* Requests of ranks that said they were done before any era was entered: they are of the past,
     * and the timer that this may start is then stopped, since all are back. */
    coordinator_end_dones(self);
    coordinator_all_back(state);
    if (damaged->code != 0)
        log_write(actor_node(self), LOG_LEVEL_ERROR, "job", "a checkpoint was skipped: %s",
                  damaged->text);
    /* The answers come behind the era, which they carry; the ranks ask in it in a later turn. */
    for (uint32_t rank = 0; rank < state->world; rank++) {
        struct message *request = release_restore(state, rank);
        if (request != NULL)
            answer_restore(self, request, rank, manifest);
    }
    actor_failpoint(self, FAILPOINT_ERA_BEGUN);
}

/* The checkpoint is known from which the next era begins. */
static void go_on_from(struct actor *self, const struct checkpoint_manifest *manifest,
                       const struct error *damaged, const struct error *error)
{
    struct coordinator *state = actor_state(self);
    /* A member that left meanwhile joins again, and then the search starts again. */
    if (state->num_restores != state->world)
        return;
    if (error->code == 0)
        begin_era(self, manifest, damaged);
    else
        fail_restores(self, error);
}

static void choose_again(struct actor *self, void *arg)
{
    (void)arg;
    restore_all(self);
}

/* True: the folder of this host could not be read, which says nothing of what there is, and another
 * look follows while there is time. A rank that left meanwhile begins the next look by its
 * return. */
static bool is_put_off(struct actor *self, const struct error *error)
{
    struct coordinator *state = actor_state(self);
    uint64_t now_ns = actor_now_ns(self);
    bool again = checkpoint_may_be_read(error->code);
    if (again && state->choose_until_ns == 0)
        state->choose_until_ns = now_ns + coordinator_search_ns(state);
    if (!again || now_ns + CHOOSE_AGAIN_NS >= state->choose_until_ns) {
        state->choose_until_ns = 0;
        return false;
    }
    log_write(actor_node(self), LOG_LEVEL_WARN, "job",
              "no checkpoint has been found yet, but there may be one: %s; the search goes on",
              error->text);
    timer_start(self, &state->choose_again, now_ns + CHOOSE_AGAIN_NS, choose_again, state);
    return true;
}

static void chosen_here(struct actor *self, struct job *job, int status)
{
    struct coordinator *state = actor_state(self);
    struct choosing *choosing = job->arg;
    state->choosing = NULL; /* first: where a rank left meanwhile, its return begins another */
    if (choosing->error.code == 0 && status != 0)
        error_set(&choosing->error, status, "looking for a checkpoint: %s", tr_strerror(status));
    if (status != TR_ECANCELED && !is_put_off(self, &choosing->error))
        go_on_from(self, &choosing->manifest, &choosing->damaged, &choosing->error);
    /* The manifest is freed last: the answers to the ranks are made of it. */
    checkpoint_manifest_fini(&choosing->manifest);
    free(choosing->folder);
    free(choosing);
}

/* Looks in this host's folder alone. */
static int choose_here(struct actor *self)
{
    struct coordinator *state = actor_state(self);
    struct choosing *choosing = calloc(1, sizeof *choosing);
    if (choosing == NULL)
        return TR_ENOMEM;
    choosing->folder = checkpoint_folder(state->checkpoints, state->options->host);
    if (choosing->folder == NULL) {
        free(choosing);
        return TR_ENOMEM;
    }
    choosing->files = state->files;
    choosing->world = state->world;
    choosing->job = (struct job){ .piece = find_newest, .done = chosen_here, .arg = choosing };
    /* The search is noted before the crew has it: while it lasts no other begins. */
    state->choosing = choosing;
    crew_submit(self, &choosing->job);
    return 0;
}

static void era_choose(struct actor *self)
{
    struct coordinator *state = actor_state(self);
    const struct checkpoint_manifest none = { 0 };
    struct error error = { 0 };
    int rv = 0;
    actor_failpoint(self, FAILPOINT_ERA_CHOOSING);
    /* The folder is asked for before the hosts: without one there is nothing to look for on any. */
    if (state->checkpoints == NULL)
        begin_era(self, &none, &error);
    else if (coordinator_second_node(state) != PLAN_NO_NODE)
        rv = coordinator_search(self, go_on_from);
    else
        rv = choose_here(self);
    if (rv != 0) {
        error_set(&error, rv, "the coordinator has no memory to look for a checkpoint");
        fail_restores(self, &error);
    }
}

/* Restores every rank, once all have asked and the crew makes no checkpoint of an era that is over:
 * that one would be chosen or not by chance, and take away an older one that was. */
static void restore_all(struct actor *self)
{
    const struct coordinator *state = actor_state(self);
    if (state->world != 0 && state->num_restores == state->world && state->choosing == NULL &&
        state->search == NULL && state->num_abandoned == 0)
        era_choose(self);
}

int coordinator_restore(struct actor *self, struct message *request, struct error *error)
{
    struct coordinator *state = actor_state(self);
    const struct msg_restore *head = message_head(request);
    struct address from = request->frame.from;
    /* A request that is wrong is refused before the era ends: it ends nobody's work. The number of
     * ranks is known before a rank is compared with it. */
    int rv = set_world(state, head->world, error);
    if (rv != 0)
        return rv;
    uint32_t rank = head->rank;
    if (rank >= state->world ||
        !address_equal(coordinator_member_address(state, MSG_ROLE_REDUCER, rank), from))
        return error_set(error, TR_EINVAL, "rank %" PRIu32 " asks to be restored, but did not join",
                         rank);
    rv = coordinator_keep_folder(state, request, head->keep, error);
    if (rv != 0)
        return rv;
    /* The era ends even where there is no memory for the request: the rank has left it by asking,
     * and asks again. */
    if (state->entered)
        end_era(self);
    const struct sequenced_id id = id_of(rank);
    rv = sequenced_take(&state->clients, self, &id, request, error);
    if (rv < 0)
        return rv;
    /* The wish counts only when the table has the request: a rank that is counted can be
     * answered. */
    state->num_restores += !state->restores[rank];
    state->restores[rank] = true;
    restore_all(self);
    return 0;
}

void coordinator_free_restores(struct coordinator *state)
{
    assert(state->choosing == NULL && state->search == NULL);
    free(state->restores);
    free(state->checkpoints);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: every rank reports its part of one, then the manifest is written, then all hear.
 *
 * A rank without a part reports that too. The record waits for all ranks even then, so each of them
 * gets the same answer: there is this checkpoint, or there is none. A rank that asks again with the
 * number of a save that failed has missed the answer; a higher number is another try.
 *
 * The table of clients recognizes repeats: what a rank reported first counts. The last checkpoint's
 * record stays for those that it knows nothing of. A report of a step that this coordinator knows
 * nothing of may be a repeat of one that it committed in a past life, so the folder is asked first.
 * A folder that cannot be read now is asked again for a while: to take it for one that has nothing
 * would be to wait for ranks that have heard of the checkpoint and go on.
 * Among several hosts the manifest is then brought to a second one, however long that takes; the
 * others are notified of it.
 *
 *     LOOKING -> GATHERING -> COMMITTING -> [COPYING -> UNDOING or RETIRING] -> ENDED
 *         \-> [COPYING -> [RETIRING]] -> ENDED, where the folder has it already
 *
 * Invariants: a record only goes that way, and its outcome (`error`) is settled when it has ENDED:
 * reports that come later get the same. One piece of work at most is under way (`working`), and
 * owns a record whose era is over. A manifest is written only when all ranks have reported and none
 * of them a failure; it is committed here before it is copied, so a checkpoint that any rank heard
 * of is in this folder; one that the second host refused is taken back before a rank hears of that,
 * or, where this disk takes no writes either, is made after all.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/cluster/plan.h"
#include "actors/common/error_reply.h"
#include "actors/common/job_progress.h"
#include "actors/common/part_call.h"
#include "actors/job/checkpoint.h"
#include "actors/job/checkpoint_store.h"
#include "actors/job/coordinator_state.h"
#include "runtime/core/crew.h"
#include "runtime/core/log.h"

enum stage { LOOKING, GATHERING, COMMITTING, COPYING, UNDOING, RETIRING, ENDED };

/* A store that writes to a slow disk; one that died is a DOWN long before. */
#define ANSWER_NS UINT64_C(10000000000)
/* A folder that cannot be read now is read again so much later, and altogether for so long: a disk
 * that is broken fails the save, and training goes on. */
#define LOOK_AGAIN_NS UINT64_C(2000000000)
#define LOOK_NS UINT64_C(30000000000)
/* A second host that cannot be notified now is notified a little later. */
#define AGAIN_NS UINT64_C(20000000)

struct saving {
    struct job job;
    enum stage stage;
    bool working;           /* the job's, or a call's; frees it when abandoned */
    bool abandoned;         /* its era is over */
    coordinator_then *then; /* of one that is abandoned: once the crew has ended its work */
    struct files *files;
    char *folder, *given; /* here, and as other hosts are given it */
    uint32_t second;      /* node; PLAN_NO_NODE: there is none */
    struct timer again;
    uint64_t look_until_ns; /* when LOOKING: the last time to read again; 0: it never failed */
    struct error unread;    /* the crew's: why the folder could not be read */
    uint32_t keep;
    struct checkpoint_manifest before;   /* committed before this was asked for; world 0: none */
    struct checkpoint_manifest manifest; /* of the parts that were reported */
    struct error error;                  /* when ENDED: code 0 or why there is none */
    uint64_t sequence;                   /* of the ranks' saves */
    uint32_t reported;
    uint64_t *sequences; /* [world]: of the ranks' reports; 0: has not reported */
};

static void saving_destroy(struct saving *saving)
{
    free(saving->sequences);
    free(saving->folder);
    free(saving->given);
    timer_stop(&saving->again);
    checkpoint_manifest_fini(&saving->before);
    checkpoint_manifest_fini(&saving->manifest);
    free(saving);
}

static struct sequenced_id id_of(uint32_t rank, uint32_t era, uint64_t sequence)
{
    return (struct sequenced_id){ { MSG_CHECKPOINT_PART, rank, 0 }, era, sequence };
}

static void saving_answer(struct actor *self, struct saving *saving, uint32_t rank)
{
    struct sequenced *clients = &((struct coordinator *)actor_state(self))->clients;
    const struct sequenced_id id = id_of(rank, saving->manifest.era, saving->sequences[rank]);
    struct message *reply = saving->error.code == 0 ? message_create(self, MSG_CHECKPOINT_DONE)
                                                    : NULL;
    if (reply == NULL) {
        /* Nothing is kept in the table here: a repeat comes as new, and finds the record. */
        struct message *request = sequenced_release(clients, &id);
        if (request != NULL && saving->error.code != 0)
            error_reply_send(self, request, &saving->error);
        else if (request != NULL)
            actor_refuse(self, request, TR_ENOMEM);
        return;
    }
    *(struct msg_checkpoint_done *)message_head(reply) = (struct msg_checkpoint_done){
        .step = saving->manifest.step, .era = saving->manifest.era, .sequence = saving->sequence
    };
    sequenced_answer(clients, self, &id, reply);
}

static void saving_end(struct actor *self, struct saving *saving)
{
    const struct coordinator *state = actor_state(self);
    /* The record has ended in the turn in which ranks are answered, be that before or after it: a
     * report that comes later gets the same outcome, and changes nothing. */
    saving->stage = ENDED;
    if (saving->error.code == 0)
        job_progress_note_checkpoint(state->options->progress, saving->manifest.step,
                                     actor_now_ns(self));
    for (uint32_t rank = 0; rank < saving->manifest.world; rank++)
        saving_answer(self, saving, rank);
    actor_failpoint(self, FAILPOINT_CHECKPOINT_ANSWERED);
}

/* Looks whether it was committed before this coordinator was started. Fails where that cannot be
 * said. */
static int saving_look(struct job *job)
{
    struct saving *saving = job->arg;
    struct checkpoint_manifest *before = &saving->before;
    int rv = checkpoint_find(saving->files, saving->folder, saving->manifest.step, before,
                             &saving->unread);
    if (rv == 0 && (before->era != saving->manifest.era || before->world != saving->manifest.world))
        checkpoint_manifest_fini(before);
    return checkpoint_is_answer(rv) ? 0 : rv;
}

static int saving_commit(struct job *job)
{
    struct saving *saving = job->arg;
    /* Perhaps no part is of this host. The second host may refuse the manifest, which is then taken
     * back: those before it go when it has not. */
    if (saving->second != PLAN_NO_NODE)
        return checkpoint_receive(saving->files, saving->folder, &saving->manifest,
                                  CHECKPOINT_KEEP_ALL, &saving->error);
    return checkpoint_commit(saving->files, saving->folder, &saving->manifest, saving->keep,
                             &saving->error);
}

/* Best effort: where the disk takes nothing, not even that, it stays, short of the parts that ranks
 * drop now, and is passed over. */
static int saving_undo(struct job *job)
{
    struct saving *saving = job->arg;
    return checkpoint_unmake(saving->files, saving->folder, &saving->manifest) ? 0 : TR_EIO;
}

/* Two hosts have the manifest: older checkpoints go from this one too. */
static int saving_retire(struct job *job)
{
    struct saving *saving = job->arg;
    checkpoint_retire(saving->files, saving->folder, saving->manifest.step, saving->keep);
    return 0;
}

static void copy_manifest(struct actor *self, void *arg);
static void saving_work(struct actor *self, struct saving *saving, int (*piece)(struct job *));

static void warn_of_one_manifest(struct actor *self, const struct saving *saving,
                                 const struct error *error)
{
    log_write(actor_node(self), LOG_LEVEL_WARN, "job",
              "the manifest of the checkpoint of step %" PRIu64
              " could not be copied to a second host: %s",
              saving->manifest.step, error->text);
}

/* The second host refused the manifest. A checkpoint that a coordinator before this one committed
 * may be known to ranks as made, so it is. One that this one committed is taken back before any
 * rank hears that it failed: ranks drop their parts then, and the coordinator after this one would
 * find it and answer those that have no answer yet that it was made. */
static void manifest_refused(struct actor *self, struct saving *saving, int status,
                             const struct error *error)
{
    if (saving->before.world != 0) {
        warn_of_one_manifest(self, saving, error);
        saving_end(self, saving);
        return;
    }
    /* The error and the stage are set before the work, whose end answers with them. */
    error_set(&saving->error, status, "a checkpoint's manifest on a second host: %s", error->text);
    saving->stage = UNDOING;
    saving_work(self, saving, saving_undo);
}

static void manifest_copied(struct actor *self, void *arg, int status, struct message *reply,
                            const struct error *error)
{
    struct saving *saving = arg;
    saving->working = false;
    message_release(self, reply);
    /* The record of an era that is over is asked for first: even where self ends it is this call's
     * to free. Then the end of self, which counts among what may pass, and after which nothing is
     * begun. */
    if (saving->abandoned) {
        saving_destroy(saving);
    } else if (status == TR_ECANCELED) { /* self ends */
        return;
    } else if (part_call_is_transient(status)) {
        timer_start(self, &saving->again, actor_now_ns(self) + AGAIN_NS, copy_manifest, saving);
    } else if (status != 0) {
        manifest_refused(self, saving, status, error);
    } else {
        actor_failpoint(self, FAILPOINT_CHECKPOINT_COPIED);
        saving->stage = RETIRING;
        saving_work(self, saving, saving_retire);
    }
}

static void copy_manifest(struct actor *self, void *arg)
{
    struct coordinator *state = actor_state(self);
    struct saving *saving = arg;
    struct message *request = checkpoint_store_commit(self, saving->given, saving->keep,
                                                      &saving->manifest);
    saving->stage = COPYING;
    actor_failpoint(self, FAILPOINT_CHECKPOINT_COPYING);
    /* The answer comes in a later turn, so the mark is set before it. */
    saving->working = request != NULL &&
                      checkpoint_store_call(self, &state->checkpoint_store_calls, saving->second,
                                            request, actor_now_ns(self) + ANSWER_NS,
                                            manifest_copied, saving) == 0;
    if (!saving->working)
        timer_start(self, &saving->again, actor_now_ns(self) + AGAIN_NS, copy_manifest, saving);
}

/* True: ranks heard of this one that it failed, from a coordinator before this one. */
static bool is_refused(const struct coordinator *state, const struct saving *saving)
{
    const struct refused_save *refused = &state->refused;
    return refused->status < 0 && refused->era == saving->manifest.era &&
           refused->step == saving->manifest.step && refused->sequence == saving->sequence;
}

static void saving_refuse(const struct coordinator *state, struct saving *saving)
{
    error_set(&saving->error, state->refused.status,
              "the checkpoint of step %" PRIu64 " could not "
              "be written: %s",
              saving->manifest.step, tr_strerror(state->refused.status));
}

/* All ranks have reported, and the folder is known not to have this checkpoint. */
static void make_checkpoint(struct actor *self, struct saving *saving)
{
    actor_failpoint(self, FAILPOINT_CHECKPOINT_PARTS_THERE);
    /* A failure that a rank reported comes first: no manifest names a part that is not there. */
    if (saving->error.code != 0) {
        saving_end(self, saving);
    } else {
        saving->stage = COMMITTING;
        saving_work(self, saving, saving_commit);
    }
}

static void look_once_more(struct actor *self, void *arg)
{
    saving_work(self, arg, saving_look);
}

/* False: the look failed for good, or for too long. */
static bool look_later(struct actor *self, struct saving *saving, int status)
{
    uint64_t now_ns = actor_now_ns(self);
    if (saving->look_until_ns == 0)
        saving->look_until_ns = now_ns + LOOK_NS;
    if (!checkpoint_may_be_read(status) || now_ns >= saving->look_until_ns)
        return false;
    timer_start(self, &saving->again, now_ns + LOOK_AGAIN_NS, look_once_more, saving);
    return true;
}

static void saving_worked(struct actor *self, struct job *job, int status)
{
    struct coordinator *state = actor_state(self);
    struct saving *saving = job->arg;
    saving->working = false;
    /* An era that is over comes before a cancelled job: where self ends, too, the record is this
     * job's to free. */
    if (saving->abandoned) {
        coordinator_then *then = saving->then;
        saving_destroy(saving);
        state->num_abandoned--; /* before `then`, which asks for it */
        if (status != TR_ECANCELED)
            then(self);
        return;
    }
    if (status == TR_ECANCELED) /* self ends */
        return;
    /* Taking back, or retiring older ones, comes before the status is looked at: the outcome is that
     * of the save, which was known before. What could not be taken back is made, for it would be
     * found. */
    if (saving->stage == UNDOING || saving->stage == RETIRING) {
        bool made = saving->stage == RETIRING;
        if (saving->stage == UNDOING && status != 0) {
            warn_of_one_manifest(self, saving, &saving->error);
            saving->error = (struct error){ 0 };
        }
        /* Ranks wait for the answer, other hosts for nothing: two have the manifest already. */
        saving_end(self, saving);
        if (made)
            coordinator_spread(self, saving->given, saving->keep, &saving->manifest, true);
        return;
    }
    /* A record that looks again stays as it is: reports that come meanwhile are noted in it. */
    if (status != 0 && saving->stage == LOOKING && look_later(self, saving, status))
        return;
    if (status != 0 && saving->error.code == 0)
        error_set(&saving->error, status, "a checkpoint: %s",
                  saving->stage == LOOKING ? saving->unread.text : tr_strerror(status));
    /* A checkpoint that was found here may not be on the second host yet. */
    bool made = status == 0 && (saving->stage == COMMITTING || saving->before.world != 0);
    if (made)
        saving->error = (struct error){ 0 }; /* a rank that could not repeat its part has one */
    /* The parts that were committed take the place of those that are reported before the manifest
     * is copied: it is that of the checkpoint. */
    if (made && saving->stage == LOOKING) {
        struct checkpoint_part *reported = saving->manifest.parts;
        saving->manifest.parts = saving->before.parts;
        saving->before.parts = reported;
    }
    if (made && saving->second != PLAN_NO_NODE)
        copy_manifest(self, saving);
    else if (status != 0 || made)
        saving_end(self, saving);
    else
        saving->stage = GATHERING;
    /* A failure that ranks heard of before this coordinator counts, whatever all report by now:
     * else some would have this checkpoint and others not. */
    if (saving->stage == GATHERING && is_refused(state, saving)) {
        saving_refuse(state, saving);
        saving_end(self, saving);
    } else if (saving->stage == GATHERING && saving->reported == saving->manifest.world) {
        make_checkpoint(self, saving);
    }
}

static void saving_work(struct actor *self, struct saving *saving, int (*piece)(struct job *))
{
    saving->job = (struct job){ .piece = piece, .done = saving_worked, .arg = saving };
    saving->working = true;
    crew_submit(self, &saving->job);
}

static struct saving *saving_create(struct coordinator *state,
                                    const struct msg_checkpoint_part *head)
{
    struct saving *saving = calloc(1, sizeof *saving);
    if (saving == NULL)
        return NULL;
    saving->files = state->files;
    saving->folder = checkpoint_folder(state->checkpoints, state->options->host);
    saving->given = strdup(state->checkpoints);
    saving->second = coordinator_second_node(state);
    saving->keep = state->keep;
    saving->sequence = head->sequence;
    saving->manifest = (struct checkpoint_manifest){ head->step, head->era, head->world, NULL };
    saving->manifest.parts = calloc(head->world, sizeof *saving->manifest.parts);
    saving->sequences = calloc(head->world, sizeof *saving->sequences);
    if (saving->folder != NULL && saving->given != NULL && saving->manifest.parts != NULL &&
        saving->sequences != NULL)
        return saving;
    free(saving->folder);
    free(saving->given);
    free(saving->manifest.parts);
    free(saving->sequences);
    free(saving);
    return NULL;
}

static int check_part(const struct coordinator *state, const struct msg_checkpoint_part *head,
                      struct error *error)
{
    if (state->checkpoints == NULL)
        return error_set(error, TR_EINVAL, "no folder for checkpoints was set");
    /* The era comes before the record: a report of an older one would differ from the present
     * record, and be refused for good instead of rolled back. */
    if (head->era == 0 || head->era != state->era)
        return error_set(error, TR_EROLLBACK, "era %" PRIu32 " is over", head->era);
    if (head->world == 0 || head->world > CHECKPOINT_WORLD_MAX || head->rank >= head->world ||
        head->sequence == 0)
        return error_set(error, TR_ERANGE,
                         "rank %" PRIu32 " of %" PRIu32 " saves a part, its "
                         "save %" PRIu64,
                         head->rank, head->world, head->sequence);
    const struct saving *saving = state->saving;
    bool same = saving != NULL && saving->manifest.step == head->step;
    if (saving != NULL &&
        (saving->manifest.world != head->world || (!same && saving->stage != ENDED)))
        return error_set(error, TR_EMISMATCH,
                         "rank %" PRIu32 " saves step %" PRIu64 " of %" PRIu32
                         " trainers while others save step %" PRIu64 " of %" PRIu32,
                         head->rank, head->step, head->world, saving->manifest.step,
                         saving->manifest.world);
    return 0;
}

/* The record of that step: the present one, or a new one where the last has ended. */
static int find_saving(struct actor *self, const struct msg_checkpoint_part *head,
                       struct saving **out, struct error *error)
{
    struct coordinator *state = actor_state(self);
    struct saving *saving = state->saving;
    /* One that failed may be tried again; where it failed in passing, ranks do so by themselves. */
    bool again = saving != NULL && saving->stage == ENDED && saving->error.code != 0 &&
                 (head->sequence > saving->sequence || part_call_is_transient(saving->error.code));
    if (saving != NULL && saving->manifest.step == head->step && !again) {
        *out = saving;
        return 0;
    }
    /* The new record is made before the last is given up: without memory for it that one still
     * answers its repeats. */
    *out = saving_create(state, head);
    if (*out == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for a checkpoint");
    if (saving != NULL)
        saving_destroy(saving);
    state->saving = *out;
    saving_work(self, *out, saving_look);
    return 0;
}

/* A failure after which ranks would ask again is no answer to them. */
static void note_failure(struct saving *saving, const struct msg_checkpoint_part *head)
{
    int status = head->status;
    bool is_answer = !part_call_is_transient(status) && status != TR_EROLLBACK;
    error_set(&saving->error, is_answer ? status : TR_EIO,
              "trainer %" PRIu32 " could not write "
              "its part of the checkpoint of step %" PRIu64 ": %s",
              head->rank, head->step, tr_strerror(status));
}

/* A rank's first report of this save. */
static void saving_report(struct actor *self, struct saving *saving,
                          const struct msg_checkpoint_part *head)
{
    /* The number is noted before any answer, which goes to the request that has it. */
    saving->reported += saving->sequences[head->rank] == 0;
    saving->sequences[head->rank] = head->sequence;
    if (saving->stage == ENDED) {
        saving_answer(self, saving, head->rank);
        return;
    }
    /* Parts that a past life committed are as they are. */
    if (saving->stage == LOOKING || saving->stage == GATHERING) {
        saving->manifest.parts[head->rank] = (struct checkpoint_part){ head->bytes, head->crc32c };
        if (head->status < 0 && saving->error.code == 0)
            note_failure(saving, head);
    }
    /* The part is taken before the count is compared: with the last rank the manifest is
     * written. */
    if (saving->stage == GATHERING && saving->reported == saving->manifest.world)
        make_checkpoint(self, saving);
}

int coordinator_keep_folder(struct coordinator *state, const struct message *request, uint32_t keep,
                            struct error *error)
{
    size_t size = request->frame.body_bytes;
    state->keep = keep;
    if (size == 0)
        return 0;
    /* The first folder that is given is kept before it is compared, so every other is compared with
     * that. */
    if (state->checkpoints == NULL)
        state->checkpoints = strndup(message_body(request), size);
    if (state->checkpoints == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for a path");
    if (strlen(state->checkpoints) != size ||
        memcmp(state->checkpoints, message_body(request), size) != 0)
        return error_set(error, TR_EMISMATCH,
                         "process %" PRIu32 " keeps checkpoints in %.*s, "
                         "others in %s; give all trainers the same folder",
                         request->frame.from.node, (int)size, (const char *)message_body(request),
                         state->checkpoints);
    return 0;
}

int coordinator_save_part(struct actor *self, struct message *request, struct error *error)
{
    struct coordinator *state = actor_state(self);
    const struct msg_checkpoint_part *head = message_head(request);
    const struct sequenced_id id = id_of(head->rank, head->era, head->sequence);
    struct saving *saving;
    /* The folder is kept before the check, which asks for it; the table takes the request after
     * that, so that it holds nothing of an era that is over, or of a rank that is none. */
    int rv = coordinator_keep_folder(state, request, head->keep, error);
    if (rv == 0)
        rv = check_part(state, head, error);
    if (rv == 0)
        rv = sequenced_take(&state->clients, self, &id, request, error);
    if (rv != SEQUENCED_NEW)
        return rv < 0 ? rv : 0;
    rv = find_saving(self, head, &saving, error);
    if (rv == 0)
        saving_report(self, saving, head);
    else
        (void)sequenced_release(&state->clients, &id); /* the caller answers it */
    return rv;
}

/* The coordinator before this one answered another rank so: nobody has that checkpoint,
 * and no report of that rank will come. */
int coordinator_save_known(struct actor *self, struct message *message, struct error *error)
{
    struct coordinator *state = actor_state(self);
    const struct msg_checkpoint_done *head = message_head(message);
    struct saving *saving = state->saving;
    const struct refused_save *known = &state->refused;
    /* A rank that has not had the answer to the newest knows of the one before that alone. */
    bool newer = known->era != head->era || head->sequence > known->sequence;
    if (head->status < 0 && head->era != 0 && head->era == state->era && newer)
        state->refused = (struct refused_save){ head->step, head->sequence, head->era,
                                                head->status };
    /* The failure is noted before the record is compared with it; a record that begins later is
     * too. */
    if (saving != NULL && saving->stage == GATHERING && is_refused(state, saving)) {
        saving_refuse(state, saving);
        saving_end(self, saving);
    }
    (void)error;
    message_release(self, message);
    return 0;
}

void coordinator_end_saving(struct actor *self, coordinator_then *then)
{
    struct coordinator *state = actor_state(self);
    struct saving *saving = state->saving;
    if (saving == NULL)
        return;
    state->saving = NULL;
    saving->then = then;
    saving->abandoned = saving->working;
    /* A copy is not counted, for no era waits for it: the manifest is here, where the next one
     * finds it. */
    state->num_abandoned += saving->abandoned && saving->stage != COPYING;
    if (!saving->working)
        saving_destroy(saving);
}

void coordinator_free_saving(struct coordinator *state)
{
    if (state->saving == NULL)
        return;
    assert(!state->saving->working);
    saving_destroy(state->saving);
}

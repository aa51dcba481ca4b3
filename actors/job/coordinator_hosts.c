/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a cluster whose hosts may share no folder: what they have is asked of their
 * checkpoint stores, in the same way where they do share one.
 *
 * The newest manifest that any host has is taken when each of its parts is whole on the host of its
 * rank or on the one that keeps copies for it; else the next older one. Then every host is given
 * the manifest, so that what it missed while it was away is made good.
 *
 * A search is rounds of (all manifests, then all parts of the newest), each below the step of the
 * one before, so it ends. `pending` counts the calls of a phase and, while they are being made, the
 * phase itself: an answer cannot end it before the last has been asked. All calls of a phase are
 * answered before its outcome is judged, so nothing of a search is under way when it is freed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/cluster/plan.h"
#include "actors/job/checkpoint_store.h"
#include "actors/job/coordinator_state.h"

/* A host that does not answer in this time is done without. */
#define ANSWER_NS UINT64_C(10000000000)

struct look {
    struct search *search;
    uint32_t rank;
    bool second; /* the host that keeps copies is asked */
};

struct search {
    coordinator_chosen *chosen;
    char *folder;
    uint32_t world, pending, answers;
    uint64_t before; /* that step */
    bool cancelled;
    struct checkpoint_manifest best;
    struct look *looks; /* [world] */
    uint32_t lost;      /* a rank whose part is nowhere; world: none */
    struct error damaged, error;
};

uint32_t coordinator_second_node(const struct coordinator *state)
{
    const struct plan *plan = state->options->plan;
    if (plan == NULL || plan->num_hosts < 2)
        return PLAN_NO_NODE;
    return plan_second_node(plan, plan->processes[state->options->process].host);
}

static void ignore_answer(struct actor *self, void *arg, int status, struct message *reply,
                          const struct error *error)
{
    (void)arg, (void)status, (void)error;
    message_release(self, reply);
}

void coordinator_spread(struct actor *self, const char *folder, uint32_t keep,
                        const struct checkpoint_manifest *manifest)
{
    struct coordinator *state = actor_state(self);
    const struct plan *plan = state->options->plan;
    for (uint32_t host = 0; host < plan->num_hosts; host++) {
        uint32_t node = plan_host_node(plan, host);
        struct message *request = node == PLAN_NO_NODE
                                      ? NULL
                                      : checkpoint_store_commit(self, folder, keep, manifest);
        if (request != NULL) /* best effort: the next manifest makes good what is missed */
            (void)checkpoint_store_call(self, &state->checkpoint_store_calls, node, request,
                                        actor_now_ns(self) + ANSWER_NS, ignore_answer, NULL);
    }
}

static void finish_search(struct actor *self, struct search *search)
{
    struct coordinator *state = actor_state(self);
    state->search = NULL; /* first: what follows may begin another */
    if (!search->cancelled)
        search->chosen(self, &search->best, &search->damaged, &search->error);
    /* The ranks are answered before the hosts are given the manifest: ranks wait, hosts do not. */
    if (!search->cancelled && search->error.code == 0 && search->best.world != 0)
        coordinator_spread(self, search->folder, state->keep, &search->best);
    checkpoint_manifest_fini(&search->best);
    free(search->looks);
    free(search->folder);
    free(search);
}

static int no_memory(struct search *search)
{
    return error_set(&search->error, TR_ENOMEM,
                     "the coordinator has no memory to look for a "
                     "checkpoint");
}

static void look_for_parts(struct actor *self, struct search *search);
static void find_manifests(struct actor *self, struct search *search);

/* One that was asked has answered, or will not. */
static void count_down(struct actor *self, struct search *search,
                       void (*next)(struct actor *self, struct search *search))
{
    if (--search->pending > 0)
        return;
    /* An end of self, or an error, ends the search before the next phase, which would stand on half
     * of the answers. */
    if (search->cancelled || search->error.code != 0)
        finish_search(self, search);
    else
        next(self, search);
}

/* Every part was looked for. */
static void judge_parts(struct actor *self, struct search *search)
{
    if (search->lost == search->world) {
        finish_search(self, search);
        return;
    }
    if (search->damaged.code == 0)
        error_set(&search->damaged, TR_EFORMAT,
                  "%s: the checkpoint of step %" PRIu64 ": the part "
                  "of trainer %" PRIu32 " is whole on no host that answers",
                  search->folder, search->best.step, search->lost);
    /* The step is taken from the manifest before that is freed: the next round is below it. */
    search->before = search->best.step;
    checkpoint_manifest_fini(&search->best);
    find_manifests(self, search);
}

static void part_answered(struct actor *self, void *arg, int status, struct message *reply,
                          const struct error *error);

static void look_for_part(struct actor *self, struct look *look)
{
    struct search *search = look->search;
    struct coordinator *state = actor_state(self);
    const struct plan *plan = state->options->plan;
    uint32_t host = plan->processes[plan_trainer_node(plan, look->rank)].host;
    uint32_t node = look->second ? plan_second_node(plan, host) : plan_host_node(plan, host);
    struct message *request = checkpoint_store_look(self, search->folder, search->best.step,
                                                    search->best.era, look->rank,
                                                    &search->best.parts[look->rank]);
    int rv = request == NULL
                 ? TR_ENOMEM
                 : checkpoint_store_call(self, &state->checkpoint_store_calls, node, request,
                                         actor_now_ns(self) + ANSWER_NS, part_answered, look);
    if (rv == 0)
        return;
    /* The error is set before the question is counted as answered, since the last one ends the
     * phase by it. */
    no_memory(search);
    count_down(self, search, judge_parts);
}

static void part_answered(struct actor *self, void *arg, int status, struct message *reply,
                          const struct error *error)
{
    (void)error;
    struct look *here = arg;
    struct search *search = here->search;
    bool found = status == 0 && reply->frame.kind == MSG_CHECKPOINT_SEEN &&
                 ((const struct msg_checkpoint_seen *)(const void *)reply->head)->found != 0;
    message_release(self, reply);
    search->cancelled = search->cancelled || status == TR_ECANCELED;
    /* The host that keeps copies is asked only where that of the rank has no whole part: most
     * have. */
    if (!found && !here->second && !search->cancelled) {
        here->second = true;
        look_for_part(self, here);
        return;
    }
    if (!found)
        search->lost = here->rank;
    count_down(self, search, judge_parts);
}

static void look_for_parts(struct actor *self, struct search *search)
{
    /* The whole count is set before the first question, and one more for this phase: no answer ends
     * it early. */
    search->lost = search->world;
    search->pending = search->world + 1;
    for (uint32_t rank = 0; rank < search->world; rank++) {
        search->looks[rank] = (struct look){ search, rank, false };
        look_for_part(self, &search->looks[rank]);
    }
    count_down(self, search, judge_parts);
}

/* Every host that is up has said what it has. */
static void judge_manifests(struct actor *self, struct search *search)
{
    /* Silence is asked for before an empty answer: a group whose hosts are all away would begin
     * anew and lose what they keep. */
    if (search->answers == 0)
        error_set(&search->error, TR_EPEERDOWN, "no host that keeps checkpoints answers");
    else if (search->best.world != 0 && search->best.world != search->world)
        error_set(&search->error, TR_EMISMATCH,
                  "%s: the checkpoint of step %" PRIu64 " was saved "
                  "by %" PRIu32 " trainers; start as many, or use another folder",
                  search->folder, search->best.step, search->best.world);
    if (search->error.code != 0 || search->best.world == 0)
        finish_search(self, search);
    else
        look_for_parts(self, search);
}

static bool is_newer(const struct checkpoint_manifest *a, const struct checkpoint_manifest *b)
{
    return b->world == 0 || a->step > b->step || (a->step == b->step && a->era > b->era);
}

static void manifest_answered(struct actor *self, void *arg, int status, struct message *reply,
                              const struct error *error)
{
    (void)error;
    struct search *search = arg;
    struct checkpoint_manifest manifest = { 0 };
    int rv = status == 0 ? checkpoint_store_read_found(reply, &manifest) : status;
    message_release(self, reply);
    search->answers += rv == 0 || rv == TR_ENOENT;
    search->cancelled = search->cancelled || status == TR_ECANCELED;
    if (rv == TR_ENOMEM)
        no_memory(search);
    /* The manifests change places, so that the older one of the two is freed below. */
    if (rv == 0 && manifest.step < search->before && is_newer(&manifest, &search->best)) {
        struct checkpoint_manifest older = search->best;
        search->best = manifest;
        manifest = older;
    }
    checkpoint_manifest_fini(&manifest);
    count_down(self, search, judge_manifests);
}

static void find_manifests(struct actor *self, struct search *search)
{
    struct coordinator *state = actor_state(self);
    const struct plan *plan = state->options->plan;
    search->pending = 1;
    search->answers = 0;
    for (uint32_t host = 0; host < plan->num_hosts; host++) {
        uint32_t node = plan_host_node(plan, host);
        if (node == PLAN_NO_NODE)
            continue;
        struct message *request = checkpoint_store_request(self, MSG_CHECKPOINT_FIND, NULL, 0,
                                                           search->folder);
        if (request != NULL)
            *(struct msg_checkpoint_find *)message_head(request) = (struct msg_checkpoint_find){
                search->before, (uint32_t)strlen(search->folder)
            };
        /* The question is counted before it is asked, and taken back where it cannot be; the phase
         * itself is counted until all are. */
        search->pending++;
        if (request == NULL ||
            checkpoint_store_call(self, &state->checkpoint_store_calls, node, request,
                                  actor_now_ns(self) + ANSWER_NS, manifest_answered, search) != 0) {
            no_memory(search);
            search->pending--;
        }
    }
    count_down(self, search, judge_manifests);
}

int coordinator_search(struct actor *self, coordinator_chosen *chosen)
{
    struct coordinator *state = actor_state(self);
    struct search *search = calloc(1, sizeof *search);
    if (search == NULL)
        return TR_ENOMEM;
    search->chosen = chosen;
    search->world = state->world;
    search->before = UINT64_MAX;
    search->folder = strdup(state->checkpoints);
    search->looks = calloc(state->world, sizeof *search->looks);
    if (search->folder == NULL || search->looks == NULL) {
        free(search->folder);
        free(search->looks);
        free(search);
        return TR_ENOMEM;
    }
    /* The search is noted before it begins: one that can ask nobody ends at once, and is forgotten
     * and freed by that. */
    state->search = search;
    find_manifests(self, search);
    return 0;
}

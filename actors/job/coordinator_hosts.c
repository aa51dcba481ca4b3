/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a cluster whose hosts may share no folder: what they have is asked of their
 * checkpoint stores, in the same way where they do share one.
 *
 * The newest manifest that any host has is taken when each of its parts is whole on the host of its
 * rank or on the one that keeps copies for it; else the next older one. Then every host is given
 * the manifest, so that what it missed while it was away is made good.
 *
 * Only a store's answer says that a manifest is not there, or that a part is not or is damaged. A
 * store that is silent, full, short of memory or whose disk fails says nothing: it is asked again,
 * with growing patience, until the others' answers are enough or the search's time is over. Then
 * the search ends with an error that names it: a job that began anew instead would lose what that
 * host keeps. A search without a manifest ends so unless each host has answered that it has none. A
 * refusal that lasts (a permission, another configuration) ends it sooner, but only where no host
 * that may answer yet could settle the question without it.
 * One manifest is enough when a host has it where each manifest is before it counts (the
 * coordinator's, the next one) and it is the newest there: no host can have a newer one that
 * counts. It is not where that host passed over a newer one, whose manifest is damaged there and
 * may be whole on another.
 *
 * A search is rounds of (all manifests, then all parts of the newest), each below the step of the
 * one before, so it ends. `pending` counts the calls of a phase and, while they are being made, the
 * phase itself: an answer cannot end it before the last has been asked. All calls of a phase are
 * answered before its outcome is judged, and none is under way while a phase waits for its repeat:
 * so nothing of a search is under way when it is freed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/cluster/plan.h"
#include "actors/job/checkpoint_store.h"
#include "actors/job/coordinator_state.h"
#include "runtime/core/log.h"

/* A host that does not answer in this time is done without where the others' answers are enough,
 * and else asked again, with twice the patience up to 160 s: a store that reads slowly gets to
 * answer. */
#define ANSWER_NS UINT64_C(10000000000)
#define DOUBLINGS_MAX 4u
#define REPEAT_NS UINT64_C(2000000000) /* a refusal may pass meanwhile */

/* The answer of a host about its newest manifest below search->before. */
struct manifest_find {
    struct search *search;
    uint32_t host;
    bool answered;
    bool refused;  /* and will not be answered */
    uint64_t step; /* of the manifest that it has */
    uint32_t era;
    uint32_t world;   /* 0: it has none */
    bool passed_over; /* a newer one, which another host may have */
};

/* The answers of hosts about a rank's part: its own, then the one that keeps copies. */
struct look {
    struct search *search;
    uint32_t rank;
    uint32_t asked; /* of the two, the one that is asked */
    bool found;
    bool missing[2]; /* it answered that it has no whole part */
    bool refused[2]; /* it will not answer */
};

/* Why a host gave no answer the last time, in passing and for good. A question that is open at the
 * end of a phase has a failure of its host in that phase, so what was kept before is not read. */
struct silence {
    struct error passing, lasting;
};

struct search {
    coordinator_chosen *chosen;
    char *folder;
    uint32_t world, pending;
    uint32_t repeats; /* the patience that they taught is kept: a slow host is slow for the next */
    uint64_t before;  /* that step */
    uint64_t until_ns;
    struct timer again;
    bool cancelled;
    struct checkpoint_manifest best;
    struct manifest_find *finds; /* [hosts of the plan] */
    struct look *looks;          /* [world] */
    struct silence *silences;    /* [hosts of the plan] */
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
                        const struct checkpoint_manifest *manifest, bool made)
{
    struct coordinator *state = actor_state(self);
    const struct plan *plan = state->options->plan;
    uint32_t second = coordinator_second_node(state);
    for (uint32_t host = 0; host < plan->num_hosts; host++) {
        uint32_t node = plan_host_node(plan, host);
        bool has = made &&
                   (host == plan->processes[state->options->process].host || node == second);
        struct message *request = node == PLAN_NO_NODE || has
                                      ? NULL
                                      : checkpoint_store_commit(self, folder, keep, manifest);
        if (request != NULL) /* best effort: the next manifest makes good what is missed */
            (void)checkpoint_store_call(self, &state->checkpoint_store_calls, node, request,
                                        actor_now_ns(self) + ANSWER_NS, ignore_answer, NULL);
    }
}

static void free_search(struct search *search)
{
    timer_stop(&search->again);
    checkpoint_manifest_fini(&search->best);
    free(search->finds);
    free(search->looks);
    free(search->silences);
    free(search->folder);
    free(search);
}

static void finish_search(struct actor *self, struct search *search)
{
    struct coordinator *state = actor_state(self);
    state->search = NULL; /* first: what follows may begin another */
    if (!search->cancelled)
        search->chosen(self, &search->best, &search->damaged, &search->error);
    /* The ranks are answered before the hosts are given the manifest: ranks wait, hosts do not. */
    if (!search->cancelled && search->error.code == 0 && search->best.world != 0)
        coordinator_spread(self, search->folder, state->keep, &search->best, false);
    free_search(search);
}

static int no_memory(struct search *search)
{
    return error_set(&search->error, TR_ENOMEM,
                     "the coordinator has no memory to look for a "
                     "checkpoint");
}

/* Keeps why a host has not answered; true: it will not. The code is TR_EIO where it may answer yet:
 * with one that may pass, ranks would ask until their own deadline, and never say why. */
static bool note_silent(const struct coordinator *state, struct search *search, uint32_t node,
                        int status, const struct error *why)
{
    struct silence *silence = &search->silences[state->options->plan->processes[node].host];
    bool passes = checkpoint_may_be_read(status);
    struct error *silent = passes ? &silence->passing : &silence->lasting;
    error_set(silent, passes ? TR_EIO : status,
              "process %" PRIu32 " cannot read the checkpoints of its host in %s: %s", node,
              search->folder, why != NULL && why->code != 0 ? why->text : tr_strerror(status));
    silent->process_1 = node + 1;
    return !passes;
}

static uint64_t answer_deadline_ns(struct actor *self, const struct search *search)
{
    uint32_t doublings = search->repeats < DOUBLINGS_MAX ? search->repeats : DOUBLINGS_MAX;
    uint64_t at_ns = actor_now_ns(self) + (ANSWER_NS << doublings);
    return at_ns < search->until_ns ? at_ns : search->until_ns;
}

/* The answers so far are not enough: hosts that have not answered are asked again, while there is
 * time and the silence that matters may end. */
static void repeat_later(struct actor *self, struct search *search, const struct error *silent,
                         void (*repeat)(struct actor *self, void *arg))
{
    uint64_t at_ns = actor_now_ns(self) + REPEAT_NS;
    if (at_ns >= search->until_ns || silent->code != TR_EIO) {
        search->error = *silent;
        error_prefix(&search->error, "no checkpoint has been found yet, but there may be one");
        finish_search(self, search);
        return;
    }
    if ((search->repeats & (search->repeats - 1)) == 0) /* ever less often */
        log_write(actor_node(self), LOG_LEVEL_WARN, "job", "%s; trying again", silent->text);
    search->repeats++;
    timer_start(self, &search->again, at_ns, repeat, search);
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

static void ask_for_parts(struct actor *self, void *arg);

static uint32_t node_of_part(const struct plan *plan, uint32_t rank, uint32_t asked)
{
    uint32_t host = plan->processes[plan_trainer_node(plan, rank)].host;
    return asked != 0 ? plan_second_node(plan, host) : plan_host_node(plan, host);
}

/* Why it is not known whether there are all parts: what may pass where an answer can settle that,
 * be it that a part is lost; else what lasts. */
static const struct error *silence_of_parts(const struct coordinator *state,
                                            const struct search *search)
{
    const struct plan *plan = state->options->plan;
    const struct error *open = NULL, *losable = NULL, *stuck = NULL;
    for (uint32_t rank = 0; rank < search->world; rank++) {
        const struct look *look = &search->looks[rank];
        const struct error *passing = NULL, *lasting = NULL;
        for (uint32_t asked = 0; asked < 2 && !look->found; asked++) {
            uint32_t host = plan->processes[node_of_part(plan, rank, asked)].host;
            if (look->refused[asked])
                lasting = &search->silences[host].lasting;
            else if (!look->missing[asked])
                passing = &search->silences[host].passing;
        }
        open = open == NULL ? passing : open;
        if (passing == NULL)
            stuck = stuck == NULL ? lasting : stuck;
        else if (lasting == NULL)
            losable = losable == NULL ? passing : losable;
    }
    return stuck == NULL ? open : losable != NULL ? losable : stuck;
}

/* Every part was looked for. */
static void judge_parts(struct actor *self, struct search *search)
{
    uint32_t lost = search->world, unknown = search->world;
    for (uint32_t rank = 0; rank < search->world; rank++) {
        const struct look *look = &search->looks[rank];
        if (!look->found && look->missing[0] && look->missing[1])
            lost = rank;
        else if (!look->found)
            unknown = rank;
    }
    /* A part that is lost settles it, whatever others are not known: this checkpoint is none. */
    if (lost == search->world && unknown == search->world) {
        finish_search(self, search);
        return;
    }
    if (lost == search->world) {
        repeat_later(self, search, silence_of_parts(actor_state(self), search), ask_for_parts);
        return;
    }
    if (search->damaged.code == 0)
        error_set(&search->damaged, TR_EFORMAT,
                  "%s: the checkpoint of step %" PRIu64
                  " cannot be used: no host has an undamaged part of trainer %" PRIu32,
                  search->folder, search->best.step, lost);
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
    struct message *request = checkpoint_store_look(self, search->folder, search->best.step,
                                                    search->best.era, look->rank,
                                                    &search->best.parts[look->rank]);
    int rv = request == NULL ? TR_ENOMEM
                             : checkpoint_store_call(
                                   self, &state->checkpoint_store_calls,
                                   node_of_part(state->options->plan, look->rank, look->asked),
                                   request, answer_deadline_ns(self, search), part_answered, look);
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
    struct look *look = arg;
    struct search *search = look->search;
    const struct coordinator *state = actor_state(self);
    if (status == 0 && reply->frame.kind != MSG_CHECKPOINT_SEEN)
        status = TR_EFORMAT;
    if (status == 0) {
        look->found = ((const struct msg_checkpoint_seen *)(const void *)reply->head)->found != 0;
        look->missing[look->asked] = !look->found;
        look->refused[look->asked] = false;
    } else {
        uint32_t node = node_of_part(state->options->plan, look->rank, look->asked);
        look->refused[look->asked] = note_silent(state, search, node, status, error);
    }
    message_release(self, reply);
    search->cancelled = search->cancelled || status == TR_ECANCELED;
    /* The host that keeps copies is asked only where that of the rank has no whole part: most
     * have. */
    if (!look->found && look->asked == 0 && !look->missing[1] && !search->cancelled) {
        look->asked = 1;
        look_for_part(self, look);
        return;
    }
    count_down(self, search, judge_parts);
}

/* Asks for all parts of which nothing is settled. */
static void ask_for_parts(struct actor *self, void *arg)
{
    struct search *search = arg;
    /* The whole count is set before the first question, and one more for this phase: no answer ends
     * it early. */
    search->pending = 1;
    for (uint32_t rank = 0; rank < search->world; rank++)
        search->pending += !search->looks[rank].found;
    for (uint32_t rank = 0; rank < search->world; rank++) {
        struct look *look = &search->looks[rank];
        if (look->found)
            continue;
        look->asked = look->missing[0]; /* an answer stays, so the other one is asked */
        look_for_part(self, look);
    }
    count_down(self, search, judge_parts);
}

static void look_for_parts(struct actor *self, struct search *search)
{
    for (uint32_t rank = 0; rank < search->world; rank++)
        search->looks[rank] = (struct look){ .search = search, .rank = rank };
    ask_for_parts(self, search);
}

/* The newest that was ever made on that host is the best of all. */
static bool has_best(const struct search *search, uint32_t host)
{
    const struct manifest_find *find = &search->finds[host];
    return find->answered && find->world != 0 && !find->passed_over &&
           find->step == search->best.step && find->era == search->best.era;
}

/* Whether no host that has not answered can have a newer manifest that counts. */
static bool is_newest_known(const struct coordinator *state, const struct search *search)
{
    const struct plan *plan = state->options->plan;
    bool all = true;
    for (uint32_t host = 0; host < plan->num_hosts; host++)
        all = all && (search->finds[host].answered || plan_host_node(plan, host) == PLAN_NO_NODE);
    if (all || search->best.world == 0)
        return all;
    return has_best(search, plan->processes[state->options->process].host) ||
           has_best(search, plan->processes[coordinator_second_node(state)].host);
}

/* Why the newest is not known: what may pass where an answer can settle that, which is all hosts'
 * answers, or the one of a host where each manifest is before it counts; else what lasts. */
static const struct error *silence_of_manifests(const struct coordinator *state,
                                                const struct search *search)
{
    const struct plan *plan = state->options->plan;
    uint32_t first = plan->processes[state->options->process].host;
    uint32_t second_node = coordinator_second_node(state);
    uint32_t second = second_node == PLAN_NO_NODE ? first : plan->processes[second_node].host;
    const struct error *passing = NULL, *settling = NULL, *lasting = NULL;
    for (uint32_t host = 0; host < plan->num_hosts; host++) {
        const struct silence *silence = &search->silences[host];
        if (search->finds[host].answered || plan_host_node(plan, host) == PLAN_NO_NODE)
            continue;
        if (search->finds[host].refused)
            lasting = lasting == NULL ? &silence->lasting : lasting;
        else
            passing = passing == NULL ? &silence->passing : passing;
        if (!search->finds[host].refused && (host == first || host == second))
            settling = settling == NULL ? &silence->passing : settling;
    }
    return lasting == NULL ? passing : settling != NULL ? settling : lasting;
}

static void ask_for_manifests(struct actor *self, void *arg);

/* Every host that is up has said what it has. */
static void judge_manifests(struct actor *self, struct search *search)
{
    if (search->best.world != 0 && search->best.world != search->world)
        error_set(&search->error, TR_EMISMATCH,
                  "%s: the checkpoint of step %" PRIu64 " was saved "
                  "by %" PRIu32 " trainers; start as many, or use another folder",
                  search->folder, search->best.step, search->best.world);
    /* Silence is asked for before an empty answer: a group some of whose hosts are away would begin
     * anew and lose what they keep. */
    if (search->error.code == 0 && !is_newest_known(actor_state(self), search))
        repeat_later(self, search, silence_of_manifests(actor_state(self), search),
                     ask_for_manifests);
    else if (search->error.code != 0 || search->best.world == 0)
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
    struct manifest_find *find = arg;
    struct search *search = find->search;
    const struct coordinator *state = actor_state(self);
    struct checkpoint_manifest manifest = { 0 };
    int rv = status == 0 ? checkpoint_store_read_found(reply, &manifest) : status;
    find->passed_over =
        rv == 0 &&
        ((const struct msg_checkpoint_found *)(const void *)reply->head)->passed_over != 0;
    message_release(self, reply);
    find->answered = rv == 0 || rv == TR_ENOENT;
    search->cancelled = search->cancelled || status == TR_ECANCELED;
    if (status == 0 && rv == TR_ENOMEM)
        no_memory(search);
    find->refused = !find->answered &&
                    note_silent(state, search, plan_host_node(state->options->plan, find->host), rv,
                                error);
    if (rv == 0 && manifest.step >= search->before) /* it is not what was asked for */
        checkpoint_manifest_fini(&manifest);
    find->step = manifest.step;
    find->era = manifest.era;
    find->world = manifest.world;
    /* The manifests change places, so that the older one of the two is freed below. */
    if (manifest.world != 0 && is_newer(&manifest, &search->best)) {
        struct checkpoint_manifest older = search->best;
        search->best = manifest;
        manifest = older;
    }
    checkpoint_manifest_fini(&manifest);
    count_down(self, search, judge_manifests);
}

/* Asks the hosts that have not answered. */
static void ask_for_manifests(struct actor *self, void *arg)
{
    struct search *search = arg;
    struct coordinator *state = actor_state(self);
    const struct plan *plan = state->options->plan;
    search->pending = 1;
    for (uint32_t host = 0; host < plan->num_hosts; host++) {
        uint32_t node = plan_host_node(plan, host);
        if (node == PLAN_NO_NODE || search->finds[host].answered)
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
                                  answer_deadline_ns(self, search), manifest_answered,
                                  &search->finds[host]) != 0) {
            no_memory(search);
            search->pending--;
        }
    }
    count_down(self, search, judge_manifests);
}

static void find_manifests(struct actor *self, struct search *search)
{
    const struct coordinator *state = actor_state(self);
    for (uint32_t host = 0; host < state->options->plan->num_hosts; host++)
        search->finds[host] = (struct manifest_find){ .search = search, .host = host };
    ask_for_manifests(self, search);
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
    search->until_ns = actor_now_ns(self) + coordinator_search_ns(state);
    search->folder = strdup(state->checkpoints);
    search->finds = calloc(state->options->plan->num_hosts, sizeof *search->finds);
    search->looks = calloc(state->world, sizeof *search->looks);
    search->silences = calloc(state->options->plan->num_hosts, sizeof *search->silences);
    if (search->folder == NULL || search->finds == NULL || search->looks == NULL ||
        search->silences == NULL) {
        free_search(search);
        return TR_ENOMEM;
    }
    /* The search is noted before it begins: one that can ask nobody ends at once, and is forgotten
     * and freed by that. */
    state->search = search;
    find_manifests(self, search);
    return 0;
}

uint64_t coordinator_search_ns(const struct coordinator *state)
{
    uint64_t recovery_ns = state->options->recovery_ns;
    recovery_ns = recovery_ns != 0 ? recovery_ns : COORDINATOR_RECOVERY_NS;
    return recovery_ns - recovery_ns / 10;
}

void coordinator_free_search(struct coordinator *state)
{
    if (state->search != NULL)
        free_search(state->search);
    state->search = NULL;
}

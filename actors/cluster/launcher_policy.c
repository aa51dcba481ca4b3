/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decisions of a launcher, which launcher_policy.h draws.
 *
 * Invariants:
 *  1. A member's state is set together with what becomes of it: a command that waits until it is
 *     taken (`told`), and a time. Nothing is done from here, so no event runs inside another.
 *  2. `stopping`, `complete`, `failed` and `interrupted` are set once and stay. While everything
 *     stops no member is to be started, so the job ends when the last that lives has ended.
 *  3. A member is asked to stop only when none of a role before its own lives; a killed one lives
 *     until its end was heard.
 *  4. Time does not go back.
 *  5. While a recalled trainer lives no trainer is started: those that are to be wait without a
 *     time, until the end of the last recalled one gives them one.
 */
#include "actors/cluster/launcher_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *launcher_role_name(enum launcher_role role)
{
    static const char *const NAMES[LAUNCHER_ROLES] = { "trainer", "sampler", "server" };
    return NAMES[role];
}

int launcher_policy_init(struct launcher_policy *policy,
                         const struct launcher_policy_options *options, uint64_t now_ns)
{
    *policy = (struct launcher_policy){ .count = options->count,
                                        .restarts = options->restarts,
                                        .period_ns = options->period_ns,
                                        .together = options->together,
                                        .now_ns = now_ns };
    if (options->restarts > LAUNCHER_RESTARTS_MAX)
        return TR_ERANGE;
    policy->members = calloc(options->count + (size_t)1, sizeof *policy->members);
    if (policy->members == NULL)
        return TR_ENOMEM;
    for (uint32_t p = 0; p < options->count; p++)
        policy->members[p] = (struct launcher_member){ .role = options->roles[p],
                                                       .state = LAUNCHER_PAUSING,
                                                       .at_ns = now_ns,
                                                       .incarnation = options->incarnation - 1 };
    return 0;
}

void launcher_policy_fini(struct launcher_policy *policy)
{
    free(policy->members);
    *policy = (struct launcher_policy){ 0 };
}

static void policy_advance(struct launcher_policy *policy, uint64_t now_ns)
{
    if (now_ns > policy->now_ns)
        policy->now_ns = now_ns;
}

static bool is_alive(const struct launcher_member *member)
{
    return member->state == LAUNCHER_RUNNING || member->state == LAUNCHER_STOPPING ||
           member->state == LAUNCHER_KILLED;
}

static void policy_enter(struct launcher_member *member, enum launcher_state state, uint64_t at_ns)
{
    member->state = state;
    member->at_ns = at_ns;
    member->told = false;
}

/* Asks the running processes of the first role that still has some; those that were asked before
 * keep their deadline. */
static void ask_in_order(struct launcher_policy *policy)
{
    bool waiting = false;
    for (int role = 0; role < LAUNCHER_ROLES && !waiting; role++)
        for (uint32_t p = 0; p < policy->count; p++) {
            struct launcher_member *member = &policy->members[p];
            if (member->role != (enum launcher_role)role || !is_alive(member))
                continue;
            waiting = true;
            if (member->state == LAUNCHER_RUNNING)
                policy_enter(member, LAUNCHER_STOPPING, policy->now_ns + LAUNCHER_GRACE_NS);
        }
}

static void kill_member(struct launcher_member *member)
{
    if (member->state == LAUNCHER_RUNNING || member->state == LAUNCHER_STOPPING)
        policy_enter(member, LAUNCHER_KILLED, LAUNCHER_NEVER);
}

/* A member that was to be started is not; one that runs is stopped, or killed. */
static void wind_down(struct launcher_policy *policy)
{
    policy->stopping = true;
    for (uint32_t p = 0; p < policy->count; p++) {
        struct launcher_member *member = &policy->members[p];
        if (member->state == LAUNCHER_PAUSING)
            policy_enter(member, LAUNCHER_IDLE, LAUNCHER_NEVER);
        else if (policy->killing)
            kill_member(member);
    }
    /* Members are asked after those that are killed, which are not asked any more but waited for: a
     * role is asked when nobody of the roles before it runs. */
    ask_in_order(policy);
}

static void policy_fail(struct launcher_policy *policy, const char *reason)
{
    /* The first reason counts: once everything stops, ends are no failures. */
    if (policy->stopping)
        return;
    policy->failed = true;
    snprintf(policy->reason, sizeof policy->reason, "%s", reason);
    wind_down(policy);
}

/* Takes one restart out of the budget of a role; false: there is none. */
static bool policy_spend(const struct launcher_policy *policy, struct launcher_budget *budget)
{
    uint32_t old = 0;
    while (old < budget->used && policy->now_ns - budget->times_ns[old] >= policy->period_ns)
        old++;
    budget->used -= old;
    memmove(budget->times_ns, budget->times_ns + old, budget->used * sizeof budget->times_ns[0]);
    /* Restarts of long ago leave the budget before it is looked at. */
    if (budget->used >= policy->restarts)
        return false;
    budget->times_ns[budget->used++] = policy->now_ns;
    return true;
}

static uint64_t pause_ns(uint32_t failures)
{
    uint64_t pause = LAUNCHER_PAUSE_FIRST_NS;
    for (uint32_t i = 1; i < failures && pause < LAUNCHER_PAUSE_MAX_NS; i++)
        pause *= 2;
    return pause < LAUNCHER_PAUSE_MAX_NS ? pause : LAUNCHER_PAUSE_MAX_NS;
}

static void policy_describe(char *text, size_t size, const struct launcher_policy *policy,
                            uint32_t process, int code, int signal)
{
    const char *role = launcher_role_name(policy->members[process].role);
    char how[64];
    if (signal != 0)
        snprintf(how, sizeof how, "was ended by signal %d", signal);
    else
        snprintf(how, sizeof how, "ended with exit code %d", code);
    /* One that was ready had sound options: what ended it is its own message. */
    if (code == 2 && signal == 0 && policy->members[process].was_ready)
        snprintf(text, size,
                 "process %u (%s) %s after it was ready: restarting cannot help, job stopped",
                 process, role, how);
    else if (code == 2 && signal == 0)
        snprintf(
            text, size,
            "process %u (%s) %s: bad option or cluster file; restarting cannot help, job stopped",
            process, role, how);
    else
        snprintf(text, size,
                 "process %u (%s) %s; processes of this role were started again %u times in %llu "
                 "seconds",
                 process, role, how, policy->restarts,
                 (unsigned long long)(policy->period_ns / 1000000000u));
}

/* A trainer that died takes all of them back to the last checkpoint, so those that had ended well
 * are needed again, and with them those that ended because the trainers had. */
static void revive_ended(struct launcher_policy *policy)
{
    for (uint32_t p = 0; p < policy->count; p++)
        if (policy->members[p].ended)
            policy_enter(&policy->members[p], LAUNCHER_PAUSING, policy->now_ns);
}

static bool any_recalled(const struct launcher_policy *policy)
{
    for (uint32_t p = 0; p < policy->count; p++)
        if (policy->members[p].recalled)
            return true;
    return false;
}

/* Gives the trainers that are to be started a time: none while a recalled one lives. */
static void schedule_trainers(struct launcher_policy *policy)
{
    bool waits = any_recalled(policy);
    uint32_t failures = 0;
    for (uint32_t p = 0; p < policy->count; p++)
        if (policy->members[p].failures > failures)
            failures = policy->members[p].failures;
    for (uint32_t p = 0; p < policy->count; p++) {
        struct launcher_member *member = &policy->members[p];
        if (member->role == LAUNCHER_TRAINER && member->state == LAUNCHER_PAUSING)
            member->at_ns = waits ? LAUNCHER_NEVER : policy->now_ns + pause_ns(failures);
    }
}

/* Ends the trainers that still run, which may wait in a collective for one that has failed. */
static void recall_trainers(struct launcher_policy *policy)
{
    for (uint32_t p = 0; p < policy->count; p++) {
        struct launcher_member *member = &policy->members[p];
        if (member->role != LAUNCHER_TRAINER || !is_alive(member))
            continue;
        kill_member(member);
        member->recalled = true;
    }
    schedule_trainers(policy);
}

/* However a recalled trainer ended: it had to. */
static void policy_returned(struct launcher_policy *policy, struct launcher_member *member)
{
    member->recalled = false;
    policy_enter(member, LAUNCHER_PAUSING, LAUNCHER_NEVER);
    /* The member waits too before the last one's end gives all of them a time. */
    schedule_trainers(policy);
}

static void policy_failed(struct launcher_policy *policy, uint32_t process, int code, int signal)
{
    struct launcher_member *member = &policy->members[process];
    bool usage = code == 2 && signal == 0;
    /* The member is idle before the budget is asked: where there is none, what still runs is
     * stopped, and a member that lived on would be waited for. */
    policy_enter(member, LAUNCHER_IDLE, LAUNCHER_NEVER);
    if (usage || !policy_spend(policy, &policy->budgets[member->role])) {
        char reason[LAUNCHER_REASON_MAX];
        policy_describe(reason, sizeof reason, policy, process, code, signal);
        if (!policy->stopping)
            policy->hopeless = usage && !member->was_ready;
        policy_fail(policy, reason);
        return;
    }
    /* The failure is counted before the pause, which doubles with it. */
    member->failures++;
    member->returning = true;
    policy_enter(member, LAUNCHER_PAUSING, policy->now_ns + pause_ns(member->failures));
    if (member->role == LAUNCHER_TRAINER) {
        policy->trainer_failed = true;
        revive_ended(policy);
        /* Those that are revived wait for the recalled ones too. */
        if (policy->together)
            recall_trainers(policy);
    }
}

/* True: another process with trainers is on its way back. Then a process that ends well was
 * notified of an end of the job that is taken back. Trainers that go back together are on their way
 * all at once, and one that ends well has done so since. */
static bool is_needed_again(const struct launcher_policy *policy, uint32_t process)
{
    bool trainer = policy->members[process].role == LAUNCHER_TRAINER;
    for (uint32_t p = 0; p < policy->count && !(policy->together && trainer); p++) {
        const struct launcher_member *member = &policy->members[p];
        if (p != process && member->role == LAUNCHER_TRAINER && member->returning)
            return true;
    }
    return false;
}

static bool all_trained(const struct launcher_policy *policy)
{
    for (uint32_t p = 0; p < policy->count; p++)
        if (policy->members[p].role == LAUNCHER_TRAINER &&
            policy->members[p].state != LAUNCHER_IDLE && !policy->members[p].ended)
            return false;
    return true;
}

/* Whether a trainer may wait for one that ended well: one that failed was away when the others were
 * notified of the end; and no job ends before all trainers have come, so what ended then was that of
 * an earlier launcher, whose last processes still held the addresses of those that come later.
 * Trainers that go back together need not be ready ever. */
static bool may_be_waited_for(const struct launcher_policy *policy)
{
    bool away = policy->trainer_failed;
    for (uint32_t p = 0; p < policy->count && !policy->together; p++)
        away = away || (policy->members[p].role == LAUNCHER_TRAINER && !policy->members[p].came);
    return away;
}

static bool has_trainers(const struct launcher_policy *policy)
{
    for (uint32_t p = 0; p < policy->count; p++)
        if (policy->members[p].role == LAUNCHER_TRAINER)
            return true;
    return false;
}

/* How a process ended does not matter any more. But the others may have waited for one that died
 * before it notified them of the end. */
static void ended_complete(struct launcher_policy *policy, struct launcher_member *member,
                           bool well)
{
    policy_enter(member, LAUNCHER_IDLE, LAUNCHER_NEVER);
    member->returning = false;
    member->ended = well;
    /* The member is idle and ended before the others are looked at, which it is one of. */
    if (!well || all_trained(policy))
        wind_down(policy);
}

void launcher_policy_exited(struct launcher_policy *policy, uint32_t process, int code, int signal,
                            uint64_t now_ns)
{
    policy_advance(policy, now_ns);
    if (process >= policy->count || !is_alive(&policy->members[process]))
        return;
    struct launcher_member *member = &policy->members[process];
    /* The state of all counts before how this one ended: once everything stops, or the job is
     * complete, no end is a failure any more. */
    if (policy->stopping) {
        policy_enter(member, LAUNCHER_IDLE, LAUNCHER_NEVER);
        ask_in_order(policy);
    } else if (policy->complete) {
        ended_complete(policy, member, code == 0 && signal == 0);
    } else if (member->recalled) {
        policy_returned(policy, member);
    } else if (code != 0 || signal != 0) {
        policy_failed(policy, process, code, signal);
    } else if (is_needed_again(policy, process)) {
        policy_enter(member, LAUNCHER_PAUSING, policy->now_ns);
    } else {
        /* A server or sampler that ends well before the trainers do was notified that the job is
         * over and was faster; or was not, and is missed soon. So is a trainer, if one may not know
         * that the job is over, and waits for the others. The pause comes before the look at all
         * trainers, whose end takes it back. */
        policy_enter(member, LAUNCHER_IDLE, LAUNCHER_NEVER);
        member->returning = false;
        member->ended = true;
        if (has_trainers(policy) && (member->role != LAUNCHER_TRAINER || may_be_waited_for(policy)))
            policy_enter(member, LAUNCHER_PAUSING, policy->now_ns + LAUNCHER_GRACE_NS);
        if (has_trainers(policy) && all_trained(policy))
            wind_down(policy);
    }
}

void launcher_policy_ready(struct launcher_policy *policy, uint32_t process, uint64_t now_ns)
{
    policy_advance(policy, now_ns);
    if (process >= policy->count || !is_alive(&policy->members[process]))
        return;
    policy->members[process].returning = false;
    policy->members[process].was_ready = policy->members[process].came = true;
    policy->members[process].failures = 0;
}

void launcher_policy_silent(struct launcher_policy *policy, uint32_t witness, uint32_t process,
                            uint32_t incarnation, uint64_t now_ns)
{
    policy_advance(policy, now_ns);
    if (process >= policy->count || witness >= policy->count || witness == process)
        return;
    struct launcher_member *member = &policy->members[process];
    /* Only a witness that runs is believed: where two say so of each other, the first one's word
     * has the second killed. */
    bool sound = policy->members[witness].state == LAUNCHER_RUNNING;
    if (sound && member->state == LAUNCHER_RUNNING && member->incarnation == incarnation)
        kill_member(member);
}

void launcher_policy_checkpoint(struct launcher_policy *policy, uint64_t now_ns)
{
    policy_advance(policy, now_ns);
    policy->kept = true;
    for (int role = 0; role < LAUNCHER_ROLES; role++)
        policy->budgets[role].used = 0;
    for (uint32_t p = 0; p < policy->count; p++)
        policy->members[p].failures = 0;
}

static bool any_failed(const struct launcher_policy *policy)
{
    for (uint32_t p = 0; p < policy->count; p++)
        if (policy->members[p].state == LAUNCHER_PAUSING && !policy->members[p].ended)
            return true;
    return false;
}

void launcher_policy_complete(struct launcher_policy *policy, uint64_t now_ns)
{
    policy_advance(policy, now_ns);
    if (policy->complete)
        return;
    /* This is noted also while everything stops: the result is there, whatever stopped the job. */
    policy->complete = true;
    policy->complete_until_ns = policy->now_ns + LAUNCHER_GRACE_NS;
    if (policy->stopping)
        return;
    /* Failures are looked for before all are idle: a member that is to be started is dead at
     * present, and the others may wait for it. */
    bool failed = any_failed(policy);
    for (uint32_t p = 0; p < policy->count; p++)
        if (policy->members[p].state == LAUNCHER_PAUSING)
            policy_enter(&policy->members[p], LAUNCHER_IDLE, LAUNCHER_NEVER);
    if (failed)
        wind_down(policy);
}

void launcher_policy_tick(struct launcher_policy *policy, uint64_t now_ns)
{
    policy_advance(policy, now_ns);
    /* These two may stand in any order: members that are asked now have their whole grace before
     * them. */
    if (policy->complete && !policy->stopping && policy->complete_until_ns <= policy->now_ns)
        wind_down(policy);
    for (uint32_t p = 0; p < policy->count; p++) {
        struct launcher_member *member = &policy->members[p];
        if (member->state == LAUNCHER_STOPPING && member->at_ns <= policy->now_ns)
            kill_member(member);
    }
}

void launcher_policy_stop(struct launcher_policy *policy, uint64_t now_ns)
{
    policy_advance(policy, now_ns);
    /* The wish is noted before everything winds down, which kills instead of asking where it is a
     * hurried one. */
    if (policy->stopping)
        policy->killing = true; /* to ask while it stops is to be in a hurry */
    else
        policy->interrupted = true;
    wind_down(policy);
}

void launcher_policy_left(struct launcher_policy *policy, uint32_t process, bool asked,
                          uint64_t now_ns)
{
    policy_advance(policy, now_ns);
    if (process >= policy->count || policy->stopping || policy->members[process].recalled)
        return;
    if (asked)
        launcher_policy_stop(policy, policy->now_ns);
    else if (!policy->complete)
        recall_trainers(policy);
}

static bool command_of(struct launcher_policy *policy, uint32_t process,
                       struct launcher_command *command)
{
    struct launcher_member *member = &policy->members[process];
    /* A command is taken once: until the next change of its state a member waits for nothing. */
    if (member->told)
        return false;
    *command = (struct launcher_command){ .process = process };
    if (member->state == LAUNCHER_PAUSING && member->at_ns <= policy->now_ns) {
        /* The member is running before it is started: where that fails, its end is taken as any
         * other. */
        member->was_ready = false;
        policy_enter(member, LAUNCHER_RUNNING, LAUNCHER_NEVER);
        member->ended = false;
        command->action = LAUNCHER_START;
        command->incarnation = ++member->incarnation;
    } else if (member->state == LAUNCHER_STOPPING) {
        command->action = LAUNCHER_TERM;
    } else if (member->state == LAUNCHER_KILLED) {
        command->action = LAUNCHER_KILL;
    } else {
        return false;
    }
    member->told = true;
    return true;
}

static bool is_over(const struct launcher_policy *policy)
{
    for (uint32_t p = 0; p < policy->count; p++)
        if (policy->members[p].state != LAUNCHER_IDLE)
            return false;
    return true;
}

bool launcher_policy_next(struct launcher_policy *policy, struct launcher_command *command)
{
    for (uint32_t p = 0; p < policy->count; p++)
        if (command_of(policy, p, command))
            return true;
    /* The end comes after every command: a member that waits for one is not idle. */
    if (policy->done_told || !is_over(policy))
        return false;
    policy->done_told = true;
    *command = (struct launcher_command){ .action = LAUNCHER_DONE };
    return true;
}

uint64_t launcher_policy_wake_ns(const struct launcher_policy *policy)
{
    bool awaits_ends = policy->complete && !policy->stopping;
    uint64_t wake_ns = awaits_ends ? policy->complete_until_ns : LAUNCHER_NEVER;
    for (uint32_t p = 0; p < policy->count; p++) {
        const struct launcher_member *member = &policy->members[p];
        bool timed = member->state == LAUNCHER_PAUSING || member->state == LAUNCHER_STOPPING;
        if (timed && member->at_ns < wake_ns)
            wake_ns = member->at_ns;
    }
    return wake_ns;
}

int launcher_policy_result(const struct launcher_policy *policy, struct error *error)
{
    /* A result that is written counts whatever came after it, and a failure before a wish to
     * stop. */
    if (policy->complete)
        return 0;
    if (policy->failed)
        return error_set(error, policy->hopeless ? TR_EINVAL : TR_ECHILD, "%s", policy->reason);
    if (policy->interrupted && policy->kept)
        return error_set(error, TR_ECANCELED, "stopped by signal; continue with --resume");
    if (policy->interrupted)
        return error_set(error, TR_ECANCELED, "stopped before the job was done");
    return 0;
}

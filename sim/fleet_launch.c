/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants:
 *  1. A process that lives while no launcher does is an orphan, and stays one: nobody reads what it
 *     prints, and its end is reported to nobody.
 *  2. A start that waits for its address (`waits`) is a life of the launcher of today: killed with
 *     that, or ended by it, before the process has a node.
 *  3. The checker's count of restarts (`restarts`, `spent`) is its own, apart from the policy's.
 */
#include "sim/fleet_launch.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "actors/cluster/process_notice.h"
#include "sim/draws.h"
#include "sim/fleet.h"

/* As launch/launch_run.c counts incarnations. */
#define INCARNATION_NS UINT64_C(100000000)
#define ASK_AGAIN_FIRST_NS UINT64_C(1000000)

static uint64_t launch_now_ns(const struct fleet *fleet)
{
    return env_sim_now_ns(fleet->env);
}

static void launch_note(const struct fleet *fleet, const char *what)
{
    if (fleet->verbose != NULL)
        fprintf(fleet->verbose, "    %10.6f the launcher %s\n", (double)launch_now_ns(fleet) / 1e9,
                what);
}

/* The address of a process is held by its last life, of a launcher that was killed: it waits. */
static int start_process(void *arg, uint32_t number, uint32_t incarnation, uint32_t restarts)
{
    struct fleet *fleet = arg;
    struct fleet_process *process = &fleet->processes[number];
    (void)restarts;
    if (fleet->launch.asked || fleet->launch.spent)
        fleet_fail(fleet, "process %" PRIu32 " was started by a launcher that is to stop", number);
    if (incarnation <= process->incarnation)
        fleet_fail(fleet, "process %" PRIu32 " was started as %" PRIu32 " after %" PRIu32, number,
                   incarnation, process->incarnation);
    if (process->node != NULL)
        process->waits = incarnation;
    else
        fleet_boot(fleet, number, incarnation);
    return 0;
}

/* True: it has no node yet, and is gone. */
static bool end_waiting(struct fleet_process *process, int signal)
{
    if (process->waits == 0)
        return false;
    process->waits = 0;
    process->gave_up = true;
    process->gave_up_by = signal;
    return true;
}

static void ask_to_stop(void *arg, uint32_t process)
{
    struct fleet *fleet = arg;
    if (!end_waiting(&fleet->processes[process], 0))
        fleet_ask_to_leave(fleet, process);
}

static void kill_process(void *arg, uint32_t process)
{
    struct fleet *fleet = arg;
    if (!end_waiting(&fleet->processes[process], SIGKILL))
        fleet_kill(fleet, process);
}

static void launch_begin(struct fleet *fleet, uint32_t incarnation)
{
    static const struct launcher_ops ops = { start_process, ask_to_stop, kill_process };
    struct fleet_launch *launch = &fleet->launch;
    const struct launcher_options options = { .plan = &fleet->plan.plan,
                                              .incarnation = incarnation,
                                              .restarts = fleet->plan.restarts,
                                              .period_ns = fleet->plan.restarts_ns,
                                              .ops = &ops,
                                              .arg = fleet };
    int rv = launcher_init(&launch->launcher, &options, launch_now_ns(fleet));
    assert(rv == 0);
    launch->lives = true;
    launch->asked = launch->hurried = launch->spent = launch->left = false;
    launch->next_ns = launch->ask_ns = UINT64_MAX;
    memset(launch->restarts, 0, sizeof launch->restarts);
    fleet->written = fleet->complete = false;
    fleet->tally.launches++;
}

void fleet_launch_init(struct fleet *fleet)
{
    launch_begin(fleet, 1);
}

void fleet_launch_fini(struct fleet *fleet)
{
    launcher_fini(&fleet->launch.launcher);
}

/* The launcher is gone; the next one begins then. */
static void launch_again(struct fleet *fleet, uint64_t after_ns)
{
    struct fleet_launch *launch = &fleet->launch;
    launcher_fini(&launch->launcher);
    launch->lives = false;
    launch->next_ns = launch_now_ns(fleet) + after_ns;
    fleet_liveness_down(&fleet->liveness, launch->next_ns);
}

/* Trainers left: the job is to stop where one of them was asked to by a signal, and no other wants
 * it. */
static void take_left(struct fleet *fleet, uint32_t number, const char *line)
{
    struct fleet_launch *launch = &fleet->launch;
    bool asked = notice_left_asked(line);
    launch->left = true;
    if (launch->launcher.policy.stopping != asked)
        fleet_fail(fleet, "process %" PRIu32 " says '%s', and the launcher %s", number, line,
                   asked ? "goes on" : "stops the job");
    if (!asked)
        return;
    if (!fleet->signals)
        fleet_fail(fleet, "process %" PRIu32 " says '%s', and none got a signal", number, line);
    launch_note(fleet, "hears that a process was asked to stop");
    launch->asked = true;
    fleet->tally.signals++;
    fleet_liveness_stop(&fleet->liveness, launch_now_ns(fleet));
}

void fleet_launch_line(struct fleet *fleet, uint32_t number, const char *line)
{
    struct fleet_launch *launch = &fleet->launch;
    const struct launcher_policy *policy = &launch->launcher.policy;
    if (fleet->processes[number].orphan)
        return;
    if (notice_is(line, NOTICE_CHECKPOINT))
        memset(launch->restarts, 0, sizeof launch->restarts);
    bool stopping = policy->stopping, recalled = policy->members[number].recalled;
    (void)launcher_take_line(&launch->launcher, number, line, NULL, launch_now_ns(fleet));
    fleet->said = true;
    if (notice_is(line, NOTICE_LEFT) && !stopping && !recalled)
        take_left(fleet, number, line);
}

/* Counts a failure of a role; true: there is a restart for it. */
static bool count_restart(const struct fleet *fleet, struct fleet_restarts *restarts)
{
    uint64_t now_ns = launch_now_ns(fleet);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < restarts->count; i++)
        if (now_ns - restarts->times_ns[i] < fleet->plan.restarts_ns)
            restarts->times_ns[kept++] = restarts->times_ns[i];
    restarts->count = kept;
    if (kept == fleet->plan.restarts)
        return false;
    restarts->times_ns[restarts->count++] = now_ns;
    return true;
}

/* The end of a process of this launcher. */
static void take_end(struct fleet *fleet, uint32_t number, int code, int signal)
{
    struct fleet_launch *launch = &fleet->launch;
    uint64_t now_ns = launch_now_ns(fleet);
    bool recalled = launch->launcher.policy.members[number].recalled;
    bool counts = (code != 0 || signal != 0) && !launch->asked && !launch->spent &&
                  !fleet->complete && !recalled;
    if (recalled && !launch->left)
        fleet_fail(fleet, "process %" PRIu32 " was killed with no trainer having left", number);
    if (counts &&
        !count_restart(fleet, &launch->restarts[launcher_role_of(&fleet->plan.plan, number)])) {
        launch->spent = true;
        launch_note(fleet, "has no restart left");
        fleet_liveness_stop(&fleet->liveness, now_ns);
    }
    launcher_take_end(&launch->launcher, number, code, signal, now_ns);
}

void fleet_launch_end(struct fleet *fleet, uint32_t number, int code, int signal)
{
    if (!fleet->processes[number].orphan)
        take_end(fleet, number, code, signal);
}

static void ask_launcher(struct fleet *fleet, bool hurried)
{
    struct fleet_launch *launch = &fleet->launch;
    launch_note(fleet, hurried ? "is asked to stop, in a hurry" : "is asked to stop");
    launch->hurried = launch->hurried || (hurried && (launch->asked || launch->spent));
    if (!launch->asked && !launch->spent)
        fleet_liveness_stop(&fleet->liveness, launch_now_ns(fleet));
    launch->asked = true;
    launcher_take_stops(&launch->launcher, 1, hurried, launch_now_ns(fleet));
}

void fleet_launch_stop(struct fleet *fleet, const struct fleet_strike *strike)
{
    struct fleet_launch *launch = &fleet->launch;
    struct draws draws = draws_of(strike->draw, 2);
    if (!launch->lives)
        return;
    bool keyboard = draws_chance(&draws, 50);
    if (draws_chance(&draws, 60)) {
        launch->ask_ns = launch_now_ns(fleet) +
                         draws_scale(&draws, ASK_AGAIN_FIRST_NS, LAUNCHER_GRACE_NS);
        launch->hurries = keyboard;
    }
    ask_launcher(fleet, keyboard);
}

/* Whoever lives is notified by the system: by a signal, or by the end of its input. */
void fleet_launch_kill(struct fleet *fleet, const struct fleet_strike *strike)
{
    if (!fleet->launch.lives)
        return;
    launch_note(fleet, "is killed");
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++) {
        struct fleet_process *process = &fleet->processes[p];
        process->waits = 0;
        process->died = process->gave_up = false;
        process->orphan = true;
        fleet_ask_to_leave(fleet, p);
    }
    fleet->complete = false;
    fleet->tally.killed++;
    launch_again(fleet, strike->lasts_ns);
}

void fleet_launch_lose(struct fleet *fleet, uint32_t number)
{
    struct fleet_process *process = &fleet->processes[number];
    if (!fleet->launch.lives || process->node == NULL || process->orphan)
        return;
    process->orphan = process->gave_up = true;
    process->gave_up_by = SIGKILL;
    fleet_ask_to_leave(fleet, number);
}

void fleet_launch_signal(struct fleet *fleet, uint32_t number)
{
    struct fleet_process *process = &fleet->processes[number];
    if (process->node == NULL || process->ending)
        return;
    process->signalled = true;
    fleet->signals = true;
    fleet_ask_to_leave(fleet, number);
}

/* False: nobody died since it was looked at last. */
static bool take_deaths(struct fleet *fleet)
{
    bool any = false;
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++) {
        struct fleet_process *process = &fleet->processes[p];
        if (process->died)
            fleet_launch_end(fleet, p, 0, SIGKILL);
        /* A life that waited for the address of an orphan is none itself. */
        if (process->gave_up)
            take_end(fleet, p, 0, process->gave_up_by);
        any = any || process->died || process->gave_up;
        process->died = process->gave_up = false;
    }
    return any;
}

static void boot_waiting(struct fleet *fleet)
{
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++) {
        struct fleet_process *process = &fleet->processes[p];
        if (process->waits != 0 && process->node == NULL)
            fleet_boot(fleet, p, process->waits);
    }
}

static void check_result(struct fleet *fleet, int result, const struct error *error)
{
    const struct fleet_launch *launch = &fleet->launch;
    bool allowed = false;
    /* An orphan may have written it, of which the launcher knows by the ends of the others alone. */
    if (result == 0)
        allowed = fleet->written;
    else if (result == TR_ECHILD)
        allowed = launch->spent && !fleet->complete;
    else if (result == TR_ECANCELED)
        allowed = launch->asked && !launch->spent && !fleet->complete;
    if (!allowed)
        fleet_fail(
            fleet,
            "the launcher ended with %s%s%s, though the result was %swritten, it was %sasked "
            "to stop, and there were %srestarts left",
            tr_error_name(result), error->text[0] != '\0' ? ": " : "", error->text,
            fleet->written ? "" : "not ", launch->asked ? "" : "not ", launch->spent ? "no " : "");
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++)
        if (fleet->processes[p].node != NULL && !fleet->processes[p].orphan)
            fleet_fail(fleet, "process %" PRIu32 " still runs after its launcher", p);
}

static void launch_ended(struct fleet *fleet)
{
    struct fleet_launch *launch = &fleet->launch;
    struct error error = { 0 };
    launch->result = launcher_result(&launch->launcher, &error);
    launch_note(fleet, launch->result == 0 ? "succeeded" : error.text);
    check_result(fleet, launch->result, &error);
    fleet->tally.spent += launch->result == TR_ECHILD;
    fleet->tally.stopped += launch->result == TR_ECANCELED;
    launch->over = launch->result == 0 || launch->resumed == fleet->plan.resumes;
    /* Orphans may still be at their end. */
    if (launch->over)
        fleet_liveness_stop(&fleet->liveness, launch_now_ns(fleet));
    if (launch->over || fleet->error.code != 0)
        return;
    launch->resumed++;
    launch_again(fleet, fleet->plan.resume_ns);
}

static void launch_next(struct fleet *fleet)
{
    uint64_t now_ns = launch_now_ns(fleet);
    launch_note(fleet, "is started again");
    launch_begin(fleet, 1 + (uint32_t)((now_ns - ENV_SECOND_NS) / INCARNATION_NS));
}

void fleet_launch_turn(struct fleet *fleet)
{
    struct fleet_launch *launch = &fleet->launch;
    uint64_t now_ns = launch_now_ns(fleet);
    bool goes_on = true;
    if (launch->over)
        return;
    if (!launch->lives && launch->next_ns <= now_ns)
        launch_next(fleet);
    if (!launch->lives)
        return;
    if (launch->ask_ns <= now_ns) {
        launch->ask_ns = UINT64_MAX;
        ask_launcher(fleet, launch->hurries);
    }
    (void)take_deaths(fleet);
    do
        goes_on = launcher_turn(&launch->launcher, now_ns);
    while (take_deaths(fleet)); /* of those that the launcher killed itself */
    if (launch->hurried && goes_on)
        fleet_fail(fleet, "asked twice, in a hurry, the launcher did not end everything at once");
    if (!goes_on)
        launch_ended(fleet);
    else
        boot_waiting(fleet);
}

uint64_t fleet_launch_wake_ns(const struct fleet *fleet)
{
    const struct fleet_launch *launch = &fleet->launch;
    if (launch->over)
        return UINT64_MAX;
    if (!launch->lives)
        return launch->next_ns;
    uint64_t wake_ns = launcher_wake_ns(&launch->launcher);
    return wake_ns < launch->ask_ns ? wake_ns : launch->ask_ns;
}

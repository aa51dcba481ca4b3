/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a job reaches every process, also one that is not linked with the coordinator's at
 * that moment: the coordinator's process is the last to end.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "actors/common/process_member.h"
#include "actors/job/coordinator.h"
#include "actors/job/reducer.h"
#include "runtime/base/error.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/monitor.h"
#include "runtime/core/node_impl.h"
#include "runtime/sim/env_sim.h"
#include "schemas/messages.h"
#include "tests/actors/cluster_fixture.h"
#include "tests/schemas/random.h"

#define SEEDS 100
#define LINE_MAX_BYTES 512
#define RESETS 4
#define JOIN_NS CLUSTER_FIXTURE_SECOND
#define APART_NS (CLUSTER_FIXTURE_DEAD_NS / 8)
#define END_NS \
    (10 * CLUSTER_FIXTURE_SECOND) /* far below what a process waits for a lost coordinator */
#define LINGER_NS (MEMBER_JOIN_NS + END_NS) /* where a trainer does not say that it heard */

static const struct cluster_fixture_layout apart = {
    .num_processes = 3,
    .samplers = 1,
    .trainers = 1,
    .coordinator = 0,
    .direct = true,
    .processes = { { 1, { 0 }, { 0, 0 }, { 0, 0 } },
                   { 1, { 1 }, { 0, 1 }, { 0, 0 } },
                   { 0, { 0 }, { 0, 0 }, { 0, 1 } } },
};

/* The coordinator's process has a trainer too. */
static const struct cluster_fixture_layout beside = {
    .num_processes = 3,
    .samplers = 1,
    .trainers = 2,
    .coordinator = 0,
    .direct = true,
    .processes = { { 1, { 0 }, { 0, 0 }, { 0, 1 } },
                   { 1, { 1 }, { 0, 1 }, { 0, 0 } },
                   { 0, { 0 }, { 0, 0 }, { 1, 1 } } },
};

struct process {
    struct node *node;
    struct address root;
    bool ended;
    int reason;
};

static void ended(struct actor *self, void *arg, struct address who, int reason)
{
    struct process *process = arg;
    (void)who;
    node_stop(process->node, actor_now_ns(self) + END_NS); /* as the owner of a session does */
    process->ended = true;
    process->reason = reason;
}

static int watch(struct actor *self, const void *arg)
{
    struct process *process = (void *)(uintptr_t)arg;
    return actor_monitor(self, process->root, ended, process, NULL);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    assert_int_equal(status, 0);
    struct message *done = message_create(self, MSG_JOB_DONE);
    assert_non_null(done);
    memcpy(message_head(done), arg, sizeof(struct msg_job_done));
    actor_send(self, address, done);
}

static int end_job(struct actor *self, const void *arg)
{
    return directory_wait_at(self, apart.coordinator, COORDINATOR_NAME,
                             actor_now_ns(self) + CLUSTER_FIXTURE_SECOND, found,
                             (void *)(uintptr_t)arg);
}

static int drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops watcher_ops = { .name = "watcher", .start = watch, .receive = drop };
static const struct actor_ops ender_ops = { .name = "ender", .start = end_job, .receive = drop };

static void spawn(struct cluster_fixture *fixture, uint32_t process, const struct actor_ops *ops,
                  const void *arg)
{
    const struct actor_options options = { .ops = ops, .arg = arg };
    struct address address;
    assert_int_equal(node_spawn(fixture->parties[process].node, &options, &address), 0);
}

static bool all_ended(void *arg)
{
    const struct process *processes = arg;
    for (uint32_t p = 0; p < apart.num_processes; p++)
        if (!processes[p].ended)
            return false;
    return true;
}

static void cut_off(struct env *env, uint64_t *draws)
{
    uint64_t until_ns = env_sim_now_ns(env) + random_below(draws, APART_NS);
    for (int i = 0; i < RESETS; i++)
        (void)env_sim_net_reset(env);
    env_sim_net_refuse(env, apart.coordinator, until_ns);
}

static void open_job(const struct cluster_fixture_layout *layout, uint64_t seed,
                     struct cluster_fixture *fixture, struct process *processes)
{
    struct env *env;
    assert_int_equal(env_sim_create(seed, NULL, &env), 0);
    memset(processes, 0, CLUSTER_FIXTURE_PROCESSES_MAX * sizeof *processes);
    cluster_fixture_open(fixture, layout, env, true);
    for (uint32_t p = 0; p < layout->num_processes; p++) {
        processes[p].node = fixture->parties[p].node;
        processes[p].root = fixture->parties[p].root;
        spawn(fixture, p, &watcher_ops, &processes[p]);
    }
    (void)env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + JOIN_NS);
}

/* All end well in that time. */
static void expect_end(struct cluster_fixture *fixture, struct process *processes,
                       uint64_t within_ns, uint64_t seed)
{
    struct env *env = fixture->env;
    int rv = env_sim_run(env, all_ended, processes, env_sim_now_ns(env) + within_ns);
    for (uint32_t p = 0; p < apart.num_processes; p++)
        if (!processes[p].ended || processes[p].reason != 0)
            fail_msg("seed %" PRIu64 ": process %" PRIu32 " %s: %s", seed, p,
                     processes[p].ended ? "ended" : "was not told to end",
                     tr_error_name(processes[p].reason));
    assert_int_equal(rv, 0);
    cluster_fixture_close(fixture);
}

static void who_is_cut_off_hears_of_the_end(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct cluster_fixture fixture;
        struct process processes[CLUSTER_FIXTURE_PROCESSES_MAX];
        uint64_t draws = seed;
        const struct msg_job_done done = { .code = seed % 2 == 0 ? 0 : TR_EIO };
        open_job(&apart, seed, &fixture, processes);
        cut_off(fixture.env, &draws);
        (void)env_sim_run(fixture.env, NULL, NULL,
                          env_sim_now_ns(fixture.env) + random_below(&draws, APART_NS));
        spawn(&fixture, apart.coordinator, &ender_ops, &done);
        expect_end(&fixture, processes, END_NS, seed);
    }
}

static void kill_found(struct actor *self, void *arg, int status, struct address address)
{
    (void)arg;
    assert_int_equal(status, 0);
    assert_int_equal(actor_kill(self, address, TR_EIO), 0);
}

static int kill_trainer(struct actor *self, const void *arg)
{
    char name[DIRECTORY_NAME_MAX];
    (void)arg;
    reducer_name(0, name, sizeof name);
    return directory_wait_at(self, beside.coordinator, name,
                             actor_now_ns(self) + CLUSTER_FIXTURE_SECOND, kill_found, NULL);
}

static const struct actor_ops killer_ops = { .name = "killer",
                                             .start = kill_trainer,
                                             .receive = drop };

/* A trainer that comes anew beside the coordinator is refused, for the job is over. That must not
 * take the coordinator down before the other processes heard of the end from it. */
static void who_comes_too_late_beside_the_coordinator_leaves_it_alone(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct cluster_fixture fixture;
        struct process processes[CLUSTER_FIXTURE_PROCESSES_MAX];
        const struct msg_job_done done = { .complete = 1 };
        open_job(&beside, seed, &fixture, processes);
        spawn(&fixture, beside.coordinator, &ender_ops, &done);
        (void)env_sim_run(fixture.env, NULL, NULL,
                          env_sim_now_ns(fixture.env) + CLUSTER_FIXTURE_SECOND);
        spawn(&fixture, beside.coordinator, &killer_ops, NULL);
        expect_end(&fixture, processes, LINGER_NS, seed);
    }
}

/* One trainer: asks its reducer for one operation after the other, as a program does that goes back
 * to tr_group_restore() whenever it is rolled back. */
struct program {
    struct actor *self;
    uint32_t rank;
    bool finishes; /* it says that it is done; else it stays in the era */
    bool restored;
    uint32_t restores;
    struct address reducer;
};

static void operate(struct program *program);

static void operated(struct actor *self, void *arg, int status, struct message *reply)
{
    struct program *program = arg;
    struct error error = { 0 };
    int rv = status == 0 ? error_reply_read(reply, &error) : status;
    message_release(self, reply);
    if (rv == 0 && !program->restored) {
        program->restored = true;
        program->restores++;
        if (program->finishes)
            operate(program);
    } else if (rv == TR_EROLLBACK) {
        program->restored = false;
        operate(program);
    }
}

static void operate(struct program *program)
{
    struct message *request = message_create(program->self, MSG_GROUP_REQUEST);
    assert_non_null(request);
    *(struct msg_group_request *)message_head(request) = (struct msg_group_request){
        .operation = program->restored ? MSG_GROUP_FINISH : MSG_GROUP_RESTORE,
        .timeout_ns = UINT64_MAX / 2,
    };
    assert_int_equal(
        actor_call(program->self, program->reducer, request, UINT64_MAX, operated, program, NULL),
        0);
}

static void reducer_found(struct actor *self, void *arg, int status, struct address address)
{
    struct program *program = arg;
    (void)self;
    assert_int_equal(status, 0);
    program->reducer = address;
    operate(program);
}

static int start_program(struct actor *self, const void *arg)
{
    struct program *program = (void *)(uintptr_t)arg;
    char name[DIRECTORY_NAME_MAX];
    program->self = self;
    reducer_name(program->rank, name, sizeof name);
    return directory_wait(self, name, actor_now_ns(self) + CLUSTER_FIXTURE_SECOND, reducer_found,
                          program);
}

static const struct actor_ops program_ops = { .name = "program",
                                              .start = start_program,
                                              .receive = drop };

static void keep_error(void *arg, enum log_level level, const char *component, const char *line)
{
    char *kept = arg;
    (void)component;
    if (level == LOG_LEVEL_ERROR && strstr(line, "did not come back") != NULL)
        snprintf(kept, LINE_MAX_BYTES, "%s", line);
}

/* A trainer that is done is rolled back by another that dies, and waits for it. One that is never
 * started again is named, and the job ends; not before programs give up by themselves. */
static void an_end_whose_ranks_never_come_back_names_them(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / 10; seed++) {
        struct program programs[] = { { .rank = 0, .finishes = true }, { .rank = 1 } };
        struct process processes[CLUSTER_FIXTURE_PROCESSES_MAX];
        struct cluster_fixture fixture;
        char line[LINE_MAX_BYTES] = "";
        open_job(&beside, seed, &fixture, processes);
        fixture.parties[beside.coordinator].node->log = (struct log_sink){ keep_error, line,
                                                                           LOG_LEVEL_ERROR };
        spawn(&fixture, 0, &program_ops, &programs[0]);
        spawn(&fixture, 2, &program_ops, &programs[1]);
        struct env *env = fixture.env;
        (void)env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + END_NS);
        assert_int_equal(programs[0].restores + programs[1].restores, 2);
        cluster_fixture_kill(&fixture, 2);
        processes[2].ended = true;
        (void)env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + COORDINATOR_RECOVERY_NS - END_NS);
        assert_false(processes[0].ended || processes[1].ended);
        assert_string_equal(line, "");
        assert_int_equal(env_sim_run(env, all_ended, processes, env_sim_now_ns(env) + 3 * END_NS),
                         0);
        assert_true(processes[0].ended && processes[1].ended);
        assert_non_null(strstr(line, "trainer 1 (process 2) did not come back in 600 s"));
        assert_null(strstr(line, "trainer 0"));
        cluster_fixture_close(&fixture);
    }
}

/* The patience of that end is of one absence: ranks that came back are waited for anew when one of
 * them dies again. */
static void ranks_that_come_back_are_waited_for_anew(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / 10; seed++) {
        struct program programs[] = { { .rank = 0, .finishes = true }, { .rank = 1 } };
        struct process processes[CLUSTER_FIXTURE_PROCESSES_MAX];
        struct cluster_fixture fixture;
        open_job(&beside, seed, &fixture, processes);
        spawn(&fixture, 0, &program_ops, &programs[0]);
        spawn(&fixture, 2, &program_ops, &programs[1]);
        struct env *env = fixture.env;
        (void)env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + END_NS);
        assert_int_equal(programs[0].restores + programs[1].restores, 2);
        cluster_fixture_kill(&fixture, 2);
        processes[2].ended = true;
        (void)env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + END_NS);
        /* It comes back, and all are in one era. */
        programs[1] = (struct program){ .rank = 1 };
        cluster_fixture_start(&fixture, 2);
        (void)env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + JOIN_NS);
        spawn(&fixture, 2, &program_ops, &programs[1]);
        (void)env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + COORDINATOR_RECOVERY_NS / 2);
        assert_int_equal(programs[0].restores, 2);
        assert_int_equal(programs[1].restores, 1);
        cluster_fixture_kill(&fixture, 2);
        /* The first absence is longer ago than anyone is waited for, the second is not. */
        (void)env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + COORDINATOR_RECOVERY_NS - END_NS);
        assert_false(processes[0].ended || processes[1].ended);
        assert_int_equal(env_sim_run(env, all_ended, processes, env_sim_now_ns(env) + 3 * END_NS),
                         0);
        cluster_fixture_close(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_cut_off_hears_of_the_end),
        cmocka_unit_test(an_end_whose_ranks_never_come_back_names_them),
        cmocka_unit_test(ranks_that_come_back_are_waited_for_anew),
        cmocka_unit_test(who_comes_too_late_beside_the_coordinator_leaves_it_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A process finds its place in a cluster from what its starter says, in a stated order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/process_identity.h"
#include "tests/scratch.h"

/* Processes: a: 0 and 1 servers, 2 sampler, 3 and 4 trainers; b: 5 everything. */
static const char CLUSTER[] =
    "{\"name\": \"job\", \"insecure_network\": true, \"hosts\": ["
    "{\"name\": \"a\", \"address\": \"10.0.0.1\", \"port\": 7000, \"servers\": 2, \"samplers\": 1,"
    " \"trainers\": 2, \"processes\": \"role\"},"
    "{\"name\": \"b.example.org\", \"port\": 7000}]}";

struct fixture {
    struct cluster cluster;
    struct cluster_plan plan;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    char path[64];
    struct error error = { 0 };
    int fd = mkstemp(scratch_template(path, sizeof path, "place"));
    assert_true(fd >= 0);
    assert_int_equal(write(fd, CLUSTER, sizeof CLUSTER - 1), sizeof CLUSTER - 1);
    close(fd);
    assert_int_equal(cluster_read(files_posix, path, &fixture.cluster, &error), 0);
    unlink(path);
    assert_int_equal(cluster_plan_make(&fixture.plan, &fixture.cluster, 3, &error), 0);
    assert_int_equal(fixture.plan.plan.num_processes, 6);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    cluster_plan_fini(&fixture->plan);
    cluster_fini(&fixture->cluster);
    return 0;
}

/* "NAME=VALUE" texts, NULL ends. */
static const char *look(void *arg, const char *name)
{
    for (const char *const *at = arg; *at != NULL; at++)
        if (strncmp(*at, name, strlen(name)) == 0 && (*at)[strlen(name)] == '=')
            return *at + strlen(name) + 1;
    return NULL;
}

#define VARIABLES_MAX 5

struct row {
    const char *variables[VARIABLES_MAX + 1];
    const char *host, *host_name;
    enum launcher_role role;
    uint32_t process, index;
    uint32_t expected; /* PROCESS_IDENTITY_NONE: refused, with ... */
    const char *says;
};

#define NONE PROCESS_IDENTITY_NONE

static const struct row ROWS[] = {
    { .process = 4, .index = NONE, .expected = 4 },
    { .process = 6, .index = NONE, .expected = NONE, .says = "0 to 5" },
    { .variables = { "TROUPE_PROCESS=2" }, .process = 1, .index = NONE, .expected = 1 },
    { .variables = { "TROUPE_PROCESS=2", "TROUPE_HOST=b.example.org" },
      .process = NONE,
      .index = NONE,
      .expected = 2 },
    { .variables = { "TROUPE_PROCESS=two" },
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "TROUPE_PROCESS=two" },
    { .variables = { "TROUPE_PROCESS=99" },
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "0 to 5" },
    { .host = "a", .role = LAUNCHER_SERVER, .process = NONE, .index = 1, .expected = 1 },
    { .host = "a", .role = LAUNCHER_SAMPLER, .process = NONE, .index = NONE, .expected = 2 },
    { .host = "a",
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "options.index, 0 to 1" },
    { .host = "a",
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = 2,
      .expected = NONE,
      .says = "not 3" },
    { .host = "b.example.org",
      .role = LAUNCHER_SERVER,
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "no process with the role server" },
    { .host = "c", .process = NONE, .index = NONE, .expected = NONE, .says = "a" },
    { .variables = { "TROUPE_HOST=a", "TROUPE_INDEX=1" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 4 },
    { .variables = { "SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=6" },
      .process = NONE,
      .index = NONE,
      .expected = 3 },
    { .variables = { "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1", "SLURMD_NODENAME=a" },
      .role = LAUNCHER_SAMPLER,
      .process = NONE,
      .index = NONE,
      .expected = 2 },
    { .variables = { "RANK=1", "WORLD_SIZE=3" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 4 },
    { .variables = { "RANK=1", "WORLD_SIZE=2" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "has 3 trainers" },
    { .variables = { "RANK=1", "WORLD_SIZE=3" },
      .role = LAUNCHER_SAMPLER,
      .process = NONE,
      .index = NONE,
      .host_name = "a",
      .expected = 2 },
    { .role = LAUNCHER_SAMPLER,
      .process = NONE,
      .index = NONE,
      .host_name = "a.cluster.local",
      .expected = 2 },
    { .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .host_name = "b.example.org",
      .expected = 5 },
    { .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .host_name = "trainer-2",
      .expected = 5 },
    { .role = LAUNCHER_SERVER,
      .process = NONE,
      .index = NONE,
      .host_name = "server-1.troupe",
      .expected = 1 },
    { .role = LAUNCHER_SERVER,
      .process = NONE,
      .index = NONE,
      .host_name = "server-2",
      .expected = NONE,
      .says = "not 3" },
    { .process = NONE,
      .index = NONE,
      .host_name = "elsewhere",
      .expected = NONE,
      .says = "elsewhere" },
    { .process = NONE, .index = NONE, .expected = NONE, .says = "options.process" },
    { .process = 5, .index = NONE, .expected = 5 }, /* the last one of all */
    { .process = 0, .index = NONE, .expected = 0 },
    { .variables = { "TROUPE_PROCESS=5" }, .process = NONE, .index = NONE, .expected = 5 },
    { .variables = { "TROUPE_PROCESS=6" },
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "TROUPE_PROCESS 6" },
    { .variables = { "TROUPE_PROCESS=", "TROUPE_HOST=" }, /* empty is not said */
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .host_name = "b.example.org",
      .expected = 5 },
    { .host = "a", .role = LAUNCHER_SERVER, .process = NONE, .index = 0, .expected = 0 },
    { .host = "a",
      .role = LAUNCHER_SERVER,
      .process = NONE,
      .index = 2,
      .expected = NONE,
      .says = "host a has 2 processes with the role server, not 3" },
    { .host = "a", /* what is said by options goes before the environment */
      .variables = { "TROUPE_INDEX=0", "TROUPE_PROCESS=2" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = 1,
      .expected = 4 },
    { .host = "a",
      .variables = { "TROUPE_INDEX=x" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "TROUPE_INDEX=x" },
    { .variables = { "SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=6" },
      .process = NONE,
      .index = NONE,
      .expected = 5 },
    { .variables = { "SLURM_PROCID=6", "SLURM_STEP_NUM_TASKS=6", "SLURMD_NODENAME=b.example.org" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 5 },
    { .variables = { "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=7", "SLURMD_NODENAME=10.0.0.1" },
      .role = LAUNCHER_SERVER,
      .process = NONE,
      .index = 1,
      .expected = 1 },
    { .variables = { "SLURM_PROCID=1", "SLURMD_NODENAME=zz" }, /* a host of another job */
      .role = LAUNCHER_SAMPLER,
      .process = NONE,
      .index = NONE,
      .host_name = "a",
      .expected = 2 },
    { .variables = { "SLURM_STEP_NUM_TASKS=6", "SLURMD_NODENAME=a" }, /* in no task */
      .role = LAUNCHER_SAMPLER,
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "cannot tell which" },
    { .variables = { "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=six" },
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "SLURM_STEP_NUM_TASKS=six" },
    { .variables = { "RANK=0", "WORLD_SIZE=3" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 3 },
    { .variables = { "RANK=2", "WORLD_SIZE=3" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 5 },
    { .variables = { "RANK=3", "WORLD_SIZE=3" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "RANK=3 of WORLD_SIZE=3" },
    { .variables = { "RANK=1" }, /* half of it says nothing */
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .host_name = "b",
      .expected = NONE,
      .says = "cannot tell which" },
    { .variables = { "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=3" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 4 },
    { .variables = { "PMI_RANK=2", "PMI_SIZE=3" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 5 },
    { .variables = { "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=3" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "OMPI_COMM_WORLD_RANK=3 of OMPI_COMM_WORLD_SIZE=3" },
    { .variables = { "PMI_RANK=0", "PMI_SIZE=2" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "PMI_RANK=0 of PMI_SIZE=2 in the environment" },
    { .variables = { "PMI_RANK=x", "PMI_SIZE=3" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "PMI_RANK=x" },
    { .variables = { "PMI_RANK=0", "PMI_SIZE=3", "RANK=2", "WORLD_SIZE=3" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 5 },
    { .variables = { "RANK=2", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=3" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 3 },
    { .variables = { "PMI_RANK=1", "PMI_SIZE=3", "TROUPE_PROCESS=5" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 5 },
    { .variables = { "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=9" }, /* it is no trainer */
      .role = LAUNCHER_SAMPLER,
      .process = NONE,
      .index = NONE,
      .host_name = "a",
      .expected = 2 },
    /* mpirun in a batch script or a step of Slurm: its programs inherit these numbers. */
    { .variables = { "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=6", "SLURMD_NODENAME=b.example.org",
                     "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=3" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 4 },
    { .variables = { "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=6", "SLURMD_NODENAME=b.example.org",
                     "PMI_RANK=1", "PMI_SIZE=3", "MPI_LOCALRANKID=1" }, /* MPICH's mpiexec */
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 4 },
    { .variables = { "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=6", "PMI_RANK=1", "PMI_SIZE=4",
                     "MPI_LOCALRANKID=1" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "PMI_RANK=1 of PMI_SIZE=4" },
    { .variables = { "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=2", "SLURMD_NODENAME=b.example.org",
                     "PMI_RANK=0", "PMI_SIZE=2" }, /* srun itself has both */
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = 5 },
    { .variables = { "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1" }, /* a starter of one */
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .host_name = "b.example.org",
      .expected = 5 },
    { .variables = { "RANK=x", "WORLD_SIZE=3" },
      .role = LAUNCHER_TRAINER,
      .process = NONE,
      .index = NONE,
      .expected = NONE,
      .says = "RANK=x" },
    { .role = LAUNCHER_SERVER,
      .process = NONE,
      .index = NONE,
      .host_name = "server-000001",
      .expected = 1 },
    { .role = LAUNCHER_SERVER,
      .process = NONE,
      .index = NONE,
      .host_name = "server-0000001", /* no number of a host is so long */
      .expected = NONE,
      .says = "cannot tell which" },
    { .role = LAUNCHER_SERVER,
      .process = NONE,
      .index = NONE,
      .host_name = "server1",
      .expected = NONE,
      .says = "cannot tell which" },
    { .role = LAUNCHER_SERVER,
      .process = NONE,
      .index = NONE,
      .host_name = "server-",
      .expected = NONE,
      .says = "cannot tell which" },
    { .role = LAUNCHER_SERVER,
      .process = NONE,
      .index = NONE,
      .host_name = "1",
      .expected = NONE,
      .says = "cannot tell which" },
    { .role = LAUNCHER_SERVER,
      .process = NONE,
      .index = NONE,
      .host_name = "x-90-0",
      .expected = 0 },
};

/* Whole numbers and nothing else; the last is the one that says nothing. */
static void numbers_are_whole(void **state)
{
    static const struct {
        const char *text;
        bool is;
        uint32_t number;
    } CASES[] = {
        { NULL, true, NONE },
        { "0", true, 0 },
        { "9", true, 9 },
        { "10", true, 10 },
        { "007", true, 7 },
        { "4294967294", true, 4294967294u },
        { "4294967295", false, NONE },
        { "", false, NONE },
        { "+1", false, NONE },
        { "-1", false, NONE },
        { " 1", false, NONE },
        { "1 ", false, NONE },
        { "1x", false, NONE },
        { "x", false, NONE },
        { ":", false, NONE },
        { "/", false, NONE },
        { "99999999999999999999", false, NONE },
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        uint32_t number = 77;
        if (process_identity_read_number(CASES[i].text, &number) != CASES[i].is ||
            number != CASES[i].number)
            fail_msg("\"%s\": %u", CASES[i].text, number);
    }
}

/* A wrong word is distinguished from a number that is too large, and from other trainers than
 * ours. */
static void each_refusal_has_its_code(void **state)
{
    static const struct {
        const char *variables[VARIABLES_MAX + 1];
        const char *host;
        uint32_t process, index;
        int code;
    } CASES[] = {
        { .process = 6, .index = NONE, .code = TR_ERANGE },
        { .host = "c", .process = NONE, .index = NONE, .code = TR_EINVAL },
        { .host = "a", .process = NONE, .index = NONE, .code = TR_EINVAL },
        { .host = "a", .process = NONE, .index = 2, .code = TR_ERANGE },
        { .variables = { "TROUPE_PROCESS=x" }, .process = NONE, .index = NONE, .code = TR_EINVAL },
        { .variables = { "RANK=0", "WORLD_SIZE=9" },
          .process = NONE,
          .index = NONE,
          .code = TR_EMISMATCH },
        { .variables = { "PMI_RANK=0", "PMI_SIZE=9" },
          .process = NONE,
          .index = NONE,
          .code = TR_EMISMATCH },
        { .process = NONE, .index = NONE, .code = TR_EINVAL },
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct process_identity_wanted wanted = {
            .process = CASES[i].process,
            .host = CASES[i].host,
            .role = LAUNCHER_TRAINER,
            .index = CASES[i].index,
            .environment = look,
            .arg = (void *)(uintptr_t)CASES[i].variables,
        };
        uint32_t process;
        struct error error = { 0 };
        int rv = process_identity_find(&fixture->plan, &wanted, &process, &error);
        if (rv != CASES[i].code || error.code != CASES[i].code)
            fail_msg("case %zu: %d, %d", i, rv, error.code);
        assert_int_equal(process_identity_find(&fixture->plan, &wanted, &process, NULL), rv);
    }
}

static void each_way_of_saying_it_is_understood(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct row *row = &ROWS[i];
        const struct process_identity_wanted wanted = {
            .process = row->process,
            .host = row->host,
            .role = row->role,
            .index = row->index,
            .environment = look,
            .arg = (void *)(uintptr_t)row->variables,
            .host_name = row->host_name,
        };
        uint32_t process = NONE;
        struct error error = { 0 };
        int rv = process_identity_find(&fixture->plan, &wanted, &process, &error);
        if (row->expected == NONE && (rv == 0 || strstr(error.text, row->says) == NULL))
            fail_msg("row %zu: %d, process %u, \"%s\"", i, rv, process, error.text);
        if (row->expected != NONE && (rv != 0 || process != row->expected))
            fail_msg("row %zu: %d, process %u, not %u: \"%s\"", i, rv, process, row->expected,
                     error.text);
    }
}

static void a_process_is_started_by_the_command_of_its_role(void **state)
{
    struct fixture *fixture = *state;
    struct error error = { 0 };
    assert_int_equal(process_identity_check(&fixture->plan.plan, 0, LAUNCHER_SERVER, &error), 0);
    assert_int_equal(process_identity_check(&fixture->plan.plan, 2, LAUNCHER_SAMPLER, &error), 0);
    assert_int_equal(process_identity_check(&fixture->plan.plan, 5, LAUNCHER_TRAINER, &error), 0);
    assert_int_equal(process_identity_check(&fixture->plan.plan, 5, LAUNCHER_SERVER, &error),
                     TR_EINVAL);
    assert_non_null(strstr(error.text, "troupe train"));
}

/* A program a rank would be two programs of one process. */
static void ranks_of_one_process_are_no_programs(void **state)
{
    static const char text[] =
        "{\"name\": \"job\", \"insecure_network\": true, \"hosts\": [{\"name\": \"a\", "
        "\"port\": 7000, \"trainers\": 2}, {\"name\": \"b\", \"port\": 7000}]}";
    static const char *const variables[] = { "RANK=1", "WORLD_SIZE=3", NULL };
    static const char *const other[] = { "RANK=2", "WORLD_SIZE=3", NULL };
    const struct process_identity_wanted wanted = {
        .role = LAUNCHER_TRAINER, .process = NONE, .index = NONE, .environment = look
    };
    char path[64];
    struct error error = { 0 };
    struct cluster cluster;
    struct cluster_plan plan;
    uint32_t process;
    (void)state;
    int fd = mkstemp(scratch_template(path, sizeof path, "place"));
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    assert_int_equal(cluster_read(files_posix, path, &cluster, &error), 0);
    unlink(path);
    assert_int_equal(cluster_plan_make(&plan, &cluster, 3, &error), 0);
    struct process_identity_wanted ranked = wanted;
    ranked.arg = (void *)(uintptr_t)variables;
    assert_int_equal(process_identity_find(&plan, &ranked, &process, &error), TR_EMISMATCH);
    assert_non_null(strstr(error.text, "process 0"));
    assert_non_null(strstr(error.text, "has 2 trainers"));
    ranked.arg = (void *)(uintptr_t)other;
    assert_int_equal(process_identity_find(&plan, &ranked, &process, &error), 0);
    assert_int_equal(process, 1);
    cluster_plan_fini(&plan);
    cluster_fini(&cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_of_saying_it_is_understood),
        cmocka_unit_test(numbers_are_whole),
        cmocka_unit_test(each_refusal_has_its_code),
        cmocka_unit_test(ranks_of_one_process_are_no_programs),
        cmocka_unit_test(a_process_is_started_by_the_command_of_its_role),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

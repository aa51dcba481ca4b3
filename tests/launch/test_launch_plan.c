/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that a launcher starts of a cluster: the words and the environment of each process,
 * as they are run here, by ssh and by srun. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/launch_plan.h"
#include "tests/scratch.h"

#define PARTS 3
#define LINE_MAX_BYTES 1200
#define NAMES_TROUPE \
    "TROUPE_LAUNCHED=1 TROUPE_CLUSTER=/c/job.json TROUPE_PROCESS=%u TROUPE_INCARNATION=7 "

/* Processes: a: 0 and 1 servers, 2 sampler, 3 and 4 trainers; b: 5 server, 6 and 7 trainers. */
static const char CLUSTER[] =
    "{\"name\": \"job\", \"insecure_network\": true, \"hosts\": ["
    "{\"name\": \"a\", \"address\": \"10.0.0.1\", \"port\": 7000, \"servers\": 2, \"samplers\": 1,"
    " \"trainers\": 2, \"processes\": \"role\"},"
    "{\"name\": \"b\", \"port\": 7100, \"servers\": 1, \"samplers\": 0, \"trainers\": 2,"
    " \"threads\": 5, \"processes\": \"role\"}]}";

static char *copy(const char *text)
{
    char *copied = strdup(text);
    assert_non_null(copied);
    return copied;
}

static int set_up(void **state)
{
    struct launch_plan *plan = calloc(1, sizeof *plan);
    char path[64];
    struct error error = { 0 };
    int fd = mkstemp(scratch_template(path, sizeof path, "words"));
    assert_true(plan != NULL && fd >= 0);
    assert_int_equal(write(fd, CLUSTER, sizeof CLUSTER - 1), sizeof CLUSTER - 1);
    close(fd);
    if (cluster_read(files_posix, path, &plan->cluster, &error) != 0 ||
        cluster_plan_make(&plan->plan, &plan->cluster, PARTS, &error) != 0)
        fail_msg("%s", error.text);
    unlink(path);
    assert_int_equal(plan->plan.plan.num_processes, 8);
    plan->cluster.hosts[0].threads = 0; /* it is not said */
    plan->cluster_path = copy("/c/job.json");
    plan->graph_path = copy("/g/g.json");
    plan->program = copy("/bin/troupe");
    plan->request.master_port = 29500;
    plan->kind = CLUSTER_LAUNCH_LOCAL;
    *state = plan;
    return 0;
}

static int tear_down(void **state)
{
    launch_plan_fini(*state);
    free(*state);
    return 0;
}

/* Words and environment of incarnation 7 as lines that a shell takes. */
static void lines_of(const struct launch_plan *plan, uint32_t process, char *words,
                     char *environment)
{
    struct argv_builder made = { 0 }, names = { 0 };
    struct error error = { 0 };
    assert_int_equal(launch_process_words(plan, process, 7, 0, &made, &names, &error), 0);
    char *line = argv_builder_quote(&made), *rest = argv_builder_quote(&names);
    assert_true(line != NULL && rest != NULL);
    snprintf(words, LINE_MAX_BYTES, "%s", line);
    snprintf(environment, LINE_MAX_BYTES, "%s", rest);
    free(line);
    free(rest);
    argv_builder_fini(&made);
    argv_builder_fini(&names);
}

static void assert_words(const struct launch_plan *plan, uint32_t process, const char *expected)
{
    char words[LINE_MAX_BYTES], environment[LINE_MAX_BYTES];
    lines_of(plan, process, words, environment);
    assert_string_equal(words, expected);
}

#define TAKES " /g/g.json --cluster /c/job.json --process="

static void each_role_has_its_command(void **state)
{
    struct launch_plan *plan = *state;
    assert_words(plan, 0, "/bin/troupe serve" TAKES "0");
    assert_words(plan, 1, "/bin/troupe serve" TAKES "1");
    assert_words(plan, 2, "/bin/troupe sample" TAKES "2");
    assert_words(plan, 3, "/bin/troupe train" TAKES "3");
    assert_words(plan, 7, "/bin/troupe train" TAKES "7");
    plan->run = copy("/r/one");
    argv_builder_add(&plan->request.arguments, "--lr");
    argv_builder_add(&plan->request.arguments, "0.5");
    assert_words(plan, 0, "/bin/troupe serve" TAKES "0"); /* what trainers alone take */
    assert_words(plan, 4, "/bin/troupe train" TAKES "4 --run=/r/one --lr 0.5");
}

/* Samplers and servers open the folder of checkpoints too: they are notified that it is emptied,
 * where it is the one beside the run. */
static void a_replaced_run_is_replaced_by_all(void **state)
{
    static const struct {
        const char *arguments[3];
        bool replaces;
    } CASES[] = {
        { { "--lr=1", "--replace" }, true },
        { { "--replace", "--lr=1" }, true },
        { { "--lr=1" }, false },
        { { "--replaced" }, false },
        { { "--replace", "--checkpoints=/k" }, false },
        { { "--checkpoints", "/k", "--replace" }, false },
        { { "--replace", "--checkpoint-keep=2" }, true },
        { { "--replace", "--checkpoints-of=2" }, true },
        { { "--replace", "--checkpoint" }, true },
    };
    struct launch_plan *plan = *state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        argv_builder_fini(&plan->request.arguments);
        for (size_t k = 0; k < 3 && CASES[i].arguments[k] != NULL; k++)
            argv_builder_add(&plan->request.arguments, CASES[i].arguments[k]);
        assert_words(plan, 5,
                     CASES[i].replaces ? "/bin/troupe serve" TAKES "5 --replace"
                                       : "/bin/troupe serve" TAKES "5");
    }
    plan->request.exec = copy("python train.py");
    argv_builder_fini(&plan->request.arguments);
    argv_builder_add(&plan->request.arguments, "--replace"); /* the program's own word */
    assert_words(plan, 2, "/bin/troupe sample" TAKES "2");
}

static void a_program_of_the_user_takes_the_place_of_trainers(void **state)
{
    struct launch_plan *plan = *state;
    plan->request.exec = copy("python3 train.py");
    argv_builder_add(&plan->request.arguments, "--lr");
    argv_builder_add(&plan->request.arguments, "a b");
    assert_words(plan, 6, "/bin/troupe hold -- sh -c 'exec python3 train.py \"$@\"' sh --lr 'a b'");
    assert_words(plan, 0, "/bin/troupe serve" TAKES "0");
    assert_words(plan, 2, "/bin/troupe sample" TAKES "2");
}

static void assert_environment(const struct launch_plan *plan, uint32_t process, const char *rest)
{
    char words[LINE_MAX_BYTES], environment[LINE_MAX_BYTES], expected[LINE_MAX_BYTES];
    int length = snprintf(expected, sizeof expected, NAMES_TROUPE, process);
    snprintf(expected + length, sizeof expected - (size_t)length, "%s", rest);
    lines_of(plan, process, words, environment);
    assert_string_equal(environment, expected);
}

/* Ranks go on over hosts; the number on a host begins anew. Threads that are not said are one. */
static void trainers_know_their_ranks(void **state)
{
    struct launch_plan *plan = *state;
#define RANK_OF(rank, local)                                                 \
    "TROUPE_RESTARTED=0 TROUPE_RESTARTS=0 TROUPE_GRAPH=/g/g.json RANK=" rank \
    " WORLD_SIZE=4 LOCAL_RANK=" local
#define MASTER " MASTER_ADDR=10.0.0.1 MASTER_PORT=29500"
    assert_environment(plan, 3, RANK_OF("0", "0") MASTER " OMP_NUM_THREADS=1");
    assert_environment(plan, 4, RANK_OF("1", "1") MASTER " OMP_NUM_THREADS=1");
    assert_environment(plan, 6, RANK_OF("2", "0") MASTER " OMP_NUM_THREADS=5");
    assert_environment(plan, 7, RANK_OF("3", "1") MASTER " OMP_NUM_THREADS=5");
    assert_environment(plan, 0, "TROUPE_RESTARTED=0 TROUPE_RESTARTS=0 TROUPE_GRAPH=/g/g.json");
    assert_environment(plan, 5, "TROUPE_RESTARTED=0 TROUPE_RESTARTS=0 TROUPE_GRAPH=/g/g.json");
    plan->cluster.hosts[1].threads = 2;
    plan->request.master_port = 4000;
    free(plan->cluster.hosts[0].address);
    plan->cluster.hosts[0].address = NULL;
    assert_environment(
        plan, 6, RANK_OF("2", "0") " MASTER_ADDR=127.0.0.1 MASTER_PORT=4000 OMP_NUM_THREADS=2");
}

static void a_restarted_process_knows_it_and_a_key_comes_by_its_input(void **state)
{
    struct launch_plan *plan = *state;
    struct argv_builder words = { 0 }, names = { 0 };
    struct error error = { 0 };
    plan->key.path = copy("/proc/1/fd/9");
    assert_int_equal(launch_process_words(plan, 2, 4294967295u, 3, &words, &names, &error), 0);
    char *line = argv_builder_quote(&names);
    assert_string_equal(line, "TROUPE_LAUNCHED=1 TROUPE_CLUSTER=/c/job.json TROUPE_PROCESS=2 "
                              "TROUPE_INCARNATION=4294967295 TROUPE_RESTARTED=1 TROUPE_RESTARTS=3 "
                              "TROUPE_GRAPH=/g/g.json TROUPE_SHARED_KEY=-");
    free(line);
    argv_builder_fini(&words);
    argv_builder_fini(&names);
}

#define REMOTE_NAMES                                                                    \
    "env TROUPE_LAUNCHED=1 TROUPE_CLUSTER=/c/job.json TROUPE_PROCESS=%d "               \
    "TROUPE_INCARNATION=7 TROUPE_RESTARTED=0 TROUPE_RESTARTS=0 TROUPE_GRAPH=/g/g.json " \
    "/bin/%s /g/g.json --cluster /c/job.json --process=%d"

static void assert_remote(const struct launch_plan *plan, int process, const char *command,
                          const char *before, const char *after)
{
    char words[LINE_MAX_BYTES], environment[LINE_MAX_BYTES], expected[LINE_MAX_BYTES];
    snprintf(expected, sizeof expected, "%s" REMOTE_NAMES "%s", before, process, command, process,
             after);
    lines_of(plan, (uint32_t)process, words, environment);
    assert_string_equal(words, expected);
    assert_string_equal(environment, ""); /* it went with the command */
}

/* Hosts are reached by their address, or by their name where they have none. */
static void ssh_runs_the_command_in_its_folder(void **state)
{
    struct launch_plan *plan = *state;
    plan->kind = CLUSTER_LAUNCH_SSH;
    assert_remote(plan, 2, "troupe sample", "ssh -o BatchMode=yes -- 10.0.0.1 'exec ", "'");
    free(plan->cluster.hosts[0].address);
    plan->cluster.hosts[0].address = NULL;
    assert_remote(plan, 2, "troupe sample", "ssh -o BatchMode=yes -- a 'exec ", "'");
    plan->cluster.launcher.user = copy("me");
    plan->cluster.launcher.workdir = copy("/w");
    assert_remote(plan, 2, "troupe sample", "ssh -o BatchMode=yes -l me -- a 'cd /w && exec ", "'");
    plan->cluster.launcher.program = copy("/bin/other");
    assert_remote(plan, 1, "other serve", "ssh -o BatchMode=yes -l me -- a 'cd /w && exec ", "'");
}

static void srun_names_the_host(void **state)
{
    struct launch_plan *plan = *state;
    plan->kind = CLUSTER_LAUNCH_SRUN;
    assert_remote(plan, 0, "troupe serve", "srun --nodes=1 --ntasks=1 --overlap --nodelist=a ", "");
    plan->cluster.launcher.workdir = copy("/w");
    plan->cluster.launcher.program = copy("/bin/other");
    assert_remote(plan, 5, "other serve",
                  "srun --nodes=1 --ntasks=1 --overlap --nodelist=b --chdir=/w ", "");
    plan->kind = CLUSTER_LAUNCH_LOCAL; /* here the launcher's own program is run */
    assert_words(plan, 0, "/bin/troupe serve" TAKES "0");
}

/* The words of the cluster file, which what runs follows; or the place in them that says so. */
static void set_command(struct launch_plan *plan, const char *const *words, uint32_t count)
{
    struct cluster_launcher *launcher = &plan->cluster.launcher;
    for (uint32_t i = 0; i < launcher->num_command; i++)
        free(launcher->command[i]);
    free(launcher->command);
    launcher->command = calloc(count, sizeof *launcher->command);
    assert_non_null(launcher->command);
    launcher->num_command = count;
    for (uint32_t i = 0; i < count; i++)
        launcher->command[i] = copy(words[i]);
}

static void a_command_names_host_and_address(void **state)
{
    static const char *const behind[] = { "kubectl", "exec", "-i", "{host}.{host}", "--" };
    static const char *const as_text[] = { "rsh", "{address}", "echo {host}; {command}" };
    struct launch_plan *plan = *state;
    plan->kind = CLUSTER_LAUNCH_COMMAND;
    set_command(plan, behind, 5);
    assert_remote(plan, 2, "troupe sample", "kubectl exec -i a.a -- ", "");
    plan->cluster.launcher.program = copy("/bin/other");
    assert_remote(plan, 1, "other serve", "kubectl exec -i a.a -- ", "");
    set_command(plan, as_text, 3);
    assert_remote(plan, 1, "other serve", "rsh 10.0.0.1 'echo a; ", "'");
    plan->cluster.launcher.workdir = copy("/w");
    set_command(plan, behind, 5);
    assert_remote(plan, 1, "other serve",
                  "kubectl exec -i a.a -- sh -c 'cd -- \"$1\" && shift && exec \"$@\"' sh /w ", "");
}

/* What runs may have in it what stands for something in the words before it. */
static void what_runs_is_not_read_as_words_of_the_command(void **state)
{
    static const char *const as_text[] = { "rsh", "{command}" };
    struct launch_plan *plan = *state;
    struct argv_builder words = { 0 }, names = { 0 };
    struct error error = { 0 };
    plan->kind = CLUSTER_LAUNCH_COMMAND;
    set_command(plan, as_text, 2);
    argv_builder_add(&plan->request.arguments, "{command}{host}");
    assert_int_equal(launch_process_words(plan, 6, 1, 0, &words, &names, &error), 0);
    assert_int_equal(words.count, 2);
    assert_non_null(strstr(words.list[1], "'{command}{host}'"));
    argv_builder_fini(&words);
    argv_builder_fini(&names);
}

static void too_many_words_are_refused(void **state)
{
    struct launch_plan *plan = *state;
    struct error error;
    while (plan->request.arguments.count < ARGV_WORDS_MAX - 1)
        argv_builder_add(&plan->request.arguments, "x");
    assert_false(argv_builder_failed(&plan->request.arguments));
    for (int kind = 0; kind < 3; kind++) {
        static const enum cluster_launcher_kind KINDS[] = { CLUSTER_LAUNCH_LOCAL,
                                                            CLUSTER_LAUNCH_SSH,
                                                            CLUSTER_LAUNCH_SRUN };
        struct argv_builder words = { 0 }, names = { 0 };
        error = (struct error){ 0 };
        plan->kind = KINDS[kind];
        assert_int_equal(launch_process_words(plan, 6, 1, 0, &words, &names, &error), TR_ENOMEM);
        assert_non_null(strstr(error.text, "host b"));
        argv_builder_fini(&words);
        argv_builder_fini(&names);
    }
}

static void prefixes_name_host_role_and_number(void **state)
{
    struct launch_plan *plan = *state;
    char prefix[LAUNCH_PREFIX_MAX], name[200];
    launch_prefix(plan, 1, prefix);
    assert_string_equal(prefix, "[a/server 1]");
    launch_prefix(plan, 2, prefix);
    assert_string_equal(prefix, "[a/sampler 2]");
    launch_prefix(plan, 6, prefix);
    assert_string_equal(prefix, "[b/trainer 6]");
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    free(plan->cluster.hosts[1].name);
    plan->cluster.hosts[1].name = copy(name);
    launch_prefix(plan, 6, prefix); /* a long name is cut, and the process still known by it */
    assert_int_equal(strlen(prefix), 1 + 120 + strlen("/trainer 6]"));
    assert_string_equal(prefix + 121, "/trainer 6]");
}

/* Only where several hosts may share the folder of checkpoints is it made, and looked for; this one
 * cannot be. */
static void folders_are_looked_for_where_hosts_may_share_them(void **state)
{
    static const struct {
        enum cluster_launcher_kind kind;
        uint32_t num_hosts;
        const char *folder;
        int rv;
    } cases[] = {
        { CLUSTER_LAUNCH_SSH, 2, "/dev/null/x", 1 },
        { CLUSTER_LAUNCH_SRUN, 3, "/dev/null/x", 1 },
        { CLUSTER_LAUNCH_LOCAL, 2, "/dev/null/x", 0 },
        { CLUSTER_LAUNCH_SSH, 1, "/dev/null/x", 0 },
        { CLUSTER_LAUNCH_SSH, 2, NULL, 0 },
        { CLUSTER_LAUNCH_SSH, 2, "/dev/null/%h", 0 },
    };
    const struct launch_plan *shared = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct launch_plan plan = *shared;
        struct launch_job job = { .plan = &plan };
        struct error error = { 0 };
        plan.kind = cases[i].kind;
        plan.cluster.num_hosts = cases[i].num_hosts;
        plan.cluster.checkpoints.folder = (char *)(uintptr_t)cases[i].folder;
        int rv = launch_check_shared(&job, &error);
        assert_int_equal(rv != 0, cases[i].rv);
        if (rv != 0)
            assert_non_null(strstr(error.text, "/dev/null"));
    }
}

int main(void)
{
#define PLAN_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        PLAN_TEST(each_role_has_its_command),
        PLAN_TEST(a_replaced_run_is_replaced_by_all),
        PLAN_TEST(a_program_of_the_user_takes_the_place_of_trainers),
        PLAN_TEST(trainers_know_their_ranks),
        PLAN_TEST(a_restarted_process_knows_it_and_a_key_comes_by_its_input),
        PLAN_TEST(ssh_runs_the_command_in_its_folder),
        PLAN_TEST(srun_names_the_host),
        PLAN_TEST(a_command_names_host_and_address),
        PLAN_TEST(what_runs_is_not_read_as_words_of_the_command),
        PLAN_TEST(too_many_words_are_refused),
        PLAN_TEST(prefixes_name_host_role_and_number),
        PLAN_TEST(folders_are_looked_for_where_hosts_may_share_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

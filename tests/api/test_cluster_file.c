/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cluster files, their plans and keys through the public API: each partition is served, samplers
 * and ranks are dealt once, both forms of a file are read, and what is wrong has a message.
 */
#include <sys/stat.h>

#include <troupe/troupe.h>

#include "tests/partition/raw_util.h"

#define PARTS 7u

static const char *const CLUSTER =
    "{\"name\": \"two\", \"hosts\": ["
    "{\"name\": \"a\", \"address\": \"127.0.0.1\", \"port\": 4100, \"servers\": 1, \"samplers\": 2,"
    " \"trainers\": 2},"
    "{\"name\": \"b\", \"address\": \"127.0.0.2\", \"port\": 4200, \"servers\": 1, \"samplers\": 1,"
    " \"trainers\": 1}]}";

static struct tr_cluster *open_text(struct scratch *scratch, const char *name, const char *text)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_cluster *cluster;
    put_text(scratch, name, text);
    if (tr_cluster_open(at(scratch, name), &cluster, &error) != 0)
        fail_msg("%s", error.message);
    return cluster;
}

static void plan_deals_everything_once(void **state)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_cluster_info file = TR_CLUSTER_INFO_INIT;
    struct tr_plan_info made = TR_PLAN_INFO_INIT;
    struct tr_cluster *cluster = open_text(*state, "cluster.json", CLUSTER);
    struct tr_plan *plan;
    uint32_t served[PARTS] = { 0 }, samplers = 0, trainers = 0;
    assert_int_equal(tr_cluster_info(cluster, &file, &error), 0);
    assert_string_equal(file.name, "two");
    assert_null(file.graph);
    assert_int_equal(file.num_hosts, 2);
    assert_int_equal(file.security, TR_SECURITY_JOB_KEY);
    if (tr_plan_open(cluster, PARTS, &plan, &error) != 0)
        fail_msg("%s", error.message);
    assert_int_equal(tr_plan_info(plan, &made, &error), 0);
    assert_int_equal(made.num_parts, PARTS);
    assert_int_equal(made.num_samplers, 3);
    assert_int_equal(made.num_trainers, 3);
    for (uint32_t p = 0; p < made.num_processes; p++) {
        struct tr_plan_process_info process = TR_PLAN_PROCESS_INFO_INIT;
        struct tr_cluster_host_info host = TR_CLUSTER_HOST_INFO_INIT;
        assert_int_equal(tr_plan_process(plan, p, &process, &error), 0);
        assert_int_equal(tr_cluster_host(cluster, process.host, &host, &error), 0);
        assert_non_null(strstr(process.endpoint, host.address));
        assert_int_equal((process.roles & TR_ROLE_COORDINATOR) != 0, p == made.coordinator);
        for (uint32_t i = 0; i < process.num_parts; i++)
            served[process.parts[i]]++;
        if (process.num_samplers > 0)
            assert_int_equal(process.first_sampler, samplers);
        if (process.num_trainers > 0)
            assert_int_equal(process.first_trainer, trainers);
        samplers += process.num_samplers;
        trainers += process.num_trainers;
    }
    assert_int_equal(samplers, made.num_samplers);
    assert_int_equal(trainers, made.num_trainers);
    for (uint32_t part = 0; part < PARTS; part++)
        assert_in_range(served[part], made.replicas_least, made.replicas_most);
    struct tr_plan_process_info none = TR_PLAN_PROCESS_INFO_INIT;
    assert_int_equal(tr_plan_process(plan, made.num_processes, &none, &error), TR_ERANGE);
    struct tr_cluster_host_info no_host = TR_CLUSTER_HOST_INFO_INIT;
    assert_int_equal(tr_cluster_host(cluster, 2, &no_host, &error), TR_ERANGE);
    tr_plan_close(plan);
    tr_cluster_close(cluster);
}

static void ip_config_is_read_too(void **state)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_cluster_host_info host = TR_CLUSTER_HOST_INFO_INIT;
    struct tr_cluster *cluster = open_text(*state, "ip_config.txt", "10.0.0.1 30051\n10.0.0.2\n");
    assert_int_equal(tr_cluster_host(cluster, 0, &host, &error), 0);
    assert_string_equal(host.address, "10.0.0.1");
    assert_int_equal(host.port, 30051);
    assert_int_equal(tr_cluster_host(cluster, 1, &host, &error), 0);
    assert_int_equal(host.port, 30050);
    tr_cluster_close(cluster);
}

static void what_is_wrong_is_named(void **state)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_cluster *cluster;
    struct tr_plan *plan;
    struct scratch *scratch = *state;
    assert_int_equal(tr_cluster_open("/nowhere/cluster.json", &cluster, &error), TR_ENOENT);
    assert_null(cluster);
    assert_non_null(strstr(error.message, "/nowhere/cluster.json"));
    assert_int_equal(tr_cluster_open(NULL, &cluster, &error), TR_EINVAL);
    put_text(scratch, "broken.json",
             "{\"name\": \"n\", \"hosts\": [{\"name\": \"a\", \"address\": \"127.0.0.1\", "
             "\"server\": 1}]}");
    const char *broken = at(scratch, "broken.json");
    assert_int_equal(tr_cluster_open(broken, &cluster, &error), TR_EFORMAT);
    assert_non_null(strstr(error.message, "hosts[0]"));
    cluster = open_text(scratch, "cluster.json", CLUSTER);
    assert_int_equal(tr_plan_open(cluster, 0, &plan, &error), TR_EINVAL);
    assert_null(plan);
    assert_non_null(strstr(error.message, "graph"));
    struct tr_cluster_info uninitialised = { 0 };
    assert_int_equal(tr_cluster_info(cluster, &uninitialised, &error), TR_EINVAL);
    tr_cluster_close(cluster);
}

static void keys_are_made_once(void **state)
{
    static const char *const HOSTS[] = { "a", "b" };
    static const char *const ADDRESSES[] = { "127.0.0.1", NULL };
    struct tr_error error = TR_ERROR_INIT;
    struct tr_keys_options options;
    struct tr_keys_report report = TR_KEYS_REPORT_INIT;
    struct stat facts;
    char folder[256], key[280];
    tr_keys_options_init(&options);
    assert_int_equal(tr_keys_make(&options, &report, &error), TR_EINVAL);
    snprintf(folder, sizeof folder, "%s", at(*state, "keys"));
    snprintf(key, sizeof key, "%s/a.key", folder);
    options.folder = folder;
    options.hosts = HOSTS;
    options.addresses = ADDRESSES;
    options.num_hosts = 2;
    options.days = TR_KEYS_DAYS_MAX + 1;
    assert_int_equal(tr_keys_make(&options, &report, &error), TR_EINVAL);
    options.days = 30;
    if (tr_keys_make(&options, &report, &error) != 0)
        fail_msg("%s", error.message);
    assert_true(report.made_authority);
    assert_int_equal(report.made, 2);
    assert_int_equal(stat(key, &facts), 0);
    assert_int_equal(facts.st_mode & 077, 0);
    assert_int_equal(tr_keys_make(&options, &report, &error), 0);
    assert_false(report.made_authority);
    assert_int_equal(report.made, 0);
    assert_int_equal(report.kept, 2);
    static const char *const BAD[] = { "../a" };
    options.hosts = BAD;
    options.addresses = NULL;
    options.num_hosts = 1;
    assert_int_equal(tr_keys_make(&options, NULL, &error), TR_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_wrong_is_named, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(ip_config_is_read_too, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(plan_deals_everything_once, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(keys_are_made_once, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

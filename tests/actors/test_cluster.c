/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster file says what is wrong with it and where; a plan made of it serves every partition,
 * evenly, and is the same for whoever reads it. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors/cluster/cluster.h"
#include "tests/schemas/random.h"

static char folder[] = "/tmp/troupe-cluster-XXXXXX";
static char file[64];

static int make_folder(void **unused)
{
    (void)unused;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(file, sizeof file, "%s/c.json", folder);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    unlink(file);
    return rmdir(folder);
}

static int read_text(const char *text, struct cluster *cluster, struct error *error)
{
    FILE *to = fopen(file, "w");
    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
    return cluster_read(files_posix, file, cluster, error);
}

/* A document of one host with what is given beside its name, and of more fields. */
static int read_one(const char *host, const char *more, struct cluster *cluster,
                    struct error *error)
{
    char text[4000];
    snprintf(text, sizeof text, "{\"name\": \"job\", \"hosts\": [{\"name\": \"a\"%s}]%s}", host,
             more);
    return read_text(text, cluster, error);
}

struct bad {
    const char *host, *more;
    const char *path, *says; /* in the sentence */
};

static void bad_fields_are_named_by_their_path(void **unused)
{
    static const struct bad bad[] = {
        { "", "", "hosts[0]", "port" },
        { ",\"prot\": 1", "", "hosts[0].prot", "\"port\" is one" },
        { ",\"port\": 1, \"zebra\": 1", "", "hosts[0].zebra", "take it out" },
        { ",\"port\": 65536", "", "hosts[0].port", "65535" },
        { ",\"port\": \"7\"", "", "hosts[0].port", "an integer is needed, not a string" },
        { ",\"port\": -7", "", "hosts[0].port", "negative" },
        { ",\"port\": 7, \"unix\": \"x\"", "", "hosts[0]", "\"unix\", or" },
        { ",\"port\": 7, \"address\": \"[::1]\"", "", "hosts[0]", "without brackets" },
        { ",\"port\": 7, \"address\": \"\"", "", "hosts[0].address", "empty" },
        { ",\"port\": 7, \"servers\": 5000", "", "hosts[0].servers", "4096" },
        { ",\"port\": 7, \"threads\": 0", "", "hosts[0]", "threads" },
        { ",\"port\": 7, \"processes\": \"two\"", "", "hosts[0].processes", "\"one\" or \"role\"" },
        { ",\"port\": 7, \"parts\": []", "", "hosts[0].parts", "leave it out" },
        { ",\"port\": 7, \"parts\": [1, 0, 1]", "", "hosts[0].parts", "listed twice" },
        { ",\"port\": 7, \"parts\": [1, true]", "", "hosts[0].parts[1]", "an integer" },
        { ",\"port\": 7, \"parts\": [70000]", "", "hosts[0].parts[0]", "65536" },
        { ",\"port\": 7, \"parts\": [0], \"servers\": 0", "", "hosts[0]", "\"servers\" is 0" },
        { ",\"port\": 7, \"roles\": [\"king\"]", "", "hosts[0].roles[0]", "\"king\"" },
        { ",\"port\": 7, \"roles\": []", "", "hosts[0].roles", "does nothing" },
        { ",\"port\": 7, \"roles\": [\"server\", \"sampler\"]", "", "hosts[0]", "trainer" },
        { ",\"port\": 7, \"roles\": [\"server\", \"sampler\", \"trainer\"]", "", "coordinator",
          "may not coordinate" },
        { ",\"port\": 7, \"servers\": 0", "", "c.json", "no host has a server" },
        { ",\"port\": 7, \"samplers\": 0", "", "c.json", "no host has a sampler" },
        { ",\"port\": 65530, \"servers\": 9, \"processes\": \"role\"", "", "\"a\"",
          "beyond 65535" },
        { ",\"port\": 7", ",\"hots\": 1", "hots", "\"hosts\" is one" },
        { ",\"port\": 7", ",\"tls\": {}", "tls", "shared_key" },
        { ",\"port\": 7", ",\"tls\": {\"ca\": \"x\", \"key\": \"y\"}", "tls", "certificate" },
        { ",\"port\": 7", ",\"tls\": {\"certificat\": \"x\"}", "tls.certificat",
          "\"certificate\" is one" },
        { ",\"port\": 7", ",\"insecure_network\": 1", "insecure_network", "true or false" },
        { ",\"port\": 7", ",\"seed\": -1", "seed", "negative" },
        { ",\"port\": 7", ",\"limits\": {\"call\": 0}", "limits.call", "1 or more" },
        { ",\"port\": 7", ",\"limits\": {\"window\": 4096}", "limits", "window" },
        { ",\"port\": 7", ",\"limits\": {\"step_limit\": 86401}", "limits.step_limit", "86400" },
        { ",\"port\": 7", ",\"limits\": {\"disk_wait\": -1}", "limits.disk_wait", "negative" },
        { ",\"port\": 7", ",\"restart\": {\"second\": 4}", "restart.second", "\"seconds\"" },
        { ",\"port\": 7", ",\"checkpoints\": {\"keep\": 0}", "checkpoints", "keep" },
        { ",\"port\": 7", ",\"launcher\": {\"kind\": \"rsh\"}", "launcher.kind", "\"srun\"" },
        { ",\"port\": 7", ",\"coordinator\": \"b\"", "coordinator", "\"b\"" },
        { ",\"port\": 7", ",\"name\": \"x\"", "c.json", "duplicate" },
        { ",\"port\": 7}, {\"name\": \"a\", \"port\": 9", "", "hosts", "called \"a\"" },
        { ",\"port\": 7}, {\"name\": \"b/c\", \"port\": 9", "", "hosts[1].name", "b/c" },
        { ",\"port\": 7}, {\"port\": 9", "", "hosts[1].name", "missing" },
        { ",\"port\": 7}, {\"name\": \"b\", \"unix\": \"x\"", "", "\"b\"", "unix" },
        { ",\"port\": 7, \"address\": \"h\", \"processes\": \"role\"},"
          "{\"name\": \"b\", \"address\": \"h\", \"port\": 9",
          "", "\"b\"", "7 to 9" },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cluster cluster;
        struct error error = { 0 };
        int rv = read_one(bad[i].host, bad[i].more, &cluster, &error);
        if (rv == 0 || strstr(error.text, bad[i].path) == NULL ||
            strstr(error.text, bad[i].says) == NULL || strstr(error.text, file) == NULL)
            fail_msg("%s %s: %d \"%s\" names no %s, or says nothing of %s", bad[i].host,
                     bad[i].more, rv, error.text, bad[i].path, bad[i].says);
        assert_int_equal(error.code, rv);
        assert_null(cluster.hosts);
    }
}

static void all_fields_are_read(void **unused)
{
    struct cluster c;
    struct cluster_tls tls;
    struct error error = { 0 };
    char path[100];
    (void)unused;
    int rv = read_text(
        "{\"name\": \"job\", \"graph\": \"data/g.json\", \"seed\": 7, \"hosts\": ["
        " {\"name\": \"a\", \"address\": \"::1\", \"port\": 7000, \"servers\": 2, \"samplers\": 3,"
        "  \"trainers\": 4, \"loops\": 5, \"threads\": 6, \"processes\": \"role\","
        "  \"parts\": [3, 1]},"
        " {\"name\": \"b\", \"port\": 7000,"
        "  \"roles\": [\"server\", \"sampler\", \"trainer\", \"coordinator\"]}],"
        " \"tls\": {\"ca\": \"k/ca\", \"certificate\": \"/k/%h.crt\", \"key\": \"k/%h/%h.key\"},"
        " \"direct\": false, \"codec\": true, \"coordinator\": \"b\","
        " \"limits\": {\"memory\": 1000, \"window\": 268435456, \"recovery_deadline\": 60,"
        "  \"call\": 2, \"coordinator\": 3, \"step_limit\": 0, \"disk_wait\": 40},"
        " \"restart\": {\"times\": 9, \"seconds\": 30},"
        " \"checkpoints\": {\"folder\": \"ck\", \"every\": 100, \"keep\": 4},"
        " \"launcher\": {\"kind\": \"ssh\", \"user\": \"u\", \"workdir\": \"w\","
        "  \"command\": \"/opt/troupe\"}}",
        &c, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(rv, 0);
    snprintf(path, sizeof path, "%s/data/g.json", folder);
    assert_string_equal(c.graph, path);
    assert_true(c.has_seed && c.seed == 7);
    const struct cluster_host *a = &c.hosts[0];
    assert_string_equal(a->address, "::1");
    assert_int_equal(a->port, 7000);
    assert_int_equal(a->servers, 2);
    assert_int_equal(a->samplers, 3);
    assert_int_equal(a->trainers, 4);
    assert_int_equal(a->loops, 5);
    assert_int_equal(a->threads, 6);
    assert_true(a->process_per_role);
    assert_int_equal(a->num_parts, 2);
    assert_int_equal(a->parts[0], 1);
    assert_string_equal(c.hosts[1].address, "b");
    assert_false(c.direct);
    assert_true(c.codec);
    assert_int_equal(c.coordinator_host, 1);
    assert_int_equal(c.limits.memory_bytes, 1000);
    assert_int_equal(c.limits.window_bytes, 268435456);
    assert_int_equal(c.limits.recovery_deadline_ns, UINT64_C(60000000000));
    assert_int_equal(c.limits.call_ns, 2000000000);
    assert_int_equal(c.limits.coordinator_ns, UINT64_C(3000000000));
    assert_int_equal(c.limits.step_limit, 0);
    assert_int_equal(c.limits.disk_wait, 40);
    assert_int_equal(c.restart.times, 9);
    assert_int_equal(c.restart.ns, UINT64_C(30000000000));
    assert_int_equal(c.checkpoints.every, 100);
    assert_int_equal(c.checkpoints.keep, 4);
    assert_int_equal(c.launcher.kind, CLUSTER_LAUNCH_SSH);
    assert_string_equal(c.launcher.workdir, "w");
    assert_int_equal(cluster_host_tls(&c, 1, &tls), 0);
    assert_string_equal(tls.certificate, "/k/b.crt");
    snprintf(path, sizeof path, "%s/k/b/b.key", folder);
    assert_string_equal(tls.key, path);
    assert_null(tls.shared_key);
    cluster_tls_fini(&tls);
    uint32_t host;
    assert_int_equal(cluster_find_host(&c, "b", &host, &error), 0);
    assert_int_equal(host, 1);
    assert_int_equal(cluster_find_host(&c, "z", &host, &error), TR_ENOENT);
    assert_non_null(strstr(error.text, "a, b"));
    cluster_fini(&c);
}

static void ip_config_is_taken_in_its_place(void **unused)
{
    struct cluster c;
    struct cluster_plan plan;
    struct error error = { 0 };
    (void)unused;
    assert_int_equal(
        read_text("10.0.0.1 7000 2\n\n# the second\nnode-b.example\t\r\n::1 9", &c, &error), 0);
    assert_int_equal(c.num_hosts, 3);
    assert_string_equal(c.hosts[0].address, "10.0.0.1");
    assert_int_equal(c.hosts[0].servers, 2);
    assert_string_equal(c.hosts[1].name, "host1");
    assert_int_equal(c.hosts[1].port, CLUSTER_IP_CONFIG_PORT);
    assert_int_equal(c.hosts[2].port, 9);
    assert_int_equal(cluster_plan_make(&plan, &c, 3, &error), TR_EINVAL);
    assert_non_null(strstr(error.text, "insecure_network"));
    c.insecure_network = true;
    assert_int_equal(cluster_plan_make(&plan, &c, 3, &error), 0);
    assert_int_equal(plan.plan.num_processes, 3);
    assert_int_equal(plan.plan.trainers, 3);
    cluster_plan_fini(&plan);
    cluster_fini(&c);
    static const char *const bad[][2] = {
        { "", "names no host" }, { "# a\n", "names no host" },  { "a 1 2 3", "line 1" },
        { "a\nb 0", "line 2" },  { "a 70000", "port" },         { "a 1 9999", "servers" },
        { "a 1x", "port" },      { "[::1] 7", "IPv6 address" }, { "a 7\na 7", "both at a" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error.text[0] = '\0';
        assert_int_not_equal(read_text(bad[i][0], &c, &error), 0);
        if (strstr(error.text, bad[i][1]) == NULL || strstr(error.text, file) == NULL)
            fail_msg("\"%s\": \"%s\"", bad[i][0], error.text);
    }
}

/* Whatever else a file begins with, the sentence says what it is and what it should be. */
static void what_is_no_cluster_file_is_told_so(void **unused)
{
    static const char *const bad[][2] = {
        { "[{\"name\": \"a\"}]", "JSON array" },
        { " \n [] ", "JSON array" },
        { "[\"a\", \"b\"", "neither JSON" },
        { "[a, b]", "neither JSON" },
        { "[", "neither JSON" },
        { "\"a\"", "JSON string" },
        { "\"a", "neither JSON" },
        { "[fe80::1%eth0]:7", "brackets" },
        { "a\n[::2]\n", "line 2" },
        { "\xef\xbb\xbf{}", "0xef" },
        { "}", "0x7d" },
        { "<hosts/>", "0x3c" },
        { "[::1", "IPv6 address" },
        { "[::1, 2]", "neither JSON" },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cluster c;
        struct error error = { 0 };
        assert_int_equal(read_text(bad[i][0], &c, &error), TR_EFORMAT);
        if (strstr(error.text, bad[i][1]) == NULL || strstr(error.text, file) == NULL)
            fail_msg("\"%s\": \"%s\"", bad[i][0], error.text);
    }
}

/* Random counts on up to six hosts. */
static void make_hosts(uint64_t *state, struct cluster *c, struct cluster_host hosts[6])
{
    static char names[6][2] = { "a", "b", "c", "d", "e", "f" };
    *c = (struct cluster){ .path = file,
                           .hosts = hosts,
                           .insecure_network = true,
                           .num_hosts = 1 + (uint32_t)random_below(state, 6) };
    c->coordinator_host = (uint32_t)random_below(state, c->num_hosts);
    for (uint32_t h = 0; h < c->num_hosts; h++) {
        hosts[h] = (struct cluster_host){
            .name = names[h],
            .address = names[h],
            .port = 7000,
            .servers = (uint32_t)random_below(state, 4) + (h == 0),
            .samplers = (uint32_t)random_below(state, 3),
            .trainers = (uint32_t)random_below(state, 3),
            .process_per_role = random_below(state, 2) == 1,
        };
        bool idles = hosts[h].servers + hosts[h].samplers + hosts[h].trainers == 0;
        hosts[h].trainers += idles && h != c->coordinator_host;
    }
}

static uint32_t replicas(const struct plan *plan, uint32_t part)
{
    uint32_t nodes[64];
    uint32_t count = plan_part_nodes(plan, part, 0, nodes, 64);
    assert_in_range(count, 1, 64);
    return count;
}

static void check_deal(const struct cluster_plan *plan)
{
    uint32_t least = UINT32_MAX, most = 0, fewest = UINT32_MAX, largest = 0;
    for (uint32_t p = 0; p < plan->plan.num_parts; p++) {
        uint32_t count = replicas(&plan->plan, p);
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    assert_true(most - least <= 1);
    for (uint32_t p = 0; p < plan->plan.num_processes; p++) {
        const struct plan_process *process = &plan->plan.processes[p];
        assert_int_equal(process->num_parts > 0, (plan->processes[p].roles & CLUSTER_SERVER) != 0);
        assert_int_equal(process->servers > 0, process->num_parts > 0);
        assert_true(process->servers <= process->num_parts);
        for (uint32_t i = 1; i < process->num_parts; i++)
            assert_true(process->parts[i - 1] < process->parts[i]);
        if (process->num_parts == 0)
            continue;
        fewest = process->num_parts < fewest ? process->num_parts : fewest;
        largest = process->num_parts > largest ? process->num_parts : largest;
    }
    assert_true(largest - fewest <= 1);
}

/* Of a host that has no more server processes than there are partitions. */
static void check_host_replicas_differ(const struct cluster_plan *plan)
{
    for (uint32_t p = 1; p < plan->plan.num_processes; p++) {
        const struct plan_process *a = &plan->plan.processes[p - 1], *b = a + 1;
        if (a->host == b->host && a->num_parts == 1 && b->num_parts == 1 &&
            plan->plan.num_parts > 1)
            assert_int_not_equal(a->parts[0], b->parts[0]);
    }
}

static void check_processes(const struct cluster_plan *plan)
{
    uint32_t samplers = 0, trainers = 0, processes = 0, coordinators = 0;
    for (uint32_t h = 0; h < plan->cluster->num_hosts; h++) {
        struct plan_range range = cluster_host_processes(plan, h);
        assert_int_equal(range.first, processes);
        processes += range.count;
        samplers += plan->cluster->hosts[h].samplers;
        trainers += plan->cluster->hosts[h].trainers;
        for (uint32_t i = 0; i < range.count; i++) {
            const struct cluster_process *process = &plan->processes[range.first + i];
            assert_int_equal(process->host, h);
            assert_int_equal(process->endpoint.port, 7000 + i);
            assert_string_equal(process->endpoint.host, plan->cluster->hosts[h].address);
            coordinators += (process->roles & CLUSTER_COORDINATOR) != 0;
        }
    }
    assert_int_equal(processes, plan->plan.num_processes);
    assert_int_equal(samplers, plan->plan.samplers);
    assert_int_equal(trainers, plan->plan.trainers);
    assert_int_equal(coordinators, 1);
    assert_int_equal(plan->processes[plan->plan.coordinator].host, plan->cluster->coordinator_host);
    for (uint32_t s = 0; s < samplers; s++)
        plan_sampler_node(&plan->plan, s);
    for (uint32_t r = 0; r < trainers; r++)
        plan_trainer_node(&plan->plan, r);
}

static void every_partition_is_served_evenly(void **unused)
{
    uint64_t state = 1;
    (void)unused;
    for (int round = 0; round < 500; round++) {
        struct cluster_host hosts[6];
        struct cluster cluster;
        struct cluster_plan plan;
        struct error error = { 0 };
        make_hosts(&state, &cluster, hosts);
        uint32_t num_parts = 1 + (uint32_t)random_below(&state, 30);
        assert_int_equal(cluster_plan_make(&plan, &cluster, num_parts, &error), 0);
        check_processes(&plan);
        check_deal(&plan);
        check_host_replicas_differ(&plan);
        cluster_plan_fini(&plan);
    }
}

static void listed_partitions_stay_where_they_are_listed(void **unused)
{
    struct cluster c;
    struct cluster_plan plan;
    struct error error = { 0 };
    (void)unused;
    assert_int_equal(read_one(",\"unix\": \"s\", \"parts\": [2, 0], \"servers\": 2,"
                              "\"processes\": \"role\"}, {\"name\": \"b\", \"unix\": \"s\"",
                              "", &c, &error),
                     0);
    assert_int_equal(cluster_plan_make(&plan, &c, 4, &error), 0);
    assert_int_equal(plan.plan.processes[0].parts[0], 0);
    assert_int_equal(plan.plan.processes[1].parts[0], 2);
    assert_int_equal(plan.plan.processes[4].num_parts, 2);
    assert_int_equal(plan.plan.processes[4].parts[0], 1);
    assert_int_equal(plan.plan.processes[4].parts[1], 3);
    char path[100];
    snprintf(path, sizeof path, "%s/s/4.sock", folder);
    assert_string_equal(plan.processes[4].endpoint.host, path);
    cluster_plan_fini(&plan);
    assert_int_equal(cluster_plan_make(&plan, &c, 2, &error), TR_ERANGE);
    assert_non_null(strstr(error.text, "partition 2"));
    cluster_fini(&c);
    assert_int_equal(read_one(",\"unix\": \"s\", \"parts\": [0]", "", &c, &error), 0);
    assert_int_equal(cluster_plan_make(&plan, &c, 2, &error), TR_EINVAL);
    assert_non_null(strstr(error.text, "partition 1"));
    cluster_fini(&c);
}

static void peers_are_all_others_with_the_hosts_that_they_prove(void **unused)
{
    struct cluster c;
    struct cluster_plan plan;
    struct links_peer peers[3];
    struct error error = { 0 };
    (void)unused;
    assert_int_equal(read_one(",\"port\": 7}, {\"name\": \"b\", \"port\": 7},"
                              "{\"name\": \"c\", \"port\": 7",
                              ",\"tls\": {\"ca\": \"1\", \"certificate\": \"2\", \"key\": \"3\"}",
                              &c, &error),
                     0);
    assert_int_equal(cluster_plan_make(&plan, &c, 5, &error), 0);
    assert_int_equal(cluster_plan_peers(&plan, 1, peers), 2);
    assert_int_equal(peers[0].node, 0);
    assert_int_equal(peers[1].node, 2);
    assert_string_equal(peers[1].host, "c");
    assert_string_equal(peers[1].endpoint.host, "c");
    cluster_plan_fini(&plan);
    cluster_fini(&c);
}

/* Whatever is cut from or changed in a document, reading ends with 0 or a sentence. */
static void broken_documents_are_refused_with_a_sentence(void **unused)
{
    static const char text[] =
        "{\"name\": \"job\", \"hosts\": [{\"name\": \"a\", \"port\": 7, \"parts\": [0, 1],"
        "\"roles\": [\"server\", \"sampler\", \"trainer\", \"coordinator\"]}, {\"name\": \"b\","
        "\"port\": 7}], \"tls\": {\"shared_key\": \"k\"}, \"limits\": {\"call\": 3}}";
    uint64_t state = 5;
    (void)unused;
    for (int round = 0; round < 2000; round++) {
        char copy[sizeof text];
        struct cluster cluster;
        struct cluster_plan plan;
        struct error error = { 0 };
        memcpy(copy, text, sizeof text);
        if (random_below(&state, 3) == 0)
            copy[random_below(&state, sizeof text)] = '\0';
        for (uint64_t n = random_below(&state, 3); n > 0; n--)
            copy[random_below(&state, sizeof text - 1)] = (char)(1 + random_below(&state, 127));
        int rv = read_text(copy, &cluster, &error);
        if (rv == 0 && cluster_plan_make(&plan, &cluster, 5, &error) == 0)
            cluster_plan_fini(&plan);
        if (rv == 0)
            cluster_fini(&cluster);
        else
            assert_true(error.code == rv && error.text[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_fields_are_named_by_their_path),
        cmocka_unit_test(all_fields_are_read),
        cmocka_unit_test(ip_config_is_taken_in_its_place),
        cmocka_unit_test(what_is_no_cluster_file_is_told_so),
        cmocka_unit_test(every_partition_is_served_evenly),
        cmocka_unit_test(listed_partitions_stay_where_they_are_listed),
        cmocka_unit_test(peers_are_all_others_with_the_hosts_that_they_prove),
        cmocka_unit_test(broken_documents_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

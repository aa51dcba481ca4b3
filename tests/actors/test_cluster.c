/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster file says what is wrong with it and where; a plan made of it serves every partition,
 * evenly, and is the same for all that read it. */
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

#include "actors/cluster/cluster_read.h"
#include "tests/schemas/random.h"
#include "tests/scratch.h"

static char folder[40];
static char file[64];

static int make_folder(void **unused)
{
    (void)unused;
    if (scratch_folder(folder, sizeof folder, "cluster") == NULL)
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
    const char *path, *says; /* in the message */
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
        { ",\"port\": 7", ",\"metrics\": {\"host\": \"::\"}", "metrics", "port of process 0" },
        { ",\"port\": 7", ",\"metrics\": {\"ports\": 1}", "metrics.ports", "\"port\"" },
        { ",\"port\": 7", ",\"page\": {\"host\": \"::\"}", "page.host", "\"port\"" },
        { ",\"port\": 7", ",\"page\": 8080", "page", "object" },
        { ",\"port\": 7", ",\"launcher\": {\"kind\": \"rsh\"}", "launcher.kind", "\"srun\"" },
        { ",\"port\": 7", ",\"launcher\": {\"kind\": \"command\"}", "launcher", "kubectl" },
        { ",\"port\": 7", ",\"launcher\": {\"command\": \"troupe\"}", "launcher.command", "array" },
        { ",\"port\": 7", ",\"launcher\": {\"command\": []}", "launcher.command", "1 to 64 words" },
        { ",\"port\": 7", ",\"launcher\": {\"command\": [\"a\", 7]}", "launcher.command[1]",
          "string" },
        { ",\"port\": 7", ",\"launcher\": {\"kind\": \"ssh\", \"command\": [\"a\"]}", "launcher",
          "\"program\"" },
        { ",\"port\": 7", ",\"launcher\": {\"user\": \"u\", \"command\": [\"a\"]}", "launcher",
          "\"user\"" },
        { ",\"port\": 7", ",\"coordinator\": \"b\"", "coordinator", "\"b\"" },
        { ",\"port\": 7", ",\"name\": \"x\"", "c.json", "the key 'name' is there twice" },
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
        " \"limits\": {\"memory\": 1000, \"tensors\": 2000, \"window\": 268435456, "
        "\"recovery_deadline\": 60,"
        "  \"start\": 50, \"call\": 2, \"coordinator\": 3, \"step_limit\": 0, \"disk_wait\": 40},"
        " \"restart\": {\"times\": 9, \"seconds\": 30},"
        " \"metrics\": {\"host\": \"::\", \"port\": 9464}, \"page\": {\"port\": 8080},"
        " \"checkpoints\": {\"folder\": \"ck\", \"every\": 100, \"keep\": 4},"
        " \"launcher\": {\"kind\": \"ssh\", \"user\": \"u\", \"workdir\": \"w\","
        "  \"program\": \"/opt/troupe\"}}",
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
    assert_int_equal(c.limits.tensor_bytes, 2000);
    assert_int_equal(c.limits.window_bytes, 268435456);
    assert_int_equal(c.limits.recovery_deadline_ns, UINT64_C(60000000000));
    assert_int_equal(c.limits.start_ns, UINT64_C(50000000000));
    assert_int_equal(c.limits.call_ns, 2000000000);
    assert_int_equal(c.limits.coordinator_ns, UINT64_C(3000000000));
    assert_int_equal(c.limits.step_limit, 0);
    assert_int_equal(c.limits.disk_wait, 40);
    assert_int_equal(c.restart.times, 9);
    assert_string_equal(c.metrics.host, "::");
    assert_int_equal(c.metrics.port, 9464);
    assert_int_equal(c.page_port, 8080);
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
        bool is_clash = strstr(bad[i][1], "both at") != NULL; /* its form is right */
        assert_int_equal(read_text(bad[i][0], &c, &error), is_clash ? TR_EINVAL : TR_EFORMAT);
        if (strstr(error.text, bad[i][1]) == NULL || strstr(error.text, file) == NULL)
            fail_msg("\"%s\": \"%s\"", bad[i][0], error.text);
    }
}

/* Whatever else a file begins with, the message says what it is and what it should be. */
static void what_is_no_cluster_file_is_told_so(void **unused)
{
    static const char *const bad[][2] = {
        { "[{\"name\": \"a\"}]", "JSON array" },
        { " \n [] ", "JSON array" },
        { "[\"a\", \"b\"", "neither JSON" },
        { "[a, b]", "neither JSON" },
        { "[", "neither JSON" },
        { "[\"a\\u0000\"]", "neither JSON (\\u0000 stands for the character NUL" },
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

/* Each mistake by its code: a program that reads the file tells them apart by it. */
static void a_mistake_has_its_code(void **unused)
{
    static const struct {
        const char *host, *more;
        int code;
    } bad[] = {
        { "", "", TR_EFORMAT },
        { ",\"port\": 0", "", TR_EFORMAT },
        { ",\"port\": 7, \"unix\": \"x\"", "", TR_EINVAL },
        { ",\"address\": \"h\", \"unix\": \"x\"", "", TR_EINVAL },
        { ",\"port\": 7, \"address\": \"a b\"", "", TR_EFORMAT },
        { ",\"port\": 7, \"threads\": 0", "", TR_ERANGE },
        { ",\"port\": 7, \"processes\": \"two\"", "", TR_EFORMAT },
        { ",\"port\": 7, \"parts\": []", "", TR_ERANGE },
        { ",\"port\": 7, \"parts\": [1, 0, 1]", "", TR_EFORMAT },
        { ",\"port\": 7, \"parts\": [0], \"servers\": 0", "", TR_EINVAL },
        { ",\"port\": 7, \"roles\": [\"king\"]", "", TR_EFORMAT },
        { ",\"port\": 7, \"roles\": []", "", TR_EFORMAT },
        { ",\"port\": 7, \"roles\": [\"server\", \"coordinator\"]", "", TR_EINVAL },
        { ",\"port\": 7, \"roles\": [\"server\", \"sampler\", \"trainer\"]", "", TR_EINVAL },
        { ",\"port\": 7, \"servers\": 0", "", TR_EINVAL },
        { ",\"port\": 65534, \"processes\": \"role\"", "", TR_ERANGE },
        { ",\"port\": 7", ",\"tls\": {}", TR_EFORMAT },
        { ",\"port\": 7", ",\"tls\": {\"shared_key\": \"k\", \"ca\": \"c\"}", TR_EFORMAT },
        { ",\"port\": 7", ",\"limits\": {\"call\": 0}", TR_ERANGE },
        { ",\"port\": 7", ",\"limits\": {\"window\": 4096}", TR_ERANGE },
        { ",\"port\": 7", ",\"checkpoints\": {\"keep\": 0}", TR_ERANGE },
        { ",\"port\": 7", ",\"launcher\": {\"kind\": \"rsh\"}", TR_EFORMAT },
        { ",\"port\": 7", ",\"coordinator\": \"b\"", TR_ENOENT },
        { ",\"port\": 7}, {\"name\": \"b\", \"unix\": \"x\"", "", TR_EINVAL },
        { ",\"unix\": \"x\"}, {\"name\": \"b\", \"port\": 7", "", TR_EINVAL },
        { ",\"port\": 7}, {\"name\": \"-b\", \"port\": 7", "", TR_EFORMAT },
        { ",\"port\": 7}, {\"name\": \".b\", \"port\": 7", "", TR_EFORMAT },
        { ",\"port\": 7}, {\"name\": \"b\", \"port\": 7}, {\"name\": \"a\", \"port\": 7", "",
          TR_EINVAL },
        { ",\"port\": 7}, {\"name\": \"b\", \"port\": 7, \"servers\": 0, \"samplers\": 0, "
          "\"trainers\": 0",
          "", TR_EINVAL },
        { ",\"port\": 7, \"address\": \"h\"}, {\"name\": \"b\", \"address\": \"h\", \"port\": 7",
          "", TR_EINVAL },
    };
    struct cluster cluster;
    struct error error = { 0 };
    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int rv = read_one(bad[i].host, bad[i].more, &cluster, &error);
        if (rv != bad[i].code || error.code != rv)
            fail_msg("%s %s: %d \"%s\"", bad[i].host, bad[i].more, rv, error.text);
    }
    assert_int_equal(read_text("{\"name\": \"job\", \"hosts\": []}", &cluster, &error), TR_ERANGE);
    assert_non_null(strstr(error.text, "0 hosts; give 1 to 65536"));
    assert_int_equal(cluster_read(files_posix, "/nowhere/c.json", &cluster, &error), TR_ENOENT);
}

/* The least and the largest value of a field are taken, and those beside them are not. */
static void each_bound_holds_exactly(void **unused)
{
    static const struct {
        bool of_host;
        const char *before, *after;
        unsigned long long least, most;
    } bounds[] = {
        { true, ",\"port\": ", "", 1, 65535 },
        { true, ",\"port\": 7, \"servers\": ", "", 1, 4096 },
        { true, ",\"port\": 7, \"samplers\": ", "", 1, 4096 },
        { true, ",\"port\": 7, \"trainers\": ", "", 0, 4096 },
        { true, ",\"port\": 7, \"loops\": ", "", 0, 4096 },
        { true, ",\"port\": 7, \"threads\": ", "", 1, 4096 },
        { true, ",\"port\": 7, \"parts\": [", "]", 0, 65535 },
        { false, ",\"limits\": {\"recovery_deadline\": ", "}", 1, 86400 },
        { false, ",\"limits\": {\"start\": ", "}", 1, 86400 },
        { false, ",\"limits\": {\"call\": ", "}", 1, 86400 },
        { false, ",\"limits\": {\"coordinator\": ", "}", 1, 86400 },
        { false, ",\"limits\": {\"step_limit\": ", "}", 0, 86400 },
        { false, ",\"limits\": {\"disk_wait\": ", "}", 0, 86400 },
        { false, ",\"limits\": {\"window\": ", "}", LINKS_WINDOW_BYTES, INT64_MAX },
        { false, ",\"restart\": {\"seconds\": ", "}", 1, 86400 },
        { false, ",\"restart\": {\"times\": ", "}", 0, INT32_MAX },
        { false, ",\"checkpoints\": {\"keep\": ", "}", 1, 1000 },
        { false, ",\"metrics\": {\"port\": ", "}", 1, 65535 },
        { false, ",\"page\": {\"port\": ", "}", 0, 65535 },
        { false, ",\"checkpoints\": {\"every\": ", "}", 0, INT64_MAX },
        { false, ",\"seed\": ", "", 0, INT64_MAX },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        unsigned long long values[] = { bounds[i].least - 1, bounds[i].least, bounds[i].most,
                                        bounds[i].most + 1 };
        /* 0 asks for the default window, and -1 is refused as a sign. */
        values[0] = bounds[i].least == 0 ? bounds[i].most + 1 : values[0];
        for (size_t v = 0; v < 4; v++) {
            char field[200];
            struct cluster cluster;
            struct error error = { 0 };
            bool of_host = bounds[i].of_host, good = v == 1 || v == 2;
            snprintf(field, sizeof field, "%s%llu%s", bounds[i].before, values[v], bounds[i].after);
            int rv = read_one(of_host ? field : ",\"port\": 7", of_host ? "" : field, &cluster,
                              &error);
            if ((rv == 0) != good)
                fail_msg("%s: %d \"%s\"", field, rv, error.text);
            if (rv == 0)
                cluster_fini(&cluster);
        }
    }
}

/* Texts of n letters are taken as names, addresses and folders of sockets, and one more is not. */
static void the_longest_texts_are_taken(void **unused)
{
    static const struct {
        const char *before, *after;
        size_t most;
    } texts[] = {
        { "{\"name\": \"", "\", \"hosts\": [{\"name\": \"a\", \"port\": 7}]}", 63 },
        { "{\"name\": \"job\", \"hosts\": [{\"port\": 7, \"name\": \"", "\"}]}", 63 },
        { "{\"name\": \"job\", \"hosts\": [{\"name\": \"a\", \"port\": 7, \"address\": \"", "\"}]}",
          255 },
        { "{\"name\": \"job\", \"hosts\": [{\"name\": \"a\", \"unix\": \"/", "\"}]}", 95 },
        { "", " 7\n", 255 },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t length = texts[i].most; length <= texts[i].most + 1; length++) {
            char letters[300] = "", text[600];
            struct cluster cluster;
            struct error error = { 0 };
            memset(letters, 'x', length);
            snprintf(text, sizeof text, "%s%s%s", texts[i].before, letters, texts[i].after);
            int rv = read_text(text, &cluster, &error);
            if ((rv == 0) != (length == texts[i].most))
                fail_msg("%s: %d \"%s\"", text, rv, error.text);
            if (rv == 0)
                cluster_fini(&cluster);
            else
                assert_true(rv == TR_EFORMAT || rv == TR_ERANGE);
        }
}

static void a_field_that_is_absent_has_its_default(void **unused)
{
    struct cluster c;
    struct error error = { 0 };
    (void)unused;
    assert_int_equal(read_one(",\"port\": 7", "", &c, &error), 0);
    assert_string_equal(c.path, file);
    assert_string_equal(c.name, "job");
    assert_true(c.graph == NULL && !c.has_seed && c.seed == 0);
    assert_true(c.direct && !c.codec && !c.insecure_network && c.coordinator_host == 0);
    assert_int_equal(c.page_port, -1);
    assert_true(c.tls.ca == NULL && c.tls.shared_key == NULL);
    assert_int_equal(c.limits.memory_bytes, 0);
    assert_int_equal(c.limits.window_bytes, 0);
    assert_int_equal(c.limits.recovery_deadline_ns, UINT64_C(600000000000));
    assert_int_equal(c.limits.call_ns, UINT64_C(10000000000));
    assert_int_equal(c.limits.coordinator_ns, UINT64_C(30000000000));
    assert_true(c.limits.step_limit == CLUSTER_UNSAID && c.limits.disk_wait == CLUSTER_UNSAID);
    assert_int_equal(c.restart.times, 5);
    assert_int_equal(c.restart.ns, UINT64_C(600000000000));
    assert_true(c.checkpoints.folder == NULL && c.checkpoints.every == 0);
    assert_int_equal(c.checkpoints.keep, 0);
    assert_int_equal(c.launcher.kind, CLUSTER_LAUNCH_LOCAL);
    assert_true(c.launcher.user == NULL && c.launcher.workdir == NULL &&
                c.launcher.program == NULL && c.launcher.command == NULL);
    const struct cluster_host *host = &c.hosts[0];
    assert_string_equal(host->name, "a");
    assert_string_equal(host->address, "a");
    assert_int_equal(host->servers, 1);
    assert_int_equal(host->samplers, 1);
    assert_int_equal(host->trainers, 1);
    assert_int_equal(host->loops, 0);
    assert_int_equal(host->threads, 0);
    assert_int_equal(host->roles, 15);
    assert_true(!host->process_per_role && host->num_parts == 0);
    assert_int_equal(cluster_host_process_count(host), 1);
    cluster_fini(&c);
    /* An object that says a part leaves the rest as it is, and roles follow what a host runs. */
    assert_int_equal(read_one(",\"port\": 7}, {\"name\": \"b\", \"port\": 7, \"servers\": 0,"
                              "\"processes\": \"role\"}, {\"name\": \"c\", \"port\": 7,"
                              "\"samplers\": 0, \"trainers\": 0",
                              ", \"limits\": {}, \"restart\": {}, \"checkpoints\": {},"
                              " \"launcher\": {\"user\": \"u\", \"program\": \"troupe\"},"
                              " \"insecure_network\": true, \"tls\": {\"shared_key\": \"k\"}",
                              &c, &error),
                     0);
    char path[100];
    snprintf(path, sizeof path, "%s/checkpoints/%%h", folder);
    assert_string_equal(c.checkpoints.folder, path);
    snprintf(path, sizeof path, "%s/k", folder);
    assert_string_equal(c.tls.shared_key, path);
    assert_true(c.insecure_network);
    assert_int_equal(c.limits.call_ns, UINT64_C(10000000000));
    assert_int_equal(c.restart.times, 5);
    assert_string_equal(c.launcher.user, "u");
    assert_string_equal(c.launcher.program, "troupe");
    assert_int_equal(c.hosts[1].roles, CLUSTER_SAMPLER | CLUSTER_TRAINER | CLUSTER_COORDINATOR);
    assert_int_equal(c.hosts[2].roles, CLUSTER_SERVER | CLUSTER_COORDINATOR);
    assert_int_equal(cluster_host_process_count(&c.hosts[1]), 2);
    cluster_fini(&c);
}

/* The kind follows from the words, which are kept as they are. */
static void a_command_launches(void **unused)
{
    struct cluster c;
    struct error error = { 0 };
    (void)unused;
    assert_int_equal(
        read_one(",\"port\": 7",
                 ", \"launcher\": {\"command\": [\"kubectl\", \"exec\", \"-i\", \"{host}\","
                 " \"--\"], \"workdir\": \"/w\"}",
                 &c, &error),
        0);
    assert_int_equal(c.launcher.kind, CLUSTER_LAUNCH_COMMAND);
    assert_int_equal(c.launcher.num_command, 5);
    assert_string_equal(c.launcher.command[3], CLUSTER_COMMAND_HOST);
    assert_string_equal(c.launcher.command[4], "--");
    assert_string_equal(c.launcher.workdir, "/w");
    cluster_fini(&c);
}

/* The number of processes is bounded by the table of links, whatever hosts they are on. */
static void so_many_processes_are_planned(void **unused)
{
    (void)unused;
    for (uint32_t trainers = 0; trainers < 2; trainers++) {
        char text[4000];
        size_t used = (size_t)snprintf(text, sizeof text, "{\"name\": \"job\", \"hosts\": [");
        for (uint32_t h = 0; h < 16; h++)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "%s{\"name\": \"h%u\", \"port\": 61440, \"servers\": 4000,"
                                     "\"samplers\": 96, \"trainers\": %u, \"processes\": \"role\"}",
                                     h == 0 ? "" : ", ", h, h == 7 ? trainers : 0);
        snprintf(text + used, sizeof text - used, "]}");
        struct cluster c;
        struct error error = { 0 };
        int rv = read_text(text, &c, &error);
        if (rv == 0)
            cluster_fini(&c);
        assert_int_equal(rv, trainers == 0 ? 0 : TR_ETOOBIG);
        if (rv != 0)
            assert_non_null(strstr(error.text, "65537 processes; at most 65536"));
    }
}

/* Ports of a machine are taken from the first one of each host on, without gaps. */
static void hosts_of_one_machine_stand_beside_each_other(void **unused)
{
    (void)unused;
    for (uint32_t port = 9; port <= 11; port++) {
        char hosts[300];
        struct cluster c;
        struct error error = { 0 };
        snprintf(hosts, sizeof hosts,
                 ",\"port\": %u, \"address\": \"m\"}, {\"name\": \"b\", \"port\": 7,"
                 "\"address\": \"m\", \"processes\": \"role\"}, {\"name\": \"c\", \"port\": 8,"
                 "\"address\": \"n\"",
                 port);
        int rv = read_one(hosts, "", &c, &error);
        assert_int_equal(rv, port == 9 ? TR_EINVAL : 0);
        if (rv == 0)
            cluster_fini(&c);
        else
            assert_non_null(strstr(error.text, "hosts \"b\" and \"a\" are both at m and need port "
                                               "9; the first takes 7 to 9"));
    }
    struct cluster c;
    struct error error = { 0 };
    assert_int_equal(read_one(",\"port\": 65533, \"processes\": \"role\"", "", &c, &error), 0);
    cluster_fini(&c);
    assert_int_equal(read_one(",\"port\": 65534, \"processes\": \"role\"", "", &c, &error),
                     TR_ERANGE);
    assert_non_null(strstr(error.text, "its 3 processes need ports from 65534 on"));
    /* One process for the coordinator, where a host runs nothing else. */
    assert_int_equal(read_one(",\"port\": 7}, {\"name\": \"b\", \"address\": \"a\", \"port\": 7,"
                              "\"servers\": 0, \"samplers\": 0, \"trainers\": 0",
                              ",\"coordinator\": \"b\"", &c, &error),
                     TR_EINVAL);
    assert_non_null(strstr(error.text, "takes 7 to 7"));
    assert_int_equal(read_one(",\"port\": 7}, {\"name\": \"b\", \"address\": \"a\", \"port\": 8,"
                              "\"servers\": 0, \"samplers\": 0, \"trainers\": 0",
                              ",\"coordinator\": \"b\", \"insecure_network\": true", &c, &error),
                     0);
    struct cluster_plan plan;
    assert_int_equal(cluster_plan_make(&plan, &c, 1, &error), 0);
    assert_int_equal(plan.plan.coordinator, 1);
    assert_int_equal(plan.processes[1].roles, CLUSTER_COORDINATOR);
    cluster_plan_fini(&plan);
    cluster_fini(&c);
}

static void names_are_put_where_a_path_has_them(void **unused)
{
    static const char *const patterns[][2] = {
        { "%h", "host" },           { "a%hb%h", "ahostbhost" }, { "%", "%" }, { "h%", "h%" },
        { "%%h", "%host" },         { "%x/%h", "%x/host" },     { "", "" },   { "hh", "hh" },
        { "%hh%h%", "hosthhost%" },
    };
    char *out;
    (void)unused;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        assert_int_equal(cluster_put_name(patterns[i][0], "host", &out), 0);
        assert_string_equal(out, patterns[i][1]);
        free(out);
    }
    assert_int_equal(cluster_put_name(NULL, "host", &out), 0);
    assert_null(out);
    static const char *const roles[16] = { "",
                                           "server",
                                           "sampler",
                                           "server, sampler",
                                           "trainer",
                                           [8] = "coordinator",
                                           [14] = "sampler, trainer, coordinator" };
    for (uint32_t mask = 0; mask < 16; mask++) {
        char text[64], little[5];
        cluster_roles_text(mask, text, sizeof text);
        if (roles[mask] != NULL)
            assert_string_equal(text, roles[mask]);
        cluster_roles_text(mask, little, sizeof little);
        assert_memory_equal(little, text, strlen(little));
    }
}

/* Whichever folder a process was started in, it names the folder of checkpoints as the others
 * do. */
static void checkpoints_are_named_alike_from_everywhere(void **unused)
{
    char parent[64];
    int parent_length = (int)(strrchr(folder, '/') - folder);
    snprintf(parent, sizeof parent, "%.*s", parent_length, folder);
    const char *const from[][2] = { { folder, "c.json" }, { parent, file + parent_length + 1 } };
    char here[4096], expected[100];
    struct cluster c;
    struct error error = { 0 };
    (void)unused;
    assert_int_equal(
        read_one(",\"port\": 7", ",\"checkpoints\": {\"folder\": \"ck/%h\"}", &c, &error), 0);
    cluster_fini(&c);
    snprintf(expected, sizeof expected, "%s/ck/%%h", folder);
    assert_non_null(getcwd(here, sizeof here));
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        assert_int_equal(chdir(from[i][0]), 0);
        int rv = cluster_read(files_posix, from[i][1], &c, &error);
        assert_int_equal(chdir(here), 0);
        assert_int_equal(rv, 0);
        assert_string_equal(c.checkpoints.folder, expected);
        cluster_fini(&c);
    }
}

/* A path of a file begins in the file's folder, which may be the one that the reader is in. */
static void a_path_begins_where_its_file_is(void **unused)
{
    static const char *const paths[][3] = {
        { "c.json", "g", "g" },     { "c.json", "/g", "/g" },
        { "/c.json", "g", "/g" },   { "/a/b/c.json", "d/g", "/a/b/d/g" },
        { "a/c.json", "/g", "/g" }, { "a/c.json", "", "a/" }
    };
    (void)unused;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char path[32];
        snprintf(path, sizeof path, "%s", paths[i][0]);
        const struct cluster cluster = { .path = path };
        char *resolved = cluster_resolve(&cluster, paths[i][1]);
        assert_string_equal(resolved, paths[i][2]);
        free(resolved);
    }
}

/* DGL's form: numbers at and beyond their bounds, and whatever a line may begin with. */
static void lines_of_ip_config_are_read_to_the_letter(void **unused)
{
    static const struct {
        const char *text, *says; /* NULL: taken */
        uint32_t port, servers;
    } lines[] = {
        { "a 1", NULL, 1, 1 },
        { "a 65535 4096", NULL, 65535, 4096 },
        { "a 000000080 1", NULL, 80, 1 },
        { "  a\t9 2 # three # four", NULL, 9, 2 },
        { ":: 7", NULL, 7, 1 },
        { "_a", NULL, 30050, 1 },
        { "#\n\n\r\n9.9.9.9\r\n", NULL, 30050, 1 },
        { "a 0", "the port is not a number", 0, 0 },
        { "a 65536", "the port is not a number", 0, 0 },
        { "a 0000000080", "the port is not a number", 0, 0 },
        { "a +80", "the port is not a number", 0, 0 },
        { "a 8x", "the port is not a number", 0, 0 },
        { "a 1 0", "the number of servers", 0, 0 },
        { "a 1 4097", "the number of servers", 0, 0 },
        { "a 1 1 1", "more than three words", 0, 0 },
        { "a 1 1 1 1", "more than three words", 0, 0 },
        { "a/b", "not a host name", 0, 0 },
        { "a]", "not a host name", 0, 0 },
        { "fe80::1%eth0", "not a host name", 0, 0 },
        { "[0000:0000:0000:0000:0000:ffff:255.255.255.255] 7", "without brackets", 0, 0 },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct cluster c;
        struct error error = { 0 };
        int rv = read_text(lines[i].text, &c, &error);
        if (rv != (lines[i].says == NULL ? 0 : TR_EFORMAT))
            fail_msg("%s: %d \"%s\"", lines[i].text, rv, error.text);
        if (rv != 0) {
            assert_non_null(strstr(error.text, lines[i].says));
            assert_non_null(strstr(error.text, "line 1: "));
            continue;
        }
        assert_int_equal(c.num_hosts, 1);
        assert_string_equal(c.name, "ip_config");
        assert_string_equal(c.hosts[0].name, "host0");
        assert_int_equal(c.hosts[0].port, lines[i].port);
        assert_int_equal(c.hosts[0].servers, lines[i].servers);
        assert_int_equal(c.hosts[0].samplers, 1);
        assert_int_equal(c.hosts[0].trainers, 1);
        assert_int_equal(c.hosts[0].roles, 15);
        cluster_fini(&c);
    }
    struct cluster c;
    struct error error = { 0 };
    assert_int_equal(read_text("a\nb\nc\nd\ne\nf\ng\n", &c, &error), 0);
    assert_int_equal(c.num_hosts, 7);
    for (uint32_t h = 0; h < 7; h++) {
        const char name[] = { (char)('a' + h), '\0' };
        assert_string_equal(c.hosts[h].address, name);
    }
    cluster_fini(&c);
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

/* Holds for a host that has no more server processes than there are partitions. */
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

/* Whatever is cut from or changed in a document, reading ends with 0 or a message. */
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
        cmocka_unit_test(a_mistake_has_its_code),
        cmocka_unit_test(each_bound_holds_exactly),
        cmocka_unit_test(the_longest_texts_are_taken),
        cmocka_unit_test(a_field_that_is_absent_has_its_default),
        cmocka_unit_test(a_command_launches),
        cmocka_unit_test(so_many_processes_are_planned),
        cmocka_unit_test(hosts_of_one_machine_stand_beside_each_other),
        cmocka_unit_test(names_are_put_where_a_path_has_them),
        cmocka_unit_test(checkpoints_are_named_alike_from_everywhere),
        cmocka_unit_test(a_path_begins_where_its_file_is),
        cmocka_unit_test(lines_of_ip_config_are_read_to_the_letter),
        cmocka_unit_test(ip_config_is_taken_in_its_place),
        cmocka_unit_test(what_is_no_cluster_file_is_told_so),
        cmocka_unit_test(every_partition_is_served_evenly),
        cmocka_unit_test(listed_partitions_stay_where_they_are_listed),
        cmocka_unit_test(peers_are_all_others_with_the_hosts_that_they_prove),
        cmocka_unit_test(broken_documents_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

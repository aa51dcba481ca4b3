/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory may end at any allocation of reading a cluster file, planning its job and preparing the
 * launcher: each then fails with TR_ENOMEM, and succeeds where the memory is there.
 */
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
#include "actors/cluster/launcher.h"
#include "tests/scratch.h"
#include "tests/short_memory.h"

#define ALLOCATIONS_MAX 10000
#define SECOND UINT64_C(1000000000)

static const char json[] =
    "{\"name\": \"job\", \"graph\": \"g.json\", \"tls\": {\"ca\": \"ca.pem\","
    " \"certificate\": \"%h.pem\", \"key\": \"keys/%h/%h.key\"},"
    " \"checkpoints\": {\"folder\": \"ck/%h\"}, \"hosts\": ["
    "{\"name\": \"a\", \"address\": \"10.0.0.1\", \"port\": 7000, \"servers\": 2,"
    " \"samplers\": 1, \"trainers\": 2, \"parts\": [0, 2]},"
    "{\"name\": \"b\", \"address\": \"10.0.0.2\", \"port\": 7000, \"servers\": 1,"
    " \"samplers\": 2, \"trainers\": 1, \"parts\": [1]},"
    "{\"name\": \"c\", \"address\": \"10.0.0.3\", \"port\": 7000, \"servers\": 1,"
    " \"samplers\": 1, \"trainers\": 1}]}";
static const char ip_config[] = "10.0.0.1 7000 2\n10.0.0.2\n10.0.0.3\n10.0.0.4 7001\n10.0.0.5\n";

static int no_start(void *arg, uint32_t process, uint32_t incarnation, uint32_t again)
{
    (void)arg, (void)process, (void)incarnation, (void)again;
    return 0;
}

static void no_signal(void *arg, uint32_t process)
{
    (void)arg, (void)process;
}

static const struct launcher_ops ops = { .start = no_start,
                                         .ask_to_stop = no_signal,
                                         .kill = no_signal };

/* All that is done with a file before its processes start. */
static int prepare(const char *path, bool keys, struct error *error)
{
    struct cluster cluster;
    struct cluster_plan plan;
    struct cluster_tls tls;
    struct launcher launcher;
    int rv = cluster_read(files_posix, path, &cluster, error);
    if (rv == 0 && !keys)
        cluster.insecure_network = true; /* the other form says nothing of it */
    if (rv == 0)
        rv = cluster_plan_make(&plan, &cluster, 3, error);
    if (rv != 0) {
        cluster_fini(&cluster);
        return rv;
    }
    rv = cluster_host_tls(&cluster, 1, &tls);
    if (rv == 0 && keys) {
        assert_non_null(strstr(tls.key, "/keys/b/b.key"));
        assert_non_null(strstr(tls.certificate, "/b.pem"));
    }
    if (rv == 0)
        cluster_tls_fini(&tls);
    else
        assert_true(tls.ca == NULL && tls.certificate == NULL && tls.key == NULL);
    if (rv == 0) {
        const struct launcher_options options = {
            .plan = &plan.plan, .incarnation = 1, .restarts = 3, .period_ns = SECOND, .ops = &ops
        };
        rv = launcher_init(&launcher, &options, SECOND);
        launcher_fini(&launcher);
    }
    cluster_plan_fini(&plan);
    cluster_fini(&cluster);
    return rv;
}

static void memory_may_end_while_a_job_is_prepared(void **unused)
{
    (void)unused;
    for (int form = 0; form < 2; form++) {
        char path[64];
        const char *text = form == 0 ? json : ip_config;
        int fd = mkstemp(scratch_template(path, sizeof path, "cluster")), rv = TR_ENOMEM, tries = 0;
        assert_true(fd >= 0);
        assert_int_equal(write(fd, text, strlen(text)), strlen(text));
        assert_int_equal(close(fd), 0);
        for (; rv != 0 && tries < ALLOCATIONS_MAX; tries++) {
            struct error error = { 0 };
            allocations_left = tries;
            rv = prepare(path, form == 0, &error);
            bool refused = allocations_left < 0;
            allocations_left = -1;
            if (rv != 0 && (rv != TR_ENOMEM || !refused))
                fail_msg("form %d after %d allocations: %s", form, tries, error.text);
            if (rv == 0 && refused)
                rv = 1; /* it did without */
        }
        assert_int_equal(rv, 0);
        assert_true(tries > 15);
        unlink(path);
    }
}

static void memory_may_end_while_one_process_is_planned(void **unused)
{
    (void)unused;
    int rv = TR_ENOMEM, tries = 0;
    for (; rv != 0 && tries < 10; tries++) {
        struct plan plan;
        allocations_left = tries;
        rv = plan_init_single(&plan, 3, 0, 1, 2, 1);
        allocations_left = -1;
        assert_true(rv == 0 || rv == TR_ENOMEM);
        assert_true(rv == 0 || (plan.processes == NULL && plan.parts == NULL));
        plan_fini(&plan);
    }
    assert_int_equal(tries, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_may_end_while_a_job_is_prepared),
        cmocka_unit_test(memory_may_end_while_one_process_is_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

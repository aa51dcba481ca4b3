/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster file, JSON or ip_config.txt: what is read can be planned from, or is refused with a
 * message; a plan names processes that there are. The first byte is the number of partitions, and
 * whether the network may be insecure, which ip_config.txt can't say. */
#include <jansson.h>

#include "actors/cluster/cluster.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

/* A plan may have thousands of processes; what is checked of each takes time. */
#define CHECKED_MAX 64

static void check_plan(const struct cluster_plan *made)
{
    const struct plan *plan = &made->plan;
    uint32_t nodes[CHECKED_MAX];
    assert(plan->num_processes > 0 && plan->num_processes <= PLAN_PROCESSES_MAX);
    assert(plan->coordinator < plan->num_processes);
    for (uint32_t p = 0; p < plan->num_parts; p++) {
        uint32_t count = plan_part_nodes(plan, p, p % plan->num_processes, nodes, CHECKED_MAX);
        assert(count > 0);
        for (uint32_t i = 0; i < count && i < CHECKED_MAX; i++)
            assert(nodes[i] < plan->num_processes);
    }
    for (uint32_t s = 0; s < plan->samplers && s < CHECKED_MAX; s++)
        assert(plan_sampler_node(plan, s) < plan->num_processes);
    for (uint32_t r = 0; r < plan->trainers && r < CHECKED_MAX; r++) {
        struct plan_range samplers = plan_trainer_samplers(plan, r);
        assert(plan_trainer_node(plan, r) < plan->num_processes);
        assert(samplers.first + samplers.count <= plan->samplers);
        assert(samplers.count > 0 || plan->samplers == 0);
    }
    struct links_peer *peers = calloc(plan->num_processes, sizeof *peers);
    assert(peers != NULL);
    assert(cluster_plan_peers(made, 0, peers) == plan->num_processes - 1);
    free(peers);
}

static void use(const struct cluster *cluster, uint32_t num_parts)
{
    struct error error = { 0 };
    struct cluster_plan plan;
    struct cluster_tls tls;
    uint32_t found;
    for (uint32_t h = 0; h < cluster->num_hosts && h < CHECKED_MAX; h++) {
        assert(cluster_find_host(cluster, cluster->hosts[h].name, &found, &error) == 0);
        assert(cluster_host_tls(cluster, h, &tls) == 0);
        cluster_tls_fini(&tls);
    }
    assert(cluster->coordinator_host < cluster->num_hosts);
    int rv = cluster_plan_make(&plan, cluster, num_parts, &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        check_plan(&plan);
        cluster_plan_fini(&plan);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = { data, size };
    struct memory_files files;
    struct cluster cluster;
    struct error error = { 0 };
    uint8_t choice = fuzz_byte(&bytes);
    json_object_seed(1); /* equal inputs run equally */
    memory_files_init(&files, "cluster.json", bytes.at, bytes.left);
    int rv = cluster_read(&files.base, FUZZ_FOLDER "/cluster.json", &cluster, &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        cluster.insecure_network |= (choice & 16) != 0;
        use(&cluster, 1 + choice % 16);
        cluster_fini(&cluster);
    }
    memory_files_fini(&files);
    return 0;
}

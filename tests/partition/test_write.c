/* What is partitioned and loaded is the graph that went in, whatever its shape. */
#include "tests/partition/graph_util.h"

static void round_trip(struct scratch *scratch, bool hetero, uint64_t nodes, uint64_t edges,
                       struct partition_options options)
{
    static int round;
    char raw_path[160], out[160], json[200];
    struct sample sample;
    struct error error = { 0 };
    struct partition_report report;
    snprintf(raw_path, sizeof raw_path, "%s/raw%d", scratch->folder, round);
    snprintf(out, sizeof out, "%s/out%d", scratch->folder, round++);
    snprintf(json, sizeof json, "%s/sample.json", out);
    sample_init(&sample, hetero, nodes, edges, nodes * 31 + edges);
    struct raw_graph *raw = sample_raw(&sample, raw_path);
    if (partition_graph(raw, &options, out, NULL, NULL, &report, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(report.num_nodes, nodes);
    assert_true(report.cut_edges <= report.num_edges);
    check_directory(&sample, json, PARTITION_COPY);
    check_directory(&sample, json, PARTITION_MAP);
    raw_close(raw);
    sample_fini(&sample);
}

static const uint32_t part_counts[] = { 1, 2, 3, 8, 40 };

static void random_partitions_hold_the_graph(void **state)
{
    for (size_t i = 0; i < sizeof part_counts / sizeof *part_counts; i++) {
        struct partition_options options = { .method = PARTITION_RANDOM,
                                             .num_parts = part_counts[i],
                                             .seed = 5 + i,
                                             .halo_hops = (uint32_t)i };
        round_trip(*state, false, 150, 700, options);
        round_trip(*state, true, 120, 400, options);
    }
}

static void small_and_empty_graphs_go_through(void **state)
{
    struct partition_options options = { .method = PARTITION_RANDOM, .num_parts = 3,
                                         .halo_hops = 2 };
    round_trip(*state, false, 0, 0, options);
    round_trip(*state, false, 5, 0, options);
    round_trip(*state, true, 1, 0, options);
    round_trip(*state, true, 4, 9, options);
    round_trip(*state, false, 1, 20, options);
}

/* With a low limit, what types of 2^32 nodes need is done for small ones. */
static void columns_may_be_local(void **state)
{
    struct partition_options options = { .method = PARTITION_RANDOM, .num_parts = 3,
                                         .halo_hops = 3, .columns_max = 50 };
    round_trip(*state, false, 150, 700, options);
    round_trip(*state, true, 120, 400, options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_partitions_hold_the_graph, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(small_and_empty_graphs_go_through, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(columns_may_be_local, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

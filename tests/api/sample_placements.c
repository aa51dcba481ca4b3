/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/api/sample_placements.h"
#include "tests/scratch.h"

#include "tests/api/outcome.h"

static const uint32_t PARTS[PLACEMENTS] = { 3, 1, 8, 2, 4, 5 };

struct tr_session *placement_open(const char *path, int placement, struct tr_graph **graph)
{
    struct tr_session_options options;
    struct tr_session *session;
    tr_session_options_init(&options);
    options.loops = 1 + (uint32_t)placement % 2;
    options.samplers = 1 + (uint32_t)placement % 3;
    options.servers = placement % 2 == 0 ? 0 : 1;
    options.direct = placement % 3 != 0;
    options.codec = placement % 3 == 0;
    options.map_files = placement == 4;
    ok(tr_session_open(&options, &session, &failure));
    ok(tr_graph_open(session, path, TR_WAIT_FOREVER, graph, &failure));
    return session;
}

/* What is done on each placement: with its path, or with its graph. */
struct placement_run {
    uint64_t (*path)(const char *path, int placement);
    uint64_t (*graph)(struct tr_graph *graph);
};

static uint64_t run_on(const struct placement_run *run, const char *path, int placement)
{
    struct tr_graph *graph;
    if (run->graph == NULL)
        return run->path(path, placement);
    struct tr_session *session = placement_open(path, placement, &graph);
    uint64_t sum = run->graph(graph);
    tr_graph_close(graph);
    tr_session_close(session);
    return sum;
}

static void agree(struct sample *sample, int count, uint32_t trainers,
                  const struct placement_run *run)
{
    char dir[64], path[256];
    uint64_t first = 0;
    assert_true(count <= PLACEMENTS);
    assert_non_null(scratch_folder(dir, sizeof dir, "placements"));
    snprintf(path, sizeof path, "%s/raw", dir);
    struct raw_graph *raw = sample_raw(sample, path);
    for (int i = 0; i < count; i++) {
        const struct partition_options options = { .name = "g",
                                                   .method = PARTITION_RANDOM,
                                                   .num_parts = PARTS[i],
                                                   .seed = 7 + (uint64_t)i,
                                                   .halo_hops = 1,
                                                   .trainers = trainers,
                                                   .out_edges = sample->out_edges };
        struct partition_report report;
        struct error error = { 0 };
        snprintf(path, sizeof path, "%s/p%d", dir, i);
        if (partition_graph(raw, &options, path, parallel_serial, NULL, &report, &error) != 0)
            fail_msg("%s", error.text);
        snprintf(path, sizeof path, "%s/p%d/g.json", dir, i);
        uint64_t sum = run_on(run, path, i);
        first = i == 0 ? sum : first;
        assert_int_equal(sum, first);
    }
    raw_close(raw);
    assert_int_equal(files_remove_tree(files_posix, dir, NULL), 0);
}

void placements_agree(struct sample *sample, int count, uint32_t trainers,
                      uint64_t (*run)(const char *path, int placement))
{
    agree(sample, count, trainers, &(struct placement_run){ .path = run });
}

void graphs_agree(struct sample *sample, int count, uint32_t trainers,
                  uint64_t (*run)(struct tr_graph *graph))
{
    agree(sample, count, trainers, &(struct placement_run){ .graph = run });
}

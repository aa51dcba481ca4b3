/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs and libraries of different versions. The sources are built twice: against the headers as
 * they are, for libraries whose structs have grown; and with OF_A_LATER_VERSION against grown
 * headers, for the libraries as they are. abi.h says how a struct is passed; every struct of the
 * headers is.
 */
#include <unistd.h>

#include "abi.h"

#define MINUTE_NS INT64_C(60000000000)

bool abi_passed[ABI_STRUCTS];

void abi_check_guard(const unsigned char guard[ABI_GUARD_BYTES])
{
    for (size_t i = 0; i < ABI_GUARD_BYTES; i++)
        assert_int_equal(guard[i], ABI_GUARD);
}

const char *abi_path(char text[256], const char *name)
{
    snprintf(text, 256, "%s/%s", world_folder(), name);
    return text;
}

struct job {
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
    struct tr_loader *loader;
    struct tr_group *group;
    struct tr_log *log;
};

static void open_job(struct job *job)
{
    char path[256];
    ABI_OPTIONS(tr_log_options, log);
    ABI_OPTIONS(tr_session_options, session);
    ABI_OPTIONS(tr_loader_options, loader);
    assert_true(log.it.level == TR_LOG_INFO && log.it.lines_max > 0);
    assert_true(session.it.direct);
    assert_int_equal(loader.it.batch_size, 1024);
    world_partition(PARTITION_RANDOM, 2, path);
    ABI_REFUSES(log, "tr_log_options", tr_log_open(&log.it, &job->log, &failure));
    ok(tr_log_open(&log.it, &job->log, &failure));
    session.it.seed = 5;
    session.it.log = job->log;
    ABI_REFUSES(session, "tr_session_options",
                tr_session_open(&session.it, &job->session, &failure));
    ok(tr_session_open(&session.it, &job->session, &failure));
    ok(tr_graph_open(job->session, path, TR_WAIT_FOREVER, &job->graph, &failure));
    ok(tr_nodes_all(job->graph, 0, TR_WAIT_FOREVER, &job->nodes, &failure));
    loader.it.batch_size = 100;
    loader.it.features = "feat";
    loader.it.original_ids = true;
    ABI_REFUSES(loader, "tr_loader_options",
                tr_loader_open(job->graph, job->nodes, &loader.it, TR_WAIT_FOREVER, &job->loader,
                               &failure));
    ok(tr_loader_open(job->graph, job->nodes, &loader.it, TR_WAIT_FOREVER, &job->loader, &failure));
    ok(tr_group_open(job->graph, 0, &job->group, &failure));
}

static void close_job(struct job *job)
{
    tr_group_close(job->group);
    tr_loader_close(job->loader);
    tr_nodes_close(job->nodes);
    tr_graph_close(job->graph);
    tr_session_close(job->session);
    tr_log_close(job->log);
}

/* A batch of edges, drawn at once. */
static void sample(struct tr_graph *graph)
{
    const uint64_t ends[2] = { 1, 2 };
    struct tr_sample_spec *spec;
    struct tr_nodes *pairs;
    struct tr_batch *batch;
    ABI_OPTIONS(tr_sample_options, options);
    ABI_OUT(tr_pairs, drawn, TR_PAIRS_INIT);
    ABI_OUT(tr_negatives, negatives, TR_NEGATIVES_INIT);
    ABI_IN(tr_link_options, links, TR_LINK_OPTIONS_INIT);
    ok(tr_sample_spec_create(graph, 1, &spec, &failure));
    ok(tr_pairs_listed(graph, 0, ends, ends, 2, &pairs, &failure));
    options.it.spec = spec;
    options.it.pairs = pairs;
    ABI_REFUSES(options, "tr_sample_options",
                tr_sample(graph, &options.it, TR_WAIT_FOREVER, &batch, &failure));
    links.it.num_negatives = 3;
    options.it.links = &links.it;
    ABI_REFUSES(links, "tr_link_options",
                tr_sample(graph, &options.it, TR_WAIT_FOREVER, &batch, &failure));
    ok(tr_sample(graph, &options.it, TR_WAIT_FOREVER, &batch, &failure));
    ABI_CHECK(links);
    ABI_FILLS(negatives, tr_batch_negatives(batch, &negatives.it, &failure));
    assert_int_equal(negatives.it.count, 6);
    ABI_FILLS(drawn, tr_batch_pairs(batch, &drawn.it, &failure));
    assert_int_equal(drawn.it.count, 2);
    tr_batch_release(batch);
    tr_nodes_close(pairs);
    tr_sample_spec_destroy(spec);
}

static void write_rows(struct tr_graph *graph)
{
    const uint64_t dims[] = { 3 };
    struct tr_dist_tensor *tensor;
    ABI_IN(tr_dist_tensor_options, options, TR_DIST_TENSOR_OPTIONS_INIT);
    ABI_OUT(tr_dist_tensor_info, info, TR_DIST_TENSOR_INFO_INIT);
    options.it.name = "h";
    options.it.dims = dims;
    options.it.num_dims = 1;
    ABI_REFUSES(options, "tr_dist_tensor_options",
                tr_dist_tensor_open(graph, &options.it, TR_WAIT_FOREVER, &tensor, &failure));
    ok(tr_dist_tensor_open(graph, &options.it, TR_WAIT_FOREVER, &tensor, &failure));
    ABI_CHECK(options);
    ABI_FILLS(info, tr_dist_tensor_info(tensor, &info.it, &failure));
    assert_int_equal(info.it.row_bytes, 12);
    assert_true(info.it.made);
    tr_dist_tensor_close(tensor);
}

static void read_in_place(const struct tr_graph *graph)
{
    ABI_OUT(tr_graph_place, place, TR_GRAPH_PLACE_INIT);
    ABI_OUT(tr_feature_info, info, TR_FEATURE_INFO_INIT);
    ABI_OUT(tr_part_nodes, nodes, TR_PART_NODES_INIT);
    ABI_OUT(tr_part_edges, edges, TR_PART_EDGES_INIT);
    ABI_FILLS(place, tr_graph_place(graph, &place.it, &failure));
    ABI_FILLS(info, tr_graph_find_feature(graph, 0, "label", &info.it, &failure));
    ABI_FILLS(nodes, tr_graph_part_nodes(graph, 0, 0, &nodes.it, &failure));
    ABI_FILLS(edges, tr_graph_part_edges(graph, 0, 0, &edges.it, &failure));
    assert_int_equal(place.it.world, 1);
    assert_string_equal(info.it.name, "label");
    assert_int_equal(nodes.it.num_nodes, edges.it.num_rows);
    assert_non_null(edges.it.index);
    /* Its features are dense. */
    ABI_OUT(tr_sparse_rows, sparse, TR_SPARSE_ROWS_INIT);
    assert_int_equal(tr_graph_part_sparse_rows(graph, 0, 0, "label", &sparse.it, &failure),
                     TR_EUNSUPPORTED);
}

static uint64_t take_batches(struct tr_loader *loader)
{
    struct tr_batch *batch;
    uint64_t batches = 0, digest;
    while (tr_loader_next(loader, TR_WAIT_FOREVER, &batch, &failure) == 0) {
        ABI_OUT(tr_block, block, TR_BLOCK_INIT);
        ABI_OUT(tr_rows, rows, TR_ROWS_INIT);
        ABI_FILLS(block, tr_batch_block(batch, 0, 0, &block.it, &failure));
        ABI_FILLS(rows, tr_batch_features(batch, 0, &rows.it, &failure));
        ok(tr_batch_digest(batch, &digest, &failure));
        assert_int_equal(block.it.num_dst, tr_batch_num_seeds(batch, 0));
        assert_int_equal(rows.it.width, WORLD_WIDTH);
        assert_non_null(block.it.sources);
        tr_batch_release(batch);
        batches++;
    }
    return batches;
}

static void a_whole_program_runs(void **state)
{
    struct job job;
    (void)state;
    open_job(&job);
    assert_int_equal(take_batches(job.loader), WORLD_NODES / 100);
    sample(job.graph);
    write_rows(job.graph);
    read_in_place(job.graph);
    ABI_OUT(tr_checkpoint, checkpoint, TR_CHECKPOINT_INIT);
    ABI_FILLS(checkpoint, tr_group_restore(job.group, TR_WAIT_FOREVER, &checkpoint.it, &failure));
    assert_null(checkpoint.it.bytes);
    ok(tr_session_dump(job.session, &failure));
    ABI_OUT(tr_log_line, line, TR_LOG_LINE_INIT);
    ABI_FILLS(line, tr_log_next(job.log, MINUTE_NS, &line.it, &failure));
    assert_true(line.it.text[0] != '\0');
    close_job(&job);
}

static void write_cluster(const char *file)
{
    char graph[256];
    world_partition(PARTITION_RANDOM, 2, graph);
    FILE *to = fopen(file, "w");
    assert_non_null(to);
    fprintf(to,
            "{\"name\": \"job\", \"graph\": \"%s\", \"hosts\": [{\"name\": \"a\", \"unix\": "
            "\"%s/s\"}]}",
            graph, world_folder());
    assert_int_equal(fclose(to), 0);
}

/* The event is read by its size, too. */
static void log_event(const struct tr_launch_event *event)
{
    struct tr_log_file *file;
    char path[256];
    ABI_IN(tr_log_file_options, options, TR_LOG_FILE_OPTIONS_INIT);
    abi_path(path, "log");
    ABI_REFUSES(options, "tr_log_file_options",
                tr_log_file_open(path, &options.it, &file, &failure));
    ok(tr_log_file_open(path, &options.it, &file, &failure));
    ok(tr_log_file_write_event(file, event, &failure));
    tr_log_file_close(file);
    assert_int_equal(unlink(path), 0);
}

static void a_job_is_launched(void **state)
{
    struct tr_launch *launch;
    struct tr_task *task;
    char file[256];
    (void)state;
    write_cluster(abi_path(file, "c.json"));
    ABI_IN(tr_launch_options, options, TR_LAUNCH_OPTIONS_INIT);
    ABI_OUT(tr_launch_info, info, TR_LAUNCH_INFO_INIT);
    ABI_OUT(tr_launch_event, event, TR_LAUNCH_EVENT_INIT);
    options.it.cluster = file;
    options.it.program = "/bin/true";
    ABI_REFUSES(options, "tr_launch_options", tr_launch_open(&options.it, &launch, &failure));
    ok(tr_launch_open(&options.it, &launch, &failure));
    ABI_FILLS(info, tr_launch_info(launch, &info.it, &failure));
    assert_string_equal(info.it.name, "job");
    assert_int_equal(info.it.num_processes, 1);
    /* How a process ends that only ends does not matter here: it is an event. */
    ok(tr_launch_start(launch, &task, &failure));
    ABI_FILLS(event, tr_launch_next(task, MINUTE_NS, &event.it, &failure));
    assert_non_null(event.it.text);
    log_event(&event.it);
    tr_task_close(task);
    tr_launch_close(launch);
}

static void a_job_is_observed_from_a_process_of_it(void **state)
{
    struct tr_observer *observer;
    struct tr_process *process;
    char file[256];
    (void)state;
    write_cluster(abi_path(file, "c.json"));
    ABI_IN(tr_observer_options, observing, TR_OBSERVER_OPTIONS_INIT);
    ABI_OUT(tr_job_status, job, TR_JOB_STATUS_INIT);
    ABI_OUT(tr_process_status, status, TR_PROCESS_STATUS_INIT);
    ABI_OUT(tr_link_status, link, TR_LINK_STATUS_INIT);
    ABI_OUT(tr_part_status, part, TR_PART_STATUS_INIT);
    observing.it.cluster = file;
    ABI_REFUSES(observing, "tr_observer_options",
                tr_observer_open(&observing.it, 0, &observer, &failure));
    ok(tr_observer_open(&observing.it, 0, &observer, &failure));
    ABI_FILLS(job, tr_observer_job(observer, &job.it, &failure));
    ABI_FILLS(status, tr_observer_process(observer, 0, &status.it, &failure));
    assert_int_equal(job.it.num_processes, 1);
    assert_false(status.it.up);
    uint64_t nodes = 0;
    for (uint32_t p = 0; p < job.it.num_parts; p++) {
        ABI_FILLS(part, tr_observer_part(observer, p, &part.it, &failure));
        nodes += part.it.num_nodes;
        assert_int_equal(part.it.num_processes, 1);
        assert_int_equal(part.it.processes[0], 0);
    }
    assert_true(job.it.num_parts > 0 && nodes > 0);
    assert_int_equal(tr_observer_part(observer, job.it.num_parts, &part.it, &failure), TR_ERANGE);
    ABI_IN(tr_live_page_options, showing, TR_LIVE_PAGE_OPTIONS_INIT);
    struct tr_live_page *page;
    ABI_REFUSES(showing, "tr_live_page_options",
                tr_live_page_open(observer, &showing.it, &page, &failure));
    ok(tr_live_page_open(observer, &showing.it, &page, &failure));
    assert_non_null(strstr(tr_live_page_url(page), "http://127.0.0.1:"));
    tr_live_page_close(page);
    struct tr_status *kept;
    ok(tr_status_read(observer, &kept, &failure));
    tr_observer_close(observer);
    /* What was kept outlives the observer. */
    ABI_FILLS(job, tr_status_job(kept, &job.it, &failure));
    ABI_FILLS(status, tr_status_process(kept, 0, &status.it, &failure));
    assert_string_equal(job.it.name, "job");
    assert_string_equal(status.it.host, "a");
    assert_non_null(strstr(tr_status_json(kept), "\"processes\":[{\"process\":0,\"host\":\"a\""));
    refused(tr_status_process(kept, 1, &status.it, &failure), TR_ERANGE, "no process 1");
    refused(tr_status_link(kept, 1, 0, &link.it, &failure), TR_ERANGE, "no process 1");
    refused(tr_status_link(kept, 0, 0, &link.it, &failure), TR_ERANGE, "no link 0");
    /* What is refused writes nothing. */
    abi_check_guard(link.guard);
    assert_int_equal(link.it.size, sizeof link.it);
    tr_status_close(kept);
    ABI_OPTIONS(tr_process_options, place);
    ABI_OPTIONS(tr_session_options, session);
    ABI_OUT(tr_process_info, mine, TR_PROCESS_INFO_INIT);
    assert_int_equal(place.it.index, TR_PROCESS_UNSAID);
    place.it.cluster = file;
    place.it.process = 0;
    ABI_REFUSES(place, "tr_process_options", tr_process_open(&place.it, 0, &process, &failure));
    ok(tr_process_open(&place.it, 0, &process, &failure));
    ABI_FILLS(mine, tr_process_info(process, &mine.it, &failure));
    ABI_FILLS(session, tr_process_session(process, &session.it, &failure));
    assert_string_equal(mine.it.name, "job");
    assert_string_equal(session.it.cluster, file);
    tr_process_close(process);
}

static int run(struct tr_task *task, void *arg, struct tr_error *error)
{
    (void)task;
    (void)error;
    *(bool *)arg = true;
    return 0;
}

static void a_library_above_makes_a_task(void **state)
{
    struct tr_task *task;
    bool ran = false;
    (void)state;
    ABI_IN(tr_task_work, work, TR_TASK_WORK_INIT);
    work.it.name = "own";
    work.it.run = run;
    ABI_REFUSES(work, "tr_task_work", tr_task_start(&work.it, &ran, &task, &failure));
    ok(tr_task_start(&work.it, &ran, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    assert_true(ran);
    tr_task_close(task);
}

static void errors_keep_to_their_size(void **state)
{
    struct tr_session *session;
    (void)state;
    ABI_OUT(tr_error, error, TR_ERROR_INIT);
    ABI_OPTIONS(tr_session_options, options);
    options.it.loops = 1000;
    assert_int_equal(tr_session_open(&options.it, &session, &error.it), TR_ERANGE);
    ABI_CHECK(error);
    assert_int_equal(error.it.code, TR_ERANGE);
    assert_non_null(strstr(error.it.message, "1000"));
}

static void what_nobody_initialised_is_refused(void **state)
{
    struct tr_session *session;
    (void)state;
    ABI_OPTIONS(tr_session_options, options);
    options.it.size = 0;
    assert_int_equal(tr_session_open(&options.it, &session, &failure), TR_EINVAL);
    assert_non_null(strstr(failure.message, "tr_session_options"));
    options.it.size = SIZE_MAX;
    assert_int_equal(tr_session_open(&options.it, &session, &failure), TR_EINVAL);
    assert_null(session);
}

/* The last test: what another version adds to a struct is tried, whichever it is. */
static void every_struct_of_the_headers_was_passed(void **state)
{
#define X(tag) #tag,
    static const char *const NAMES[] = { STRUCTS(X) };
#undef X
    (void)state;
    for (size_t i = 0; i < ABI_STRUCTS; i++)
        if (!abi_passed[i])
            fail_msg("struct %s is passed by no test before this one: declare one there by "
                     "ABI_OUT(), ABI_IN() or ABI_OPTIONS(), and pass it",
                     NAMES[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_program_runs),
        cmocka_unit_test(a_job_is_launched),
        cmocka_unit_test(a_job_is_observed_from_a_process_of_it),
        cmocka_unit_test(a_library_above_makes_a_task),
        cmocka_unit_test(graphs_are_made_ready),
        cmocka_unit_test(graphs_at_rest_are_read),
        cmocka_unit_test(clusters_and_keys_are_read),
        cmocka_unit_test(a_model_is_trained_and_inferred),
        cmocka_unit_test(errors_keep_to_their_size),
        cmocka_unit_test(what_nobody_initialised_is_refused),
        cmocka_unit_test(every_struct_of_the_headers_was_passed),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}

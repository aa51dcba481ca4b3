/* SPDX-License-Identifier: Apache-2.0 */
/* Programs and libraries of different versions (abi.h): tasks that make graphs ready, and what lies
 * on disk. */
#include "abi.h"

#define NODES 300u
#define EDGES 2000u
#define PARTS 2u

static void generate(const char *out)
{
    struct tr_task *task;
    ABI_OPTIONS(tr_generate_options, options);
    assert_int_equal(options.it.num_features, 16);
    assert_true(options.it.quadrants[3] > 0);
    options.it.out = out;
    options.it.kind = TR_GENERATE_SBM;
    options.it.num_nodes = NODES;
    options.it.num_edges = EDGES;
    ABI_REFUSES(options, "tr_generate_options", tr_generate_start(&options.it, &task, &failure));
    ok(tr_generate_start(&options.it, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ABI_OUT(tr_task_progress, progress, TR_TASK_PROGRESS_INIT);
    ABI_FILLS(progress, tr_task_progress(task, &progress.it, &failure));
    assert_true(progress.it.finished && progress.it.elapsed_ns > 0);
    tr_task_close(task);
}

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void copy(const char *from, const char *out)
{
    struct tr_task *task;
    ABI_IN(tr_import_edges_options, options, TR_IMPORT_EDGES_OPTIONS_INIT);
    ABI_OUT(tr_import_edges_report, report, TR_IMPORT_EDGES_REPORT_INIT);
    ABI_OUT(tr_import_features_report, features, TR_IMPORT_FEATURES_REPORT_INIT);
    options.it.path = from;
    options.it.out = out;
    ABI_REFUSES(options, "tr_import_edges_options",
                tr_import_edges_start(&options.it, &task, &failure));
    ok(tr_import_edges_start(&options.it, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ABI_FILLS(report, tr_import_edges_result(task, &report.it, &failure));
    assert_int_equal(tr_import_edges_features(task, &features.it, &failure), TR_EINVAL);
    tr_task_close(task);
    ABI_IN(tr_import_npz_options, npz, TR_IMPORT_NPZ_OPTIONS_INIT);
    ABI_OUT(tr_import_npz_report, npz_report, TR_IMPORT_NPZ_REPORT_INIT);
    npz.it.out = out;
    npz.it.path = "/nowhere/graph.npz";
    ABI_REFUSES(npz, "tr_import_npz_options", tr_import_npz_start(&npz.it, &task, &failure));
    ok(tr_import_npz_start(&npz.it, &task, &failure));
    assert_true(tr_task_wait(task, TR_WAIT_FOREVER, &failure) < 0);
    assert_true(tr_import_npz_result(task, &npz_report.it, &failure) < 0);
    tr_task_close(task);
    ABI_IN(tr_import_ogb_options, ogb, TR_IMPORT_OGB_OPTIONS_INIT);
    ABI_OUT(tr_import_ogb_report, ogb_report, TR_IMPORT_OGB_REPORT_INIT);
    ogb.it.out = out;
    ogb.it.path = "/nowhere/ogbn_arxiv";
    ABI_REFUSES(ogb, "tr_import_ogb_options", tr_import_ogb_start(&ogb.it, &task, &failure));
    ok(tr_import_ogb_start(&ogb.it, &task, &failure));
    assert_true(tr_task_wait(task, TR_WAIT_FOREVER, &failure) < 0);
    assert_true(tr_import_ogb_result(task, &ogb_report.it, &failure) < 0);
    tr_task_close(task);
    ABI_IN(tr_import_debian_options, debian, TR_IMPORT_DEBIAN_OPTIONS_INIT);
    debian.it.out = out;
    debian.it.from = "/nowhere/packages";
    ABI_REFUSES(debian, "tr_import_debian_options",
                tr_import_debian_start(&debian.it, &task, &failure));
    ok(tr_import_debian_start(&debian.it, &task, &failure));
    assert_true(tr_task_wait(task, TR_WAIT_FOREVER, &failure) < 0);
    tr_task_close(task);
}

/* Two nodes and a file of features, in place of what is at out. */
static void import_features(const char *edges, const char *out)
{
    struct tr_task *task;
    ABI_IN(tr_import_edges_options, options, TR_IMPORT_EDGES_OPTIONS_INIT);
    ABI_OUT(tr_import_features_report, report, TR_IMPORT_FEATURES_REPORT_INIT);
    char path[300], folder[300];
    snprintf(path, sizeof path, "%s.svm", out);
    snprintf(folder, sizeof folder, "%s-features", out);
    put_file(path, "0 2:1\n1 1:3 2:1\n");
    put_file(edges, "0,1\n");
    options.it.path = edges;
    options.it.out = folder;
    options.it.node_features = path;
    options.it.rows = TR_ROWS_SPARSE;
    ok(tr_import_edges_start(&options.it, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ABI_FILLS(report, tr_import_edges_features(task, &report.it, &failure));
    assert_true(report.it.rows == 2 && report.it.columns == 2 && report.it.items == 3);
    assert_true(report.it.labels == TR_FILE_LABELS_WRITTEN && report.it.num_classes == 2);
    assert_true(report.it.is_text && report.it.kept_sparse && report.it.base == 1);
    assert_int_equal(tr_import_table_features(task, &report.it, &failure), TR_EINVAL);
    tr_task_close(task);
    options.it.feature_base = 3;
    assert_int_equal(tr_import_edges_start(&options.it, &task, &failure), TR_EINVAL);
    options.it.feature_base = 0;
    options.it.rows = 3;
    assert_int_equal(tr_import_edges_start(&options.it, &task, &failure), TR_EINVAL);
}

static void import_tables(const char *out)
{
    struct tr_task *task;
    ABI_IN(tr_import_table_options, options, TR_IMPORT_TABLE_OPTIONS_INIT);
    ABI_OUT(tr_import_table_report, report, TR_IMPORT_TABLE_REPORT_INIT);
    ABI_OUT(tr_import_table_column, column, TR_IMPORT_TABLE_COLUMN_INIT);
    char edges[300];
    snprintf(edges, sizeof edges, "%s.csv", out);
    put_file(edges, "src,dst\na,b\nb,c\n");
    options.it.edges = edges;
    options.it.out = out;
    ABI_REFUSES(options, "tr_import_table_options",
                tr_import_table_start(&options.it, &task, &failure));
    ok(tr_import_table_start(&options.it, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ABI_FILLS(report, tr_import_table_result(task, &report.it, &failure));
    assert_true(report.it.edge_rows == 2 && report.it.num_columns == 2);
    ABI_FILLS(column, tr_import_table_column(task, 1, &column.it, &failure));
    assert_string_equal(column.it.name, "dst");
    tr_task_close(task);
    import_features(edges, out);
}

static void read_names(const char *raw, const char *out)
{
    struct tr_task *task;
    struct tr_book *book;
    ABI_OPTIONS(tr_partition_options, options);
    ABI_OUT(tr_names_info, names, TR_NAMES_INFO_INIT);
    struct tr_raw *graph;
    char path[300], text[64];
    uint64_t offsets[3];
    uint32_t list;
    ok(tr_raw_open(raw, NULL, &graph, &failure));
    ABI_FILLS(names, tr_raw_names(graph, 0, &names.it, &failure));
    assert_true(names.it.of == TR_NAMES_NODES && names.it.count == 3 && names.it.table == NULL);
    ok(tr_raw_read_names(graph, 0, 1, 2, offsets, text, sizeof text, &failure));
    assert_memory_equal(text, "b\nc\n", 4);
    assert_true(offsets[0] == 0 && offsets[1] == 2 && offsets[2] == 4);
    assert_int_equal(tr_raw_read_names(graph, 0, 1, 2, offsets, text, 3, &failure), TR_ETOOBIG);
    assert_int_equal(tr_raw_read_names(graph, 0, 4, 0, offsets, NULL, 0, &failure), TR_ERANGE);
    assert_int_equal(tr_raw_read_names(graph, 1, 0, 0, offsets, NULL, 0, &failure), TR_ERANGE);
    assert_int_equal(tr_raw_names(graph, 1, &names.it, &failure), TR_ERANGE);
    tr_raw_close(graph);
    options.it.raw = raw;
    options.it.out = out;
    options.it.name = "g";
    options.it.method = "random";
    options.it.num_parts = 1;
    ok(tr_partition_start(&options.it, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    tr_task_close(task);
    snprintf(path, sizeof path, "%s/g.json", out);
    ok(tr_book_open(path, &book, &failure));
    ok(tr_book_find_names(book, TR_NAMES_NODES, 0, NULL, &list, &failure));
    ABI_FILLS(names, tr_book_names(book, list, &names.it, &failure));
    assert_true(names.it.of == TR_NAMES_NODES && names.it.count == 3);
    ok(tr_book_read_names(book, list, 1, 2, offsets, text, sizeof text, &failure));
    assert_memory_equal(text, "b\nc\n", 4);
    assert_true(offsets[0] == 0 && offsets[1] == 2 && offsets[2] == 4);
    assert_int_equal(tr_book_read_names(book, list, 1, 2, offsets, text, 3, &failure), TR_ETOOBIG);
    assert_int_equal(tr_book_read_names(book, list, 2, 2, offsets, NULL, 0, &failure), TR_ERANGE);
    assert_int_equal(tr_book_names(book, 1, &names.it, &failure), TR_ERANGE);
    assert_int_equal(tr_book_find_names(book, TR_NAMES_VALUES, 0, "label", &list, &failure),
                     TR_ENOENT);
    tr_book_close(book);
}

static void split(const char *raw)
{
    struct tr_task *task;
    ABI_OPTIONS(tr_split_options, options);
    ABI_OUT(tr_split_report, report, TR_SPLIT_REPORT_INIT);
    assert_int_equal(options.it.train_share, 600000);
    options.it.raw = raw;
    options.it.by_class = true;
    options.it.replace = true;
    ABI_REFUSES(options, "tr_split_options", tr_split_start(&options.it, &task, &failure));
    ok(tr_split_start(&options.it, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ABI_FILLS(report, tr_split_result(task, &report.it, &failure));
    assert_int_equal(report.it.num_train + report.it.num_validation + report.it.num_test, NODES);
    assert_int_equal(report.it.num_classes, 8);
    tr_task_close(task);
}

static void make_features(const char *raw)
{
    struct tr_task *task;
    ABI_IN(tr_feature_options, options, TR_FEATURE_OPTIONS_INIT);
    ABI_OUT(tr_feature_report, report, TR_FEATURE_REPORT_INIT);
    options.it.raw = raw;
    options.it.name = "rank";
    options.it.kind = TR_FEATURE_PAGERANK;
    ABI_REFUSES(options, "tr_feature_options", tr_feature_start(&options.it, &task, &failure));
    ok(tr_feature_start(&options.it, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ABI_FILLS(report, tr_feature_result(task, &report.it, &failure));
    assert_int_equal(report.it.num_nodes, NODES);
    assert_true(report.it.rounds > 1 && report.it.width == 1);
    tr_task_close(task);
}

static void partition(const char *raw, const char *out)
{
    struct tr_task *task;
    ABI_OPTIONS(tr_partition_options, options);
    ABI_OUT(tr_partition_report, report, TR_PARTITION_REPORT_INIT);
    assert_string_equal(options.it.method, "metis");
    options.it.raw = raw;
    options.it.out = out;
    options.it.name = "g";
    options.it.method = "random";
    options.it.num_parts = PARTS;
    ABI_REFUSES(options, "tr_partition_options", tr_partition_start(&options.it, &task, &failure));
    ok(tr_partition_start(&options.it, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ABI_FILLS(report, tr_partition_result(task, &report.it, &failure));
    assert_int_equal(report.it.num_nodes, NODES);
    assert_true(report.it.total_seconds > 0);
    tr_task_close(task);
}

static void verify(const char *book)
{
    struct tr_task *task;
    ABI_IN(tr_verify_options, options, TR_VERIFY_OPTIONS_INIT);
    ABI_OUT(tr_verify_report, report, TR_VERIFY_REPORT_INIT);
    options.it.path = book;
    ABI_REFUSES(options, "tr_verify_options", tr_verify_start(&options.it, &task, &failure));
    ok(tr_verify_start(&options.it, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ABI_FILLS(report, tr_verify_result(task, &report.it, &failure));
    assert_int_equal(report.it.kind, TR_VERIFY_FILES);
    assert_true(report.it.num_files > 0);
    tr_task_close(task);
}

void graphs_are_made_ready(void **state)
{
    char raw[256], copied[256], parts[256], book[256];
    (void)state;
    generate(abi_path(raw, "abi-raw"));
    copy(raw, abi_path(copied, "abi-copy"));
    import_tables(abi_path(parts, "abi-tables"));
    read_names(parts, abi_path(book, "abi-named"));
    split(copied);
    make_features(copied);
    partition(copied, abi_path(parts, "abi-parts"));
    verify(abi_path(book, "abi-parts/g.json"));
}

static void read_raw(const char *path)
{
    struct tr_raw *raw;
    ABI_IN(tr_raw_options, options, TR_RAW_OPTIONS_INIT);
    ABI_OUT(tr_raw_info, info, TR_RAW_INFO_INIT);
    ABI_OUT(tr_ntype_info, ntype, TR_NTYPE_INFO_INIT);
    ABI_OUT(tr_etype_info, etype, TR_ETYPE_INFO_INIT);
    ABI_OUT(tr_table_info, table, TR_TABLE_INFO_INIT);
    ABI_REFUSES(options, "tr_raw_options", tr_raw_open(path, &options.it, &raw, &failure));
    ok(tr_raw_open(path, &options.it, &raw, &failure));
    ABI_FILLS(info, tr_raw_info(raw, &info.it, &failure));
    ABI_FILLS(ntype, tr_raw_ntype(raw, 0, &ntype.it, &failure));
    ABI_FILLS(etype, tr_raw_etype(raw, 0, &etype.it, &failure));
    ABI_FILLS(table, tr_raw_table(raw, 0, &table.it, &failure));
    assert_int_equal(info.it.num_edges, WORLD_EDGES);
    assert_int_equal(ntype.it.num_nodes, WORLD_NODES);
    assert_int_equal(etype.it.num_edges, WORLD_EDGES);
    assert_true(table.it.row_bytes > 0);
    tr_raw_close(raw);
}

static void read_book(const char *path)
{
    struct tr_book *book;
    ABI_OUT(tr_book_info, info, TR_BOOK_INFO_INIT);
    ABI_OUT(tr_part_info, part, TR_PART_INFO_INIT);
    ABI_OUT(tr_ntype_info, ntype, TR_NTYPE_INFO_INIT);
    ABI_OUT(tr_etype_info, etype, TR_ETYPE_INFO_INIT);
    ABI_OUT(tr_table_info, table, TR_TABLE_INFO_INIT);
    ok(tr_book_open(path, &book, &failure));
    ABI_FILLS(info, tr_book_info(book, &info.it, &failure));
    ABI_FILLS(part, tr_book_part(book, 1, &part.it, &failure));
    ABI_FILLS(ntype, tr_book_ntype(book, 0, &ntype.it, &failure));
    ABI_FILLS(etype, tr_book_etype(book, 0, &etype.it, &failure));
    ABI_FILLS(table, tr_book_table(book, 0, &table.it, &failure));
    assert_int_equal(info.it.num_nodes, WORLD_NODES);
    assert_true(part.it.file_bytes > 0);
    assert_int_equal(etype.it.num_edges, WORLD_EDGES);
    assert_non_null(table.it.name);
    tr_book_close(book);
}

void graphs_at_rest_are_read(void **state)
{
    char raw[256], book[256];
    (void)state;
    read_raw(abi_path(raw, "raw"));
    world_partition(PARTITION_RANDOM, PARTS, book);
    read_book(book);
}

static void read_cluster(const char *path)
{
    struct tr_cluster *cluster;
    struct tr_plan *plan;
    ABI_OUT(tr_cluster_info, info, TR_CLUSTER_INFO_INIT);
    ABI_OUT(tr_cluster_host_info, host, TR_CLUSTER_HOST_INFO_INIT);
    ABI_OUT(tr_plan_info, made, TR_PLAN_INFO_INIT);
    ABI_OUT(tr_plan_process_info, process, TR_PLAN_PROCESS_INFO_INIT);
    ok(tr_cluster_open(path, &cluster, &failure));
    ABI_FILLS(info, tr_cluster_info(cluster, &info.it, &failure));
    ABI_FILLS(host, tr_cluster_host(cluster, 1, &host.it, &failure));
    ok(tr_plan_open(cluster, PARTS, &plan, &failure));
    ABI_FILLS(made, tr_plan_info(plan, &made.it, &failure));
    ABI_FILLS(process, tr_plan_process(plan, 0, &process.it, &failure));
    assert_int_equal(info.it.num_hosts, 2);
    assert_string_equal(host.it.name, "b");
    assert_int_equal(made.it.num_parts, PARTS);
    assert_non_null(process.it.endpoint);
    tr_plan_close(plan);
    tr_cluster_close(cluster);
}

void clusters_and_keys_are_read(void **state)
{
    static const char *const HOSTS[] = { "a" };
    char path[256], folder[256];
    (void)state;
    FILE *file = fopen(abi_path(path, "abi-cluster.json"), "w");
    assert_non_null(file);
    fputs("{\"name\": \"two\", \"hosts\": ["
          "{\"name\": \"a\", \"address\": \"127.0.0.1\", \"port\": 4100},"
          "{\"name\": \"b\", \"address\": \"127.0.0.2\", \"port\": 4200}]}",
          file);
    assert_int_equal(fclose(file), 0);
    read_cluster(path);
    ABI_OPTIONS(tr_keys_options, options);
    ABI_OUT(tr_keys_report, report, TR_KEYS_REPORT_INIT);
    assert_int_equal(options.it.days, 365);
    options.it.folder = abi_path(folder, "abi-keys");
    options.it.hosts = HOSTS;
    options.it.num_hosts = 1;
    ABI_REFUSES(options, "tr_keys_options", tr_keys_make(&options.it, &report.it, &failure));
    ABI_FILLS(report, tr_keys_make(&options.it, &report.it, &failure));
    assert_int_equal(report.it.made, 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawing once: the same batch on every placement and from every thread, by fanouts of each edge
 * type; and what cannot be drawn is named.
 */
#include "tests/partition/graph_util.h"
#include "tests/scratch.h"

#include <pthread.h>
#include <troupe/troupe.h>

#include "api/public_spec.h"

#define SECOND INT64_C(1000000000)
#define SEEDS 40u
#define THREADS 8
#define LAYERS 2u

/* The error of the last call that failed. */
static struct tr_error failure = TR_ERROR_INIT;

struct job {
    char dir[64];
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_sample_spec *spec;
    uint64_t seeds[SEEDS]; /* global IDs of the same original ones, on every placement */
    struct sample sample;
    uint64_t digest; /* of the batch that a thread drew */
    uint64_t rows;   /* a hash of its tables' bytes */
};

/* The tables that every batch brings along, in this order. */
static const struct {
    enum tr_table_of of;
    uint32_t type;
    const char *name;
    uint32_t where;
} LISTED[] = {
    { TR_OF_NODES, 0, "feat", TR_FOR_ALL },   { TR_OF_NODES, 1, "feat", 1 },
    { TR_OF_NODES, 0, "feat", TR_FOR_SEEDS }, { TR_OF_EDGES, 0, "weight", TR_FOR_ALL },
    { TR_OF_EDGES, 2, "weight", 0 },          { TR_OF_NODES, 1, "none", TR_FOR_ALL },
};
#define LISTED_TABLES (sizeof LISTED / sizeof *LISTED)

static void ok(int rv, const struct tr_error *error)
{
    if (rv != 0)
        fail_msg("%s: %s", tr_error_name(rv), error->message);
}

/* In layer l edge type e draws l + e neighbours, type 1 none and type 2 all; odd types replace. */
static int32_t fanout_of(uint32_t layer, uint32_t etype)
{
    return etype == 1 ? 0 : etype == 2 ? TR_FANOUT_ALL : (int32_t)(layer + etype + 1);
}

static void make_spec(struct job *job)
{
    struct tr_error error = TR_ERROR_INIT;
    ok(tr_sample_spec_create(job->graph, LAYERS, &job->spec, &error), &error);
    for (uint32_t e = 0; e < tr_graph_num_etypes(job->graph); e++) {
        for (uint32_t l = 0; l < LAYERS; l++)
            ok(tr_sample_spec_set_fanout(job->spec, l, e, fanout_of(l, e), &error), &error);
        ok(tr_sample_spec_set_replace(job->spec, TR_EVERY, e, e % 2 == 1, &error), &error);
    }
    for (uint32_t i = 0; i < LISTED_TABLES; i++) {
        assert_int_equal(tr_sample_spec_num_tables(job->spec), i);
        ok(tr_sample_spec_add_table(job->spec, LISTED[i].of, LISTED[i].type, LISTED[i].name,
                                    LISTED[i].where, &error),
           &error);
    }
}

/* Seeds in no order, every fifth one twice. */
static void find_seeds(struct job *job)
{
    struct tr_nodes *all;
    uint64_t ids[512], original[512];
    size_t count;
    assert_int_equal(tr_nodes_all(job->graph, 0, TR_WAIT_FOREVER, &all, &failure), 0);
    count = tr_nodes_count(all);
    assert_true(count > SEEDS && count <= 512);
    for (size_t i = 0; i < count; i++)
        ids[i] = i;
    assert_int_equal(
        tr_graph_original_ids(job->graph, 0, ids, count, 30 * SECOND, original, &failure), 0);
    for (uint32_t i = 0; i < SEEDS; i++) {
        uint64_t wanted = (i % 5 == 4 ? i - 1 : i) * 7 % count;
        for (size_t v = 0; v < count; v++)
            if (original[v] == wanted)
                job->seeds[i] = v;
    }
    tr_nodes_close(all);
}

static void open_job(struct job *job, uint32_t parts, bool direct)
{
    struct tr_session_options options;
    struct error error = { 0 };
    char path[256];
    assert_non_null(scratch_folder(job->dir, sizeof job->dir, "once"));
    sample_init(&job->sample, true, 300, 2500, 5);
    snprintf(path, sizeof path, "%s/raw", job->dir);
    struct raw_graph *raw = sample_raw(&job->sample, path);
    const struct partition_options how = {
        .name = "g", .method = PARTITION_RANDOM, .num_parts = parts, .seed = 7, .halo_hops = 1
    };
    struct partition_report report;
    snprintf(path, sizeof path, "%s/p", job->dir);
    if (partition_graph(raw, &how, path, parallel_serial, NULL, &report, &error) != 0)
        fail_msg("%s", error.text);
    raw_close(raw);
    tr_session_options_init(&options);
    options.loops = 2;
    options.samplers = 2;
    options.direct = direct;
    options.codec = !direct;
    snprintf(path, sizeof path, "%s/p/g.json", job->dir);
    assert_int_equal(tr_session_open(&options, &job->session, &failure), 0);
    assert_int_equal(tr_graph_open(job->session, path, TR_WAIT_FOREVER, &job->graph, &failure), 0);
    make_spec(job);
    find_seeds(job);
}

static void close_job(struct job *job)
{
    char command[100];
    sample_fini(&job->sample);
    tr_sample_spec_destroy(job->spec);
    tr_graph_close(job->graph);
    tr_session_close(job->session);
    snprintf(command, sizeof command, "rm -rf %s", job->dir);
    assert_int_equal(system(command), 0);
}

static struct tr_sample_options options_of(const struct job *job)
{
    struct tr_sample_options o;
    tr_sample_options_init(&o);
    o.spec = job->spec;
    o.seeds = job->seeds;
    o.num_seeds = SEEDS;
    o.seed = 11;
    o.edge_ids = o.original_ids = true;
    o.features = "feat";
    return o;
}

/* Seeds stand in their order, and no edge type draws more than it may. */
static void check_batch(const struct job *job, const struct tr_batch *batch)
{
    size_t count;
    const uint64_t *nodes = tr_batch_nodes(batch, 0, &count);
    assert_int_equal(tr_batch_num_seeds(batch, 0), SEEDS);
    assert_memory_equal(nodes, job->seeds, sizeof job->seeds);
    for (uint32_t l = 0; l < LAYERS; l++)
        for (uint32_t e = 0; e < tr_graph_num_etypes(job->graph); e++) {
            int32_t fanout = fanout_of(l, e);
            struct tr_block block = TR_BLOCK_INIT;
            assert_int_equal(tr_batch_block(batch, l, e, &block, NULL), 0);
            for (uint32_t i = 0; i < block.num_dst && fanout >= 0; i++)
                assert_true(block.index[i + 1] - block.index[i] <= (uint32_t)fanout);
            if (fanout == 0)
                assert_int_equal(block.num_edges, 0);
        }
}

/* Adds bytes to the hash of those before. */
static void hash_rows(uint64_t *hash, const struct tr_rows *rows)
{
    const unsigned char *bytes = rows->rows;
    for (size_t i = 0; i < rows->num_rows * rows->row_bytes; i++)
        *hash = (*hash ^ bytes[i]) * UINT64_C(1099511628211);
}

/* Row i is that of the i-th node of the type. */
static void check_node_rows(const struct tr_batch *batch, uint32_t ntype,
                            const struct tr_rows *rows)
{
    size_t count;
    const uint64_t *original = tr_batch_original_ids(batch, ntype, &count);
    assert_true(rows->num_rows <= count);
    for (size_t i = 0; i < rows->num_rows; i++)
        for (uint64_t k = 0; k < rows->width; k++)
            assert_true(((const float *)rows->rows)[i * rows->width + k] ==
                        sample_value(ntype, original[i], k));
}

/* Row i says which edge the i-th of the block is, whose ends the block has too; its ID fetches the
 * same row. */
static void check_edge_rows(const struct job *job, const struct tr_batch *batch, uint32_t layer,
                            uint32_t etype, const struct tr_rows *rows)
{
    const struct graph_etype *type = &job->sample.types.etypes[etype];
    struct tr_block block = TR_BLOCK_INIT;
    size_t count;
    const uint64_t *src = tr_batch_original_ids(batch, type->src, &count);
    const uint64_t *dst = tr_batch_original_ids(batch, type->dst, &count);
    assert_int_equal(tr_batch_block(batch, layer, etype, &block, NULL), 0);
    assert_int_equal(rows->num_rows, block.num_edges);
    for (uint32_t d = 0; d < block.num_dst && block.num_edges > 0; d++)
        for (uint32_t i = block.index[d]; i < block.index[d + 1]; i++) {
            const float *row = (const float *)rows->rows + (size_t)i * 2;
            uint64_t edge = (uint64_t)(row[0] - sample_value(10 + etype, 0, 0)) / 8;
            assert_true(edge < job->sample.num_edges[etype]);
            assert_true(row[1] == sample_value(10 + etype, edge, 1));
            assert_true(job->sample.src[etype][edge] == src[block.sources[i]]);
            assert_true(job->sample.dst[etype][edge] == dst[d]);
        }
    struct tr_error error = TR_ERROR_INIT;
    float *fetched = calloc((size_t)block.num_edges + 1, rows->row_bytes);
    assert_non_null(fetched);
    ok(tr_graph_fetch_edges(job->graph, etype, "weight", block.edge_ids, block.num_edges,
                            30 * SECOND, fetched, &error),
       &error);
    if (block.num_edges > 0)
        assert_memory_equal(fetched, rows->rows, block.num_edges * rows->row_bytes);
    free(fetched);
}

static void check_tables(struct job *job, const struct tr_batch *batch)
{
    struct tr_rows rows = TR_ROWS_INIT;
    uint64_t edges = 0;
    job->rows = 0;
    for (uint32_t i = 0; i < LISTED_TABLES; i++)
        for (uint32_t l = 0; l < LAYERS; l++) {
            bool of_edges = LISTED[i].of == TR_OF_EDGES, every = LISTED[i].where == TR_FOR_ALL;
            int wanted = of_edges && !every && LISTED[i].where != l ? TR_ENOENT : 0;
            assert_int_equal(tr_batch_table(batch, i, l, &rows, NULL), wanted);
            if (wanted != 0)
                continue;
            hash_rows(&job->rows, &rows);
            if (of_edges)
                check_edge_rows(job, batch, l, LISTED[i].type, &rows);
            else
                check_node_rows(batch, LISTED[i].type, &rows);
            edges += of_edges ? rows.num_rows : 0;
        }
    assert_true(edges > 0);
    size_t count;
    assert_int_equal(tr_batch_table(batch, 0, 0, &rows, NULL), 0);
    tr_batch_nodes(batch, 0, &count);
    assert_int_equal(rows.num_rows, count);
    assert_int_equal(tr_batch_table(batch, 2, 0, &rows, NULL), 0);
    assert_int_equal(rows.num_rows, SEEDS);
    assert_int_equal(tr_batch_table(batch, LISTED_TABLES, 0, &rows, NULL), TR_ENOENT);
}

static void *draw(void *arg)
{
    struct job *job = arg;
    const struct tr_sample_options o = options_of(job);
    struct tr_error error = TR_ERROR_INIT;
    struct tr_batch *batch;
    ok(tr_sample(job->graph, &o, 30 * SECOND, &batch, &error), &error);
    check_batch(job, batch);
    check_tables(job, batch);
    assert_int_equal(tr_batch_digest(batch, &job->digest, NULL), 0);
    tr_batch_release(batch);
    return NULL;
}

static void placements_draw_the_same(void **state)
{
    static const uint32_t parts[] = { 1, 3, 4 };
    uint64_t first = 0, rows = 0;
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct job job;
        open_job(&job, parts[i], i != 2);
        draw(&job);
        first = i == 0 ? job.digest : first;
        rows = i == 0 ? job.rows : rows;
        assert_true(job.rows == rows);
        assert_true(job.digest == first);
        draw(&job); /* every time */
        assert_true(job.digest == first);
        close_job(&job);
    }
}

/* All edges of a type, twice, from the last to the first: each row is of some edge, all are there,
 * and the second time they are the same. */
static void check_all_edge_rows(const struct job *job, uint32_t etype)
{
    struct tr_feature_info info = TR_FEATURE_INFO_INIT, found = TR_FEATURE_INFO_INIT;
    struct tr_error error = TR_ERROR_INIT;
    const size_t count = job->sample.num_edges[etype];
    uint64_t *ids = calloc(2 * count + 1, sizeof *ids);
    uint8_t *seen = calloc(count + 1, sizeof *seen);
    float *rows = calloc(2 * count + 1, 2 * sizeof *rows);
    assert_true(ids != NULL && seen != NULL && rows != NULL);
    assert_int_equal(tr_graph_num_edge_features(job->graph, etype), 1);
    ok(tr_graph_edge_feature(job->graph, etype, 0, &info, &error), &error);
    ok(tr_graph_find_edge_feature(job->graph, etype, "weight", &found, &error), &error);
    assert_ptr_equal(info.name, found.name);
    assert_string_equal(info.name, "weight");
    assert_int_equal(info.dtype, TR_F32);
    assert_int_equal(info.width, 2);
    assert_int_equal(info.row_bytes, 2 * sizeof *rows);
    for (size_t i = 0; i < 2 * count; i++)
        ids[i] = count - 1 - i % count;
    ok(tr_graph_fetch_edges(job->graph, etype, "weight", ids, 2 * count, 30 * SECOND, rows, &error),
       &error);
    for (size_t i = 0; i < count; i++) {
        const float *row = rows + 2 * i;
        uint64_t edge = (uint64_t)(row[0] - sample_value(10 + etype, 0, 0)) / 8;
        assert_true(edge < count && seen[edge]++ == 0);
        assert_true(row[0] == sample_value(10 + etype, edge, 0));
        assert_true(row[1] == sample_value(10 + etype, edge, 1));
    }
    if (count > 0)
        assert_memory_equal(rows, rows + 2 * count, 2 * count * sizeof *rows);
    free(rows);
    free(seen);
    free(ids);
}

static void check_refused_edge_rows(const struct job *job)
{
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    struct tr_graph *graph = job->graph;
    const uint64_t ids[] = { 0, 1, job->sample.num_edges[0] };
    float rows[6];
    char text[64];
    ok(tr_graph_fetch_edges(graph, 0, "weight", NULL, 0, 0, NULL, &failure), &failure);
    assert_int_equal(tr_graph_edge_feature(graph, 0, 1, &info, &failure), TR_ERANGE);
    assert_string_equal(failure.message, "edge type 0 has no feature 1");
    assert_int_equal(tr_graph_edge_feature(graph, 3, 0, &info, &failure), TR_ERANGE);
    /* A name of nodes' rows alone. */
    assert_int_equal(tr_graph_find_edge_feature(graph, 0, "feat", &info, &failure), TR_ENOENT);
    assert_non_null(strstr(failure.message, "has no feature 'feat'"));
    assert_int_equal(tr_graph_find_edge_feature(graph, 3, "weight", &info, &failure), TR_ENOENT);
    assert_int_equal(tr_graph_find_feature(graph, 0, "weight", &info, &failure), TR_ENOENT);
    assert_int_equal(tr_graph_fetch_edges(graph, 0, "feat", ids, 2, SECOND, rows, &failure),
                     TR_ENOENT);
    assert_int_equal(tr_graph_fetch_edges(graph, 3, "weight", ids, 2, SECOND, rows, &failure),
                     TR_ERANGE);
    assert_string_equal(failure.message,
                        "edge type 3: types are numbered from 0, and the graph has 3");
    assert_int_equal(tr_graph_fetch_edges(graph, 0, "weight", ids, 3, SECOND, rows, &failure),
                     TR_ERANGE);
    snprintf(text, sizeof text, "ids[2] = %zu: no edge of type", (size_t)ids[2]);
    assert_non_null(strstr(failure.message, text));
}

static void edge_rows_are_fetched_by_id(void **state)
{
    static const uint32_t parts[] = { 1, 3, 4 };
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct job job;
        open_job(&job, parts[i], i != 2);
        for (uint32_t e = 0; e < tr_graph_num_etypes(job.graph); e++)
            check_all_edge_rows(&job, e);
        check_refused_edge_rows(&job);
        close_job(&job);
    }
}

static void threads_draw_at_once(void **state)
{
    struct job job, own[THREADS];
    pthread_t threads[THREADS];
    (void)state;
    open_job(&job, 2, true);
    draw(&job);
    for (int i = 0; i < THREADS; i++) {
        own[i] = job;
        own[i].digest = 0;
        assert_int_equal(pthread_create(&threads[i], NULL, draw, &own[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(own[i].digest == job.digest);
    }
    close_job(&job);
}

/* A loader with the spec, whose one batch has the seeds in the order of original IDs. */
static void a_loader_draws_by_a_spec_too(void **state)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_loader_options lo;
    struct tr_loader *loader;
    struct tr_nodes *nodes;
    struct tr_batch *batch;
    struct job job;
    (void)state;
    open_job(&job, 2, true);
    tr_loader_options_init(&lo);
    lo.spec = job.spec;
    lo.num_layers = 1; /* not read */
    lo.batch_size = SEEDS;
    assert_int_equal(
        tr_nodes_listed(job.graph, 0, job.seeds, SEEDS, TR_WAIT_FOREVER, &nodes, &failure), 0);
    assert_int_equal(tr_loader_open(job.graph, nodes, &lo, TR_WAIT_FOREVER, &loader, &failure), 0);
    assert_int_equal(tr_loader_next(loader, 30 * SECOND, &batch, &failure), 0);
    assert_int_equal(tr_batch_num_layers(batch), LAYERS);
    struct tr_block block = TR_BLOCK_INIT;
    assert_int_equal(tr_batch_block(batch, 1, 1, &block, NULL), 0);
    assert_int_equal(block.num_edges, 0);
    assert_int_equal(tr_batch_block(batch, 1, 2, &block, NULL), 0);
    assert_true(block.num_edges > 0 || block.num_dst == 0);
    tr_batch_release(batch);
    tr_loader_close(loader);
    tr_nodes_close(nodes);
    ok(0, &error);
    close_job(&job);
}

static void assert_refused(struct job *job, const struct tr_sample_options *o, int code,
                           const char *word)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_batch *batch = (struct tr_batch *)(uintptr_t)1;
    assert_int_equal(tr_sample(job->graph, o, 30 * SECOND, &batch, &error), code);
    assert_null(batch);
    if (strstr(error.message, word) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, word);
}

/* A draw that timed out is given up everywhere: hundreds of them leave the session as it was. */
static void draws_that_time_out_leave_nothing(void **state)
{
    struct job job;
    (void)state;
    open_job(&job, 2, false);
    draw(&job);
    uint64_t before = job.digest;
    struct tr_sample_options o = options_of(&job);
    for (uint32_t i = 0; i < 300; i++) {
        struct tr_batch *batch;
        struct tr_error error = TR_ERROR_INIT;
        int rv = tr_sample(job.graph, &o, i % 3 * 20000, &batch, &error);
        if (rv != 0 && rv != TR_ETIMEDOUT)
            fail_msg("%s: %s", tr_error_name(rv), error.message);
        assert_true((rv == 0) == (batch != NULL));
        tr_batch_release(batch);
    }
    draw(&job);
    assert_true(job.digest == before);
    close_job(&job);
}

static void what_cannot_be_drawn_is_named(void **state)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_sample_spec *none;
    struct job job;
    (void)state;
    open_job(&job, 2, true);
    struct tr_sample_options good = options_of(&job), bad = good;
    bad.spec = NULL;
    assert_refused(&job, &bad, TR_EINVAL, "spec");
    bad = good;
    bad.ntype = 99;
    assert_refused(&job, &bad, TR_ERANGE, "ntype: 99");
    bad = good;
    bad.num_seeds = 0;
    assert_refused(&job, &bad, TR_ERANGE, "num_seeds: 0");
    bad = good;
    bad.features = "nosuch";
    assert_refused(&job, &bad, TR_ENOENT, "nosuch");
    bad = good;
    bad.size = 0;
    assert_refused(&job, &bad, TR_EINVAL, "tr_sample_options");
    const uint64_t stranger = tr_graph_num_nodes(job.graph, 0);
    bad = good;
    bad.seeds = &stranger;
    bad.num_seeds = 1;
    assert_refused(&job, &bad, TR_ERANGE, "a seed is no node");
    assert_int_equal(tr_sample_spec_set_fanout(job.spec, LAYERS, 0, 1, &error), TR_ERANGE);
    assert_non_null(strstr(error.message, "layer 2"));
    assert_int_equal(tr_sample_spec_set_fanout(job.spec, 0, 77, 1, &error), TR_ERANGE);
    assert_non_null(strstr(error.message, "edge type 77"));
    assert_int_equal(tr_sample_spec_set_fanout(job.spec, 0, 0, -2, &error), TR_ERANGE);
    assert_non_null(strstr(error.message, "fanout -2"));
    assert_int_equal(tr_sample_spec_set_replace(job.spec, 0, 77, true, NULL), TR_ERANGE);
    static const struct {
        int of;
        uint32_t type;
        const char *name;
        uint32_t where;
        int code;
        const char *word;
    } tables[] = {
        { TR_OF_NODES, 2, "feat", TR_FOR_ALL, TR_ERANGE, "node type 2" },
        { TR_OF_EDGES, 3, "weight", TR_FOR_ALL, TR_ERANGE, "edge type 3" },
        { TR_OF_EDGES, 0, "feat", TR_FOR_ALL, TR_ENOENT, "\"feat\"" },
        { TR_OF_NODES, 0, "weight", TR_FOR_ALL, TR_ENOENT, "\"weight\"" },
        { TR_OF_EDGES, 0, "weight", TR_FOR_SEEDS, TR_ERANGE, "where" },
        { TR_OF_NODES, 0, "feat", LAYERS, TR_ERANGE, "where: 2" },
        { 7, 0, "feat", TR_FOR_ALL, TR_ERANGE, "of: 7" },
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        assert_int_equal(tr_sample_spec_add_table(job.spec, (enum tr_table_of)tables[i].of,
                                                  tables[i].type, tables[i].name, tables[i].where,
                                                  &error),
                         tables[i].code);
        assert_non_null(strstr(error.message, tables[i].word));
    }
    uint32_t found;
    assert_int_equal(tr_sample_spec_find_table(job.spec, TR_OF_EDGES, 2, "weight", &found, NULL),
                     0);
    assert_int_equal(found, 4);
    assert_int_equal(tr_sample_spec_find_table(job.spec, TR_OF_EDGES, 1, "weight", &found, &error),
                     TR_ENOENT);
    assert_string_equal(error.message, "the spec lists no table \"weight\" of edge type 1");
    assert_int_equal(tr_sample_spec_create(job.graph, 0, &none, &error), TR_ERANGE);
    assert_int_equal(tr_sample_spec_create(job.graph, TR_LAYERS_MAX + 1, &none, &error), TR_ERANGE);
    assert_null(none);
    draw(&job); /* what was refused changed nothing */
    close_job(&job);
}

/* All nodes are named by the partitions' book, so that there is nothing to wait for. */
static void all_nodes_are_known_at_once(void **state)
{
    struct job job = { 0 };
    (void)state;
    open_job(&job, 2, false);
    for (uint32_t t = 0; t < tr_graph_num_ntypes(job.graph); t++) {
        struct tr_nodes *all;
        ok(tr_nodes_all(job.graph, t, 0, &all, &failure), &failure);
        assert_int_equal(tr_nodes_count(all), tr_graph_num_nodes(job.graph, t));
        tr_nodes_close(all);
    }
    close_job(&job);
}

/* A fanout or a replacement is of the layer and edge type that were named, and of no other. */
static void a_term_is_set_where_it_is_meant(void **state)
{
    static const uint32_t layers[] = { 0, 1, TR_EVERY }, etypes[] = { 0, 2, TR_EVERY };
    struct job job = { 0 };
    (void)state;
    open_job(&job, 2, true);
    uint32_t num_etypes = tr_graph_num_etypes(job.graph);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            struct tr_sample_spec *spec;
            ok(tr_sample_spec_create(job.graph, LAYERS, &spec, &failure), &failure);
            ok(tr_sample_spec_set_replace(spec, layers[i], etypes[j], true, &failure), &failure);
            ok(tr_sample_spec_set_fanout(spec, layers[i], etypes[j], 9, &failure), &failure);
            for (uint32_t l = 0; l < LAYERS; l++)
                for (uint32_t e = 0; e < num_etypes; e++) {
                    const struct sample_term *term = sample_spec_term(public_spec_draws(spec), l,
                                                                      e);
                    bool meant = (layers[i] == TR_EVERY || l == layers[i]) &&
                                 (etypes[j] == TR_EVERY || e == etypes[j]);
                    assert_int_equal(term->flags, meant ? SAMPLE_REPLACE : 0);
                    assert_int_equal(term->fanout, meant ? 9 : 0);
                }
            /* Taken back there, it stands nowhere. */
            ok(tr_sample_spec_set_replace(spec, layers[i], etypes[j], false, &failure), &failure);
            for (uint32_t l = 0; l < LAYERS; l++)
                for (uint32_t e = 0; e < num_etypes; e++)
                    assert_int_equal(sample_spec_term(public_spec_draws(spec), l, e)->flags, 0);
            tr_sample_spec_destroy(spec);
        }
    close_job(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placements_draw_the_same),
        cmocka_unit_test(edge_rows_are_fetched_by_id),
        cmocka_unit_test(threads_draw_at_once),
        cmocka_unit_test(a_loader_draws_by_a_spec_too),
        cmocka_unit_test(draws_that_time_out_leave_nothing),
        cmocka_unit_test(what_cannot_be_drawn_is_named),
        cmocka_unit_test(a_term_is_set_where_it_is_meant),
        cmocka_unit_test(all_nodes_are_known_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

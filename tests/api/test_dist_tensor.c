/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors: what was written is what is read, on any placement, in the processes of a cluster file as
 * in one; of those that open one at once one makes it; what cannot be done is said by name.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/troupe.h>

#include "api_world.h"
#include "cluster_job.h"
#include "outcome.h"
#include "runtime/base/files.h"
#include "tests/schemas/random.h"

#define SECOND INT64_C(1000000000)
#define PROCESSES CLUSTER_JOB_PROCESSES
#define WIDTH 3u

struct job {
    char path[256];
    uint32_t num_processes; /* 1, of session, or those of cluster */
    struct tr_session *session;
    struct cluster_job cluster;
    struct tr_graph *graphs[PROCESSES];
};

static void open_alone(struct job *job, uint32_t parts, bool codec, uint64_t bytes_max)
{
    struct tr_session_options o;
    *job = (struct job){ .num_processes = 1 };
    world_partition(PARTITION_RANDOM, parts, job->path);
    tr_session_options_init(&o);
    o.direct = !codec;
    o.codec = codec;
    o.loops = 2;
    o.tensor_bytes_max = bytes_max;
    ok(tr_session_open(&o, &job->session, &failure));
    ok(tr_graph_open(job->session, job->path, TR_WAIT_FOREVER, &job->graphs[0], &failure));
}

static void open_cluster(struct job *job)
{
    *job = (struct job){ .num_processes = PROCESSES };
    world_partition(PARTITION_RANDOM, 4, job->path);
    cluster_job_open(&job->cluster, job->path, "\"tensors\": 200000");
    for (uint32_t p = 0; p < PROCESSES; p++)
        job->graphs[p] = job->cluster.graphs[p];
}

static void close_job(struct job *job)
{
    if (job->num_processes > 1) {
        cluster_job_close(&job->cluster);
        return;
    }
    tr_graph_close(job->graphs[0]);
    tr_session_close(job->session);
}

static struct tr_dist_tensor_options options_of(const char *name, const uint64_t *dims,
                                                uint32_t num_dims, enum tr_dtype dtype)
{
    struct tr_dist_tensor_options o = TR_DIST_TENSOR_OPTIONS_INIT;
    o.name = name;
    o.dims = dims;
    o.num_dims = num_dims;
    o.dtype = dtype;
    return o;
}

static const uint64_t ROW[] = { WIDTH };

static struct tr_dist_tensor *open_tensor(struct tr_graph *graph, const char *name)
{
    struct tr_dist_tensor_options o = options_of(name, ROW, 1, TR_F32);
    struct tr_dist_tensor *tensor;
    ok(tr_dist_tensor_open(graph, &o, 30 * SECOND, &tensor, &failure));
    return tensor;
}

static void read_all(struct tr_dist_tensor *tensor, float rows[WORLD_NODES][WIDTH])
{
    uint64_t ids[WORLD_NODES];
    for (uint32_t v = 0; v < WORLD_NODES; v++)
        ids[v] = v;
    memset(rows, 0x55, sizeof(float[WORLD_NODES][WIDTH]));
    ok(tr_dist_tensor_read(tensor, ids, WORLD_NODES, 30 * SECOND, rows, &failure));
}

/* Writes at random IDs, repeats among them, beside a plain array; each read is that array's. */
static void compare(struct job *job, uint64_t seed)
{
    static float truth[WORLD_NODES][WIDTH], rows[WORLD_NODES][WIDTH];
    struct tr_dist_tensor *tensors[PROCESSES];
    uint64_t state = seed;
    memset(truth, 0, sizeof truth);
    for (uint32_t p = 0; p < job->num_processes; p++)
        tensors[p] = open_tensor(job->graphs[p], "h");
    read_all(tensors[0], rows);
    assert_memory_equal(rows, truth, sizeof truth);
    for (uint32_t round = 0; round < 12; round++) {
        uint64_t ids[400];
        float values[400][WIDTH];
        size_t count = random_below(&state, 400);
        for (size_t i = 0; i < count; i++) {
            /* Few of them, so that many are there twice. */
            ids[i] = random_below(&state, round % 2 == 0 ? 60 : WORLD_NODES);
            for (uint32_t c = 0; c < WIDTH; c++)
                values[i][c] = (float)random_below(&state, 1000);
            memcpy(truth[ids[i]], values[i], sizeof values[i]);
        }
        ok(tr_dist_tensor_write(tensors[round % job->num_processes], ids, count, values,
                                30 * SECOND, &failure));
        /* Anybody sees it, in the order that it asks for. */
        struct tr_dist_tensor *other = tensors[(round + 1) % job->num_processes];
        ok(tr_dist_tensor_read(other, ids, count, 30 * SECOND, rows, &failure));
        for (size_t i = 0; i < count; i++)
            assert_memory_equal(rows[i], truth[ids[i]], sizeof rows[i]);
    }
    for (uint32_t p = 0; p < job->num_processes; p++) {
        read_all(tensors[p], rows);
        assert_memory_equal(rows, truth, sizeof truth);
    }
    for (uint32_t p = 0; p < job->num_processes; p++)
        tr_dist_tensor_close(tensors[p]);
    /* It is there without a handle, until it is deleted. */
    tensors[0] = open_tensor(job->graphs[0], "h");
    read_all(tensors[0], rows);
    assert_memory_equal(rows, truth, sizeof truth);
    tr_dist_tensor_close(tensors[0]);
}

static void reads_are_what_was_written(void **state)
{
    (void)state;
    for (uint32_t parts = 1; parts <= 4; parts *= 2)
        for (int codec = 0; codec < 2; codec++) {
            struct job job;
            open_alone(&job, parts, codec != 0, 0);
            compare(&job, 4 * parts + (uint32_t)codec);
            close_job(&job);
        }
}

static void processes_share_a_tensor(void **state)
{
    (void)state;
    struct job job;
    open_cluster(&job);
    compare(&job, 99);
    close_job(&job);
}

/* Rows of many pieces and several operations, of every type of elements. */
static void large_writes_go_in_pieces(void **state)
{
    (void)state;
    struct job job;
    const uint64_t dims[] = { 4, 1000 };
    const size_t width = 4000;
    struct tr_dist_tensor *tensor;
    struct tr_dist_tensor_options o = options_of("big", dims, 2, TR_F32);
    uint64_t ids[WORLD_NODES];
    float *rows = malloc(WORLD_NODES * width * sizeof *rows);
    float *back = malloc(WORLD_NODES * width * sizeof *rows);
    assert_non_null(rows);
    assert_non_null(back);
    for (uint32_t v = 0; v < WORLD_NODES; v++)
        ids[v] = (v * UINT64_C(7)) % WORLD_NODES;
    for (size_t i = 0; i < WORLD_NODES * width; i++)
        rows[i] = (float)(i % 9973);
    for (int codec = 0; codec < 2; codec++) {
        open_alone(&job, 2, codec != 0, 0);
        ok(tr_dist_tensor_open(job.graphs[0], &o, 30 * SECOND, &tensor, &failure));
        ok(tr_dist_tensor_write(tensor, ids, WORLD_NODES, rows, 60 * SECOND, &failure));
        memset(back, 0, WORLD_NODES * width * sizeof *rows);
        ok(tr_dist_tensor_read(tensor, ids, WORLD_NODES, 60 * SECOND, back, &failure));
        assert_memory_equal(back, rows, WORLD_NODES * width * sizeof *rows);
        tr_dist_tensor_close(tensor);
        close_job(&job);
    }
    free(rows);
    free(back);
}

static void every_type_of_elements_is_kept(void **state)
{
    (void)state;
    struct job job;
    open_alone(&job, 2, true, 0);
    for (uint32_t dtype = TR_F32; dtype <= TR_BOOL; dtype++) {
        struct tr_dist_tensor_options o = options_of("x", NULL, 0, (enum tr_dtype)dtype);
        struct tr_dist_tensor_info info = TR_DIST_TENSOR_INFO_INIT;
        struct tr_dist_tensor *tensor;
        const uint64_t ids[] = { 3, WORLD_NODES - 1, 3 };
        unsigned char rows[3 * 8], back[3 * 8];
        ok(tr_dist_tensor_open(job.graphs[0], &o, 30 * SECOND, &tensor, &failure));
        ok(tr_dist_tensor_info(tensor, &info, &failure));
        assert_int_equal(info.row_bytes, tr_dtype_size((enum tr_dtype)dtype));
        assert_int_equal(info.dtype, dtype);
        assert_int_equal(info.num_rows, WORLD_NODES);
        assert_int_equal(info.num_dims, 0);
        assert_string_equal(info.name, "x");
        assert_true(info.made);
        size_t size = (size_t)info.row_bytes;
        for (size_t i = 0; i < sizeof rows; i++)
            rows[i] = (unsigned char)(i + dtype);
        ok(tr_dist_tensor_write(tensor, ids, 3, rows, SECOND, &failure));
        ok(tr_dist_tensor_read(tensor, ids, 3, SECOND, back, &failure));
        assert_memory_equal(back, rows + 2 * size, size);
        assert_memory_equal(back + size, rows + size, size);
        assert_memory_equal(back + 2 * size, rows + 2 * size, size);
        ok(tr_dist_tensor_drop(tensor, SECOND, &failure));
        tr_dist_tensor_close(tensor);
    }
    close_job(&job);
}

static void wrong_options_are_named(void **state)
{
    (void)state;
    struct job job;
    struct tr_dist_tensor *tensor, *other;
    char name[300];
    const uint64_t wide[] = { 1 << 20, 5 };
    open_alone(&job, 2, false, 0);
    struct tr_dist_tensor_options o = options_of(NULL, NULL, 0, TR_F32);
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &tensor, &failure), TR_EINVAL, "name");
    assert_null(tensor);
    memset(name, 'a', sizeof name);
    name[256] = '\0';
    o.name = name;
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &tensor, &failure), TR_EINVAL, "255");
    name[255] = '\0';
    ok(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &tensor, &failure));
    tr_dist_tensor_close(tensor);
    o.name = "a\nb";
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &tensor, &failure), TR_EINVAL, "byte 1");
    o.name = "h";
    o.ntype = 9;
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &tensor, &failure), TR_ERANGE,
            "node type 9");
    o.ntype = 0;
    o.dtype = 77;
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &tensor, &failure), TR_EINVAL,
            "dtype: 77");
    o.dtype = TR_F32;
    o.num_dims = 2;
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &tensor, &failure), TR_EINVAL, "dims");
    o.dims = wide;
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &tensor, &failure), TR_ETOOBIG,
            "16777216");
    o.num_dims = 8;
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &tensor, &failure), TR_EINVAL,
            "at most 7");
    o = options_of("h", ROW, 1, TR_F32);
    o.attach = true;
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &tensor, &failure), TR_ENOENT,
            "there is no tensor \"h\" of node type");
    o.attach = false;
    ok(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &tensor, &failure));
    o.dtype = TR_I64;
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &other, &failure), TR_EMISMATCH,
            "is (1500, 3) float32 already, (1500, 3) int64 was asked for");
    o.dtype = TR_F32;
    o.num_dims = 0;
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &other, &failure), TR_EMISMATCH,
            "is (1500, 3) float32 already, (1500,) float32 was asked for");
    float rows[2][WIDTH] = { { 1, 2, 3 }, { 4, 5, 6 } }, back[WIDTH];
    const uint64_t ids[] = { 5, WORLD_NODES };
    refused(tr_dist_tensor_write(tensor, ids, 2, rows, SECOND, &failure), TR_ERANGE,
            "tensor \"h\" of node type _N: ids[1] = 1500: no node of type _N has this ID");
    refused(tr_dist_tensor_read(tensor, ids, 2, SECOND, rows, &failure), TR_ERANGE,
            "ids[1] = 1500");
    /* Nothing was written. */
    ok(tr_dist_tensor_read(tensor, ids, 1, SECOND, back, &failure));
    assert_true(back[0] == 0);
    ok(tr_dist_tensor_read(tensor, NULL, 0, SECOND, NULL, &failure));
    ok(tr_dist_tensor_write(tensor, NULL, 0, NULL, SECOND, &failure));
    tr_dist_tensor_close(tensor);
    tr_dist_tensor_close(NULL);
    close_job(&job);
}

static void a_bound_is_named_and_freed_bytes_are_had_again(void **state)
{
    (void)state;
    struct job job;
    struct tr_dist_tensor *first, *second;
    const uint64_t bytes = WORLD_NODES * WIDTH * sizeof(float);
    open_alone(&job, 2, false, bytes + 10);
    struct tr_dist_tensor_options o = options_of("second", ROW, 1, TR_F32);
    first = open_tensor(job.graphs[0], "first");
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &second, &failure), TR_ETOOBIG,
            "tensor_bytes_max");
    assert_non_null(strstr(failure.message, "18010"));
    ok(tr_dist_tensor_delete(job.graphs[0], 0, "first", SECOND, &failure));
    second = open_tensor(job.graphs[0], "second");
    float row[WIDTH];
    const uint64_t id = 1;
    refused(tr_dist_tensor_read(first, &id, 1, SECOND, row, &failure), TR_ENOENT,
            "tensor \"first\" of node type _N: partition");
    tr_dist_tensor_close(first);
    tr_dist_tensor_close(second);
    /* One that half of its owners have no room for is taken back from the others. */
    ok(tr_dist_tensor_delete(job.graphs[0], 0, "second", SECOND, &failure));
    ok(tr_dist_tensor_delete(job.graphs[0], 0, "none", SECOND, &failure));
    const uint64_t more[] = { WIDTH + 1 };
    o = options_of("large", more, 1, TR_F32);
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &second, &failure), TR_ETOOBIG,
            "\"large\"");
    for (int i = 0; i < 200; i++) {
        struct tr_dist_tensor_options again = options_of("small", ROW, 1, TR_F32);
        if (tr_dist_tensor_open(job.graphs[0], &again, SECOND, &second, &failure) == 0)
            break;
        assert_true(i < 199);
    }
    tr_dist_tensor_close(second);
    close_job(&job);
}

/* A handle on one that was deleted never reads another of its name. */
static void a_handle_is_of_one_tensor(void **state)
{
    (void)state;
    struct job job;
    float rows[WIDTH] = { 1, 2, 3 };
    const uint64_t id = 7;
    open_cluster(&job);
    struct tr_dist_tensor *old = open_tensor(job.graphs[1], "h");
    ok(tr_dist_tensor_write(old, &id, 1, rows, SECOND, &failure));
    ok(tr_dist_tensor_delete(job.graphs[2], 0, "h", 10 * SECOND, &failure));
    struct tr_dist_tensor *new = open_tensor(job.graphs[0], "h");
    refused(tr_dist_tensor_read(old, &id, 1, SECOND, rows, &failure), TR_ENOENT, "it was deleted");
    refused(tr_dist_tensor_write(old, &id, 1, rows, SECOND, &failure), TR_ENOENT, "it was deleted");
    ok(tr_dist_tensor_drop(old, SECOND, &failure));
    ok(tr_dist_tensor_read(new, &id, 1, SECOND, rows, &failure));
    assert_true(rows[0] == 0);
    tr_dist_tensor_close(old);
    tr_dist_tensor_close(new);
    close_job(&job);
}

struct opener {
    struct tr_graph *graph;
    bool made;
    float seen;
};

static void *open_and_look(void *arg)
{
    struct opener *opener = arg;
    struct tr_dist_tensor_options o = options_of("race", ROW, 1, TR_F32);
    struct tr_dist_tensor_info info = TR_DIST_TENSOR_INFO_INIT;
    struct tr_dist_tensor *tensor;
    struct tr_error error = TR_ERROR_INIT;
    uint64_t ids[WORLD_NODES];
    static float rows[WORLD_NODES][WIDTH];
    float row[WIDTH] = { 0 };
    o.hold = true;
    if (tr_dist_tensor_open(opener->graph, &o, 60 * SECOND, &tensor, &error) != 0)
        return opener;
    if (tr_dist_tensor_info(tensor, &info, &error) != 0)
        return opener;
    opener->made = info.made;
    for (uint32_t v = 0; v < WORLD_NODES && info.made; v++) {
        ids[v] = v;
        rows[v][0] = 42;
    }
    if (info.made && tr_dist_tensor_write(tensor, ids, WORLD_NODES, rows, 30 * SECOND, &error) != 0)
        return opener;
    if (tr_dist_tensor_publish(tensor, 30 * SECOND, &error) != 0)
        return opener;
    const uint64_t last = WORLD_NODES - 1;
    if (tr_dist_tensor_read(tensor, &last, 1, 30 * SECOND, row, &error) != 0)
        return opener;
    opener->seen = row[0];
    tr_dist_tensor_close(tensor);
    return NULL;
}

static void one_of_many_makes_it_and_all_see_its_first_values(void **state)
{
    (void)state;
    struct job job;
    open_cluster(&job);
    for (uint32_t round = 0; round < 5; round++) {
        struct opener openers[2 * PROCESSES];
        pthread_t threads[2 * PROCESSES];
        uint32_t makers = 0;
        for (uint32_t i = 0; i < 2 * PROCESSES; i++) {
            openers[i] = (struct opener){ .graph = job.graphs[i % PROCESSES] };
            assert_int_equal(pthread_create(&threads[i], NULL, open_and_look, &openers[i]), 0);
        }
        for (uint32_t i = 0; i < 2 * PROCESSES; i++) {
            void *failed;
            assert_int_equal(pthread_join(threads[i], &failed), 0);
            assert_null(failed);
            assert_true(openers[i].seen == 42);
            makers += openers[i].made;
        }
        assert_int_equal(makers, 1);
        ok(tr_dist_tensor_delete(job.graphs[round % PROCESSES], 0, "race", 10 * SECOND, &failure));
    }
    close_job(&job);
}

/* Others end by their deadline where its maker does not publish it. */
static void an_unpublished_tensor_is_waited_for_until_the_deadline(void **state)
{
    (void)state;
    struct job job;
    struct tr_dist_tensor *made, *other;
    open_alone(&job, 2, false, 0);
    struct tr_dist_tensor_options o = options_of("slow", ROW, 1, TR_F32);
    o.hold = true;
    ok(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &made, &failure));
    refused(tr_dist_tensor_open(job.graphs[0], &o, SECOND / 5, &other, &failure), TR_ETIMEDOUT,
            "has not written its first values yet");
    ok(tr_dist_tensor_publish(made, SECOND, &failure));
    ok(tr_dist_tensor_open(job.graphs[0], &o, SECOND, &other, &failure));
    struct tr_dist_tensor_info info = TR_DIST_TENSOR_INFO_INIT;
    ok(tr_dist_tensor_info(other, &info, &failure));
    assert_false(info.made);
    /* Nothing to say for one that did not make it, or has said so. */
    ok(tr_dist_tensor_publish(other, SECOND, &failure));
    ok(tr_dist_tensor_publish(made, SECOND, &failure));
    tr_dist_tensor_close(made);
    tr_dist_tensor_close(other);
    close_job(&job);
}

static void a_closed_session_says_so(void **state)
{
    (void)state;
    struct job job;
    float row[WIDTH];
    const uint64_t id = 0;
    open_alone(&job, 1, false, 0);
    struct tr_dist_tensor *tensor = open_tensor(job.graphs[0], "h");
    tr_session_close(job.session);
    job.session = NULL;
    refused(tr_dist_tensor_read(tensor, &id, 1, SECOND, row, &failure), TR_ECLOSED, "closed");
    refused(tr_dist_tensor_write(tensor, &id, 1, row, SECOND, &failure), TR_ECLOSED, "closed");
    refused(tr_dist_tensor_drop(tensor, SECOND, &failure), TR_ECLOSED, "closed");
    tr_graph_close(job.graphs[0]);
    job.graphs[0] = NULL;
    tr_dist_tensor_close(tensor);
    close_job(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_are_what_was_written),
        cmocka_unit_test(processes_share_a_tensor),
        cmocka_unit_test(large_writes_go_in_pieces),
        cmocka_unit_test(every_type_of_elements_is_kept),
        cmocka_unit_test(wrong_options_are_named),
        cmocka_unit_test(a_bound_is_named_and_freed_bytes_are_had_again),
        cmocka_unit_test(a_handle_is_of_one_tensor),
        cmocka_unit_test(one_of_many_makes_it_and_all_see_its_first_values),
        cmocka_unit_test(an_unpublished_tensor_is_waited_for_until_the_deadline),
        cmocka_unit_test(a_closed_session_says_so),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}

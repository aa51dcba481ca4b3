/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/loading.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <troupe/troupe.h>

#include "bench/batch_drain.h"
#include "bench/clock.h"
#include "bench/walk.h"
#include "partition/store/store.h"

#define SCALING_LOOPS 2u
#define SCALING_GOAL 1.7
#define GOAL 0.8
/* Asleep is less than this much of CPU time in a pause; a batch takes 20 times as long. */
#define SETTLE_S 0.0005
#define SETTLE_PAUSE_NS 5000000
#define SETTLE_PAUSES_MAX 2000

/* A loader and what it hangs from. */
struct loading {
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
    struct tr_loader *loader;
};

/* Ours, of one and of more loops, and the bare loops. */
struct pairing {
    struct loading one;
    struct loading more;
    struct store *store;
    struct graph_part *part;
    struct walk walk;
    uint64_t next;
    bool rows;
};

static void close_loading(struct loading *loading)
{
    tr_loader_close(loading->loader);
    tr_nodes_close(loading->nodes);
    tr_graph_close(loading->graph);
    tr_session_close(loading->session);
    *loading = (struct loading){ .session = NULL };
}

/* rows: features and labels come along. */
static int open_loading(struct loading *loading, const char *path, uint32_t loops, bool rows,
                        uint64_t seed, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    static const int32_t fanouts[] = WALK_FANOUTS;
    struct tr_session_options session;
    struct tr_loader_options options;
    *loading = (struct loading){ .session = NULL };
    tr_session_options_init(&session);
    session.loops = session.samplers = loops;
    session.seed = seed;
    tr_loader_options_init(&options);
    options.num_layers = REFERENCE_LAYERS;
    for (uint32_t i = 0; i < REFERENCE_LAYERS; i++)
        options.fanout[i] = fanouts[REFERENCE_LAYERS - 1 - i];
    options.batch_size = WALK_SEEDS;
    options.shuffle = options.drop_last = true;
    options.features = rows ? "feat" : NULL;
    options.labels = rows ? "label" : NULL;
    int rv = tr_session_open(&session, &loading->session, &why);
    if (rv == 0)
        rv = tr_graph_open(loading->session, path, TR_WAIT_FOREVER, &loading->graph, &why);
    if (rv == 0)
        rv = tr_nodes_all(loading->graph, 0, TR_WAIT_FOREVER, &loading->nodes, &why);
    if (rv == 0)
        rv = tr_loader_open(loading->graph, loading->nodes, &options, TR_WAIT_FOREVER,
                            &loading->loader, &why);
    if (rv == 0)
        return 0;
    batch_drain_failed(&why, rv, error);
    close_loading(loading);
    return rv;
}

/* Waits until the window is full and everybody sleeps. */
static void loading_settle(void)
{
    const struct timespec pause = { .tv_nsec = SETTLE_PAUSE_NS };
    for (int i = 0; i < SETTLE_PAUSES_MAX; i++) {
        double before = clock_process();
        nanosleep(&pause, NULL);
        if (clock_process() - before < SETTLE_S)
            return;
    }
}

int loading_take(struct loading *loading, uint64_t batches, uint64_t *edges, struct error *error)
{
    return batch_drain_batches(loading->loader, batches, TR_WAIT_FOREVER, edges, error);
}

static int measure_ours(void *arg, double *value, struct error *error)
{
    struct pairing *pairing = arg;
    uint64_t edges;
    loading_settle();
    double start = clock_process();
    int rv = loading_take(&pairing->one, WALK_BATCHES, &edges, error);
    loading_settle();
    *value = (double)edges / (clock_process() - start);
    return rv;
}

static int measure_reference(void *arg, double *value, struct error *error)
{
    (void)error;
    struct pairing *pairing = arg;
    loading_settle();
    double start = clock_thread();
    uint64_t edges = walk_reference(&pairing->walk, pairing->next, WALK_BATCHES, pairing->rows);
    *value = (double)edges / (clock_thread() - start);
    pairing->next += WALK_BATCHES;
    return 0;
}

/* The batches that were ready at the start are as many as will be ready at the end. */
static int measure_wall(struct loading *loading, double *value, struct error *error)
{
    uint64_t edges;
    loading_settle();
    int rv = loading_take(loading, WALK_BATCHES / 2, &edges, error);
    double start = clock_wall();
    if (rv == 0)
        rv = loading_take(loading, WALK_BATCHES * 2, &edges, error);
    *value = (double)edges / (clock_wall() - start);
    return rv;
}

static int measure_one(void *arg, double *value, struct error *error)
{
    return measure_wall(&((struct pairing *)arg)->one, value, error);
}

static int measure_more(void *arg, double *value, struct error *error)
{
    return measure_wall(&((struct pairing *)arg)->more, value, error);
}

static void close_pairing(struct pairing *pairing)
{
    walk_fini(&pairing->walk);
    if (pairing->part != NULL)
        store_unload(pairing->store, pairing->part);
    if (pairing->store != NULL)
        store_close(pairing->store);
    close_loading(&pairing->one);
}

static int open_pairing(struct pairing *pairing, const char *path,
                        const struct bench_options *options, struct error *error)
{
    const struct partition_load load = { .mode = PARTITION_COPY, .features = true };
    int rv = store_open(path, &pairing->store, error);
    if (rv == 0)
        rv = store_load(pairing->store, 0, &load, &pairing->part, error);
    if (rv == 0)
        rv = walk_init(&pairing->walk, pairing->part, options->seed, error);
    if (rv == 0)
        rv = open_loading(&pairing->one, path, 1, pairing->rows, options->seed, error);
    if (rv != 0)
        close_pairing(pairing);
    return rv;
}

static int emit_scaling(struct pairing *pairing, const char *path,
                        const struct bench_options *options, const char *name, bench_emit *emit,
                        void *arg, struct error *error)
{
    char scaling[64];
    snprintf(scaling, sizeof scaling, "%s_scaling", name);
    int rv = open_loading(&pairing->more, path, SCALING_LOOPS, pairing->rows, options->seed, error);
    if (rv != 0)
        return rv;
    struct figure figure = {
        .name = scaling, .unit = "edges/s", .reference = "one loop", .goal = SCALING_GOAL
    };
    rv = figure_pair(&figure, options->rounds, measure_more, measure_one, pairing, error);
    close_loading(&pairing->more);
    if (rv == 0)
        emit(arg, &figure);
    return rv;
}

static int emit_figures(const char *path, const struct bench_options *options, const char *name,
                        bool rows, const char *reference, bench_emit *emit, void *arg,
                        struct error *error)
{
    struct pairing pairing = { .rows = rows };
    int rv = open_pairing(&pairing, path, options, error);
    if (rv != 0)
        return rv;
    struct figure figure = {
        .name = name, .unit = "edges/s/core", .reference = reference, .goal = GOAL
    };
    rv = figure_pair(&figure, options->rounds, measure_ours, measure_reference, &pairing, error);
    if (rv == 0) {
        emit(arg, &figure);
        rv = emit_scaling(&pairing, path, options, name, emit, arg, error);
    }
    close_pairing(&pairing);
    return rv;
}

int loading_figures(const struct bench_options *options, const char *name, bool rows,
                    const char *reference, bench_emit *emit, void *arg, struct error *error)
{
    struct disk disk;
    char *path;
    struct disk_graph graph = disk_big(options->scale);
    int rv = disk_open(&disk, options, error);
    if (rv != 0)
        return rv;
    rv = disk_partition(&disk, &graph, 1, &path, error);
    if (rv == 0) {
        rv = emit_figures(path, options, name, rows, reference, emit, arg, error);
        free(path);
    }
    disk_close(&disk);
    return rv;
}

int loading_open(const char *path, uint32_t loops, uint64_t seed, struct loading **out,
                 struct error *error)
{
    struct loading *loading = calloc(1, sizeof *loading);
    int rv = loading == NULL ? error_set(error, TR_ENOMEM, "out of memory")
                             : open_loading(loading, path, loops, true, seed, error);
    if (rv != 0)
        free(loading);
    else
        *out = loading;
    return rv;
}

void loading_close(struct loading *loading)
{
    close_loading(loading);
    free(loading);
}

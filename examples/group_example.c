/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two trainers of one model, with the public API alone: they share out the seeds of each step, add
 * up their gradients, keep checkpoints, and go on from the last one when one of them is lost.
 *
 *     troupe generate sbm --nodes 2000 --edges 20000 --features 16 --classes 4 --seed 1 --out raw
 *     troupe partition raw --parts 2 --method metis --out parts --name g
 *     group parts/g.json kept                      two threads of one process
 *     group parts/g.json kept cluster.json 0       or, of a cluster of two trainers, process 0 ...
 *     group parts/g.json kept cluster.json 1       ... and process 1
 *
 * build: cc group_example.c $(pkg-config --cflags --libs troupe) -lm -o group
 *
 * The result is the same, bit for bit. The model is softmax regression on a seed's own features.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/troupe.h>

#define TRAINERS 2
#define EPOCHS 6
#define CLASSES 4
#define RATE 0.5f
#define TIMEOUT_NS 60000000000LL

struct group_trainer {
    struct tr_error error;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
    struct tr_group *group;
    struct tr_loader *loader;
    uint32_t rank;
    size_t width; /* of a feature row */
    size_t count; /* CLASSES * width */
    float *weights;
    float *sums; /* [count + 2]: the gradient, then seeds and loss of the step */
    int result;
    pthread_t thread;
};

/* Adds the gradient of one seed. */
static void learn(struct group_trainer *t, const float *row, int64_t label)
{
    float p[CLASSES], sum = 0;
    for (int c = 0; c < CLASSES; c++) {
        float score = 0;
        for (size_t i = 0; i < t->width; i++)
            score += t->weights[(size_t)c * t->width + i] * row[i];
        p[c] = expf(fminf(fmaxf(score, -30), 30));
        sum += p[c];
    }
    for (int c = 0; c < CLASSES; c++)
        for (size_t i = 0; i < t->width; i++)
            t->sums[(size_t)c * t->width + i] += (p[c] / sum - (c == label)) * row[i];
    t->sums[t->count] += 1;
    t->sums[t->count + 1] -= logf(fmaxf(p[label] / sum, 1e-9f));
}

/* The step of all trainers: each adds its part, each takes the same step. */
static int step(struct group_trainer *t, const struct tr_batch *batch, double *loss, double *seeds)
{
    struct tr_rows features = TR_ROWS_INIT, labels = TR_ROWS_INIT;
    int rv = tr_batch_features(batch, 0, &features, &t->error);
    if (rv == 0)
        rv = tr_batch_labels(batch, 0, &labels, &t->error);
    if (rv != 0)
        return rv;
    memset(t->sums, 0, (t->count + 2) * sizeof *t->sums);
    for (size_t seed = 0; seed < labels.num_rows; seed++) {
        int64_t label = ((const int64_t *)labels.rows)[seed];
        if (label >= 0 && label < CLASSES)
            learn(t, (const float *)features.rows + seed * t->width, label);
    }
    rv = tr_group_reduce(t->group, t->sums, t->count + 2, TIMEOUT_NS, &t->error);
    if (rv != 0)
        return rv;
    for (size_t i = 0; i < t->count; i++)
        t->weights[i] -= RATE * t->sums[i] / fmaxf(t->sums[t->count], 1);
    *seeds += t->sums[t->count];
    *loss += t->sums[t->count + 1];
    return 0;
}

static int train_epoch(struct group_trainer *t, uint32_t epoch)
{
    double loss = 0, seeds = 0;
    struct tr_batch *batch;
    int rv = tr_loader_begin(t->loader, epoch, &t->error);
    while (rv == 0 && (rv = tr_loader_next(t->loader, TIMEOUT_NS, &batch, &t->error)) == 0) {
        rv = step(t, batch, &loss, &seeds);
        tr_batch_release(batch);
    }
    if (rv == TR_EEND && t->rank == 0)
        printf("epoch %u: loss %.6f\n", (unsigned)epoch, loss / seeds);
    return rv == TR_EEND ? 0 : rv;
}

/* From the last checkpoint to the end; TR_EROLLBACK: another trainer was lost. */
static int train(struct group_trainer *t)
{
    struct tr_checkpoint checkpoint = TR_CHECKPOINT_INIT;
    int rv = tr_group_restore(t->group, TIMEOUT_NS, &checkpoint, &t->error);
    if (rv != 0)
        return rv;
    memset(t->weights, 0, t->count * sizeof *t->weights);
    if (checkpoint.bytes != NULL && checkpoint.count == t->count * sizeof *t->weights)
        memcpy(t->weights, checkpoint.bytes, checkpoint.count);
    for (uint32_t epoch = (uint32_t)checkpoint.step; epoch < EPOCHS && rv == 0; epoch++) {
        rv = train_epoch(t, epoch);
        if (rv == 0)
            rv = tr_group_save(t->group, epoch + 1, t->weights, t->count * sizeof *t->weights,
                               TIMEOUT_NS, &t->error);
    }
    return rv == 0 ? tr_group_finish(t->group, TIMEOUT_NS, &t->error) : rv;
}

static void *run(void *arg)
{
    struct group_trainer *t = arg;
    do
        t->result = train(t);
    while (t->result == TR_EROLLBACK);
    if (t->result != 0)
        fprintf(stderr, "group: trainer %u: %s: %s\n", (unsigned)t->rank, tr_strerror(t->result),
                t->error.message);
    return NULL;
}

static int open_trainer(struct group_trainer *t)
{
    struct tr_loader_options options;
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    int rv = tr_graph_find_feature(t->graph, 0, "feat", &info, &t->error);
    if (rv != 0)
        return rv;
    t->width = info.width;
    t->count = CLASSES * info.width;
    t->weights = calloc(t->count + 1, sizeof *t->weights);
    t->sums = calloc(t->count + 2, sizeof *t->sums);
    if (t->weights == NULL || t->sums == NULL)
        return TR_ENOMEM;
    tr_loader_options_init(&options);
    options.batch_size = 64;
    options.features = "feat";
    options.labels = "label";
    options.rank = t->rank;
    options.world = TRAINERS;
    rv = tr_loader_open(t->graph, t->nodes, &options, TR_WAIT_FOREVER, &t->loader, &t->error);
    return rv == 0 ? tr_group_open(t->graph, t->rank, &t->group, &t->error) : rv;
}

static void close_trainer(struct group_trainer *t)
{
    tr_group_close(t->group);
    tr_loader_close(t->loader);
    free(t->weights);
    free(t->sums);
}

/* The trainers of this process, a thread each. */
static int run_trainers(struct group_trainer *all, uint32_t count)
{
    uint32_t started = 0;
    int rv = 0;
    for (uint32_t i = 0; i < count && rv == 0; i++) {
        rv = open_trainer(&all[i]);
        if (rv != 0)
            fprintf(stderr, "group: trainer %u: %s\n", (unsigned)all[i].rank, all[i].error.message);
    }
    while (started < count && rv == 0) {
        rv = pthread_create(&all[started].thread, NULL, run, &all[started]) == 0 ? 0 : TR_ENOMEM;
        started += rv == 0;
    }
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(all[i].thread, NULL);
        rv = rv == 0 ? all[i].result : rv;
    }
    for (size_t i = 0; rv == 0 && all[0].rank == 0 && i < all[0].count; i += all[0].width)
        printf("class %zu: %a\n", i / all[0].width, (double)all[0].weights[i]);
    for (uint32_t i = 0; i < count; i++)
        close_trainer(&all[i]);
    return rv;
}

int main(int argc, char **argv)
{
    struct tr_error error = TR_ERROR_INIT;
    struct group_trainer all[TRAINERS] = { { .rank = 0 } };
    struct tr_session_options options;
    struct tr_session *session = NULL;
    struct tr_graph *graph = NULL;
    struct tr_nodes *nodes = NULL;
    if (argc != 3 && argc != 5) {
        fprintf(stderr, "usage: group DIR/NAME.json CHECKPOINTS [CLUSTER PROCESS]\n");
        return 2;
    }
    tr_session_options_init(&options);
    options.trainers = TRAINERS;
    options.checkpoints = argv[2];
    options.cluster = argc == 5 ? argv[3] : NULL;
    options.process = argc == 5 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
    int rv = tr_session_open(&options, &session, &error);
    if (rv == 0)
        rv = tr_graph_open(session, argv[1], TR_WAIT_FOREVER, &graph, &error);
    if (rv == 0)
        rv = tr_nodes_masked(graph, 0, "train_mask", TR_WAIT_FOREVER, &nodes, &error);
    /* In a cluster this process has the trainer of its number, alone it has all. */
    uint32_t first = options.process, count = argc == 5 ? 1 : TRAINERS;
    for (uint32_t i = 0; i < count && rv == 0; i++)
        all[i] = (struct group_trainer){
            .error = TR_ERROR_INIT, .graph = graph, .nodes = nodes, .rank = first + i
        };
    if (rv == 0)
        rv = run_trainers(all, count);
    if (rv != 0)
        fprintf(stderr, "group: %s: %s\n", tr_strerror(rv), error.message);
    tr_nodes_close(nodes);
    tr_graph_close(graph);
    tr_session_close(session);
    return rv != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains a classifier on the mini-batches of a partitioned graph, with the public API alone.
 *
 *     troupe generate sbm --nodes 2000 --edges 20000 --features 16 --classes 4 --seed 1 --out raw
 *     troupe partition raw --parts 4 --method metis --out parts --name g
 *     train_loop parts/g.json
 *
 * build: cc train_loop.c $(pkg-config --cflags --libs troupe) -lm -o train_loop
 *
 * The model is as small as one can be: softmax regression on each seed's own features beside the
 * mean of its drawn neighbours' features. Everything around it is what any training loop does.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/troupe.h>

#define EPOCHS 10
#define CLASSES 4
#define RATE 0.1f
#define TIMEOUT_NS 60000000000LL

struct toy_model {
    size_t width;   /* of a feature row; the model sees two of them */
    float *weights; /* [CLASSES][2 * width] */
    float *input;   /* [2 * width] */
};

/* The seed's row, then the mean of its neighbours' rows. */
static void fill_input(struct toy_model *m, const struct tr_block *block, const float *rows,
                       uint32_t seed)
{
    uint32_t begin = block->index[seed], end = block->index[seed + 1];
    memcpy(m->input, rows + seed * m->width, m->width * sizeof *rows);
    memset(m->input + m->width, 0, m->width * sizeof *rows);
    for (uint32_t e = begin; e < end; e++)
        for (size_t i = 0; i < m->width; i++)
            m->input[m->width + i] += rows[block->sources[e] * m->width + i] / (float)(end - begin);
}

static void predict(const struct toy_model *m, float probabilities[CLASSES])
{
    float sum = 0;
    for (int c = 0; c < CLASSES; c++) {
        float score = 0;
        for (size_t i = 0; i < 2 * m->width; i++)
            score += m->weights[(size_t)c * 2 * m->width + i] * m->input[i];
        probabilities[c] = expf(fminf(fmaxf(score, -30), 30));
        sum += probabilities[c];
    }
    for (int c = 0; c < CLASSES; c++)
        probabilities[c] /= sum;
}

/* One step of gradient descent for one seed; returns its loss. */
static float learn(struct toy_model *m, int64_t label)
{
    float probabilities[CLASSES];
    predict(m, probabilities);
    for (int c = 0; c < CLASSES; c++)
        for (size_t i = 0; i < 2 * m->width; i++)
            m->weights[(size_t)c * 2 * m->width + i] -= RATE * (probabilities[c] - (c == label)) *
                                                        m->input[i];
    return -logf(fmaxf(probabilities[label], 1e-9f));
}

static int train_batch(struct toy_model *m, const struct tr_batch *batch, double *loss,
                       struct tr_error *error)
{
    struct tr_block block = TR_BLOCK_INIT;
    struct tr_rows features = TR_ROWS_INIT, labels = TR_ROWS_INIT;
    int rv = tr_batch_block(batch, tr_batch_num_layers(batch) - 1, 0, &block, error);
    if (rv == 0)
        rv = tr_batch_features(batch, 0, &features, error);
    if (rv == 0)
        rv = tr_batch_labels(batch, 0, &labels, error);
    for (uint32_t seed = 0; rv == 0 && seed < labels.num_rows; seed++) {
        int64_t label = ((const int64_t *)labels.rows)[seed];
        if (label < 0 || label >= CLASSES)
            continue;
        fill_input(m, &block, features.rows, seed);
        *loss += learn(m, label);
    }
    return rv;
}

static int train_epoch(struct toy_model *m, struct tr_loader *loader, uint32_t epoch, size_t seeds,
                       struct tr_error *error)
{
    struct tr_batch *batch;
    double loss = 0;
    int rv;
    while ((rv = tr_loader_next(loader, TIMEOUT_NS, &batch, error)) == 0) {
        rv = train_batch(m, batch, &loss, error);
        tr_batch_release(batch);
        if (rv != 0)
            return rv;
    }
    printf("epoch %u: loss %.4f\n", (unsigned)epoch, loss / (double)seeds);
    return rv == TR_EEND ? 0 : rv;
}

static int train(struct tr_graph *graph, struct tr_nodes *nodes, struct tr_error *error)
{
    struct tr_loader_options options;
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    struct tr_loader *loader = NULL;
    int rv = tr_graph_find_feature(graph, 0, "feat", &info, error);
    if (rv != 0)
        return rv;
    struct toy_model model = { .width = info.width,
                               .weights = calloc(2 * CLASSES * info.width + 1, sizeof(float)),
                               .input = calloc(2 * info.width + 1, sizeof(float)) };
    rv = model.weights != NULL && model.input != NULL ? 0 : TR_ENOMEM;
    tr_loader_options_init(&options);
    options.batch_size = 128;
    options.features = "feat";
    options.labels = "label";
    if (rv == 0)
        rv = tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, error);
    for (uint32_t epoch = 0; epoch < EPOCHS && rv == 0; epoch++)
        rv = train_epoch(&model, loader, epoch, tr_nodes_count(nodes), error);
    tr_loader_close(loader);
    free(model.weights);
    free(model.input);
    return rv;
}

int main(int argc, char **argv)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_session *session = NULL;
    struct tr_graph *graph = NULL;
    struct tr_nodes *nodes = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: train_loop DIR/NAME.json\n");
        return 2;
    }
    int rv = tr_session_open(NULL, &session, &error);
    if (rv == 0)
        rv = tr_graph_open(session, argv[1], TR_WAIT_FOREVER, &graph, &error);
    if (rv == 0)
        rv = tr_nodes_masked(graph, 0, "train_mask", TR_WAIT_FOREVER, &nodes, &error);
    if (rv == 0)
        rv = train(graph, nodes, &error);
    if (rv != 0)
        fprintf(stderr, "train_loop: %s: %s\n", tr_strerror(rv), error.message);
    tr_nodes_close(nodes);
    tr_graph_close(graph);
    tr_session_close(session);
    return rv != 0;
}

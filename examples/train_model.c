/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains a built-in model and predicts every node with it, by libtroupe-model:
 *
 *     troupe generate sbm --nodes 2000 --edges 20000 --features 16 --classes 4 --out raw
 *     troupe partition raw --parts 4 --out parts --name g
 *     train_model parts/g.json run
 *
 * build: cc train_model.c $(pkg-config --cflags --libs troupe-model)
 */
#include <stdio.h>

#include <troupe/model.h>

#define SECOND INT64_C(1000000000)

static int failed(const struct tr_error *error)
{
    fprintf(stderr, "train_model: %s\n", error->message);
    return 1;
}

/* The epochs since number *next. */
static void show_epochs(const struct tr_task *task, uint32_t *next)
{
    struct tr_train_epoch epoch = TR_TRAIN_EPOCH_INIT;
    struct tr_scores scores = TR_SCORES_INIT;
    for (; tr_train_get_epoch(task, *next, &epoch, &scores, NULL) == 0; ++*next)
        printf("epoch %u: loss %.4f, validation accuracy %.4f%s\n", epoch.epoch + 1,
               epoch.train_loss, scores.accuracy, epoch.best ? " (best)" : "");
}

static int train(const char *graph, const char *run, struct tr_error *error)
{
    struct tr_train_options options;
    struct tr_train_result result = TR_TRAIN_RESULT_INIT;
    struct tr_scores test = TR_SCORES_INIT;
    struct tr_task *task;
    uint32_t next = 0;
    int rv;
    tr_train_options_init(&options);
    options.graph = graph;
    options.run = run;
    options.epochs = 5;
    options.hidden = 16;
    options.batch_size = 256;
    options.seed = 3;
    rv = tr_train_start(&options, &task, error);
    if (rv != 0)
        return rv;
    do {
        rv = tr_task_wait(task, SECOND, error);
        show_epochs(task, &next);
    } while (rv == TR_ETIMEDOUT);
    if (rv == 0)
        rv = tr_train_get_result(task, &result, NULL, &test, error);
    if (rv == 0)
        printf("best epoch %u, test accuracy %.9g\n", result.best_epoch + 1, test.accuracy);
    tr_task_close(task);
    return rv;
}

static int infer(const char *graph, const char *run, struct tr_error *error)
{
    struct tr_infer_options options;
    struct tr_scores test = TR_SCORES_INIT;
    struct tr_rows outputs = TR_ROWS_INIT;
    struct tr_task *task;
    int rv;
    tr_infer_options_init(&options);
    options.graph = graph;
    options.run = run;
    rv = tr_infer_start(&options, &task, error);
    if (rv != 0)
        return rv;
    rv = tr_task_wait(task, TR_WAIT_FOREVER, error);
    if (rv == 0)
        rv = tr_infer_get_outputs(task, &outputs, error);
    if (rv == 0)
        rv = tr_infer_get_scores(task, TR_SPLIT_TEST, &test, error);
    if (rv == 0)
        rv = tr_infer_write(task, "logits.npy", error);
    if (rv == 0)
        printf("%zu nodes, %llu outputs each, test accuracy %.9g\n", outputs.num_rows,
               (unsigned long long)outputs.width, test.accuracy);
    tr_task_close(task);
    return rv;
}

int main(int argc, char **argv)
{
    struct tr_error error = TR_ERROR_INIT;
    if (argc != 3) {
        fprintf(stderr, "usage: train_model DIR/NAME.json RUNDIR\n");
        return 2;
    }
    if (train(argv[1], argv[2], &error) != 0 || infer(argv[1], argv[2], &error) != 0)
        return failed(&error);
    return 0;
}

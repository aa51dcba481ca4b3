/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in models: training, and predicting every node (libtroupe-model).
 *
 * Both are tasks (troupe/task.h), each with a session and a graph of its own: the caller waits for
 * them, pulls their progress and cancels them as any other task, and asks for what they found with
 * the functions below. They take graphs of one node type and one edge type. The folder of a run is
 * that of `troupe train`: config.json, metrics.jsonl, model.safetensors; a run that this library
 * trained has the bytes of one that the command trained with the same options, and `troupe infer`
 * reads it. Several trainers, checkpoints and clusters are the command's.
 *
 * This library computes with a BLAS; libtroupe itself needs none.
 *
 * Ownership: options and the strings in them are needed during the start only; results belong to
 * the task, and are valid until tr_task_close(). Thread rules: as for tasks.
 */
#ifndef TROUPE_MODEL_H
#define TROUPE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/batch.h>
#include <troupe/error.h>
#include <troupe/loader.h>
#include <troupe/log.h>
#include <troupe/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nodes that have a label, and how the model's outputs compare with those; NaN: not known. */
struct tr_scores {
    size_t size;
    uint64_t labelled;
    double loss, accuracy, macro_f1, roc_auc;
};

#define TR_SCORES_INIT                                  \
    {                                                   \
        sizeof(struct tr_scores), 0, 0.0, 0.0, 0.0, 0.0 \
    }

/* The names and defaults are those of troupe-train(1), which says more of each. */
struct tr_train_options {
    size_t size;
    const char *graph; /* DIR/NAME.json */
    const char *run;   /* the run's folder */
    bool replace;      /* the run that is there */
    const char *model; /* "sage" or "gcn" */
    uint32_t num_layers;
    int32_t fanout[TR_LAYERS_MAX]; /* the input layer's first; TR_FANOUT_ALL: every neighbour */
    uint32_t hidden;
    uint32_t batch_size;
    uint32_t epochs;
    uint64_t seed;
    float lr;
    const char *optimiser; /* "adam" or "sgd" */
    float momentum;
    float dropout, input_dropout;
    float l2, weight_decay;
    const char *schedule; /* "constant", "steps" or "cosine" */
    uint32_t warmup_epochs, step_epochs;
    float step_gamma, cosine_floor;
    uint32_t patience;  /* evaluations without a better one; 0: no end */
    const char *loss;   /* "softmax" or "sigmoid" */
    const char *metric; /* "accuracy", "macro-f1", "roc-auc" or "loss" */
    bool balanced_weights;
    bool normalise;
    bool with_replacement;
    bool drop_last;
    const char *evaluation; /* "exact", "sampled" or "none" */
    uint32_t evaluate_every;
    const char *features, *labels; /* node features */
    const char *train_mask, *val_mask, *test_mask;
    uint32_t servers, samplers, loops, threads; /* 0: as many as suit the machine */
    uint64_t memory_bytes_max;                  /* of batches in flight; 0: 4 GiB */
    bool map_files, verify_files;
    struct tr_log *log; /* of the session (troupe/log.h), open as long as the task; NULL: none */
};

TR_API void tr_train_options_init_sized(struct tr_train_options *options, size_t size);
#define tr_train_options_init(options) tr_train_options_init_sized((options), sizeof *(options))

/* Begins to train. TR_EINVAL and TR_ERANGE name an option. What the graph or the run's folder is
 * wrong with is the task's outcome; TR_EEXIST: the folder has a run already. */
TR_API int tr_train_start(const struct tr_train_options *options, struct tr_task **out,
                          struct tr_error *error);

struct tr_train_epoch {
    size_t size;
    uint32_t epoch;    /* from 0 */
    uint64_t steps;    /* batches */
    uint64_t seeds;    /* with a label */
    double rate;       /* of learning */
    double train_loss; /* NaN: no seed had a label */
    double seconds;
    bool evaluated;
    bool best; /* so far */
};

#define TR_TRAIN_EPOCH_INIT                                                 \
    {                                                                       \
        sizeof(struct tr_train_epoch), 0, 0, 0, 0.0, 0.0, 0.0, false, false \
    }

/* What epoch number `epoch` gave, while it trains or after, and the scores of the validation nodes
 * (may be NULL). TR_EEND: it is not that far; TR_EINVAL: the task does not train. */
TR_API int tr_train_get_epoch(const struct tr_task *task, uint32_t epoch,
                              struct tr_train_epoch *result, struct tr_scores *validation,
                              struct tr_error *error);

struct tr_train_result {
    size_t size;
    uint32_t epochs;
    bool stopped_early;
    bool has_best; /* the model is that of best_epoch; else of the last one */
    uint32_t best_epoch;
    bool tested;
};

#define TR_TRAIN_RESULT_INIT                                      \
    {                                                             \
        sizeof(struct tr_train_result), 0, false, false, 0, false \
    }

/* What came of it, and the scores of the validation nodes in the best epoch and of the test nodes
 * (each may be NULL). TR_EEND: it has not trained to its end; TR_EINVAL: the task does not train. */
TR_API int tr_train_get_result(const struct tr_task *task, struct tr_train_result *result,
                               struct tr_scores *validation, struct tr_scores *test,
                               struct tr_error *error);

struct tr_infer_options {
    size_t size;
    const char *graph; /* DIR/NAME.json */
    const char *run;   /* the folder of a finished run */
    bool sampled;      /* with the run's fanouts, instead of exactly with all neighbours */
    uint32_t epoch;    /* sampled: keys the draws */
    uint32_t loops, threads;
    bool map_files, verify_files;
    struct tr_log *log; /* of the session (troupe/log.h), open as long as the task; NULL: none */
};

TR_API void tr_infer_options_init_sized(struct tr_infer_options *options, size_t size);
#define tr_infer_options_init(options) tr_infer_options_init_sized((options), sizeof *(options))

/* Begins to compute the outputs of every node. TR_EINVAL names an option. */
TR_API int tr_infer_start(const struct tr_infer_options *options, struct tr_task **out,
                          struct tr_error *error);

/* The outputs, float32 [nodes][classes], a row a node by original ID, before softmax or sigmoid.
 * TR_EEND: they are not there yet, or the task failed; TR_EINVAL: the task does not infer. The next
 * two fail alike. */
TR_API int tr_infer_get_outputs(const struct tr_task *task, struct tr_rows *outputs,
                                struct tr_error *error);

enum tr_split { TR_SPLIT_TRAIN, TR_SPLIT_VALIDATION, TR_SPLIT_TEST };

/* Compares them with the labels of the nodes of one of the run's masks. */
TR_API int tr_infer_get_scores(const struct tr_task *task, enum tr_split split,
                               struct tr_scores *scores, struct tr_error *error);

/* Writes them as a .npy file, which appears whole or not at all. */
TR_API int tr_infer_write(const struct tr_task *task, const char *path, struct tr_error *error);

/*
 * What a task has to say beside its progress. Events are pulled in their order; one that is not
 * pulled in time makes room, the oldest first, when there are TR_MODEL_EVENTS_MAX.
 */
#define TR_MODEL_EVENTS_MAX 4096

enum tr_model_event_kind {
    /* Text: what the task goes on in spite of. */
    TR_MODEL_WARNING = 1,
    /* Text: threads of the BLAS ask for memory for ever. The task has failed, and exit() would wait
     * for them: end the process by _exit(). number: whether there was none (1), or the task was
     * cancelled before it was there (0). */
    TR_MODEL_STUCK
};

#define TR_MODEL_TEXT_MAX 1280

struct tr_model_event {
    size_t size;
    enum tr_model_event_kind kind;
    uint64_t number;
    char text[TR_MODEL_TEXT_MAX]; /* printable UTF-8 */
};

#define TR_MODEL_EVENT_INIT                                               \
    {                                                                     \
        sizeof(struct tr_model_event), (enum tr_model_event_kind)0, 0, "" \
    }

/* The next event. TR_ETIMEDOUT: there is none yet; TR_EEND: the task has ended, and none is left;
 * TR_EINVAL: it neither trains nor infers. */
TR_API int tr_model_next_event(struct tr_task *task, int64_t timeout_ns,
                               struct tr_model_event *event, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif

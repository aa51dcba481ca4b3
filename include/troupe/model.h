/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in models: training, and predicting every node (libtroupe-model).
 *
 * Both are tasks (troupe/task.h), each with a session and a graph of its own: the caller waits for
 * them, pulls their progress and cancels them as any other task, and asks for what they found with
 * the functions below. sage and gcn take graphs of one node type and one edge type, rgcn and gat
 * any number of each, with the labels on one node type: nodes are then those of that type. The
 * folder of a run is that of `troupe train`: config.json, metrics.jsonl, model.safetensors; the
 * model that this library trained has the bytes of the one that the command trained with the same
 * options, and `troupe infer` reads the run. The trainers of a task may be some of a job's of
 * several processes, each of which has such a task (options.process).
 *
 * This library computes with a BLAS; libtroupe itself needs none.
 *
 * Ownership: options and the strings in them are needed during the start only, but their log and
 * process as long as the task; rows of outputs belong to the task, and are valid until
 * tr_task_close(). Thread rules: as for tasks.
 */
#ifndef TROUPE_MODEL_H
#define TROUPE_MODEL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/batch.h>
#include <troupe/error.h>
#include <troupe/loader.h>
#include <troupe/log.h>
#include <troupe/process.h>
#include <troupe/task.h>
#include <troupe/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nodes that have a label, and how the model's outputs compare with those; NaN: not known. Of a model
 * of links (options.task) labelled are the edges that were held out, with as many pairs of nodes that
 * are drawn, and the others say how it tells the first from the second; mrr is the mean over them of
 * 1 / the place of the edge among 100 such pairs of its source, by score. Of nodes it is NaN. */
struct tr_scores {
    size_t size;
    uint64_t labelled;
    double loss, accuracy, macro_f1, roc_auc;
    double mrr;
};

#define TR_SCORES_INIT                                       \
    {                                                        \
        sizeof(struct tr_scores), 0, 0.0, 0.0, 0.0, 0.0, 0.0 \
    }

/* A limit that the program leaves to the cluster file (options.process), and where that says
 * nothing to TR_TRAIN_LIMIT_NS. The default of both limits. */
#define TR_TRAIN_LIMIT_UNSAID ((int64_t)-1)
#define TR_TRAIN_LIMIT_NS INT64_C(600000000000)

/* As many epochs as suit the number of training nodes (troupe-train(1) says by which rules). The
 * default of options.epochs. */
#define TR_TRAIN_EPOCHS_CHOSEN UINT32_MAX
/* The defaults of patience and evaluate_every, and of input_dropout and l2: where the epochs are
 * chosen these are chosen with them; else they are 0, 1, 0 and 0. Also the default of num_layers:
 * two, with fanout's first two numbers, which three of another fanout may replace where the epochs
 * are chosen and fanout is the default's; and of hidden: 128, or chosen with the layers. */
#define TR_TRAIN_COUNT_CHOSEN UINT32_MAX
#define TR_TRAIN_REAL_CHOSEN (-1.0f)

/* The names and defaults are those of troupe-train(1), which says more of each. */
/* Heads of gat that nobody named, as in the paper (Velickovic et al., ICLR 2018). */
#define TR_TRAIN_HEADS_OF_GAT 8

struct tr_train_options {
    size_t size;
    const char *graph; /* DIR/NAME.json */
    const char *run;   /* the run's folder */
    bool replace;      /* the run that is there */
    const char *model; /* "sage", "gcn", "rgcn" or "gat"; NULL: "sage", or chosen with the epochs */
    uint32_t num_layers; /* or TR_TRAIN_COUNT_CHOSEN */
    /* The input layer's first; TR_FANOUT_ALL: every neighbour. Left as it is, more than two layers draw
     * 5, 3 and then 2 before the 10 and 25 of the last two. */
    int32_t fanout[TR_LAYERS_MAX];
    uint32_t hidden;
    uint32_t batch_size;
    uint32_t epochs; /* TR_TRAIN_EPOCHS_CHOSEN */
    uint64_t seed;
    float lr;
    const char *optimiser; /* "adam" or "sgd" */
    float momentum;
    /* Each may be TR_TRAIN_REAL_CHOSEN; the first is then 0.5, and 0 of links. */
    float dropout, input_dropout;
    float l2, weight_decay; /* the first: or TR_TRAIN_REAL_CHOSEN */
    const char *schedule;   /* "constant", "steps" or "cosine" */
    uint32_t warmup_epochs, step_epochs;
    float step_gamma, cosine_floor;
    uint32_t patience;  /* evaluations without a better one; 0: no end; TR_TRAIN_COUNT_CHOSEN */
    const char *loss;   /* "softmax" or "sigmoid"; NULL: the first, and of links the second */
    const char *metric; /* "accuracy", "macro-f1", "roc-auc", "loss" or, of links, "mrr"; NULL:
                           "roc-auc" of two classes and of links, else "accuracy" */
    bool balanced_weights;
    bool normalise; /* also chosen with the epochs, unless no_normalise */
    bool with_replacement;
    bool drop_last;
    const char *evaluation;        /* "exact", "sampled" or "none" */
    uint32_t evaluate_every;       /* epochs, at least 1; TR_TRAIN_COUNT_CHOSEN */
    const char *features, *labels; /* node features; labels NULL: "label" */
    const char *train_mask;
    const char *val_mask,
        *test_mask; /* NULL: "val_mask" and "test_mask", where the graph has them */
    uint32_t servers, samplers, loops, threads; /* 0: as many as suit the machine */
    uint64_t memory_bytes_max;                  /* of batches in flight; 0: 4 GiB */
    bool map_files, verify_files;
    struct tr_log *log; /* of the session (troupe/log.h), open as long as the task; NULL: none */
    uint32_t trainers;  /* of this process; they share out the threads; 0: 1 */
    /* The trainer that each seed goes to: "shuffle", "affinity" (the deal that lies beside the
     * graph), or a deal's file; NULL: affinity where there is one for as many trainers as the job
     * has. */
    const char *deal;
    const char *checkpoints;   /* their folder, with %h for each host's name; NULL: in the run's */
    uint64_t checkpoint_every; /* steps; 0: none are made */
    uint32_t checkpoint_keep;  /* how many; 0: 2 */
    /* Goes on with the run that is there, from its last checkpoint. epochs and patience may have
     * grown; what is left to be chosen is as the run has it, but hidden, norm and residual are so only
     * where trials or from chose them, else as usual. In one process, a run that has ended with its
     * test is not trained again: the task has its epochs and its result. */
    bool resume;
    bool reproducible; /* kernels that would change the result are an error */
    bool messages;     /* no direct reads */
    bool codec;        /* messages inside the process are encoded too */
    /* An event reports a trainer that computes for longer than that without getting on; 0: only one
     * that does so for 5 s after the task was cancelled. Time in which the whole process stood
     * still does not count. TR_TRAIN_LIMIT_UNSAID. */
    int64_t step_limit_ns;
    /* The run waits so long for a disk that takes nothing, where it cannot go on without.
     * TR_TRAIN_LIMIT_UNSAID. */
    int64_t disk_wait_ns;
    /* This process of a cluster (troupe/process.h), with the role TR_ROLE_TRAINER; open as long as
     * the task. The cluster file goes before graph, trainers, threads, seed and checkpoints here;
     * where it says nothing of threads or a seed, those here count (threads: 0 is 1 a trainer). A
     * process that its launcher started again resumes. NULL: all is here. */
    struct tr_process *process;
    const char *metrics; /* the address at which OpenMetrics are served; NULL: none are */
    /* The job does not end before tr_train_confirm(): the program that reads the result may lose it
     * until then, since the process is started again when it dies. */
    bool confirm;
    /* The program has a handler for TR_MODEL_STACK_SIGNAL, and threads that compute take it. Else
     * they take no signal, as all threads of the library. */
    bool stack_signal;
    bool no_normalise; /* feature rows stay as they are, whatever is chosen */
    unsigned char reserved[5];
    /* The folder of a run whose model has the same shape: its weights are those to begin with, in
     * place of drawn ones. Every process reads it. NULL: none. */
    const char *from;
    /* A task that is cancelled while it trains makes its next step, and a checkpoint, before it ends
     * (for at most TR_TRAIN_LEAVE_NS), from which resume goes on; where checkpoint_every is 0 too.
     * Of processes of a cluster that keep checkpoints all do so where one is cancelled, or its
     * launcher wants it to stop or has gone, for at most TR_PROCESS_LINGER_NS. */
    bool checkpoint_at_cancel;
    /* Hidden layers behind the first add their input to their products, before relu: of at least
     * three layers. */
    bool residual;
    /* Shift and scale each column of the features to the mean 0 and the deviation 1 over the graph's
     * nodes, at most 65536 of them; also chosen with the epochs, unless no_standardise. */
    bool standardise, no_standardise;
    unsigned char reserved_end[4];
    /* Of hidden layers, before relu: "none", "layer" or "batch"; NULL, unless residual: "none", or
     * chosen with the layers, residual with it. */
    const char *norm;
    /* A feature of edges with one number each, from 0 to TR_EDGE_WEIGHT_MAX: sage takes the mean of
     * the neighbours that these weigh, gcn counts edges as often as they weigh, in sums and degrees.
     * Each trainer's host sees the files of all partitions then where the model is gcn. NULL: edges
     * count alike. */
    const char *edge_weight;
    /* Of models of relations, rgcn and gat. The node type that has the labels; NULL: the only one that
     * has them. */
    const char *label_type;
    /* Draws of relations that are not fanout's: "RELATION=5,10;SOURCE:RELATION:DESTINATION=0,3", a
     * number a layer as in fanout, 0 for none. NULL: all draw as fanout says. */
    const char *etype_fanout;
    uint32_t bases; /* rgcn: matrices that relations share, which each mixes; 0: none are shared */
    uint32_t heads; /* gat: of attention, in each layer; 0: TR_TRAIN_HEADS_OF_GAT */
    /* "node", the default: the labels of nodes. "link": which nodes an edge of options.edge_type
     * joins. A pair of nodes is scored by the dot product of their outputs, rows of `hidden`
     * numbers, which is to tell an edge from pairs of its source and a node that is drawn (binary
     * cross-entropy; loss is then "sigmoid" or its default). The masks are features of edges; where
     * these have no train_mask, a tenth of the edges each is held out to validate and to test, by
     * the original IDs of their ends, so that an edge and its reverse stay together. No edge
     * between the ends of one that is held out is learned from or carries messages while it is
     * trained and scored, nor, in a batch, one between those of its own edges. labels are not read,
     * and what is for nodes alone is refused: balanced_weights, edge_weight, deal. */
    const char *task;
    uint32_t negatives; /* of "link": such pairs for each edge, 1 to TR_TRAIN_NEGATIVES_MAX; 0: 1 */
    unsigned char reserved_last[4];
    /* How neighbours are drawn (enum tr_sampler): "neighbors", the default, "labor" or
     * "labor-poisson", which both draw without replacement and without draw_by. */
    const char *sampler;
    /* A feature of edges in proportion to which they are drawn (tr_sample_spec_set_weights()). What
     * was drawn estimates the sums and means over all edges of a positive value: those that are
     * drawn more often count less. Edge types without it draw evenly; NULL: all do. A negative or
     * infinite value, or NaN, is refused with its edge (TR_EINVAL) before the run's folder is
     * changed. */
    const char *draw_by;
    /* A feature of edges: only those that it marks carry messages, in training, scoring and
     * inference. Edge types without it are not restricted; NULL: none is. Of sage, rgcn and gat. */
    const char *draw_mask;
    /* Of "link": the type of the edges that are learned, "SRC:REL:DST", or the relation alone where
     * one type has it; NULL: the only type that is not another's reverse. Its masks are features of
     * its edges. */
    const char *edge_type;
    /* The type that has these edges the other way: edges that are held out carry no messages there
     * either. NULL: the one whose name says so, "DST:rev_REL:SRC", where there is one. */
    const char *reverse_edge_type;
    /* Of "link", as struct tr_link_options draws negatives (troupe/link_prediction.h). Which ends are
     * drawn: "destinations", "sources", "either" or "both"; NULL: the first. */
    const char *negative_ends;
    const char *negatives_by; /* "uniform" or "degree"; NULL: the first */
    bool negatives_no_edges;  /* those that are edges of the graph are drawn again */
    unsigned char reserved_negatives[7];
    /* A folder for files that TensorBoard reads: what metrics.jsonl has of each epoch and of the
     * test, an epoch a step, counted from 1. Each life of the process of rank 0 adds a file; an
     * epoch that is trained again takes the place of the one before, and replace removes the files
     * of earlier runs. A folder that cannot be written is refused before the run's is changed; a
     * disk that takes nothing later is a warning (TR_MODEL_WARNING). NULL: none are written. */
    const char *tensorboard;
};

#define TR_TRAIN_NEGATIVES_MAX 1024

/* The largest weight of an edge: a node's edges have a finite sum. */
#define TR_EDGE_WEIGHT_MAX 1e28f

/* Less than the 30 s that Slurm leaves a job between SIGTERM and SIGKILL (KillWait). */
#define TR_TRAIN_LEAVE_NS INT64_C(20000000000)

/* The signal by which a program may ask threads that compute for their stacks
 * (options.stack_signal). */
#define TR_MODEL_STACK_SIGNAL SIGUSR2

/* The largest width of a hidden layer. */
#define TR_MODEL_WIDTH_MAX (1u << 20)

TR_API void tr_train_options_init_sized(struct tr_train_options *options, size_t size);
#define tr_train_options_init(options) tr_train_options_init_sized((options), sizeof *(options))

/* Begins to train: this process's trainers, each on a thread and with a model of its own, in one
 * group with those of the other processes. TR_EINVAL and TR_ERANGE name an option. An error in the
 * graph or in the run's folder is the task's outcome; TR_EEXIST: the folder has a run already, or
 * the folder of checkpoints has some. */
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
    unsigned char reserved[6];
};

#define TR_TRAIN_EPOCH_INIT                                                     \
    {                                                                           \
        sizeof(struct tr_train_epoch), 0, 0, 0, 0.0, 0.0, 0.0, false, false, "" \
    }

/* The figures of epoch number `epoch`, while it trains or after, and the scores of the validation
 * nodes (may be NULL), where rank 0 is. TR_EEND: it is not that far, or rank 0 is elsewhere;
 * TR_EINVAL: the task does not train. */
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
    double train_loss; /* of the last epoch */
};

#define TR_TRAIN_RESULT_INIT                                           \
    {                                                                  \
        sizeof(struct tr_train_result), 0, false, false, 0, false, 0.0 \
    }

/* The result was passed on (options.confirm): the job may end. */
TR_API int tr_train_confirm(struct tr_task *task, struct tr_error *error);

/* Has the loops of its session write what they hold to the log, as tr_session_dump() does.
 * TR_ECLOSED: there is no session now; TR_EINVAL: the task neither trains nor infers. */
TR_API int tr_model_dump(struct tr_task *task, struct tr_error *error);

/* The result of training, and the scores of the validation nodes in the best epoch and of the test
 * nodes (each may be NULL). TR_EEND: it has not trained to its end; TR_EINVAL: the task does not
 * train. */
TR_API int tr_train_get_result(const struct tr_task *task, struct tr_train_result *result,
                               struct tr_scores *validation, struct tr_scores *test,
                               struct tr_error *error);

struct tr_infer_options {
    size_t size;
    const char *graph; /* DIR/NAME.json */
    const char *run;   /* the folder of a run that has a model */
    bool sampled;      /* with the run's fanouts, instead of exactly with all neighbours, as
                        * trainings score unless options.evaluation is "sampled" */
    uint32_t epoch;    /* sampled: keys the draws */
    uint32_t loops, threads;
    bool map_files, verify_files;
    struct tr_log *log; /* of the session (troupe/log.h), open as long as the task; NULL: none */
    /* Keep the rows of the last hidden layer, for tr_infer_get_embeddings(). The model has to have
     * one: TR_EUNSUPPORTED is the task's outcome where it has one layer. */
    bool embeddings;
    unsigned char reserved[7];
};

TR_API void tr_infer_options_init_sized(struct tr_infer_options *options, size_t size);
#define tr_infer_options_init(options) tr_infer_options_init_sized((options), sizeof *(options))

/* Begins to compute the outputs of every node. TR_EINVAL names an option. A run that is not
 * complete gives its best model so far, and an event (TR_MODEL_WARNING) says so. */
TR_API int tr_infer_start(const struct tr_infer_options *options, struct tr_task **out,
                          struct tr_error *error);

/* The outputs, float32 [nodes][classes], a row a node by original ID, before softmax or sigmoid;
 * of a model of links, the rows whose dot products score pairs of nodes, by all edges of the graph.
 * TR_EEND: they are not there yet, or the task failed; TR_EINVAL: the task does not infer. The next
 * functions fail alike. */
TR_API int tr_infer_get_outputs(const struct tr_task *task, struct tr_rows *outputs,
                                struct tr_error *error);

/* The rows of the last hidden layer behind its activation, float32 [nodes][hidden], by original ID.
 * TR_ENOENT: they were not asked for (options.embeddings). */
TR_API int tr_infer_get_embeddings(const struct tr_task *task, struct tr_rows *embeddings,
                                   struct tr_error *error);

/* The node types whose nodes have outputs, from 0: one, and of links between nodes of two types
 * that of their sources and then that of their destinations. The name is the task's. TR_ERANGE:
 * there is no such number. */
TR_API int tr_infer_node_type(const struct tr_task *task, uint32_t index, const char **name,
                              struct tr_error *error);
/* The same as above, of the nodes of the type with that number; those are of the first one. */
TR_API int tr_infer_get_outputs_of(const struct tr_task *task, uint32_t index,
                                   struct tr_rows *outputs, struct tr_error *error);
TR_API int tr_infer_get_embeddings_of(const struct tr_task *task, uint32_t index,
                                      struct tr_rows *embeddings, struct tr_error *error);

enum tr_split { TR_SPLIT_TRAIN = 0, TR_SPLIT_VALIDATION = 1, TR_SPLIT_TEST = 2 };

/* Compares them with the labels of the nodes of one of the run's masks. A run that has no such mask,
 * as one of links, has no labelled nodes there. */
TR_API int tr_infer_get_scores(const struct tr_task *task, enum tr_split split,
                               struct tr_scores *scores, struct tr_error *error);

/* 128 MiB of counts. */
#define TR_CONFUSION_CLASSES_MAX 4096

/* Counts the labelled nodes of one of the run's masks by class and prediction: counts
 * [classes * classes], where counts[a * classes + b] nodes of class a were taken for class b; from
 * that follow precision, recall and F1 of each class. All are 0 where the run has no such mask.
 * TR_EUNSUPPORTED: the model has several labels a node, or is one of links; TR_ETOOBIG: more than
 * TR_CONFUSION_CLASSES_MAX classes; TR_EINVAL: num_counts is not classes * classes (the width of the
 * outputs). */
TR_API int tr_infer_get_confusion(const struct tr_task *task, enum tr_split split, uint64_t *counts,
                                  size_t num_counts, struct tr_error *error);

/* Writes them as a .npy file; or, where the name ends with .csv or .jsonl, what they predict, a
 * line a node by original ID: its class and the probability of that, or with sigmoid a probability
 * for each output (troupe-infer(1) has the columns and keys). A model of links predicts nothing of
 * a node by itself: TR_EUNSUPPORTED for the second. Of several node types each has a file,
 * FILE.TYPE.npy in the place of FILE.npy. A file appears whole or not at all. */
TR_API int tr_infer_write(const struct tr_task *task, const char *path, struct tr_error *error);

/* Writes the rows of tr_infer_get_embeddings() as a .npy file, in the same way. */
TR_API int tr_infer_write_embeddings(const struct tr_task *task, const char *path,
                                     struct tr_error *error);

/*
 * The events of a task, which it reports beside its progress. Events are pulled in their order; one
 * that is not pulled in time makes room, the oldest first, when there are TR_MODEL_EVENTS_MAX, and
 * the one that follows says how many did.
 */
#define TR_MODEL_EVENTS_MAX 4096

enum tr_model_event_kind {
    /* Text: what the task goes on in spite of. */
    TR_MODEL_WARNING = 1,
    /* Text: threads of the BLAS ask for memory for ever. The task has failed, and exit() would wait
     * for them: end the process by _exit(). number: whether there was none (1), or the task was
     * cancelled before it was there (0). */
    TR_MODEL_STUCK = 2,
    /* Text: the graph's files could not be compared with checksums. */
    TR_MODEL_UNCHECKED = 3,
    /* The graph is open, and training begins. Text: by which kernels it computes. */
    TR_MODEL_READY = 4,
    /* Text: where OpenMetrics are served (number 1), or why they are not (0). Before READY. */
    TR_MODEL_METRICS = 5,
    /* An epoch has ended (number, from 0). Text, which counts from 1: "epoch 3: loss 0.7,
     * validation accuracy 0.8". Only where rank 0 is. */
    TR_MODEL_EPOCH = 6,
    /* A checkpoint was committed after so many steps (number). */
    TR_MODEL_CHECKPOINT = 7,
    /* The model is written and synced: tr_train_get_result() gives what came of it. Only where rank
     * 0 is; again when the job went back after that. */
    TR_MODEL_TRAINED = 8,
    /* Text: what is lost since a disk took nothing for options.disk_wait_ns. The task fails. */
    TR_MODEL_LOST = 9,
    /* A trainer does not get on, and cannot be ended: end the process by _exit(). Text: for how
     * long; number: whether it was asked to stop (1); threads: those that compute. */
    TR_MODEL_STALLED = 10,
    /* Text: what is trained on what: nodes, classes, parameters, steps. A process of a cluster says
     * only that it tries shapes of the model, and which one it chose. */
    TR_MODEL_HEAD = 11,
    /* Text: what makes the result worse than it might be, and the option that helps. */
    TR_MODEL_ADVICE = 12
};

#define TR_MODEL_THREADS_MAX 16

#define TR_MODEL_TEXT_MAX 1280

struct tr_model_event {
    size_t size;
    enum tr_model_event_kind kind;
    uint64_t number;
    char text[TR_MODEL_TEXT_MAX]; /* cut; a name of a file in it may have any bytes */
    uint32_t num_threads;
    int32_t threads[TR_MODEL_THREADS_MAX]; /* their numbers for the system */
    uint64_t dropped;                      /* events that were lost before this one */
};

#define TR_MODEL_EVENT_INIT                                                            \
    {                                                                                  \
        sizeof(struct tr_model_event), (enum tr_model_event_kind)0, 0, "", 0, { 0 }, 0 \
    }

/* The next event. TR_ETIMEDOUT: none in that time; TR_EEND: the task has ended, and all were taken;
 * TR_ECLOSED: the task is being closed; TR_EINVAL: it neither trains nor infers. After a failure no
 * event is lost. */
TR_API int tr_model_next_event(struct tr_task *task, int64_t timeout_ns,
                               struct tr_model_event *event, struct tr_error *error);

/* A descriptor that poll(2) reports as readable while tr_model_next_event() would not wait. It is
 * the task's: only watch it. -1: a task of another kind, or in a child of fork(). */
TR_API int tr_model_descriptor(const struct tr_task *task);

/*
 * A run's model as it lies on the disk: what it was trained as, and its tensors.
 */
struct tr_model;

struct tr_model_info {
    size_t size;
    const char *kind; /* "sage", "gcn", "rgcn" or "gat" */
    uint32_t layers, inputs, hidden, classes;
    const char *loss;   /* "softmax" or "sigmoid" */
    const char *metric; /* by which the best epoch was found */
    bool normalise;
    const char *features, *labels; /* node features */
    size_t num_tensors;
    const char *norm; /* "none", "layer" or "batch" */
    bool residual;
    bool standardise; /* features are, by the tensors features.mean and features.factor */
    bool logarithms;  /* of columns are taken before, by features.log_centre and .log_unit */
    unsigned char reserved[5];
    const char *edge_weight; /* the feature of edges that weighs them; NULL: they count alike */
    /* Of rgcn and gat, as the options of that name; NULL, 0: not said, or of another kind. */
    const char *label_type; /* the node type whose labels are learned; NULL: the only one */
    const char *etype_fanout;
    uint64_t num_relations; /* that tr_model_relation() names */
    uint32_t bases, heads;
    const char *task; /* "node" or "link": what outputs are for (options.task) */
    /* Of links, whole names: the edges that are scored, and those the other way; NULL: of the only
     * type, none. */
    const char *edge_type, *reverse_edge_type;
};

#define TR_MODEL_INFO_INIT                                                                      \
    {                                                                                           \
        sizeof(struct tr_model_info), NULL, 0, 0, 0, 0, NULL, NULL, false, NULL, NULL, 0, NULL, \
            false, false, false, "", NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL                \
    }

#define TR_TENSOR_NDIM_MAX 8

struct tr_tensor {
    size_t size;
    const char *name; /* of the layer and the parameter, such as "layers.0.weight" */
    enum tr_dtype dtype;
    uint32_t ndim;
    uint64_t shape[TR_TENSOR_NDIM_MAX];
    const void *data; /* row-major; may be unaligned */
    uint64_t bytes;
};

#define TR_TENSOR_INIT                                            \
    {                                                             \
        sizeof(struct tr_tensor), NULL, TR_F32, 0, { 0 }, NULL, 0 \
    }

/* run: the folder of a run that has a model. TR_ENOENT names what is missing; TR_EFORMAT: its files
 * are not such. Texts and data that come from it are valid until the close. A model does not
 * change; any number of threads may read it, also in a child of fork(), which closes a copy of its
 * own. *out is NULL after a failure. */
TR_API int tr_model_open(const char *run, struct tr_model **out, struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_model_close(struct tr_model *model);

TR_API int tr_model_info(const struct tr_model *model, struct tr_model_info *info,
                         struct tr_error *error);
/* In the order of the file. TR_ERANGE: there is no such number. */
TR_API int tr_model_tensor(const struct tr_model *model, size_t index, struct tr_tensor *tensor,
                           struct tr_error *error);

/* An edge type along which a layer of rgcn or gat gathers rows, by its number in the order of names:
 * "SOURCE:EDGE:DESTINATION", and how many parameters of all layers are its own (with bases: its
 * shares of them). Either may be NULL where it is not wanted. TR_ERANGE: there is no such number. */
TR_API int tr_model_relation(const struct tr_model *model, uint64_t index, const char **name,
                             uint64_t *parameters, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif

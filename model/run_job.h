/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training or inference job in one process: session, graph, loaders and model, opened together
 * from a run's configuration.
 *
 * Ownership: run_job_open fills it, run_job_close frees all; the configuration is borrowed and
 * completed (inputs and classes) from the graph. Thread rules: one thread.
 */
#ifndef MODEL_RUN_JOB_H
#define MODEL_RUN_JOB_H

#include <troupe/troupe.h>

#include "model/edge_weights.h"
#include "model/exact.h"
#include "model/link_edges.h"
#include "model/loader_source.h"
#include "model/part_view.h"
#include "model/run_config.h"

struct run_task;

/* How the job is laid out; of this only the number of trainers changes a result. */
struct run_job_layout {
    const struct run_task *task; /* run_task_of() the configuration */
    uint32_t trainers;           /* of this process; they share out the threads; 0: 1 */
    const char *checkpoints;     /* their folder, or NULL */
    uint32_t checkpoint_keep;
    uint32_t servers;
    uint32_t samplers;
    uint32_t loops;
    uint32_t threads; /* that compute; 0: one a processor */
    bool messages;    /* no direct reads */
    bool codec;
    bool map_files;
    bool verify_files;
    uint64_t memory_bytes;
    struct tr_log *log; /* of the session, or NULL; open until the job is closed */
    bool trains;        /* else a model is read, with all that was measured for it */
    bool watched;       /* threads that compute take THREAD_STACK_SIGNAL */
};

struct run_job;

/* The job says this to its surroundings, and asks it of them; all may be NULL. */
struct run_job_hooks {
    const struct cancel *cancel;
    /* The job cannot be opened, and threads of the BLAS go on asking for memory (warm_up.h). */
    void (*stuck)(void *arg, const struct error *error);
    /* Before the session is opened: what this process is of a cluster. */
    void (*place)(void *arg, struct tr_session_options *options);
    /* The session is open; NULL: it is about to be closed. */
    void (*opened)(void *arg, struct tr_session *session);
    /* So many steps of the trial of a shape are made. */
    void (*tries)(void *arg, enum run_shape shape, uint64_t done, uint64_t total);
    /* Asked before trials: *known: what came of them (*tried) was found before, or by another process
     * of the job, which is waited for. */
    int (*tried)(void *arg, struct run_job *job, struct run_tried *tried, bool *known,
                 struct error *error);
    void *arg;
};

struct run_job {
    struct run_config *config;
    const struct run_task *task;
    struct run_job_hooks hooks;
    struct tr_session *session;
    struct tr_graph *graph;
    struct parallel *parallel;
    bool watched;   /* as the layout says */
    size_t threads; /* of each trainer */
    size_t threads_of_all;
    struct parallel *wide; /* all threads, while the other trainers wait; NULL: not needed yet */
    struct model *model;
    float *beginning; /* the weights that all replicas begin with, [parameters]; NULL: drawn */
    float *columns;   /* features are standardised by, [4 * inputs]; NULL: by what a file says */
    float *class_weights;
    uint32_t ntype;           /* the first whose outputs count: that has the labels */
    bool has_features;        /* any node type */
    struct model_types types; /* of models of relations */
    int32_t *fanouts;         /* [layers][edge types], of these */
    struct part_views parts;  /* the partitions that are in this process */
    struct exact_graph whole;
    struct link_types link_types; /* of the task of links */
    uint32_t link_suspect;        /* see link_types_suspect() */
    struct link_split link_split; /* of a training of links, with its edges */
    struct link_edges link_edges;
    struct weighted_norms norms;      /* of gcn with weights of edges */
    struct exact *exact;              /* made with the first evaluation over the whole graph */
    struct tensor logits[MODEL_ENDS]; /* of the targets of the model (model_types.h) */
    bool keep_hidden;            /* sampled inference keeps the rows below; exact does anyway */
    const struct tensor *hidden; /* of the last hidden layer, as logits; NULL: not known */
    struct tensor sampled_hidden[MODEL_ENDS];
};

/* Nodes of one part of the split, and their loader. */
struct run_job_split {
    struct tr_nodes *nodes;
    struct tr_loader *loader;
    struct loader_source source;
    enum link_split_part part; /* of the task of links, where it is held out: it has no loader */
};

int run_job_open(struct run_job *job, const char *graph, struct run_config *config,
                 const struct run_job_layout *layout, const struct run_job_hooks *hooks,
                 struct error *error);
void run_job_close(struct run_job *job);

/* Begins with the weights of the model that was trained in another run's folder, in the job's model
 * and in replicas from here on. TR_EMISMATCH names what does not fit. */
int run_job_begin_from(struct run_job *job, const char *run, struct error *error);

/* A trainer's model: one of its own, with threads of its own. class_weights are the job's. */
int run_job_replica(const struct run_job *job, struct parallel **parallel, struct model **model,
                    struct error *error);

/* The loader of one trainer, over its share of the training nodes, or of the edges. deal: NULL
 * shuffles all together; "affinity" takes the deal that lies beside the graph; else a deal's file. */
int run_job_split_train(struct run_job *job, const char *deal, uint32_t rank, uint32_t world,
                        struct run_job_split *split, struct error *error);

/* Is there such a part for the run to be scored on, and is it to be? */
bool run_job_holds_out(const struct run_job *job, enum tr_split part);

/* What is scored: the validation or test nodes, or edges. */
int run_job_split_held(struct run_job *job, enum tr_split part, struct run_job_split *split,
                       struct error *error);

/* A loader over the nodes of a mask; TR_ENOENT names a mask that the graph lacks. */
int run_job_split_open(struct run_job *job, const char *mask, struct run_job_split *split,
                       struct error *error);
/* The same over all nodes of a type, in the order of original IDs. */
int run_job_split_open_all(struct run_job *job, uint32_t ntype, struct run_job_split *split,
                           struct error *error);
void run_job_split_close(struct run_job_split *split);

/* Scores the model on a split, exactly or by sampling. epoch keys the draws. */
int run_job_evaluate(struct run_job *job, struct run_job_split *split, bool exact, uint32_t epoch,
                     struct scores *scores, struct error *error);

/* Fills job->logits with the exact outputs of every node. */
int run_job_infer(struct run_job *job, struct error *error);

/* The same by sampling: one pass of a loader over every node. epoch keys the draws. */
int run_job_infer_sampled(struct run_job *job, uint32_t epoch, struct error *error);

/* Scores job->logits on a split. */
int run_job_score(struct run_job *job, const struct run_job_split *split, struct scores *scores,
                  struct error *error);

/* Counts a split's labelled nodes by class and prediction: counts [classes][classes], a row a class
 * of the labels. With softmax alone. */
int run_job_confusion(struct run_job *job, const struct run_job_split *split, uint64_t *counts,
                      struct error *error);

/* Writes job->logits, a row a node by original ID: as a .npy file, or where the name ends with .csv
 * or .jsonl what they predict (predictions.h), with the names of the graph whose NAME.json is at
 * `graph`. The file appears whole or not at all. */
int run_job_write_outputs(const struct run_job *job, const char *graph, const char *path,
                          struct error *error);

/* Writes job->hidden, which is known, as a .npy file in the same way. */
int run_job_write_hidden(const struct run_job *job, const char *path, struct error *error);

#endif

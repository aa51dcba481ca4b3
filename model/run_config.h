/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One training run: everything that decides its result, and where it is kept.
 *
 * `troupe train` fills it from its options, writes it to RUNDIR/config.json, and `troupe infer`
 * reads it back, so that a model is never used with other features, fanouts or normalisation
 * than it was trained with.
 *
 * Ownership: run_config_read allocates the texts; run_config_fini frees them. Plain values
 * otherwise. Thread rules: one thread at a time.
 */
#ifndef MODEL_RUN_CONFIG_H
#define MODEL_RUN_CONFIG_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/link_prediction.h>
#include <troupe/loader.h>
#include <troupe/sample.h>

#include "model/model_config.h"
#include "model/run_open.h"
#include "model/run_tried.h"
#include "runtime/base/files.h"

enum run_evaluation { RUN_EVALUATE_EXACT, RUN_EVALUATE_SAMPLED, RUN_EVALUATE_NONE };

/* The forms of --eval stand for these, in the order of the enum. */
#define RUN_EVALUATIONS "exact|sampled|none"

struct run_config {
    struct model_config model;
    int32_t fanout[TR_LAYERS_MAX];
    uint32_t batch_size;
    uint32_t negatives; /* of the task of links: for each edge */
    enum tr_negative_ends negative_ends;
    enum tr_negatives_by negatives_by;
    bool negatives_no_edges;
    bool replace;
    enum tr_sampler sampler;
    bool drop_last;
    bool balanced_weights; /* class weights inverse to the classes' shares of the train nodes */
    enum run_evaluation evaluation;
    uint32_t evaluate_every;
    uint32_t patience;
    char *edge_weight;  /* name of an edge feature; NULL: edges count alike */
    char *label_type;   /* node type that has the labels; NULL: the only one, or found by them */
    char *etype_fanout; /* draws of relations, "RELATION=N,N;..."; NULL: fanout is every one's */
    char *edge_type;    /* of links, the edges that are scored; NULL: of the only type */
    char *reverse_edge_type; /* that has them the other way; NULL: none, or found by its name */
    char *draw_by;           /* names of edge features by which edges are drawn; NULL: evenly */
    char *draw_mask;         /* and that mark those that may be; NULL: all */
    char *features;          /* names of node features */
    char *labels;            /* of links: "" */
    char *train_mask; /* of links: an edge feature, or "": edges are held out by their ends */
    /* NULL, until the graph is open: the default's, where the graph has it. "": there is none, and
     * nothing is scored; of links without a train_mask: edges are held out by their ends. */
    char *val_mask;
    char *test_mask;
    /* Whether training chooses them when the graph is open (run_choice.c). No file holds these. */
    bool choose_metric;
    bool choose_epochs;
    /* With the epochs: nobody named these. Until then they have the values of a run whose epochs
     * were named. */
    bool choose_patience, choose_evaluate_every, choose_input_dropout, choose_l2, choose_normalise,
        choose_standardise, choose_layers, choose_kind;
    /* Nor how hidden layers are normalised, nor that they add their input. */
    bool choose_norm, choose_hidden;
    /* Where columns are standardised, whoever chose that. */
    bool choose_logarithms;
    struct run_tried tried; /* how the shape was chosen */
    /* Options that were left open when the run was begun (run_open.h), where that is known: older
     * folders do not say it. */
    uint32_t open;
    bool open_known;
};

/* Duplicates the six names, of which the last three may be NULL; TR_ENOMEM. */
int run_config_names(struct run_config *config, const char *features, const char *labels,
                     const char *train_mask, const char *val_mask, const char *test_mask,
                     const char *edge_weight);
/* Names of types; each may be NULL. TR_ENOMEM. */
struct run_type_names {
    const char *label_type, *etype_fanout, *edge_type, *reverse_edge_type;
};
int run_config_name_types(struct run_config *config, const struct run_type_names *names);
/* What draws go by; each may be NULL. TR_ENOMEM. */
int run_config_name_draws(struct run_config *config, const char *draw_by, const char *draw_mask);
void run_config_fini(struct run_config *config);

/* The number of a way to draw by its name, or -1; so of ends and likelihoods of negatives. */
int run_sampler_parse(const char *name);
int run_negative_ends_parse(const char *name);
int run_negatives_by_parse(const char *name);

/* A new object with every field, or NULL when memory is out. */
json_t *run_config_to_json(const struct run_config *config);

/* By enum tr_split. */
#define RUN_PARTS 3u
#define RUN_PARTS_KEY "parts_hash"
const char *run_part_name(size_t part);

/* Where a run computes, and with what: beside its configuration, what equal bits depend on. */
struct run_surroundings {
    const char *graph;
    uint64_t graph_hash; /* of its document, which has the sums of its files; 0: not known */
    /* [RUN_PARTS], of what is trained on and held out, in an order that no placement changes; 0: of
     * none; NULL: not known. */
    const uint64_t *parts;
    const char *kernels;
    uint32_t trainers;
    const char *deal; /* NULL: shuffle */
    uint64_t deal_hash;
    const char *from;   /* the run whose weights it began with; NULL: none */
    uint64_t from_hash; /* of those */
    uint64_t servers, samplers, loops, threads;
    bool messages, codec;
};

/* The object of config.json; NULL when memory is out. */
json_t *run_config_describe(const struct run_config *config, const struct run_surroundings *around);

/* Reads RUNDIR/config.json; TR_EFORMAT names the file and the field. */
int run_config_read(struct files *files, const char *path, struct run_config *config,
                    struct error *error);
/* The two steps of that: the document, for json_decref(), and what it says of a run. */
int run_config_read_root(struct files *files, const char *path, json_t **root, struct error *error);
int run_config_parse(const char *path, const json_t *root, struct run_config *config,
                     struct error *error);

/* Nothing of the model's shape is named: trials may choose it. */
bool run_config_leaves_shape(const struct run_config *config);
/* The metric where none is named, by the loss and the number of classes. */
enum model_metric run_config_usual_metric(const struct model_config *model);

#endif

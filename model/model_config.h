/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job of the built-in trainer: the part of a run's config.json that the model depends on.
 *
 * Ownership: a plain struct; class_weights is borrowed and must outlive the model.
 */
#ifndef MODEL_MODEL_CONFIG_H
#define MODEL_MODEL_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model_types.h"
#include "runtime/base/error.h"

/* Bounds that keep every size below 2^31, as CBLAS counts; nobody comes near them. */
#define MODEL_WIDTH_MAX (1u << 20)
#define MODEL_CLASSES_MAX (1u << 20)

/* Learned rows are parameters, which each trainer has whole, with the state of its optimiser (five
 * copies of them in all): 256 MiB a copy. More nodes need features. */
#define MODEL_EMBEDDED_MAX (UINT64_C(1) << 26)
#define MODEL_BASES_MAX 4096u
#define MODEL_HEADS_MAX 256u

/* The least layers of which one reads rows as wide as it writes. */
#define MODEL_RESIDUAL_LAYERS 3u

/* What is learned: the labels of nodes, or which pairs of nodes are edges. */
enum model_task { MODEL_NODES, MODEL_LINKS };
enum model_kind { MODEL_SAGE, MODEL_GCN, MODEL_RGCN, MODEL_GAT };
enum model_loss { MODEL_SOFTMAX, MODEL_SIGMOID };
enum model_metric {
    MODEL_ACCURACY,
    MODEL_MACRO_F1,
    MODEL_ROC_AUC,
    MODEL_LOSS,
    MODEL_MRR /* of links alone */
};
enum model_norm { MODEL_NORM_NONE, MODEL_NORM_LAYER, MODEL_NORM_BATCH };
enum model_optimiser { MODEL_ADAM, MODEL_SGD };
enum model_schedule { MODEL_CONSTANT, MODEL_STEPS, MODEL_COSINE };

struct model_config {
    enum model_task task;
    enum model_kind kind;
    uint32_t layers; /* 1 .. BATCH_LAYERS_MAX */
    uint32_t inputs; /* features a node */
    uint32_t hidden;
    uint32_t classes;    /* outputs a node: of a model of links, what pairs are scored by */
    float dropout;       /* of hidden layers, in [0, 1) */
    float input_dropout; /* of the features, in [0, 1); the Planetoid recipes drop 0.5 of them */
    bool normalise;      /* divide each feature row by the sum of its magnitudes */
    bool standardise;    /* shift and scale each column of features as the parameters say */
    bool logarithms;     /* of columns that they name, taken before: with standardise alone */
    uint64_t seed;
    bool residual;        /* hidden layers behind the first add their input to their products */
    enum model_norm norm; /* of hidden layers, before their relu */
    bool edge_weights;    /* neighbours count as much as their edges weigh */
    /* Of rgcn and gat; NULL: one node type with inputs features, and one relation. Borrowed. */
    const struct model_types *types;
    uint32_t bases; /* rgcn: matrices that relations share; 0: each has one of its own */
    uint32_t heads; /* gat: of each layer; those of hidden layers lie side by side in hidden */

    enum model_loss loss;
    enum model_metric metric;   /* what the best epoch is chosen by */
    const float *class_weights; /* [classes] or NULL: all 1 */

    enum model_optimiser optimiser;
    float lr;
    float l2;                /* added to the gradient of every parameter, times the parameter */
    float weight_decay;      /* decoupled: shrinks every parameter by lr * weight_decay a step */
    float momentum;          /* SGD */
    float beta1, beta2, eps; /* Adam */

    enum model_schedule schedule;
    uint32_t warmup_epochs; /* the rate rises linearly to lr over them */
    uint32_t step_epochs;   /* MODEL_STEPS: the rate is multiplied by step_gamma after each such */
    float step_gamma;
    float cosine_floor; /* MODEL_COSINE: the fraction of lr reached in the last epoch */
    uint32_t epochs;
};

/* Does it sum over relations, with a part for each node type? */
static inline bool model_kind_has_relations(enum model_kind kind)
{
    return kind == MODEL_RGCN || kind == MODEL_GAT;
}

/* GraphSAGE of 2 layers, hidden 128, dropout 0.5, Adam 0.01, softmax, accuracy; inputs and
 * classes are left 0 for the caller. */
struct model_config model_config_default(void);

/* 0, or TR_ERANGE with a message that names the field, its value and the bound. */
int model_config_check(const struct model_config *config, struct error *error);

/* Names as they stand in config.json and on the command line: "sage", "roc-auc" ... */
const char *model_task_name(enum model_task task);
const char *model_kind_name(enum model_kind kind);
const char *model_loss_name(enum model_loss loss);
const char *model_metric_name(enum model_metric metric);
const char *model_norm_name(enum model_norm norm);
const char *model_optimiser_name(enum model_optimiser optimiser);
const char *model_schedule_name(enum model_schedule schedule);

/* The number behind a name, or -1. */
int model_task_parse(const char *name);
int model_kind_parse(const char *name);
int model_loss_parse(const char *name);
int model_metric_parse(const char *name);
int model_norm_parse(const char *name);
int model_optimiser_parse(const char *name);
int model_schedule_parse(const char *name);

/* The learning rate of an epoch, counted from 0. */
double model_config_rate(const struct model_config *config, uint32_t epoch);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of a model: one flat float32 array and the table of what lies where.
 *
 * Flat, so that trainers reduce one array of gradients and an optimiser is one loop.
 *
 * A layer has a part for each node type whose rows the layers above need: the last one for the type
 * of the seeds alone. A part is a sum of terms, one for each relation into its type.
 *
 * Ownership: the arrays belong to the model; params_layout() allocates the table, params_fini() frees
 * it. The names of types are the configuration's.
 */
#ifndef MODEL_PARAMS_H
#define MODEL_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/batch.h"
#include "model/features.h"
#include "model/model_config.h"

/* What one relation adds: W * (what the edges gather of the source type's rows). */
struct term_params {
    uint32_t etype;
    uint32_t src;   /* node type of the rows */
    uint32_t in;    /* their width */
    uint32_t width; /* of products: of all heads together in gat, else the layer's own */
    size_t weight;  /* [width][in]; of stored bases not there */
    bool one_hot;   /* rows of the type are one-hot: weight is [in][width], a row a node */
    size_t shares;  /* [bases]: W is the sum of the bases of its shape times these; stored alone */
    size_t attention;  /* gat: [2][width], of sources and of destinations */
    bool own_weight;   /* gat: destinations are of another type, and have a matrix of their own */
    size_t dst_weight; /* [width][in of the part] */
};

/* Matrices that the relations of a layer share, whose rows have one width. */
struct base_params {
    uint32_t layer, in, width;
    bool one_hot;
    uint32_t src;  /* of one-hot rows: whose */
    size_t weight; /* [bases][width][in], of one-hot rows [bases][in][width] */
};

/* A learned row for each node of a type, [rows][hidden]. */
struct embedding_params {
    size_t weight, rows; /* 0 rows: the type has features, or nobody needs its rows */
};

/* As parameters are stored and learned; or as layers apply them: each relation's matrix whole, and
 * nothing but the layers'. Without bases both are one. */
enum params_form { PARAMS_STORED, PARAMS_APPLIED };

/* One node type's part of a layer: out = (sum over terms) + W_self * own + bias. GCN has no W_self: a
 * node's own row is part of the aggregate. A residual layer adds the own row as it is (He et al.,
 * CVPR 2016); a normed one normalises and scales the sum before the bias, by rows or (batch_normed) by
 * columns. Offsets count floats in the flat array. */
struct layer_params {
    uint32_t layer;
    uint32_t ntype;
    uint32_t in; /* width of own rows */
    uint32_t out;
    bool has_self;
    bool own_one_hot; /* own rows are: in the place of W_self, own_rows [in][out] */
    bool residual;
    bool normed;
    bool batch_normed;
    size_t self; /* also where the part begins */
    size_t own_rows;
    uint32_t num_terms;
    struct term_params *terms; /* by edge type */
    size_t bias;
    size_t scale; /* where it is normed, either way */
    size_t end;
    size_t running; /* where it is batch_normed, behind all layers: see batch_norm.h */
};

/* What no step changes stands behind what is learned: with model_config.standardise, the mean of
 * each column of features and the factor that its difference from it is multiplied by. */
struct params {
    uint32_t num_layers;
    uint32_t num_parts;
    struct layer_params *layers;          /* [num_parts], by layer, then by node type */
    uint32_t first[BATCH_LAYERS_MAX + 1]; /* the first part of each layer */
    struct term_params *terms;            /* of all parts */
    uint32_t num_terms;
    uint32_t bases; /* of each shape; 0: relations share nothing */
    uint32_t num_groups;
    struct base_params *groups; /* [num_groups] */
    const struct model_config *config;
    struct model_types types; /* the configuration's, or one of each */
    struct model_ntype only_ntype;
    struct model_etype only_etype;
    struct embedding_params *embeddings; /* [node types] */
    size_t trained;   /* of all: those that an optimiser changes, which come first */
    uint32_t columns; /* of features that are standardised; 0: none are */
    size_t means;     /* [columns] */
    size_t factors;   /* [columns] */
    size_t centres;   /* [columns], and */
    size_t units;     /* [columns], where logarithms of columns may be taken */
    size_t count;
};

/* The configuration is borrowed, and read by params_views(). TR_ENOMEM, after which there is nothing
 * to free. */
int params_layout(struct params *params, const struct model_config *config, enum params_form form);
void params_fini(struct params *params);

/* The part of a layer for a node type, or NULL: nobody needs its rows. */
const struct layer_params *params_part(const struct params *params, uint32_t layer, uint32_t ntype);

/* Where the weights have by what features are standardised. For columns above 0. */
struct feature_columns params_feature_columns(const struct params *params, const float *weights);

/* Does every node attend to itself as to a neighbour? So it does in a gat of one relation, from a
 * type to itself; in others it has a matrix for that. */
bool params_attends_to_self(const struct params *params);

/* Does rgcn read one-hot rows of the type in its first layer? It has no features then, and matrices are
 * as wide as the type has nodes. */
bool params_one_hot(const struct params *params, uint32_t layer, uint32_t ntype);

/* The width of a node type's rows below a layer. */
uint32_t params_width(const struct params *params, uint32_t layer, uint32_t ntype);

/* Weights uniform within the square root of 6 / (in + out) (Glorot and Bengio, AISTATS 2010),
 * drawn from (seed, layer, matrix, element), shares of bases such that what they make up is as large;
 * biases, means and running means zero, scales, factors and running variances one. For a stored
 * form. */
void params_draw(const struct params *params, uint64_t seed, float *values);

/* Of a model with bases: applied = the layers' parameters, made of the stored ones; and the gradients
 * of the stored ones, of those of the applied. weights and gradients that no layer has are not
 * touched. */
void params_apply(const struct params *stored, const struct params *applied, const float *weights,
                  float *to);
void params_gather(const struct params *stored, const struct params *applied, const float *weights,
                   const float *applied_grads, float *grads);

/* One named matrix or vector, as PyTorch's state_dict would name it. */
struct param_view {
    /* layers.0.self.weight, layers.0.neigh.weight (gcn: layers.0.weight), ...bias, ...norm.weight,
     * ...norm.running_mean, ...norm.running_var, ...norm.steps; features.mean,
     * features.factor. Of relations: layers.0.relations.SRC:EDGE:DST.weight (.shares, .attention,
     * .dst_weight), layers.0.bases.IN, layers.0.types.TYPE.self.weight and so on, embeddings.TYPE;
     * in names of types a dot is %2e, a percent sign %25. */
    char *name;
    size_t offset;
    uint32_t ndim;
    uint64_t shape[3];
};

/* All of them, which param_views_free() frees; TR_ENOMEM. */
int params_views(const struct params *params, struct param_view **views, size_t *count);
void param_views_free(struct param_view *views, size_t count);

#endif

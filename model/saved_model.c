/* SPDX-License-Identifier: Apache-2.0 */
/* A run's model as anybody may read it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/model.h>

#include "api/sized.h"
#include "model/model_relations.h"
#include "model/run_config.h"
#include "model/run_folder.h"
#include "model/safetensors.h"

_Static_assert(TR_TENSOR_NDIM_MAX == SAFETENSORS_NDIM_MAX, "shapes are copied whole");

struct tr_model {
    struct run_folder folder;
    struct run_config config;
    struct safetensors tensors;
    struct model_relations relations;
};

static int open_files(struct tr_model *model, const char *run, struct error *error)
{
    int rv = run_folder_find(&model->folder, files_posix, run, error);
    if (rv != 0)
        return rv;
    rv = run_config_read(files_posix, model->folder.config_path, &model->config, error);
    if (rv == 0) {
        rv = safetensors_open(&model->tensors, files_posix, model->folder.model_path, error);
        if (rv == 0 && model_kind_has_relations(model->config.model.kind)) {
            rv = model_relations_find(&model->relations, &model->tensors, error);
            if (rv != 0)
                safetensors_close(&model->tensors);
        }
        if (rv == 0)
            return 0;
        run_config_fini(&model->config);
    }
    run_folder_close(&model->folder);
    return rv;
}

int tr_model_open(const char *run, struct tr_model **out, struct tr_error *error)
{
    struct error why = { 0 };
    *out = NULL;
    if (run == NULL)
        return tr_error_set(error, TR_EINVAL, "the folder of a run is NULL");
    struct tr_model *model = calloc(1, sizeof *model);
    if (model == NULL)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory for a model", run);
    int rv = open_files(model, run, &why);
    if (rv != 0) {
        free(model);
        return tr_error_set(error, rv, "%s", why.text);
    }
    *out = model;
    return 0;
}

void tr_model_close(struct tr_model *model)
{
    if (model == NULL)
        return;
    model_relations_fini(&model->relations);
    safetensors_close(&model->tensors);
    run_config_fini(&model->config);
    run_folder_close(&model->folder);
    free(model);
}

int tr_model_info(const struct tr_model *model, struct tr_model_info *info, struct tr_error *error)
{
    const struct model_config *config = &model->config.model;
    const struct tr_model_info known = { .size = sizeof known,
                                         .kind = model_kind_name(config->kind),
                                         .layers = config->layers,
                                         .inputs = config->inputs,
                                         .hidden = config->hidden,
                                         .classes = config->classes,
                                         .loss = model_loss_name(config->loss),
                                         .metric = model_metric_name(config->metric),
                                         .normalise = config->normalise,
                                         .features = model->config.features,
                                         .labels = model->config.labels,
                                         .num_tensors = model->tensors.count,
                                         .norm = model_norm_name(config->norm),
                                         .residual = config->residual,
                                         .standardise = config->standardise,
                                         .logarithms = config->logarithms,
                                         .edge_weight = model->config.edge_weight,
                                         .label_type = model->config.label_type,
                                         .etype_fanout = model->config.etype_fanout,
                                         .edge_type = model->config.edge_type,
                                         .reverse_edge_type = model->config.reverse_edge_type,
                                         .num_relations = model->relations.count,
                                         .bases = config->bases,
                                         .heads = config->kind == MODEL_GAT ? config->heads : 0,
                                         .task = model_task_name(config->task) };
    return sized_write(info, &known, sizeof known, "tr_model_info", error);
}

int tr_model_tensor(const struct tr_model *model, size_t index, struct tr_tensor *tensor,
                    struct tr_error *error)
{
    if (index >= model->tensors.count)
        return tr_error_set(error, TR_ERANGE, "there is no tensor %zu: the model has %zu", index,
                            model->tensors.count);
    const struct safetensor *found = &model->tensors.tensors[index];
    struct tr_tensor shown = { .size = sizeof shown,
                               .name = found->name,
                               .dtype = found->dtype,
                               .ndim = found->ndim,
                               .data = found->data,
                               .bytes = found->bytes };
    memcpy(shown.shape, found->shape, found->ndim * sizeof *shown.shape);
    return sized_write(tensor, &shown, sizeof shown, "tr_tensor", error);
}

int tr_model_relation(const struct tr_model *model, uint64_t index, const char **name,
                      uint64_t *parameters, struct tr_error *error)
{
    if (index >= model->relations.count)
        return tr_error_set(error, TR_ERANGE, "there is no relation %" PRIu64 ": the model has %zu",
                            index, model->relations.count);
    const struct model_relation *relation = &model->relations.list[index];
    if (name != NULL)
        *name = relation->name;
    if (parameters != NULL)
        *parameters = relation->parameters;
    return 0;
}

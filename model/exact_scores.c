/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores of the outputs of exact inference: the logits and labels of the chosen nodes are copied
 * side by side into memory that the struct exact keeps, and then scored as those of a batch are.
 */
#include <inttypes.h>
#include <string.h>

#include "model/exact_memory.h"
#include "model/labels.h"

/* Copies the logits and labels of the chosen nodes side by side. */
static int pick_rows(struct exact *exact, const struct tensor *logits, const char *name,
                     const uint64_t *ids, size_t count, struct batch_rows *labels,
                     struct error *error)
{
    const struct exact_graph *graph = &exact->graph;
    uint32_t target = model_params(exact->model)->types.targets[0];
    const struct node_map *map = &exact->maps[target];
    for (size_t i = 0; i < count; i++) {
        if (ids[i] >= map->num_nodes)
            return error_set(error, TR_ERANGE, "evaluation: node %" PRIu64 " of %u", ids[i],
                             map->num_nodes);
        struct node_place place = map->places[ids[i]];
        const struct feature_table *table = node_part_feature(
            &graph->parts[place.part]->nodes[target], name);
        if (table == NULL || table->num_rows <= place.row)
            return error_set(error, TR_ENOENT, "evaluation: partition %u has no label '%s'",
                             graph->parts[place.part]->part_id, name);
        if (table->form != TABLE_DENSE)
            return error_set(
                error, TR_EUNSUPPORTED,
                "evaluation: label '%s' is a sparse table; exact inference reads dense "
                "labels alone: evaluate by sampled batches, or partition it dense",
                name);
        if (labels->rows == NULL) {
            int rc = storage_reserve(&exact->labels, count, table->row_bytes);
            if (rc != 0)
                return error_set(error, rc, "evaluation: no memory for %zu labels", count);
            *labels = (struct batch_rows){ table->dtype, (uint32_t)count, table->width,
                                           table->row_bytes, exact->labels.data };
        }
        if (table->dtype != labels->dtype || table->row_bytes != labels->row_bytes)
            return error_set(error, TR_EMISMATCH,
                             "evaluation: label '%s' differs in type between "
                             "partitions",
                             name);
        memcpy((char *)labels->rows + i * table->row_bytes,
               (const char *)table->rows + (size_t)place.row * table->row_bytes, table->row_bytes);
        memcpy(tensor_row(&exact->picked, i), tensor_row(logits, ids[i]),
               logits->cols * sizeof(float));
    }
    return 0;
}

static int score_rows(struct model *model, const struct tensor *picked,
                      const struct batch_rows *labels, struct scores *scores, struct error *error)
{
    const struct model_config *config = model_configuration(model);
    struct loss_sum loss;
    struct metrics metrics;
    int rc = metrics_init(&metrics, config);
    if (rc != 0)
        return error_set(error, rc, "evaluation: out of memory");
    rc = loss_compute(config, model_parallel(model), picked->data, picked->rows, labels, 1, NULL,
                      &loss);
    if (rc == 0)
        rc = metrics_add(&metrics, picked->data, picked->rows, labels, &loss);
    if (rc == 0)
        metrics_result(&metrics, scores);
    metrics_fini(&metrics);
    return rc == 0 ? 0 : error_set(error, rc, "evaluation: out of memory");
}

/* Copies the logits of the chosen nodes and their labels, which fit the model. */
static int pick_checked(struct exact *exact, const struct tensor *logits, const char *name,
                        const uint64_t *ids, size_t count, struct batch_rows *labels,
                        struct error *error)
{
    if (count > UINT32_MAX)
        return error_set(error, TR_ETOOBIG, "evaluation: %zu nodes", count);
    int rc = tensor_resize(&exact->picked, count, logits->cols);
    if (rc != 0)
        return error_set(error, rc, "evaluation: no memory for %zu nodes", count);
    rc = pick_rows(exact, logits, name, ids, count, labels, error);
    return rc == 0 ? labels_check(labels, count, model_configuration(exact->model), error) : rc;
}

int exact_confusion(struct exact *exact, const struct tensor *logits, const char *labels_name,
                    const uint64_t *original_ids, size_t count, uint64_t *counts,
                    struct error *error)
{
    struct batch_rows labels = { 0 };
    size_t classes = logits->cols;
    int rc = pick_checked(exact, logits, labels_name, original_ids, count, &labels, error);
    if (rc != 0)
        return rc;
    memset(counts, 0, classes * classes * sizeof *counts);
    for (size_t i = 0; i < count; i++) {
        int64_t truth = labels_class(&labels, i);
        if (truth != LABEL_NONE)
            counts[(size_t)truth * classes +
                   scores_largest(tensor_row(&exact->picked, i), classes)]++;
    }
    return 0;
}

int exact_scores(struct exact *exact, const struct tensor *logits, const char *labels_name,
                 const uint64_t *original_ids, size_t count, struct scores *scores,
                 struct error *error)
{
    struct batch_rows labels = { 0 };
    int rc = pick_checked(exact, logits, labels_name, original_ids, count, &labels, error);
    if (rc != 0)
        return rc;
    return score_rows(exact->model, &exact->picked, &labels, scores, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/labels.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "model/features.h"

static double element(const struct batch_rows *labels, size_t row, size_t column)
{
    const char *at = (const char *)labels->rows + row * labels->row_bytes +
                     column * tr_dtype_size(labels->dtype);
    if (labels->dtype == TR_F64) {
        double value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    if (labels->dtype == TR_I64 || labels->dtype == TR_I32) {
        int64_t value = 0;
        int32_t narrow;
        if (labels->dtype == TR_I64) {
            memcpy(&value, at, sizeof value);
        } else {
            memcpy(&narrow, at, sizeof narrow);
            value = narrow;
        }
        return (double)value;
    }
    float value;
    features_convert(labels->dtype, at, 1, &value);
    return (double)value;
}

int64_t labels_class(const struct batch_rows *labels, size_t row)
{
    double value = element(labels, row, 0);
    return value >= 0 ? (int64_t)value : LABEL_NONE;
}

float labels_target(const struct batch_rows *labels, size_t row, size_t output)
{
    double value = element(labels, row, output);
    return value >= 0 ? (float)value : -1.0f;
}

static int check_class(const struct batch_rows *labels, size_t row, uint32_t classes,
                       struct error *error)
{
    double value = element(labels, row, 0);
    if (!(value >= 0) || (value < classes && value == floor(value)))
        return 0;
    return error_set(error, TR_ERANGE,
                     "labels: row %zu is %g, but there are %u classes; give whole numbers below "
                     "%u, or -1 for unlabelled",
                     row, value, classes, classes);
}

static int check_targets(const struct batch_rows *labels, size_t row, struct error *error)
{
    for (size_t i = 0; i < labels->width; i++) {
        double value = element(labels, row, i);
        if (value > 1)
            return error_set(error, TR_ERANGE,
                             "labels: row %zu column %zu is %g; sigmoid takes targets from 0 to 1, "
                             "or -1 for unlabelled",
                             row, i, value);
    }
    return 0;
}

int labels_check(const struct batch_rows *labels, size_t rows, const struct model_config *config,
                 struct error *error)
{
    uint64_t width = config->loss == MODEL_SOFTMAX ? 1 : config->classes;
    if (rows > 0 && (labels->rows == NULL || labels->num_rows < rows))
        return error_set(error, TR_EMISMATCH,
                         "labels: %u rows for %zu nodes; fetch labels with "
                         "the batch",
                         labels->rows == NULL ? 0 : labels->num_rows, rows);
    if (rows > 0 && labels->width != width)
        return error_set(error, TR_EMISMATCH,
                         "labels: rows have %" PRIu64 " columns; %s loss takes %" PRIu64,
                         labels->width, model_loss_name(config->loss), width);
    for (size_t row = 0; row < rows; row++) {
        int rc = config->loss == MODEL_SOFTMAX ? check_class(labels, row, config->classes, error)
                                               : check_targets(labels, row, error);
        if (rc != 0)
            return rc;
    }
    return 0;
}

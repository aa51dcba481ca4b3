/* SPDX-License-Identifier: Apache-2.0 */
#include "api/features_report.h"

#include "api/public_error.h"
#include "api/sized.h"

_Static_assert((int)TR_FEATURE_BASE_1 == (int)SVMLIGHT_BASE_1 &&
                   (int)TR_ROWS_SPARSE == (int)RAW_ROWS_SPARSE &&
                   (int)TR_FILE_LABELS_MANY == (int)NODE_LABELS_MANY,
               "callers and readers have the same bases, forms and reasons");

int features_options_check(const char *node_features, uint32_t feature_base, uint32_t rows,
                           struct tr_error *error)
{
    if (feature_base > TR_FEATURE_BASE_1)
        return tr_error_set(error, TR_EINVAL,
                            "\"feature_base\": %u is not a value of enum tr_feature_base",
                            feature_base);
    if (rows > TR_ROWS_SPARSE)
        return tr_error_set(error, TR_EINVAL, "\"rows\": %u is not a value of enum tr_import_rows",
                            rows);
    if (node_features == NULL && feature_base != TR_FEATURE_BASE_FIND)
        return tr_error_set(error, TR_EINVAL,
                            "\"feature_base\" is for a file of features: give "
                            "\"node_features\" too");
    if (node_features == NULL && rows != TR_ROWS_SMALLER)
        return tr_error_set(error, TR_EINVAL,
                            "\"rows\" is for a file of features: give \"node_features\" too");
    return 0;
}

int features_report_write(const struct node_features_found *found,
                          struct tr_import_features_report *report, struct tr_error *error)
{
    if (!found->is_read)
        return tr_error_set(error, TR_EINVAL, "the task read no file of features");
    struct tr_import_features_report known = TR_IMPORT_FEATURES_REPORT_INIT;
    known.rows = found->rows;
    known.columns = found->columns;
    known.items = found->written.items;
    known.sparse_bytes = found->written.sparse_bytes;
    known.dense_bytes = found->written.dense_bytes;
    known.num_classes = found->num_classes;
    known.qid_rows = found->qid_rows;
    known.labels = (uint32_t)found->labels;
    known.base = found->base;
    known.is_text = found->is_text;
    known.kept_sparse = found->written.kept_sparse;
    return sized_write(report, &known, sizeof known, "tr_import_features_report", error);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the report of an import says about features of nodes that a file of their own brought.
 */
#include <troupe/import.h>

#include "cli/cmd_import.h"

_Static_assert(TR_FEATURE_BASE_1 == 2 && TR_ROWS_SPARSE == 2,
               "IMPORT_FEATURE_BASES and IMPORT_ROWS name them in their order");

static const char *const LABELS[] = {
    [TR_FILE_LABELS_NONE] = "none: the file has none",
    [TR_FILE_LABELS_WRITTEN] = "those of the file of features",
    [TR_FILE_LABELS_OTHER] = "not those of the file of features: the graph has others",
    [TR_FILE_LABELS_ONE] = "none: the file has the same for all",
    [TR_FILE_LABELS_FRACTION] = "none: the file's have fractions, and numbers are not learned",
    [TR_FILE_LABELS_MANY] = "none: the file has more than 65536 different ones",
};

void import_report_features(struct report *report, const struct tr_import_features_report *found)
{
    report_text(report, "features_format", "features from",
                found->is_text ? "a text in SVMlight's format" : "an archive of SciPy");
    report_count(report, "feature_columns", "columns of features", found->columns);
    if (found->is_text)
        report_count(report, "feature_base", "indices of columns count from", found->base);
    report_count(report, "feature_items",
                 found->kept_sparse ? "features kept sparse, numbers"
                                    : "sparse numbers, stored with their zeroes",
                 found->items);
    report_bytes(report, "sparse_bytes", "features sparse", found->sparse_bytes);
    report_bytes(report, "dense_bytes", "features dense", found->dense_bytes);
    if (found->qid_rows > 0)
        report_count(report, "qid_rows", "rows whose qid was not read", found->qid_rows);
    report_text(report, "labels", "labels", LABELS[found->labels]);
    if (found->num_classes > 0)
        report_count(report, "file_classes", "classes of the file", found->num_classes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What imports of edges and of tables share about features in a file of their own: checks of the
 * options, and the report. Thread rules: pure.
 */
#ifndef API_FEATURES_REPORT_H
#define API_FEATURES_REPORT_H

#include <troupe/import.h>

#include "partition/raw/node_features.h"

/* TR_EINVAL where the base or the form of rows is none, or there is no file that they are of. */
int features_options_check(const char *node_features, uint32_t feature_base, uint32_t rows,
                           struct tr_error *error);
/* TR_EINVAL: no such file was read. */
int features_report_write(const struct node_features_found *found,
                          struct tr_import_features_report *report, struct tr_error *error);

#endif

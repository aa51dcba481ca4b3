/* SPDX-License-Identifier: Apache-2.0 */
/* The names in an archive: of nodes, of classes and of the columns of features. One thread at a
 * time. */
#ifndef PARTITION_IMPORT_NPZ_NAMES_H
#define PARTITION_IMPORT_NPZ_NAMES_H

#include "partition/import/npz_job.h"

/* Writes those that there are as texts of NumPy. Names that are Python objects stay unread, as do
 * those of what the archive has not. feature_width: 0 where there are no features. */
int npz_names_write(struct npz_job *job, uint64_t feature_width, bool has_labels);

#endif

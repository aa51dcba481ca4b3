/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The masks of an archive, of one split or of several, as "train_mask", "val_mask" and "test_mask".
 *
 * Thread rules: one thread at a time.
 */
#ifndef PARTITION_IMPORT_NPZ_MASKS_H
#define PARTITION_IMPORT_NPZ_MASKS_H

#include "partition/import/npz_job.h"

/* Fills facts->num_splits. */
int npz_masks_write(struct npz_job *job);

#endif

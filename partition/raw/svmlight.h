/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse rows as text, in the format of SVMlight and LIBSVM: a line a row, its label and then
 * INDEX:VALUE for each element that is not 0. What stands behind '#' is a comment; a pair
 * "qid:NUMBER" belongs to ranking and is passed over.
 *
 * Indices count from 1, unless one of them is 0 or the caller says from where. Text may be packed,
 * as text.h has it. Ownership: svmlight_fini frees all. Thread rules: one thread at a time.
 */
#ifndef PARTITION_RAW_SVMLIGHT_H
#define PARTITION_RAW_SVMLIGHT_H

#include "partition/raw/feature_rows.h"

/* From where the indices of columns count. */
enum svmlight_base {
    SVMLIGHT_BASE_FIND, /* from 0 where one of them is 0, else from 1 */
    SVMLIGHT_BASE_0,
    SVMLIGHT_BASE_1,
};

struct svmlight {
    struct feature_rows rows; /* columns from 0 */
    double *labels;           /* [rows.num_rows] */
    uint64_t labels_room;
    uint64_t first_line, fraction_line; /* of a row; of a label with a fraction, 0: none */
    uint64_t qid_rows;                  /* rows with a qid */
    uint32_t base;                      /* 0 or 1 */
};

/* TR_EFORMAT and others name the file and the line. After a failure there is nothing to free. */
int svmlight_read(struct svmlight *read, struct files *files, const char *path,
                  enum svmlight_base base, const struct cancel *cancel, struct error *error);
void svmlight_fini(struct svmlight *read);

#endif

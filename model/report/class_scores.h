/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scores of each class, as `troupe infer --by-class --json` wrote them.
 *
 * Ownership: class_scores_read fills it, class_scores_free frees it. Thread rules: one thread at a
 * time.
 */
#ifndef MODEL_REPORT_CLASS_SCORES_H
#define MODEL_REPORT_CLASS_SCORES_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

/* 4096 classes, each taken for every other, have some 200 MiB; a report shows far fewer. */
#define CLASS_FILE_BYTES_MAX ((size_t)256 << 20)

struct class_cell {
    uint64_t class; /* that so many nodes were taken for */
    uint64_t nodes;
};

struct class_row {
    uint64_t class, labelled, predicted;
    char *name; /* NULL: it has none */
    double precision, recall, f1;
    struct class_cell *cells;
    size_t num_cells;
};

struct class_scores {
    char *run;       /* as the command named it */
    char *inference; /* "exact" or "sampled" */
    struct class_row *rows;
    size_t num_rows;
};

/* TR_ENOENT, TR_EIO; TR_EFORMAT names the file and what it lacks. Empty after a failure. */
int class_scores_read(struct class_scores *scores, const char *path, struct tr_error *error);
void class_scores_free(struct class_scores *scores);

#endif

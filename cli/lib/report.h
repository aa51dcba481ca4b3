/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a command: lines for display, or one JSON object a report.
 *
 * A command names each figure once, with the key that scripts read and the label that people
 * read. Fields between report_row() and report_rows_end() make a table (an array of objects).
 *
 * Ownership: report_print frees all; report_fini too, without printing. A failed allocation is
 * kept and returned by report_print. Thread rules: one thread at a time.
 */
#ifndef CLI_LIB_REPORT_H
#define CLI_LIB_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include <troupe/error.h>

struct report_field {
    char *label;
    char *text;
    uint32_t row; /* 0: not in a table; rows count from 1 through all tables */
    bool number;  /* right-aligned in tables */
};

struct report {
    bool json;
    bool failed;
    json_t *object;
    json_t *row; /* borrowed from object; NULL outside a table */
    uint32_t rows;
    uint32_t num_fields;
    uint32_t max_fields;
    struct report_field *fields;
};

void report_init(struct report *report, bool json);
void report_fini(struct report *report);

void report_text(struct report *report, const char *key, const char *label, const char *text);
/* A figure that was not counted: "-", and null in JSON. */
void report_absent(struct report *report, const char *key, const char *label);
void report_flag(struct report *report, const char *key, const char *label, bool flag);
void report_count(struct report *report, const char *key, const char *label, uint64_t count);
void report_bytes(struct report *report, const char *key, const char *label, uint64_t bytes);
void report_seconds(struct report *report, const char *key, const char *label, double seconds);
void report_real(struct report *report, const char *key, const char *label, double number);
/* "[2,100]", an array in JSON. */
void report_counts(struct report *report, const char *key, const char *label,
                   const uint64_t *counts, uint32_t num_counts);
/* The counts that are not 0, each with its number: "0: 41, 2: 3", and [[0,41],[2,3]] in JSON. */
void report_cells(struct report *report, const char *key, const char *label, const uint64_t *counts,
                  uint32_t num_counts);
/* A share of 1, shown in per cent. */
void report_share(struct report *report, const char *key, const char *label, double share);

/* Begins a row of the table `key`; the fields that follow belong to it. */
void report_row(struct report *report, const char *key);
void report_rows_end(struct report *report);

/* Writes to stdout and frees. TR_EIO, TR_ENOSPC: stdout did not take it. */
int report_print(struct report *report, struct tr_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of numbers as text, one row a line: blanks or one delimiter between columns, every line
 * with as many as the first. A first line that begins with a letter is a header. Whole numbers
 * throughout give int64, else float32; one column gives a scalar a row. Thread rules: pure.
 */
#ifndef PARTITION_RAW_CSV_H
#define PARTITION_RAW_CSV_H

#include "partition/store/npy.h"
#include "runtime/base/cancel.h"

/* rows: malloc'ed, the caller's. header: type and shape, as a .npy file would say it. *header_line:
 * of the line that was skipped as a header; 0: none was. */
int csv_parse(const char *path, struct files *files, const struct cancel *cancel, char delimiter,
              struct npy_header *header, void **rows, uint64_t *header_line, struct error *error);

#endif

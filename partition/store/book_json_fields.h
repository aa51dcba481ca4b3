/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of NAME.json, as they are read. Private to book_json_*.c.
 *
 * Each function fails with a message that names the field, and leaves what it took to
 * book_file_fini(). Thread rules: one thread.
 */
#ifndef PARTITION_STORE_BOOK_JSON_FIELDS_H
#define PARTITION_STORE_BOOK_JSON_FIELDS_H

#include "partition/store/book_json.h"
#include "runtime/base/json_field.h"

/* A number of at most max: TR_ETOOBIG. */
int book_json_u32(const struct json_field *object, const char *key, uint64_t max, uint32_t *value,
                  struct error *error);
/* A copy. */
int book_json_string(const struct json_field *object, const char *key, char **text,
                     struct error *error);

/* What DGL writes too: types, partitions and their ranges of IDs. */
int book_json_book(const struct json_field *root, struct book *book, struct error *error);

/* "node_data" or "edge_data": {TYPE: {NAME: {dtype, shape, format}}}; the edge types whose columns
 * are local IDs. */
int book_json_tables(const struct json_field *own, bool on_edges, struct book_file *file,
                     struct error *error);
int book_json_columns(const struct json_field *own, struct book_file *file, struct error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file is by its first bytes: text as far as they say, text that was packed by a program
 * that the reader can undo, or something else that has a name.
 *
 * It exists so that no binary file is parsed as text: many a parser finds numbers in one.
 * Thread rules: pure.
 */
#ifndef PARTITION_RAW_FILE_KIND_H
#define PARTITION_RAW_FILE_KIND_H

#include <stddef.h>
#include <stdint.h>

/* Enough for the magic of every kind; that of tar is at byte 257. */
#define FILE_KIND_BYTES 512

enum packing {
    PACKING_NONE,
    PACKING_GZIP,
    PACKING_STREAM, /* another compressed stream */
    PACKING_ZIP,    /* an archive of files */
};

struct file_kind {
    const char *name;     /* "gzip", or with an article where it is no packing: "a Parquet file" */
    enum packing packing; /* NONE: it is not read as text */
    const char *remedy;   /* of one that is not read */
};

/* NULL: nothing but text is known to begin so. Fewer than FILE_KIND_BYTES are a whole file. */
const struct file_kind *file_kind_of(const uint8_t *head, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unpacked bytes of a file, as a stream.
 *
 * gzip is unpacked by zlib, which compares the checksum at a member's end; libarchive, which
 * unpacks everything else, skips that of gzip, and a damaged file would give other edges. The
 * other streams and .zip carry checksums that libarchive compares.
 *
 * Ownership: unpack_close frees it; the file is borrowed, and not used by others until then.
 * Thread rules: one thread at a time.
 */
#ifndef PARTITION_RAW_UNPACK_H
#define PARTITION_RAW_UNPACK_H

#include "partition/raw/file_kind.h"
#include "runtime/base/files.h"

struct unpack {
    /* Fills data: *got < size only at the end. After a failure it is not called again. */
    int (*read)(struct unpack *self, void *data, size_t size, size_t *got, struct error *error);
    void (*close)(struct unpack *self);
};

/* member: the file of a zip archive to read; NULL: the only one that there is. path names the
 * input in messages and is borrowed. TR_EFORMAT, TR_ENOENT, TR_EINVAL, TR_ENOMEM. */
int unpack_open(struct file *file, const struct file_kind *kind, const char *path,
                const char *member, struct unpack **out, struct error *error);
/* Calls visit with the name of each file of a zip archive; a visit that returns non-zero ends with
 * that result. */
int unpack_list(struct file *file, const char *path, int (*visit)(void *arg, const char *name),
                void *arg, struct error *error);
/* NULL is ignored. */
void unpack_close(struct unpack *unpack);

/* The two that unpack_open chooses from. */
int unpack_open_gzip(struct file *file, const char *path, struct unpack **out, struct error *error);
int unpack_open_archive(struct file *file, const struct file_kind *kind, const char *path,
                        const char *member, struct unpack **out, struct error *error);

#endif

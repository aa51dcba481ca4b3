/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that appear whole or not at all, as this library writes its own.
 *
 * Thread rules: any thread.
 */
#ifndef TROUPE_FILE_H
#define TROUPE_FILE_H

#include <stddef.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a file of so many bytes: aside first, synced, then renamed to the path, so that the path
 * never stands for a part of it, whatever happens meanwhile. A file that is there is replaced. TR_EIO,
 * TR_ENOENT (its folder), TR_ENOSPC ...: what was at the path is as it was. */
TR_API int tr_file_write(const char *path, const void *data, size_t size, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a file that a command reads by its name in a folder: whatever stands there, a pipe or a
 * device, the command does not wait for it.
 */
#ifndef MODEL_REGULAR_FILE_H
#define MODEL_REGULAR_FILE_H

#include <stdio.h>

#include <troupe/error.h>

/* *file: to be read; fclose it. TR_ENOENT; TR_EINVAL: not a regular file; TR_EIO. */
int regular_file_open(const char *path, FILE **file, struct tr_error *error);

#endif

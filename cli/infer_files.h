/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that `troupe infer` writes, checked before anything is computed.
 *
 * Thread rules: one thread at a time.
 */
#ifndef CLI_INFER_FILES_H
#define CLI_INFER_FILES_H

#include <troupe/error.h>

/* Paths as they were given; NULL: not wanted. */
struct infer_files {
    const char *out, *embeddings;
};

/* TR_EINVAL: a name ends as another format's does, or both name one file. */
int infer_files_check_names(const struct infer_files *files, struct tr_error *error);

/* Looks at where they are to be, and at what lies there: of a run of links between nodes of two
 * types, which its folder says, at the file of each type. TR_ENOENT: the folder; TR_EINVAL,
 * TR_EEXIST: something else would be replaced; TR_EUNSUPPORTED: the model has no outputs of that
 * format. */
int infer_files_check(const struct infer_files *files, const char *run, struct tr_error *error);

#endif

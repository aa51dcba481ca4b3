/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of checkpoints, before a run begins and after it is replaced. */
#include <stdlib.h>
#include <string.h>

#include <troupe/checkpoint.h>

#include "actors/job/checkpoint.h"
#include "api/public_error.h"

int tr_checkpoints_folder(const char *folder, const char *host, char *path, size_t bytes,
                          struct tr_error *error)
{
    char *found = checkpoint_folder(folder, host);
    if (found == NULL)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory", folder);
    size_t length = strlen(found);
    if (length < bytes)
        memcpy(path, found, length + 1);
    free(found);
    return length < bytes ? 0
                          : tr_error_set(error, TR_ETOOBIG,
                                         "%s: the folder's path has %zu bytes, at most %zu fit",
                                         folder, length + 1, bytes);
}

bool tr_checkpoints_exist(const char *folder)
{
    return checkpoint_is_any(files_posix, folder);
}

int tr_checkpoints_remove(const char *folder, uint32_t keep, struct tr_error *error)
{
    struct error inner = { 0 };
    int rv = checkpoint_prune(files_posix, folder, keep, &inner);
    return rv == 0 ? 0 : error_give(&inner, error);
}

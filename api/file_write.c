/* SPDX-License-Identifier: Apache-2.0 */
/* Files of programs, written as those of the library are. */
#include <troupe/file.h>

#include "api/public_error.h"
#include "runtime/base/atomic_dir.h"
#include "runtime/base/files.h"

int tr_file_write(const char *path, const void *data, size_t size, struct tr_error *error)
{
    struct error why = { 0 };
    if (path == NULL || (data == NULL && size > 0))
        return tr_error_set(error, TR_EINVAL, "a file's path, or its bytes, are NULL");
    int rv = files_check_output(files_posix, path, &why);
    if (rv == 0)
        rv = files_write_atomic(files_posix, path, size > 0 ? data : "", size, &why);
    return rv == 0 ? 0 : error_give(&why, error);
}

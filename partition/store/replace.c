/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/store/replace.h"

#include <stdlib.h>

#include <troupe/error.h>

static int count_name(void *arg, const char *name)
{
    (void)name;
    ++*(unsigned *)arg;
    return 0;
}

int replace_check(struct files *files, const char *path, const char *mark, const char *kind,
                  struct error *error)
{
    if (!files_exists(files, path))
        return 0;
    if (!files_is_folder(files, path))
        return error_set(error, TR_EEXIST,
                         "%s: is not a folder, so it is not replaced; remove it "
                         "or choose another path",
                         path);
    char *inside = files_join(path, mark);
    if (inside == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to look into it", path);
    bool marked = files_exists(files, inside);
    free(inside);
    if (marked)
        return 0;
    unsigned names = 0;
    int rv = files->list(files, path, count_name, &names);
    if (rv != 0)
        return error_set_errno(error, -rv, "%s: cannot list it", path);
    if (names == 0)
        return 0;
    return error_set(error, TR_EEXIST,
                     "%s: is not %s (it holds no %s) nor empty, so it is not "
                     "replaced; remove it or choose another path",
                     path, kind, mark);
}

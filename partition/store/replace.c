/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/store/replace.h"

#include <stdlib.h>
#include <string.h>

#include <troupe/error.h>

static int count_name(void *arg, const char *name)
{
    (void)name;
    ++*(unsigned *)arg;
    return 0;
}

/* Whether the path itself is a link, however many '/' stand behind it. */
static bool is_link(struct files *files, const char *path)
{
    struct file_facts facts;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *name = strndup(path, length);
    /* Where there is no memory, the folder is not made anyway. */
    bool is = name != NULL && files->stat(files, name, &facts) == 0 && !facts.is_folder &&
              files_is_folder(files, name);
    free(name);
    return is;
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
    if (is_link(files, path))
        return error_set(error, TR_EEXIST,
                         "%s: is a link, whose place a folder would take, so it is not replaced; "
                         "name the folder that it leads to, or choose another path",
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

/* Folders above an input that are looked at; one that is deeper is not found to lie in the folder. */
#define FOLDERS_ABOVE_MAX 64

/* Whether the folder, or one above it, is the one at `top`. Both end with "/.", so that links are
 * followed; `folder` has room for "/.." so many times. */
static bool lies_in(struct files *files, char *folder, const char *top)
{
    for (unsigned i = 0; i < FOLDERS_ABOVE_MAX; i++) {
        if (files_are_same(files, folder, top))
            return true;
        if (files_are_same(files, folder, "/"))
            return false;
        strcat(folder, "/..");
    }
    return false;
}

int replace_check_input(struct files *files, const char *path, const char *input,
                        struct error *error)
{
    if (input == NULL || !files_is_folder(files, path))
        return 0;
    char *parent = files_parent(input), *top = files_join(path, ".");
    char *folder = parent != NULL ? malloc(strlen(parent) + sizeof "/." + FOLDERS_ABOVE_MAX * 3)
                                  : NULL;
    int rv = 0;
    if (top == NULL || folder == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory to look where it lies", input);
    else if (lies_in(files, strcat(strcpy(folder, parent), "/."), top))
        rv = error_set(error, TR_EINVAL,
                       "%s: lies in %s, and would be removed when that is replaced; move it, or "
                       "make the new folder elsewhere",
                       input, path);
    free(folder);
    free(top);
    free(parent);
    return rv;
}

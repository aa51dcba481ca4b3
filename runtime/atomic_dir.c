#include "runtime/atomic_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names that a killed process of the same number may have left behind: nobody leaves more. */
#define TRIES_MAX 1000

/* ".NAME.KIND-PID-N" beside path, or NULL. */
static char *name_aside(const char *path, const char *kind, int number)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t base = length;
    while (base > 0 && path[base - 1] != '/')
        base--;
    size_t size = length + sizeof ".." ".old--" + 2 * 20;
    char *aside = malloc(size);
    if (aside != NULL)
        snprintf(aside, size, "%.*s.%.*s.%s-%ld-%d", (int)base, path, (int)(length - base),
                 path + base, kind, (long)getpid(), number);
    return aside;
}

static int make_aside(struct atomic_dir *dir, struct error *error)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        dir->path = name_aside(dir->final_path, "tmp", i);
        if (dir->path == NULL)
            return error_set(error, TR_ENOMEM, "%s: no memory to make it", dir->final_path);
        int rv = dir->files->mkdir(dir->files, dir->path, 0777);
        if (rv == 0)
            return 0;
        if (rv != -EEXIST) {
            error_set_errno(error, -rv, "%s: cannot make the folder", dir->path);
            free(dir->path);
            dir->path = NULL;
            return error_from_errno(-rv);
        }
        free(dir->path);
        dir->path = NULL;
    }
    return error_set(error, TR_EEXIST, "%s: %d folders .*.tmp-* are beside it; remove them",
                     dir->final_path, TRIES_MAX);
}

static int check_free(const struct atomic_dir *dir, struct error *error)
{
    if (dir->replace || !files_exists(dir->files, dir->final_path))
        return 0;
    return error_set(error, TR_EEXIST, "%s: is already there; remove it or choose another path",
                     dir->final_path);
}

int atomic_dir_begin(struct atomic_dir *dir, struct files *files, const char *final_path,
                     bool replace, struct error *error)
{
    *dir = (struct atomic_dir){.files = files, .replace = replace};
    dir->final_path = strdup(final_path);
    char *parent = files_parent(final_path);
    int rv;
    if (dir->final_path == NULL || parent == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory to make it", final_path);
    else
        rv = check_free(dir, error);
    if (rv == 0)
        rv = files_make_folders(files, parent, error);
    if (rv == 0)
        rv = make_aside(dir, error);
    free(parent);
    if (rv != 0)
        atomic_dir_abort(dir);
    return rv;
}

/* Renames the folder aside into its place, an older one out of the way before. */
static int swap(struct atomic_dir *dir, struct error *error)
{
    if (!files_exists(dir->files, dir->final_path))
        return files_rename(dir->files, dir->path, dir->final_path, error);
    char *old = name_aside(dir->final_path, "old", 0);
    if (old == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to replace it", dir->final_path);
    int rv = files_remove_tree(dir->files, old, error);
    if (rv == 0)
        rv = files_rename(dir->files, dir->final_path, old, error);
    if (rv == 0) {
        rv = files_rename(dir->files, dir->path, dir->final_path, error);
        if (rv == 0)
            files_remove_tree(dir->files, old, NULL);
        else
            dir->files->rename(dir->files, old, dir->final_path);
    }
    free(old);
    return rv;
}

int atomic_dir_commit(struct atomic_dir *dir, struct error *error)
{
    char *parent = files_parent(dir->final_path);
    int rv = parent == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory to commit it", dir->final_path)
                 : check_free(dir, error);
    if (rv == 0)
        rv = files_sync_tree(dir->files, dir->path, error);
    if (rv == 0)
        rv = swap(dir, error);
    if (rv == 0) {
        free(dir->path);
        dir->path = NULL;
        rv = files_sync_folder(dir->files, parent, error);
    }
    free(parent);
    atomic_dir_abort(dir);
    return rv;
}

void atomic_dir_abort(struct atomic_dir *dir)
{
    if (dir->path != NULL)
        files_remove_tree(dir->files, dir->path, NULL);
    free(dir->path);
    free(dir->final_path);
    dir->path = NULL;
    dir->final_path = NULL;
}

int files_write_atomic(struct files *files, const char *path, const void *data, size_t size,
                       struct error *error)
{
    struct file file = {0};
    char *aside = name_aside(path, "tmp", 0);
    char *parent = files_parent(path);
    int rv;
    if (aside == NULL || parent == NULL) {
        rv = error_set(error, TR_ENOMEM, "%s: no memory to write it", path);
        goto out;
    }
    rv = files_remove_tree(files, aside, error);
    if (rv != 0)
        goto out;
    rv = file_create(&file, files, aside, error);
    if (rv != 0)
        goto out;
    rv = file_append(&file, data, size, error);
    if (rv == 0)
        rv = file_sync(&file, error);
    file_close(&file);
    if (rv == 0)
        rv = files_rename(files, aside, path, error);
    if (rv != 0) {
        files->unlink(files, aside);
        goto out;
    }
    rv = files_sync_folder(files, parent, error);
out:
    free(parent);
    free(aside);
    return rv;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and folders that are written aside, locked, and renamed into their place.
 *
 * Invariants:
 *   - What is aside and not locked is a dead writer's, and any writer may remove it. So what a
 *     writer made is its own only once it is locked and still stands at its path: between its
 *     making and its lock it looks like a dead one's. Otherwise the writer takes the next number.
 *   - The lock is held until the name aside is gone, by a rename or a removal.
 *   - Bytes are synced before the rename, and their folder after it: a crash leaves the old or the
 *     new, and never a name without its bytes. Where the file system cannot exchange two names, a
 *     folder is replaced by two renames, and a crash between them leaves the old one aside.
 *   - What was replaced is removed behind that sync: before it a crash may bring its name back.
 */
#include "config.h" /* O_DIRECTORY */

#include "runtime/base/atomic_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names that killed processes of the same number may have left behind where nothing can be locked:
 * nobody leaves more. */
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
    size_t size = length +
                  sizeof ".."
                         ".old--" +
                  2 * 20;
    char *aside = malloc(size);
    if (aside != NULL)
        snprintf(aside, size, "%.*s.%.*s.%s-%ld-%d", (int)base, path, (int)(length - base),
                 path + base, kind, (long)getpid(), number);
    return aside;
}

struct dead_writers {
    struct files *files;
    const char *folder;
    const char *prefix; /* ".NAME.tmp-" */
};

/* Is it PREFIX, a number, "-" and a number? */
static bool is_aside(const char *prefix, const char *name)
{
    static const char DIGITS[] = "0123456789";
    size_t at = strlen(prefix);
    if (strncmp(name, prefix, at) != 0)
        return false;
    size_t first = strspn(name + at, DIGITS);
    at += first;
    size_t second = name[at] == '-' ? strspn(name + at + 1, DIGITS) : 0;
    return first > 0 && second > 0 && name[at + 1 + second] == '\0';
}

/* A living writer holds a lock on its file or folder. Whatever is in doubt stays. */
static int remove_dead(void *arg, const char *name)
{
    const struct dead_writers *dead = arg;
    struct files *files = dead->files;
    struct file_facts facts;
    char *path = is_aside(dead->prefix, name) ? files_join(dead->folder, name) : NULL;
    if (path != NULL && files->stat(files, path, &facts) == 0 &&
        (facts.is_folder || facts.is_regular)) {
        /* Some file systems lock only what is open for writing. */
        int flags = (facts.is_folder ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_NONBLOCK;
        int fd = files->open(files, path, flags, 0);
        /* The lock is given up after the removal: until then no other writer removes the same
         * tree. */
        if (fd >= 0 && files->lock(files, fd) == 0)
            files_remove_tree(files, path, NULL);
        if (fd >= 0)
            files->close(files, fd);
    }
    free(path);
    return 0;
}

/* Removes what killed writers of this path left. A failure to do so does not matter to the writer
 * that comes now. */
static int remove_dead_asides(struct files *files, const char *path, struct error *error)
{
    char *folder = files_parent(path), *aside = name_aside(path, "tmp", 0);
    bool known = folder != NULL && aside != NULL;
    /* Without locks nothing tells a dead writer from a living one, so everything stays. */
    if (known && files->lock != NULL) {
        char *slash = strrchr(aside, '/'), *prefix = slash != NULL ? slash + 1 : aside;
        *strrchr(prefix, '-') = '\0';   /* its number */
        strrchr(prefix, '-')[1] = '\0'; /* and its process */
        const struct dead_writers dead = { files, folder, prefix };
        (void)files->list(files, folder, remove_dead, (void *)(uintptr_t)&dead);
    }
    free(folder);
    free(aside);
    return known ? 0 : error_set(error, TR_ENOMEM, "%s: no memory to write it", path);
}

/* Whether what was made at that path is this process's: false where another writer took it for a
 * dead one's before it was locked. */
static bool lock_aside(struct files *files, const char *path, int fd)
{
    /* The lock comes before the look: once it is taken no writer removes the file, so what stands
     * there stays. Where the file system cannot lock, no writer removes anything, and the file
     * counts as ours. */
    int rv = files->lock != NULL ? files->lock(files, fd) : 0;
    return rv != -EWOULDBLOCK && (rv != 0 || files_is_at(files, fd, path));
}

/* A folder that was just made; *taken where another writer removes it. */
static int lock_folder(struct atomic_dir *dir, bool *taken)
{
    *taken = false;
    if (dir->files->lock == NULL)
        return 0;
    int fd = dir->files->open(dir->files, dir->path, O_RDONLY | O_DIRECTORY, 0);
    /* Another writer may have removed the folder since it was made, or may hold its lock to do
     * so. */
    *taken = fd == -ENOENT || (fd >= 0 && !lock_aside(dir->files, dir->path, fd));
    if (fd >= 0 && *taken)
        dir->files->close(dir->files, fd);
    if (fd < 0 || *taken)
        return *taken ? 0 : fd;
    dir->locked = true;
    dir->lock = fd;
    return 0;
}

static void unlock_folder(struct atomic_dir *dir)
{
    if (dir->locked)
        dir->files->close(dir->files, dir->lock);
    dir->locked = false;
}

static int make_aside(struct atomic_dir *dir, struct error *error)
{
    /* This comes first, so that the numbers of dead writers are free again. */
    int rv = remove_dead_asides(dir->files, dir->final_path, error);
    if (rv != 0)
        return rv;
    for (int i = 0; i < TRIES_MAX; i++) {
        bool taken = true;
        dir->path = name_aside(dir->final_path, "tmp", i);
        if (dir->path == NULL)
            return error_set(error, TR_ENOMEM, "%s: no memory to make it", dir->final_path);
        rv = dir->files->mkdir(dir->files, dir->path, 0777);
        if (rv == 0) {
            /* The folder that was made is not ours yet: until it is locked, another writer may take
             * it for a dead one's. */
            rv = lock_folder(dir, &taken);
            if (rv != 0)
                (void)dir->files->rmdir(dir->files, dir->path);
        }
        if (rv == 0 && !taken)
            return 0;
        if (rv != 0 && rv != -EEXIST) {
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
    *dir = (struct atomic_dir){ .files = files, .replace = replace };
    dir->final_path = strdup(final_path);
    char *parent = files_parent(final_path);
    int rv;
    /* The path is checked before anything is made, so that a caller learns of it before all its
     * work; commit checks it again. */
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

/* Replaces a folder where the file system cannot exchange the two: the old one makes way first. */
static int swap_in_two(struct atomic_dir *dir, char **old, struct error *error)
{
    char *aside = name_aside(dir->final_path, "old", 0);
    if (aside == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to replace it", dir->final_path);
    /* rename(2) replaces no folder that has something in it. So what a killed process of the same
     * number left under the name `aside` is removed first, while the folder at the path is
     * untouched and a failure changes nothing; then that folder makes way, and comes back where
     * the new one cannot have its place. */
    int rv = files_remove_tree(dir->files, aside, error);
    if (rv == 0)
        rv = files_rename(dir->files, dir->final_path, aside, error);
    if (rv == 0) {
        rv = files_rename(dir->files, dir->path, dir->final_path, error);
        if (rv != 0)
            dir->files->rename(dir->files, aside, dir->final_path);
    }
    if (rv == 0)
        *old = aside;
    else
        free(aside);
    return rv;
}

/* Gives the folder aside its place. *old: where the folder is that stood there; NULL: none did. */
static int folder_swap(struct atomic_dir *dir, char **old, struct error *error)
{
    struct files *files = dir->files;
    *old = NULL;
    if (!files_exists(files, dir->final_path))
        return files_rename(files, dir->path, dir->final_path, error);
    int rv = files->exchange == NULL ? -ENOSYS : files->exchange(files, dir->path, dir->final_path);
    if (rv == -EINVAL || rv == -ENOSYS)
        return swap_in_two(dir, old, error);
    if (rv < 0)
        return error_set_errno(error, -rv, "%s: cannot take the place of %s", dir->path,
                               dir->final_path);
    /* The folder that was replaced stands aside now, without a lock: as a dead writer's any writer
     * may remove it. */
    *old = dir->path;
    dir->path = NULL;
    return 0;
}

int atomic_dir_commit(struct atomic_dir *dir, struct error *error)
{
    char *parent = files_parent(dir->final_path), *old = NULL;
    /* The memory comes first: after the rename nothing may fail for lack of it. The path is checked
     * again, since another writer may have taken it: the swap would put that one aside. */
    int rv = parent == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory to commit it", dir->final_path)
                 : check_free(dir, error);
    /* The sync comes before the rename: after a crash the name would else stand for bytes that were
     * lost. */
    if (rv == 0)
        rv = files_sync_tree(dir->files, dir->path, error);
    if (rv == 0)
        rv = folder_swap(dir, &old, error);
    if (rv == 0) {
        /* The folder is in its place: atomic_dir_abort below must not remove it, whatever else
         * fails. */
        free(dir->path);
        dir->path = NULL;
        rv = files_sync_folder(dir->files, parent, error);
    }
    /* The folder that was replaced is removed last, and stays aside where that sync failed: the
     * name of the new one is not durable then. */
    if (rv == 0 && old != NULL)
        files_remove_tree(dir->files, old, NULL);
    free(old);
    free(parent);
    atomic_dir_abort(dir);
    return rv;
}

void atomic_dir_abort(struct atomic_dir *dir)
{
    /* The removal comes before the lock is given up: another writer would else remove the same tree
     * at the same time. */
    if (dir->path != NULL)
        files_remove_tree(dir->files, dir->path, NULL);
    unlock_folder(dir);
    free(dir->path);
    free(dir->final_path);
    dir->path = NULL;
    dir->final_path = NULL;
}

static int create_aside(struct file *file, struct files *files, const char *path,
                        struct error *error)
{
    /* This comes first, so that the numbers of dead writers are free again. */
    int rv = remove_dead_asides(files, path, error);
    if (rv != 0)
        return rv;
    for (int i = 0; i < TRIES_MAX; i++) {
        char *aside = name_aside(path, "tmp", i);
        if (aside == NULL)
            return error_set(error, TR_ENOMEM, "%s: no memory to write it", path);
        rv = file_create(file, files, aside, error);
        /* The file that was created is not ours yet: until it is locked it looks like what a dead
         * writer left, and another writer may have locked it to remove it, or may have removed it
         * already. Bytes written to it would be lost, and the rename would fail or take another's
         * file. So it is closed, and the next number is tried. */
        bool mine = rv == 0 && lock_aside(files, aside, file->fd);
        free(aside);
        if (mine || (rv != 0 && rv != TR_EEXIST))
            return rv;
        file_close(file);
    }
    return error_set(error, TR_EEXIST, "%s: %d files .*.tmp-* are beside it; remove them", path,
                     TRIES_MAX);
}

int files_write_atomic(struct files *files, const char *path, const void *data, size_t size,
                       struct error *error)
{
    struct file file = { 0 };
    char *parent = files_parent(path);
    int rv;
    if (parent == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory to write it", path);
    else
        rv = create_aside(&file, files, path, error);
    if (rv != 0)
        goto out;
    rv = file_append(&file, data, size, error);
    /* The sync comes before the rename: after a crash the name would else stand for bytes that were
     * lost. */
    if (rv == 0)
        rv = file_sync(&file, error);
    failpoint_reach(files->failpoints, FAILPOINT_FILE_SYNCED);
    /* The file is closed after the rename: closing gives its lock up, and then any writer may
     * remove a file that is still aside. */
    if (rv == 0)
        rv = files_rename(files, file.path, path, error);
    if (rv != 0)
        files->unlink(files, file.path);
    file_close(&file);
    if (rv == 0)
        rv = files_sync_folder(files, parent, error);
out:
    free(parent);
    return rv;
}

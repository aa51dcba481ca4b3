/* SPDX-License-Identifier: Apache-2.0 */
/* Folders and trees of them, over the operations of struct files. */
#include "config.h" /* O_PATH */

#include "runtime/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* A journalled file system takes about 2 ms for each file; syncing all of it at once takes 50 ms
 * for thousands of files, but up to seconds where other processes write much. */
#define SYNC_EACH_MAX 128

bool files_exists(struct files *files, const char *path)
{
    struct file_facts facts;
    return files->stat(files, path, &facts) == 0;
}

bool files_is_at(struct files *files, int fd, const char *path)
{
    struct file_facts mine, there;
    return files->fstat(files, fd, &mine) == 0 && files->stat(files, path, &there) == 0 &&
           mine.device == there.device && mine.inode == there.inode;
}

bool files_is_folder(struct files *files, const char *path)
{
    /* Opening as a folder follows links, which stat does not; O_PATH needs no permission to
     * read. */
    int fd = files->open(files, path, O_PATH | O_DIRECTORY, 0);
    if (fd < 0)
        return false;
    files->close(files, fd);
    return true;
}

/* The name at *path, with its length, and *path behind it; empty ones and "." are left out. */
static const char *take_name(const char **path, size_t *length)
{
    const char *name;
    do {
        name = *path + strspn(*path, "/");
        *length = strcspn(name, "/");
        *path = name + *length;
    } while (*length == 1 && name[0] == '.');
    return name;
}

static bool is_spelled_alike(const char *one, const char *other)
{
    size_t lengths[2];
    if ((one[0] == '/') != (other[0] == '/'))
        return false;
    do {
        const char *a = take_name(&one, &lengths[0]), *b = take_name(&other, &lengths[1]);
        if (lengths[0] != lengths[1] || memcmp(a, b, lengths[0]) != 0)
            return false;
    } while (lengths[0] > 0);
    return true;
}

/* The facts of what is there, by all links; false: nothing is. */
static bool find_facts(struct files *files, const char *path, struct file_facts *facts)
{
    int fd = files->open(files, path, O_PATH, 0);
    if (fd < 0)
        return false;
    bool known = files->fstat(files, fd, facts) == 0;
    files->close(files, fd);
    return known;
}

static const char *last_name(const char *path, size_t *length)
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    *length = end - begin;
    return path + begin;
}

/* Nothing is at either path: they are one if they have one name in one folder. */
static bool are_to_be_same(struct files *files, const char *one, const char *other)
{
    size_t lengths[2];
    const char *a = last_name(one, &lengths[0]), *b = last_name(other, &lengths[1]);
    if (lengths[0] != lengths[1] || memcmp(a, b, lengths[0]) != 0)
        return false;
    char *folder = files_parent(one), *others = files_parent(other);
    /* Each step makes a path shorter, but for "/" and ".", where this ends. */
    bool same = folder != NULL && others != NULL && strcmp(folder, one) != 0 &&
                strcmp(others, other) != 0 && files_are_same(files, folder, others);
    free(folder);
    free(others);
    return same;
}

bool files_are_same(struct files *files, const char *one, const char *other)
{
    struct file_facts facts[2];
    if (is_spelled_alike(one, other))
        return true;
    bool there = find_facts(files, one, &facts[0]);
    if (there != find_facts(files, other, &facts[1]))
        return false;
    if (!there)
        return are_to_be_same(files, one, other);
    return facts[0].inode != 0 && facts[0].inode == facts[1].inode &&
           facts[0].device == facts[1].device;
}

int files_size(struct files *files, const char *path, uint64_t *size, struct error *error)
{
    struct file file;
    int rv = file_open(&file, files, path, error);
    if (rv != 0)
        return rv;
    *size = file.size;
    file_close(&file);
    return 0;
}

int files_check_output(struct files *files, const char *path, struct error *error)
{
    struct file_facts facts;
    /* What cannot be looked at is refused where it is written. */
    if (files->stat(files, path, &facts) < 0 || facts.is_regular)
        return 0;
    if (facts.is_folder)
        return error_set(error, TR_EINVAL, "%s: is a folder; name a file in it", path);
    return error_set(error, TR_EINVAL,
                     "%s: is a device, a pipe or a link, which a new file would replace; name a "
                     "plain file",
                     path);
}

int files_rename(struct files *files, const char *from, const char *to, struct error *error)
{
    int rv = files->rename(files, from, to);
    return rv < 0 ? error_set_errno(error, -rv, "%s: cannot rename to %s", from, to) : 0;
}

static int sync_path(struct files *files, const char *path, struct error *error);

/* A name that is not synced is lost with its folder's whole content, however well that was. */
static int sync_parent(struct files *files, const char *path, struct error *error)
{
    char *parent = files_parent(path);
    int rv = parent == NULL ? error_set(error, TR_ENOMEM, "%s: no memory to sync its folder", path)
                            : sync_path(files, parent, error);
    free(parent);
    return rv;
}

int files_make_folders(struct files *files, const char *path, struct error *error)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to make the folder", path);
    int rv = 0;
    for (char *slash = copy + 1; rv == 0 && *copy != '\0'; slash++) {
        char was = *slash;
        if (was != '/' && was != '\0')
            continue;
        *slash = '\0';
        /* The folders are made from the top down, each with its name synced before the next is made
         * in it: a folder whose own name is lost takes everything below it along. */
        int made = files->mkdir(files, copy, 0777);
        if (made < 0 && made != -EEXIST)
            rv = error_set_errno(error, -made, "%s: cannot make the folder", copy);
        else if (made == 0 && (rv = sync_parent(files, copy, error)) < 0)
            files->rmdir(files, copy); /* else the next call takes its name for synced */
        *slash = was;
        if (was == '\0')
            break;
    }
    free(copy);
    if (rv == 0 && !files_is_folder(files, path))
        rv = error_set(error, TR_EEXIST, "%s: is there and is not a folder; choose another path",
                       path);
    return rv;
}

/* Syncs a file or a folder, which open(2) opens alike. */
static int sync_path(struct files *files, const char *path, struct error *error)
{
    int fd = files->open(files, path, O_RDONLY, 0);
    if (fd < 0)
        return error_set_errno(error, -fd, "%s: cannot open to sync it to disk", path);
    int rv;
    do
        rv = files->fsync(files, fd);
    while (rv == -EINTR);
    files->close(files, fd);
    return rv < 0 ? error_set_errno(error, -rv, "%s: cannot sync to disk", path) : 0;
}

int files_sync_folder(struct files *files, const char *path, struct error *error)
{
    return sync_path(files, path, error);
}

/* A walk below a path, children before their folder. */
struct tree_walk {
    struct files *files;
    struct error *error;
    const char *path;
    int depth;
    int (*leave)(const struct tree_walk *walk, bool is_folder);
    uint32_t *left; /* files to sync one by one; NULL: all */
};

static int walk_path(const struct tree_walk *walk);

static int walk_child(void *arg, const char *name)
{
    const struct tree_walk *parent = arg;
    struct tree_walk walk = *parent;
    char *path = files_join(parent->path, name);
    walk.path = path;
    walk.depth++;
    int rv = path == NULL
                 ? error_set(walk.error, TR_ENOMEM, "%s: no memory to walk it", parent->path)
                 : walk_path(&walk);
    free(path);
    /* Results of the system are negative, too: ours are kept apart as positive numbers. */
    return -rv;
}

static int walk_path(const struct tree_walk *walk)
{
    struct file_facts facts;
    /* The depth is checked before anything is read: a tree without an end stops here. */
    if (walk->depth > FILES_DEPTH_MAX)
        return error_set(walk->error, TR_ETOOBIG, "%s: more than %d folders deep", walk->path,
                         FILES_DEPTH_MAX);
    int rv = walk->files->stat(walk->files, walk->path, &facts);
    if (rv < 0)
        return error_set_errno(walk->error, -rv, "%s: cannot look at it", walk->path);
    if (facts.is_folder) {
        struct tree_walk self = *walk;
        rv = walk->files->list(walk->files, walk->path, walk_child, &self);
        if (rv < 0)
            return error_set_errno(walk->error, -rv, "%s: cannot list the folder", walk->path);
        if (rv > 0)
            return -rv;
    }
    /* The folder comes after its content: only an empty one can be removed. */
    return walk->leave(walk, facts.is_folder);
}

static int leave_synced(const struct tree_walk *walk, bool is_folder)
{
    (void)is_folder;
    /* The file is counted before it is synced: beyond the bound everything is synced at once, and
     * this sync would be in vain. */
    if (walk->left != NULL && (*walk->left)-- == 0)
        return TR_EEND;
    return sync_path(walk->files, walk->path, walk->error);
}

static int leave_removed(const struct tree_walk *walk, bool is_folder)
{
    struct files *files = walk->files;
    int rv = is_folder ? files->rmdir(files, walk->path) : files->unlink(files, walk->path);
    return rv < 0 ? error_set_errno(walk->error, -rv, "%s: cannot remove", walk->path) : 0;
}

/* Everything that was written to the file system of path, by anybody. */
static int sync_all(struct files *files, const char *path)
{
    int fd = files->open(files, path, O_RDONLY, 0);
    if (fd < 0)
        return fd;
    int rv = files->syncfs(files, fd);
    files->close(files, fd);
    return rv;
}

int files_sync_tree(struct files *files, const char *path, struct error *error)
{
    uint32_t left = SYNC_EACH_MAX;
    struct tree_walk walk = { .files = files, .error = error, .path = path, .leave = leave_synced };
    walk.left = files->syncfs == NULL ? NULL : &left;
    int rv = walk_path(&walk);
    if (rv != TR_EEND || sync_all(files, path) >= 0)
        return rv == TR_EEND ? 0 : rv;
    /* It failed: which file is to blame? */
    walk.left = NULL;
    return walk_path(&walk);
}

int files_remove_tree(struct files *files, const char *path, struct error *error)
{
    if (!files_exists(files, path))
        return 0;
    struct tree_walk walk = {
        .files = files, .error = error, .path = path, .leave = leave_removed
    };
    return walk_path(&walk);
}

char *files_join(const char *folder, const char *name)
{
    if (name[0] == '/')
        return strdup(name);
    size_t folder_length = strlen(folder), name_length = strlen(name);
    char *path = malloc(folder_length + name_length + 2);
    if (path == NULL)
        return NULL;
    memcpy(path, folder, folder_length);
    if (folder_length > 0 && folder[folder_length - 1] != '/')
        path[folder_length++] = '/';
    memcpy(path + folder_length, name, name_length + 1);
    return path;
}

char *files_parent(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length == 0 ? strdup(".") : strndup(path, length);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/sim/files_sim.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/sim_disk.h"

#define OPEN_MAX_FILES 1024u /* of a mount at a time, as a system allows */

struct mount;

struct files_sim {
    struct sim_disk disk;
    struct mount *mounts;
};

struct opened {
    int fd; /* 0: free */
    struct thing *thing;
    bool writes;
};

struct mount {
    struct files files;
    struct mount *next;
    struct sim_disk *disk;
    bool dead;
    int next_fd;
    struct opened opened[OPEN_MAX_FILES];
};

static struct mount *sim_file_of(struct files *files)
{
    return (struct mount *)(void *)files;
}

/* The part of a path up to the next slash. 0: it ended; -ENAMETOOLONG. */
static int next_name(const char **path, char name[NAME_MAX + 1])
{
    const char *at = *path;
    while (*at == '/' || (at[0] == '.' && (at[1] == '/' || at[1] == '\0')))
        at++;
    size_t length = strcspn(at, "/");
    if (length > NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(name, at, length);
    name[length] = '\0';
    *path = at + length;
    return (int)length;
}

static bool is_last(const char *path)
{
    return path[strspn(path, "/.")] == '\0';
}

/* The folder that holds the last name of the path, and that name; "" is the root itself. */
static int sim_file_walk(const struct mount *mount, const char *path, struct thing **folder,
                         char name[NAME_MAX + 1])
{
    /* This comes before the path: a dead mount fails whatever is asked of it. */
    if (mount->dead)
        return -EIO;
    *folder = mount->disk->root;
    if (*path == '\0')
        return -ENOENT;
    for (;;) {
        int length = next_name(&path, name);
        if (length < 0 || length == 0 || is_last(path))
            return length < 0 ? length : 0;
        struct thing *thing = sim_disk_find(*folder, name);
        if (thing == NULL)
            return -ENOENT;
        if (!thing->is_folder)
            return -ENOTDIR;
        *folder = thing;
    }
}

static int sim_file_find(const struct mount *mount, const char *path, struct thing **thing)
{
    char name[NAME_MAX + 1];
    struct thing *folder;
    int rc = sim_file_walk(mount, path, &folder, name);
    if (rc < 0)
        return rc;
    *thing = name[0] == '\0' ? folder : sim_disk_find(folder, name);
    return *thing != NULL ? 0 : -ENOENT;
}

static struct opened *find_opened(struct mount *mount, int fd)
{
    for (size_t i = 0; i < OPEN_MAX_FILES && !mount->dead && fd > 0; i++)
        if (mount->opened[i].fd == fd)
            return &mount->opened[i];
    return NULL;
}

static int sim_file_bad(const struct mount *mount)
{
    return mount->dead ? -EIO : -EBADF;
}

static bool sim_file_drawn(struct mount *mount, uint32_t ppm)
{
    return ppm != 0 && sim_disk_draw(mount->disk, 1000000) < ppm;
}

/* A call may be interrupted, or do only a part. 0: interrupted. */
static size_t sim_file_some(struct mount *mount, size_t size)
{
    if (!sim_file_drawn(mount, mount->disk->short_ppm))
        return size;
    return (size_t)sim_disk_draw(mount->disk, size);
}

static int take_fd(struct mount *mount, struct thing *thing, int flags)
{
    for (size_t i = 0; i < OPEN_MAX_FILES; i++)
        if (mount->opened[i].fd == 0) {
            int mode = flags & O_ACCMODE;
            mount->opened[i] = (struct opened){ mount->next_fd++, thing, mode != O_RDONLY };
            thing->open++;
            return mount->opened[i].fd;
        }
    return -EMFILE;
}

static int sim_open(struct files *self, const char *path, int flags, int mode)
{
    struct mount *mount = sim_file_of(self);
    char name[NAME_MAX + 1];
    struct thing *folder, *thing;
    (void)mode;
    int rc = sim_file_walk(mount, path, &folder, name);
    if (rc < 0)
        return rc;
    thing = name[0] == '\0' ? folder : sim_disk_find(folder, name);
    if (thing == NULL && !(flags & O_CREAT))
        return -ENOENT;
    if (thing != NULL && (flags & O_CREAT) && (flags & O_EXCL))
        return -EEXIST;
    if (thing != NULL && thing->is_folder && (flags & O_ACCMODE) != O_RDONLY)
        return -EISDIR;
    if (thing != NULL && !thing->is_folder && (flags & O_DIRECTORY))
        return -ENOTDIR;
    bool made = thing == NULL;
    /* This comes after the errors of names: EROFS is for calls that would change something. */
    if (mount->disk->read_only && (made || (flags & O_ACCMODE) != O_RDONLY))
        return -EROFS;
    if (made)
        thing = sim_disk_make(mount->disk, false);
    /* The descriptor comes before the name: if none is left, no file appears. */
    rc = take_fd(mount, thing, flags);
    if (rc > 0 && made)
        sim_disk_put(folder, name, thing, mount);
    if (rc > 0 && (flags & O_TRUNC) && thing->seen.size > 0) {
        thing->seen.size = 0;
        thing->dirty = true;
        thing->writer = mount;
    }
    return rc;
}

static int sim_close(struct files *self, int fd)
{
    struct opened *opened = find_opened(sim_file_of(self), fd);
    if (opened == NULL)
        return sim_file_bad(sim_file_of(self));
    opened->thing->open--;
    *opened = (struct opened){ 0 };
    return 0;
}

static ssize_t sim_pread(struct files *self, int fd, void *data, size_t size, uint64_t offset)
{
    struct opened *opened = find_opened(sim_file_of(self), fd);
    if (opened == NULL)
        return sim_file_bad(sim_file_of(self));
    const struct bytes *seen = &opened->thing->seen;
    if (opened->thing->is_folder)
        return -EISDIR;
    if (offset >= seen->size || size == 0)
        return 0;
    size = seen->size - offset < size ? seen->size - (size_t)offset : size;
    size = sim_file_some(sim_file_of(self), size);
    if (size == 0)
        return -EINTR;
    memcpy(data, seen->data + offset, size);
    return (ssize_t)size;
}

static ssize_t sim_pwrite(struct files *self, int fd, const void *data, size_t size,
                          uint64_t offset)
{
    struct mount *mount = sim_file_of(self);
    struct opened *opened = find_opened(mount, fd);
    if (opened == NULL || !opened->writes)
        return sim_file_bad(mount);
    if (size == 0)
        return 0;
    if (offset > SSIZE_MAX - size)
        return -EFBIG;
    if (mount->disk->read_only)
        return -EROFS;
    /* The draw comes before the room: an interrupted call has not reached the disk yet. */
    size = sim_file_some(mount, size);
    if (size == 0)
        return -EINTR;
    size = sim_disk_fits(mount->disk, opened->thing, offset, size);
    if (size == 0)
        return -ENOSPC;
    sim_disk_write(opened->thing, offset, data, size, mount);
    return (ssize_t)size;
}

static int sim_fsync(struct files *self, int fd)
{
    struct mount *mount = sim_file_of(self);
    struct opened *opened = find_opened(mount, fd);
    if (opened == NULL)
        return sim_file_bad(mount);
    return sim_disk_sync(mount->disk, opened->thing) ? 0 : -EIO;
}

static int sim_syncfs(struct files *self, int fd)
{
    struct mount *mount = sim_file_of(self);
    int rc = 0;
    if (find_opened(mount, fd) == NULL)
        return sim_file_bad(mount);
    for (struct thing *at = mount->disk->things; at != NULL; at = at->next)
        if (!sim_disk_sync(mount->disk, at))
            rc = -EIO;
    return rc;
}

static void sim_file_fill(struct file_facts *facts, const struct thing *thing)
{
    *facts = (struct file_facts){ .size = thing->seen.size,
                                  .is_folder = thing->is_folder,
                                  .is_regular = !thing->is_folder };
}

static int sim_fstat(struct files *self, int fd, struct file_facts *facts)
{
    struct opened *opened = find_opened(sim_file_of(self), fd);
    if (opened == NULL)
        return sim_file_bad(sim_file_of(self));
    sim_file_fill(facts, opened->thing);
    return 0;
}

static int sim_stat(struct files *self, const char *path, struct file_facts *facts)
{
    struct thing *thing;
    int rc = sim_file_find(sim_file_of(self), path, &thing);
    if (rc == 0)
        sim_file_fill(facts, thing);
    return rc;
}

/* May what is there make way for the thing? */
static int check_replaced(const struct thing *thing, const struct thing *there)
{
    if (there == NULL || there == thing)
        return 0;
    if (thing->is_folder != there->is_folder)
        return thing->is_folder ? -ENOTDIR : -EISDIR;
    return there->now.count > 0 ? -ENOTEMPTY : 0;
}

static bool is_within(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static int sim_rename(struct files *self, const char *from, const char *to)
{
    struct mount *mount = sim_file_of(self);
    char from_name[NAME_MAX + 1], to_name[NAME_MAX + 1];
    struct thing *from_folder, *to_folder;
    int rc = sim_file_walk(mount, from, &from_folder, from_name);
    if (rc == 0)
        rc = sim_file_walk(mount, to, &to_folder, to_name);
    if (rc < 0)
        return rc;
    struct thing *thing = sim_disk_find(from_folder, from_name);
    if (thing == NULL)
        return -ENOENT;
    if (to_name[0] == '\0' || is_within(to, from))
        return -EINVAL;
    if (is_within(from, to))
        return -ENOTEMPTY;
    struct thing *there = sim_disk_find(to_folder, to_name);
    /* This comes before EROFS: a rename that no disk could do says so. */
    rc = check_replaced(thing, there);
    if (rc < 0 || there == thing)
        return rc;
    if (mount->disk->read_only)
        return -EROFS;
    if (from_folder == to_folder) {
        sim_disk_move(from_folder, from_name, to_name, mount);
    } else {
        /* In any order: a crash loses the changes of the two folders apart from each other. */
        sim_disk_put(to_folder, to_name, thing, mount);
        sim_disk_remove(from_folder, from_name, mount);
    }
    return 0;
}

static int sim_exchange(struct files *self, const char *one, const char *other)
{
    struct mount *mount = sim_file_of(self);
    char names[2][NAME_MAX + 1];
    struct thing *folders[2], *things[2];
    int rc = sim_file_walk(mount, one, &folders[0], names[0]);
    if (rc == 0)
        rc = sim_file_walk(mount, other, &folders[1], names[1]);
    for (int i = 0; i < 2 && rc == 0; i++) {
        things[i] = names[i][0] == '\0' ? folders[i] : sim_disk_find(folders[i], names[i]);
        rc = things[i] == NULL ? -ENOENT : 0;
    }
    if (rc < 0)
        return rc;
    /* A folder cannot stand inside itself; the root has no name to exchange. */
    if (names[0][0] == '\0' || names[1][0] == '\0' || is_within(one, other) ||
        is_within(other, one))
        return -EINVAL;
    if (things[0] == things[1])
        return 0;
    /* EROFS comes last, as in sim_open. */
    if (mount->disk->read_only)
        return -EROFS;
    if (folders[0] == folders[1]) {
        sim_disk_exchange(folders[0], names[0], names[1], mount);
    } else {
        /* In any order, as in sim_rename. */
        sim_disk_put(folders[0], names[0], things[1], mount);
        sim_disk_put(folders[1], names[1], things[0], mount);
    }
    return 0;
}

static int sim_mkdir(struct files *self, const char *path, int mode)
{
    struct mount *mount = sim_file_of(self);
    char name[NAME_MAX + 1];
    struct thing *folder;
    (void)mode;
    int rc = sim_file_walk(mount, path, &folder, name);
    if (rc < 0)
        return rc;
    if (name[0] == '\0' || sim_disk_find(folder, name) != NULL)
        return -EEXIST;
    /* EROFS comes last, as in sim_open. */
    if (mount->disk->read_only)
        return -EROFS;
    sim_disk_put(folder, name, sim_disk_make(mount->disk, true), mount);
    return 0;
}

static int remove_name(struct mount *mount, const char *path, bool is_folder)
{
    char name[NAME_MAX + 1];
    struct thing *folder;
    int rc = sim_file_walk(mount, path, &folder, name);
    if (rc < 0)
        return rc;
    struct thing *thing = sim_disk_find(folder, name);
    if (thing == NULL)
        return -ENOENT;
    if (thing->is_folder != is_folder)
        return is_folder ? -ENOTDIR : -EISDIR;
    if (thing->now.count > 0)
        return -ENOTEMPTY;
    /* EROFS comes last, as in sim_open. */
    if (mount->disk->read_only)
        return -EROFS;
    sim_disk_remove(folder, name, mount);
    return 0;
}

static int sim_unlink(struct files *self, const char *path)
{
    return remove_name(sim_file_of(self), path, false);
}

static int sim_rmdir(struct files *self, const char *path)
{
    return remove_name(sim_file_of(self), path, true);
}

/* The names are copied first, for a visit may remove one. In any order. */
static int sim_list(struct files *self, const char *path, int (*visit)(void *arg, const char *name),
                    void *arg)
{
    struct mount *mount = sim_file_of(self);
    struct thing *thing;
    int rc = sim_file_find(mount, path, &thing);
    if (rc < 0)
        return rc;
    if (!thing->is_folder)
        return -ENOTDIR;
    size_t count = thing->now.count;
    size_t first = count > 0 ? (size_t)sim_disk_draw(mount->disk, count) : 0;
    char **names = calloc(count + 1, sizeof *names);
    assert(names != NULL);
    for (size_t i = 0; i < count; i++) {
        names[i] = strdup(thing->now.items[(first + i) % count].name);
        assert(names[i] != NULL);
    }
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = visit(arg, names[i]);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return rc;
}

static int sim_map(struct files *self, int fd, size_t size, void **data)
{
    struct opened *opened = find_opened(sim_file_of(self), fd);
    if (opened == NULL)
        return sim_file_bad(sim_file_of(self));
    if (size > opened->thing->seen.size)
        return -EINVAL;
    *data = malloc(size);
    if (*data == NULL)
        return -ENOMEM;
    memcpy(*data, opened->thing->seen.data, size);
    return 0;
}

static void sim_unmap(struct files *self, void *data, size_t size)
{
    (void)self;
    (void)size;
    free(data);
}

static const struct files operations = {
    .open = sim_open,
    .close = sim_close,
    .pread = sim_pread,
    .pwrite = sim_pwrite,
    .fsync = sim_fsync,
    .syncfs = sim_syncfs,
    .fstat = sim_fstat,
    .rename = sim_rename,
    .exchange = sim_exchange,
    .mkdir = sim_mkdir,
    .unlink = sim_unlink,
    .rmdir = sim_rmdir,
    .stat = sim_stat,
    .list = sim_list,
    .map = sim_map,
    .unmap = sim_unmap,
};

int files_sim_create(struct env *env, struct files_sim **out)
{
    struct files_sim *self = calloc(1, sizeof *self);
    if (self == NULL)
        return TR_ENOMEM;
    sim_disk_init(&self->disk, env);
    *out = self;
    return 0;
}

void files_sim_destroy(struct files_sim *self)
{
    if (self == NULL)
        return;
    while (self->mounts != NULL) {
        struct mount *mount = self->mounts;
        self->mounts = mount->next;
        free(mount);
    }
    sim_disk_fini(&self->disk);
    free(self);
}

struct files *files_sim_mount(struct files_sim *self)
{
    struct mount *mount = calloc(1, sizeof *mount);
    if (mount == NULL)
        return NULL;
    mount->files = operations;
    mount->disk = &self->disk;
    mount->next_fd = 3; /* never used twice, so that a late close hits nobody */
    mount->next = self->mounts;
    self->mounts = mount;
    return &mount->files;
}

void files_sim_kill(struct files *files)
{
    struct mount *mount = sim_file_of(files);
    if (mount->dead)
        return;
    /* The files are closed before the loss, whose sweep keeps what is open. */
    for (size_t i = 0; i < OPEN_MAX_FILES; i++)
        if (mount->opened[i].fd != 0)
            mount->opened[i].thing->open--;
    /* From here on no descriptor is found, so a late close counts nothing down twice. */
    mount->dead = true;
    sim_disk_lose(mount->disk, mount);
}

void files_sim_set_bytes_max(struct files_sim *self, uint64_t bytes_max)
{
    self->disk.bytes_max = bytes_max;
}

void files_sim_set_sync_fail(struct files_sim *self, uint32_t ppm)
{
    self->disk.sync_fail_ppm = ppm;
}

void files_sim_set_short(struct files_sim *self, uint32_t ppm)
{
    self->disk.short_ppm = ppm;
}

void files_sim_set_read_only(struct files_sim *self, bool read_only)
{
    self->disk.read_only = read_only;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of struct files on the real system. */
#include "config.h" /* syncfs, sync_file_range, renameat2 */

#include "runtime/base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int checked(int result)
{
    return result < 0 ? -errno : result;
}

static int posix_open(struct files *self, const char *path, int flags, int mode)
{
    (void)self;
    return checked(open(path, flags | O_CLOEXEC, mode));
}

static int posix_close(struct files *self, int fd)
{
    (void)self;
    return checked(close(fd));
}

static ssize_t posix_pread(struct files *self, int fd, void *data, size_t size, uint64_t offset)
{
    (void)self;
    ssize_t got = pread(fd, data, size, (off_t)offset);
    return got < 0 ? -errno : got;
}

static ssize_t posix_pwrite(struct files *self, int fd, const void *data, size_t size,
                            uint64_t offset)
{
    (void)self;
    ssize_t put = pwrite(fd, data, size, (off_t)offset);
    return put < 0 ? -errno : put;
}

static int posix_fsync(struct files *self, int fd)
{
    (void)self;
    return checked(fsync(fd));
}

static int posix_start_sync(struct files *self, int fd)
{
    (void)self;
    return checked(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
}

static int posix_syncfs(struct files *self, int fd)
{
    (void)self;
    return checked(syncfs(fd));
}

static int posix_lock(struct files *self, int fd)
{
    (void)self;
    return checked(flock(fd, LOCK_EX | LOCK_NB));
}

static int posix_unlock(struct files *self, int fd)
{
    (void)self;
    return checked(flock(fd, LOCK_UN));
}

static int posix_rename(struct files *self, const char *from, const char *to)
{
    (void)self;
    return checked(rename(from, to));
}

static int posix_exchange(struct files *self, const char *one, const char *other)
{
    (void)self;
    return checked(renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE));
}

static int posix_mkdir(struct files *self, const char *path, int mode)
{
    (void)self;
    return checked(mkdir(path, (mode_t)mode));
}

static int posix_unlink(struct files *self, const char *path)
{
    (void)self;
    return checked(unlink(path));
}

static int posix_rmdir(struct files *self, const char *path)
{
    (void)self;
    return checked(rmdir(path));
}

static void fill(struct file_facts *facts, const struct stat *status)
{
    facts->size = (uint64_t)status->st_size;
    facts->device = status->st_dev;
    facts->inode = status->st_ino;
    facts->is_folder = S_ISDIR(status->st_mode);
    facts->is_regular = S_ISREG(status->st_mode);
}

static int posix_fstat(struct files *self, int fd, struct file_facts *facts)
{
    (void)self;
    struct stat status;
    if (fstat(fd, &status) != 0)
        return -errno;
    fill(facts, &status);
    return 0;
}

static int posix_stat(struct files *self, const char *path, struct file_facts *facts)
{
    (void)self;
    struct stat status;
    if (lstat(path, &status) != 0)
        return -errno;
    fill(facts, &status);
    return 0;
}

static int posix_list(struct files *self, const char *path,
                      int (*visit)(void *arg, const char *name), void *arg)
{
    (void)self;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return -errno;
    int rv = 0;
    struct dirent *entry;
    /* errno tells a failure from the end, so it is cleared before each read: a folder that cannot
     * be read to its end must not look like one with fewer names. */
    while (rv == 0 && (errno = 0, entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rv = visit(arg, entry->d_name);
    }
    if (rv == 0 && errno != 0)
        rv = -errno;
    closedir(folder);
    return rv;
}

static int posix_map(struct files *self, int fd, size_t size, void **data)
{
    (void)self;
    *data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    return *data == MAP_FAILED ? -errno : 0;
}

static void posix_unmap(struct files *self, void *data, size_t size)
{
    (void)self;
    munmap(data, size);
}

static struct files posix = {
    .failpoints = FAILPOINTS_OF_PROCESS,
    .open = posix_open,
    .close = posix_close,
    .pread = posix_pread,
    .pwrite = posix_pwrite,
    .fsync = posix_fsync,
    .start_sync = posix_start_sync,
    .syncfs = posix_syncfs,
    .lock = posix_lock,
    .unlock = posix_unlock,
    .fstat = posix_fstat,
    .rename = posix_rename,
    .exchange = posix_exchange,
    .mkdir = posix_mkdir,
    .unlink = posix_unlink,
    .rmdir = posix_rmdir,
    .stat = posix_stat,
    .list = posix_list,
    .map = posix_map,
    .unmap = posix_unmap,
};

struct files *const files_posix = &posix;

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/folder_lock.h"

#include <errno.h>
#include <fcntl.h>

int folder_lock_take(struct folder_lock *lock, struct files *files, const char *path, bool *busy,
                     struct error *error)
{
    *lock = (struct folder_lock){ 0 };
    *busy = false;
    int fd = files->open(files, path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) {
        error_set_errno(error, -fd, "%s: cannot open the folder", path);
        return error_from_errno(-fd);
    }
    /* Any other failure says that the file system has no locks. */
    *busy = files->lock != NULL && files->lock(files, fd) == -EWOULDBLOCK;
    if (*busy) {
        files->close(files, fd);
        return TR_EEXIST;
    }
    *lock = (struct folder_lock){ files, fd };
    return 0;
}

void folder_lock_release(struct folder_lock *lock)
{
    if (!folder_lock_is_held(lock))
        return;
    if (lock->files->unlock != NULL)
        (void)lock->files->unlock(lock->files, lock->fd);
    lock->files->close(lock->files, lock->fd);
    *lock = (struct folder_lock){ 0 };
}

bool folder_lock_is_in_place(const struct folder_lock *lock, const char *path)
{
    struct files *files = lock->files;
    struct file_facts locked, now;
    int fd = files->open(files, path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return fd != -ENOENT && fd != -ENOTDIR;
    bool known = files->fstat(files, fd, &now) == 0 && files->fstat(files, lock->fd, &locked) == 0;
    files->close(files, fd);
    return !known || (now.device == locked.device && now.inode == locked.inode);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* O_NOFOLLOW, O_DIRECTORY */

#include "runtime/event/socket_unix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/base/files.h"

bool socket_unix_address(const struct endpoint *endpoint, struct sockaddr_un *address)
{
    size_t length = strnlen(endpoint->host, sizeof endpoint->host);
    if (length >= sizeof address->sun_path)
        return false;
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    memcpy(address->sun_path, endpoint->host, length + 1);
    return true;
}

static int lock(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc;
    do
        rc = flock(fd, LOCK_EX);
    while (rc < 0 && errno == EINTR);
    if (rc == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

/* Another user who may write to the folder could replace our socket by one of his own. */
static int check_folder(int fd, const char *path, const char *folder, struct error *error)
{
    struct stat status;
    /* The check goes by the descriptor that is locked: the path may name another folder by now. */
    if (fstat(fd, &status) < 0)
        return error_set_errno(error, errno, "unix:%s: cannot look at %s", path, folder);
    if (status.st_uid != geteuid())
        return error_set(error, TR_EPERM,
                         "unix:%s: %s belongs to uid %u, not to us; choose a folder of your own",
                         path, folder, status.st_uid);
    if ((status.st_mode & 077) != 0)
        return error_set(error, TR_EPERM,
                         "unix:%s: others may enter %s (mode %04o); run chmod 700 on it", path,
                         folder, status.st_mode & 07777u);
    return 0;
}

/* Does a process listen at this address? A full queue of connections says so too. */
static bool is_answered(const struct sockaddr_un *address)
{
    int fd = -1;
    int rc = socket_connect((const struct sockaddr *)address, sizeof *address, &fd);
    if (fd >= 0)
        close(fd);
    return rc == 0 || rc == -EAGAIN || rc == -EINPROGRESS;
}

static int remove_stale(const struct sockaddr_un *address, struct error *error)
{
    const char *path = address->sun_path;
    struct stat status;
    if (lstat(path, &status) < 0)
        return errno == ENOENT ? 0
                               : error_set_errno(error, errno, "unix:%s: cannot look at it", path);
    /* The kind of file is checked before the attempt to connect: a plain file refuses that as a
     * stale socket does, and would then be removed. */
    if (!S_ISSOCK(status.st_mode))
        return error_set(
            error, TR_EINVAL,
            "unix:%s: a file that is not a socket is there; remove it or choose another path",
            path);
    if (is_answered(address))
        return error_set(error, TR_EEXIST,
                         "unix:%s: another process listens there; stop it or choose another path",
                         path);
    if (unlink(path) < 0 && errno != ENOENT)
        return error_set_errno(error, errno, "unix:%s: cannot remove the stale socket", path);
    return 0;
}

static int bind_and_listen(struct socket_listener *listener, const struct sockaddr_un *address,
                           struct error *error)
{
    struct stat status;
    const char *path = address->sun_path;
    int rc = 0;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return error_set_errno(error, errno, "unix:%s: cannot make a socket", path);
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) < 0) {
        rc = error_set_errno(error, errno, "unix:%s: cannot listen", path);
        goto err_after_socket;
    }
    /* The look comes after bind, which makes the file: by its identity socket_unix_remove knows
     * later whether it is still ours. */
    if (listen(fd, SOMAXCONN) < 0 || lstat(path, &status) < 0) {
        rc = error_set_errno(error, errno, "unix:%s: cannot listen", path);
        goto err_after_bind;
    }
    listener->fd = fd;
    listener->device = status.st_dev;
    listener->inode = status.st_ino;
    return 0;

err_after_bind:
    /* In any order: the folder is locked. */
    unlink(path);
err_after_socket:
    close(fd);
    return rc;
}

int socket_unix_listen(struct socket_listener *listener, struct error *error)
{
    struct sockaddr_un address;
    const char *path = listener->endpoint.host;
    if (!socket_unix_address(&listener->endpoint, &address))
        return error_set(error, TR_EINVAL, "unix:%s: the path is too long for a socket", path);
    char *folder = files_parent(path);
    if (folder == NULL)
        return error_set(error, TR_ENOMEM, "unix:%s: out of memory", path);
    int held = lock(folder);
    int rc = 0;
    if (held < 0) {
        rc = error_set_errno(error, -held,
                             "unix:%s: cannot use the folder %s; make it with mkdir -m 700", path,
                             folder);
        goto err_after_folder;
    }
    /* The folder is checked first: in one that others may enter nothing is touched. All three steps
     * stand under one lock: between bind and listen a socket looks stale to another process. */
    rc = check_folder(held, path, folder, error);
    if (rc == 0)
        rc = remove_stale(&address, error);
    if (rc == 0)
        rc = bind_and_listen(listener, &address, error);
    close(held);
err_after_folder:
    free(folder);
    return rc;
}

void socket_unix_remove(const struct socket_listener *listener)
{
    struct stat status;
    const char *path = listener->endpoint.host;
    char *folder = files_parent(path);
    if (folder == NULL)
        return; /* it stays, stale, which the next one finds out */
    /* The lock comes before the look, so that the file cannot change between the look and the
     * removal. */
    int held = lock(folder);
    if (lstat(path, &status) == 0 && status.st_dev == listener->device &&
        status.st_ino == listener->inode)
        unlink(path);
    if (held >= 0)
        close(held);
    free(folder);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reads and writes of one file, over the operations of struct files. */
#include "runtime/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One read or write of the system moves at most this much (Linux stops at 2 GiB - 4 KiB). */
#define PIECE_BYTES_MAX ((size_t)1 << 30)

static int open_file(struct file *file, struct files *files, const char *path, int flags,
                     const char *verb, struct error *error)
{
    memset(file, 0, sizeof *file);
    file->path = strdup(path);
    if (file->path == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to %s it", path, verb);
    int fd;
    do
        fd = files->open(files, path, flags, 0666);
    while (fd == -EINTR);
    if (fd < 0) {
        free(file->path);
        file->path = NULL;
        return error_set_errno(error, -fd, "%s: cannot %s", path, verb);
    }
    /* The file is open from here on: file_close goes by the path, which a failure above takes
     * away. */
    file->files = files;
    file->fd = fd;
    return 0;
}

static int find_size(struct file *file, struct error *error)
{
    struct file_facts facts;
    int rv = file->files->fstat(file->files, file->fd, &facts);
    if (rv < 0)
        return error_set_errno(error, -rv, "%s: cannot find its size", file->path);
    if (!facts.is_regular)
        return error_set(error, TR_EINVAL, "%s: not a regular file; name one", file->path);
    file->size = facts.size;
    return 0;
}

/* A pipe that nobody writes to would keep open(2) waiting; regular files ignore the flag. */
static int open_sized(struct file *file, struct files *files, const char *path, int flags,
                      struct error *error)
{
    int rv = open_file(file, files, path, flags | O_NONBLOCK, "open", error);
    if (rv != 0)
        return rv;
    rv = find_size(file, error);
    if (rv != 0)
        file_close(file);
    return rv;
}

int file_open(struct file *file, struct files *files, const char *path, struct error *error)
{
    return open_sized(file, files, path, O_RDONLY, error);
}

int file_create(struct file *file, struct files *files, const char *path, struct error *error)
{
    return open_file(file, files, path, O_RDWR | O_CREAT | O_EXCL, "create", error);
}

int file_open_writable(struct file *file, struct files *files, const char *path,
                       struct error *error)
{
    return open_sized(file, files, path, O_RDWR | O_CREAT, error);
}

void file_close(struct file *file)
{
    if (file->path == NULL)
        return;
    if (file->map != NULL && file->size > 0)
        file->files->unmap(file->files, file->map, (size_t)file->size);
    file->files->close(file->files, file->fd);
    free(file->path);
    memset(file, 0, sizeof *file);
}

static size_t files_piece(size_t size)
{
    return size < PIECE_BYTES_MAX ? size : PIECE_BYTES_MAX;
}

int file_read_some(struct file *file, uint64_t offset, void *data, size_t size, size_t *got,
                   struct error *error)
{
    *got = 0;
    while (*got < size) {
        ssize_t n = file->files->pread(file->files, file->fd, (char *)data + *got,
                                       files_piece(size - *got), offset + *got);
        /* This comes before other failures: an interrupted call is made again. */
        if (n == -EINTR)
            continue;
        if (n < 0)
            return error_set_errno(error, (int)-n, "%s: cannot read at byte %" PRIu64, file->path,
                                   offset + *got);
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return 0;
}

int file_read_at(struct file *file, uint64_t offset, void *data, size_t size, struct error *error)
{
    size_t got;
    int rv = file_read_some(file, offset, data, size, &got, error);
    if (rv == 0 && got < size)
        rv = error_set(error, TR_EFORMAT,
                       "%s: ends at byte %" PRIu64 ", %zu bytes too early; it is truncated, copy "
                       "it again",
                       file->path, offset + got, size - got);
    return rv;
}

int file_write_at(struct file *file, uint64_t offset, const void *data, size_t size,
                  struct error *error)
{
    size_t put = 0;
    while (put < size) {
        ssize_t n = file->files->pwrite(file->files, file->fd, (const char *)data + put,
                                        files_piece(size - put), offset + put);
        /* This comes before other failures: an interrupted call is made again. */
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return error_set_errno(error, n == 0 ? ENOSPC : (int)-n,
                                   "%s: cannot write at byte %" PRIu64, file->path, offset + put);
        put += (size_t)n;
    }
    /* The size grows only when the whole write succeeded: an append after a failure writes at the
     * same place again. */
    if (file->size < offset + size)
        file->size = offset + size;
    return 0;
}

int file_append(struct file *file, const void *data, size_t size, struct error *error)
{
    return file_write_at(file, file->size, data, size, error);
}

int file_sync(struct file *file, struct error *error)
{
    int rv;
    do
        rv = file->files->fsync(file->files, file->fd);
    while (rv == -EINTR);
    return rv < 0 ? error_set_errno(error, -rv, "%s: cannot sync to disk", file->path) : 0;
}

void file_start_sync(struct file *file)
{
    if (file->files->start_sync != NULL)
        (void)file->files->start_sync(file->files, file->fd);
}

bool files_is_refusal(int code)
{
    return code == TR_EIO || code == TR_ENOSPC || code == TR_EPERM || code == TR_ENOENT;
}

int file_map(struct file *file, const void **data, struct error *error)
{
    static const char nothing[64];
    *data = nothing;
    if (file->size == 0)
        return 0;
    if (file->map == NULL) {
        void *map;
        if (file->size > SIZE_MAX)
            return error_set(error, TR_ETOOBIG, "%s: too large to map here", file->path);
        int rv = file->files->map(file->files, file->fd, (size_t)file->size, &map);
        if (rv < 0)
            return error_set_errno(error, -rv, "%s: cannot map", file->path);
        file->map = map;
    }
    *data = file->map;
    return 0;
}

int files_read_all(struct files *files, const char *path, size_t size_max, char **data,
                   size_t *size, struct error *error)
{
    struct file file;
    int rv = file_open(&file, files, path, error);
    if (rv != 0)
        return rv;
    char *buffer = NULL;
    /* The bound comes before the memory: the size of the file would else decide how much is
     * taken. */
    if (file.size > size_max) {
        rv = error_set(error, TR_ETOOBIG, "%s: %" PRIu64 " bytes, more than the %zu allowed", path,
                       file.size, size_max);
        goto out;
    }
    *size = (size_t)file.size;
    buffer = malloc(*size + 1);
    if (buffer == NULL) {
        rv = error_set(error, TR_ENOMEM, "%s: no memory for its %zu bytes", path, *size);
        goto out;
    }
    rv = file_read_at(&file, 0, buffer, *size, error);
    if (rv != 0)
        goto out;
    buffer[*size] = '\0';
    *data = buffer;
    buffer = NULL;
out:
    free(buffer);
    file_close(&file);
    return rv;
}

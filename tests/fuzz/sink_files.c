/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_DIRECTORY */
#include "tests/fuzz/sink_files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Above every number of an input's file. */
#define SINK_FD (MEMORY_FILES_MAX + 1000)

static struct sink_files *sink_of(struct files *self)
{
    return (struct sink_files *)self;
}

static struct files *input_of(struct files *self)
{
    return &sink_of(self)->input->base;
}

static bool is_input(const char *path)
{
    size_t length = sizeof FUZZ_FOLDER - 1;
    return strncmp(path, FUZZ_FOLDER, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Whether a file of the input lies below that path. */
static bool is_input_folder(const struct memory_files *input, const char *path)
{
    size_t length = strlen(path) - (sizeof FUZZ_FOLDER - 1);
    const char *below = path + sizeof FUZZ_FOLDER;
    for (uint32_t i = 0; length > 1 && i < input->count; i++) {
        const struct memory_file *file = &input->all[i];
        if (file->name_length > length && memcmp(file->name, below, length - 1) == 0 &&
            file->name[length - 1] == '/')
            return true;
    }
    return false;
}

static int sink_open(struct files *self, const char *path, int flags, int mode)
{
    /* A folder is opened to see that it is one. */
    if (is_input(path) && !((flags & O_DIRECTORY) && is_input_folder(sink_of(self)->input, path)))
        return input_of(self)->open(input_of(self), path, flags, mode);
    sink_of(self)->num_open++;
    return SINK_FD;
}

static int sink_close(struct files *self, int fd)
{
    if (fd != SINK_FD)
        return input_of(self)->close(input_of(self), fd);
    assert(sink_of(self)->num_open > 0);
    sink_of(self)->num_open--;
    return 0;
}

static ssize_t sink_pread(struct files *self, int fd, void *data, size_t size, uint64_t offset)
{
    return fd == SINK_FD ? 0 : input_of(self)->pread(input_of(self), fd, data, size, offset);
}

static ssize_t sink_pwrite(struct files *self, int fd, const void *data, size_t size,
                           uint64_t offset)
{
    (void)self, (void)data, (void)offset;
    assert(fd == SINK_FD);
    return (ssize_t)size;
}

static int sink_fstat(struct files *self, int fd, struct file_facts *facts)
{
    if (fd != SINK_FD)
        return input_of(self)->fstat(input_of(self), fd, facts);
    *facts = (struct file_facts){ .is_regular = true };
    return 0;
}

static int sink_stat(struct files *self, const char *path, struct file_facts *facts)
{
    if (is_input(path))
        return input_of(self)->stat(input_of(self), path, facts);
    /* Folders aside were made, and the name that they get is free. */
    *facts = (struct file_facts){ .is_folder = true };
    return strcmp(path, SINK_OUT) == 0 ? -ENOENT : 0;
}

static int sink_sync(struct files *self, int fd)
{
    (void)self, (void)fd;
    return 0;
}

static int sink_rename(struct files *self, const char *from, const char *to)
{
    (void)self, (void)from, (void)to;
    return 0;
}

static int sink_mkdir(struct files *self, const char *path, int mode)
{
    (void)self, (void)path, (void)mode;
    return 0;
}

static int sink_remove(struct files *self, const char *path)
{
    (void)self, (void)path;
    return 0;
}

/* Of the input's folder every name, so that what is found by listing is read too. */
static int sink_list(struct files *self, const char *path,
                     int (*visit)(void *arg, const char *name), void *arg)
{
    const struct memory_files *input = sink_of(self)->input;
    size_t length = strlen(path);
    int rv = 0;
    if (!is_input(path) || length < sizeof FUZZ_FOLDER)
        return 0;
    /* Behind "in/": the front of a name that has another "/" behind it. */
    const char *front = path + sizeof FUZZ_FOLDER;
    size_t front_length = strlen(front);
    for (uint32_t i = 0; rv == 0 && i < input->count; i++) {
        const struct memory_file *file = &input->all[i];
        char name[256];
        if (file->name_length <= front_length + 1 || file->name_length >= sizeof name ||
            memcmp(file->name, front, front_length) != 0 || file->name[front_length] != '/')
            continue;
        size_t size = file->name_length - front_length - 1;
        memcpy(name, file->name + front_length + 1, size);
        name[size] = '\0';
        name[strcspn(name, "/")] = '\0';
        if (name[0] != '\0')
            rv = visit(arg, name);
    }
    return rv;
}

static int sink_map(struct files *self, int fd, size_t size, void **data)
{
    return input_of(self)->map(input_of(self), fd, size, data);
}

static void sink_unmap(struct files *self, void *data, size_t size)
{
    input_of(self)->unmap(input_of(self), data, size);
}

void sink_files_init(struct sink_files *files, struct memory_files *input)
{
    *files = (struct sink_files){ .base = { .open = sink_open,
                                            .close = sink_close,
                                            .pread = sink_pread,
                                            .pwrite = sink_pwrite,
                                            .fsync = sink_sync,
                                            .syncfs = sink_sync,
                                            .fstat = sink_fstat,
                                            .rename = sink_rename,
                                            .mkdir = sink_mkdir,
                                            .unlink = sink_remove,
                                            .rmdir = sink_remove,
                                            .stat = sink_stat,
                                            .list = sink_list,
                                            .map = sink_map,
                                            .unmap = sink_unmap },
                                  .input = input };
}

void sink_files_fini(struct sink_files *files)
{
    assert(files->num_open == 0);
}

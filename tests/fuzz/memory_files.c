/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */
#include "tests/fuzz/memory_files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER_FD MEMORY_FILES_MAX

static struct memory_files *self_of(struct files *self)
{
    return (struct memory_files *)self;
}

/* The number of a file, or -ENOENT. */
static int find(const struct memory_files *files, const char *path)
{
    static const char folder[] = FUZZ_FOLDER "/";
    if (strncmp(path, folder, sizeof folder - 1) != 0)
        return -ENOENT;
    const char *name = path + sizeof folder - 1;
    size_t length = strlen(name);
    for (uint32_t i = 0; i < files->count; i++)
        if (files->all[i].name_length == length && memcmp(files->all[i].name, name, length) == 0)
            return (int)i;
    return -ENOENT;
}

static int memory_open(struct files *self, const char *path, int flags, int mode)
{
    (void)mode;
    if ((flags & O_ACCMODE) != O_RDONLY)
        return -EROFS;
    int found = strcmp(path, FUZZ_FOLDER) == 0 ? FOLDER_FD : find(self_of(self), path);
    if (found >= 0 && found != FOLDER_FD && (flags & O_DIRECTORY))
        found = -ENOTDIR;
    self_of(self)->num_open += found >= 0;
    return found;
}

static int memory_close(struct files *self, int fd)
{
    assert(fd == FOLDER_FD || (uint32_t)fd < self_of(self)->count);
    assert(self_of(self)->num_open > 0);
    self_of(self)->num_open--;
    return 0;
}

static ssize_t memory_pread(struct files *self, int fd, void *data, size_t size, uint64_t offset)
{
    assert((uint32_t)fd < self_of(self)->count);
    const struct memory_file *file = &self_of(self)->all[fd];
    if (offset >= file->size)
        return 0;
    size_t left = file->size - (size_t)offset, count = size < left ? size : left;
    memcpy(data, file->data + offset, count);
    return (ssize_t)count;
}

static int memory_fstat(struct files *self, int fd, struct file_facts *facts)
{
    assert(fd == FOLDER_FD || (uint32_t)fd < self_of(self)->count);
    if (fd == FOLDER_FD) {
        *facts = (struct file_facts){ .is_folder = true };
        return 0;
    }
    *facts = (struct file_facts){ .size = self_of(self)->all[fd].size, .is_regular = true };
    return 0;
}

static int memory_stat(struct files *self, const char *path, struct file_facts *facts)
{
    int found = strcmp(path, FUZZ_FOLDER) == 0 ? FOLDER_FD : find(self_of(self), path);
    return found < 0 ? found : memory_fstat(self, found, facts);
}

static int memory_map(struct files *self, int fd, size_t size, void **data)
{
    assert((uint32_t)fd < self_of(self)->count && size == self_of(self)->all[fd].size);
    int rv = posix_memalign(data, 64, size);
    if (rv != 0)
        return -rv;
    memcpy(*data, self_of(self)->all[fd].data, size);
    self_of(self)->num_mapped++;
    return 0;
}

static void memory_unmap(struct files *self, void *data, size_t size)
{
    (void)size;
    assert(self_of(self)->num_mapped > 0);
    self_of(self)->num_mapped--;
    free(data);
}

/* Where the next mark begins, or the end. */
static const uint8_t *find_mark(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *mark = memmem(at, (size_t)(end - at), MEMORY_FILES_MARK,
                                 sizeof MEMORY_FILES_MARK - 1);
    return mark == NULL ? end : mark;
}

void memory_files_init(struct memory_files *files, const char *first_name, const uint8_t *data,
                       size_t size)
{
    const uint8_t *at = data, *end = data + size, *mark = find_mark(at, end);
    *files = (struct memory_files){
        .base = { .open = memory_open,
                  .close = memory_close,
                  .pread = memory_pread,
                  .fstat = memory_fstat,
                  .stat = memory_stat,
                  .map = memory_map,
                  .unmap = memory_unmap },
        .count = 1,
        .all = { { first_name, strlen(first_name), at, (size_t)(mark - at) } },
    };
    while (mark < end && files->count < MEMORY_FILES_MAX) {
        const uint8_t *name = mark + sizeof MEMORY_FILES_MARK - 1;
        const uint8_t *line_end = memchr(name, '\n', (size_t)(end - name));
        if (line_end == NULL)
            return;
        at = line_end + 1;
        /* The mark's line end may be that of the name: an empty file. */
        mark = find_mark(at - 1, end);
        files->all[files->count++] = (struct memory_file){ (const char *)name,
                                                           (size_t)(line_end - name), at,
                                                           mark < at ? 0 : (size_t)(mark - at) };
    }
}

void memory_files_fini(struct memory_files *files)
{
    assert(files->num_open == 0 && files->num_mapped == 0);
}

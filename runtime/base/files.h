/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files, as everything that reads or writes them sees them.
 *
 * struct files is a table of the system's operations with two kinds of implementation: POSIX
 * (files_posix) and those of tests and the simulator, whose files lose unsynced bytes, fill up
 * or fail to sync. Operations return a result >= 0 or a negative errno and may be short or
 * interrupted, as the system's are; the functions below them never are: they finish, or
 * fail with a message that names the path and the reason.
 *
 * Ownership: file_close releases a file; a struct files outlives every file opened through it.
 * Thread rules: one thread at a time a struct file; files_posix is stateless.
 */
#ifndef RUNTIME_BASE_FILES_H
#define RUNTIME_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/base/error.h"
#include "runtime/base/failpoint.h"

/* Trees that we make are three levels deep; a deeper one is a loop or not ours. */
#define FILES_DEPTH_MAX 16

struct file_facts {
    uint64_t size;
    uint64_t device, inode; /* which it is; 0 where that is not known */
    bool is_folder;
    bool is_regular;
};

struct files {
    struct failpoints *failpoints; /* of the process whose files they are; NULL: none */
    int (*open)(struct files *self, const char *path, int flags, int mode); /* open(2) */
    int (*close)(struct files *self, int fd);
    ssize_t (*pread)(struct files *self, int fd, void *data, size_t size, uint64_t offset);
    ssize_t (*pwrite)(struct files *self, int fd, const void *data, size_t size, uint64_t offset);
    int (*fsync)(struct files *self, int fd);
    /* sync_file_range(2): begins to write the file's bytes to disk and waits for none of them; NULL:
     * there is no such call. */
    int (*start_sync)(struct files *self, int fd);
    int (*syncfs)(struct files *self, int fd); /* syncfs(2); NULL: there is none */
    /* flock(2), for this process alone and without waiting, until close; NULL: there are no
     * locks. */
    int (*lock)(struct files *self, int fd);
    /* Gives it back, for processes too that were forked meanwhile; NULL: it ends with close. */
    int (*unlock)(struct files *self, int fd);
    int (*fstat)(struct files *self, int fd, struct file_facts *facts);
    int (*rename)(struct files *self, const char *from, const char *to);
    /* Exchanges two paths, in one step; NULL, -EINVAL or -ENOSYS: the file system has no such
     * call. */
    int (*exchange)(struct files *self, const char *one, const char *other);
    int (*mkdir)(struct files *self, const char *path, int mode);
    int (*unlink)(struct files *self, const char *path);
    int (*rmdir)(struct files *self, const char *path);
    int (*stat)(struct files *self, const char *path, struct file_facts *facts); /* lstat(2) */
    /* Visits each name but "." and ".."; a visit that returns non-zero ends with that result. */
    int (*list)(struct files *self, const char *path, int (*visit)(void *arg, const char *name),
                void *arg);
    /* Maps a file for reading; size > 0. */
    int (*map)(struct files *self, int fd, size_t size, void **data);
    void (*unmap)(struct files *self, void *data, size_t size);
};

extern struct files *const files_posix;

/* An open file. Zeroed is a valid closed one. */
struct file {
    struct files *files;
    char *path;
    int fd;
    uint64_t size; /* at open; grows with writes */
    void *map;     /* NULL until file_map */
};

int file_open(struct file *file, struct files *files, const char *path, struct error *error);

/* A new file to write (and read back); TR_EEXIST if the path is taken. */
int file_create(struct file *file, struct files *files, const char *path, struct error *error);

/* A file to write and read, made where there is none; its bytes stay. */
int file_open_writable(struct file *file, struct files *files, const char *path,
                       struct error *error);

/* Closes; harmless on a closed file. Bytes that were not synced are not promised to be on disk. */
void file_close(struct file *file);

/* All size bytes, or TR_EFORMAT where the file ends before them. */
int file_read_at(struct file *file, uint64_t offset, void *data, size_t size, struct error *error);

/* Up to size bytes: *got < size only at the end of the file. */
int file_read_some(struct file *file, uint64_t offset, void *data, size_t size, size_t *got,
                   struct error *error);

int file_write_at(struct file *file, uint64_t offset, const void *data, size_t size,
                  struct error *error);
int file_append(struct file *file, const void *data, size_t size, struct error *error);
int file_sync(struct file *file, struct error *error);
/* Has the disk begin with what was written, so that the sync that comes later waits for less. It
 * promises nothing: that sync reports what fails. */
void file_start_sync(struct file *file);

/* The whole file, read-only, until file_close; an empty file gives a valid pointer. */
int file_map(struct file *file, const void **data, struct error *error);

/* A disk is full, read-only, gone or broken: codes of a write that may succeed at a later time. */
bool files_is_refusal(int code);

bool files_exists(struct files *files, const char *path);
/* Whether that name is still the open file's: another may have removed or replaced it. */
bool files_is_at(struct files *files, int fd, const char *path);
/* Whether two paths are of one thing, however they are spelled and by whatever links; also where
 * nothing is there yet. */
bool files_are_same(struct files *files, const char *one, const char *other);
bool files_is_folder(struct files *files, const char *path);
int files_size(struct files *files, const char *path, uint64_t *size, struct error *error);

/* The whole file with a NUL after it, in malloc'ed memory; TR_ETOOBIG above size_max. */
int files_read_all(struct files *files, const char *path, size_t size_max, char **data,
                   size_t *size, struct error *error);

int files_rename(struct files *files, const char *from, const char *to, struct error *error);
/* TR_EINVAL where a user names a folder, or a device, a pipe or a link, for a file that is written
 * aside and then renamed: the name would stand for a plain file after that. */
int files_check_output(struct files *files, const char *path, struct error *error);
/* The folder and those above it, with their names synced; existing ones are fine. */
int files_make_folders(struct files *files, const char *path, struct error *error);
int files_sync_folder(struct files *files, const char *path, struct error *error);
/* Syncs every file and folder below path, and path: one by one where they are few, the whole file
 * system at once where they are many. */
int files_sync_tree(struct files *files, const char *path, struct error *error);
/* Removes a file or a whole folder; nothing there is fine. Links are removed, not followed. */
int files_remove_tree(struct files *files, const char *path, struct error *error);

/* "folder/name" in malloc'ed memory, or NULL. An absolute name stands for itself. */
char *files_join(const char *folder, const char *name);
/* The folder that holds path ("." for a bare name), in malloc'ed memory, or NULL. */
char *files_parent(const char *path);

#endif

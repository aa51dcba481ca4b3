/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder that one writer has for itself. The lock is flock(2)'s of the folder: it ends with the
 * process at the latest, so a writer that was killed keeps no other one out, and leaves no file.
 *
 * Some file systems have no such locks, or only among the processes of one host (NFS, which locks
 * only what is open for writing): there every writer gets the folder, as if it were alone.
 *
 * Ownership: folder_lock_take() fills it, folder_lock_release() ends it. Zeroed is one that is not
 * held. Thread rules: one thread at a time.
 */
#ifndef RUNTIME_BASE_FOLDER_LOCK_H
#define RUNTIME_BASE_FOLDER_LOCK_H

#include "runtime/base/files.h"

struct folder_lock {
    struct files *files; /* NULL: it is not held */
    int fd;
};

/* Does not wait. *busy: another writer has the folder, in this process or in another: TR_EEXIST,
 * whose text is the caller's to give. TR_ENOENT and others: the folder can't be opened. */
int folder_lock_take(struct folder_lock *lock, struct files *files, const char *path, bool *busy,
                     struct error *error);

/* Also of a process that was forked meanwhile, whose copy would hold it. */
void folder_lock_release(struct folder_lock *lock);

/* Whether the path is still that folder: false where another took its place, or nothing is there. A
 * folder that can't be looked at counts as in place. */
bool folder_lock_is_in_place(const struct folder_lock *lock, const char *path);

static inline bool folder_lock_is_held(const struct folder_lock *lock)
{
    return lock->files != NULL;
}

#endif

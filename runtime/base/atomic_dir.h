/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder (or one file) that appears whole or not at all.
 *
 * It is written aside, as ".NAME.tmp-PID-N" beside its final place, synced file by file and folder
 * by folder, then renamed, or exchanged with what stands there. An interrupted writer calls
 * atomic_dir_abort and leaves nothing visible; a process that is killed leaves a hidden folder that
 * no reader looks at, and that the next writer of the same NAME removes: writers lock what they
 * write for as long as they live.
 *
 * Where a file system's locks are of one host alone (NFS mounted with local_lock, Lustre with
 * localflock), a writer sees no locks of other hosts and would remove what one there still writes:
 * there all writers of a NAME must be on one host.
 *
 * Ownership: commit or abort ends it; abort after either is harmless. One thread at a time.
 */
#ifndef RUNTIME_BASE_ATOMIC_DIR_H
#define RUNTIME_BASE_ATOMIC_DIR_H

#include <stdbool.h>

#include "runtime/base/files.h"

struct atomic_dir {
    struct files *files;
    char *final_path;
    char *path; /* write here; NULL when ended */
    bool replace;
    bool locked;
    int lock; /* a descriptor of path, if locked */
};

/* Makes the folder aside. TR_EEXIST if the final path is taken, unless replace. */
int atomic_dir_begin(struct atomic_dir *dir, struct files *files, const char *final_path,
                     bool replace, struct error *error);
/* Puts it in its place; when that fails, everything is as it was and the folder aside is gone. */
int atomic_dir_commit(struct atomic_dir *dir, struct error *error);
void atomic_dir_abort(struct atomic_dir *dir);

/* Writes a file aside, syncs and renames it over path (an older one is replaced). */
int files_write_atomic(struct files *files, const char *path, const void *data, size_t size,
                       struct error *error);

#endif

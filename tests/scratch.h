/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a test keeps its files: in TMPDIR, as the shell tests do, or in /tmp.
 *
 * ./check names a folder in memory there: much of the time of these tests is a disk's, for fsync() and
 * new files. Tests of the calls of the file system themselves stay in /tmp, whatever TMPDIR says:
 * test_files, test_files_sim and test_atomic_dir in tests/runtime/.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A longer one is not taken: names of sockets lie in these folders, and may have 107 bytes. */
#define SCRATCH_PARENT_MAX 16

/* What mkdtemp() and mkstemp() complete: PARENT/troupe-NAME-XXXXXX. */
static inline char *scratch_template(char *path, size_t size, const char *name)
{
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] != '/' || strlen(parent) > SCRATCH_PARENT_MAX)
        parent = "/tmp";
    int length = snprintf(path, size, "%s/troupe-%s-XXXXXX", parent, name);
    if (length < 0 || (size_t)length >= size)
        abort();
    return path;
}

/* A new folder, whose path it puts there; NULL where none can be made. */
static inline char *scratch_folder(char *path, size_t size, const char *name)
{
    return mkdtemp(scratch_template(path, size, name));
}

#endif

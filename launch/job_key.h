/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key that a launcher makes for its job. It lies in no file: the launcher writes it to the
 * standard input of each process that it starts, here or through ssh or srun, where nobody else
 * can read it; command lines, environments and folders that others may write can be looked into or
 * made by somebody else before us.
 *
 * TROUPE_SHARED_KEY says where a process finds its key: "-" is the first line of its standard
 * input, anything else the path of a file of mode 0600. A key that was read from the input is kept
 * in anonymous memory, which has a path below /proc that this user alone may open, for what takes a
 * path (sessions, programs of `troupe hold`), and ends with the process.
 *
 * Ownership: job_key_fini closes the memory; a zeroed struct is no key. Thread rules: one thread.
 */
#ifndef LAUNCH_JOB_KEY_H
#define LAUNCH_JOB_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/net/secret.h"

#define JOB_KEY_VARIABLE "TROUPE_SHARED_KEY"
#define JOB_KEY_INPUT "-"
/* In hexadecimal with the line's end: fits in a pipe that nobody reads yet. */
#define JOB_KEY_LINE_MAX (2u * SECRET_KEY_BYTES_MAX + 1u)

struct job_key {
    char *path; /* NULL: there is none */
    bool in_memory;
    int memory;                      /* its descriptor where in_memory */
    char line[JOB_KEY_LINE_MAX + 1]; /* what a process reads; "": path is a file's */
};

/* A new key for the job of that cluster file, which job_key_seek finds as long as this struct
 * lives. */
int job_key_make(struct job_key *key, const char *cluster, struct error *error);

/* The key that a launcher of this user, on this host, has made for the job of that cluster file and
 * still keeps; of several the youngest. It leaves no trace but its own memory: nothing has to be
 * tidied up after a launcher that was killed. TR_ENOENT: there is none. */
int job_key_seek(struct job_key *key, const char *cluster, struct error *error);

/* That of this process, as TROUPE_SHARED_KEY has it; none where that is not set. TR_EFORMAT: the
 * input ended before the line, or the line is no key's; TR_ETIMEDOUT: it did not come (timeout_ns
 * below 0: there is no such time); TR_ECANCELED: stop, a descriptor (-1: none), became readable
 * before it came. */
int job_key_find(struct job_key *key, int64_t timeout_ns, int stop, struct error *error);

void job_key_fini(struct job_key *key);

#endif

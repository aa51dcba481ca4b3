/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job that goes on without the terminal that launched it; job_mark.h finds it again.
 *
 * Thread rules: the main thread. detach_begin() is called before there is another thread of ours.
 */
#ifndef CLI_LAUNCH_DETACHED_H
#define CLI_LAUNCH_DETACHED_H

#include <stdbool.h>

#include <troupe/error.h>

/* Where a process says to the one that waits for it that its job is up; -1: to nobody. */
struct detached {
    int fd;
};

/* True in the new process, which leads a session of its own and goes on; false in the one that began,
 * which has waited for detach_up() or for the end: *code is what it exits with, 0 where the job is
 * up. TR_E* in *error and *code -1: it could not be begun. */
bool detach_begin(struct detached *detached, int *code, struct tr_error *error);
/* The job is up: from then on the standard streams are /dev/null. Once; then it does nothing. */
void detach_up(struct detached *detached);

#endif

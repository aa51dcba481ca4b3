/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job that goes on without the terminal that launched it, and who finds it again.
 *
 * A launcher with a log FILE holds a lock on FILE.job as long as it lives, and writes there how it
 * ended. By the lock `troupe attach` knows whether the job runs and which process launched it, so that
 * no number of a process that is gone is taken for another's.
 *
 * Thread rules: the main thread. detach_begin() is called before there is another thread of ours.
 */
#ifndef CLI_LAUNCH_DETACHED_H
#define CLI_LAUNCH_DETACHED_H

#include <stdbool.h>
#include <sys/types.h>

#include <troupe/error.h>

/* The lock of a log's launcher; zeroed: none. */
struct job_mark {
    bool held;
    int fd;
};

/* TR_EEXIST: another job that runs has this log. */
int job_mark_take(struct job_mark *mark, const char *log, struct tr_error *error);
/* Notes the exit code, and gives the lock back. */
void job_mark_release(struct job_mark *mark, int code);

struct job_state {
    bool runs;
    pid_t launcher; /* where it runs; 0: on another host */
    int code;       /* where it has ended; -1: its launcher was killed */
};
/* TR_ENOENT: no job has this log. */
int job_mark_look(const char *log, struct job_state *state, struct tr_error *error);

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

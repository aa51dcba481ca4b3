/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a job again by its log, by the folder of its run or by its cluster file.
 *
 * A launcher with a log FILE holds a lock on FILE.job as long as it lives, on a byte that no other
 * program locks alone: by the lock others know whether the job runs and which process launched it, so
 * that no number of a process that is gone is taken for another's. The file says in a line of JSON of
 * which cluster file and run the job is, and in a second line, which comes last, the exit code of the
 * launcher.
 *
 * A job of a run or a cluster file is looked for among the locks that processes of this user hold on
 * this host, so nothing that a dead launcher left leads anywhere.
 *
 * Thread rules: any thread; job_mark_read is pure.
 */
#ifndef CLI_LAUNCH_JOB_MARK_H
#define CLI_LAUNCH_JOB_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <troupe/error.h>

/* The lock of a log's launcher; zeroed: none. */
struct job_mark {
    bool held;
    int fd;
    size_t bytes; /* of the first line */
};

/* TR_EEXIST: another job that runs has this log. */
int job_mark_take(struct job_mark *mark, const char *log, const char *cluster,
                  struct tr_error *error);
/* Notes the folder of the run on this host too. run NULL, or a mark that is not held: nothing. */
int job_mark_name_run(struct job_mark *mark, const char *cluster, const char *run,
                      struct tr_error *error);
/* Notes the exit code, and gives the lock back. */
void job_mark_release(struct job_mark *mark, int code);

struct job_state {
    bool runs;
    pid_t launcher; /* where it runs; 0: on another host */
    int code;       /* where it has ended; -1: its launcher was killed */
};
/* TR_ENOENT: no job has this log; TR_EEXIST: another program than a launcher has locked its file. */
int job_mark_look(const char *log, struct job_state *state, struct tr_error *error);

/* The log of the job that has a name: of that name, or of a job that runs here for the folder of that
 * name or by the cluster file of that name. *log: free() ends it. TR_ENOENT: there is none; TR_EEXIST:
 * there are several. */
int job_mark_find(const char *name, char **log, struct tr_error *error);

/* What the bytes of such a file say. */
struct job_note {
    char *cluster, *run; /* absolute paths; NULL: nothing */
    int code;            /* -1: nothing */
};
void job_mark_read(struct job_note *note, const char *bytes, size_t size);
void job_note_fini(struct job_note *note);

#endif

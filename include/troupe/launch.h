/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launching a job: starting every process of a cluster file, here, by ssh, by Slurm's srun or by a
 * command that the file has, reading what they print, starting again what dies, and ending all of them.
 *
 *     options.cluster = "cluster.json";
 *     tr_launch_open(&options, &launch, &error);
 *     tr_launch_start(launch, &task, &error);
 *     while (tr_launch_next(task, TR_WAIT_FOREVER, &event, &error) == 0)
 *         show(&event);
 *     tr_task_wait(task, TR_WAIT_FOREVER, &error);
 *     tr_task_close(task);
 *     tr_launch_close(launch);
 *
 * The task's thread starts the processes and is their parent; no signal handler is installed, and
 * none of the program's runs in a child. Each process leads a session of its own and ends with this
 * program, whatever ends it (see <troupe/process.h>).
 *
 * Ownership: a launch is closed after its task; tr_launch_close() frees the texts that came from
 * it. Thread rules: any thread; events are taken by one thread at a time. tr_launch_stop() is safe
 * in a signal handler. In a child of fork() calls give TR_EFORKED and a close does nothing.
 */
#ifndef TROUPE_LAUNCH_H
#define TROUPE_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/task.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_launch;

enum tr_launcher {
    TR_LAUNCHER_FILE = 0, /* as the cluster file says */
    TR_LAUNCHER_LOCAL = 1,
    TR_LAUNCHER_SSH = 2,
    TR_LAUNCHER_SRUN = 3
};

/* Words of a command; more than any needs, and less than the system takes. */
#define TR_LAUNCH_WORDS_MAX 4096
/* As torch.distributed.run has it. */
#define TR_LAUNCH_MASTER_PORT 29500
/* Bytes of events that wait to be taken. */
#define TR_LAUNCH_EVENT_BYTES (4 * 1024 * 1024)

struct tr_launch_options {
    size_t size;
    const char *cluster; /* the cluster file */
    const char *graph;   /* DIR/NAME.json; NULL: as the cluster file says */
    const char *program; /* troupe on this host; NULL: "troupe" in PATH. Elsewhere the same path,
                            unless the cluster file says what starts it there */
    const char *run;     /* the folder of the run, for the trainers; NULL: none is named */
    const char *exec;    /* a shell command that trains in the place of `troupe train`; NULL */
    const char *const *arguments; /* [num_arguments] of train, or of exec */
    size_t num_arguments;
    enum tr_launcher launcher;
    uint32_t master_port; /* MASTER_PORT for torch.distributed; 0: TR_LAUNCH_MASTER_PORT */
    bool no_copy;         /* copies nothing to hosts that are reached by ssh */
    /* Where TR_LAUNCH_EVENT_BYTES of events wait: processes that print are not read until some were
     * taken, but for the last words of one that ends. Else the oldest lines go. */
    bool keep_lines;
    unsigned char reserved[6];
};
#define TR_LAUNCH_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(struct tr_launch_options), NULL, NULL, NULL, NULL, NULL, NULL, 0, TR_LAUNCHER_FILE, \
            0, false, false, ""                                                                    \
    }

/* Reads the cluster file and the graph's book, and makes the key of the job where it needs one;
 * starts nothing. TR_EINVAL, TR_ERANGE: what the options or the file ask cannot be. *out is NULL
 * after a failure. */
TR_API int tr_launch_open(const struct tr_launch_options *options, struct tr_launch **out,
                          struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_launch_close(struct tr_launch *launch);

struct tr_launch_info {
    size_t size;
    const char *name;    /* of the job */
    const char *cluster; /* absolute paths */
    const char *graph;
    const char *shared_key; /* of this job alone, as long as it is open: lets observers in
                               (TROUPE_SHARED_KEY); NULL: the cluster file says how */
    uint32_t num_processes;
    /* Where the cluster file asks its launcher for a live page (tr_live_page_open()), which the
     * program serves that called: 0: any port; -1: it does not ask. */
    int32_t page_port;
    const char *run; /* the folder of its run on this host, which has its history; NULL: none */
};
#define TR_LAUNCH_INFO_INIT                                                \
    {                                                                      \
        sizeof(struct tr_launch_info), NULL, NULL, NULL, NULL, 0, -1, NULL \
    }
TR_API int tr_launch_info(const struct tr_launch *launch, struct tr_launch_info *info,
                          struct tr_error *error);

/* "[host/role N]", cut: by what lines of a process are known. */
#define TR_LAUNCH_PREFIX_MAX 160
TR_API int tr_launch_prefix(const struct tr_launch *launch, uint32_t process,
                            char prefix[TR_LAUNCH_PREFIX_MAX], struct tr_error *error);

/* The command that starts a process, as a line that a POSIX shell takes. text [text_bytes] gets as
 * much of it as fits, with an end; *needed (may be NULL) the bytes of all of it with its end. */
TR_API int tr_launch_command(const struct tr_launch *launch, uint32_t process, char *text,
                             size_t text_bytes, size_t *needed, struct tr_error *error);

/* Copies what hosts read where the launcher is ssh, and runs the job to its end. The task's
 * outcome: 0; TR_ECHILD: the job failed, and which process; TR_EINVAL: a process failed by its
 * options or the cluster file, so that another start of the job would fail too; TR_ECANCELED: it was
 * stopped. Once for each launch that could be started (TR_EEXIST). Closing a task that runs stops it as
 * tr_launch_stop() does, and waits. */
TR_API int tr_launch_start(struct tr_launch *launch, struct tr_task **task, struct tr_error *error);

/* Asks all processes to stop, trainers first; a process that does not end within 20 s is killed.
 * hurried: where they were asked already, kills them now. tr_task_cancel() asks once, without
 * hurry. Safe in a signal handler. Tasks of other kinds are ignored. */
TR_API void tr_launch_stop(struct tr_task *task, bool hurried);

enum tr_launch_event_kind {
    TR_LAUNCH_LINE = 0,     /* a process printed it */
    TR_LAUNCH_HELPER = 1,   /* so did ssh, rsync or srun for a host */
    TR_LAUNCH_NOTE = 2,     /* what a user should know */
    TR_LAUNCH_STARTED = 3,  /* with this pid */
    TR_LAUNCH_FAILED = 4,   /* could not be started */
    TR_LAUNCH_KERNELS = 5,  /* computes with others than another trainer */
    TR_LAUNCH_STOPPING = 6, /* was asked to stop */
    TR_LAUNCH_KILLED = 7,
    TR_LAUNCH_ENDED = 8 /* see exit_code and signal */
};

struct tr_launch_event {
    size_t size;
    enum tr_launch_event_kind kind;
    uint32_t process;  /* UINT32_MAX: it is of none */
    const char *host;  /* NULL: it is of none */
    const char *role;  /* "trainer", "sampler", "server"; NULL: it is of no process */
    int stream;        /* of lines: 1 standard output, 2 standard error; else 0 */
    int exit_code;     /* of an end; 0 where a signal ended it */
    int signal;        /* that ended it, or 0 */
    int64_t pid;       /* of a start: of what runs here, which is ssh or srun for another host */
    const char *text;  /* the line without its end, or a message; until the next event is taken */
    size_t text_bytes; /* without the NUL behind it */
    uint64_t dropped;  /* events that were lost before this one */
};
#define TR_LAUNCH_EVENT_INIT                                                                  \
    {                                                                                         \
        sizeof(struct tr_launch_event), TR_LAUNCH_LINE, 0, NULL, NULL, 0, 0, 0, 0, NULL, 0, 0 \
    }

/* The next event. TR_ETIMEDOUT: none in that time; TR_EEND: the task has ended, and all were taken;
 * TR_ECLOSED: the task is being closed; TR_EINVAL: it launches nothing. After a failure no event is
 * lost. */
TR_API int tr_launch_next(struct tr_task *task, int64_t timeout_ns, struct tr_launch_event *event,
                          struct tr_error *error);

/* A descriptor that poll(2) reports as readable while tr_launch_next() would not wait. It is the
 * task's: only watch it. -1: a task of another kind, or in a child of fork(). */
TR_API int tr_launch_descriptor(const struct tr_task *task);

/*
 * A program that knows nothing of launchers, held as long as one lives: `troupe hold`.
 */

/* Runs words[0] with its words [num_words], and ends it, with all it started, when the standard
 * input of this process ends: SIGTERM, 15 s later SIGKILL. TR_EINVAL: that input is closed. It gets
 * the job's key as a file (TROUPE_SHARED_KEY), an input that stays open, and the other streams of
 * this process. */
TR_API int tr_hold_start(const char *const *words, size_t num_words, struct tr_task **task,
                         struct tr_error *error);
/* Asks it to end; asked again, kills it. tr_task_cancel() asks once. Safe in a signal handler. */
TR_API void tr_hold_stop(struct tr_task *task);
/* How it ended, once tr_task_wait() gave 0; another result: it could not be run. */
TR_API int tr_hold_end(struct tr_task *task, int *exit_code, int *signal, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif

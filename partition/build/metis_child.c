/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "partition/build/metis_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "partition/build/metis_program.h"
#include "partition/metis/metis_exchange.h"
#include "runtime/base/helper_program.h"

/* How long the library sleeps between looks at the helper and at whether somebody cancelled. The
 * helper's end wakes it, or else, where the kernel tells of none, short sleeps first do for small
 * graphs. */
#define SLEEP_FIRST_NS 200000
#define SLEEP_MAX_NS 20000000
/* Partitions that are read and checked at once. */
#define PARTS_AT_ONCE ((uint64_t)1 << 14)
/* The answers of METIS when all went well, and when malloc() failed (metis.h, which only the helper
 * includes). */
#define METIS_STATUS_OK 1
#define METIS_STATUS_MEMORY (-3)

struct exchange {
    int memory; /* the memfd */
    struct metis_exchange head;
    struct metis_layout layout;
};

/* How the helper ended. */
struct ending {
    bool known; /* false: this program's own handling of SIGCHLD took the status away */
    int status; /* of waitpid() */
};

/* By write() and not through a mapping: memory that ends is then an error here and no SIGBUS. */
static int write_array(struct partition_job *job, int memory, size_t at, const void *from,
                       size_t bytes, struct error *error)
{
    for (size_t done = 0; done < bytes;) {
        size_t left = bytes - done, piece = left < JOB_BLOCK_BYTES ? left : JOB_BLOCK_BYTES;
        int rv = job_step(job, "hand the graph to METIS", done, bytes, error);
        if (rv != 0)
            return rv;
        ssize_t wrote = pwrite(memory, (const char *)from + done, piece, (off_t)(at + done));
        if (wrote < 0 && errno != EINTR)
            return errno == ENOSPC || errno == ENOMEM
                       ? job_no_memory(error, "METIS's question", bytes)
                       : error_set_errno(error, errno, "handing the graph to METIS");
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

static int write_question(struct exchange *exchange, struct partition_job *job,
                          const struct metis_question *question, struct error *error)
{
    const struct metis_layout *layout = &exchange->layout;
    const struct metis_exchange *head = &exchange->head;
    int memory = exchange->memory;
    int rv = write_array(job, memory, 0, head, sizeof *head, error);
    if (rv == 0)
        rv = write_array(job, memory, layout->index, question->graph->index,
                         (head->num_nodes + 1) * sizeof(int32_t), error);
    if (rv == 0)
        rv = write_array(job, memory, layout->adjacency, question->graph->adjacency,
                         head->num_entries * sizeof(int32_t), error);
    if (rv == 0 && head->weighted)
        rv = write_array(job, memory, layout->weights, question->weights,
                         head->num_nodes * head->num_constraints * sizeof(int32_t), error);
    return rv;
}

/* A size beyond the limit of files would end this process by SIGXFSZ. */
static int set_size(int memory, size_t size, struct error *error)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        size > limit.rlim_cur)
        return error_set(error, TR_ENOMEM,
                         "the limit of a file's size (ulimit -f) leaves no memory for METIS's "
                         "question (%zu bytes); raise it, or use \"method\" random",
                         size);
    if (ftruncate(memory, (off_t)size) != 0)
        return error_set_errno(error, errno,
                               "making memory for the graph that METIS gets (%zu bytes)", size);
    return 0;
}

/* The seal comes last: from then on neither side can take memory from under the other. */
static int exchange_open(struct exchange *exchange, struct partition_job *job,
                         const struct metis_question *question, struct error *error)
{
    exchange->head = (struct metis_exchange){
        .magic = METIS_EXCHANGE_MAGIC,
        .num_nodes = question->graph->num_nodes,
        .num_entries = question->graph->num_entries,
        .num_parts = (uint32_t)question->num_parts,
        .num_constraints = (uint32_t)question->num_constraints,
        .weighted = question->weights != NULL,
        .volume = question->volume,
        .seed = (int32_t)((question->seed ^ question->seed >> 32) & INT32_MAX),
        .parent = (int32_t)getpid(),
    };
    const char *wrong = metis_exchange_layout(&exchange->head, &exchange->layout);
    if (wrong != NULL)
        return error_set(error, TR_EINVAL, "METIS cannot take the graph: %s", wrong);
    exchange->memory = memfd_create("troupe-metis", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (exchange->memory < 0)
        return error_set_errno(error, errno, "making memory for the graph that METIS gets");
    /* The size is set before the question is written: METIS's answer has its place in it, where
     * nothing is written here. */
    int rv = set_size(exchange->memory, exchange->layout.size, error);
    if (rv == 0)
        rv = write_question(exchange, job, question, error);
    if (rv == 0 &&
        fcntl(exchange->memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        rv = error_set_errno(error, errno, "sealing METIS's question");
    if (rv != 0)
        close(exchange->memory);
    return rv;
}

/* Standard streams lead nowhere: METIS prints to them. A group of its own, since signals that a
 * terminal or timeout(1) sends to the whole group are for this process to answer. */
static int spawn_metis(const char *program, int memory, pid_t *child)
{
    char *const argv[] = { (char *)(uintptr_t) "troupe-metis", NULL };
    posix_spawn_file_actions_t actions;
    const struct helper_program metis = {
        .program = program, .argv = argv, .actions = &actions, .own_group = true
    };
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    /* The memory before the streams: its number may be one of theirs. */
    int rc = posix_spawn_file_actions_adddup2(&actions, memory, METIS_EXCHANGE_FD);
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO && rc == 0; stream++)
        rc = posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
    if (rc == 0)
        rc = helper_program_start(&metis, child);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* Until the helper has ended. Cancelled: it is killed, and then waited for without another question.
 * `end` can be read once it has ended; -1 where the kernel has no such descriptor. */
static int wait_for_end(struct partition_job *job, pid_t child, int end, struct ending *ending,
                        struct error *error)
{
    struct timespec nap = { .tv_nsec = SLEEP_FIRST_NS };
    struct pollfd poll = { .fd = end, .events = POLLIN };
    int rv = 0;
    *ending = (struct ending){ .known = true };
    for (;;) {
        if (rv == 0) {
            rv = job_step(job, "METIS", 0, 0, error);
            if (rv != 0)
                kill(child, SIGKILL);
        }
        pid_t ended = waitpid(child, &ending->status, rv == 0 ? WNOHANG : 0);
        if (ended == child)
            return rv;
        /* A program that ignores SIGCHLD, or waits for all children, leaves no status: then the
         * answer alone says whether all went well. */
        if (ended < 0 && errno == ECHILD) {
            ending->known = false;
            return rv;
        }
        if (ended < 0 && errno != EINTR)
            return error_set_errno(error, errno, "waiting for METIS's process");
        ppoll(&poll, end >= 0, &nap, NULL);
        if (nap.tv_nsec < SLEEP_MAX_NS)
            nap.tv_nsec *= 2;
    }
}

static int wait_for(struct partition_job *job, pid_t child, struct ending *ending,
                    struct error *error)
{
    int end = (int)syscall(SYS_pidfd_open, child, 0);
    int rv = wait_for_end(job, child, end, ending, error);
    if (end >= 0)
        close(end);
    return rv;
}

static int explain_signal(int number, struct error *error)
{
    if (number == SIGKILL)
        return error_set(
            error, TR_ECHILD,
            "METIS's process was killed, by a user or by the kernel, which had no memory "
            "left for it; use \"method\" random, or a machine with more memory");
    return error_set(
        error, TR_ECHILD,
        "METIS's process died of signal %d (%s), perhaps because memory was short; use "
        "another number of partitions, fewer constraints, or \"method\" random",
        number, strsignal(number));
}

static int metis_child_explain(const char *program, struct ending ending,
                               const struct metis_exchange *head, struct error *error)
{
    /* The surest reason comes first: how the process ended, what it said by its exit, then what
     * METIS answered, which it may not have got to. */
    int code = ending.known && WIFEXITED(ending.status) ? WEXITSTATUS(ending.status) : 0;
    if (ending.known && WIFSIGNALED(ending.status))
        return explain_signal(WTERMSIG(ending.status), error);
    if (code == METIS_EXIT_REFUSED)
        return error_set(error, TR_ECHILD,
                         "%s belongs to another release than this library; install both from one "
                         "release, or use \"method\" random",
                         program);
    if (head->answered == 1 && head->status == METIS_STATUS_MEMORY)
        return error_set(error, TR_ECHILD,
                         "METIS ran out of memory; use \"method\" random, or a machine with more");
    /* METIS stumbles again while it cleans up, and then does not say that memory was the reason;
     * nor does a loader that cannot map the program's libraries. */
    return error_set(
        error, TR_ECHILD,
        "METIS failed (%s: status %d, exit %d), perhaps because memory was short; use a machine "
        "with more, another number of partitions, fewer constraints, or \"method\" random",
        program, head->answered == 1 ? head->status : 0, code);
}

static int read_array(int memory, void *to, size_t bytes, size_t at, struct error *error)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(memory, (char *)to + done, bytes - done, (off_t)(at + done));
        if (got == 0 || (got < 0 && errno != EINTR))
            return error_set_errno(error, got == 0 ? EIO : errno, "reading METIS's answer");
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static int read_parts(const struct exchange *exchange, uint32_t *parts, struct error *error)
{
    const struct metis_exchange *head = &exchange->head;
    for (uint64_t v = 0; v < head->num_nodes; v += PARTS_AT_ONCE) {
        uint64_t left = head->num_nodes - v, count = left < PARTS_AT_ONCE ? left : PARTS_AT_ONCE;
        int rv = read_array(exchange->memory, parts + v, count * sizeof *parts,
                            exchange->layout.parts + v * sizeof *parts, error);
        if (rv != 0)
            return rv;
        for (uint64_t i = v; i < v + count; i++) {
            if (parts[i] >= head->num_parts)
                return error_set(error, TR_ECHILD, "METIS gave a node to partition %u of %u",
                                 parts[i], head->num_parts);
        }
    }
    return 0;
}

/* The question's numbers stay those that were asked: only the answer is taken from the helper's
 * head. */
static int read_answer(const char *program, const struct exchange *exchange, struct ending ending,
                       uint32_t *parts, struct metis_answer *answer, struct error *error)
{
    struct metis_exchange head;
    int rv = read_array(exchange->memory, &head, sizeof head, 0, error);
    if (rv != 0)
        return rv;
    bool ended_well = !ending.known ||
                      (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 0);
    if (!ended_well || head.answered != 1 || head.status != METIS_STATUS_OK)
        return metis_child_explain(program, ending, &head, error);
    *answer = (struct metis_answer){ .seconds = head.seconds,
                                     .objective = head.objective,
                                     .peak_bytes = head.peak_bytes };
    return read_parts(exchange, parts, error);
}

int metis_run(struct partition_job *job, const struct metis_question *question, uint32_t *parts,
              struct metis_answer *answer, struct error *error)
{
    struct exchange exchange;
    struct ending ending;
    char *program;
    pid_t child;
    /* The program is searched for first: where there is none, the question, which takes long and
     * much memory, is not written in vain. */
    int rv = metis_program_find(&program, error);
    if (rv != 0)
        return rv;
    rv = exchange_open(&exchange, job, question, error);
    if (rv != 0) {
        free(program);
        return rv;
    }
    symmetric_free_edges(question->graph); /* before METIS needs its memory */
    int rc = spawn_metis(program, exchange.memory, &child);
    if (rc != 0)
        rv = error_set_errno(error, rc, "starting %s, which runs METIS", program);
    else
        rv = wait_for(job, child, &ending, error);
    if (rc == 0 && rv == 0)
        rv = read_answer(program, &exchange, ending, parts, answer, error);
    close(exchange.memory);
    free(program);
    return rv;
}

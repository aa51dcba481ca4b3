#include "config.h"

#include "partition/build/metis_child.h"

#include <errno.h>
#include <fcntl.h>
#include <metis.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "this METIS has 64-bit indices");

/* How long the parent sleeps between looks at the child: short first, for small graphs. */
#define SLEEP_FIRST_NS 200000
#define SLEEP_MAX_NS 20000000

/* In memory that parent and child share. */
struct shared {
    int status; /* METIS_*; 0 until METIS has answered */
    double seconds;
    int64_t objective;
    idx_t parts[];
};

/* METIS reads the graph and leaves it as it is, but its functions don't say so. */
static idx_t *unconst(const int32_t *array)
{
    return (idx_t *)(uintptr_t)array;
}

static void call_metis(const struct metis_question *question, struct shared *shared)
{
    idx_t options[METIS_NOPTIONS], objective = 0;
    idx_t num_nodes = (idx_t)question->graph->num_nodes;
    idx_t num_constraints = question->num_constraints, num_parts = question->num_parts;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_OBJTYPE] = question->volume ? METIS_OBJTYPE_VOL : METIS_OBJTYPE_CUT;
    options[METIS_OPTION_SEED] = (idx_t)((question->seed ^ question->seed >> 32) & INT32_MAX);
    double begin = job_seconds();
    int status = METIS_PartGraphKway(&num_nodes, &num_constraints, unconst(question->graph->index),
                                     unconst(question->graph->adjacency),
                                     unconst(question->weights), NULL, NULL, &num_parts, NULL, NULL,
                                     options, &objective, shared->parts);
    shared->seconds = job_seconds() - begin;
    shared->objective = objective;
    shared->status = status;
}

/* Never returns. Signals that a terminal or timeout(1) sends to the whole group are for the parent
 * to answer, so the child leaves the group; METIS takes a SIGTERM for a failure of its own. */
static void run_child(const struct metis_question *question, struct shared *shared, pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) {
        ssize_t ignored = write(score, "1000", 4); /* only a preference */
        (void)ignored;
        close(score);
    }
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    call_metis(question, shared);
    _exit(0);
}

static int wait_for(struct partition_job *job, pid_t child, int *how, struct rusage *usage,
                    struct error *error)
{
    struct timespec nap = { .tv_nsec = SLEEP_FIRST_NS };
    int rv = 0;
    for (;;) {
        /* Cancelled: the child is killed, and then waited for without another question. */
        if (rv == 0) {
            rv = job_step(job, "METIS", 0, 1, error);
            if (rv != 0)
                kill(child, SIGKILL);
        }
        pid_t ended = wait4(child, how, rv == 0 ? WNOHANG : 0, usage);
        if (ended == child)
            return rv;
        if (ended < 0 && errno != EINTR)
            return error_set_errno(error, errno, "waiting for METIS's process");
        nanosleep(&nap, NULL);
        if (nap.tv_nsec < SLEEP_MAX_NS)
            nap.tv_nsec *= 2;
    }
}

static int explain(int how, int status, struct error *error)
{
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL)
        return error_set(error, TR_ECHILD,
                         "METIS's process was killed, by somebody or for want of memory; use "
                         "--method random, or a machine with more memory");
    if (WIFSIGNALED(how))
        return error_set(error, TR_ECHILD,
                         "METIS's process died of signal %d (%s); use another number of "
                         "partitions, fewer constraints, or --method random",
                         WTERMSIG(how), strsignal(WTERMSIG(how)));
    if (status == METIS_ERROR_MEMORY)
        return error_set(error, TR_ECHILD,
                         "METIS ran out of memory; use --method random, or a machine with more");
    /* METIS stumbles again while it cleans up, and then does not say that memory was the reason. */
    return error_set(error, TR_ECHILD,
                     "METIS failed (status %d, exit %d), perhaps for want of memory; use a machine "
                     "with more, another number of partitions, fewer constraints, or --method "
                     "random",
                     status, WIFEXITED(how) ? WEXITSTATUS(how) : -1);
}

static int take(const struct shared *shared, const struct metis_question *question, uint32_t *parts,
                struct error *error)
{
    for (uint64_t v = 0; v < question->graph->num_nodes; v++) {
        if (shared->parts[v] < 0 || shared->parts[v] >= question->num_parts)
            return error_set(error, TR_ECHILD, "METIS gave a node to partition %d of %d",
                             shared->parts[v], question->num_parts);
        parts[v] = (uint32_t)shared->parts[v];
    }
    return 0;
}

int metis_run(struct partition_job *job, const struct metis_question *question, uint32_t *parts,
              struct metis_answer *answer, struct error *error)
{
    size_t bytes = sizeof(struct shared) + question->graph->num_nodes * sizeof(idx_t);
    struct rusage usage = { 0 };
    int how = 0;
    struct shared *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                 -1, 0);
    if (shared == MAP_FAILED)
        return job_no_memory(error, "METIS's answer", bytes);
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        run_child(question, shared, parent);
    int rv = child < 0 ? error_set_errno(error, errno, "starting METIS's process")
                       : wait_for(job, child, &how, &usage, error);
    if (rv == 0 && (!WIFEXITED(how) || shared->status != METIS_OK))
        rv = explain(how, shared->status, error);
    if (rv == 0)
        rv = take(shared, question, parts, error);
    if (rv == 0)
        *answer = (struct metis_answer){ .seconds = shared->seconds,
                                         .objective = shared->objective,
                                         .peak_bytes = (uint64_t)usage.ru_maxrss * 1024 };
    munmap(shared, bytes);
    return rv;
}

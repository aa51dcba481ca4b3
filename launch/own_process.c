/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This process as a launcher started it.
 *
 * Invariants:
 * - orphaned is set once, by the launcher's thread, before it interrupts the attached session; a
 *   session that is attached later is interrupted by the thread that attaches it. Both hold the
 *   mutex, so that no session is missed, and none is interrupted once it was detached.
 * - The launcher's thread is there from tr_process_watch(), or from the first session that is
 *   attached, to tr_process_close(). It alone reads the standard input after tr_process_watch().
 * - Loops say nothing themselves: a launcher that reads nothing for a while, and whose pipe is
 *   full, would stop their heartbeats. They leave it in a queue, which the launcher's thread
 *   prints.
 * - A thread that says something itself does so within a time (notice_print.h).
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <troupe/process.h>

#include "actors/cluster/process_notice.h"
#include "api/event_queue.h"
#include "api/internal.h"
#include "api/public_error.h"
#include "api/sized.h"
#include "launch/input_watch.h"
#include "launch/job_key.h"
#include "launch/notice_print.h"
#include "launch/process_identity.h"
#include "partition/store/book_json.h"
#include "runtime/base/deadline.h"
#include "runtime/base/failpoint.h"
#include "runtime/base/fork_mark.h"
#include "runtime/base/thread.h"

/* How the process ends that hangs after its launcher has gone. */
#define EXIT_ORPHANED 1
#define HOST_NAME_MAX_BYTES 256
/* More peers than these are not counted as dead while the output takes nothing: the oldest go. */
#define SILENT_MAX 1024

_Static_assert(TR_PROCESS_UNSAID == PROCESS_IDENTITY_NONE && CLUSTER_UNSAID == UINT64_MAX,
               "numbers are handed on");

/* A peer that is silent, for the launcher. */
struct silent_peer {
    struct queued_event queued; /* first */
    uint32_t node, incarnation;
};

/* The messages that loops leave for the launcher's thread. The process has it, and each session
 * that was attached as long as it has loops. */
struct silent_peers {
    atomic_uint references;
    struct event_queue queue; /* struct silent_peer */
};

struct tr_process {
    struct fork_mark *mark;
    struct cluster cluster;
    struct tr_process_info info; /* its texts are those of cluster, and these: */
    char *cluster_path, *graph;
    struct job_key key;
    enum launcher_role role;
    atomic_bool orphaned;
    atomic_int_least64_t linger_ns; /* from that to the interrupt of the session */
    struct silent_peers *silent;
    int wake; /* an eventfd: the launcher's thread looks at what follows */
    atomic_bool watching, closing;
    pthread_mutex_t mutex; /* guards what follows */
    bool has_thread;
    pthread_t thread;
    struct tr_session *session;
};

static const char *look_up(void *arg, const char *name)
{
    (void)arg;
    return getenv(name);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && strcmp(value, "1") == 0;
}

bool tr_process_is_launched(void)
{
    return is_set("TROUPE_LAUNCHED");
}

bool tr_process_is_restarted(void)
{
    return tr_process_is_launched() && is_set("TROUPE_RESTARTED");
}

/* It is for people alone: a launcher of another version, or a number that is none, says nothing. */
static uint32_t count_restarts(void)
{
    uint32_t restarts;
    return tr_process_is_launched() &&
                   process_identity_read_number(getenv("TROUPE_RESTARTS"), &restarts) &&
                   restarts != PROCESS_IDENTITY_NONE
               ? restarts
               : 0;
}

static int own_process_mine(const struct tr_process *process, struct tr_error *error)
{
    return fork_mark_is_child(process->mark) ? error_forked(error, "the process") : 0;
}

/* The plan depends on how many partitions there are, and only on that. */
static int make_plan(struct tr_process *process, struct cluster_plan *plan, struct error *error)
{
    struct book_file book = { 0 };
    int rv = book_file_read(&book, files_posix, process->graph, error);
    if (rv == 0)
        rv = cluster_plan_make(plan, &process->cluster, book.book.num_parts, error);
    book_file_fini(&book);
    return rv;
}

/* No file says more seconds than fit (CLUSTER_SECONDS_MAX). */
static int64_t limit_of(uint64_t seconds)
{
    return seconds == CLUSTER_UNSAID ? TR_PROCESS_LIMIT_UNSAID
                                     : (int64_t)seconds * INT64_C(1000000000);
}

static void own_process_describe(struct tr_process *process, const struct cluster_plan *plan,
                                 uint32_t number)
{
    const struct plan_process *plays = &plan->plan.processes[number];
    const struct cluster *cluster = &process->cluster;
    const struct cluster_host *host = &cluster->hosts[plays->host];
    process->info = (struct tr_process_info){
        .size = sizeof process->info,
        .process = number,
        .host = plays->host,
        .num_trainers = plays->trainers.count,
        .threads = host->threads,
        .first_of_host = number == cluster_host_processes(plan, plays->host).first,
        .beside_trainers = host->trainers > 0,
        .launched = tr_process_is_launched(),
        .restarted = tr_process_is_restarted(),
        .has_seed = cluster->has_seed,
        .seed = cluster->seed,
        .checkpoint_every = cluster->checkpoints.every,
        .step_limit_ns = limit_of(cluster->limits.step_limit),
        .disk_wait_ns = limit_of(cluster->limits.disk_wait),
        .incarnation = process->info.incarnation,
        .cluster = process->cluster_path,
        .name = cluster->name,
        .host_name = host->name,
        .graph = process->graph,
        .shared_key = process->key.path,
        .checkpoints = cluster->checkpoints.folder,
    };
}

static int find_place(struct tr_process *process, const struct tr_process_options *options,
                      struct error *error)
{
    struct cluster_plan plan = { 0 };
    char host_name[HOST_NAME_MAX_BYTES] = "";
    uint32_t number = PROCESS_IDENTITY_NONE;
    if (gethostname(host_name, sizeof host_name - 1) != 0)
        host_name[0] = '\0';
    const struct process_identity_wanted wanted = {
        .process = options->process,
        .host = options->host,
        .role = process->role,
        .index = options->index,
        .environment = look_up,
        .host_name = host_name[0] != '\0' ? host_name : NULL,
    };
    int rv = make_plan(process, &plan, error);
    if (rv == 0)
        rv = process_identity_find(&plan, &wanted, &number, error);
    if (rv == 0)
        rv = process_identity_check(&plan.plan, number, process->role, error);
    if (rv == 0)
        own_process_describe(process, &plan, number);
    cluster_plan_fini(&plan);
    return rv;
}

static int find_graph(struct tr_process *process, const char *graph, struct error *error)
{
    if (graph == NULL)
        graph = process->cluster.graph;
    if (graph == NULL)
        graph = getenv("TROUPE_GRAPH");
    if (graph == NULL)
        return error_set(error, TR_EINVAL,
                         "%s names no graph: add its field 'graph', or give NAME.json",
                         process->cluster_path);
    process->graph = strdup(graph);
    return process->graph != NULL ? 0 : error_set(error, TR_ENOMEM, "no memory for a path");
}

static int role_of(uint32_t role, enum launcher_role *out, struct error *error)
{
    if (role == TR_ROLE_TRAINER)
        *out = LAUNCHER_TRAINER;
    else if (role == TR_ROLE_SAMPLER)
        *out = LAUNCHER_SAMPLER;
    else if (role == TR_ROLE_SERVER)
        *out = LAUNCHER_SERVER;
    else
        return error_set(error, TR_EINVAL,
                         "role: %u; TR_ROLE_TRAINER, TR_ROLE_SAMPLER and TR_ROLE_SERVER are "
                         "possible",
                         role);
    return 0;
}

/* One that was misread could be smaller than that of the process's last life, which others
 * refuse. */
static int read_incarnation(struct tr_process *process, struct error *error)
{
    const char *text = getenv("TROUPE_INCARNATION");
    if (text == NULL)
        return 0;
    if (process_identity_read_number(text, &process->info.incarnation) &&
        process->info.incarnation != 0)
        return 0;
    return error_set(error, TR_EINVAL,
                     "TROUPE_INCARNATION=%s in the environment: give a number from 1 to %u", text,
                     UINT32_MAX - 1);
}

/* The key comes first: it is the first that the standard input holds. */
static int own_process_find(struct tr_process *process, const struct tr_process_options *options,
                            int64_t timeout_ns, struct error *error)
{
    const char *path = options->cluster != NULL ? options->cluster : getenv("TROUPE_CLUSTER");
    /* Options and environment are checked before the input is read, whose line no second attempt
     * finds again. */
    int rv = role_of(options->role, &process->role, error);
    if (rv == 0)
        rv = read_incarnation(process, error);
    if (rv != 0)
        return rv;
    if (path == NULL)
        return error_set(
            error, TR_EINVAL,
            "options.cluster is missing: name the cluster file there, or in TROUPE_CLUSTER");
    process->cluster_path = strdup(path);
    if (process->cluster_path == NULL)
        return error_set(error, TR_ENOMEM, "no memory for a path");
    rv = job_key_find(&process->key, timeout_ns, -1, error);
    if (rv == 0)
        rv = cluster_read(files_posix, path, &process->cluster, error);
    if (rv == 0)
        rv = cluster_use_key(&process->cluster, process->key.path, error);
    if (rv == 0)
        rv = find_graph(process, options->graph, error);
    return rv == 0 ? find_place(process, options, error) : rv;
}

static void silent_release(void *arg)
{
    struct silent_peers *silent = arg;
    /* Release, then acquire by the last one, which must see what all others did. */
    if (atomic_fetch_sub_explicit(&silent->references, 1, memory_order_acq_rel) != 1)
        return;
    event_queue_fini(&silent->queue);
    free(silent);
}

static void own_process_destroy(struct tr_process *process)
{
    cluster_fini(&process->cluster);
    free(process->cluster_path);
    free(process->graph);
    job_key_fini(&process->key);
    silent_release(process->silent);
    close(process->wake);
    pthread_mutex_destroy(&process->mutex);
    fork_mark_destroy(process->mark);
    free(process);
}

static int create_doors(struct tr_process *process, struct error *error)
{
    process->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (process->wake < 0)
        return error_set_errno(error, errno, "no descriptor to watch the launcher with");
    process->silent = calloc(1, sizeof *process->silent);
    int rv = process->silent != NULL ? event_queue_init(&process->silent->queue, SILENT_MAX, error)
                                     : error_set(error, TR_ENOMEM, "no memory for a process");
    if (rv != 0) {
        free(process->silent);
        close(process->wake);
        return rv;
    }
    atomic_init(&process->silent->references, 1);
    return 0;
}

static void wake_thread(struct tr_process *process)
{
    const uint64_t one = 1;
    ssize_t written = write(process->wake, &one, sizeof one);
    (void)written; /* a counter that is full wakes as well */
}

static const struct tr_process_options DEFAULTS = { .size = sizeof DEFAULTS,
                                                    .role = TR_ROLE_TRAINER,
                                                    .process = TR_PROCESS_UNSAID,
                                                    .index = TR_PROCESS_UNSAID };

void tr_process_options_init_sized(struct tr_process_options *options, size_t size)
{
    sized_init(options, size, &DEFAULTS, sizeof DEFAULTS);
}

int tr_process_open(const struct tr_process_options *caller, int64_t timeout_ns,
                    struct tr_process **out, struct tr_error *error)
{
    struct tr_process_options options = DEFAULTS;
    struct error inner = { 0 };
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_process_options", error);
    if (rv != 0)
        return rv;
    struct tr_process *process = calloc(1, sizeof *process);
    struct fork_mark *mark = fork_mark_create();
    if (process == NULL || mark == NULL) {
        fork_mark_destroy(mark);
        free(process);
        return tr_error_set(error, TR_ENOMEM, "no memory for a process's place");
    }
    rv = create_doors(process, &inner);
    if (rv != 0) {
        fork_mark_destroy(mark);
        free(process);
        return error_give(&inner, error);
    }
    process->mark = mark;
    pthread_mutex_init(&process->mutex, NULL);
    atomic_init(&process->orphaned, false);
    atomic_init(&process->linger_ns, 0);
    atomic_init(&process->watching, false);
    atomic_init(&process->closing, false);
    /* All that own_process_destroy() takes down stands before the first step that may fail behind
     * it. */
    rv = own_process_find(process, &options, timeout_ns, &inner);
    if (rv != 0) {
        own_process_destroy(process);
        return error_give(&inner, error);
    }
    *out = process;
    return 0;
}

void tr_process_close(struct tr_process *process)
{
    if (process == NULL || fork_mark_is_child(process->mark))
        return;
    if (process->has_thread) {
        /* The flag stands before the wake, by which the thread sees it, and the thread ends before
         * anything that it uses is freed. */
        atomic_store(&process->closing, true);
        wake_thread(process);
        pthread_join(process->thread, NULL);
    }
    own_process_destroy(process);
}

int tr_process_info(const struct tr_process *process, struct tr_process_info *info,
                    struct tr_error *error)
{
    int rv = own_process_mine(process, error);
    return rv != 0
               ? rv
               : sized_write(info, &process->info, sizeof process->info, "tr_process_info", error);
}

/* These fields are in every version of the struct. */
int tr_process_session(const struct tr_process *process, struct tr_session_options *options,
                       struct tr_error *error)
{
    int rv = own_process_mine(process, error);
    if (rv != 0)
        return rv;
    options->cluster = process->cluster_path;
    options->process = process->info.process;
    options->shared_key = process->key.path;
    if (process->info.incarnation != 0)
        options->incarnation = process->info.incarnation;
    return 0;
}

static uint64_t own_process_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool tr_process_is_orphaned(const struct tr_process *process)
{
    /* Relaxed: the flag carries no other data. */
    return atomic_load_explicit(&process->orphaned, memory_order_relaxed);
}

static void own_process_interrupt(struct tr_process *process)
{
    pthread_mutex_lock(&process->mutex);
    if (process->session != NULL)
        tr_session_interrupt(process->session);
    pthread_mutex_unlock(&process->mutex);
}

static int give_silent(void *arg, const struct queued_event *event)
{
    *(struct silent_peer *)arg = *(const struct silent_peer *)(const void *)event;
    return 0;
}

/* A line that a pipe with room for it takes whole, beside what others print. Another thread may
 * have half of a line out, of which the notice would become the end: it begins with the end of
 * that. */
static void print_silent(struct tr_process *process)
{
    struct silent_peer peer;
    struct queued_event *taken;
    char line[128];
    if (event_queue_take(&process->silent->queue, 0, give_silent, &peer, &taken) != 0)
        return;
    free(taken);
    int length = snprintf(line, sizeof line, "\n" NOTICE_SILENT NOTICE_SILENT_WRITE "\n", peer.node,
                          peer.incarnation);
    ssize_t written = write(STDOUT_FILENO, line, (size_t)length);
    (void)written; /* a launcher that is gone is noticed by the input */
}

/* Prints what was left before the process was closed, as far as the output takes it at once. */
static void print_rest(struct tr_process *process)
{
    struct pollfd output = { .fd = STDOUT_FILENO, .events = POLLOUT };
    while (event_queue_has_any(&process->silent->queue) && poll(&output, 1, 0) > 0 &&
           output.revents == POLLOUT)
        print_silent(process);
}

/* The launcher's thread: notices the end of the input, and reports silent peers whenever the output
 * takes it. After the end it waits for that of the process alone. */
static void *serve_launcher(void *arg)
{
    struct tr_process *process = arg;
    struct deadline kill = { .never = true };
    uint64_t since_ns = 0;
    bool interrupted = false;
    while (!atomic_load(&process->closing)) {
        bool open = kill.never, any = event_queue_has_any(&process->silent->queue);
        struct pollfd polled[] = {
            { .fd = process->wake, .events = POLLIN },
            { .fd = open && atomic_load(&process->watching) ? STDIN_FILENO : -1, .events = POLLIN },
            { .fd = open && !any ? process->silent->queue.descriptor : -1, .events = POLLIN },
            { .fd = open && any ? STDOUT_FILENO : -1, .events = POLLOUT },
        };
        uint64_t count;
        int wait_ms = deadline_poll_ms(&kill);
        if (!kill.never && !interrupted) {
            int64_t left_ns = atomic_load(&process->linger_ns) -
                              (int64_t)(own_process_now_ns() - since_ns);
            int left_ms = left_ns > 0 ? (int)(left_ns / 1000000) + 1 : 0;
            wait_ms = wait_ms < 0 || left_ms < wait_ms ? left_ms : wait_ms;
            /* The flags are read behind the store, by whoever attaches a session now. */
            if (left_ns <= 0) {
                interrupted = true;
                own_process_interrupt(process);
                continue;
            }
        }
        if (poll(polled, sizeof polled / sizeof polled[0], wait_ms) < 0)
            continue;
        /* The end of the grace is asked for first: nothing else that is ready may put it off. */
        if (!kill.never && deadline_passed(&kill))
            _exit(EXIT_ORPHANED);
        /* The wake is cleared here and the flags are read behind it, in the next round. */
        if (polled[0].revents != 0 && read(process->wake, &count, sizeof count) < 0)
            continue;
        if (input_watch_ended(polled[1].revents)) {
            /* The session is interrupted in the next round, or when the process has lingered. A
             * session that is attached behind the flag finds it (tr_process_attach). */
            kill = deadline_after(TR_PROCESS_ORPHAN_NS);
            since_ns = own_process_now_ns();
            atomic_store_explicit(&process->orphaned, true, memory_order_relaxed);
        }
        if (polled[3].revents != 0)
            print_silent(process);
    }
    /* The rest is printed behind the loop, which ends whatever is queued; behind the end of the
     * input nobody reads it. */
    if (kill.never)
        print_rest(process);
    return NULL;
}

/* Under the mutex. */
static int start_thread(struct tr_process *process, struct tr_error *error)
{
    if (process->has_thread)
        return 0;
    int rv = thread_create(&process->thread, "tr-launcher", serve_launcher, process);
    if (rv != 0)
        return tr_error_set(error, rv, "cannot start the thread that watches the launcher");
    process->has_thread = true;
    return 0;
}

int tr_process_watch(struct tr_process *process, struct tr_error *error)
{
    int rv = own_process_mine(process, error);
    if (rv != 0 || !process->info.launched)
        return rv;
    pthread_mutex_lock(&process->mutex);
    if (atomic_load(&process->watching))
        rv = tr_error_set(error, TR_EEXIST, "the launcher is watched already");
    else
        rv = start_thread(process, error);
    if (rv == 0) {
        /* The flag stands before the wake, by which the thread begins to poll the input. */
        atomic_store(&process->watching, true);
        wake_thread(process);
    }
    pthread_mutex_unlock(&process->mutex);
    return rv;
}

int tr_process_linger(struct tr_process *process, int64_t linger_ns, struct tr_error *error)
{
    int rv = own_process_mine(process, error);
    if (rv == 0 && (linger_ns < 0 || linger_ns > TR_PROCESS_LINGER_NS))
        rv = tr_error_set(error, TR_ERANGE, "linger_ns: %lld; it is 0 to %lld",
                          (long long)linger_ns, (long long)TR_PROCESS_LINGER_NS);
    if (rv != 0)
        return rv;
    /* The time stands before the wake, behind which the thread reads it. */
    atomic_store(&process->linger_ns, linger_ns);
    wake_thread(process);
    return 0;
}

/* On a loop. */
static void leave_silent(void *arg, uint32_t node, uint32_t incarnation)
{
    struct silent_peers *silent = arg;
    struct silent_peer *peer = calloc(1, sizeof *peer);
    if (peer != NULL)
        *peer = (struct silent_peer){ { .cost = 1 }, node, incarnation };
    event_queue_put(&silent->queue, peer != NULL ? &peer->queued : NULL);
}

int tr_process_attach(struct tr_process *process, struct tr_session *session,
                      struct tr_error *error)
{
    int rv = own_process_mine(process, error);
    if (rv == 0 && session != NULL)
        rv = session_mine(session, error);
    if (rv != 0)
        return rv;
    pthread_mutex_lock(&process->mutex);
    /* The thread comes before anything is noted: where it cannot be made the session is not
     * attached. */
    if (session != NULL && process->info.launched)
        rv = start_thread(process, error);
    if (rv != 0) {
        pthread_mutex_unlock(&process->mutex);
        return rv;
    }
    process->session = session;
    if (session != NULL)
        session->restarts = count_restarts();
    if (session != NULL && process->info.launched && session->silent == NULL) {
        /* The reference is counted before the session has it. */
        atomic_fetch_add_explicit(&process->silent->references, 1, memory_order_relaxed);
        session->silent = leave_silent;
        session->silent_release = silent_release;
        session->silent_arg = process->silent;
    }
    /* This is asked last, when own_process_interrupt() would find the session too: one of the two
     * interrupts it. */
    if (session != NULL && tr_process_is_orphaned(process) && atomic_load(&process->linger_ns) == 0)
        tr_session_interrupt(session);
    pthread_mutex_unlock(&process->mutex);
    return 0;
}

int tr_process_say_ready(const struct tr_process *process, int64_t timeout_ns,
                         struct tr_error *error)
{
    int rv = own_process_mine(process, error);
    if (rv == 0)
        rv = notice_print(timeout_ns, error, "%s process %u of %s\n", NOTICE_READY,
                          process->info.process, process->info.name);
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_START_SAID);
    return rv;
}

int tr_process_say_kernels(const char *kernels, int64_t timeout_ns, struct tr_error *error)
{
    if (kernels == NULL || strchr(kernels, '\n') != NULL)
        return tr_error_set(error, TR_EINVAL, "kernels: not one line of text");
    return tr_process_is_launched()
               ? notice_print(timeout_ns, error, "%s %s\n", NOTICE_KERNELS, kernels)
               : 0;
}

int tr_process_say_checkpoint(uint64_t step, int64_t timeout_ns, struct tr_error *error)
{
    return tr_process_is_launched()
               ? notice_print(timeout_ns, error, "%s %" PRIu64 "\n", NOTICE_CHECKPOINT, step)
               : 0;
}

int tr_process_say_era(uint64_t step, int64_t timeout_ns, struct tr_error *error)
{
    return tr_process_is_launched()
               ? notice_print(timeout_ns, error, "%s %" PRIu64 "\n", NOTICE_ERA, step)
               : 0;
}

int tr_process_say_left(bool asked, int64_t timeout_ns, struct tr_error *error)
{
    const char *notice = asked ? NOTICE_LEFT : NOTICE_LEFT NOTICE_LEFT_ORPHANED;
    return tr_process_is_launched() ? notice_print(timeout_ns, error, "%s\n", notice) : 0;
}

int tr_process_say_complete(int64_t timeout_ns, struct tr_error *error)
{
    return tr_process_is_launched() ? notice_print(timeout_ns, error, "%s\n", NOTICE_COMPLETE) : 0;
}

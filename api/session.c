/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session: its options, joined with those of the cluster file; its interrupts; and its end.
 *
 * Invariants: `interrupts` only grows and `resumed` is a value that it had, so a call may begin
 * while the two are equal. Once `closed` is set no graph joins the list (graph_adopt() refuses it),
 * so a close stops all that there are. The memory stays until the last handle that was made from
 * the session has gone, on whatever thread that is.
 */
#include <troupe/session.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/internal.h"
#include "api/log_queue.h"
#include "runtime/base/thread.h"
#include "runtime/core/dump.h"
#include "runtime/event/env_event.h"

#define LOOPS_DEFAULT_MAX 16
#define LOOPS_MAX 64
#define SAMPLERS_MAX 1024u
#define TRAINERS_MAX 1024u
#define MEMORY_BYTES_DEFAULT (UINT64_C(4) << 30)
#define RECOVERY_NS_DEFAULT (INT64_C(600) * 1000000000)
/* Work that blocks is short and rare here: loading is done on the caller's thread. */
#define CREW_THREADS 1

static const struct tr_session_options DEFAULTS = { .size = sizeof DEFAULTS, .direct = true };

void tr_session_options_init_sized(struct tr_session_options *options, size_t size)
{
    sized_init(options, size, &DEFAULTS, sizeof DEFAULTS);
}

static void fill_defaults(struct tr_session_options *options)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    processors = processors < 1 ? 1 : processors;
    if (options->loops == 0)
        options->loops = (uint32_t)(processors < LOOPS_DEFAULT_MAX ? processors
                                                                   : LOOPS_DEFAULT_MAX);
    if (options->samplers == 0)
        options->samplers = options->loops;
    if (options->trainers == 0)
        options->trainers = 1;
    if (options->memory_bytes_max == 0)
        options->memory_bytes_max = MEMORY_BYTES_DEFAULT;
    if (options->recovery_deadline_ns == 0)
        options->recovery_deadline_ns = RECOVERY_NS_DEFAULT;
}

/* The file goes before the caller, but for choices of this one process. */
static int read_cluster(struct tr_session *session, struct error *error)
{
    struct tr_session_options *o = &session->options;
    if (o->cluster == NULL)
        return 0;
    int rv = cluster_read(files_posix, o->cluster, &session->cluster, error);
    if (rv != 0)
        return rv;
    const struct cluster *cluster = &session->cluster;
    session->in_cluster = true;
    o->cluster = cluster->path;
    o->direct = o->direct && cluster->direct;
    o->codec = o->codec || cluster->codec;
    if (cluster->has_seed)
        o->seed = cluster->seed;
    if (cluster->limits.memory_bytes != 0)
        o->memory_bytes_max = cluster->limits.memory_bytes;
    if (cluster->limits.tensor_bytes != 0)
        o->tensor_bytes_max = cluster->limits.tensor_bytes;
    if (cluster->limits.recovery_deadline_ns != 0)
        o->recovery_deadline_ns = (int64_t)cluster->limits.recovery_deadline_ns;
    if (cluster->checkpoints.folder != NULL)
        o->checkpoints = cluster->checkpoints.folder;
    if (cluster->checkpoints.keep != 0)
        o->checkpoint_keep = cluster->checkpoints.keep;
    return cluster_use_key(&session->cluster, o->shared_key, error);
}

static int session_check(const struct tr_session *session, struct tr_error *error)
{
    const struct tr_session_options *o = &session->options;
    if (o->loops > LOOPS_MAX)
        return tr_error_set(error, TR_ERANGE, "loops: %u asked for; give at most %d", o->loops,
                            LOOPS_MAX);
    if (o->samplers > SAMPLERS_MAX)
        return tr_error_set(error, TR_ERANGE, "samplers: %u asked for; give at most %u",
                            o->samplers, SAMPLERS_MAX);
    if (o->trainers > TRAINERS_MAX)
        return tr_error_set(error, TR_ERANGE, "trainers: %u asked for; give at most %u",
                            o->trainers, TRAINERS_MAX);
    if (o->recovery_deadline_ns < 0)
        return tr_error_set(error, TR_EINVAL, "recovery_deadline_ns: %lld; give 0 or more",
                            (long long)o->recovery_deadline_ns);
    return 0;
}

/* Does what a signal handler may not: takes locks to wake those that wait. */
static void *wake_calls(void *arg)
{
    struct tr_session *session = arg;
    for (;;) {
        while (sem_wait(&session->woken) != 0 && errno == EINTR) {
        }
        /* The end is asked for before the mutex: stop_waker() posts the semaphore for it alone. */
        if (atomic_load_explicit(&session->ended, memory_order_acquire))
            return NULL;
        pthread_mutex_lock(&session->mutex);
        for (struct tr_graph *g = session->graphs; g != NULL; g = g->next)
            graph_wake(g);
        for (struct tr_graph *g = session->opening; g != NULL; g = g->next)
            graph_wake(g);
        pthread_mutex_unlock(&session->mutex);
    }
}

static int start_waker(struct tr_session *session, struct tr_error *error)
{
    int rv = thread_create(&session->waker, "tr-interrupts", wake_calls, session);
    session->has_waker = rv == 0;
    return rv == 0 ? 0 : tr_error_set(error, rv, "no thread for a session");
}

static void stop_waker(struct tr_session *session)
{
    if (!session->has_waker)
        return;
    /* The flag stands before the post, by which the waker finds it. */
    atomic_store_explicit(&session->ended, true, memory_order_release);
    sem_post(&session->woken);
    pthread_join(session->waker, NULL);
}

void tr_session_interrupt(struct tr_session *session)
{
    if (session_is_child(session)) /* the semaphore is its own, but nobody waits on it */
        return;
    /* The number comes first: a call that the waker wakes must find it. */
    atomic_fetch_add_explicit(&session->interrupts, 1, memory_order_release);
    int saved = errno;
    sem_post(&session->woken);
    errno = saved;
}

void tr_session_resume(struct tr_session *session)
{
    if (session_is_child(session))
        return;
    unsigned interrupts = atomic_load_explicit(&session->interrupts, memory_order_acquire);
    atomic_store_explicit(&session->resumed, interrupts, memory_order_release);
}

int session_seen(const struct tr_session *session, unsigned *seen)
{
    *seen = atomic_load_explicit(&session->interrupts, memory_order_acquire);
    bool resumed = *seen == atomic_load_explicit(&session->resumed, memory_order_acquire);
    return resumed ? 0 : TR_ECANCELED;
}

bool session_is_interrupted(const struct tr_session *session, unsigned seen)
{
    return atomic_load_explicit(&session->interrupts, memory_order_acquire) != seen;
}

static int session_start(struct tr_session *session, struct tr_error *error)
{
    struct error why = { 0 };
    int rv = read_cluster(session, &why);
    if (rv != 0)
        return error_give(&why, error);
    /* Defaults come behind the file, which says what the caller left open; both are checked
     * together. */
    fill_defaults(&session->options);
    rv = session_check(session, error);
    if (rv != 0)
        return rv;
    session->store = batch_store_create(session->options.memory_bytes_max);
    session->lists = seed_lists_create();
    if (session->store == NULL || session->lists == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a session");
    rv = env_event_create(CREW_THREADS, &session->env, &why);
    /* The waker's thread comes last: nothing that fails above has to end it. */
    return rv != 0 ? error_give(&why, error) : start_waker(session, error);
}

/* Copies names, which the caller may free when the call returns. */
static int keep_names(struct tr_session *session)
{
    if (session->options.checkpoints == NULL)
        return 0;
    session->checkpoints = strdup(session->options.checkpoints);
    session->options.checkpoints = session->checkpoints;
    return session->checkpoints == NULL ? TR_ENOMEM : 0;
}

static struct tr_session *session_create(void)
{
    struct tr_session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return NULL;
    atomic_init(&session->references, 1);
    atomic_init(&session->next_loader, 1);
    atomic_init(&session->interrupts, 0);
    atomic_init(&session->resumed, 0);
    atomic_init(&session->ended, false);
    sem_init(&session->woken, 0, 0);
    pthread_mutex_init(&session->mutex, NULL);
    session->options = DEFAULTS;
    return session;
}

int tr_session_open(const struct tr_session_options *options, struct tr_session **out,
                    struct tr_error *error)
{
    *out = NULL;
    struct tr_session *session = session_create();
    if (session == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a session");
    int rv = 0;
    if (options != NULL)
        rv = sized_read(&session->options, sizeof session->options, options, "tr_session_options",
                        error);
    /* From here on releasing the session releases its log too. */
    if (rv == 0)
        log_acquire(session->options.log);
    else
        session->options.log = NULL;
    if (rv == 0 && keep_names(session) != 0)
        rv = tr_error_set(error, TR_ENOMEM, "no memory for a session");
    if (rv == 0)
        rv = session_start(session, error);
    if (rv == 0)
        *out = session;
    else
        session_release(session);
    return rv;
}

void session_acquire(struct tr_session *session)
{
    atomic_fetch_add_explicit(&session->references, 1, memory_order_relaxed);
}

void session_release(struct tr_session *session)
{
    /* Release, then acquire by the last one, which must see what all others did. */
    if (atomic_fetch_sub_explicit(&session->references, 1, memory_order_acq_rel) > 1)
        return;
    /* The waker goes first, which uses the mutex and the semaphore. The environment goes before
     * what its loops call (silent_release) and write to (the log). */
    stop_waker(session);
    sem_destroy(&session->woken);
    batch_store_release(session->store);
    seed_lists_destroy(session->lists);
    env_destroy(session->env);
    if (session->silent_release != NULL)
        session->silent_release(session->silent_arg);
    cluster_fini(&session->cluster);
    log_release(session->options.log);
    free(session->checkpoints);
    pthread_mutex_destroy(&session->mutex);
    free(session);
}

/* A graph that still runs, with a reference; NULL: none. One whose last reference has gone is on
 * its way through graph_release, which must find it again before it may be freed: left out. */
static struct tr_graph *next_running(struct tr_session *session)
{
    struct tr_graph *graph = NULL;
    pthread_mutex_lock(&session->mutex);
    while (graph == NULL && session->graphs != NULL) {
        struct tr_graph *first = session->graphs;
        session->graphs = first->next;
        graph = graph_try_acquire(first) ? first : NULL;
    }
    pthread_mutex_unlock(&session->mutex);
    return graph;
}

void tr_session_close(struct tr_session *session)
{
    if (session == NULL || session_is_child(session))
        return;
    pthread_mutex_lock(&session->mutex);
    /* The flag stands first: a graph that is being opened is refused by it (graph_adopt), and none
     * is listed behind the loop below. */
    session->closed = true;
    pthread_mutex_unlock(&session->mutex);
    for (struct tr_graph *g = next_running(session); g != NULL; g = next_running(session)) {
        graph_stop(g);
        graph_release(g);
    }
    /* The store closes behind the actors, which put batches into it. */
    batch_store_close(session->store);
    session_release(session);
}

int tr_session_dump(struct tr_session *session, struct tr_error *error)
{
    int rv = session_mine(session, error);
    if (rv != 0)
        return rv;
    pthread_mutex_lock(&session->mutex);
    bool closed = session->closed;
    for (struct tr_graph *g = session->graphs; g != NULL && !closed; g = g->next)
        node_dump_request(g->node);
    pthread_mutex_unlock(&session->mutex);
    return closed ? tr_error_set(error, TR_ECLOSED, "the session is closed") : 0;
}

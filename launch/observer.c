/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The observer of a job: a node that is not in the plan, whose actor asks every process for its
 * status again and again. This file opens and closes it, and waits for answers.
 */
#include "launch/observer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/public_error.h"
#include "api/sized.h"
#include "partition/store/book_json.h"
#include "runtime/base/deadline.h"
#include "runtime/event/env_event.h"
#include "schemas/messages.h"

#define STOP_NS UINT64_C(2000000000) /* its actors have nothing to finish */
#define LOOK_NS 20000000             /* between looks for an interrupt, which may only set a flag */

static int find_key(struct tr_observer *observer, const struct tr_observer_options *options,
                    int64_t timeout_ns, struct error *error)
{
    if (options->shared_key == NULL)
        return job_key_find(&observer->key, timeout_ns, -1, error);
    observer->key.path = strdup(options->shared_key);
    return observer->key.path != NULL ? 0 : error_set(error, TR_ENOMEM, "no memory for a path");
}

/* No key is given for a job that has one: that of a launcher here. */
static int seek_key(struct tr_observer *observer, const char *path, struct error *error)
{
    struct error none = { 0 };
    job_key_fini(&observer->key);
    int rv = job_key_seek(&observer->key, path, &none);
    if (rv == TR_ENOENT)
        return error_set(error, TR_EINVAL,
                         "%s: the job has a key, and no `troupe launch` of this user runs the job "
                         "on this host: ask on the launcher's host, or set " JOB_KEY_VARIABLE
                         " or shared_key to a file with the key",
                         path);
    if (rv != 0)
        return error_set(error, rv, "%s", none.text);
    /* A program may change its folder before the key is sought again. */
    observer->sought = realpath(path, NULL);
    if (observer->sought == NULL)
        return error_set_errno(error, errno, "%s", path);
    return cluster_use_key(&observer->cluster, observer->key.path, error);
}

static int read_observed(struct tr_observer *observer, const struct tr_observer_options *options,
                         int64_t timeout_ns, struct error *error)
{
    struct cluster *cluster = &observer->cluster;
    struct book_file book = { 0 };
    if (options->cluster == NULL)
        return error_set(error, TR_EINVAL, "cluster: the cluster file is not named");
    /* The key comes before the file, which is judged with it. */
    int rv = find_key(observer, options, timeout_ns, error);
    if (rv == 0)
        rv = cluster_read(files_posix, options->cluster, cluster, error);
    if (rv != 0)
        return rv;
    rv = cluster_use_key(cluster, observer->key.path, error);
    if (rv == 0 && cluster_needs_key(cluster))
        rv = seek_key(observer, options->cluster, error);
    if (rv != 0)
        return rv;
    const char *graph = options->graph != NULL ? options->graph : cluster->graph;
    if (graph == NULL)
        return error_set(error, TR_EINVAL,
                         "%s names no graph: add its field 'graph', or give options.graph",
                         options->cluster);
    rv = book_file_read(&book, files_posix, graph, error);
    if (rv == 0)
        rv = cluster_plan_make(&observer->plan, cluster, book.book.num_parts, error);
    if (rv == 0 && part_list_make(&observer->parts, &observer->plan.plan, &book.book) != 0)
        rv = error_set(error, TR_ENOMEM, "%s: no memory for its partitions", graph);
    book_file_fini(&book);
    return rv;
}

static uint32_t own_host(const struct cluster *cluster)
{
    char name[256] = "";
    uint32_t host;
    if (gethostname(name, sizeof name - 1) != 0 ||
        cluster_find_host(cluster, name, &host, NULL) != 0)
        return 0; /* any host's keys prove as much, if they are here */
    return host;
}

static int open_security(struct tr_observer *observer, const char *host, struct error *error)
{
    struct cluster_tls tls = { 0 };
    uint32_t number = own_host(&observer->cluster);
    int rv = host != NULL ? cluster_find_host(&observer->cluster, host, &number, error) : 0;
    if (rv == 0 && cluster_host_tls(&observer->cluster, number, &tls) != 0)
        rv = error_set(error, TR_ENOMEM, "no memory for the names of keys");
    const struct security_options options = { tls.ca, tls.certificate, tls.key, tls.shared_key };
    if (rv == 0 && (tls.ca != NULL || tls.shared_key != NULL))
        rv = security_create(&options, &observer->security, error);
    cluster_tls_fini(&tls);
    return rv;
}

static int create_node(struct tr_observer *observer, struct error *error)
{
    int rv = env_event_create(1, &observer->env, error);
    if (rv == 0)
        rv = messages_register(&observer->kinds, error);
    if (rv != 0)
        return rv;
    const struct node_options options = {
        .id = NODE_OBSERVERS | (uint32_t)(observer->env->ops->random(observer->env) & 0x7fffffffu),
        .incarnation = 1,
        .loops = 1,
        .kinds = &observer->kinds,
    };
    return node_create(observer->env, &options, &observer->node, error);
}

static int observer_join(struct tr_observer *observer, struct error *error)
{
    uint32_t count = observer->plan.plan.num_processes;
    struct links_peer *peers = calloc(count, sizeof *peers);
    if (peers == NULL)
        return error_set(error, TR_ENOMEM, "no memory for %u processes", count);
    const struct links_options options = {
        .cluster = observer->cluster.name,
        .peers = peers,
        .num_peers = cluster_plan_peers(&observer->plan, count, peers),
        .security = observer->security,
        .insecure_network = observer->cluster.insecure_network,
        .window_bytes = observer->cluster.limits.window_bytes,
        .apart = observer_note_apart,
        .apart_arg = observer,
    };
    /* The links come before the first actor and before the start: an actor without a router would
     * be answered that every process is down, and links_create() takes a node that has not
     * started. */
    int rv = links_create(observer->node, &options, error);
    free(peers);
    const struct actor_options root = { .ops = &observer_actor_ops, .arg = observer };
    struct address address;
    if (rv == 0 && ((rv = node_spawn(observer->node, &root, &address)) != 0 ||
                    (rv = node_start(observer->node)) != 0))
        error_set(error, rv, "cannot start asking: %s", tr_strerror(rv));
    return rv;
}

static int create_asked(struct tr_observer *observer, struct error *error)
{
    uint32_t count = observer->plan.plan.num_processes;
    observer->asked = calloc(count, sizeof *observer->asked);
    if (observer->asked == NULL)
        return error_set(error, TR_ENOMEM, "no memory for %u processes", count);
    for (uint32_t p = 0; p < count; p++) {
        struct observed_process *asked = &observer->asked[p];
        *asked = (struct observed_process){ .observer = observer,
                                            .process = p,
                                            .status = ADDRESS_NONE };
        cluster_roles_text(observer->plan.processes[p].roles, asked->roles, sizeof asked->roles);
    }
    return 0;
}

static void observer_destroy(struct tr_observer *observer)
{
    /* The node goes first: its actor writes to `asked`, and its links use the keys and the plan
     * until it was joined. */
    if (observer->node != NULL) {
        node_stop(observer->node, env_now_ns(observer->env) + STOP_NS);
        node_join(observer->node);
        node_destroy(observer->node);
    }
    env_destroy(observer->env);
    for (uint32_t p = 0; observer->asked != NULL && p < observer->plan.plan.num_processes; p++)
        json_decref(observer->asked[p].seen.document);
    free(observer->asked);
    security_destroy(observer->security);
    part_list_fini(&observer->parts);
    cluster_plan_fini(&observer->plan);
    cluster_fini(&observer->cluster);
    job_key_fini(&observer->key);
    free(observer->sought);
    pthread_cond_destroy(&observer->changed);
    pthread_mutex_destroy(&observer->mutex);
    fork_mark_destroy(observer->mark);
    free(observer);
}

int tr_observer_open(const struct tr_observer_options *caller, int64_t timeout_ns,
                     struct tr_observer **out, struct tr_error *error)
{
    struct tr_observer_options options = TR_OBSERVER_OPTIONS_INIT;
    struct error inner = { 0 };
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_observer_options", error);
    if (rv != 0)
        return rv;
    struct tr_observer *observer = calloc(1, sizeof *observer);
    struct fork_mark *mark = fork_mark_create();
    if (observer == NULL || mark == NULL) {
        fork_mark_destroy(mark);
        free(observer);
        return tr_error_set(error, TR_ENOMEM, "no memory for an observer");
    }
    observer->mark = mark;
    atomic_init(&observer->interrupts, 0);
    atomic_init(&observer->resumed, 0);
    pthread_mutex_init(&observer->mutex, NULL);
    deadline_init_cond(&observer->changed);
    /* All that observer_destroy() takes down is there first; `asked` comes before the node, whose
     * actor and links write to it. */
    rv = read_observed(observer, &options, timeout_ns, &inner);
    if (rv == 0)
        rv = open_security(observer, options.host, &inner);
    if (rv == 0)
        rv = create_asked(observer, &inner);
    if (rv == 0)
        rv = create_node(observer, &inner);
    if (rv == 0)
        rv = observer_join(observer, &inner);
    if (rv != 0) {
        observer_destroy(observer);
        return error_give(&inner, error);
    }
    *out = observer;
    return 0;
}

int observer_enter(struct tr_observer *observer, struct tr_error *error)
{
    /* This is asked before the mutex, which another thread may have held at the fork. */
    if (fork_mark_is_child(observer->mark))
        return error_forked(error, "the observer");
    pthread_mutex_lock(&observer->mutex);
    observer->inside++;
    return 0;
}

void observer_leave(struct tr_observer *observer)
{
    observer->inside--;
    /* The others are woken under the mutex: when it is given up the observer may be freed. */
    pthread_cond_broadcast(&observer->changed);
    pthread_mutex_unlock(&observer->mutex);
}

void tr_observer_close(struct tr_observer *observer)
{
    if (observer == NULL || fork_mark_is_child(observer->mark))
        return;
    pthread_mutex_lock(&observer->mutex);
    /* The flag stands before the wait: a thread that waits ends by it, and then is inside no
     * more. */
    observer->closing = true;
    pthread_cond_broadcast(&observer->changed);
    while (observer->inside > 0)
        pthread_cond_wait(&observer->changed, &observer->mutex);
    pthread_mutex_unlock(&observer->mutex);
    observer_destroy(observer);
}

/* Under the mutex. */
static bool all_asked(const struct tr_observer *observer, uint64_t times)
{
    bool all = true;
    for (uint32_t p = 0; p < observer->plan.plan.num_processes; p++)
        all = all && observer->asked[p].seen.answers >= times;
    return all;
}

void tr_observer_interrupt(struct tr_observer *observer)
{
    if (observer != NULL && !fork_mark_is_child(observer->mark))
        atomic_fetch_add_explicit(&observer->interrupts, 1, memory_order_relaxed);
}

void tr_observer_resume(struct tr_observer *observer)
{
    if (observer == NULL || fork_mark_is_child(observer->mark))
        return;
    unsigned interrupts = atomic_load_explicit(&observer->interrupts, memory_order_relaxed);
    atomic_store_explicit(&observer->resumed, interrupts, memory_order_relaxed);
}

/* Under the mutex. The condition that was asked for comes first: a wait whose condition holds
 * succeeds whatever else is true, and a timeout of 0 is a look. Closing comes next, which is final:
 * a caller that got another code could call again, on memory that is freed. The interrupt comes
 * before the deadline, or a caller that polls with a timeout of 0 would never hear of it. */
static int wait_asked(struct tr_observer *observer, uint64_t times, const struct deadline *until,
                      struct tr_error *error)
{
    /* Those that were over when the call began: one that comes during it ends it, also where it is
     * over before this thread looks again. */
    unsigned over = atomic_load_explicit(&observer->resumed, memory_order_relaxed);
    while (!all_asked(observer, times)) {
        const struct deadline look = deadline_after(LOOK_NS);
        if (observer->closing)
            return tr_error_set(error, TR_ECLOSED, "the observer is being closed");
        if (atomic_load_explicit(&observer->interrupts, memory_order_relaxed) != over)
            return tr_error_set(error, TR_ECANCELED, "interrupted");
        if (deadline_passed(until))
            return tr_error_set(error, TR_ETIMEDOUT,
                                "some processes have neither answered nor failed yet");
        (void)deadline_wait(&look, &observer->changed, &observer->mutex);
    }
    return 0;
}

int tr_observer_wait(struct tr_observer *observer, uint64_t times, int64_t timeout_ns,
                     struct tr_error *error)
{
    const struct deadline until = deadline_after(timeout_ns);
    int rv = observer_enter(observer, error);
    if (rv != 0)
        return rv;
    rv = wait_asked(observer, times, &until, error);
    observer_leave(observer);
    return rv;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The observer of a job: a node that is not in the plan, whose actor asks every process for its
 * status again and again.
 *
 * Invariants:
 * - What was seen of a process is written by the actor and read by callers, under the mutex.
 * - A thread in a call is counted in inside. tr_observer_close() wakes those that wait, joins the
 *   node, after which no actor is left, and frees when no thread is inside.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <troupe/observe.h>

#include "actors/cluster/cluster.h"
#include "actors/report/status.h"
#include "api/public_error.h"
#include "api/schema.h"
#include "api/sized.h"
#include "launch/job_key.h"
#include "launch/status_view.h"
#include "partition/store/book_json.h"
#include "runtime/base/deadline.h"
#include "runtime/base/fork_mark.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "runtime/event/env_event.h"
#include "schemas/messages.h"

/* A process that does not answer in this time is shown as down; it is asked again. */
#define OBSERVER_ANSWER_NS UINT64_C(3000000000)
#define OBSERVER_EVERY_NS UINT64_C(1000000000)
#define STOP_NS UINT64_C(2000000000) /* its actors have nothing to finish */
#define LOOK_NS 20000000             /* between looks for an interrupt, which may only set a flag */

struct tr_observer;

/* The last that was seen of a process. */
struct observer_seen {
    json_t *document;              /* NULL: it does not answer */
    uint64_t round_trip_ns;        /* of the last answer */
    uint64_t at_ns;                /* when it came */
    uint64_t answers;              /* and failures: so often was it asked */
    double cpus;                   /* processors in use between two answers; below 0: one came */
    char why[TR_OBSERVER_WHY_MAX]; /* no connection was made since the last answer; "" */
};

/* One process, as the actor asks it. */
struct observed_process {
    struct tr_observer *observer;
    uint32_t process;
    struct address status; /* none: to be looked up */
    uint64_t asked_ns;
    struct timer again;
    char roles[64];
    struct observer_seen seen; /* guarded by the observer's mutex */
};

struct tr_observer {
    struct fork_mark *mark;
    /* A wait that began when they differed, or during which an interrupt came, is cancelled. */
    atomic_uint interrupts;
    atomic_uint resumed; /* as many interrupts were over */
    struct cluster cluster;
    struct cluster_plan plan;
    struct job_key key;
    struct security *security;
    struct env *env;
    struct kinds kinds;
    struct node *node;
    pthread_mutex_t mutex;          /* guards all below */
    pthread_cond_t changed;         /* an answer came, the observer is closed, a thread left */
    struct observed_process *asked; /* [plan.plan.num_processes] */
    uint32_t inside;
    bool closing;
};

static void observer_ask(struct actor *self, void *arg);

/* Processors that a process used since its answer before. */
static double observer_cpus(const struct observer_seen *seen, json_t *document, uint64_t now_ns)
{
    const char *const key = "cpu_seconds";
    double before = json_number_value(json_object_get(seen->document, key));
    double used = json_number_value(json_object_get(document, key)) - before;
    double seconds = (double)(now_ns - seen->at_ns) / 1e9;
    /* Less than before: it is another life of the process. */
    bool known = seen->document != NULL && document != NULL && seconds > 0 && used >= 0 &&
                 isfinite(used);
    return known ? used / seconds : -1;
}

static void observer_note(struct actor *self, struct observed_process *asked, json_t *document)
{
    struct tr_observer *observer = asked->observer;
    uint64_t now_ns = actor_now_ns(self);
    pthread_mutex_lock(&observer->mutex);
    asked->seen.cpus = observer_cpus(&asked->seen, document, now_ns);
    json_decref(asked->seen.document);
    asked->seen.document = document;
    asked->seen.at_ns = now_ns;
    asked->seen.round_trip_ns = now_ns - asked->asked_ns;
    asked->seen.answers++;
    if (document != NULL)
        asked->seen.why[0] = '\0';
    pthread_cond_broadcast(&observer->changed);
    pthread_mutex_unlock(&observer->mutex);
    /* The timer starts behind the note, whatever that says: each question leads to the next. */
    timer_start(self, &asked->again, now_ns + OBSERVER_EVERY_NS, observer_ask, asked);
}

static void observer_failed(struct actor *self, struct observed_process *asked)
{
    asked->status = ADDRESS_NONE;
    observer_note(self, asked, NULL);
}

static void observer_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct observed_process *asked = arg;
    json_t *document = NULL;
    if (status == 0 && reply->frame.kind == MSG_STATUS_REPLY)
        document = status_view_parse(message_body(reply), reply->frame.body_bytes);
    /* The reply is read before it is released, and released before anything returns. */
    message_release(self, reply);
    if (status == TR_ECANCELED)
        return; /* we end */
    if (document != NULL)
        observer_note(self, asked, document);
    else
        observer_failed(self, asked);
}

/* On the loop too, but not in the actor. */
static void note_apart(void *arg, uint32_t node, const char *why)
{
    struct tr_observer *observer = arg;
    if (node >= observer->plan.plan.num_processes)
        return;
    pthread_mutex_lock(&observer->mutex);
    snprintf(observer->asked[node].seen.why, TR_OBSERVER_WHY_MAX, "%s", why);
    pthread_mutex_unlock(&observer->mutex);
}

static void ask_status(struct actor *self, struct observed_process *asked)
{
    struct message *request = message_create(self, MSG_STATUS_REQUEST);
    if (request == NULL) {
        observer_failed(self, asked);
        return;
    }
    ((struct msg_status_request *)message_head(request))->version = STATUS_VERSION;
    /* The time is noted before the call, whose failure is noted with it too. */
    asked->asked_ns = actor_now_ns(self);
    if (actor_call(self, asked->status, request, asked->asked_ns + OBSERVER_ANSWER_NS,
                   observer_answered, asked, NULL) < 0)
        observer_failed(self, asked);
}

static void observer_found(struct actor *self, void *arg, int status, struct address address)
{
    struct observed_process *asked = arg;
    if (status == TR_ECANCELED)
        return;
    if (status != 0) {
        observer_failed(self, asked);
        return;
    }
    asked->status = address;
    ask_status(self, asked);
}

static void observer_ask(struct actor *self, void *arg)
{
    struct observed_process *asked = arg;
    if (!address_is_none(asked->status)) {
        ask_status(self, asked);
        return;
    }
    asked->asked_ns = actor_now_ns(self);
    if (directory_wait_at(self, asked->process, STATUS_NAME, asked->asked_ns + OBSERVER_ANSWER_NS,
                          observer_found, asked) < 0)
        observer_failed(self, asked);
}

static int observer_start(struct actor *self, const void *arg)
{
    struct tr_observer *observer = (void *)(uintptr_t)arg;
    for (uint32_t p = 0; p < observer->plan.plan.num_processes; p++)
        observer_ask(self, &observer->asked[p]);
    return 0;
}

static int observer_receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static const struct actor_ops observer_ops = {
    .name = "observer",
    .start = observer_start,
    .receive = observer_receive,
};

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
        .apart = note_apart,
        .apart_arg = observer,
    };
    /* The links come before the first actor and before the start: an actor without a router would
     * be answered that every process is down, and links_create() takes a node that has not
     * started. */
    int rv = links_create(observer->node, &options, error);
    free(peers);
    const struct actor_options root = { .ops = &observer_ops, .arg = observer };
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
    cluster_plan_fini(&observer->plan);
    cluster_fini(&observer->cluster);
    job_key_fini(&observer->key);
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

/* Begins a call: with 0 the mutex is held, and the observer stays until observer_leave(). Nothing
 * of it is read after that: a close may have freed it. */
static int observer_enter(struct tr_observer *observer, struct tr_error *error)
{
    /* This is asked before the mutex, which another thread may have held at the fork. */
    if (fork_mark_is_child(observer->mark))
        return error_forked(error, "the observer");
    pthread_mutex_lock(&observer->mutex);
    observer->inside++;
    return 0;
}

static void observer_leave(struct tr_observer *observer)
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

/* What the trainers of all processes have come to. */
struct job_training {
    uint32_t losses;
    bool has_score;
    double loss, score, seeds_per_s, checkpoint_age_s;
    uint64_t seeds, checkpoint;
    char score_name[JOB_SCORE_NAME_MAX];
};

static void add_training(struct job_training *all, const struct status_view *view)
{
    const struct job_progress_now *one = &view->progress;
    all->losses += one->has_loss;
    all->loss += one->has_loss ? one->loss : 0;
    all->seeds += one->seeds;
    all->seeds_per_s += view->seeds_per_s;
    if (one->has_score && !all->has_score) {
        all->has_score = true;
        all->score = one->score;
        snprintf(all->score_name, sizeof all->score_name, "%s", one->score_name);
    }
    /* The last checkpoint, as old as the one that saw it first says. */
    bool sees = one->has_checkpoint && view->checkpoint_age_s >= 0;
    if (sees &&
        (all->checkpoint_age_s < 0 || one->checkpoint > all->checkpoint ||
         (one->checkpoint == all->checkpoint && view->checkpoint_age_s > all->checkpoint_age_s))) {
        all->checkpoint = one->checkpoint;
        all->checkpoint_age_s = view->checkpoint_age_s;
    }
}

int tr_observer_job(struct tr_observer *observer, struct tr_job_status *status,
                    struct tr_error *error)
{
    struct job_progress_now job = { 0 };
    struct job_training training = { .checkpoint_age_s = -1 };
    struct status_view view;
    uint32_t num_up = 0, count;
    int rv = observer_enter(observer, error);
    if (rv != 0)
        return rv;
    count = observer->plan.plan.num_processes;
    for (uint32_t p = 0; p < count; p++)
        if (observer->asked[p].seen.document != NULL) {
            status_view_add_job(&job, observer->asked[p].seen.document);
            status_view_fill(&observer->plan, p, observer->asked[p].seen.document, 0, &view);
            add_training(&training, &view);
            num_up++;
        }
    const char *const name = observer->cluster.name;
    observer_leave(observer);
    struct tr_job_status known = {
        .name = name,
        .num_processes = count,
        .num_up = num_up,
        .era = job.era,
        .epoch = job.epoch,
        .epochs = job.epochs,
        .step = job.step,
        .steps = job.steps,
        .has_checkpoint = job.has_checkpoint,
        .checkpoint = job.checkpoint,
        .checkpoint_age_s = job.has_checkpoint && training.checkpoint == job.checkpoint
                                ? training.checkpoint_age_s
                                : -1,
        .has_loss = training.losses != 0,
        .loss = training.losses != 0 ? training.loss / training.losses : 0,
        .has_score = training.has_score,
        .score = training.score,
        .seeds = training.seeds,
        .seeds_per_s = training.seeds_per_s,
    };
    snprintf(known.score_name, sizeof known.score_name, "%s", training.score_name);
    return sized_write(status, &known, sizeof known, "tr_job_status", error);
}

int tr_observer_process(struct tr_observer *observer, uint32_t process,
                        struct tr_process_status *status, struct tr_error *error)
{
    struct status_view view;
    int rv = observer_enter(observer, error);
    if (rv != 0)
        return rv;
    const uint32_t count = observer->plan.plan.num_processes;
    if (process >= count) {
        observer_leave(observer);
        return schema_refuse("process", process, count, error);
    }
    const struct observed_process *asked = &observer->asked[process];
    status_view_fill(&observer->plan, process, asked->seen.document, asked->seen.round_trip_ns,
                     &view);
    /* All that follows is copied before the call leaves: a close may free the observer then. */
    const uint64_t at_ns = asked->seen.at_ns, answers = asked->seen.answers;
    const double cpus = asked->seen.cpus;
    char why[TR_OBSERVER_WHY_MAX];
    snprintf(why, sizeof why, "%s", asked->seen.why);
    observer_leave(observer);
    struct tr_process_status known = {
        .host = view.host,
        .roles = asked->roles,
        .up = view.up,
        .incarnation = view.incarnation,
        .links = view.links,
        .links_up = view.links_up,
        .restarts = (uint32_t)view.restarts,
        .uptime_s = view.uptime_s,
        .round_trip_s = view.lag_ms / 1e3,
        .at_ns = at_ns,
        .asked = answers,
        .sent_bytes = view.sent_bytes,
        .received_bytes = view.received_bytes,
        .queued_bytes = view.queued_bytes,
        .credit_bytes = view.credit_bytes,
        .mailbox_messages = view.mailbox_messages,
        .mailbox_bytes = view.mailbox_bytes,
        .batch_bytes = view.batch_bytes,
        .batches_made = view.made,
        .batches_taken = view.taken,
        .rss_bytes = view.rss_bytes,
        .cpu_s = view.cpu_s,
        .cpus = cpus >= 0 ? cpus : view.cpus,
        .has_loss = view.progress.has_loss,
        .has_score = view.progress.has_score,
        .epoch = view.progress.epoch,
        .step = view.progress.step,
        .steps = view.progress.steps,
        .seeds = view.progress.seeds,
        .seeds_per_s = view.seeds_per_s,
        .loss = view.progress.loss,
        .score = view.progress.score,
    };
    snprintf(known.score_name, sizeof known.score_name, "%s", view.progress.score_name);
    if (!view.up)
        snprintf(known.why, sizeof known.why, "%s",
                 why[0] != '\0' ? why
                 : answers == 0 ? "it has not been asked yet"
                                : "it is connected, and does not answer within 3 seconds");
    return sized_write(status, &known, sizeof known, "tr_process_status", error);
}

int tr_observer_link(struct tr_observer *observer, uint32_t process, uint32_t link,
                     struct tr_link_status *status, struct tr_error *error)
{
    struct status_link_view view;
    int rv = observer_enter(observer, error);
    if (rv != 0)
        return rv;
    const uint32_t count = observer->plan.plan.num_processes;
    bool found = process < count &&
                 status_view_link(observer->asked[process].seen.document, link, &view);
    observer_leave(observer);
    if (process >= count)
        return schema_refuse("process", process, count, error);
    if (!found)
        return tr_error_set(error, TR_ERANGE, "process %u told of no link %u", process, link);
    const struct tr_link_status known = { .process = view.process,
                                          .up = view.up,
                                          .sent_bytes = view.sent_bytes,
                                          .received_bytes = view.received_bytes,
                                          .queued_bytes = view.queued_bytes,
                                          .silent_s = view.silent_s };
    return sized_write(status, &known, sizeof known, "tr_link_status", error);
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

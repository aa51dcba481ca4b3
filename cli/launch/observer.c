/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/launch/observer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "actors/report/status.h"
#include "cli/lib/status_view.h"
#include "launch/job_key.h"
#include "partition/store/book_json.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "runtime/event/env_event.h"
#include "schemas/messages.h"

#define STOP_NS UINT64_C(2000000000) /* its actors have nothing to finish */
#define LOOK_NS 20000000             /* between looks for answers: no wait that a person notices */

struct observer;

/* One process, as the actor asks it. */
struct observed_process {
    struct observer *observer;
    uint32_t process;
    struct address status; /* none: to be looked up */
    uint64_t asked_ns;
    struct timer again;
    struct observer_seen seen; /* guarded by the observer's mutex */
};

struct observer {
    struct cluster cluster;
    struct cluster_plan plan;
    struct job_key key;
    struct security *security;
    struct env *env;
    struct kinds kinds;
    struct node *node;
    pthread_mutex_t mutex;
    struct observed_process *asked; /* [plan.plan.num_processes] */
};

static void ask(struct actor *self, void *arg);

static void note(struct actor *self, struct observed_process *asked, json_t *document)
{
    struct observer *observer = asked->observer;
    uint64_t now_ns = actor_now_ns(self);
    pthread_mutex_lock(&observer->mutex);
    json_decref(asked->seen.document);
    asked->seen.document = document;
    asked->seen.at_ns = now_ns;
    asked->seen.round_trip_ns = now_ns - asked->asked_ns;
    asked->seen.answers++;
    pthread_mutex_unlock(&observer->mutex);
    timer_start(self, &asked->again, now_ns + OBSERVER_EVERY_NS, ask, asked);
}

static void failed(struct actor *self, struct observed_process *asked)
{
    asked->status = ADDRESS_NONE;
    note(self, asked, NULL);
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct observed_process *asked = arg;
    json_t *document = NULL;
    if (status == 0 && reply->frame.kind == MSG_STATUS_REPLY)
        document = status_view_parse(message_body(reply), reply->frame.body_bytes);
    message_release(self, reply);
    if (status == TR_ECANCELED)
        return; /* we end */
    if (document != NULL)
        note(self, asked, document);
    else
        failed(self, asked);
}

static void ask_status(struct actor *self, struct observed_process *asked)
{
    struct message *request = message_create(self, MSG_STATUS_REQUEST);
    if (request == NULL) {
        failed(self, asked);
        return;
    }
    ((struct msg_status_request *)message_head(request))->version = STATUS_VERSION;
    asked->asked_ns = actor_now_ns(self);
    if (actor_call(self, asked->status, request, asked->asked_ns + OBSERVER_ANSWER_NS, answered,
                   asked, NULL) < 0)
        failed(self, asked);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct observed_process *asked = arg;
    if (status == TR_ECANCELED)
        return;
    if (status != 0) {
        failed(self, asked);
        return;
    }
    asked->status = address;
    ask_status(self, asked);
}

static void ask(struct actor *self, void *arg)
{
    struct observed_process *asked = arg;
    if (!address_is_none(asked->status)) {
        ask_status(self, asked);
        return;
    }
    asked->asked_ns = actor_now_ns(self);
    if (directory_wait_at(self, asked->process, STATUS_NAME, asked->asked_ns + OBSERVER_ANSWER_NS,
                          found, asked) < 0)
        failed(self, asked);
}

static int start(struct actor *self, const void *arg)
{
    struct observer *observer = (void *)(uintptr_t)arg;
    for (uint32_t p = 0; p < observer->plan.plan.num_processes; p++)
        ask(self, &observer->asked[p]);
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static const struct actor_ops observer_ops = {
    .name = "observer",
    .start = start,
    .receive = receive,
};

/* The job's own key stands in where the file chose nothing, as for its processes. */
static int read_cluster(struct observer *observer, const char *path, const char *graph,
                        struct error *error)
{
    struct cluster *cluster = &observer->cluster;
    struct book_file book = { 0 };
    int rv = job_key_find(&observer->key, TR_WAIT_FOREVER, error);
    if (rv == 0)
        rv = cluster_read(files_posix, path, cluster, error);
    if (rv != 0)
        return rv;
    if (observer->key.path != NULL && !cluster->insecure_network && cluster->tls.ca == NULL &&
        cluster->tls.shared_key == NULL &&
        (cluster->tls.shared_key = strdup(observer->key.path)) == NULL)
        return error_set(error, TR_ENOMEM, "no memory for a path");
    graph = graph != NULL ? graph : cluster->graph;
    if (graph == NULL)
        return error_set(error, TR_EINVAL, "%s names no graph: add --graph NAME.json", path);
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

static int open_security(struct observer *observer, const char *host, struct error *error)
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

static int create_node(struct observer *observer, struct error *error)
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

static int join(struct observer *observer, struct error *error)
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
    };
    int rv = links_create(observer->node, &options, error);
    free(peers);
    const struct actor_options root = { .ops = &observer_ops, .arg = observer };
    struct address address;
    if (rv == 0 && ((rv = node_spawn(observer->node, &root, &address)) != 0 ||
                    (rv = node_start(observer->node)) != 0))
        error_set(error, rv, "cannot start asking: %s", tr_strerror(rv));
    return rv;
}

int observer_open(const char *cluster, const char *graph, const char *host, struct observer **out,
                  struct error *error)
{
    struct observer *observer = calloc(1, sizeof *observer);
    *out = observer;
    if (observer == NULL)
        return error_set(error, TR_ENOMEM, "no memory");
    pthread_mutex_init(&observer->mutex, NULL);
    int rv = read_cluster(observer, cluster, graph, error);
    if (rv == 0)
        rv = open_security(observer, host, error);
    if (rv == 0) {
        uint32_t count = observer->plan.plan.num_processes;
        observer->asked = calloc(count, sizeof *observer->asked);
        for (uint32_t p = 0; observer->asked != NULL && p < count; p++)
            observer->asked[p] = (struct observed_process){ .observer = observer,
                                                            .process = p,
                                                            .status = ADDRESS_NONE };
        rv = observer->asked != NULL
                 ? create_node(observer, error)
                 : error_set(error, TR_ENOMEM, "no memory for %u processes", count);
    }
    if (rv == 0)
        rv = join(observer, error);
    if (rv != 0) {
        observer_close(observer);
        *out = NULL;
    }
    return rv;
}

void observer_close(struct observer *observer)
{
    if (observer == NULL)
        return;
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
    pthread_mutex_destroy(&observer->mutex);
    free(observer);
}

const struct cluster_plan *observer_plan(const struct observer *observer)
{
    return &observer->plan;
}

void observer_look(struct observer *observer, uint32_t process, struct observer_seen *seen)
{
    pthread_mutex_lock(&observer->mutex);
    *seen = observer->asked[process].seen;
    json_incref(seen->document);
    pthread_mutex_unlock(&observer->mutex);
}

static bool all_asked(struct observer *observer, uint64_t times)
{
    bool all = true;
    pthread_mutex_lock(&observer->mutex);
    for (uint32_t p = 0; p < observer->plan.plan.num_processes; p++)
        all = all && observer->asked[p].seen.answers >= times;
    pthread_mutex_unlock(&observer->mutex);
    return all;
}

void observer_wait(struct observer *observer, uint64_t times, uint64_t timeout_ns)
{
    const struct timespec look = { .tv_nsec = LOOK_NS };
    uint64_t until_ns = env_now_ns(observer->env) + timeout_ns;
    while (!all_asked(observer, times) && env_now_ns(observer->env) < until_ns)
        nanosleep(&look, NULL);
}

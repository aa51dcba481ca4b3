#include "cli/lib/observer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "actors/report/status.h"
#include "cli/launch/job_key.h"
#include "cli/lib/status_view.h"
#include "partition/store/book_json.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/env.h"
#include "runtime/core/timer.h"
#include "schemas/messages.h"

#define STOP_NS UINT64_C(2000000000) /* its actors have nothing to finish */
#define LOOK_NS 20000000             /* between looks for answers: no wait that a person notices */

struct guest;

/* One process, as the actor asks it. */
struct asked {
    struct guest *guest;
    uint32_t process;
    struct address status; /* none: to be looked up */
    uint64_t asked_ns;
    struct timer again;
    struct guest_seen seen; /* guarded by the guest's mutex */
};

struct guest {
    struct cluster cluster;
    struct cluster_plan plan;
    struct job_key key;
    struct security *security;
    struct env *env;
    struct kinds kinds;
    struct node *node;
    pthread_mutex_t mutex;
    struct asked *asked; /* [plan.plan.num_processes] */
};

static void ask(struct actor *self, void *arg);

static void note(struct actor *self, struct asked *asked, json_t *document)
{
    struct guest *guest = asked->guest;
    uint64_t now_ns = actor_now_ns(self);
    pthread_mutex_lock(&guest->mutex);
    json_decref(asked->seen.document);
    asked->seen.document = document;
    asked->seen.at_ns = now_ns;
    asked->seen.round_trip_ns = now_ns - asked->asked_ns;
    asked->seen.answers++;
    pthread_mutex_unlock(&guest->mutex);
    timer_start(self, &asked->again, now_ns + GUEST_EVERY_NS, ask, asked);
}

static void failed(struct actor *self, struct asked *asked)
{
    asked->status = ADDRESS_NONE;
    note(self, asked, NULL);
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct asked *asked = arg;
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

static void ask_status(struct actor *self, struct asked *asked)
{
    struct message *request = message_create(self, MSG_STATUS_REQUEST);
    if (request == NULL) {
        failed(self, asked);
        return;
    }
    ((struct msg_status_request *)message_head(request))->version = STATUS_VERSION;
    asked->asked_ns = actor_now_ns(self);
    if (actor_call(self, asked->status, request, asked->asked_ns + GUEST_ANSWER_NS, answered, asked,
                   NULL) < 0)
        failed(self, asked);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct asked *asked = arg;
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
    struct asked *asked = arg;
    if (!address_is_none(asked->status)) {
        ask_status(self, asked);
        return;
    }
    asked->asked_ns = actor_now_ns(self);
    if (directory_wait_at(self, asked->process, STATUS_NAME, asked->asked_ns + GUEST_ANSWER_NS,
                          found, asked) < 0)
        failed(self, asked);
}

static int start(struct actor *self, const void *arg)
{
    struct guest *guest = (void *)(uintptr_t)arg;
    for (uint32_t p = 0; p < guest->plan.plan.num_processes; p++)
        ask(self, &guest->asked[p]);
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static const struct actor_ops guest_ops = {
    .name = "guest",
    .start = start,
    .receive = receive,
};

/* The job's own key stands in where the file chose nothing, as for its processes. */
static int read_cluster(struct guest *guest, const char *path, const char *graph,
                        struct error *error)
{
    struct cluster *cluster = &guest->cluster;
    struct book_file book = {0};
    int rv = job_key_find(&guest->key, error);
    if (rv == 0)
        rv = cluster_read(files_posix, path, cluster, error);
    if (rv != 0)
        return rv;
    if (guest->key.path != NULL && !cluster->insecure_network && cluster->tls.ca == NULL &&
        cluster->tls.shared_key == NULL &&
        (cluster->tls.shared_key = strdup(guest->key.path)) == NULL)
        return error_set(error, TR_ENOMEM, "no memory for a path");
    graph = graph != NULL ? graph : cluster->graph;
    if (graph == NULL)
        return error_set(error, TR_EINVAL, "%s names no graph: add --graph NAME.json", path);
    rv = book_file_read(&book, files_posix, graph, error);
    if (rv == 0)
        rv = cluster_plan_make(&guest->plan, cluster, book.book.num_parts, error);
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

static int open_security(struct guest *guest, const char *host, struct error *error)
{
    struct cluster_tls tls = {0};
    uint32_t number = own_host(&guest->cluster);
    int rv = host != NULL ? cluster_find_host(&guest->cluster, host, &number, error) : 0;
    if (rv == 0 && cluster_host_tls(&guest->cluster, number, &tls) != 0)
        rv = error_set(error, TR_ENOMEM, "no memory for the names of keys");
    const struct security_options options = {tls.ca, tls.certificate, tls.key, tls.shared_key};
    if (rv == 0 && (tls.ca != NULL || tls.shared_key != NULL))
        rv = security_create(&options, &guest->security, error);
    cluster_tls_fini(&tls);
    return rv;
}

static int create_node(struct guest *guest, struct error *error)
{
    int rv = env_event_create(1, &guest->env, error);
    if (rv == 0)
        rv = messages_register(&guest->kinds, error);
    if (rv != 0)
        return rv;
    const struct node_options options = {
        .id = NODE_GUESTS | (uint32_t)(guest->env->ops->random(guest->env) & 0x7fffffffu),
        .incarnation = 1,
        .loops = 1,
        .kinds = &guest->kinds,
    };
    return node_create(guest->env, &options, &guest->node, error);
}

static int join(struct guest *guest, struct error *error)
{
    uint32_t count = guest->plan.plan.num_processes;
    struct links_peer *peers = calloc(count, sizeof *peers);
    if (peers == NULL)
        return error_set(error, TR_ENOMEM, "no memory for %u processes", count);
    const struct links_options options = {
        .cluster = guest->cluster.name,
        .peers = peers,
        .num_peers = cluster_plan_peers(&guest->plan, count, peers),
        .security = guest->security,
        .insecure_network = guest->cluster.insecure_network,
        .window_bytes = guest->cluster.limits.window_bytes,
    };
    int rv = links_create(guest->node, &options, error);
    free(peers);
    const struct actor_options root = {.ops = &guest_ops, .arg = guest};
    struct address address;
    if (rv == 0 && ((rv = node_spawn(guest->node, &root, &address)) != 0 ||
                    (rv = node_start(guest->node)) != 0))
        error_set(error, rv, "cannot start asking: %s", tr_strerror(rv));
    return rv;
}

int guest_open(const char *cluster, const char *graph, const char *host, struct guest **out,
               struct error *error)
{
    struct guest *guest = calloc(1, sizeof *guest);
    *out = guest;
    if (guest == NULL)
        return error_set(error, TR_ENOMEM, "no memory");
    pthread_mutex_init(&guest->mutex, NULL);
    int rv = read_cluster(guest, cluster, graph, error);
    if (rv == 0)
        rv = open_security(guest, host, error);
    if (rv == 0) {
        uint32_t count = guest->plan.plan.num_processes;
        guest->asked = calloc(count, sizeof *guest->asked);
        for (uint32_t p = 0; guest->asked != NULL && p < count; p++)
            guest->asked[p] = (struct asked){
                .guest = guest, .process = p, .status = ADDRESS_NONE};
        rv = guest->asked != NULL ? create_node(guest, error)
                                  : error_set(error, TR_ENOMEM, "no memory for %u processes",
                                              count);
    }
    if (rv == 0)
        rv = join(guest, error);
    if (rv != 0) {
        guest_close(guest);
        *out = NULL;
    }
    return rv;
}

void guest_close(struct guest *guest)
{
    if (guest == NULL)
        return;
    if (guest->node != NULL) {
        node_stop(guest->node, env_now_ns(guest->env) + STOP_NS);
        node_join(guest->node);
        node_destroy(guest->node);
    }
    env_destroy(guest->env);
    for (uint32_t p = 0; guest->asked != NULL && p < guest->plan.plan.num_processes; p++)
        json_decref(guest->asked[p].seen.document);
    free(guest->asked);
    security_destroy(guest->security);
    cluster_plan_fini(&guest->plan);
    cluster_fini(&guest->cluster);
    job_key_fini(&guest->key);
    pthread_mutex_destroy(&guest->mutex);
    free(guest);
}

const struct cluster_plan *guest_plan(const struct guest *guest)
{
    return &guest->plan;
}

void guest_look(struct guest *guest, uint32_t process, struct guest_seen *seen)
{
    pthread_mutex_lock(&guest->mutex);
    *seen = guest->asked[process].seen;
    json_incref(seen->document);
    pthread_mutex_unlock(&guest->mutex);
}

static bool all_asked(struct guest *guest, uint64_t times)
{
    bool all = true;
    pthread_mutex_lock(&guest->mutex);
    for (uint32_t p = 0; p < guest->plan.plan.num_processes; p++)
        all = all && guest->asked[p].seen.answers >= times;
    pthread_mutex_unlock(&guest->mutex);
    return all;
}

void guest_wait(struct guest *guest, uint64_t times, uint64_t timeout_ns)
{
    const struct timespec look = {.tv_nsec = LOOK_NS};
    uint64_t until_ns = env_now_ns(guest->env) + timeout_ns;
    while (!all_asked(guest, times) && env_now_ns(guest->env) < until_ns)
        nanosleep(&look, NULL);
}

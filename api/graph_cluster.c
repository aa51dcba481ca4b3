/* SPDX-License-Identifier: Apache-2.0 */
/* A graph's node among those of its cluster: the plan, the node's number, and its links. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <troupe/process.h>

#include "api/internal.h"
#include "api/log_queue.h"
#include "runtime/event/port_holder.h"

#define INCARNATIONS_BEGIN INT64_C(1767225600) /* 2026-01-01, in seconds of POSIX time */
#define INCARNATIONS_A_SECOND 10               /* 2^32 of them last 13 years */
/* A process whose launcher was killed ends within the first, or is ended, and its address is free a
 * moment later, which a loaded machine makes longer. */
#define ADDRESS_WAIT_NS ((uint64_t)TR_PROCESS_ORPHAN_NS + UINT64_C(5000000000))

static int make_plan(struct tr_graph *graph, struct error *error)
{
    struct tr_session *session = graph->session;
    const struct tr_session_options *o = &session->options;
    uint32_t parts = graph->book->num_parts;
    struct plan *plan = &graph->placing.plan;
    graph->plan = plan;
    if (!session->in_cluster) {
        int rv = plan_init_single(plan, parts, o->servers, o->samplers, o->trainers, o->loops);
        return rv == 0
                   ? 0
                   : error_set(error, rv, "no memory for a plan of %" PRIu32 " partitions", parts);
    }
    int rv = cluster_plan_make(&graph->placing, &session->cluster, parts, error);
    if (rv == 0 && o->process >= plan->num_processes)
        rv = error_set(error, TR_ERANGE,
                       "%s: there is no process %" PRIu32 ": the cluster has %" PRIu32
                       ", numbered from 0",
                       o->cluster, o->process, plan->num_processes);
    graph->process = rv == 0 ? o->process : 0;
    return rv;
}

int graph_make_plan(struct tr_graph *graph, struct error *error)
{
    int rv = make_plan(graph, error);
    if (rv == 0)
        plan_mark(&graph->placing.plan, book_hash(graph->book));
    return rv;
}

uint32_t graph_incarnation(const struct tr_graph *graph)
{
    const struct tr_session *session = graph->session;
    struct timespec now;
    if (session->options.incarnation != 0 || !session->in_cluster)
        return session->options.incarnation;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t units = (now.tv_sec - INCARNATIONS_BEGIN) * INCARNATIONS_A_SECOND +
                    now.tv_nsec / (1000000000 / INCARNATIONS_A_SECOND);
    return units > 0 && units <= UINT32_MAX ? (uint32_t)units : 1;
}

static int open_security(struct tr_graph *graph, struct error *error)
{
    const struct cluster *cluster = &graph->session->cluster;
    struct cluster_tls tls = { 0 };
    int rv = cluster_host_tls(cluster, graph_plays(graph)->host, &tls);
    const struct security_options options = { tls.ca, tls.certificate, tls.key, tls.shared_key };
    if (rv != 0)
        error_set(error, rv, "no memory for the names of keys");
    else if (tls.ca != NULL || tls.shared_key != NULL)
        rv = security_create(&options, &graph->security, error);
    cluster_tls_fini(&tls);
    if (rv == TR_ENOENT) {
        const struct error why = *error;
        rv = error_set(error, rv,
                       "%s; it is named by \"tls\" of %s or by TROUPE_SHARED_KEY; `troupe cluster "
                       "keys` makes keys and certificates",
                       why.text, cluster->path);
    }
    return rv;
}

/* A socket's folder is made where it is missing, for this user alone. */
static int make_folder(const struct endpoint *endpoint, struct error *error)
{
    if (endpoint->kind != ENDPOINT_UNIX)
        return 0;
    char *folder = files_parent(endpoint->host);
    int rv = folder == NULL ? TR_ENOMEM : files_posix->mkdir(files_posix, folder, 0700);
    free(folder);
    return rv == TR_ENOMEM ? error_set(error, rv, "no memory for a folder's name") : 0;
}

/* The wait for an address at which another process listens. */
struct address_wait {
    const struct tr_graph *graph;
    const struct endpoint *listen;
    uint64_t begin_ns, most_ns;
    bool warned, interrupted;
    char holder[64]; /* "; it is process 71 (nginx)"; empty: not seen */
    bool stranger;   /* that one is no past life of this process */
};

/* Looks once: whoever holds the address at first is waited for. */
static void find_holder(struct address_wait *wait)
{
    struct port_holder holder;
    if (wait->listen->kind != ENDPOINT_TCP || !port_holder_find(wait->listen->port, &holder))
        return;
    wait->stranger = holder.stranger;
    snprintf(wait->holder, sizeof wait->holder, "; it is process %ld (%s)", (long)holder.pid,
             holder.name);
}

static void warn_busy(struct address_wait *wait, const struct error *error)
{
    char line[sizeof error->text + sizeof wait->holder + 160];
    snprintf(line, sizeof line,
             "%s%s; that may be the previous incarnation of this process, so this one tries again "
             "for %" PRIu64 " seconds",
             error->text, wait->holder, wait->most_ns / UINT64_C(1000000000));
    log_add(wait->graph->session->options.log, LOG_LEVEL_WARN, "links", line);
}

static bool address_is_busy(void *arg, const struct error *error)
{
    struct address_wait *wait = arg;
    const struct tr_graph *graph = wait->graph;
    if (!wait->warned) {
        wait->warned = true;
        find_holder(wait);
        if (!wait->stranger)
            warn_busy(wait, error);
    }
    /* The interrupt is noted before the time is judged, so that fail_busy() names it where both
     * hold. */
    wait->interrupted = session_is_interrupted(graph->session, graph->seen);
    if (wait->interrupted || wait->stranger ||
        env_now_ns(graph->session->env) - wait->begin_ns >= wait->most_ns)
        return false;
    nanosleep(&(const struct timespec){ .tv_nsec = GRAPH_LOOK_NS }, NULL);
    return true;
}

/* TR_EEXIST says that a later attempt fails too: a past life of this process would have gone by
 * ADDRESS_WAIT_NS, and a stranger is none. A caller who granted less time learns nothing of that. */
static int fail_busy(const struct address_wait *wait, struct error *error)
{
    const struct error why = *error;
    int code = wait->interrupted                 ? TR_ECANCELED
               : wait->stranger                  ? TR_EEXIST
               : wait->most_ns < ADDRESS_WAIT_NS ? TR_ETIMEDOUT
                                                 : TR_EEXIST;
    return error_set(error, code, "%s%s", why.text, wait->holder);
}

/* The process that listens at our address may be a past life of this one, whose launcher was
 * killed. */
static int create_links(struct tr_graph *graph, struct links_options *options, int64_t timeout_ns,
                        struct error *error)
{
    struct address_wait wait = { .graph = graph,
                                 .listen = options->listen,
                                 .begin_ns = env_now_ns(graph->session->env),
                                 .most_ns = ADDRESS_WAIT_NS };
    if (timeout_ns >= 0 && (uint64_t)timeout_ns < wait.most_ns)
        wait.most_ns = (uint64_t)timeout_ns;
    options->busy = address_is_busy;
    options->busy_arg = &wait;
    int rv = links_create(graph->node, options, error);
    return rv == TR_EEXIST ? fail_busy(&wait, error) : rv;
}

int graph_link(struct tr_graph *graph, int64_t timeout_ns, struct error *error)
{
    const struct cluster *cluster = &graph->session->cluster;
    if (!graph->session->in_cluster || graph->plan->num_processes == 1)
        return 0;
    const struct endpoint *listen = &graph->placing.processes[graph->process].endpoint;
    struct links_peer *peers = calloc(graph->plan->num_processes, sizeof *peers);
    int rv = peers == NULL ? error_set(error, TR_ENOMEM, "no memory for %" PRIu32 " processes",
                                       graph->plan->num_processes)
             : listen->kind == ENDPOINT_UNIX ? 0
                                             : open_security(graph, error);
    /* Keys and the socket's folder come before the links, which listen at once. */
    if (rv == 0)
        rv = make_folder(listen, error);
    if (rv == 0) {
        struct links_options options = {
            .cluster = cluster->name,
            .listen = listen,
            .num_listen = 1,
            .peers = peers,
            .num_peers = cluster_plan_peers(&graph->placing, graph->process, peers),
            .security = graph->security,
            .insecure_network = cluster->insecure_network,
            .window_bytes = cluster->limits.window_bytes,
            .silent = graph->session->silent,
            .silent_arg = graph->session->silent_arg,
        };
        rv = create_links(graph, &options, timeout_ns, error);
    }
    free(peers);
    /* A key or a host's name that is not there was given by the cluster file, so it is that which
     * is wrong; TR_ENOENT of a graph may be of a table or a name that is still to come. */
    if (rv == TR_ENOENT)
        rv = error->code = TR_EINVAL;
    return rv;
}

void graph_name_absent(struct tr_graph *graph, struct error *why)
{
    uint32_t most = graph->plan->num_processes, count = 0;
    struct links_status *status = calloc(most, sizeof *status);
    char where[ENDPOINT_TEXT_MAX];
    /* While the graph is stopping there may be no node. */
    pthread_mutex_lock(&graph->mutex);
    if (status != NULL && !graph->stopping && graph->node != NULL)
        count = links_status(graph->node, status, most);
    pthread_mutex_unlock(&graph->mutex);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t process = status[i].node;
        if (status[i].state == LINKS_UP)
            continue;
        struct error plain = *why;
        endpoint_format(&graph->placing.processes[process].endpoint, where, sizeof where);
        error_set(why, plain.code, "%.300s: process %" PRIu32 " (%s, %s) %s", plain.text, process,
                  graph->session->cluster.hosts[graph->plan->processes[process].host].name, where,
                  status[i].connections == 0 ? "never answered" : "does not answer");
        why->process_1 = process + 1;
        break;
    }
    free(status);
}

int graph_spawn_status(struct tr_graph *graph)
{
    struct tr_session *session = graph->session;
    struct address address;
    uint32_t roles = session->in_cluster ? graph->placing.processes[graph->process].roles
                                         : CLUSTER_SERVER | CLUSTER_SAMPLER | CLUSTER_TRAINER;
    cluster_roles_text(roles, graph->roles, sizeof graph->roles);
    graph->status = (struct status_options){
        .job = session->in_cluster ? session->cluster.name : "",
        .roles = graph->roles,
        .store = session->store,
        .progress = &graph->progress,
        .node = graph->process,
        .incarnation = graph_incarnation(graph),
        .restarts = session->restarts,
        .begin_ns = env_now_ns(session->env),
        .usage = process_usage_read,
    };
    struct process_usage used;
    struct timespec began;
    process_usage_read(&used);
    graph->status.begin_cpu_ns = used.cpu_ns;
    if (clock_gettime(CLOCK_REALTIME, &began) == 0)
        graph->status.began_at = (double)began.tv_sec + (double)began.tv_nsec / 1e9;
    /* The struct is filled without a cluster too: the metrics read it. */
    if (!session->in_cluster)
        return 0; /* nobody could ask it */
    const struct actor_options status = { .ops = &status_ops, .arg = &graph->status };
    return node_spawn(graph->node, &status, &address);
}

/* Whether every call is refused by now: the actors end a moment before that. */
static bool is_over(struct tr_graph *graph)
{
    pthread_mutex_lock(&graph->mutex);
    bool over = graph->over;
    pthread_mutex_unlock(&graph->mutex);
    return over;
}

int tr_graph_wait_end(struct tr_graph *graph, int64_t timeout_ns, struct tr_error *error)
{
    struct env *env = graph->session->env;
    uint64_t begin_ns = env_now_ns(env);
    unsigned seen;
    int rv = session_mine(graph->session, error);
    if (rv != 0)
        return rv;
    rv = session_seen(graph->session, &seen);
    rv = timeout_ns == 0 ? 0 : rv; /* a look waits for nothing that could be interrupted */
    while (rv == 0 && !is_over(graph)) {
        const struct timespec look = { .tv_nsec = GRAPH_LOOK_NS };
        bool late = timeout_ns >= 0 && env_now_ns(env) - begin_ns >= (uint64_t)timeout_ns;
        pthread_mutex_lock(&graph->mutex);
        rv = graph->stopping ? TR_ECLOSED : node_failure(graph->node);
        pthread_mutex_unlock(&graph->mutex);
        /* The end goes first (the loop), then a failure, and the time before the interrupt: a look
         * is no wait that could be interrupted, and a longer wait hears of one by its next call
         * (session_seen). */
        if (rv == 0 && late)
            return tr_error_set(error, TR_ETIMEDOUT, "the job has not ended");
        if (rv == 0 && session_is_interrupted(graph->session, seen))
            rv = TR_ECANCELED;
        if (rv == 0)
            nanosleep(&look, NULL);
    }
    /* A node that fails ends its actors too, and their failure is the node's a moment later. */
    pthread_mutex_lock(&graph->mutex);
    if (rv == 0 && !graph->stopping)
        rv = node_failure(graph->node);
    pthread_mutex_unlock(&graph->mutex);
    if (rv == 0)
        rv = atomic_load(&graph->actors.reason);
    if (rv == TR_ETIMEDOUT) /* only this wait may say that of itself */
        rv = TR_EPEERDOWN;
    return rv != 0 ? tr_error_set(error, rv, "the process: %s", call_text(rv)) : 0;
}

static bool is_first_with_trainers(const struct tr_graph *graph)
{
    const struct plan_process *mine = graph_plays(graph);
    for (const struct plan_process *p = graph->plan->processes; p < mine; p++)
        if (p->host == mine->host && p->trainers.count > 0)
            return false;
    return true;
}

int tr_graph_place(const struct tr_graph *graph, struct tr_graph_place *place,
                   struct tr_error *error)
{
    int rv = session_mine(graph->session, error);
    if (rv != 0)
        return rv;
    const struct tr_session *session = graph->session;
    const struct plan_process *plays = graph_plays(graph);
    const struct tr_graph_place known = {
        .size = sizeof known,
        .process = graph->process,
        .num_processes = graph->plan->num_processes,
        .host_name = session->in_cluster ? session->cluster.hosts[plays->host].name : NULL,
        .first_trainer = plays->trainers.first,
        .num_trainers = plays->trainers.count,
        .world = graph->plan->trainers,
        .first_with_trainers = is_first_with_trainers(graph),
    };
    return sized_write(place, &known, sizeof known, "tr_graph_place", error);
}

void tr_graph_note_epochs(struct tr_graph *graph, uint32_t epochs)
{
    if (!session_is_child(graph->session))
        job_progress_note_epochs(&graph->progress, epochs);
}

void tr_graph_note_loss(struct tr_graph *graph, double loss)
{
    if (!session_is_child(graph->session))
        job_progress_note_loss(&graph->progress, loss);
}

void tr_graph_note_score(struct tr_graph *graph, const char *name, double score)
{
    if (!session_is_child(graph->session))
        job_progress_note_score(&graph->progress, name != NULL ? name : "", score);
}

/* A graph's node among those of its cluster: the plan, the node's number, and its links. */
#include <inttypes.h>

#include "api/internal.h"

int graph_make_plan(struct tr_graph *graph, struct error *error)
{
    struct tr_session *session = graph->session;
    const struct tr_session_options *o = &session->options;
    uint32_t parts = graph->book->num_parts;
    struct plan *plan = &graph->placing.plan;
    graph->plan = plan;
    if (!session->in_cluster) {
        int rv = plan_init_single(plan, parts, o->servers, o->samplers, o->trainers, o->loops);
        return rv == 0 ? 0 : error_set(error, rv, "no memory for a plan of %" PRIu32
                                       " partitions", parts);
    }
    int rv = cluster_plan_make(&graph->placing, &session->cluster, parts, error);
    if (rv == 0 && o->process >= plan->num_processes)
        rv = error_set(error, TR_ERANGE, "%s: process %" PRIu32 "; the cluster has %" PRIu32
                       ", from 0 on", o->cluster, o->process, plan->num_processes);
    graph->process = rv == 0 ? o->process : 0;
    return rv;
}

int graph_link(struct tr_graph *graph, struct error *error)
{
    if (graph->plan->num_processes == 1)
        return 0;
    return error_set(error, TR_EUNSUPPORTED, "a cluster of %" PRIu32 " processes can't be linked",
                     graph->plan->num_processes);
}

int graph_wait_end(struct tr_graph *graph, int64_t timeout_ns)
{
    struct env *env = graph->session->env;
    uint64_t begin_ns = env_now_ns(env);
    int rv = 0;
    while (rv == 0 && !atomic_load(&graph->cast.ended)) {
        const struct timespec look = { .tv_nsec = GRAPH_LOOK_NS };
        bool late = timeout_ns >= 0 && env_now_ns(env) - begin_ns >= (uint64_t)timeout_ns;
        pthread_mutex_lock(&graph->mutex);
        rv = graph->stopping ? TR_ECLOSED : node_failure(graph->node);
        pthread_mutex_unlock(&graph->mutex);
        if (rv == 0 && late)
            return TR_ETIMEDOUT;
        if (rv == 0)
            nanosleep(&look, NULL);
    }
    return rv != 0 ? session_failf(graph->session, rv, "the process: %s", tr_strerror(rv)) : 0;
}

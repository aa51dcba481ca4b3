/* Who plays in a graph: a root that starts, and starts again, servers, samplers and the proxy. */
#include <stdlib.h>

#include "actors/coordinator.h"
#include "api/internal.h"
#include "runtime/call.h"
#include "runtime/supervisor.h"

/* An actor that fails more often has a cause that starting it again does not cure. */
#define RESTARTS_MAX 32
#define RESTARTS_NS UINT64_C(10000000000)

static const struct coordinator_options no_trainers = { .trainers = 0 };

static int spawn(struct actor *self, const struct actor_ops *ops, const void *arg,
                 const char *name, uint32_t loop)
{
    const struct actor_options options = { .ops = ops, .arg = arg, .name = name, .loop = loop,
                                           .restart = ACTOR_RESTART_ON_FAILURE };
    struct address address;
    return actor_spawn(self, &options, &address);
}

static int start(struct actor *self, const void *arg)
{
    const struct graph_cast *cast = arg;
    const struct supervisor_options restarts = { SUPERVISOR_ONE_FOR_ONE, RESTARTS_MAX,
                                                 RESTARTS_NS };
    int rv = actor_supervise(self, &restarts);
    if (rv == 0)
        rv = spawn(self, &coordinator_ops, &no_trainers, COORDINATOR_NAME, 0);
    for (uint32_t i = 0; i < cast->num_servers && rv == 0; i++)
        rv = spawn(self, &server_ops, &cast->servers[i], NULL, i % cast->num_loops);
    for (uint32_t i = 0; i < cast->num_samplers && rv == 0; i++) {
        char name[DIRECTORY_NAME_MAX];
        sampler_name(i, name, sizeof name);
        rv = spawn(self, &sampler_ops, &cast->samplers[i], name, i % cast->num_loops);
    }
    if (rv == 0)
        rv = spawn(self, &proxy_ops, &cast->proxy, PROXY_NAME, 0);
    return rv;
}

static int receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

const struct actor_ops troupe_ops = { .name = "troupe", .start = start, .receive = receive };

static void deal_parts(struct tr_graph *graph)
{
    struct graph_cast *cast = &graph->cast;
    uint32_t *next = cast->server_parts;
    for (uint32_t s = 0; s < cast->num_servers; s++) {
        struct server_options *server = &cast->servers[s];
        *server = (struct server_options){ .snapshots = graph->snapshots, .parts = next,
                                           .rank = s, .named = true, .join = true };
        for (uint32_t p = s; p < graph->book->num_parts; p += cast->num_servers)
            next[server->num_parts++] = p;
        next += server->num_parts;
    }
}

int graph_cast_init(struct tr_graph *graph)
{
    const struct tr_session_options *o = &graph->session->options;
    struct graph_cast *cast = &graph->cast;
    uint32_t parts = graph->book->num_parts;
    cast->num_servers = o->servers == 0 || o->servers > parts ? parts : o->servers;
    cast->num_samplers = o->samplers;
    cast->num_loops = o->loops;
    cast->servers = calloc(cast->num_servers, sizeof *cast->servers);
    cast->server_parts = calloc(parts, sizeof *cast->server_parts);
    cast->samplers = calloc(cast->num_samplers, sizeof *cast->samplers);
    if (cast->servers == NULL || cast->server_parts == NULL || cast->samplers == NULL)
        return TR_ENOMEM;
    deal_parts(graph);
    for (uint32_t i = 0; i < cast->num_samplers; i++)
        cast->samplers[i] = (struct sampler_options){
            .book = graph->book,
            .meta = &graph->meta,
            .snapshots = o->direct ? graph->snapshots : NULL,
            .bank = graph->session->bank,
            .number = i,
            .recovery_ns = (uint64_t)o->recovery_deadline_ns,
        };
    cast->proxy = (struct proxy_options){
        .book = graph->book,
        .meta = &graph->meta,
        .bank = graph->session->bank,
        .num_samplers = cast->num_samplers,
        .recovery_ns = (uint64_t)o->recovery_deadline_ns,
    };
    return 0;
}

void graph_cast_fini(struct graph_cast *cast)
{
    free(cast->servers);
    free(cast->server_parts);
    free(cast->samplers);
}

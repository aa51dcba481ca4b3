#include "actors/cast.h"

#include <stdlib.h>

#include "actors/coordinator.h"
#include "runtime/call.h"
#include "runtime/supervisor.h"

/* An actor that fails more often has a cause that starting it again does not cure. */
#define RESTARTS_MAX 32
#define RESTARTS_NS UINT64_C(10000000000)

static const struct coordinator_options no_trainers = { .trainers = 0 };

static int spawn(struct actor *self, const struct actor_ops *ops, const void *arg,
                 const char *name, uint32_t number)
{
    const struct cast *cast = actor_state(self);
    const struct actor_options options = {
        .ops = ops,
        .arg = arg,
        .name = name,
        .loop = number % cast->options.loops,
        .restart = ACTOR_RESTART_ON_FAILURE,
        .mailbox_bytes_max = cast->options.mailbox_bytes_max,
    };
    struct address address;
    return actor_spawn(self, &options, &address);
}

static int start(struct actor *self, const void *arg)
{
    const struct cast *cast = arg;
    const struct supervisor_options restarts = { SUPERVISOR_ONE_FOR_ONE, RESTARTS_MAX,
                                                 RESTARTS_NS };
    actor_set_state(self, (void *)(uintptr_t)arg);
    int rv = actor_supervise(self, &restarts);
    if (rv == 0)
        rv = spawn(self, &coordinator_ops, &no_trainers, COORDINATOR_NAME, 0);
    for (uint32_t i = 0; i < cast->num_servers && rv == 0; i++)
        rv = spawn(self, &server_ops, &cast->servers[i], NULL, i);
    for (uint32_t i = 0; i < cast->options.samplers && rv == 0; i++) {
        char name[DIRECTORY_NAME_MAX];
        sampler_name(i, name, sizeof name);
        rv = spawn(self, &sampler_ops, &cast->samplers[i], name, i);
    }
    if (rv == 0)
        rv = spawn(self, &proxy_ops, &cast->proxy, PROXY_NAME, 0);
    if (rv == 0)
        rv = spawn(self, &graph_client_ops, &cast->client, CLIENT_NAME, 0);
    return rv;
}

static int receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

const struct actor_ops cast_ops = { .name = "troupe", .start = start, .receive = receive };

static void deal_parts(struct cast *cast)
{
    uint32_t *next = cast->server_parts;
    for (uint32_t s = 0; s < cast->num_servers; s++) {
        struct server_options *server = &cast->servers[s];
        *server = (struct server_options){
            .snapshots = cast->options.snapshots,
            .parts = next,
            .rank = s,
            .named = true,
            .join = true,
            .slice_edges = cast->options.slice_edges,
        };
        for (uint32_t p = s; p < cast->options.book->num_parts; p += cast->num_servers)
            next[server->num_parts++] = p;
        next += server->num_parts;
    }
}

static void fill_samplers(struct cast *cast)
{
    const struct cast_options *o = &cast->options;
    for (uint32_t i = 0; i < o->samplers; i++)
        cast->samplers[i] = (struct sampler_options){
            .book = o->book,
            .meta = o->meta,
            .snapshots = o->direct ? o->snapshots : NULL,
            .bank = o->bank,
            .number = i,
            .join = true,
            .recovery_ns = o->recovery_ns,
            .call_ns = o->call_ns,
            .reply_bytes_max = o->reply_bytes_max,
            .flat = o->flat,
        };
}

int cast_init(struct cast *cast, const struct cast_options *options)
{
    uint32_t parts = options->book->num_parts;
    bool one_each = options->servers == 0 || options->servers > parts;
    *cast = (struct cast){ .options = *options,
                           .num_servers = one_each ? parts : options->servers };
    cast->servers = calloc(cast->num_servers, sizeof *cast->servers);
    cast->server_parts = calloc(parts, sizeof *cast->server_parts);
    cast->samplers = calloc(options->samplers, sizeof *cast->samplers);
    if (cast->servers == NULL || cast->server_parts == NULL || cast->samplers == NULL)
        return TR_ENOMEM;
    deal_parts(cast);
    fill_samplers(cast);
    cast->proxy = (struct proxy_options){
        .book = options->book,
        .meta = options->meta,
        .bank = options->bank,
        .num_samplers = options->samplers,
        .join = true,
        .recovery_ns = options->recovery_ns,
    };
    cast->client = (struct client_options){
        .book = options->book,
        .snapshots = options->direct ? options->snapshots : NULL,
        .call_ns = options->call_ns,
    };
    return 0;
}

void cast_fini(struct cast *cast)
{
    free(cast->servers);
    free(cast->server_parts);
    free(cast->samplers);
    *cast = (struct cast){ 0 };
}

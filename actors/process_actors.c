#include "actors/process_actors.h"

#include <stdlib.h>

#include "actors/common/reply_budget.h"
#include "runtime/core/call.h"
#include "runtime/core/supervisor.h"

/* An actor that fails more often has a cause that starting it again does not cure. */
#define RESTARTS_MAX 32
#define RESTARTS_NS UINT64_C(10000000000)

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

static int spawn_samplers(struct actor *self, const struct cast *cast)
{
    int rv = 0;
    for (uint32_t i = 0; i < cast->plays->samplers.count && rv == 0; i++) {
        char name[DIRECTORY_NAME_MAX];
        sampler_name(cast->samplers[i].number, name, sizeof name);
        rv = spawn(self, &sampler_ops, &cast->samplers[i], name, i);
    }
    return rv;
}

static int spawn_proxies(struct actor *self, const struct cast *cast)
{
    int rv = 0;
    for (uint32_t i = 0; i < cast->plays->trainers.count && rv == 0; i++) {
        char name[DIRECTORY_NAME_MAX];
        proxy_name(cast->proxies[i].rank, name);
        rv = spawn(self, &proxy_ops, &cast->proxies[i], name, i);
    }
    return rv;
}

static int spawn_reducers(struct actor *self, const struct cast *cast)
{
    int rv = 0;
    for (uint32_t i = 0; i < cast->plays->trainers.count && rv == 0; i++) {
        char name[DIRECTORY_NAME_MAX];
        reducer_name(cast->reducers[i].rank, name, sizeof name);
        rv = spawn(self, &reducer_ops, &cast->reducers[i], name, i);
    }
    return rv;
}

/* Members that find no coordinator end this actor, and with it the process. */
static void tell_root(struct actor *self, struct cast *cast)
{
    struct address root = actor_address(self);
    for (uint32_t i = 0; i < cast->num_servers; i++)
        cast->servers[i].root = root;
    for (uint32_t i = 0; i < cast->plays->samplers.count; i++)
        cast->samplers[i].root = root;
    for (uint32_t i = 0; i < cast->plays->trainers.count; i++)
        cast->proxies[i].root = cast->reducers[i].root = root;
    cast->coordinator.root = root;
    cast->presence = (struct presence_options){ cast->options.plan, cast->options.process, root };
}

/* One a host, for the other hosts. */
static bool keeps(const struct cast *cast)
{
    const struct plan *plan = cast->options.plan;
    return plan->num_hosts > 1 && plan_host_node(plan, cast->plays->host) == cast->options.process;
}

static int start(struct actor *self, const void *arg)
{
    struct cast *cast = (void *)(uintptr_t)arg;
    const struct supervisor_options restarts = { SUPERVISOR_ONE_FOR_ONE, RESTARTS_MAX,
                                                 RESTARTS_NS };
    actor_set_state(self, cast);
    tell_root(self, cast);
    int rv = actor_supervise(self, &restarts);
    if (rv == 0 && cast->options.process == cast->options.plan->coordinator)
        rv = spawn(self, &coordinator_ops, &cast->coordinator, COORDINATOR_NAME, 0);
    const struct actor_ops *server =
        cast->options.server_ops != NULL ? cast->options.server_ops : &server_ops;
    for (uint32_t i = 0; i < cast->num_servers && rv == 0; i++)
        rv = spawn(self, server, &cast->servers[i], NULL, i);
    if (rv == 0)
        rv = spawn_samplers(self, cast);
    if (rv == 0)
        rv = spawn_proxies(self, cast);
    if (rv == 0)
        rv = spawn_reducers(self, cast);
    if (rv == 0 && cast->options.process != cast->options.plan->coordinator)
        rv = spawn(self, &presence_ops, &cast->presence, NULL, 0);
    if (rv == 0 && keeps(cast))
        rv = spawn(self, cast->options.keeper_ops != NULL ? cast->options.keeper_ops : &keeper_ops,
                   &cast->keeper, KEEPER_NAME, 0);
    if (rv == 0)
        rv = spawn(self, &graph_client_ops, &cast->client, CLIENT_NAME, 0);
    return rv;
}

static int receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static void fini(struct actor *self)
{
    struct cast *cast = actor_state(self);
    if (cast == NULL)
        return;
    /* The reason is stored first: a thread that sees `ended` reads it. */
    atomic_store(&cast->reason, actor_reason(self));
    atomic_store(&cast->ended, true);
    if (cast->options.ended != NULL)
        cast->options.ended(cast->options.ended_arg);
}

const struct actor_ops cast_ops = {
    .name = "troupe",
    .start = start,
    .receive = receive,
    .fini = fini,
};

/* Servers of all processes before this one: each has its own rank among the members. */
static uint32_t first_server(const struct plan *plan, uint32_t process)
{
    uint32_t first = 0;
    for (uint32_t p = 0; p < process; p++) {
        const struct plan_process *other = &plan->processes[p];
        first += other->servers < other->num_parts ? other->servers : other->num_parts;
    }
    return first;
}

static void deal_parts(struct cast *cast)
{
    const struct cast_options *o = &cast->options;
    uint32_t *next = cast->server_parts, first = first_server(o->plan, o->process);
    for (uint32_t s = 0; s < cast->num_servers; s++) {
        struct server_options *server = &cast->servers[s];
        *server = (struct server_options){
            .snapshots = o->snapshots,
            .parts = next,
            .rank = first + s,
            .named = true,
            .join = true,
            .plan = o->plan,
            .slice_edges = o->slice_edges,
            .faults = o->server_faults,
        };
        for (uint32_t p = s; p < cast->plays->num_parts; p += cast->num_servers)
            next[server->num_parts++] = cast->plays->parts[p];
        next += server->num_parts;
    }
}

static void fill_samplers(struct cast *cast)
{
    const struct cast_options *o = &cast->options;
    for (uint32_t i = 0; i < cast->plays->samplers.count; i++)
        cast->samplers[i] = (struct sampler_options){
            .book = o->book,
            .meta = o->meta,
            .snapshots = o->direct ? o->snapshots : NULL,
            .bank = o->bank,
            .number = cast->plays->samplers.first + i,
            .join = true,
            .plan = o->plan,
            .replies = &cast->replies,
            .recovery_ns = o->recovery_ns,
            .call_ns = o->call_ns,
            .reply_bytes_max = o->reply_bytes_max,
            .at_once_bytes = o->at_once_bytes,
            .flat = o->flat,
        };
}

static void fill_proxies(struct cast *cast)
{
    const struct cast_options *o = &cast->options;
    for (uint32_t i = 0; i < cast->plays->trainers.count; i++)
        cast->proxies[i] = (struct proxy_options){
            .book = o->book,
            .meta = o->meta,
            .bank = o->bank,
            .num_samplers = o->plan->samplers,
            .rank = cast->plays->trainers.first + i,
            .join = true,
            .plan = o->plan,
            .replies = &cast->replies,
            .recovery_ns = o->recovery_ns,
            .piece_bytes_max = o->reply_bytes_max,
            .at_once_bytes = o->at_once_bytes,
        };
}

static void fill_reducers(struct cast *cast)
{
    const struct cast_options *o = &cast->options;
    for (uint32_t i = 0; i < cast->plays->trainers.count; i++)
        cast->reducers[i] = (struct reducer_options){
            .rank = cast->plays->trainers.first + i,
            .world = o->plan->trainers,
            .plan = o->plan,
            .files = o->files,
            .checkpoints = o->checkpoints,
            .checkpoint_keep = o->checkpoint_keep,
            .host = o->host,
            .standing = o->standing,
        };
    cast->coordinator = (struct coordinator_options){
        .trainers = o->plan->trainers,
        .marks = o->plan->marks,
        .files = o->files,
        .plan = o->plan,
        .process = o->process,
        .host = o->host,
        .standing = o->standing,
    };
    cast->keeper = (struct keeper_options){ o->files, o->host, o->kept };
}

int cast_init(struct cast *cast, const struct cast_options *options)
{
    const struct plan_process *plays = &options->plan->processes[options->process];
    bool one_each = plays->servers > plays->num_parts;
    *cast = (struct cast){ .options = *options, .plays = plays,
                           .num_servers = one_each ? plays->num_parts : plays->servers };
    account_init(&cast->replies, "replies",
                 options->replies_bytes_max != 0 ? options->replies_bytes_max : ROOM_BYTES_MAX);
    cast->servers = calloc(cast->num_servers + (size_t)1, sizeof *cast->servers);
    cast->server_parts = calloc(plays->num_parts + (size_t)1, sizeof *cast->server_parts);
    cast->samplers = calloc(plays->samplers.count + (size_t)1, sizeof *cast->samplers);
    cast->proxies = calloc(plays->trainers.count + (size_t)1, sizeof *cast->proxies);
    cast->reducers = calloc(plays->trainers.count + (size_t)1, sizeof *cast->reducers);
    if (cast->servers == NULL || cast->server_parts == NULL || cast->samplers == NULL ||
        cast->proxies == NULL || cast->reducers == NULL)
        return TR_ENOMEM;
    deal_parts(cast);
    fill_samplers(cast);
    fill_proxies(cast);
    fill_reducers(cast);
    cast->client = (struct client_options){
        .book = options->book,
        .snapshots = options->direct ? options->snapshots : NULL,
        .plan = options->plan,
        .replies = &cast->replies,
        .call_ns = options->call_ns,
    };
    atomic_init(&cast->ended, false);
    atomic_init(&cast->reason, 0);
    return 0;
}

void cast_fini(struct cast *cast)
{
    if (cast->plays != NULL)
        account_fini(&cast->replies);
    free(cast->servers);
    free(cast->server_parts);
    free(cast->samplers);
    free(cast->proxies);
    free(cast->reducers);
    *cast = (struct cast){ 0 };
}

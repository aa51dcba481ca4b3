/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root of a process's actors: what each of them is given, and their spawning.
 *
 * Invariants: options are filled before the root is spawned and change no more, but for `root`
 * itself, which every member is given before the first child is spawned. The root ends after all
 * of its children, so `ended` says that nothing of the job runs here any more.
 */
#include "actors/process_actors.h"

#include <stdlib.h>

#include "actors/common/reply_budget.h"
#include "runtime/core/call.h"
#include "runtime/core/supervisor.h"

/* An actor that fails more often has a cause that starting it again does not cure. */
#define RESTARTS_MAX 32
#define RESTARTS_NS UINT64_C(10000000000)

static int process_root_spawn(struct actor *self, const struct actor_ops *ops, const void *arg,
                              const char *name, uint32_t number)
{
    const struct process_actors *actors = actor_state(self);
    const struct actor_options options = {
        .ops = ops,
        .arg = arg,
        .name = name,
        .loop = number % actors->options.loops,
        .restart = ACTOR_RESTART_ON_FAILURE,
        .mailbox_bytes_max = actors->options.mailbox_bytes_max,
    };
    struct address address;
    return actor_spawn(self, &options, &address);
}

static int spawn_samplers(struct actor *self, const struct process_actors *actors)
{
    int rv = 0;
    for (uint32_t i = 0; i < actors->plays->samplers.count && rv == 0; i++) {
        char name[DIRECTORY_NAME_MAX];
        sampler_name(actors->samplers[i].number, name, sizeof name);
        rv = process_root_spawn(self, &sampler_ops, &actors->samplers[i], name, i);
    }
    return rv;
}

static int spawn_proxies(struct actor *self, const struct process_actors *actors)
{
    int rv = 0;
    for (uint32_t i = 0; i < actors->plays->trainers.count && rv == 0; i++) {
        char name[DIRECTORY_NAME_MAX];
        proxy_name(actors->proxies[i].rank, name);
        rv = process_root_spawn(self, &proxy_ops, &actors->proxies[i], name, i);
    }
    return rv;
}

static const struct actor_ops *stand_in(const struct actor_ops *stand_in,
                                        const struct actor_ops *real)
{
    return stand_in != NULL ? stand_in : real;
}

static int spawn_reducers(struct actor *self, const struct process_actors *actors)
{
    const struct actor_ops *ops = stand_in(actors->stand_ins.reducer, &reducer_ops);
    int rv = 0;
    for (uint32_t i = 0; i < actors->plays->trainers.count && rv == 0; i++) {
        char name[DIRECTORY_NAME_MAX];
        reducer_name(actors->reducers[i].rank, name, sizeof name);
        rv = process_root_spawn(self, ops, &actors->reducers[i], name, i);
    }
    return rv;
}

/* Members that find no coordinator end this actor, and with it the process. */
static void give_root(struct actor *self, struct process_actors *actors)
{
    struct address root = actor_address(self);
    for (uint32_t i = 0; i < actors->num_servers; i++)
        actors->servers[i].root = root;
    for (uint32_t i = 0; i < actors->plays->samplers.count; i++)
        actors->samplers[i].root = root;
    for (uint32_t i = 0; i < actors->plays->trainers.count; i++)
        actors->proxies[i].root = actors->reducers[i].root = root;
    actors->coordinator.root = root;
    actors->membership = (struct membership_options){ actors->options.plan, actors->options.process,
                                                      root };
    actors->first_contact = (struct first_contact_options){ actors->options.plan, root };
}

/* One a host, for the other hosts. */
static bool process_root_keeps(const struct process_actors *actors)
{
    const struct plan *plan = actors->options.plan;
    return plan->num_hosts > 1 &&
           plan_host_node(plan, actors->plays->host) == actors->options.process;
}

static int process_root_start(struct actor *self, const void *arg)
{
    struct process_actors *actors = (void *)(uintptr_t)arg;
    const struct supervisor_options restarts = { SUPERVISOR_ONE_FOR_ONE, RESTARTS_MAX,
                                                 RESTARTS_NS };
    actor_set_state(self, actors);
    /* The children's options, and how they are started again, are settled before the first of them.
     * Among themselves their order is free, since names are waited for: the coordinator is first,
     * so that the others find it at once. */
    give_root(self, actors);
    int rv = actor_supervise(self, &restarts);
    if (rv == 0 && actors->options.process == actors->options.plan->coordinator)
        rv = process_root_spawn(self, &coordinator_ops, &actors->coordinator, COORDINATOR_NAME, 0);
    const struct actor_ops *server = stand_in(actors->stand_ins.server, &server_ops);
    for (uint32_t i = 0; i < actors->num_servers && rv == 0; i++)
        rv = process_root_spawn(self, server, &actors->servers[i], NULL, i);
    if (rv == 0)
        rv = spawn_samplers(self, actors);
    if (rv == 0)
        rv = spawn_proxies(self, actors);
    if (rv == 0)
        rv = spawn_reducers(self, actors);
    if (rv == 0 && actors->options.process != actors->options.plan->coordinator)
        rv = process_root_spawn(self, &membership_ops, &actors->membership, NULL, 0);
    /* Servers may wait for their trainers as long as they like. */
    if (rv == 0 && actors->plays->trainers.count > 0 && actors->options.plan->num_processes > 1)
        rv = process_root_spawn(self, &first_contact_ops, &actors->first_contact, NULL, 0);
    if (rv == 0 && process_root_keeps(actors))
        rv = process_root_spawn(self,
                                stand_in(actors->stand_ins.checkpoint_store, &checkpoint_store_ops),
                                &actors->store, CHECKPOINT_STORE_NAME, 0);
    if (rv == 0)
        rv = process_root_spawn(self, &graph_client_ops, &actors->client, CLIENT_NAME, 0);
    return rv;
}

static int process_root_receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static void process_root_fini(struct actor *self)
{
    struct process_actors *actors = actor_state(self);
    if (actors == NULL)
        return;
    /* The reason is stored first: a thread that sees `ended` reads it. */
    atomic_store(&actors->reason, actor_reason(self));
    atomic_store(&actors->ended, true);
    /* The callback runs after both are stored: a thread that it wakes reads why its call ends. */
    if (actors->options.ended != NULL)
        actors->options.ended(actors->options.ended_arg);
}

const struct actor_ops process_actors_ops = {
    .name = "troupe",
    .start = process_root_start,
    .receive = process_root_receive,
    .fini = process_root_fini,
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

static void deal_parts(struct process_actors *actors)
{
    const struct process_actors_options *o = &actors->options;
    uint32_t *next = actors->server_parts, first = first_server(o->plan, o->process);
    for (uint32_t s = 0; s < actors->num_servers; s++) {
        struct server_options *server = &actors->servers[s];
        *server = (struct server_options){
            .snapshots = o->snapshots,
            .parts = next,
            .rank = first + s,
            .named = true,
            .join = true,
            .plan = o->plan,
            .slice_edges = o->slice_edges,
            .tensors = &actors->shelves[s],
            .faults = o->faults,
        };
        for (uint32_t p = s; p < actors->plays->num_parts; p += actors->num_servers)
            next[server->num_parts++] = actors->plays->parts[p];
        next += server->num_parts;
    }
}

static void fill_samplers(struct process_actors *actors)
{
    const struct process_actors_options *o = &actors->options;
    for (uint32_t i = 0; i < actors->plays->samplers.count; i++)
        actors->samplers[i] = (struct sampler_options){
            .book = o->book,
            .meta = o->meta,
            .snapshots = o->direct ? o->snapshots : NULL,
            .store = o->store,
            .number = actors->plays->samplers.first + i,
            .join = true,
            .plan = o->plan,
            .replies = &actors->replies,
            .recovery_ns = o->recovery_ns,
            .call_ns = o->call_ns,
            .reply_bytes_max = o->reply_bytes_max,
            .at_once_bytes = o->at_once_bytes,
            .flat = o->flat,
        };
}

static void fill_proxies(struct process_actors *actors)
{
    const struct process_actors_options *o = &actors->options;
    for (uint32_t i = 0; i < actors->plays->trainers.count; i++)
        actors->proxies[i] = (struct proxy_options){
            .book = o->book,
            .meta = o->meta,
            .store = o->store,
            .lists = o->lists,
            .num_samplers = o->plan->samplers,
            .rank = actors->plays->trainers.first + i,
            .join = true,
            .plan = o->plan,
            .replies = &actors->replies,
            .recovery_ns = o->recovery_ns,
            .piece_bytes_max = o->reply_bytes_max,
            .at_once_bytes = o->at_once_bytes,
        };
}

static void fill_reducers(struct process_actors *actors)
{
    const struct process_actors_options *o = &actors->options;
    for (uint32_t i = 0; i < actors->plays->trainers.count; i++)
        actors->reducers[i] = (struct reducer_options){
            .rank = actors->plays->trainers.first + i,
            .world = o->plan->trainers,
            .plan = o->plan,
            .files = o->files,
            .checkpoints = o->checkpoints,
            .checkpoint_keep = o->checkpoint_keep,
            .host = o->host,
            .progress = o->progress,
            .heard = &actors->era,
            .faults = o->faults,
        };
    actors->coordinator = (struct coordinator_options){
        .trainers = o->plan->trainers,
        .marks = o->plan->marks,
        .files = o->files,
        .plan = o->plan,
        .process = o->process,
        .host = o->host,
        .progress = o->progress,
        .recovery_ns = o->recovery_ns,
    };
    actors->store = (struct checkpoint_store_options){ o->files, o->host, o->kept, o->faults };
}

int process_actors_init(struct process_actors *actors, const struct process_actors_options *options)
{
    const struct plan_process *plays = &options->plan->processes[options->process];
    bool one_each = plays->servers > plays->num_parts;
    *actors = (struct process_actors){ .options = *options,
                                       .plays = plays,
                                       .num_servers = one_each ? plays->num_parts
                                                               : plays->servers };
    if (options->stand_ins != NULL)
        actors->stand_ins = *options->stand_ins;
    /* The account is made before anything can fail: process_actors_fini takes it down, wherever
     * this ends. */
    account_init(&actors->replies, "replies",
                 options->replies_bytes_max != 0 ? options->replies_bytes_max
                                                 : REPLY_BUDGET_BYTES_MAX);
    account_init(&actors->tensors, "tensors",
                 options->tensor_bytes_max != 0 ? options->tensor_bytes_max : TENSOR_BYTES_DEFAULT);
    job_era_init(&actors->era, plays->trainers.count > 0);
    actors->shelves = calloc(actors->num_servers + (size_t)1, sizeof *actors->shelves);
    actors->servers = calloc(actors->num_servers + (size_t)1, sizeof *actors->servers);
    actors->server_parts = calloc(plays->num_parts + (size_t)1, sizeof *actors->server_parts);
    actors->samplers = calloc(plays->samplers.count + (size_t)1, sizeof *actors->samplers);
    actors->proxies = calloc(plays->trainers.count + (size_t)1, sizeof *actors->proxies);
    actors->reducers = calloc(plays->trainers.count + (size_t)1, sizeof *actors->reducers);
    if (actors->shelves == NULL || actors->servers == NULL || actors->server_parts == NULL ||
        actors->samplers == NULL || actors->proxies == NULL || actors->reducers == NULL)
        return TR_ENOMEM;
    deal_parts(actors);
    for (uint32_t s = 0; s < actors->num_servers; s++)
        if (tensor_shelf_init(&actors->shelves[s], &actors->tensors,
                              actors->servers[s].num_parts) != 0)
            return TR_ENOMEM;
    fill_samplers(actors);
    fill_proxies(actors);
    fill_reducers(actors);
    actors->client = (struct client_options){
        .book = options->book,
        .meta = options->meta,
        .snapshots = options->direct ? options->snapshots : NULL,
        .plan = options->plan,
        .replies = &actors->replies,
        .call_ns = options->call_ns,
        .piece_bytes = options->reply_bytes_max,
    };
    atomic_init(&actors->ended, false);
    atomic_init(&actors->reason, 0);
    return 0;
}

void process_actors_fini(struct process_actors *actors)
{
    /* The account is there once `plays` is: all zeros has neither. */
    for (uint32_t s = 0; actors->shelves != NULL && s < actors->num_servers; s++)
        tensor_shelf_fini(&actors->shelves[s]);
    if (actors->plays != NULL) {
        account_fini(&actors->replies);
        account_fini(&actors->tensors);
    }
    free(actors->shelves);
    free(actors->servers);
    free(actors->server_parts);
    free(actors->samplers);
    free(actors->proxies);
    free(actors->reducers);
    *actors = (struct process_actors){ 0 };
}

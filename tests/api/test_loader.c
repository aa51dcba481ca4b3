/* SPDX-License-Identifier: Apache-2.0 */
/* Loaders at their bounds: memory, cancelling, closing, several trainers, samplers that die. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "api/internal.h"
#include "api/loader_handle.h"
#include "api_world.h"
#include "outcome.h"
#include "runtime/core/directory.h"

#define SECOND INT64_C(1000000000)
#define MS INT64_C(1000000)
#define DIGESTS_MAX 64

struct job {
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
    struct tr_loader *loader;
};

static struct tr_loader_options loader_options(void)
{
    struct tr_loader_options o;
    tr_loader_options_init(&o);
    o.num_layers = 2;
    o.fanout[0] = o.fanout[1] = 4;
    o.batch_size = 50;
    o.original_ids = true;
    o.features = "feat";
    return o;
}

static void open_graph(struct job *job, const struct tr_session_options *options)
{
    char path[256];
    *job = (struct job){ 0 };
    world_partition(PARTITION_RANDOM, 3, path);
    ok(tr_session_open(options, &job->session, &failure));
    ok(tr_graph_open(job->session, path, TR_WAIT_FOREVER, &job->graph, &failure));
    ok(tr_nodes_all(job->graph, 0, TR_WAIT_FOREVER, &job->nodes, &failure));
    assert_int_equal(tr_nodes_count(job->nodes), WORLD_NODES);
}

static void open_job(struct job *job, const struct tr_session_options *options)
{
    struct tr_loader_options lo = loader_options();
    open_graph(job, options);
    ok(tr_loader_open(job->graph, job->nodes, &lo, TR_WAIT_FOREVER, &job->loader, &failure));
}

static void close_job(struct job *job)
{
    tr_loader_close(job->loader);
    tr_nodes_close(job->nodes);
    tr_graph_close(job->graph);
    tr_session_close(job->session);
}

/* Seeds of an epoch are counted in seen[]; returns the number of batches. */
static uint64_t count_seeds(struct tr_loader *loader, uint8_t *seen)
{
    struct tr_batch *batch;
    uint64_t batches = 0;
    int rv;
    while ((rv = tr_loader_next(loader, 30 * SECOND, &batch, &failure)) == 0) {
        size_t count;
        const uint64_t *original = tr_batch_original_ids(batch, 0, &count);
        for (size_t i = 0; i < tr_batch_num_seeds(batch, 0); i++)
            seen[original[i]]++;
        batches++;
        tr_batch_release(batch);
    }
    if (rv != TR_EEND)
        ok(rv);
    return batches;
}

static void trainers_share_each_step(void **state)
{
    static uint8_t seen[WORLD_NODES];
    struct job job;
    (void)state;
    for (int drop = 0; drop < 2; drop++) {
        uint64_t missing = 0;
        open_graph(&job, NULL);
        memset(seen, 0, sizeof seen);
        for (uint32_t rank = 0; rank < 4; rank++) {
            struct tr_loader_options lo = loader_options();
            struct tr_loader *loader;
            lo.batch_size = 70;
            lo.rank = rank;
            lo.world = 4;
            lo.drop_last = drop != 0;
            ok(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &loader, &failure));
            uint64_t batches = count_seeds(loader, seen);
            assert_int_equal(batches, WORLD_NODES / 280 + !drop);
            assert_int_equal(tr_loader_num_batches(loader), batches);
            tr_loader_close(loader);
        }
        for (size_t i = 0; i < WORLD_NODES; i++) {
            assert_true(seen[i] <= 1);
            missing += seen[i] == 0;
        }
        assert_int_equal(missing, drop ? WORLD_NODES % 280 : 0);
        close_job(&job);
    }
}

/* Ranks that the job does not have are shared out among its trainers: all seeds come, once. */
static void ranks_beyond_those_of_a_job_are_played_by_its_trainers(void **state)
{
    static uint8_t seen[WORLD_NODES];
    struct tr_session_options options;
    struct job job;
    struct tr_loader *loader;
    struct tr_loader_options lo = loader_options();
    (void)state;
    tr_session_options_init(&options);
    options.trainers = 2;
    open_graph(&job, &options);
    memset(seen, 0, sizeof seen);
    lo.batch_size = 100;
    lo.world = 5;
    for (lo.rank = 0; lo.rank < lo.world; lo.rank++) {
        ok(tr_loader_open(job.graph, job.nodes, &lo, 30 * SECOND, &loader, &failure));
        assert_int_equal(count_seeds(loader, seen), WORLD_NODES / 500);
        tr_loader_close(loader);
    }
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(tr_loader_open(job.graph, job.nodes, &lo, 30 * SECOND, &loader, &failure),
                     TR_ERANGE);
    assert_string_equal(failure.message, "rank: 5 of 5 trainers; ranks count from 0");
    job.loader = NULL;
    close_job(&job);
}

/* One of several trainers of a process, in a thread of its own. */
struct trainer {
    struct job *job;
    pthread_t thread;
    uint32_t rank, world;
    size_t count;
    uint64_t digests[64];
};

static void *train(void *arg)
{
    struct trainer *t = arg;
    struct tr_loader_options lo = loader_options();
    struct tr_loader *loader;
    struct tr_batch *batch;
    int rv;
    lo.batch_size = 30;
    lo.rank = t->rank;
    lo.world = t->world;
    ok(tr_loader_open(t->job->graph, t->job->nodes, &lo, TR_WAIT_FOREVER, &loader, &failure));
    for (int epoch = 0; epoch < 2; epoch++) {
        while ((rv = tr_loader_next(loader, 30 * SECOND, &batch, &failure)) == 0) {
            ok(tr_batch_digest(batch, &t->digests[t->count++], NULL));
            tr_batch_release(batch);
        }
        assert_int_equal(rv, TR_EEND);
    }
    tr_loader_close(loader);
    return NULL;
}

/* Each trainer has a proxy of its own, all share samplers and servers; batches are those that one
 * trainer gets that plays all ranks. */
static void trainers_of_one_process_share_it(void **state)
{
    (void)state;
    for (uint32_t ranks = 2; ranks <= 4; ranks += 2) {
        struct trainer *together = calloc(4, sizeof *together), *alone = calloc(4, sizeof *alone);
        struct tr_session_options o;
        struct job job;
        assert_true(together != NULL && alone != NULL);
        tr_session_options_init(&o);
        o.trainers = ranks;
        open_graph(&job, &o);
        for (uint32_t r = 0; r < ranks; r++) {
            together[r] = (struct trainer){ .job = &job, .rank = r, .world = r % 2 ? ranks : 0 };
            assert_int_equal(pthread_create(&together[r].thread, NULL, train, &together[r]), 0);
        }
        for (uint32_t r = 0; r < ranks; r++)
            pthread_join(together[r].thread, NULL);
        close_job(&job);
        open_graph(&job, NULL);
        for (uint32_t r = 0; r < ranks; r++) {
            alone[r] = (struct trainer){ .job = &job, .rank = r, .world = ranks };
            train(&alone[r]);
            assert_int_equal(alone[r].count, together[r].count);
            assert_true(alone[r].count >= 2 * WORLD_NODES / (30 * ranks));
            assert_memory_equal(alone[r].digests, together[r].digests, sizeof alone[r].digests);
        }
        close_job(&job);
        free(together);
        free(alone);
    }
}

static void a_full_account_waits_then_says_so(void **state)
{
    struct tr_session_options o;
    struct tr_batch *held[64];
    struct job job;
    size_t count = 0;
    int rv;
    (void)state;
    tr_session_options_init(&o);
    o.memory_bytes_max = 400000;
    open_job(&job, &o);
    do { /* however long a batch that has room takes to come */
        rv = tr_loader_next(job.loader, 300 * MS, &held[count], &failure);
        count += rv == 0;
        assert_true(count < 30);
    } while (rv == 0 || rv == TR_ETIMEDOUT);
    assert_int_equal(rv, TR_EFULL);
    assert_non_null(strstr(failure.message, "\"batches\""));
    assert_true(count >= 1);
    /* Nothing was lost: with room again the same step comes. */
    for (size_t i = 0; i < count; i++)
        tr_batch_release(held[i]);
    ok(tr_loader_next(job.loader, 10 * SECOND, &held[0], &failure));
    assert_int_equal(tr_batch_index(held[0]), count);
    tr_batch_release(held[0]);
    close_job(&job);
}

struct waiter {
    struct tr_loader *loader;
    int rv;
    struct tr_error error;
    struct tr_batch *held[64];
    size_t count;
    atomic_bool ended;
};

/* Batches are kept: the account fills, and the thread waits, for longer than a test may take. */
static void *wait_in_next(void *arg)
{
    struct waiter *w = arg;
    while (w->count < 64 &&
           (w->rv = tr_loader_next(w->loader, TR_WAIT_FOREVER, &w->held[w->count], &w->error)) == 0)
        w->count++;
    atomic_store(&w->ended, true);
    return NULL;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* By a cancel, or by a close of the session. */
static void wakes(bool cancels, int want)
{
    struct tr_session_options o;
    struct job job;
    pthread_t thread;
    tr_session_options_init(&o);
    o.memory_bytes_max = 100000;
    open_job(&job, &o);
    struct waiter waiter = { .loader = job.loader, .error = TR_ERROR_INIT };
    assert_int_equal(pthread_create(&thread, NULL, wait_in_next, &waiter), 0);
    pause_ms(200);
    /* A cancel between two calls of the thread wakes nobody: its next call begins the epoch. */
    while (cancels && !atomic_load(&waiter.ended)) {
        ok(tr_loader_cancel(job.loader, &failure));
        pause_ms(200);
    }
    if (!cancels) {
        tr_session_close(job.session);
        job.session = NULL;
    }
    pthread_join(thread, NULL);
    assert_int_equal(waiter.rv, want);
    if (want == TR_ECLOSED)
        assert_string_equal(waiter.error.message, "loader: next: the session is closed");
    while (waiter.count > 0)
        tr_batch_release(waiter.held[--waiter.count]);
    close_job(&job);
}

static void cancel_wakes(void **state)
{
    (void)state;
    wakes(true, TR_ECANCELED);
}

static void session_close_wakes(void **state)
{
    (void)state;
    wakes(false, TR_ECLOSED);
}

static size_t epoch_digests(struct job *job, uint64_t *digests)
{
    struct tr_batch *batch;
    size_t count = 0;
    int rv;
    while ((rv = tr_loader_next(job->loader, 60 * SECOND, &batch, &failure)) == 0) {
        assert_true(count < DIGESTS_MAX);
        assert_int_equal(tr_batch_digest(batch, &digests[count++], NULL), 0);
        tr_batch_release(batch);
    }
    if (rv != TR_EEND)
        ok(rv);
    return count;
}

static void begin_and_cancel_repeat_batches(void **state)
{
    uint64_t want[DIGESTS_MAX], got[DIGESTS_MAX];
    struct tr_batch *batch;
    struct job job;
    (void)state;
    open_job(&job, NULL);
    ok(tr_loader_begin(job.loader, 3, &failure));
    size_t count = epoch_digests(&job, want);
    ok(tr_loader_begin(job.loader, 3, &failure));
    for (int i = 0; i < 3; i++) {
        ok(tr_loader_next(job.loader, 30 * SECOND, &batch, &failure));
        assert_int_equal(tr_batch_epoch(batch), 3);
        tr_batch_release(batch);
    }
    ok(tr_loader_cancel(job.loader, &failure));
    ok(tr_loader_begin(job.loader, 3, &failure));
    assert_int_equal(epoch_digests(&job, got), count);
    assert_memory_equal(got, want, count * sizeof *got);
    assert_int_equal(epoch_digests(&job, got), count);
    assert_memory_not_equal(got, want, count * sizeof *got);
    close_job(&job);
}

/* The end of an epoch is a place to begin at, with nothing to come; behind it there is none. */
static void an_epoch_begins_at_any_of_its_batches(void **state)
{
    uint64_t want[DIGESTS_MAX], got[DIGESTS_MAX];
    struct job job;
    (void)state;
    open_job(&job, NULL);
    ok(tr_loader_begin(job.loader, 3, &failure));
    size_t count = epoch_digests(&job, want);
    for (size_t at = 0; at <= count; at++) {
        ok(tr_loader_begin_at(job.loader, 3, at, &failure));
        assert_int_equal(epoch_digests(&job, got), count - at);
        assert_memory_equal(got, want + at, (count - at) * sizeof *got);
    }
    assert_int_equal(tr_loader_begin_at(job.loader, 3, count + 1, &failure), TR_ERANGE);
    assert_non_null(strstr(failure.message, "an epoch of this loader has"));
    assert_int_equal(tr_loader_begin_at(job.loader, 3, UINT64_MAX, &failure), TR_ERANGE);
    close_job(&job);
}

static void kill_found(struct actor *self, void *arg, int status, struct address address)
{
    (void)arg;
    if (status == 0)
        actor_kill(self, address, TR_EINTERNAL);
    actor_exit(self, 0);
}

static int start_killer(struct actor *self, const void *arg)
{
    return directory_lookup(self, arg, kill_found, NULL);
}

static int ignore(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops killer_ops = { .name = "killer",
                                             .start = start_killer,
                                             .receive = ignore };

static void kill_actor(struct job *job, const char *name)
{
    const struct actor_options options = { .ops = &killer_ops, .arg = name };
    struct address address;
    assert_int_equal(node_spawn(graph_node(job->graph), &options, &address), 0);
}

/* The linker gives these the calls of ports (tests.mk): a thread that looks for its proxy, to open
 * its loader there again, finds it only after the loader's close was sent. */
static atomic_bool hold_find, finding;
static atomic_uint closes_sent,
    last_sent; /* the kind of what proxies heard last of a loader's life */

int __real_port_find(struct port *port, const char *name, uint64_t deadline_ns,
                     struct address *address);
int __wrap_port_find(struct port *port, const char *name, uint64_t deadline_ns,
                     struct address *address);
int __real_port_call(struct port *port, struct address to, struct message *request,
                     uint64_t deadline_ns, struct message **reply);
int __wrap_port_call(struct port *port, struct address to, struct message *request,
                     uint64_t deadline_ns, struct message **reply);
int __real_port_send(struct port *port, struct address to, struct message *message);
int __wrap_port_send(struct port *port, struct address to, struct message *message);

int __wrap_port_find(struct port *port, const char *name, uint64_t deadline_ns,
                     struct address *address)
{
    if (atomic_exchange(&hold_find, false)) {
        atomic_store(&finding, true);
        while (atomic_load(&closes_sent) == 0)
            pause_ms(1);
    }
    return __real_port_find(port, name, deadline_ns, address);
}

/* So many calls to proxies are refused with that status, as by a full mailbox, which drops notices
 * meanwhile. */
static atomic_int refusals, refusal;

/* The body of what opened a loader last. */
static atomic_uint_fast64_t open_bytes;

/* The next opening of a loader is answered too late; where it was opened, and where it was
 * closed. */
static atomic_bool answer_late;
static struct address opened_at, closed_at;

int __wrap_port_send(struct port *port, struct address to, struct message *message)
{
    bool closes = message->frame.kind == MSG_LOADER_CLOSE;
    if (message->frame.kind == MSG_BATCH_REQUEST && atomic_load(&refusals) > 0) {
        port_release(port, message);
        return 0;
    }
    if (closes) {
        atomic_store(&last_sent, MSG_LOADER_CLOSE);
        closed_at = to;
    }
    int rv = __real_port_send(port, to, message);
    if (closes)
        atomic_fetch_add(&closes_sent, 1);
    return rv;
}

int __wrap_port_call(struct port *port, struct address to, struct message *request,
                     uint64_t deadline_ns, struct message **reply)
{
    bool refusable = request->frame.kind == MSG_LOADER_OPEN ||
                     request->frame.kind == MSG_BATCH_REQUEST;
    if (refusable && atomic_load(&refusals) > 0) {
        atomic_fetch_sub(&refusals, 1);
        port_release(port, request);
        *reply = NULL;
        return atomic_load(&refusal);
    }
    if (request->frame.kind == MSG_LOADER_OPEN) {
        atomic_store(&last_sent, MSG_LOADER_OPEN);
        atomic_store(&open_bytes, request->frame.body_bytes);
        opened_at = to;
    }
    bool late = request->frame.kind == MSG_LOADER_OPEN && atomic_exchange(&answer_late, false);
    if (late) {
        int rv = __real_port_call(port, to, request, deadline_ns, reply);
        if (rv == 0)
            port_release(port, *reply);
        *reply = NULL;
        return TR_ETIMEDOUT;
    }
    return __real_port_call(port, to, request, deadline_ns, reply);
}

static void *take_until_closed(void *arg)
{
    struct waiter *w = arg;
    struct tr_batch *batch;
    do {
        w->rv = tr_loader_next(w->loader, 60 * SECOND, &batch, &failure);
        if (w->rv == 0)
            tr_batch_release(batch);
    } while (w->rv == 0 || w->rv == TR_EEND);
    return NULL;
}

/* A waiting thread opens the loader at a proxy that was started again, while another closes it: the
 * last that the proxy hears of it is its close. */
static void a_loader_that_opens_again_while_it_closes_is_closed(void **state)
{
    struct tr_loader_options lo = loader_options();
    struct waiter waiter = { 0 };
    struct job job;
    pthread_t thread;
    (void)state;
    open_graph(&job, NULL);
    atomic_store(&closes_sent, 0);
    atomic_store(&finding, false);
    ok(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &waiter.loader, &failure));
    atomic_store(&hold_find, true);
    assert_int_equal(pthread_create(&thread, NULL, take_until_closed, &waiter), 0);
    kill_actor(&job, "proxy/0");
    while (!atomic_load(&finding))
        pause_ms(1);
    tr_loader_close(waiter.loader);
    pthread_join(thread, NULL);
    /* A batch that was on its way as the proxy died counts where it comes meanwhile; the call after
     * it finds the loader closed. */
    assert_true(waiter.rv == TR_ECANCELED || waiter.rv == TR_ECLOSED);
    assert_int_equal(atomic_load(&closes_sent), 2);
    assert_int_equal(atomic_load(&last_sent), MSG_LOADER_CLOSE);
    close_job(&job);
}

/* Samplers, servers and the proxy die while batches are on their way: the same batches come. */
static void deaths_change_nothing(void **state)
{
    static const char *const victims[] = { "sampler/0", "part/1", "sampler/1", "proxy/0",
                                           "part/0" };
    uint64_t want[DIGESTS_MAX], got[DIGESTS_MAX];
    struct tr_session_options o;
    struct job job;
    (void)state;
    tr_session_options_init(&o);
    o.loops = o.samplers = 2;
    o.direct = false;
    open_job(&job, &o);
    size_t want_count = epoch_digests(&job, want);
    ok(tr_loader_begin(job.loader, 0, &failure));
    size_t count = 0, deaths = 0;
    struct tr_batch *batch;
    int rv;
    while ((rv = tr_loader_next(job.loader, 60 * SECOND, &batch, &failure)) == 0) {
        assert_int_equal(tr_batch_digest(batch, &got[count++], NULL), 0);
        tr_batch_release(batch);
        if (count % 5 == 0 && deaths < sizeof victims / sizeof victims[0])
            kill_actor(&job, victims[deaths++]);
    }
    if (rv != TR_EEND)
        ok(rv);
    assert_true(deaths >= 5);
    assert_int_equal(count, want_count);
    assert_memory_equal(got, want, count * sizeof *got);
    close_job(&job);
}

static long peak_kib(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* All nodes are listed twice: more seeds than an epoch's batches of the whole set. */
static void list_all(struct job *job)
{
    uint64_t *ids = calloc(2 * WORLD_NODES, sizeof *ids);
    assert_non_null(ids);
    for (uint64_t i = 0; i < 2 * WORLD_NODES; i++)
        ids[i] = i % WORLD_NODES;
    tr_nodes_close(job->nodes);
    ok(tr_nodes_listed(job->graph, 0, ids, 2 * WORLD_NODES, TR_WAIT_FOREVER, &job->nodes,
                       &failure));
    free(ids);
}

/* The set is closed as soon as a loader has it, and the proxy dies in the middle of the epoch: it
 * finds the list again, which is given back when the loader is closed and the proxy has gone. */
static void a_list_lives_as_long_as_its_loader(void **state)
{
    uint64_t want[DIGESTS_MAX], got[DIGESTS_MAX];
    struct tr_loader_options lo = loader_options();
    struct tr_batch *batch;
    struct job job;
    size_t count = 0;
    int rv;
    (void)state;
    open_graph(&job, NULL);
    list_all(&job);
    struct seed_list *list = seed_list_acquire(job.nodes->list);
    ok(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &job.loader, &failure));
    const size_t want_count = epoch_digests(&job, want);
    tr_loader_close(job.loader);
    ok(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &job.loader, &failure));
    tr_nodes_close(job.nodes);
    job.nodes = NULL;
    while ((rv = tr_loader_next(job.loader, 60 * SECOND, &batch, &failure)) == 0) {
        assert_true(count < DIGESTS_MAX);
        assert_int_equal(tr_batch_digest(batch, &got[count++], NULL), 0);
        tr_batch_release(batch);
        if (count == 3 || count == 20)
            kill_actor(&job, "proxy/0");
    }
    assert_int_equal(rv, TR_EEND);
    assert_true(count > 20 && count == want_count);
    assert_memory_equal(got, want, count * sizeof *got);
    close_job(&job);
    assert_int_equal(atomic_load(&list->references), 1);
    seed_list_release(list);
}

/* A set that is joined of one list has the seeds of that list, which goes back as a list does. */
static void a_list_that_is_joined_alone_is_drawn(void **state)
{
    static uint8_t seen[WORLD_NODES];
    struct tr_loader_options lo = loader_options();
    struct tr_nodes *joined;
    struct job job;
    (void)state;
    open_graph(&job, NULL);
    list_all(&job);
    ok(tr_nodes_join(&job.nodes, 1, &joined, &failure));
    struct seed_list *list = seed_list_acquire(job.nodes->list);
    ok(tr_loader_open(job.graph, joined, &lo, TR_WAIT_FOREVER, &job.loader, &failure));
    tr_nodes_close(joined);
    memset(seen, 0, sizeof seen);
    assert_int_equal(count_seeds(job.loader, seen), tr_loader_num_batches(job.loader));
    for (size_t n = 0; n < WORLD_NODES; n++)
        assert_int_equal(seen[n], 2);
    close_job(&job);
    assert_int_equal(atomic_load(&list->references), 1);
    seed_list_release(list);
}

#define LONG_LIST (UINT64_C(1) << 24)

/* No message brings the list, no account is charged with it and nothing is copied, however many
 * loaders are open: 128 MiB of it would be seen. */
static void opening_over_a_list_copies_nothing(void **state)
{
    struct tr_loader_options lo = loader_options();
    struct tr_loader *loaders[3];
    struct tr_batch *batch;
    struct job job;
    (void)state;
    lo.shuffle = false;
    open_graph(&job, NULL);
    tr_nodes_close(job.nodes);
    job.nodes = nodes_create(job.graph, 0, LONG_LIST, &failure);
    assert_non_null(job.nodes);
    for (uint64_t i = 0; i < LONG_LIST; i++)
        job.nodes->ids[i] = (i * 7 + 3) % WORLD_NODES;
    struct account *messages = node_message_account(graph_node(job.graph));
    const size_t used = account_used(messages);
    const long peak = peak_kib();
    for (int i = 0; i < 3; i++) {
        ok(tr_loader_open(job.graph, job.nodes, &lo, TR_WAIT_FOREVER, &loaders[i], &failure));
        assert_true(atomic_load(&open_bytes) < 1024);
        assert_true(account_used(messages) < used + 1024 * 1024);
        assert_int_equal(tr_loader_num_batches(loaders[i]), (LONG_LIST + 49) / 50);
    }
    assert_true(peak_kib() < peak + 64 * 1024);
    ok(tr_loader_next(loaders[2], 60 * SECOND, &batch, &failure));
    for (uint32_t i = 0; i < 50; i++)
        assert_true(batch_mini(batch)->nodes[0].ids[i] == (i * 7 + 3) % WORLD_NODES);
    tr_batch_release(batch);
    for (int i = 0; i < 3; i++)
        tr_loader_close(loaders[i]);
    close_job(&job);
}

static void timeouts_lose_nothing(void **state)
{
    struct job job;
    struct tr_batch *batch;
    uint64_t index = 0;
    int rv;
    (void)state;
    open_job(&job, NULL);
    while ((rv = tr_loader_next(job.loader, 0, &batch, &failure)) != TR_EEND) {
        if (rv == TR_ETIMEDOUT)
            continue;
        ok(rv);
        assert_int_equal(tr_batch_index(batch), index++);
        tr_batch_release(batch);
    }
    assert_int_equal(index, tr_loader_num_batches(job.loader));
    close_job(&job);
}

#define REFUSALS_MANY 1000000 /* more than fit a test */

/* A lack of the proxy that lasts a while fails neither a loader's opening nor its batches; one that
 * lasts until the deadline is the answer. */
static void a_proxy_that_is_full_for_a_while_fails_nothing(void **state)
{
    static const int codes[] = { TR_EFULL, TR_ENOMEM, TR_EPEERDOWN };
    static uint8_t seen[WORLD_NODES];
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        struct job job;
        struct tr_batch *batch;
        atomic_store(&refusal, codes[i]);
        atomic_store(&refusals, 3);
        open_job(&job, NULL);
        assert_int_equal(atomic_load(&refusals), 0);
        atomic_store(&refusals, 3);
        memset(seen, 0, sizeof seen);
        assert_int_equal(count_seeds(job.loader, seen), tr_loader_num_batches(job.loader));
        assert_int_equal(atomic_load(&refusals), 0);
        for (size_t n = 0; n < WORLD_NODES; n++)
            assert_int_equal(seen[n], 1);
        /* The call asks again within its time, where the machine gives the thread some of that. No
         * batch is made meanwhile: the proxy hears of no beginning either. */
        int left = REFUSALS_MANY;
        for (int calls = 0; left >= REFUSALS_MANY - 1; calls++) {
            assert_true(calls < 100);
            atomic_store(&refusals, REFUSALS_MANY);
            ok(tr_loader_begin(job.loader, 7, &failure));
            int rv = tr_loader_next(job.loader, 100 * MS, &batch, &failure);
            left = atomic_exchange(&refusals, 0);
            assert_true(rv == codes[i] || rv == TR_ETIMEDOUT);
        }
        close_job(&job);
    }
}

/* A loader asks its proxy again while it is wanted and there is time. */
static void asking_again_ends_with_the_loader_and_with_the_time(void **state)
{
    struct graph_port *port;
    struct job job;
    (void)state;
    open_job(&job, NULL);
    assert_int_equal(graph_enter(job.graph, &port), 0);
    assert_true(loader_pause_before(job.loader, port->port, UINT64_MAX));
    assert_false(loader_pause_before(job.loader, port->port, port_now_ns(port->port)));
    ok(tr_loader_cancel(job.loader, &failure));
    assert_false(loader_pause_before(job.loader, port->port, UINT64_MAX));
    graph_leave(job.graph, port);
    close_job(&job);
}

/* The proxy has it open, and nobody else would close it there. */
static void a_loader_whose_opening_was_given_up_is_closed(void **state)
{
    struct tr_loader_options o;
    struct tr_loader *loader;
    struct job job;
    (void)state;
    open_job(&job, NULL);
    tr_loader_options_init(&o);
    closed_at = ADDRESS_NONE;
    atomic_store(&answer_late, true);
    assert_int_equal(tr_loader_open(job.graph, job.nodes, &o, 60 * SECOND, &loader, &failure),
                     TR_ETIMEDOUT);
    assert_null(loader);
    assert_false(address_is_none(opened_at));
    assert_true(address_equal(closed_at, opened_at));
    close_job(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_account_waits_then_says_so),
        cmocka_unit_test(cancel_wakes),
        cmocka_unit_test(session_close_wakes),
        cmocka_unit_test(timeouts_lose_nothing),
        cmocka_unit_test(begin_and_cancel_repeat_batches),
        cmocka_unit_test(an_epoch_begins_at_any_of_its_batches),
        cmocka_unit_test(trainers_share_each_step),
        cmocka_unit_test(ranks_beyond_those_of_a_job_are_played_by_its_trainers),
        cmocka_unit_test(trainers_of_one_process_share_it),
        cmocka_unit_test(deaths_change_nothing),
        cmocka_unit_test(a_list_lives_as_long_as_its_loader),
        cmocka_unit_test(a_list_that_is_joined_alone_is_drawn),
        cmocka_unit_test(opening_over_a_list_copies_nothing),
        cmocka_unit_test(a_proxy_that_is_full_for_a_while_fails_nothing),
        cmocka_unit_test(asking_again_ends_with_the_loader_and_with_the_time),
        cmocka_unit_test(a_loader_that_opens_again_while_it_closes_is_closed),
        cmocka_unit_test(a_loader_whose_opening_was_given_up_is_closed),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}

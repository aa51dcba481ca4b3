/* SPDX-License-Identifier: Apache-2.0 */
/* A job whose sessions are the processes of a cluster file: each opens what is its own, and what
 * they get is what one process alone gets. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "actors/job/coordinator.h"
#include "api/internal.h"
#include "api_world.h"
#include "outcome.h"
#include "partition/store/npy.h"
#include "runtime/base/files.h"
#include "tests/scratch.h"

#define SECOND INT64_C(1000000000)
#define PROCESSES 5u /* two servers, a sampler, two trainers */
#define TRAINERS 2u
#define FIRST_TRAINER 3u
#define PARTS 3u
#define STEPS_MAX 64u

struct job {
    char folder[64];
    char file[80], graph[256];
    uint32_t num_processes;
    struct tr_session *sessions[PROCESSES];
    struct tr_graph *graphs[PROCESSES];
};

struct digests {
    uint32_t count;
    uint64_t of[STEPS_MAX];
};

static void write_cluster(struct job *job, const char *direct)
{
    assert_non_null(scratch_folder(job->folder, sizeof job->folder, "cluster"));
    snprintf(job->file, sizeof job->file, "%s/c.json", job->folder);
    FILE *to = fopen(job->file, "w");
    assert_non_null(to);
    fprintf(to,
            "{\"name\": \"job\", \"graph\": \"%s\", \"seed\": 9, \"direct\": %s, \"hosts\": "
            "[{\"name\": \"a\", \"unix\": \"%s/s\", \"servers\": 2, \"samplers\": 1, "
            "\"trainers\": 2, \"loops\": 2, \"processes\": \"role\"}]}",
            job->graph, direct, job->folder);
    assert_int_equal(fclose(to), 0);
}

static void open_process(struct job *job, uint32_t process)
{
    struct tr_session_options o;
    tr_session_options_init(&o);
    o.cluster = job->file;
    o.process = process;
    o.incarnation = 1;
    ok(tr_session_open(&o, &job->sessions[process], &failure));
    ok(tr_graph_open(job->sessions[process], NULL, TR_WAIT_FOREVER, &job->graphs[process],
                     &failure));
}

static void open_cluster(struct job *job, const char *direct)
{
    *job = (struct job){ .num_processes = PROCESSES };
    world_partition(PARTITION_RANDOM, PARTS, job->graph);
    write_cluster(job, direct);
    for (uint32_t p = 0; p < PROCESSES; p++)
        open_process(job, p);
}

static void open_alone(struct job *job)
{
    struct tr_session_options o;
    *job = (struct job){ .num_processes = 1 };
    world_partition(PARTITION_RANDOM, PARTS, job->graph);
    tr_session_options_init(&o);
    o.trainers = TRAINERS;
    o.seed = 9;
    ok(tr_session_open(&o, &job->sessions[0], &failure));
    ok(tr_graph_open(job->sessions[0], job->graph, TR_WAIT_FOREVER, &job->graphs[0], &failure));
}

static void close_job(struct job *job)
{
    for (uint32_t p = 0; p < job->num_processes; p++) {
        tr_graph_close(job->graphs[p]);
        tr_session_close(job->sessions[p]);
    }
    if (job->folder[0] == '\0')
        return;
    assert_int_equal(files_remove_tree(files_posix, job->folder, NULL), 0);
}

static struct tr_loader_options loader_options(uint32_t rank)
{
    struct tr_loader_options o;
    tr_loader_options_init(&o);
    o.num_layers = 2;
    o.fanout[0] = o.fanout[1] = 4;
    o.batch_size = 50;
    o.original_ids = true;
    o.features = "feat";
    o.rank = rank;
    return o;
}

/* With so many nodes the last step has one seed: the second trainer's batch is empty. */
#define DEALT_NODES (2 * 50 * TRAINERS + 1)

static void write_deal(char path[256])
{
    static int32_t deal[WORLD_NODES];
    uint64_t shape = WORLD_NODES;
    struct error error = { 0 };
    for (uint32_t v = 0; v < WORLD_NODES; v++)
        deal[v] = v >= DEALT_NODES ? -1 : v <= DEALT_NODES / 2 ? 0 : 1;
    snprintf(path, 256, "%s/deal.npy", world_folder());
    assert_int_equal(npy_write(files_posix, path, "<i4", 1, &shape, deal, &error), 0);
}

/* All nodes, or the rank's group of a deal. */
static struct tr_nodes *seeds_of(const struct job *job, uint32_t process, uint32_t rank,
                                 const char *deal)
{
    struct tr_graph *graph = job->graphs[process];
    struct tr_nodes *all, *dealt, *group;
    ok(tr_nodes_all(graph, 0, TR_WAIT_FOREVER, &all, &failure));
    assert_int_equal(tr_nodes_count(all), WORLD_NODES);
    if (deal == NULL)
        return all;
    uint64_t *ids = calloc(DEALT_NODES, sizeof *ids);
    assert_non_null(ids);
    ok(tr_nodes_ids(all, 0, DEALT_NODES, TR_WAIT_FOREVER, ids, &failure));
    ok(tr_nodes_listed(graph, 0, ids, DEALT_NODES, TR_WAIT_FOREVER, &dealt, &failure));
    free(ids);
    ok(tr_nodes_deal(dealt, deal, rank, TRAINERS, TR_WAIT_FOREVER, &group, &failure));
    tr_nodes_close(dealt);
    tr_nodes_close(all);
    return group;
}

static void train(const struct job *job, uint32_t process, uint32_t rank, const char *deal,
                  struct digests *digests)
{
    struct tr_loader_options lo = loader_options(rank);
    struct tr_loader *loader;
    struct tr_nodes *nodes = seeds_of(job, process, rank, deal);
    struct tr_batch *batch;
    int rv;
    *digests = (struct digests){ 0 };
    ok(tr_loader_open(job->graphs[process], nodes, &lo, TR_WAIT_FOREVER, &loader, &failure));
    while ((rv = tr_loader_next(loader, 30 * SECOND, &batch, &failure)) == 0) {
        assert_true(digests->count < STEPS_MAX);
        ok(tr_batch_digest(batch, &digests->of[digests->count++], NULL));
        tr_batch_release(batch);
    }
    if (rv != TR_EEND)
        ok(rv);
    tr_loader_close(loader);
    tr_nodes_close(nodes);
}

static void compare(const char *deal, uint32_t steps)
{
    static const char *const direct[] = { "true", "false" };
    struct digests alone[TRAINERS];
    struct job job;
    open_alone(&job);
    for (uint32_t rank = 0; rank < TRAINERS; rank++)
        train(&job, 0, rank, deal, &alone[rank]);
    close_job(&job);
    for (int d = 0; d < 2; d++) {
        open_cluster(&job, direct[d]);
        for (uint32_t rank = 0; rank < TRAINERS; rank++) {
            struct digests got;
            train(&job, FIRST_TRAINER + rank, rank, deal, &got);
            assert_int_equal(got.count, steps);
            assert_int_equal(got.count, alone[rank].count);
            assert_memory_equal(got.of, alone[rank].of, got.count * sizeof got.of[0]);
        }
        close_job(&job);
    }
}

static void batches_are_those_of_one_process(void **state)
{
    (void)state;
    compare(NULL, WORLD_NODES / (50 * TRAINERS));
}

static void batches_of_a_deal_too_empty_ones_included(void **state)
{
    char deal[256];
    (void)state;
    write_deal(deal);
    compare(deal, 3);
}

static void every_process_reads_the_whole_graph(void **state)
{
    static float wanted[WORLD_NODES * WORLD_WIDTH], got[WORLD_NODES * WORLD_WIDTH];
    static uint64_t ids[WORLD_NODES];
    struct job alone, job;
    (void)state;
    open_alone(&alone);
    open_cluster(&job, "false");
    for (uint64_t i = 0; i < WORLD_NODES; i++)
        ids[i] = i * 7 % WORLD_NODES;
    ok(tr_graph_fetch(alone.graphs[0], 0, "feat", ids, WORLD_NODES, 30 * SECOND, wanted, &failure));
    for (uint32_t p = 0; p < PROCESSES; p++) {
        memset(got, 0, sizeof got);
        ok(tr_graph_fetch(job.graphs[p], 0, "feat", ids, WORLD_NODES, 30 * SECOND, got, &failure));
        assert_memory_equal(got, wanted, sizeof got);
    }
    close_job(&job);
    close_job(&alone);
}

/* A partition that is served elsewhere is not opened unless it may be read, or is asked for. */
static void a_process_opens_what_it_plays(void **state)
{
    struct job job;
    (void)state;
    for (int direct = 0; direct < 2; direct++) {
        open_cluster(&job, direct ? "true" : "false");
        uint32_t here[PROCESSES] = { 0 };
        for (uint32_t p = 0; p < PROCESSES; p++)
            for (uint32_t part = 0; part < PARTS; part++)
                here[p] += graph_parts(job.graphs[p])[part] != NULL;
        assert_true(here[0] > 0 && here[1] > 0);
        assert_int_equal(here[0] + here[1], direct ? 2 * PARTS : PARTS);
        assert_int_equal(here[FIRST_TRAINER], direct ? PARTS : 0);
        ok(graph_map_parts(job.graphs[FIRST_TRAINER], &failure));
        for (uint32_t part = 0; part < PARTS; part++)
            assert_non_null(graph_parts(job.graphs[FIRST_TRAINER])[part]);
        close_job(&job);
    }
}

static void refuse_loader(const struct job *job, uint32_t process, uint32_t rank, int code,
                          const char *says)
{
    struct tr_loader_options lo = loader_options(rank);
    struct tr_loader *loader;
    struct tr_nodes *nodes;
    ok(tr_nodes_all(job->graphs[process], 0, TR_WAIT_FOREVER, &nodes, &failure));
    assert_int_equal(
        tr_loader_open(job->graphs[process], nodes, &lo, TR_WAIT_FOREVER, &loader, &failure), code);
    assert_non_null(strstr(failure.message, says));
    tr_nodes_close(nodes);
}

static void what_is_elsewhere_is_refused(void **state)
{
    struct tr_session_options o;
    struct tr_session *session;
    struct tr_graph *graph;
    struct job job;
    (void)state;
    open_cluster(&job, "true");
    refuse_loader(&job, 0, 0, TR_EUNSUPPORTED, "no trainers");
    refuse_loader(&job, FIRST_TRAINER, 1, TR_ERANGE, "process 4");
    tr_session_options_init(&o);
    o.cluster = job.file;
    o.process = PROCESSES;
    assert_int_equal(tr_session_open(&o, &session, &failure), 0);
    assert_int_equal(tr_graph_open(session, NULL, TR_WAIT_FOREVER, &graph, &failure), TR_ERANGE);
    assert_non_null(strstr(failure.message, "process 5"));
    tr_session_close(session);
    o.cluster = "/nowhere/c.json";
    assert_int_equal(tr_session_open(&o, &session, &failure), TR_ENOENT);
    assert_non_null(strstr(failure.message, "/nowhere/c.json"));
    tr_session_close(session);
    close_job(&job);
}

/* A process is a member when its place is taken. The member that joins here leaves again at
 * once. */
static bool has_joined(const struct tr_graph *graph, uint32_t process, struct address coordinator,
                       uint64_t until_ns)
{
    struct port *port;
    struct message *reply;
    assert_int_equal(port_open(graph->node, 0, &port), 0);
    struct message *request = port_message(port, MSG_JOIN);
    *(struct msg_join *)message_head(
        request) = (struct msg_join){ .role = MSG_ROLE_PROCESS,
                                      .rank = process,
                                      .plan = graph->plan->marks.plan,
                                      .graph = graph->plan->marks.graph };
    assert_int_equal(port_call(port, coordinator, request, until_ns, &reply), 0);
    bool joined = error_reply_read(reply, NULL) == TR_EEXIST;
    port_release(port, reply);
    port_close(port);
    port_destroy(port);
    return joined;
}

static void wait_for_members(const struct tr_graph *graph, struct address coordinator,
                             uint64_t until_ns)
{
    for (uint32_t process = 1; process < PROCESSES; process++)
        while (!has_joined(graph, process, coordinator, until_ns))
            nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

/* Once all are members, a trainer says that it failed. */
static void end_job(struct job *job)
{
    struct graph_port *port;
    struct address coordinator;
    struct message *reply;
    ok(graph_enter(job->graphs[0], &port));
    uint64_t until_ns = port_now_ns(port->port) + 60 * UINT64_C(1000000000);
    assert_int_equal(port_find(port->port, COORDINATOR_NAME, until_ns, &coordinator), 0);
    wait_for_members(job->graphs[0], coordinator, until_ns);
    struct message *request = port_message(port->port, MSG_JOB_DONE);
    *(struct msg_job_done *)message_head(request) = (struct msg_job_done){ .code = TR_EIO };
    assert_int_equal(port_call(port->port, coordinator, request, until_ns, &reply), 0);
    port_release(port->port, reply);
    graph_leave(job->graphs[0], port);
}

/* A trainer that failed ends the job: a process that only serves or samples hears of it, as a
 * member. */
static void the_end_of_the_job_ends_its_processes(void **state)
{
    struct job job;
    (void)state;
    open_cluster(&job, "true");
    assert_int_equal(tr_graph_wait_end(job.graphs[1], SECOND / 20, &failure), TR_ETIMEDOUT);
    end_job(&job);
    for (uint32_t p = 0; p < PROCESSES; p++)
        ok(tr_graph_wait_end(job.graphs[p], 30 * SECOND, &failure));
    close_job(&job);
}

struct waiting {
    struct tr_group *group;
    atomic_bool returned;
    int code;
};

/* Waits for the other trainer, which never comes. */
static void *wait_in_group(void *arg)
{
    struct waiting *waiting = arg;
    struct tr_checkpoint checkpoint = TR_CHECKPOINT_INIT;
    waiting->code = tr_group_restore(waiting->group, TR_WAIT_FOREVER, &checkpoint, &failure);
    atomic_store(&waiting->returned, true);
    return NULL;
}

/* The end of the actors wakes the thread that waits in a group, and no later call waits for
 * them. */
static void no_call_outlives_the_actors(void **state)
{
    struct waiting waiting = { 0 };
    struct tr_loader_options options = loader_options(0);
    struct tr_loader *loader;
    struct tr_nodes *nodes;
    struct job job;
    pthread_t thread;
    uint64_t id = 0;
    float row[64];
    (void)state;
    open_cluster(&job, "true");
    struct tr_graph *graph = job.graphs[FIRST_TRAINER];
    struct tr_session *session = job.sessions[FIRST_TRAINER];
    ok(tr_group_open(graph, 0, &waiting.group, &failure));
    ok(tr_nodes_all(graph, 0, TR_WAIT_FOREVER, &nodes, &failure));
    assert_int_equal(pthread_create(&thread, NULL, wait_in_group, &waiting), 0);
    end_job(&job);
    ok(tr_graph_wait_end(graph, 30 * SECOND, &failure));
    uint64_t begin_ns = env_now_ns(session->env);
    while (!atomic_load(&waiting.returned) &&
           env_now_ns(session->env) - begin_ns < 30 * UINT64_C(1000000000))
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    assert_true(atomic_load(&waiting.returned));
    pthread_join(thread, NULL);
    assert_int_equal(waiting.code, TR_ECLOSED);
    assert_int_equal(tr_group_barrier(waiting.group, "late", TR_WAIT_FOREVER, &failure),
                     TR_ECLOSED);
    assert_non_null(strstr(failure.message, "trainer 0: barrier: the job has ended"));
    assert_int_equal(tr_graph_fetch(graph, 0, "feat", &id, 1, TR_WAIT_FOREVER, row, &failure),
                     TR_ECLOSED);
    assert_non_null(strstr(failure.message, "the graph: the job has ended"));
    assert_int_equal(tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, &failure),
                     TR_ECLOSED);
    assert_non_null(strstr(failure.message, "the job has ended"));
    tr_nodes_close(nodes);
    tr_group_close(waiting.group);
    close_job(&job);
}

/* A process of another partitioning that comes before the coordinator opens, and is refused
 * later. */
static void calls_say_why_the_actors_ended(void **state)
{
    struct job job = { .num_processes = 2 };
    struct tr_loader_options options = loader_options(0);
    struct tr_loader *loader;
    struct tr_nodes *nodes, *again;
    struct tr_session_options o;
    char other[256];
    uint64_t id = 0;
    float row[64];
    (void)state;
    world_partition(PARTITION_RANDOM, PARTS, job.graph);
    world_partition(PARTITION_RANDOM, PARTS + 1, other);
    write_cluster(&job, "true");
    tr_session_options_init(&o);
    o.cluster = job.file;
    o.process = FIRST_TRAINER;
    o.incarnation = 1;
    ok(tr_session_open(&o, &job.sessions[1], &failure));
    ok(tr_graph_open(job.sessions[1], other, TR_WAIT_FOREVER, &job.graphs[1], &failure));
    struct tr_graph *graph = job.graphs[1];
    ok(tr_nodes_all(graph, 0, TR_WAIT_FOREVER, &nodes, &failure));
    open_process(&job, 0);
    assert_int_equal(tr_graph_wait_end(graph, 60 * SECOND, &failure), TR_EMISMATCH);
    assert_int_equal(tr_graph_fetch(graph, 0, "feat", &id, 1, TR_WAIT_FOREVER, row, &failure),
                     TR_EMISMATCH);
    assert_non_null(strstr(failure.message, tr_strerror(TR_EMISMATCH)));
    assert_int_equal(tr_nodes_all(graph, 0, TR_WAIT_FOREVER, &again, &failure), TR_EMISMATCH);
    assert_int_equal(tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, &failure),
                     TR_EMISMATCH);
    tr_nodes_close(nodes);
    close_job(&job);
}

/* The trainer that rank 0 is of a job, while somebody else listens at its address. */
struct second_life {
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_log *log;
    int64_t timeout_ns;
    struct tr_error error;
    int code;
};

static void *open_again(void *arg)
{
    struct second_life *life = arg;
    const struct tr_error none = TR_ERROR_INIT;
    life->error = none;
    life->code = tr_graph_open(life->session, NULL, life->timeout_ns, &life->graph, &life->error);
    return NULL;
}

static void open_second_session(struct second_life *life, const struct job *job)
{
    struct tr_session_options o;
    ok(tr_log_open(NULL, &life->log, &failure));
    tr_session_options_init(&o);
    o.cluster = job->file;
    o.process = FIRST_TRAINER;
    o.incarnation = 2;
    o.log = life->log;
    ok(tr_session_open(&o, &life->session, &failure));
}

static void await_warning(struct second_life *life)
{
    struct tr_log_line line = TR_LOG_LINE_INIT;
    do
        ok(tr_log_next(life->log, 60 * SECOND, &line, &failure));
    while (strstr(line.text, "another process listens there") == NULL);
    assert_int_equal(line.level, TR_LOG_WARN);
    assert_non_null(strstr(line.text, "unix:"));
    assert_non_null(strstr(line.text, "/3.sock"));
}

static void a_busy_address_is_waited_for(void **state)
{
    struct second_life life = { .timeout_ns = 2 * SECOND };
    struct job job;
    pthread_t thread;
    (void)state;
    open_cluster(&job, "true");
    open_second_session(&life, &job);
    /* Late and interrupted: neither says that another attempt would fail too. Reading the few files
     * of this graph comes first, and has its part of the time. */
    do {
        assert_true((life.timeout_ns *= 2) < 200 * SECOND);
        open_again(&life);
        assert_int_equal(life.code, TR_ETIMEDOUT);
    } while (strstr(life.error.message, "/3.sock") == NULL);
    await_warning(&life);
    life.timeout_ns = TR_WAIT_FOREVER;
    assert_int_equal(pthread_create(&thread, NULL, open_again, &life), 0);
    await_warning(&life);
    tr_session_interrupt(life.session);
    pthread_join(thread, NULL);
    assert_int_equal(life.code, TR_ECANCELED);
    tr_session_resume(life.session);
    /* The one that had it ends. */
    assert_int_equal(pthread_create(&thread, NULL, open_again, &life), 0);
    await_warning(&life);
    tr_graph_close(job.graphs[FIRST_TRAINER]);
    tr_session_close(job.sessions[FIRST_TRAINER]);
    pthread_join(thread, NULL);
    assert_string_equal(life.error.message, "");
    assert_int_equal(life.code, 0);
    job.graphs[FIRST_TRAINER] = life.graph;
    job.sessions[FIRST_TRAINER] = life.session;
    close_job(&job);
    tr_log_close(life.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_elsewhere_is_refused),
        cmocka_unit_test(batches_are_those_of_one_process),
        cmocka_unit_test(batches_of_a_deal_too_empty_ones_included),
        cmocka_unit_test(every_process_reads_the_whole_graph),
        cmocka_unit_test(a_process_opens_what_it_plays),
        cmocka_unit_test(the_end_of_the_job_ends_its_processes),
        cmocka_unit_test(no_call_outlives_the_actors),
        cmocka_unit_test(calls_say_why_the_actors_ended),
        cmocka_unit_test(a_busy_address_is_waited_for),
    };
    return cmocka_run_group_tests_name("cluster", tests, world_setup, world_teardown);
}

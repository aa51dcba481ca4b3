/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a job whose hosts have a disk each: hosts die, some with their disks, and the job
 * goes on from the last checkpoint that was made, to the end that an undisturbed one has.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "actors/job/checkpoint_paths.h"
#include "actors/job/checkpoint_store.h"
#include "actors/job/checkpoint_store_state.h"
#include "runtime/base/crc32c.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "runtime/sim/env_sim.h"
#include "tests/actors/cluster_fixture.h"
#include "tests/schemas/random.h"
#include "tests/seeds.h"

#define STEPS 20u
#define EVERY 2u
#define MS UINT64_C(1000000)
#define LIMIT_NS (4000 * ENV_SECOND_NS)
#define ASK_NS (600 * ENV_SECOND_NS)
#define THINK_NS (100 * MS)
#define STRIKES 6u
#define PART_BYTES 3000u /* several blocks of a disk */

enum stage { FIND, RESTORE, REDUCE, SAVE, DONE };

/* A part of a checkpoint. */
struct memory {
    uint64_t step, digest;
    unsigned char rest[PART_BYTES];
};

struct run;

struct trainer {
    struct run *run;
    uint32_t rank;
    struct address reducer;
    struct timer timer;
    enum stage stage;
    struct memory memory;
};

struct run {
    struct cluster_fixture fixture;
    struct cluster_fixture_play play;
    struct trainer trainers[CLUSTER_FIXTURE_TRAINERS_MAX];
    uint64_t draws;
    uint64_t saved;      /* the newest step whose checkpoint was made */
    uint64_t saved_then; /* when a disk was lost */
    bool lost;
    bool fails; /* all saves, ... */
    bool skips; /* ... since the last rank has no part of them */
    uint32_t losses, pulls;
    bool unreadable;  /* no rank can be restored, and each hears ... */
    struct error why; /* ... of the reason, the last one of this */
    bool forbidden;   /* the same, for want of a permission */
    uint32_t padding; /* bytes behind the memory in parts of the first checkpoint */
    uint64_t
        busy_ns; /* checkpoint stores are full for so long after each strike; without: at first */
};

/* Checkpoint stores of all nodes but one refuse everything before that. */
static uint64_t busy_until_ns;
static uint32_t idle_node, refusals;

static int start_busy(struct actor *self, const void *arg)
{
    return checkpoint_store_ops.start(self, arg);
}

static int receive_busy(struct actor *self, struct message *request)
{
    struct error error = { 0 };
    if (actor_now_ns(self) >= busy_until_ns || actor_address(self).node == idle_node)
        return checkpoint_store_ops.receive(self, request);
    int code = ++refusals % 3 == 0 ? TR_ENOMEM : TR_EFULL;
    error_set(&error, code, "the store is busy");
    if (refusals % 2 == 0)
        error_reply_send(self, request, &error);
    else
        actor_refuse(self, request, code);
    return 0;
}

static void fini_busy(struct actor *self)
{
    checkpoint_store_ops.fini(self);
}

static const struct actor_ops busy_keeper_ops = {
    .name = "busy store", .start = start_busy, .receive = receive_busy, .fini = fini_busy
};

/* Checkpoint stores that have room for everything but manifests. */
static int receive_parts(struct actor *self, struct message *request)
{
    struct error error = { 0 };
    if (request->frame.kind != MSG_CHECKPOINT_COMMIT)
        return checkpoint_store_ops.receive(self, request);
    error_set(&error, TR_ENOSPC, "no room for a manifest");
    error_reply_send(self, request, &error);
    return 0;
}

static const struct actor_ops parts_keeper_ops = {
    .name = "full store", .start = start_busy, .receive = receive_parts, .fini = fini_busy
};

/* Checkpoint stores that look for so long, before that time: of one node, or of all. */
static struct slow_stores {
    uint64_t ns, until_ns;
    uint32_t node; /* PLAN_NO_NODE: all */
    uint32_t held_back;
    struct held_look {
        struct held_look *next, **link;
        struct actor *self;
        struct message *request;
        struct timer timer;
    } * held;
} slow;

static void remove_held(struct held_look *held)
{
    *held->link = held->next;
    if (held->next != NULL)
        held->next->link = held->link;
    free(held);
}

static void serve_held(struct actor *self, void *arg)
{
    struct held_look *held = arg;
    struct message *request = held->request;
    remove_held(held);
    assert_int_equal(checkpoint_store_ops.receive(self, request), 0);
}

static int receive_slowly(struct actor *self, struct message *request)
{
    uint32_t kind = request->frame.kind;
    uint64_t now_ns = actor_now_ns(self);
    if ((kind != MSG_CHECKPOINT_LOOK && kind != MSG_CHECKPOINT_FIND) || now_ns >= slow.until_ns ||
        (slow.node != PLAN_NO_NODE && slow.node != actor_address(self).node))
        return checkpoint_store_ops.receive(self, request);
    struct held_look *held = calloc(1, sizeof *held);
    assert_non_null(held);
    *held = (struct held_look){
        .next = slow.held, .link = &slow.held, .self = self, .request = request
    };
    if (held->next != NULL)
        held->next->link = &held->next;
    slow.held = held;
    slow.held_back++;
    timer_start(self, &held->timer, now_ns + slow.ns, serve_held, held);
    return 0;
}

static void fini_slow(struct actor *self)
{
    struct held_look *next;
    for (struct held_look *held = slow.held; held != NULL; held = next) {
        next = held->next;
        if (held->self == self) {
            message_release(self, held->request);
            remove_held(held);
        }
    }
    checkpoint_store_ops.fini(self);
}

static const struct actor_ops slow_keeper_ops = {
    .name = "slow store", .start = start_busy, .receive = receive_slowly, .fini = fini_slow
};

/* Checkpoint stores that refuse to look: those of a process with that code, before that time. */
static struct refusing_stores {
    struct refusing_store {
        int code; /* 0: none */
        uint64_t until_ns;
        uint32_t refusals;
    } nodes[CLUSTER_FIXTURE_PROCESSES_MAX];
    uint32_t kind; /* of requests; 0: to look for manifests, and for parts */
} refusing;

static int receive_refusing(struct actor *self, struct message *request)
{
    struct refusing_store *store = &refusing.nodes[actor_address(self).node];
    struct error error = { 0 };
    uint32_t kind = request->frame.kind;
    bool looks = refusing.kind != 0 ? kind == refusing.kind
                                    : kind == MSG_CHECKPOINT_FIND || kind == MSG_CHECKPOINT_LOOK;
    if (store->code == 0 || !looks || actor_now_ns(self) >= store->until_ns)
        return checkpoint_store_ops.receive(self, request);
    store->refusals++;
    error_set(&error, store->code, "nobody may look");
    error_reply_send(self, request, &error);
    return 0;
}

static const struct actor_ops refusing_keeper_ops = {
    .name = "refusing store", .start = start_busy, .receive = receive_refusing, .fini = fini_busy
};

/* Disks that parts cannot be read from before that time. */
static uint32_t unreadable_reads;
static uint64_t readable_ns;
static struct env *readable_env;
static int (*open_simulated)(struct files *self, const char *path, int flags, int mode);

static int open_unreadable(struct files *self, const char *path, int flags, int mode)
{
    bool part = strstr(path, "/part") != NULL && (flags & O_ACCMODE) == O_RDONLY;
    if (!part || env_sim_now_ns(readable_env) >= readable_ns)
        return open_simulated(self, path, flags, mode);
    unreadable_reads++;
    return -EIO;
}

/* A host whose disk is new has room to say that it has nothing. */
static void make_busy(const struct run *run, uint32_t idle)
{
    idle_node = idle;
    busy_until_ns = run->busy_ns == 0 ? 0 : env_sim_now_ns(run->fixture.env) + run->busy_ns;
}

static void go_on(struct actor *self, void *arg);

static void later(struct actor *self, struct trainer *t, uint64_t most)
{
    timer_start(self, &t->timer, actor_now_ns(self) + 1 + actor_random(self) % most, go_on, t);
}

static uint64_t mix(uint64_t digest, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    digest = (digest ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 29;
}

static float addend(uint64_t step, uint32_t rank)
{
    return (float)(step + 1) / (float)(3 + rank * 4);
}

static void fill_rest(struct memory *memory, uint32_t rank)
{
    for (uint32_t i = 0; i < PART_BYTES; i++)
        memory->rest[i] = (unsigned char)(memory->step * 31 + rank * 7 + i);
}

static unsigned char padding_of(uint32_t rank, uint32_t i)
{
    return (unsigned char)(i * 13 + i / 251 + i / 65536 + rank);
}

static void restore(struct trainer *t, const struct message *reply)
{
    const struct msg_group_reply *head = (const void *)reply->head;
    struct memory wanted = { 0 };
    t->memory = (struct memory){ 0 };
    if (head->found != 0) {
        uint32_t padding = head->step == EVERY ? t->run->padding : 0;
        const unsigned char *behind = (const unsigned char *)message_body(reply) + sizeof wanted;
        assert_int_equal(reply->frame.body_bytes, sizeof t->memory + padding);
        for (uint32_t i = 0; i < padding; i++)
            if (behind[i] != padding_of(t->rank, i))
                fail_msg("byte %u of a part is another", i);
        memcpy(&t->memory, message_body(reply), sizeof t->memory);
        wanted.step = t->memory.step;
        fill_rest(&wanted, t->rank);
        assert_memory_equal(t->memory.rest, wanted.rest, PART_BYTES);
    }
    /* A checkpoint that was made stays made. */
    assert_true(t->memory.step >= t->run->saved);
}

static void take(struct trainer *t, const struct message *reply)
{
    switch (t->stage) {
    case RESTORE:
        restore(t, reply);
        t->stage = t->memory.step == STEPS ? DONE : REDUCE;
        break;
    case REDUCE:
        t->memory.digest = mix(t->memory.digest, *(const float *)message_body(reply));
        t->memory.step++;
        t->stage = t->memory.step % EVERY == 0 ? SAVE : REDUCE;
        break;
    default:
        if (t->memory.step > t->run->saved)
            t->run->saved = t->memory.step;
        t->stage = t->memory.step == STEPS ? DONE : REDUCE;
    }
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct trainer *t = arg;
    struct error error = { 0 };
    if (status == TR_ECANCELED)
        return;
    if (status == 0)
        status = error_reply_read(reply, &error);
    if (status == 0)
        take(t, reply);
    else if (status == TR_EIO && t->stage == RESTORE && t->run->unreadable) {
        t->run->why = error;
        t->stage = DONE;
    } else if (status == TR_EPERM && t->stage == RESTORE && t->run->forbidden) {
        t->run->why = error;
        t->stage = DONE;
    } else if (status == TR_ENOSPC && t->stage == SAVE && t->run->fails)
        t->stage = t->memory.step == STEPS ? DONE : REDUCE;
    else if (status == TR_EROLLBACK)
        t->stage = RESTORE;
    else if (status == TR_EPEERDOWN || status == TR_ECLOSED)
        t->stage = FIND;
    else if (status != TR_EFULL && status != TR_ENOMEM)
        fail_msg("trainer %u, stage %d: %s: %s", t->rank, (int)t->stage, tr_error_name(status),
                 error.text);
    message_release(self, reply);
    later(self, t, t->stage == DONE ? ENV_SECOND_NS : t->stage == REDUCE ? THINK_NS : MS);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct trainer *t = arg;
    if (status == TR_ECANCELED)
        return;
    assert_int_equal(status, 0);
    t->reducer = address;
    t->stage = RESTORE;
    later(self, t, MS);
}

static void ask(struct actor *self, struct trainer *t)
{
    static const uint32_t operations[] = {
        [RESTORE] = MSG_GROUP_RESTORE, [REDUCE] = MSG_GROUP_REDUCE, [SAVE] = MSG_GROUP_SAVE
    };
    const float value = addend(t->memory.step, t->rank);
    struct message *request = message_create(self, MSG_GROUP_REQUEST);
    struct msg_group_request *head = message_head(request);
    *head = (struct msg_group_request){ .operation = operations[t->stage],
                                        .value = t->stage == SAVE ? t->memory.step : 0,
                                        .timeout_ns = ASK_NS };
    fill_rest(&t->memory, t->rank);
    if (t->stage == SAVE && t->run->skips && t->rank + 1 == t->run->fixture.layout->trainers) {
        head->operation = MSG_GROUP_SKIP;
        head->count = (uint64_t)(int64_t)TR_ENOSPC;
    } else if (t->stage == SAVE) {
        uint32_t padding = t->memory.step == EVERY ? t->run->padding : 0;
        head->count = sizeof t->memory + padding;
        unsigned char *body = message_body_alloc(self, request, head->count);
        memcpy(body, &t->memory, sizeof t->memory);
        for (uint32_t i = 0; i < padding; i++)
            body[sizeof t->memory + i] = padding_of(t->rank, i);
    } else if (t->stage == REDUCE) {
        head->count = 1;
        memcpy(message_body_alloc(self, request, sizeof value), &value, sizeof value);
    }
    assert_int_equal(
        actor_call(self, t->reducer, request, actor_now_ns(self) + 2 * ASK_NS, answered, t, NULL),
        0);
}

static void go_on(struct actor *self, void *arg)
{
    struct trainer *t = arg;
    char name[DIRECTORY_NAME_MAX];
    if (t->stage == DONE) { /* until it is called back */
        later(self, t, ENV_SECOND_NS);
        return;
    }
    if (t->stage != FIND) {
        ask(self, t);
        return;
    }
    reducer_name(t->rank, name, sizeof name);
    assert_int_equal(directory_wait(self, name, actor_now_ns(self) + LIMIT_NS, found, t), 0);
}

static int start(struct actor *self, const void *arg)
{
    later(self, (struct trainer *)(uintptr_t)arg, MS);
    return 0;
}

static int drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops trainer_ops = { .name = "trainer", .start = start, .receive = drop };

static bool is_done(const void *arg, uint32_t rank)
{
    return ((const struct run *)arg)->trainers[rank].stage == DONE;
}

static bool any_done(const struct run *run)
{
    for (uint32_t i = 0; i < run->fixture.layout->trainers; i++)
        if (run->trainers[i].stage == DONE)
            return true;
    return false;
}

/* A host that is started again knows nothing but what is on its disk. */
static struct actor_options trainer_of(void *arg, uint32_t rank)
{
    struct run *run = arg;
    run->trainers[rank] = (struct trainer){ .run = run, .rank = rank };
    return (struct actor_options){ .ops = &trainer_ops, .arg = &run->trainers[rank] };
}

/* One disk at a time, and the next after all parts are on two hosts again. */
static bool may_lose_disk(const struct run *run)
{
    return !run->fixture.layout->one_disk && (!run->lost || run->saved > run->saved_then + EVERY);
}

/* A rank that died before it heard that the last checkpoint was made begins again, and those that
 * had heard of it and ended are needed for that, as a launcher knows. */
static void call_back(struct run *run)
{
    for (uint32_t i = 0;
         i < run->fixture.layout->trainers && !cluster_fixture_play_is_done(&run->play); i++)
        if (run->trainers[i].stage == DONE)
            run->trainers[i].stage = RESTORE;
}

static void strike(struct run *run)
{
    uint32_t process = (uint32_t)random_below(&run->draws, run->fixture.layout->num_processes);
    cluster_fixture_kill(&run->fixture, process);
    if (may_lose_disk(run) && random_below(&run->draws, 2) == 0) {
        cluster_fixture_lose_disk(&run->fixture, process);
        run->losses++;
        run->lost = true;
        run->saved_then = run->saved;
    }
    (void)cluster_fixture_play_run(&run->play, random_below(&run->draws, 2) == 0
                                                   ? CLUSTER_FIXTURE_DEAD_NS / 100
                                                   : 3 * CLUSTER_FIXTURE_DEAD_NS);
    cluster_fixture_play_start(&run->play, process);
    make_busy(run, process);
    call_back(run);
}

static const struct cluster_fixture_layout layouts[] = {
    { .num_processes = 2,
      .samplers = 1,
      .trainers = 2,
      .coordinator = 0,
      .checkpoints = "c/%h",
      .processes = { { 1, { 0 }, { 0, 1 }, { 0, 1 } }, { 1, { 1 }, { 1, 0 }, { 1, 1 } } } },
    { .num_processes = 3,
      .samplers = 1,
      .trainers = 2,
      .coordinator = 0,
      .checkpoints = "c",
      .processes = { { 2, { 0, 1 }, { 0, 1 }, { 0, 0 } },
                     { 0, { 0 }, { 1, 0 }, { 0, 1 } },
                     { 0, { 0 }, { 1, 0 }, { 1, 1 } } } },
    { .num_processes = 3,
      .samplers = 1,
      .trainers = 2,
      .coordinator = 2,
      .checkpoints = "c",
      .processes = { { 1, { 0 }, { 0, 1 }, { 0, 2 } },
                     { 1, { 1 }, { 1, 0 }, { 2, 0 } },
                     { 0, { 0 }, { 1, 0 }, { 2, 0 } } } },
    { .num_processes = 3,
      .samplers = 1,
      .trainers = 2,
      .coordinator = 1,
      .checkpoints = "c",
      .one_disk = true,
      .processes = { { 2, { 0, 1 }, { 0, 1 }, { 0, 1 } },
                     { 0, { 0 }, { 1, 0 }, { 1, 0 } },
                     { 0, { 0 }, { 1, 0 }, { 1, 1 } } } },
};

static uint64_t digest_of_all(void)
{
    uint64_t digest = 0;
    for (uint64_t step = 0; step < STEPS; step++)
        digest = mix(digest, addend(step, 0) + addend(step, 1));
    return digest;
}

static void play_busily(uint64_t seed, const struct cluster_fixture_layout *layout, bool strikes,
                        uint64_t busy_ns, struct run *run)
{
    struct env *env;
    *run = (struct run){ .draws = seed, .busy_ns = busy_ns };
    run->play = (struct cluster_fixture_play){ &run->fixture, trainer_of, is_done, run };
    assert_int_equal(env_sim_create(seed, NULL, &env), 0);
    cluster_fixture_open(&run->fixture, layout, env, true);
    for (uint32_t p = 0; p < layout->num_processes; p++)
        cluster_fixture_play_start_trainers(&run->play, p);
    if (!strikes) /* else something is saved before the first one */
        make_busy(run, PLAN_NO_NODE);
    for (uint32_t i = 0; i < STRIKES && strikes; i++) {
        (void)cluster_fixture_play_run(&run->play,
                                       random_below(&run->draws, CLUSTER_FIXTURE_SECOND));
        if (any_done(run)) /* a rank that has ended waits for nobody */
            break;
        strike(run);
    }
    int rv = cluster_fixture_play_run(&run->play, LIMIT_NS);
    if (rv != 0)
        fail_msg("the job did not end: %s", tr_error_name(rv));
    for (uint32_t i = 0; i < layout->trainers; i++)
        assert_true(run->trainers[i].memory.digest == digest_of_all());
}

static void play(uint64_t seed, const struct cluster_fixture_layout *layout, bool strikes,
                 struct run *run)
{
    play_busily(seed, layout, strikes, 0, run);
}

/* No copy fails, and no older checkpoint is taken because the store of a newer one had no room. */
static void keepers_that_are_full_for_a_while_lose_nothing(void **state)
{
    struct seeds seeds = seeds_wanted(30);
    struct run *run = malloc(sizeof *run);
    (void)state;
    assert_non_null(run);
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        struct cluster_fixture_layout layout = layouts[seed % (sizeof layouts / sizeof *layouts)];
        layout.checkpoint_store_ops = &busy_keeper_ops;
        busy_until_ns = refusals = 0;
        seeds_note(seed);
        play_busily(seed, &layout, seed % 3 != 0, 20 * ENV_SECOND_NS, run);
        assert_true(refusals > 0 || run->losses == 0);
        cluster_fixture_close(&run->fixture);
    }
    free(run);
}

static void a_job_survives_its_hosts_and_their_disks(void **state)
{
    struct seeds seeds = seeds_wanted(60);
    uint32_t losses = 0;
    struct run *run = malloc(sizeof *run);
    (void)state;
    assert_non_null(run);
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        seeds_note(seed);
        play(seed, &layouts[seed % (sizeof layouts / sizeof *layouts)], true, run);
        losses += run->losses;
        cluster_fixture_close(&run->fixture);
    }
    assert_true(losses > 0 || seeds.end - seeds.begin < 10);
    free(run);
}

/* How many hosts have a whole copy of a part. */
static uint32_t count_copies(const struct run *run, const char *folder, uint32_t rank)
{
    uint32_t copies = 0;
    for (uint32_t p = 0; p < run->fixture.layout->num_processes; p++) {
        struct checkpoint_manifest manifest;
        struct files *files = run->fixture.parties[p].files;
        assert_int_equal(checkpoint_find(files, folder, STEPS, &manifest, NULL), 0);
        assert_int_equal(manifest.world, 2);
        copies += checkpoint_read_part(files, folder, STEPS, rank, &manifest.parts[rank], NULL,
                                       NULL) == 0;
        checkpoint_manifest_fini(&manifest);
    }
    return copies;
}

static bool never(void *arg)
{
    (void)arg;
    return false;
}

/* Each part is on two hosts, each manifest on all, and nothing unfinished lies about. */
static void a_part_is_on_two_hosts(void **state)
{
    (void)state;
    struct run *run = malloc(sizeof *run);
    assert_non_null(run);
    for (uint32_t l = 0; l < 3; l++) {
        const char *folder = l == 0 ? "c/here" : "c";
        play(l, &layouts[l], false, run);
        (void)env_sim_run(run->fixture.env, never, NULL,
                          env_sim_now_ns(run->fixture.env) + CLUSTER_FIXTURE_SECOND);
        for (uint32_t rank = 0; rank < 2; rank++)
            assert_int_equal(count_copies(run, folder, rank), 2);
        cluster_fixture_close(&run->fixture);
    }
    free(run);
}

static bool has_restored(void *arg)
{
    const struct run *run = arg;
    return run->trainers[0].stage == REDUCE && run->trainers[0].memory.step >= run->saved &&
           run->saved > 0;
}

static bool has_saved(void *arg)
{
    return ((const struct run *)arg)->saved > 0;
}

/* A host whose disk is new gets its part from another, and then has it: the other may lose its
 * disk, too, before anything else was saved. */
static void pull_a_part(uint32_t padding)
{
    struct env *env;
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    run->padding = padding;
    run->play = (struct cluster_fixture_play){ &run->fixture, trainer_of, is_done, run };
    assert_int_equal(env_sim_create(7, NULL, &env), 0);
    cluster_fixture_open(&run->fixture, &layouts[0], env, true);
    for (uint32_t p = 0; p < layouts[0].num_processes; p++)
        cluster_fixture_play_start_trainers(&run->play, p);
    uint64_t until_ns = LIMIT_NS;
    assert_int_equal(env_sim_run(env, has_saved, run, until_ns), 0);
    struct files *files = run->fixture.parties[1].files;
    struct checkpoint_manifest manifest;
    cluster_fixture_kill(&run->fixture, 0);
    cluster_fixture_lose_disk(&run->fixture, 0);
    assert_int_equal(checkpoint_newest(files, "c/here", UINT64_MAX, &manifest, NULL, NULL), 0);
    cluster_fixture_play_start(&run->play, 0);
    assert_int_equal(env_sim_run(env, has_restored, run, until_ns), 0);
    assert_int_equal(run->trainers[0].memory.step, manifest.step);
    files = run->fixture.parties[0].files;
    assert_int_equal(checkpoint_read_saved(files, "c/here", manifest.step, manifest.era, 0,
                                           &manifest.parts[0], NULL, NULL),
                     0);
    /* The part of the other trainer is nowhere but there. */
    assert_int_not_equal(checkpoint_read_saved(files, "c/here", manifest.step, manifest.era, 1,
                                               &manifest.parts[1], NULL, NULL),
                         0);
    checkpoint_manifest_fini(&manifest);
    assert_int_equal(cluster_fixture_play_run(&run->play, LIMIT_NS), 0);
    cluster_fixture_close(&run->fixture);
    free(run);
}

static void a_part_that_was_pulled_is_put_back(void **state)
{
    (void)state;
    pull_a_part(0);
}

/* Parts of one piece, just so; of one more byte; of two and a bit: each piece comes from its
 * place. */
static void a_part_of_several_pieces_is_the_one_that_was_saved(void **state)
{
    static const uint32_t sizes[] = { MSG_CHECKPOINT_PIECE_MAX, MSG_CHECKPOINT_PIECE_MAX + 1,
                                      2 * MSG_CHECKPOINT_PIECE_MAX + 12345 };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        pull_a_part(sizes[i] - (uint32_t)sizeof(struct memory));
}

static bool has_saved_twice(void *arg)
{
    return ((const struct run *)arg)->saved >= (uint64_t)2 * EVERY;
}

/* All hosts of a job die once it has saved something. */
static void begin_and_kill_when(struct run *run, const struct cluster_fixture_layout *layout,
                                bool (*when)(void *arg))
{
    struct env *env;
    *run = (struct run){ 0 };
    slow.until_ns = slow.held_back = 0;
    run->play = (struct cluster_fixture_play){ &run->fixture, trainer_of, is_done, run };
    assert_int_equal(env_sim_create(11, NULL, &env), 0);
    cluster_fixture_open(&run->fixture, layout, env, true);
    for (uint32_t p = 0; p < layout->num_processes; p++)
        cluster_fixture_play_start_trainers(&run->play, p);
    assert_int_equal(env_sim_run(env, when, run, LIMIT_NS), 0);
    for (uint32_t p = 0; p < layout->num_processes; p++)
        cluster_fixture_kill(&run->fixture, p);
}

static void begin_and_kill_all(struct run *run, const struct cluster_fixture_layout *layout)
{
    begin_and_kill_when(run, layout, has_saved);
}

static bool is_restored(void *arg)
{
    const struct run *run = arg;
    bool all = true;
    for (uint32_t i = 0; i < run->fixture.layout->trainers; i++)
        all = all && run->trainers[i].stage > RESTORE;
    return all;
}

static void start_all_again(struct run *run)
{
    for (uint32_t p = 0; p < run->fixture.layout->num_processes; p++)
        cluster_fixture_play_start(&run->play, p);
}

static void end_well(struct run *run)
{
    assert_int_equal(cluster_fixture_play_run(&run->play, LIMIT_NS), 0);
    for (uint32_t i = 0; i < run->fixture.layout->trainers; i++)
        assert_true(run->trainers[i].memory.digest == digest_of_all());
    cluster_fixture_close(&run->fixture);
}

/* Cold disks: each look takes longer than the first patience with a store, and then longer than
 * twice that. No older checkpoint is taken, and nothing begins anew, which restore() sees. */
static void keepers_that_look_slowly_lose_nothing(void **state)
{
    struct run *run = malloc(sizeof *run);
    (void)state;
    assert_non_null(run);
    for (uint64_t seconds = 15; seconds <= 120; seconds *= 2)
        for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
            struct cluster_fixture_layout layout = layouts[l];
            layout.checkpoint_store_ops = &slow_keeper_ops;
            begin_and_kill_all(run, &layout);
            slow.ns = seconds * ENV_SECOND_NS;
            slow.until_ns = UINT64_MAX;
            slow.node = PLAN_NO_NODE;
            start_all_again(run);
            end_well(run);
            assert_true(slow.held_back > 0);
        }
    free(run);
}

/* The only host that has the checkpoint is silent for a while, and the others have none: that is
 * not known to be all there is. */
static void a_keeper_that_is_silent_is_waited_for(void **state)
{
    struct cluster_fixture_layout layout = layouts[0];
    struct run *run = malloc(sizeof *run);
    (void)state;
    assert_non_null(run);
    layout.checkpoint_store_ops = &slow_keeper_ops;
    begin_and_kill_all(run, &layout);
    cluster_fixture_lose_disk(&run->fixture, 0);
    slow.ns = 100 * ENV_SECOND_NS;
    slow.until_ns = env_sim_now_ns(run->fixture.env) + slow.ns;
    slow.node = 1;
    start_all_again(run);
    end_well(run);
    free(run);
}

/* The manifest of the newest is damaged, or gone, where the coordinator is, and the other host that
 * has it is silent for a while: the one before it, which the first still has, is not the newest. */
static void a_manifest_that_is_damaged_is_looked_for_elsewhere(void **state)
{
    struct cluster_fixture_layout layout = layouts[0];
    struct run *run = malloc(sizeof *run);
    (void)state;
    assert_non_null(run);
    layout.checkpoint_store_ops = &slow_keeper_ops;
    for (uint32_t gone = 0; gone < 2; gone++) {
        struct checkpoint_manifest manifest;
        bool passed_over;
        char path[64];
        begin_and_kill_when(run, &layout, has_saved_twice);
        slow.ns = 100 * ENV_SECOND_NS;
        slow.until_ns = env_sim_now_ns(run->fixture.env) + slow.ns;
        slow.node = 1;
        start_all_again(run); /* nobody looks before the time goes on */
        struct files *files = run->fixture.parties[0].files;
        snprintf(path, sizeof path, "c/here/checkpoint-%u/manifest.json", (unsigned)run->saved);
        assert_true(files_exists(files, path));
        if (gone != 0)
            assert_int_equal(files_remove_tree(files, path, NULL), 0);
        else
            assert_int_equal(checkpoint_write_file(files, path, "{", 1, NULL), 0);
        assert_int_equal(
            checkpoint_newest(files, "c/here", UINT64_MAX, &manifest, &passed_over, NULL), 0);
        assert_true(passed_over && manifest.step == run->saved - EVERY);
        checkpoint_manifest_fini(&manifest);
        assert_int_equal(checkpoint_newest(run->fixture.parties[1].files, "c/here", UINT64_MAX,
                                           &manifest, &passed_over, NULL),
                         0);
        assert_true(!passed_over && manifest.step == run->saved);
        checkpoint_manifest_fini(&manifest);
        end_well(run);
    }
    free(run);
}

/* Disks that fail for a while cost nothing; those that go on failing end the job with an error that
 * names one of them, and never begin it anew. */
static void a_disk_that_fails_is_no_empty_one(void **state)
{
    struct run *run = malloc(sizeof *run);
    (void)state;
    assert_non_null(run);
    for (uint32_t forever = 0; forever < 2; forever++) {
        begin_and_kill_all(run, &layouts[0]);
        run->unreadable = forever != 0;
        unreadable_reads = 0;
        readable_env = run->fixture.env;
        readable_ns = forever != 0 ? UINT64_MAX
                                   : env_sim_now_ns(readable_env) + 100 * ENV_SECOND_NS;
        start_all_again(run);
        for (uint32_t p = 0; p < layouts[0].num_processes; p++) {
            struct files *files = run->fixture.parties[p].files;
            open_simulated = files->open;
            files->open = open_unreadable;
        }
        if (forever == 0) {
            end_well(run);
            assert_true(unreadable_reads > 0);
            continue;
        }
        assert_int_equal(cluster_fixture_play_run(&run->play, LIMIT_NS), 0);
        assert_non_null(strstr(run->why.text, "process"));
        assert_non_null(strstr(run->why.text, "c/here"));
        assert_int_equal(run->trainers[0].memory.step, 0);
        cluster_fixture_close(&run->fixture);
    }
    free(run);
}

/* A process that may not read at all ends no search that others' answers settle: those are asked
 * again while they fail in passing, whichever fails last. */
static void a_refusal_that_lasts_ends_no_search_that_goes_on(void **state)
{
    static const uint32_t kinds[] = { MSG_CHECKPOINT_FIND, MSG_CHECKPOINT_LOOK, 0 };
    struct cluster_fixture_layout layout = layouts[0];
    struct run *run = malloc(sizeof *run);
    (void)state;
    assert_non_null(run);
    layout.checkpoint_store_ops = &refusing_keeper_ops;
    for (uint32_t lasting = 0; lasting < 2; lasting++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            struct refusing_store *stays = &refusing.nodes[lasting];
            struct refusing_store *passes = &refusing.nodes[1 - lasting];
            refusing = (struct refusing_stores){ 0 };
            begin_and_kill_all(run, &layout);
            refusing.kind = kinds[i];
            *passes = (struct refusing_store){
                TR_EIO, env_sim_now_ns(run->fixture.env) + 60 * ENV_SECOND_NS, 0
            };
            *stays = (struct refusing_store){ TR_EPERM, UINT64_MAX, 0 };
            start_all_again(run);
            assert_int_equal(env_sim_run(run->fixture.env, is_restored, run, LIMIT_NS), 0);
            assert_true(stays->refusals > 0 && passes->refusals > 1);
            stays->code = 0; /* copies are looked for, too */
            end_well(run);
        }
    free(run);
}

/* Where the answers of the others do not settle it, the search ends when they are there, and names
 * the process that refuses. */
static void a_refusal_that_lasts_ends_what_nothing_else_settles(void **state)
{
    struct cluster_fixture_layout layout = layouts[0];
    struct run *run = malloc(sizeof *run);
    (void)state;
    assert_non_null(run);
    layout.checkpoint_store_ops = &refusing_keeper_ops;
    for (uint32_t lasting = 0; lasting < 2; lasting++) {
        struct refusing_store *passes = &refusing.nodes[1 - lasting];
        char process[64];
        refusing = (struct refusing_stores){ .kind = MSG_CHECKPOINT_FIND };
        begin_and_kill_all(run, &layout);
        cluster_fixture_lose_disk(&run->fixture, 1 - lasting);
        run->forbidden = true;
        uint64_t passes_ns = env_sim_now_ns(run->fixture.env) + 60 * ENV_SECOND_NS;
        *passes = (struct refusing_store){ TR_EIO, passes_ns, 0 };
        refusing.nodes[lasting] = (struct refusing_store){ TR_EPERM, UINT64_MAX, 0 };
        start_all_again(run);
        assert_int_equal(cluster_fixture_play_run(&run->play, LIMIT_NS), 0);
        assert_true(passes->refusals > 1);
        assert_true(env_sim_now_ns(run->fixture.env) >= passes_ns);
        assert_true(env_sim_now_ns(run->fixture.env) < passes_ns + 30 * ENV_SECOND_NS);
        snprintf(process, sizeof process, "process %u cannot read the checkpoints ", lasting);
        assert_non_null(strstr(run->why.text, process));
        cluster_fixture_close(&run->fixture);
    }
    free(run);
}

#define LOOKS 5u

/* Sends one look several times, as one whose patience ends does. */
struct looker {
    struct checkpoint_manifest manifest;
    uint32_t answers, canceled, found;
};

static void looker_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct looker *looker = arg;
    looker->answers++;
    looker->canceled += status == TR_ECANCELED;
    looker->found += status == 0 && reply->frame.kind == MSG_CHECKPOINT_SEEN &&
                     ((const struct msg_checkpoint_seen *)(const void *)reply->head)->found != 0;
    message_release(self, reply);
}

static void looker_found(struct actor *self, void *arg, int status, struct address address)
{
    struct looker *looker = arg;
    assert_int_equal(status, 0);
    for (uint32_t i = 0; i < LOOKS; i++)
        assert_int_equal(
            actor_call(self, address,
                       checkpoint_store_look(self, "c/%h", looker->manifest.step,
                                             looker->manifest.era, 0, &looker->manifest.parts[0]),
                       actor_now_ns(self) + ASK_NS, looker_answered, looker, NULL),
            0);
}

static int start_looker(struct actor *self, const void *arg)
{
    return directory_wait_at(self, 0, CHECKPOINT_STORE_NAME, actor_now_ns(self) + ASK_NS,
                             looker_found, (void *)(uintptr_t)arg);
}

static const struct actor_ops looker_ops = { .name = "looker",
                                             .start = start_looker,
                                             .receive = drop };

static bool looker_done(void *arg)
{
    return ((const struct looker *)arg)->answers == LOOKS;
}

/* A disk that is slower than its askers are patient reads a part once, not once for each repeat:
 * the last of them that came meanwhile gets the answer. */
static void a_look_that_is_repeated_reads_once(void **state)
{
    struct run *run = malloc(sizeof *run);
    uint32_t canceled = 0;
    (void)state;
    assert_non_null(run);
    for (uint32_t i = 0; i < 10; i++) {
        struct looker looker = { 0 };
        const struct actor_options options = { .ops = &looker_ops, .arg = &looker };
        struct address address;
        begin_and_kill_all(run, &layouts[0]);
        for (uint32_t p = 0; p < layouts[0].num_processes; p++)
            cluster_fixture_start(&run->fixture, p);
        assert_int_equal(checkpoint_newest(run->fixture.parties[0].files, "c/here", UINT64_MAX,
                                           &looker.manifest, NULL, NULL),
                         0);
        (void)env_sim_run(run->fixture.env, never, NULL,
                          env_sim_now_ns(run->fixture.env) + (10 + i) * MS);
        assert_int_equal(node_spawn(run->fixture.parties[1].node, &options, &address), 0);
        assert_int_equal(env_sim_run(run->fixture.env, looker_done, &looker, LIMIT_NS), 0);
        assert_true(looker.found > 0 && looker.found + looker.canceled == LOOKS);
        canceled += looker.canceled;
        checkpoint_manifest_fini(&looker.manifest);
        cluster_fixture_close(&run->fixture);
    }
    assert_true(canceled > 0);
    free(run);
}

static int count_entry(void *arg, const char *name)
{
    (void)name;
    ++*(uint32_t *)arg;
    return 0;
}

/* A save that failed, since a rank has no part or the second host no room for the manifest, leaves
 * nothing: no part where its rank is, no copy of it on the second host, no folder of theirs and no
 * manifest. Stores that are busy meanwhile drop it afterwards. */
static void a_save_that_failed_leaves_nothing_on_any_host(void **state)
{
    struct seeds seeds = seeds_wanted(12);
    struct run *run = malloc(sizeof *run);
    (void)state;
    assert_non_null(run);
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        struct cluster_fixture_layout layout = layouts[seed % 3];
        const char *const folders[] = { "c", "c/here" };
        struct env *env;
        bool busy = seed % 4 == 1, skips = seed % 4 < 2;
        if (busy || !skips)
            layout.checkpoint_store_ops = busy ? &busy_keeper_ops : &parts_keeper_ops;
        busy_until_ns = refusals = 0;
        seeds_note(seed);
        *run = (struct run){ .fails = true,
                             .skips = skips,
                             .busy_ns = busy ? 10 * ENV_SECOND_NS : 0 };
        run->play = (struct cluster_fixture_play){ &run->fixture, trainer_of, is_done, run };
        assert_int_equal(env_sim_create(seed, NULL, &env), 0);
        cluster_fixture_open(&run->fixture, &layout, env, true);
        for (uint32_t p = 0; p < layout.num_processes; p++)
            cluster_fixture_play_start_trainers(&run->play, p);
        make_busy(run, PLAN_NO_NODE);
        bool made = false;
        for (uint32_t i = 0; i < 20000 && !made; i++) {
            (void)cluster_fixture_play_run(&run->play, MS);
            for (uint32_t p = 0; p < layout.num_processes; p++)
                made = made || files_exists(run->fixture.parties[p].files, folders[seed % 3 == 0]);
        }
        assert_true(made);
        assert_int_equal(cluster_fixture_play_run(&run->play, LIMIT_NS), 0);
        (void)env_sim_run(env, never, NULL, env_sim_now_ns(env) + 30 * CLUSTER_FIXTURE_SECOND);
        assert_int_equal(run->saved, 0);
        for (uint32_t p = 0; p < layout.num_processes; p++) {
            struct files *files = run->fixture.parties[p].files;
            uint32_t entries = 0;
            (void)files->list(files, folders[seed % 3 == 0], count_entry, &entries);
            assert_int_equal(entries, 0);
        }
        cluster_fixture_close(&run->fixture);
    }
    free(run);
}

/* Asks a store for one thing after the other. */
struct piece_request {
    bool drops;
    uint32_t era;
    uint64_t step, sequence;
    int status;     /* that it is answered with */
    bool is_there;  /* afterwards, the part of that step and era */
    uint64_t times; /* it is sent so often, without waiting for an answer */
};

struct copier {
    const struct piece_request *request;
    uint32_t answers;
    int status;
    struct checkpoint_store_calls calls;
};

static void copier_answered(struct actor *self, void *arg, int status, struct message *reply,
                            const struct error *error)
{
    struct copier *copier = arg;
    (void)error;
    copier->status = status;
    copier->answers++;
    message_release(self, reply);
}

static int start_copier(struct actor *self, const void *arg)
{
    static const char part[] = "weights", given[] = "c/%h";
    struct copier *copier = (void *)(uintptr_t)arg;
    const struct piece_request *r = copier->request;
    for (uint64_t i = 0; i < r->times; i++) {
        struct message *request = checkpoint_store_request(
            self, r->drops ? MSG_CHECKPOINT_DROP : MSG_CHECKPOINT_COPY, part,
            r->drops ? 0 : sizeof part, given);
        assert_non_null(request);
        if (r->drops)
            *(struct msg_checkpoint_drop *)message_head(
                request) = (struct msg_checkpoint_drop){ .step = r->step,
                                                         .sequence = r->sequence,
                                                         .era = r->era,
                                                         .rank = 1,
                                                         .path_bytes = strlen(given) };
        else
            *(struct msg_checkpoint_copy *)message_head(
                request) = (struct msg_checkpoint_copy){ .step = r->step,
                                                         .bytes = sizeof part,
                                                         .sequence = r->sequence,
                                                         .crc32c = crc32c(0, part, sizeof part),
                                                         .era = r->era,
                                                         .rank = 1,
                                                         .count = sizeof part,
                                                         .path_bytes = strlen(given) };
        assert_int_equal(checkpoint_store_call(self, &copier->calls, 0, request,
                                               actor_now_ns(self) + ASK_NS, copier_answered,
                                               copier),
                         0);
    }
    return 0;
}

static const struct actor_ops copier_ops = { .name = "copier",
                                             .start = start_copier,
                                             .receive = drop };

static bool copier_done(void *arg)
{
    const struct copier *copier = arg;
    return copier->answers == copier->request->times;
}

static struct run *open_copies(void)
{
    struct env *env;
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    assert_int_equal(env_sim_create(9, NULL, &env), 0);
    cluster_fixture_open(&run->fixture, &layouts[0], env, true);
    return run;
}

/* The trainer of process 1 asks the store of the other one, an actor for each. */
static void ask_all(struct run *run, const struct piece_request *requests, size_t count)
{
    struct files *files = run->fixture.parties[0].files;
    for (size_t i = 0; i < count; i++) {
        struct copier copier = { .request = &requests[i] };
        const struct actor_options options = { .ops = &copier_ops, .arg = &copier };
        struct address address;
        char path[64];
        snprintf(path, sizeof path, "c/here/%u-%u.tmp/part1", (unsigned)requests[i].step,
                 requests[i].era);
        assert_int_equal(node_spawn(run->fixture.parties[1].node, &options, &address), 0);
        assert_int_equal(env_sim_run(run->fixture.env, copier_done, &copier, LIMIT_NS), 0);
        assert_int_equal(copier.status, requests[i].status);
        assert_int_equal(files_exists(files, path), requests[i].is_there);
    }
}

/* A drop may be repeated, and counts whenever pieces of its save come; a later save of the same
 * step is another, which the drop of the one before it leaves alone. */
static void what_was_dropped_stays_dropped(void **state)
{
    static const struct piece_request REQUESTS[] = {
        { true, 1, 4, 1, 0, false, 1 },          /* of what never came */
        { false, 1, 4, 1, TR_EINVAL, false, 1 }, /* and comes now */
        { false, 1, 4, 2, 0, true, 2 },          /* saved again */
        { true, 1, 4, 1, TR_EINVAL, true, 1 },   /* late */
        { true, 1, 4, 2, 0, false, 3 },          { false, 1, 4, 2, TR_EINVAL, false, 1 },
        { false, 1, 4, 1, TR_EINVAL, false, 1 }, { false, 1, 6, 3, 0, true, 1 },
        { false, 2, 4, 1, 0, true, 1 },        /* of a new era */
        { true, 1, 6, 3, TR_EINVAL, true, 1 }, /* of the era before it */
        { true, 2, 4, 1, 0, false, 1 },
    };
    struct run *run = open_copies();
    (void)state;
    ask_all(run, REQUESTS, sizeof REQUESTS / sizeof *REQUESTS);
    cluster_fixture_close(&run->fixture);
    free(run);
}

/* Where the coordinator and all ranks died, eras and saves begin low again: a store that outlived
 * them takes the saves of the next life. */
static void saves_of_another_life_are_others(void **state)
{
    static const struct piece_request PAST[] = {
        { false, 3, 8, 5, 0, true, 1 },
        { true, 3, 8, 5, 0, false, 1 }, /* the newest it knows */
        { false, 1, 4, 1, TR_EINVAL, false, 1 },
    };
    static const struct piece_request PRESENT[] = {
        { false, 1, 4, 1, 0, true, 1 },
        { false, 3, 8, 5, 0, true, 1 }, /* once more, and not dropped now */
        { false, 1, 4, 1, TR_EINVAL, true, 1 },
        { true, 3, 8, 5, 0, false, 1 },
        { false, 3, 8, 5, TR_EINVAL, false, 1 },
    };
    struct run *run = open_copies();
    (void)state;
    ask_all(run, PAST, sizeof PAST / sizeof *PAST);
    cluster_fixture_kill(&run->fixture, 1);
    cluster_fixture_start(&run->fixture, 1);
    ask_all(run, PRESENT, sizeof PRESENT / sizeof *PRESENT);
    cluster_fixture_close(&run->fixture);
    free(run);
}

struct stranger {
    const char *folder;
    int status;
    bool answered;
    struct error error;
    struct checkpoint_store_calls calls;
};

static void was_answered(struct actor *self, void *arg, int status, struct message *reply,
                         const struct error *error)
{
    struct stranger *stranger = arg;
    stranger->status = status;
    if (error != NULL)
        stranger->error = *error;
    stranger->answered = true;
    message_release(self, reply);
}

static int start_stranger(struct actor *self, const void *arg)
{
    struct stranger *stranger = (void *)(uintptr_t)arg;
    const struct checkpoint_manifest manifest = { 4, 1, 1, &(struct checkpoint_part){ 0, 0 } };
    struct message *request = checkpoint_store_commit(self, stranger->folder, 2, &manifest);
    assert_non_null(request);
    return checkpoint_store_call(self, &stranger->calls, 0, request, actor_now_ns(self) + ASK_NS,
                                 was_answered, stranger);
}

static const struct actor_ops stranger_ops = { .name = "stranger",
                                               .start = start_stranger,
                                               .receive = drop };

static bool was_told(void *arg)
{
    return ((const struct stranger *)arg)->answered;
}

static void no_other_folder_is_touched(void **state)
{
    static const char *const folders[] = { "d", "c", "c/%h/../d", "c/%h/", "/c/%h", "c/%h" };
    struct env *env;
    struct run *run = calloc(1, sizeof *run);
    (void)state;
    assert_non_null(run);
    assert_int_equal(env_sim_create(9, NULL, &env), 0);
    cluster_fixture_open(&run->fixture, &layouts[0], env, true);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct stranger stranger = { .folder = folders[i] };
        const struct actor_options options = { .ops = &stranger_ops, .arg = &stranger };
        struct address address;
        bool own = i + 1 == sizeof folders / sizeof *folders;
        assert_int_equal(node_spawn(run->fixture.parties[1].node, &options, &address), 0);
        assert_int_equal(env_sim_run(env, was_told, &stranger, LIMIT_NS), 0);
        assert_int_equal(stranger.status, own ? 0 : TR_EMISMATCH);
        assert_true(own || strstr(stranger.error.text, folders[i]) != NULL);
        assert_true(files_exists(run->fixture.parties[0].files, "c") == own);
        assert_false(files_exists(run->fixture.parties[0].files, "d"));
    }
    cluster_fixture_close(&run->fixture);
    free(run);
}

/* A manifest from another process names as many trainers as a job may have, and no more. */
static void a_manifest_of_too_many_trainers_is_refused(void **state)
{
    struct buffer body = { 0 };
    struct message *message = calloc(1, sizeof *message + sizeof(struct msg_checkpoint_commit));
    (void)state;
    assert_non_null(message);
    body.data = calloc(CHECKPOINT_WORLD_MAX + 1, sizeof(struct msg_checkpoint_entry));
    assert_non_null(body.data);
    message->body = &body;
    for (uint32_t world = CHECKPOINT_WORLD_MAX - 1; world <= CHECKPOINT_WORLD_MAX + 1; world++) {
        struct msg_checkpoint_commit commit = { .step = 4, .era = 1, .world = world };
        struct msg_checkpoint_found found = { .step = 4, .era = 1, .world = world };
        struct checkpoint_manifest manifest;
        int expected = world <= CHECKPOINT_WORLD_MAX ? 0 : TR_EFORMAT;
        memcpy(message->head, &commit, sizeof commit);
        assert_int_equal(checkpoint_store_read_commit(message, &manifest), expected);
        checkpoint_manifest_fini(&manifest);
        message->frame.kind = MSG_CHECKPOINT_FOUND;
        memcpy(message->head, &found, sizeof found);
        assert_int_equal(checkpoint_store_read_found(message, &manifest), expected);
        checkpoint_manifest_fini(&manifest);
    }
    free(body.data);
    free(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_on_two_hosts),
        cmocka_unit_test(a_part_that_was_pulled_is_put_back),
        cmocka_unit_test(a_part_of_several_pieces_is_the_one_that_was_saved),
        cmocka_unit_test(a_save_that_failed_leaves_nothing_on_any_host),
        cmocka_unit_test(what_was_dropped_stays_dropped),
        cmocka_unit_test(saves_of_another_life_are_others),
        cmocka_unit_test(a_manifest_of_too_many_trainers_is_refused),
        cmocka_unit_test(no_other_folder_is_touched),
        cmocka_unit_test(keepers_that_are_full_for_a_while_lose_nothing),
        cmocka_unit_test(keepers_that_look_slowly_lose_nothing),
        cmocka_unit_test(a_keeper_that_is_silent_is_waited_for),
        cmocka_unit_test(a_manifest_that_is_damaged_is_looked_for_elsewhere),
        cmocka_unit_test(a_disk_that_fails_is_no_empty_one),
        cmocka_unit_test(a_refusal_that_lasts_ends_no_search_that_goes_on),
        cmocka_unit_test(a_refusal_that_lasts_ends_what_nothing_else_settles),
        cmocka_unit_test(a_look_that_is_repeated_reads_once),
        cmocka_unit_test(a_job_survives_its_hosts_and_their_disks),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection that gives up its place when a newcomer finds none: the rules, and in the
 * simulated network what they are for. However many connections hold the places and whatever they
 * send, a process that was started again is linked at once.
 */
#include "tests/runtime/link_support.h"
#include "tests/seeds.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/core/stream.h"
#include "runtime/core/timer.h"
#include "runtime/net/admission.h"
#include "runtime/net/wire.h"

#define SEEDS 3
#define MS UINT64_C(1000000)
#define PLACES LINKS_HALF_OPEN_MAX
#define MINE 7u   /* a source */
#define THEIRS 9u /* another one */

/* Places that were taken one after the other, a millisecond apart, from 0 on. */
struct table {
    struct admission_place places[PLACES];
    uint32_t count;
};

static void take(struct table *table, uint64_t source, enum admission_stage stage, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        struct admission_place *place = &table->places[table->count];
        assert_true(table->count < PLACES);
        *place = (struct admission_place){ .source = source,
                                           .since_ns = table->count * MS,
                                           .stage = stage };
        place->next = table->count > 0 ? place - 1 : NULL;
        table->count++;
    }
}

/* The number of the place that a newcomer takes, so long after the last one. */
static uint32_t chosen_after(struct table *table, uint64_t source, uint64_t ns)
{
    struct admission_place *chosen = admission_choose(&table->places[table->count - 1], source,
                                                      (table->count - 1) * MS + ns);
    return chosen != NULL ? (uint32_t)(chosen - table->places) : UINT32_MAX;
}

/* When each has had its time. */
static uint32_t chosen(struct table *table, uint64_t source)
{
    return chosen_after(table, source, LINKS_PLACE_NS);
}

static void the_oldest_silent_one_gives_way(void **state)
{
    (void)state;
    struct table table = { .count = 0 };
    take(&table, MINE, ADMISSION_SPOKE, 20);
    take(&table, MINE, ADMISSION_SILENT, PLACES - 20);
    assert_int_equal(chosen(&table, MINE), 20);
    assert_int_equal(chosen(&table, THEIRS), 20);
}

/* Also where another source holds more: a peer speaks first, whichever it is. */
static void silence_does_not_last(void **state)
{
    (void)state;
    struct table table = { .count = 0 };
    take(&table, MINE, ADMISSION_SILENT, 1);
    take(&table, THEIRS, ADMISSION_SPOKE, PLACES - 1);
    uint64_t age_ns = (PLACES - 1) * MS; /* of the first, when the last one came */
    assert_int_equal(chosen_after(&table, THEIRS, LINKS_SILENT_NS - age_ns - 1), 1);
    assert_int_equal(chosen_after(&table, THEIRS, LINKS_SILENT_NS - age_ns), 0);
}

static void the_busiest_source_gives_way(void **state)
{
    (void)state;
    struct table table = { .count = 0 };
    take(&table, MINE, ADMISSION_SILENT, 3);
    take(&table, THEIRS, ADMISSION_ANSWERED, PLACES - 3);
    assert_int_equal(chosen(&table, MINE), 3);
    assert_int_equal(chosen(&table, THEIRS), 3);
    assert_int_equal(chosen(&table, 100), 3);
}

/* A source has a share: one above it displaces itself, whatever the others' stages. */
static void a_source_beyond_its_share_displaces_itself(void **state)
{
    (void)state;
    struct table table = { .count = 0 };
    take(&table, THEIRS, ADMISSION_ANSWERED, PLACES / 2);
    take(&table, MINE, ADMISSION_SILENT, PLACES / 2 - 1);
    take(&table, THEIRS, ADMISSION_SPOKE, 1);
    assert_int_equal(chosen(&table, THEIRS), PLACES - 1);
    assert_int_equal(chosen(&table, MINE), PLACES - 1); /* it has one less than its share */
    table.places[PLACES - 1].source = MINE;
    table.places[PLACES - 1].stage = ADMISSION_SILENT;
    assert_int_equal(chosen(&table, MINE), PLACES / 2); /* at its share */
}

static void the_least_advanced_gives_way_then_the_oldest(void **state)
{
    (void)state;
    struct table table = { .count = 0 };
    take(&table, MINE, ADMISSION_ANSWERED, 10);
    take(&table, MINE, ADMISSION_SPOKE, 10);
    take(&table, MINE, ADMISSION_ANSWERED, PLACES - 20);
    assert_int_equal(chosen(&table, MINE), 10);
    table.places[30].stage = ADMISSION_OVER;
    assert_int_equal(chosen(&table, MINE), 30);
}

/* Each connection of a flood from one source has its time, which bounds the flood. A source that
 * holds more than its share gives way to others at once. */
static void a_place_is_kept_for_a_while(void **state)
{
    (void)state;
    struct table table = { .count = 0 };
    take(&table, MINE, ADMISSION_SPOKE, PLACES);
    for (uint32_t i = 0; i < PLACES; i++)
        table.places[i].since_ns = 100 * MS + i;
    uint64_t then_ns = 100 * MS + LINKS_PLACE_NS;
    struct admission_place *newest = &table.places[PLACES - 1];
    assert_int_equal(admission_next_ns(newest), then_ns);
    assert_null(admission_choose(newest, MINE, then_ns - 1));
    assert_ptr_equal(admission_choose(newest, MINE, then_ns), &table.places[0]);
    assert_ptr_equal(admission_choose(newest, MINE, then_ns + 5), &table.places[0]);
    table.places[40].source = THEIRS;
    assert_ptr_equal(admission_choose(newest, THEIRS, then_ns - 1), &table.places[0]);
    table.places[0].stage = ADMISSION_PROVED;
    assert_int_equal(admission_next_ns(newest), then_ns + 1);
    assert_null(admission_choose(newest, MINE, then_ns));
    table.places[9].stage = ADMISSION_OVER; /* it needs no time any more */
    assert_int_equal(admission_next_ns(newest), 0);
    assert_ptr_equal(admission_choose(newest, MINE, 1), &table.places[9]);
}

/* Each of many sources has one place: none of them is swept out before its time either. */
static void nor_is_it_lost_to_many_sources(void **state)
{
    (void)state;
    struct table table = { .count = 0 };
    for (uint32_t i = 0; i < PLACES; i++)
        take(&table, 1000 + i, ADMISSION_SPOKE, 1);
    uint64_t now_ns = (PLACES - 1) * MS;
    struct admission_place *newest = &table.places[PLACES - 1];
    for (uint32_t i = 0; i < PLACES; i++)
        table.places[i].since_ns = now_ns;
    assert_null(admission_choose(newest, 5, now_ns + LINKS_PLACE_NS - 1));
    assert_ptr_equal(admission_choose(newest, 5, now_ns + LINKS_PLACE_NS), &table.places[0]);
}

static void who_proved_itself_stays(void **state)
{
    (void)state;
    struct table table = { .count = 0 };
    take(&table, MINE, ADMISSION_PROVED, PLACES - 1);
    take(&table, THEIRS, ADMISSION_ANSWERED, 1);
    assert_int_equal(chosen(&table, MINE), PLACES - 1);
    table.places[PLACES - 1].stage = ADMISSION_PROVED;
    assert_int_equal(chosen(&table, MINE), UINT32_MAX);
    assert_int_equal(chosen_after(&table, THEIRS, 10 * LINKS_SILENT_NS), UINT32_MAX);
    assert_int_equal(admission_next_ns(&table.places[PLACES - 1]), UINT64_MAX);
}

/* The promise to a source however many places the others ask for: as long as it holds less than its
 * share, none of its connections that spoke is displaced by them. */
static void nobody_is_displaced_within_its_share(void **state)
{
    (void)state;
    uint64_t draw = 1;
    for (uint32_t round = 0; round < 20000; round++) {
        struct table table = { .count = 0 };
        uint32_t sources = 0, held[8] = { 0 };
        for (uint32_t i = 0; i < PLACES; i++) {
            draw = draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            /* Low numbers are drawn more often. */
            uint64_t source = (draw >> 33) % (1 + (draw >> 50) % 8);
            take(&table, source, ADMISSION_SPOKE + (draw >> 40) % 2, 1);
            sources += held[source]++ == 0;
        }
        uint32_t newcomer = (uint32_t)(draw >> 58) % 8;
        uint32_t loser = (uint32_t)table.places[chosen(&table, newcomer)].source;
        assert_true(held[loser] >= PLACES / sources);
        assert_true(loser == newcomer || held[newcomer] < PLACES / sources);
        for (uint32_t i = 0; loser != newcomer && i < 8; i++)
            assert_true(held[i] <= held[loser]);
    }
}

/* A listener (node 0), its peer that dies and comes back (node 1), and attackers that keep so many
 * connections to the listener open: each that ends is made anew. */
#define ATTACKERS 200u

enum attack { ATTACK_NONE, ATTACK_SILENT, ATTACK_BYTE, ATTACK_HALF, ATTACKS };

struct attacker {
    struct world *world;
    struct stream *stream;
    struct timer timer;
    bool said;
};

struct world {
    struct env *env;
    struct node *nodes[2], *stranger;
    struct endpoint endpoints[2];
    enum attack attack;
    struct attacker attackers[ATTACKERS];
};

static void attack(struct actor *self, void *arg);

static void again(struct actor *self, struct attacker *attacker)
{
    stream_close(attacker->stream);
    attacker->stream = NULL;
    timer_start(self, &attacker->timer, actor_now_ns(self) + 1 + actor_random(self) % (2 * MS),
                attack, attacker);
}

static void attacked(struct actor *self, void *arg, struct stream *stream, unsigned what)
{
    static const unsigned char words[8] = { 200, 0, 0, 0, WIRE_HELLO, 0, 0, 0 };
    struct attacker *attacker = arg;
    size_t size = attacker->world->attack == ATTACK_BYTE   ? 1
                  : attacker->world->attack == ATTACK_HALF ? sizeof words
                                                           : 0;
    struct iovec out = { (void *)(uintptr_t)words, size };
    unsigned char byte;
    struct iovec in = { &byte, 1 };
    if (!(what & STREAM_FAILED) && !attacker->said && size > 0)
        stream_writev(stream, &out, 1);
    attacker->said = true;
    if ((what & STREAM_FAILED) || stream_readv(stream, &in, 1) < 0)
        again(self, attacker);
    else
        stream_want(stream, STREAM_READABLE);
}

static void attack(struct actor *self, void *arg)
{
    struct attacker *attacker = arg;
    attacker->said = false;
    if (stream_connect(self, &attacker->world->endpoints[0], attacked, attacker,
                       &attacker->stream) < 0)
        again(self, attacker);
}

static int attacker_start(struct actor *self, const void *arg)
{
    struct world *world = (void *)(uintptr_t)arg;
    for (uint32_t i = 0; i < ATTACKERS; i++) {
        world->attackers[i] = (struct attacker){ .world = world };
        again(self, &world->attackers[i]);
    }
    return 0;
}

static const struct actor_ops attacker_ops = { "attacker", attacker_start, support_discard, NULL,
                                               NULL };

static void to_stderr(void *arg, enum log_level level, const char *component, const char *line)
{
    (void)component;
    struct world *world = arg;
    (void)level;
    fprintf(stderr, "# %8.3f %s\n", (double)env_sim_now_ns(world->env) / 1e9, line);
}

static void make(struct world *world, uint32_t id, uint32_t incarnation)
{
    struct node_options node = {
        .id = id, .incarnation = incarnation, .loops = 1, .kinds = link_kinds()
    };
    struct links_peer peer = { .node = 1 - id, .endpoint = world->endpoints[1 - id] };
    struct links_options links = { .cluster = "test",
                                   .listen = &world->endpoints[id],
                                   .num_listen = 1,
                                   .peers = &peer,
                                   .num_peers = 1,
                                   .insecure_network = true };
    if (getenv("TEST_LOG") != NULL)
        node.log = (struct log_sink){ to_stderr, world, LOG_LEVEL_DEBUG };
    assert_int_equal(node_create(world->env, &node, &world->nodes[id], NULL), 0);
    assert_int_equal(links_create(world->nodes[id], &links, NULL), 0);
    assert_int_equal(node_start(world->nodes[id]), 0);
}

static bool is_linked(void *arg)
{
    struct world *world = arg;
    for (uint32_t id = 0; id < 2; id++) {
        struct links_status status;
        links_status(world->nodes[id], &status, 1);
        if (status.state != LINKS_UP)
            return false;
    }
    return true;
}

static void run_for(struct world *world, uint64_t ns)
{
    assert_int_equal(env_sim_run(world->env, NULL, NULL, env_sim_now_ns(world->env) + ns),
                     TR_ETIMEDOUT);
}

static bool all_stopped(void *arg)
{
    struct world *world = arg;
    return node_is_stopped(world->nodes[0]) && node_is_stopped(world->nodes[1]) &&
           (world->stranger == NULL || node_is_stopped(world->stranger));
}

static void close_world(struct world *world)
{
    struct node *nodes[3] = { world->nodes[0], world->nodes[1], world->stranger };
    for (uint32_t i = 0; i < 3; i++)
        if (nodes[i] != NULL)
            node_stop(nodes[i], env_sim_now_ns(world->env) + 10 * ENV_SECOND_NS);
    assert_int_equal(env_sim_run(world->env, all_stopped, world,
                                 env_sim_now_ns(world->env) + 20 * ENV_SECOND_NS),
                     0);
    for (uint32_t i = 0; i < 3; i++)
        if (nodes[i] != NULL)
            node_destroy(nodes[i]);
    env_destroy(world->env);
    free(world);
}

/* Node 1 dies and starts again at once, five times: the longest until both see their link again.
 * source: the number of the node that the attackers seem to come from. */
static uint64_t longest_recovery_ns(uint64_t seed, enum attack attack, uint32_t source)
{
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    struct env_sim_options sim = { .turn_ns_max = 50000 };
    uint64_t longest_ns = 0;
    world->attack = attack;
    assert_int_equal(env_sim_create(seed, &sim, &world->env), 0);
    for (uint32_t id = 0; id < 2; id++) {
        world->endpoints[id] = (struct endpoint){ .kind = ENDPOINT_TCP,
                                                  .port = (uint16_t)(7000 + id) };
        snprintf(world->endpoints[id].host, sizeof world->endpoints[id].host, "n%u", id);
    }
    make(world, 0, 1);
    make(world, 1, 1);
    if (attack != ATTACK_NONE) {
        struct actor_options options = { .ops = &attacker_ops, .arg = world };
        struct address address;
        world->stranger = support_sim_node(world->env, source, 1);
        assert_int_equal(node_spawn(world->stranger, &options, &address), 0);
        assert_int_equal(node_start(world->stranger), 0);
    }
    run_for(world, 3000 * MS);
    for (uint32_t life = 2; life < 7; life++) {
        env_sim_kill(world->env, world->nodes[1]);
        node_destroy(world->nodes[1]);
        run_for(world, seed * 7919 % 50 * MS);
        make(world, 1, life);
        uint64_t begin_ns = env_sim_now_ns(world->env);
        assert_int_equal(env_sim_run(world->env, is_linked, world, begin_ns + 60000 * MS), 0);
        uint64_t took_ns = env_sim_now_ns(world->env) - begin_ns;
        longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
        run_for(world, 300 * MS);
    }
    close_world(world);
    return longest_ns;
}

/* From an address of its own, and from that of the process that comes back. A try that fails costs
 * LINK_RETRY_FIRST_NS and a half at most; a held place would cost LINKS_HELLO_NS. */
static void a_crowd_does_not_delay_who_comes_back(void **state)
{
    (void)state;
    struct seeds seeds = seeds_wanted_tenth(SEEDS);
    uint64_t longest_ns[ATTACKS] = { 0 };
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        seeds_note(seed);
        for (int attack = 0; attack < ATTACKS; attack++)
            for (uint32_t source = 1; source <= 2; source++) {
                uint64_t took_ns = longest_recovery_ns(seed, (enum attack)attack, source);
                if (took_ns > longest_ns[attack])
                    longest_ns[attack] = took_ns;
            }
    }
    for (int attack = 0; attack < ATTACKS; attack++)
        fprintf(stderr, "# attack %d: linked again after %.1f ms at most\n", attack,
                (double)longest_ns[attack] / 1e6);
    for (int attack = 0; attack < ATTACKS; attack++)
        assert_true(longest_ns[attack] < 300 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_silent_one_gives_way),
        cmocka_unit_test(silence_does_not_last),
        cmocka_unit_test(the_busiest_source_gives_way),
        cmocka_unit_test(a_source_beyond_its_share_displaces_itself),
        cmocka_unit_test(the_least_advanced_gives_way_then_the_oldest),
        cmocka_unit_test(a_place_is_kept_for_a_while),
        cmocka_unit_test(nor_is_it_lost_to_many_sources),
        cmocka_unit_test(who_proved_itself_stays),
        cmocka_unit_test(nobody_is_displaced_within_its_share),
        cmocka_unit_test(a_crowd_does_not_delay_who_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole jobs in the simulator: what the oracles watch holds under drawn faults, and seeds repeat.
 *
 * TROUPE_SEEDS=N runs N of them, TROUPE_SEED=S that one alone; `troupe simulate --seeds S` says
 * more about it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "graph/negatives.h"
#include "graph/reverse_edges.h"
#include "runtime/base/files.h"
#include "sim/fleet_plan.h"
#include "sim/fleet_run.h"
#include "sim/scenario.h"
#include "sim/seed_workers.h"
#include "tests/seeds.h"

#define SEEDS 50
#define LISTED_MAX 1000u /* seeds in the list: a page of them */

struct sum {
    uint64_t runs, failed, batches, faults, restarts, skips;
    uint64_t writes, reads, queries, launches, spent, stopped, killed; /* killed: launchers */
    uint64_t copies, fetches, drops, replaced;
    uint64_t interrupts, shuts, leaves, signals, excluding;
};

static void note(void *arg, const struct sim_result *result)
{
    struct sum *sum = arg;
    sum->runs++;
    sum->batches += result->batches;
    sum->faults += result->faults;
    sum->restarts += result->restarts;
    sum->skips += result->skips;
    sum->reads += result->reads;
    sum->queries += result->queries;
    sum->writes += result->writes;
    sum->launches += result->launches;
    sum->spent += result->spent;
    sum->stopped += result->stopped;
    sum->killed += result->killed;
    sum->signals += result->signals;
    sum->excluding += result->excluding;
    sum->copies += result->copies;
    sum->fetches += result->fetches;
    sum->drops += result->drops;
    sum->replaced += result->replaced;
    sum->interrupts += result->interrupts;
    sum->shuts += result->shuts;
    sum->leaves += result->leaves;
    if (result->error.code == 0)
        return;
    sum->failed++;
    fprintf(stderr,
            "# seed %" PRIu64 ": %s\n# replay: troupe simulate --seeds %" PRIu64 " --verbose\n",
            result->seed, result->error.text, result->seed);
}

static struct sum run_all(const uint64_t *seeds, uint64_t num_seeds, uint32_t twice_every)
{
    const struct seed_workers_options options = {
        .seeds = seeds, .num_seeds = num_seeds, .workers = 2, .twice_every = twice_every
    };
    struct error error = { 0 };
    struct sum sum = { 0 };
    assert_int_equal(seed_workers_run(&options, note, &sum, &error), 0);
    assert_int_equal(sum.runs, num_seeds);
    return sum;
}

static void seeds_hold_what_is_promised(void **state)
{
    (void)state;
    struct seeds wanted = seeds_wanted(SEEDS);
    uint64_t count = wanted.end - wanted.begin;
    uint64_t *seeds = calloc(count + 1, sizeof *seeds);
    assert_non_null(seeds);
    for (uint64_t i = 0; i < count; i++)
        seeds[i] = wanted.begin + i;
    struct sum sum = run_all(seeds, count, 4);
    free(seeds);
    assert_int_equal(sum.failed, 0);
    if (count < SEEDS)
        return;
    /* The faults were real, and batches came all the same. */
    assert_true(sum.batches > 4 * count);
    assert_true(sum.faults > count);
    assert_true(sum.restarts > count);
}

/* Strikes of that kind in the plans of the clusters among `count` seeds. */
static uint64_t count_strikes(uint64_t first, uint64_t count, enum fleet_fault fault)
{
    uint64_t strikes = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct fleet_plan plan;
        if (!fleet_run_is_for(seed))
            continue;
        fleet_plan_init(&plan, seed, NULL);
        for (uint32_t i = 0; i < plan.num_strikes; i++)
            strikes += plan.strikes[i].fault == fault;
        fleet_plan_fini(&plan);
    }
    return strikes;
}

static void busy_checkpoint_stores_and_reducers_fail_nothing(void **state)
{
    uint64_t seeds[2 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 2 * SEEDS; i++)
        seeds[i] = FLEET_BUSY_FROM + i;
    assert_true(count_strikes(seeds[0], 2 * SEEDS, FLEET_CHECKPOINT_STORES) > SEEDS / 4);
    assert_true(count_strikes(seeds[0], 2 * SEEDS, FLEET_REDUCERS) > SEEDS / 4);
    assert_int_equal(run_all(seeds, 2 * SEEDS, 4).failed, 0);
}

/* A disk that refuses what rank 0 keeps beside a checkpoint takes the checkpoint, and nothing
 * else. */
static void saves_are_skipped_where_the_disk_refuses(void **state)
{
    uint64_t seeds[3 * SEEDS], before[SEEDS];
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++)
        before[i] = FLEET_SKIPS_FROM - SEEDS + i;
    for (uint64_t i = 0; i < 3 * SEEDS; i++)
        seeds[i] = FLEET_SKIPS_FROM + i;
    assert_int_equal(run_all(before, SEEDS, SEEDS).skips, 0);
    struct sum sum = run_all(seeds, 3 * SEEDS, 4);
    assert_int_equal(sum.failed, 0);
    assert_true(sum.skips > 0);
}

/* Launchers spend their restarts, are stopped and killed, and the job that is launched again ends
 * as an undisturbed one. */
static void jobs_are_stopped_and_launched_again(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = FLEET_LAUNCHES_FROM - SEEDS + i;
    const struct sum before = run_all(seeds, SEEDS, SEEDS);
    assert_int_equal(before.spent + before.stopped + before.killed, 0);
    const struct sum sum = run_all(seeds + SEEDS, 3 * SEEDS, 4);
    assert_int_equal(sum.failed, 0);
    assert_true(sum.spent > 0 && sum.stopped > SEEDS / 10 && sum.killed > SEEDS / 10);
    assert_true(sum.launches > before.launches + sum.killed);
}

/* Rows and sets of nodes that programs read while the job is disturbed. */
static void reads_are_answered(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = FLEET_READS_FROM - SEEDS + i;
    assert_int_equal(run_all(seeds, SEEDS, SEEDS).reads, 0);
    const struct sum sum = run_all(seeds + SEEDS, 3 * SEEDS, 4);
    assert_int_equal(sum.failed, 0);
    assert_true(sum.reads > 3 * SEEDS);
}

/* Rows of a tensor that all processes make, write and read while the job is disturbed. */
static void writes_are_kept_until_an_era_ends(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = FLEET_WRITES_FROM - SEEDS + i;
    assert_int_equal(run_all(seeds, SEEDS, SEEDS).writes, 0);
    const struct sum sum = run_all(seeds + SEEDS, 3 * SEEDS, 4);
    assert_int_equal(sum.failed, 0);
    assert_true(sum.writes > 3 * SEEDS);
}

/* Hosts that have a disk each copy their parts to each other, drop those of saves that failed, and
 * give them back to hosts that were replaced. */
static void hosts_have_disks_of_their_own(void **state)
{
    uint64_t seeds[4 * SEEDS], before[SEEDS];
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++)
        before[i] = FLEET_DISKS_FROM - SEEDS + i;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = FLEET_DISKS_FROM + i;
    struct sum sum = run_all(before, SEEDS, SEEDS);
    assert_int_equal(sum.copies + sum.fetches + sum.drops + sum.replaced, 0);
    sum = run_all(seeds, 4 * SEEDS, 4);
    assert_int_equal(sum.failed, 0);
    assert_true(sum.copies > SEEDS && sum.fetches > 0 && sum.drops > 0);
    assert_true(sum.replaced > SEEDS / 10);
}

/* Trainers are interrupted in calls of their groups, which they make again, or shut their groups and
 * open them anew. */
static void calls_of_groups_are_given_up(void **state)
{
    uint64_t seeds[4 * SEEDS], before[SEEDS];
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++)
        before[i] = FLEET_WITHDRAWALS_FROM - SEEDS + i;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = FLEET_WITHDRAWALS_FROM + i;
    struct sum sum = run_all(before, SEEDS, SEEDS);
    assert_int_equal(sum.interrupts + sum.shuts, 0);
    sum = run_all(seeds, 4 * SEEDS, 4);
    assert_int_equal(sum.failed, 0);
    assert_true(sum.interrupts > SEEDS && sum.shuts > SEEDS / 10);
}

/* Trainers whose processes are asked to stop leave behind a checkpoint, at the same step, from which
 * the job that is launched again goes on. */
static void trainers_leave_behind_a_checkpoint(void **state)
{
    uint64_t seeds[4 * SEEDS], before[SEEDS];
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++)
        before[i] = FLEET_LEAVES_FROM - SEEDS + i;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = FLEET_LEAVES_FROM + i;
    struct sum sum = run_all(before, SEEDS, SEEDS);
    assert_int_equal(sum.leaves, 0);
    sum = run_all(seeds, 4 * SEEDS, 4);
    assert_int_equal(sum.failed, 0);
    assert_true(sum.leaves > SEEDS / 4);
}

/* What carries a process's input and output breaks: the job goes on by itself, though trainers leave
 * whose launcher lives. */
static void jobs_whose_connections_break_go_on(void **state)
{
    uint64_t seeds[8 * SEEDS];
    uint32_t strikes = 0;
    (void)state;
    for (uint64_t i = 0; i < 8 * SEEDS; i++) {
        struct fleet_plan plan;
        seeds[i] = FLEET_CARRIERS_FROM + i;
        fleet_plan_init(&plan, seeds[i], NULL);
        for (uint32_t s = 0; s < plan.num_strikes && fleet_run_is_for(seeds[i]); s++)
            strikes += plan.strikes[s].fault == FLEET_CARRIER;
        fleet_plan_fini(&plan);
    }
    assert_true(strikes > SEEDS);
    assert_int_equal(run_all(seeds, 8 * SEEDS, 8).failed, 0);
}

/* Somebody asks a process of trainers to stop, and the job stops behind a checkpoint, or goes on; the
 * launcher does as the process says (fleet_launch.c). */
static void jobs_stop_where_a_process_is_asked_to(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = FLEET_SIGNALS_FROM + i;
    assert_true(count_strikes(seeds[0], 4 * SEEDS, FLEET_SIGNAL) > SEEDS / 4);
    struct sum sum = run_all(seeds, 4 * SEEDS, 8);
    assert_int_equal(sum.failed, 0);
    assert_true(sum.signals > 0);
}

/* Seeds that failed when they were new, by what they found: trainers that leave for a launcher that one
 * of them lost were taken for a wish to stop; trainers waited for others that had ended with the job of
 * an earlier launcher; a reply had no room for weights; single draws left reverses out by no rule. */
static void seeds_that_failed_once_hold(void **state)
{
    static const uint64_t SEEDS_ONCE[] = {
        1795771664958752, 1795771664960117, 1795771665246182, 1795771665619470, 1795771665635482,
        1795771665636494, 1795771665763991, 1795771665772301, 1795771665880347, 1795771666157557,
        1795771664968380, 1795771665511262, 1795771665759087, 1795771665771940, 1795788236531478,
        1795788236530099, 1795788236531573, 1795788236533449,
    };
    (void)state;
    const uint64_t count = sizeof SEEDS_ONCE / sizeof *SEEDS_ONCE;
    assert_int_equal(run_all(SEEDS_ONCE, count, count).failed, 0);
}

struct kinds_of_seeds {
    uint32_t nodes, pairs, edges, ranges; /* edges: ranges too */
    uint32_t samplers;                    /* a bit for each kind but uniform, the last for masks */
    uint32_t outward, totals;             /* terms along out-edges, and in total */
    uint32_t excluding;                   /* single draws of theirs may leave edges out */
    uint32_t once, shared, own, leaving;  /* ends are one seed; negatives; edges are left out */
    uint32_t reverses[REVERSE_RULES];     /* and their reverses, by each rule */
    uint32_t in_batch, ends[NEGATIVE_ENDS]; /* how negatives are drawn, */
    uint32_t redrawn, weighed;              /* and that edges are drawn again; by degree */
    uint32_t mixed, listed; /* pairs are of several edge types; reverses are listed */
};

static void count_loader(struct kinds_of_seeds *kinds, const struct wanted_loader *loader)
{
    kinds->nodes += loader->pairs == NULL;
    kinds->pairs += loader->pairs != NULL && loader->edges == NULL;
    kinds->edges += loader->edges != NULL;
    kinds->ranges += loader->open.seeds == MSG_SEEDS_EDGE_RANKS;
    kinds->excluding += loader->excludes_in_draw;
    kinds->listed += loader->listed_reverses != 0;
    kinds->mixed += loader->pairs != NULL && loader->open.num_segments > 1;
    const uint32_t flags = loader->open.flags;
    bool shared = (flags & MSG_LOADER_SHARED_NEGATIVES) != 0;
    kinds->once += (flags & MSG_LOADER_ENDS_ONCE) != 0;
    kinds->shared += shared;
    kinds->own += !shared && loader->open.num_negatives > 0;
    kinds->leaving += (flags & MSG_LOADER_EXCLUDE_SELF) != 0;
    kinds->weighed += (flags & MSG_LOADER_NEGATIVES_BY_DEGREE) != 0;
    kinds->redrawn += (flags & MSG_LOADER_NEGATIVES_NO_EDGES) != 0;
    kinds->in_batch += (flags & MSG_LOADER_NEGATIVES_IN_BATCH) != 0;
    kinds->ends[loader->open.negative_ends] += loader->open.num_negatives > 0;
    if ((flags & MSG_LOADER_EXCLUDE_REVERSE) != 0)
        kinds->reverses[loader->open.reverse_rule]++;
    if (loader->spec.kind != SAMPLE_UNIFORM)
        kinds->samplers |= 1u << loader->spec.kind;
    for (uint32_t i = 0; i < loader->spec.num_layers * loader->spec.num_etypes; i++) {
        kinds->samplers |= loader->spec.terms[i].mask != SAMPLE_NO_TABLE ? 1u << 31 : 0;
        kinds->outward += loader->spec.terms[i].direction == SAMPLE_OUT;
        kinds->totals += (loader->spec.terms[i].flags & SAMPLE_TOTAL) != 0;
    }
}

static struct kinds_of_seeds count_kinds(uint64_t first, uint64_t count)
{
    struct kinds_of_seeds kinds = { 0 };
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct fleet_plan plan;
        struct scenario scenario;
        if (fleet_run_is_for(seed)) {
            fleet_plan_init(&plan, seed, NULL);
            count_loader(&kinds, &plan.loader);
            fleet_plan_fini(&plan);
            continue;
        }
        scenario_init(&scenario, seed);
        for (uint32_t c = 0; c < scenario.clients; c++)
            count_loader(&kinds, &scenario.client[c].loader);
        scenario_fini(&scenario);
    }
    return kinds;
}

static void pairs_and_edges_are_seeds(void **state)
{
    uint64_t seeds[2 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 2 * SEEDS; i++)
        seeds[i] = WANTED_PAIRS_FROM + i;
    const struct kinds_of_seeds before = count_kinds(seeds[0] - 2 * SEEDS, 2 * SEEDS);
    const struct kinds_of_seeds kinds = count_kinds(seeds[0], 2 * SEEDS);
    assert_int_equal(before.pairs + before.edges, 0);
    assert_true(kinds.pairs > 5 && kinds.edges > 5 && kinds.nodes > kinds.pairs + kinds.edges);
    assert_int_equal(run_all(seeds, 2 * SEEDS, 4).failed, 0);
}

static void ranges_of_edges_are_seeds(void **state)
{
    uint64_t seeds[3 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 3 * SEEDS; i++)
        seeds[i] = WANTED_RANGES_FROM + i;
    assert_int_equal(count_kinds(seeds[0] - 3 * SEEDS, 3 * SEEDS).ranges, 0);
    const struct kinds_of_seeds kinds = count_kinds(seeds[0], 3 * SEEDS);
    assert_true(kinds.ranges > 5 && kinds.edges > kinds.ranges);
    assert_int_equal(run_all(seeds, 3 * SEEDS, 4).failed, 0);
}

/* Each sampler of the table, and masks. */
static void samplers_are_drawn(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = WANTED_SAMPLERS_FROM + i;
    assert_int_equal(count_kinds(seeds[0] - 4 * SEEDS, 4 * SEEDS).samplers, 0);
    const struct kinds_of_seeds kinds = count_kinds(seeds[0], 4 * SEEDS);
    assert_int_equal(kinds.samplers, 1u << SAMPLE_WEIGHTED | 1u << SAMPLE_LABOR |
                                         1u << SAMPLE_LABOR_POISSON | 1u << 31);
    assert_int_equal(run_all(seeds, 4 * SEEDS, 4).failed, 0);
}

static void out_edges_are_drawn(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = WANTED_OUT_FROM + i;
    assert_int_equal(count_kinds(seeds[0] - 4 * SEEDS, 4 * SEEDS).outward, 0);
    assert_true(count_kinds(seeds[0], 4 * SEEDS).outward > 4 * SEEDS / 4);
    assert_int_equal(run_all(seeds, 4 * SEEDS, 4).failed, 0);
}

static void edge_types_are_drawn_in_total(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = WANTED_TOTALS_FROM + i;
    assert_int_equal(count_kinds(seeds[0] - 4 * SEEDS, 4 * SEEDS).totals, 0);
    assert_true(count_kinds(seeds[0], 4 * SEEDS).totals > 4 * SEEDS / 4);
    assert_int_equal(run_all(seeds, 4 * SEEDS, 4).failed, 0);
}

/* Half of the single draws. */
static void draws_leave_edges_out(void **state)
{
    uint64_t seeds[SEEDS];
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++)
        seeds[i] = WANTED_EXCLUSIONS_FROM + i;
    assert_int_equal(count_kinds(seeds[0] - SEEDS, SEEDS).excluding, 0);
    assert_true(count_kinds(seeds[0], SEEDS).excluding > SEEDS / 4);
    const struct sum sum = run_all(seeds, SEEDS, 4);
    assert_int_equal(sum.failed, 0);
    assert_true(sum.excluding > SEEDS / 10);
}

/* Of loaders and of single draws. */
static void links_have_negatives(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = WANTED_LINKS_FROM + i;
    assert_int_equal(count_kinds(seeds[0] - 4 * SEEDS, 4 * SEEDS).once, 0);
    const struct kinds_of_seeds kinds = count_kinds(seeds[0], 4 * SEEDS);
    assert_true(kinds.once > kinds.shared + kinds.own);
    assert_true(kinds.shared > 5 && kinds.own > 5 && kinds.leaving > 5);
    assert_int_equal(run_all(seeds, 4 * SEEDS, 4).failed, 0);
}

/* Of each end, and of other pairs. */
static void negatives_have_any_end(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = WANTED_CORRUPTIONS_FROM + i;
    const struct kinds_of_seeds before = count_kinds(seeds[0] - 4 * SEEDS, 4 * SEEDS);
    const struct kinds_of_seeds kinds = count_kinds(seeds[0], 4 * SEEDS);
    assert_int_equal(before.in_batch, 0);
    assert_true(kinds.in_batch > 2 && kinds.shared > 2);
    for (uint32_t ends = 1; ends < NEGATIVE_ENDS; ends++) {
        assert_int_equal(before.ends[ends], 0);
        assert_true(kinds.ends[ends] > 2);
    }
    assert_int_equal(run_all(seeds, 4 * SEEDS, 4).failed, 0);
}

static void negatives_are_drawn_again(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = WANTED_NO_EDGES_FROM + i;
    assert_int_equal(count_kinds(seeds[0] - 4 * SEEDS, 4 * SEEDS).redrawn, 0);
    assert_true(count_kinds(seeds[0], 4 * SEEDS).redrawn > 5);
    assert_int_equal(run_all(seeds, 4 * SEEDS, 4).failed, 0);
}

static void negatives_are_drawn_by_degree(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = WANTED_DEGREES_FROM + i;
    assert_int_equal(count_kinds(seeds[0] - 4 * SEEDS, 4 * SEEDS).weighed, 0);
    assert_true(count_kinds(seeds[0], 4 * SEEDS).weighed > 5);
    assert_int_equal(run_all(seeds, 4 * SEEDS, 4).failed, 0);
}

/* Some have none of a type, and some leave out the reverses of some types alone. */
static void edges_of_several_types_are_seeds(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = WANTED_PAIR_TYPES_FROM + i;
    assert_int_equal(count_kinds(seeds[0] - 4 * SEEDS, 4 * SEEDS).mixed, 0);
    assert_true(count_kinds(seeds[0], 4 * SEEDS).mixed > 5);
    assert_int_equal(run_all(seeds, 4 * SEEDS, 4).failed, 0);
}

static void reverses_are_listed(void **state)
{
    uint64_t seeds[4 * SEEDS];
    (void)state;
    for (uint64_t i = 0; i < 4 * SEEDS; i++)
        seeds[i] = WANTED_LISTED_FROM + i;
    assert_int_equal(count_kinds(seeds[0] - 4 * SEEDS, 4 * SEEDS).listed, 0);
    assert_true(count_kinds(seeds[0], 4 * SEEDS).listed > 5);
    assert_int_equal(run_all(seeds, 4 * SEEDS, 4).failed, 0);
}

/* By each rule, in jobs of one process and of several: few loaders have edges whose reverses are
 * there, so seeds are looked for that have one. */
static void reverses_are_left_out(void **state)
{
    uint64_t seeds[SEEDS], found = 0, by_rule[REVERSE_RULES] = { 0 };
    (void)state;
    for (uint64_t seed = WANTED_REVERSES_FROM; found < SEEDS; seed++) {
        const struct kinds_of_seeds kinds = count_kinds(seed, 1);
        bool some = false;
        for (uint32_t rule = 0; rule < REVERSE_NONE; rule++) {
            some = some || kinds.reverses[rule] > 0;
            by_rule[rule] += kinds.reverses[rule];
        }
        seeds[found] = seed;
        found += some;
    }
    const struct kinds_of_seeds before = count_kinds(WANTED_REVERSES_FROM - 4 * SEEDS, 4 * SEEDS);
    for (uint32_t rule = 0; rule < REVERSE_NONE; rule++) {
        assert_int_equal(before.reverses[rule], 0);
        assert_true(by_rule[rule] > 5);
    }
    assert_int_equal(run_all(seeds, SEEDS, 4).failed, 0);
}

/* Questions about edges by ID, of the programs that read. */
static void edges_are_asked_about(void **state)
{
    uint64_t seeds[SEEDS], before[SEEDS / 5];
    (void)state;
    for (uint64_t i = 0; i < SEEDS / 5; i++)
        before[i] = FLEET_QUERIES_FROM - SEEDS / 5 + i;
    for (uint64_t i = 0; i < SEEDS; i++)
        seeds[i] = FLEET_QUERIES_FROM + i;
    const struct sum earlier = run_all(before, SEEDS / 5, SEEDS / 5);
    assert_true(earlier.reads > 0 && earlier.queries == 0);
    const struct sum sum = run_all(seeds, SEEDS, 4);
    assert_int_equal(sum.failed, 0);
    assert_true(sum.queries > SEEDS / 4);
}

/* What a loader draws by, a bit each: samplers, then seeds, edges that are left out, negatives. */
enum way {
    WAY_EVEN,
    WAY_EVEN_AGAIN, /* with replacement */
    WAY_WEIGHTED,
    WAY_WEIGHTED_AGAIN,
    WAY_MASKED,
    WAY_LABOR,
    WAY_LABOR_POISSON,
    WAY_OUTWARD,
    WAY_PAIRS,
    WAY_EDGES,
    WAY_EDGE_RANGES,
    WAY_MIXED_EDGES,
    WAY_WITHOUT_OWN,
    WAY_WITHOUT_REVERSE, /* by each rule */
    WAY_NEGATIVES_OF_PAIRS = WAY_WITHOUT_REVERSE + REVERSE_RULES,
    WAY_NEGATIVES_OF_BATCH,
    WAY_NEGATIVES_IN_BATCH,
    WAY_NEGATIVES_AGAIN,
    WAY_NEGATIVES_BY_DEGREE,
    WAY_NEGATIVE_ENDS, /* each */
    WAYS = WAY_NEGATIVE_ENDS + NEGATIVE_ENDS
};

static uint64_t ways_of_terms(const struct sample_spec *spec)
{
    static const enum way OF_KIND[] = { [SAMPLE_UNIFORM] = WAY_EVEN,
                                        [SAMPLE_WEIGHTED] = WAY_WEIGHTED,
                                        [SAMPLE_LABOR] = WAY_LABOR,
                                        [SAMPLE_LABOR_POISSON] = WAY_LABOR_POISSON };
    uint64_t ways = 0;
    for (uint32_t i = 0; i < spec->num_layers * spec->num_etypes; i++) {
        const struct sample_term *term = &spec->terms[i];
        bool weighted = term->weights != SAMPLE_NO_TABLE,
             again = (term->flags & SAMPLE_REPLACE) != 0;
        if (term->fanout <= 0)
            continue;
        if (weighted || spec->kind != SAMPLE_WEIGHTED)
            ways |= UINT64_C(1) << (OF_KIND[spec->kind] + (spec->kind < SAMPLE_LABOR && again));
        ways |= (uint64_t)(term->mask != SAMPLE_NO_TABLE) << WAY_MASKED;
        ways |= (uint64_t)(term->direction == SAMPLE_OUT) << WAY_OUTWARD;
    }
    return ways;
}

static uint64_t ways_of(const struct wanted_loader *loader)
{
    struct kinds_of_seeds kinds = { 0 };
    uint64_t ways = ways_of_terms(&loader->spec);
    count_loader(&kinds, loader);
    ways |= (uint64_t)(kinds.pairs > 0) << WAY_PAIRS;
    ways |= (uint64_t)(kinds.edges > 0) << WAY_EDGES;
    ways |= (uint64_t)(kinds.ranges > 0) << WAY_EDGE_RANGES;
    ways |= (uint64_t)(kinds.mixed > 0) << WAY_MIXED_EDGES;
    ways |= (uint64_t)(kinds.leaving > 0) << WAY_WITHOUT_OWN;
    for (uint32_t rule = 0; rule < REVERSE_RULES; rule++)
        ways |= (uint64_t)(kinds.reverses[rule] > 0) << (WAY_WITHOUT_REVERSE + rule);
    ways |= (uint64_t)(kinds.own > kinds.in_batch) << WAY_NEGATIVES_OF_PAIRS;
    ways |= (uint64_t)(kinds.shared > 0) << WAY_NEGATIVES_OF_BATCH;
    ways |= (uint64_t)(kinds.in_batch > 0) << WAY_NEGATIVES_IN_BATCH;
    ways |= (uint64_t)(kinds.redrawn > 0) << WAY_NEGATIVES_AGAIN;
    ways |= (uint64_t)(kinds.weighed > 0) << WAY_NEGATIVES_BY_DEGREE;
    for (uint32_t ends = 0; ends < NEGATIVE_ENDS; ends++)
        ways |= (uint64_t)(kinds.ends[ends] > 0) << (WAY_NEGATIVE_ENDS + ends);
    return ways;
}

struct outlived {
    uint64_t ways; /* that loaders drew by in whose epochs a server died */
    uint64_t runs, failed;
};

static void note_outlived(void *arg, const struct sim_result *result)
{
    struct outlived *outlived = arg;
    struct sum sum = { 0 };
    struct scenario scenario;
    note(&sum, result);
    outlived->runs++;
    outlived->failed += sum.failed;
    scenario_init(&scenario, result->seed);
    for (uint32_t c = 0; c < scenario.clients; c++)
        if ((result->outlived >> c & 1) != 0)
            outlived->ways |= ways_of(&scenario.client[c].loader);
    scenario_fini(&scenario);
}

/* Whether servers die in a run of that seed, which is of one process by messages and has a loader that
 * draws by one of these ways. */
static bool may_outlive(uint64_t seed, uint64_t ways)
{
    struct scenario scenario;
    uint64_t found = 0;
    if (fleet_run_is_for(seed))
        return false;
    scenario_init(&scenario, seed);
    bool die = !scenario.direct && scenario.faults.count > 2 &&
               (scenario.faults.faults & FAULT_KILL_SERVER) != 0;
    for (uint32_t c = 0; c < scenario.clients && die; c++)
        found |= ways_of(&scenario.client[c].loader);
    scenario_fini(&scenario);
    return (found & ways) != 0;
}

/* Seeds are looked for until a server has died in the middle of an epoch of loaders of every kind,
 * whose batches went on coming as the reference has them. */
static void servers_die_in_epochs_of_every_kind(void **state)
{
    const uint64_t none = UINT64_C(1) << (WAY_WITHOUT_REVERSE + REVERSE_NONE);
    const uint64_t all = ((UINT64_C(1) << WAYS) - 1) & ~none;
    struct outlived outlived = { 0 };
    uint64_t seeds[SEEDS], seed = WANTED_LISTED_FROM;
    (void)state;
    while ((outlived.ways & all) != all) {
        struct error error = { 0 };
        assert_true(outlived.runs < 20 * SEEDS);
        for (uint32_t i = 0; i < SEEDS; seed++) {
            seeds[i] = seed;
            i += may_outlive(seed, all & ~outlived.ways);
        }
        const struct seed_workers_options options = {
            .seeds = seeds, .num_seeds = SEEDS, .workers = 2, .twice_every = SEEDS
        };
        assert_int_equal(seed_workers_run(&options, note_outlived, &outlived, &error), 0);
        assert_int_equal(outlived.failed, 0);
    }
}

static uint64_t read_list(uint64_t *seeds)
{
    const char *folder = getenv("srcdir");
    char *path = files_join(folder != NULL ? folder : ".", "tests/sim/seeds.txt");
    assert_non_null(path);
    FILE *file = fopen(path, "r");
    free(path);
    assert_non_null(file);
    char line[256];
    uint64_t count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#' || line[0] == '\n')
            continue;
        assert_true(count < LISTED_MAX);
        assert_int_equal(sscanf(line, "%" SCNu64, &seeds[count]), 1);
        count++;
    }
    fclose(file);
    return count;
}

static void seeds_that_once_failed_hold(void **state)
{
    (void)state;
    uint64_t *seeds = calloc(LISTED_MAX, sizeof *seeds);
    assert_non_null(seeds);
    uint64_t count = read_list(seeds);
    assert_true(count > 0);
    struct sum sum = run_all(seeds, count, 1);
    free(seeds);
    assert_int_equal(sum.failed, 0);
}

static void one_seed_is_one_run(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct sim_result once, again, other;
        sim_run(seed, NULL, &once);
        sim_run(seed, NULL, &again);
        sim_run(seed + 1000, NULL, &other);
        assert_int_equal(once.error.code, 0);
        assert_true(once.steps > 0);
        assert_true(once.trace == again.trace && once.steps == again.steps);
        assert_true(once.virtual_ns == again.virtual_ns && once.batches == again.batches);
        assert_true(once.trace != other.trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_hold_what_is_promised),
        cmocka_unit_test(busy_checkpoint_stores_and_reducers_fail_nothing),
        cmocka_unit_test(saves_are_skipped_where_the_disk_refuses),
        cmocka_unit_test(jobs_are_stopped_and_launched_again),
        cmocka_unit_test(reads_are_answered),
        cmocka_unit_test(edges_are_asked_about),
        cmocka_unit_test(writes_are_kept_until_an_era_ends),
        cmocka_unit_test(hosts_have_disks_of_their_own),
        cmocka_unit_test(calls_of_groups_are_given_up),
        cmocka_unit_test(trainers_leave_behind_a_checkpoint),
        cmocka_unit_test(jobs_whose_connections_break_go_on),
        cmocka_unit_test(jobs_stop_where_a_process_is_asked_to),
        cmocka_unit_test(seeds_that_failed_once_hold),
        cmocka_unit_test(pairs_and_edges_are_seeds),
        cmocka_unit_test(ranges_of_edges_are_seeds),
        cmocka_unit_test(samplers_are_drawn),
        cmocka_unit_test(out_edges_are_drawn),
        cmocka_unit_test(edge_types_are_drawn_in_total),
        cmocka_unit_test(draws_leave_edges_out),
        cmocka_unit_test(links_have_negatives),
        cmocka_unit_test(negatives_have_any_end),
        cmocka_unit_test(negatives_are_drawn_again),
        cmocka_unit_test(negatives_are_drawn_by_degree),
        cmocka_unit_test(reverses_are_left_out),
        cmocka_unit_test(edges_of_several_types_are_seeds),
        cmocka_unit_test(reverses_are_listed),
        cmocka_unit_test(servers_die_in_epochs_of_every_kind),
        cmocka_unit_test(seeds_that_once_failed_hold),
        cmocka_unit_test(one_seed_is_one_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fleet_plan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <troupe/process.h>

#include "actors/cluster/launcher.h"
#include "actors/job/reducer.h"
#include "sim/actor_faults.h"
#include "sim/draws.h"

/* Purposes of the streams of draws, apart from those of one process (scenario.c). */
enum {
    DRAWS_GRAPH = 50,
    DRAWS_LAYOUT,
    DRAWS_JOB,
    DRAWS_BOUNDS,
    DRAWS_FAULTS,
    DRAWS_SERVERS,
    DRAWS_LAUNCH,
    DRAWS_FAILPOINTS,
    DRAWS_BUSY,
    DRAWS_LAUNCHES,
    DRAWS_READS,
    DRAWS_DISKS,
    DRAWS_WITHDRAWALS,
    DRAWS_WRITES,
    DRAWS_CARRIERS,
    DRAWS_SIGNALS,
};

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

/* A job without faults is over long before; see fleet_limit(). */
#define BASE_NS (60 * ENV_SECOND_NS)
/* After a fault: the launcher's longest pause, a member's way back, a call that is repeated. */
#define MEND_NS (30 * ENV_SECOND_NS)
/* A group call that was given up is made again. */
#define WITHDRAW_NS (2 * ENV_SECOND_NS)
/* A person looks at what came of a job, and launches it again. A launcher takes longer to start than
 * incarnations are apart. */
#define RESUME_FIRST_NS (200 * MS)
#define RESUME_MAX_NS (30 * ENV_SECOND_NS)
/* Frame, head and slack of any message. */
#define MESSAGE_ROOM 2048u

/* Gives each of `count` actors of a role a process; their numbers rise with the processes'. */
static void fleet_place(struct fleet_plan *f, uint32_t count, struct draws *draws, bool trainers)
{
    uint32_t counts[FLEET_PROCESSES_MAX] = { 0 }, first = 0;
    bool together = draws_chance(draws, 25);
    uint32_t home = (uint32_t)draws_below(draws, f->plan.num_processes);
    for (uint32_t i = 0; i < count; i++)
        counts[together ? home : draws_below(draws, f->plan.num_processes)]++;
    for (uint32_t p = 0; p < f->plan.num_processes; p++) {
        struct plan_range range = { first, counts[p] };
        *(trainers ? &f->processes[p].trainers : &f->processes[p].samplers) = range;
        first += counts[p];
    }
}

static void place_parts(struct fleet_plan *f, struct draws *draws)
{
    bool serves[FLEET_PROCESSES_MAX][FLEET_PARTS_MAX] = { { false } };
    uint32_t replicas = draws_chance(draws, 60) ? 1 : (uint32_t)draws_between(draws, 2, 3), at = 0;
    for (uint32_t part = 0; part < f->plan.num_parts; part++)
        for (uint32_t r = 0; r < replicas; r++)
            serves[draws_below(draws, f->plan.num_processes)][part] = true;
    for (uint32_t p = 0; p < f->plan.num_processes; p++) {
        struct plan_process *process = &f->processes[p];
        process->parts = &f->parts[at];
        for (uint32_t part = 0; part < f->plan.num_parts; part++)
            if (serves[p][part])
                f->parts[at + process->num_parts++] = part;
        at += process->num_parts;
        if (process->num_parts > 0)
            process->servers = (uint32_t)draws_between(draws, 1, process->num_parts);
    }
}

static void draw_layout(struct fleet_plan *f, struct draws *draws)
{
    f->plan = (struct plan){
        .num_parts = (uint32_t)draws_between(draws, 1, FLEET_PARTS_MAX),
        .num_processes = draws_chance(draws, 10)
                             ? 1
                             : (uint32_t)draws_between(draws, 2, FLEET_PROCESSES_MAX),
        .samplers = (uint32_t)draws_between(draws, 1, FLEET_SAMPLERS_MAX),
        .trainers = (uint32_t)draws_between(draws, 1, FLEET_TRAINERS_MAX),
        .processes = f->processes,
        .parts = f->parts,
    };
    uint32_t a_host = draws_chance(draws, 70) ? 1 : 2;
    for (uint32_t p = 0; p < f->plan.num_processes; p++)
        f->processes[p] = (struct plan_process){ .host = p / a_host,
                                                 .loops = (uint32_t)draws_between(draws, 1, 2) };
    f->plan.num_hosts = (f->plan.num_processes + a_host - 1) / a_host;
    f->plan.coordinator = (uint32_t)draws_below(draws, f->plan.num_processes);
    place_parts(f, draws);
    fleet_place(f, f->plan.samplers, draws, false);
    fleet_place(f, f->plan.trainers, draws, true);
    f->direct = draws_chance(draws, 50);
    f->flat = draws_chance(draws, 30);
    f->codec = draws_chance(draws, 20);
    f->tcp = draws_chance(draws, 60);
}

static void draw_loader(struct fleet_plan *f, struct draws *draws)
{
    struct msg_loader_open *open = &f->loader.open;
    do
        open->ntype = (uint32_t)draws_below(draws, f->raw.types.num_ntypes);
    while (f->raw.num_nodes[open->ntype] == 0 && draws_chance(draws, 90));
    uint32_t n = f->raw.num_nodes[open->ntype], percent = (uint32_t)draws_between(draws, 10, 100);
    f->loader.seeds = calloc(n + UINT64_C(1), sizeof *f->loader.seeds);
    assert(f->loader.seeds != NULL);
    for (uint32_t v = 0; v < n; v++)
        if (draws_chance(draws, percent))
            f->loader.seeds[open->num_seeds++] = v;
    open->seed = draws_below(draws, 1000);
    if (f->seed >= WANTED_PAIRS_FROM)
        wanted_loader_pair(&f->loader, &f->raw);
    if (f->seed >= WANTED_RANGES_FROM)
        wanted_loader_range(&f->loader, &f->raw);
    struct sample_spec *spec = &f->loader.spec;
    int rv = sample_spec_alloc(spec, (uint32_t)draws_between(draws, 1, 2), f->raw.types.num_etypes);
    assert(rv == 0);
    for (uint32_t l = 0; l < spec->num_layers; l++) {
        struct sample_term term = SAMPLE_TERM(0, false);
        term.fanout = draws_chance(draws, 10) ? SAMPLE_EVERY : (int32_t)draws_below(draws, 6);
        sample_spec_set_layer(spec, l, &term);
    }
    open->world = f->plan.trainers;
    uint64_t size = open->num_seeds / (draws_between(draws, 1, 10) * open->world);
    open->batch_size = size > 0 ? (uint32_t)size : (uint32_t)draws_between(draws, 1, 4);
    open->flags = MSG_LOADER_ORIGINAL_IDS;
    open->flags |= draws_chance(draws, 80) ? MSG_LOADER_SHUFFLE : 0;
    wanted_loader_vary(&f->loader, draws_chance(draws, 20));
    if (f->seed >= WANTED_SAMPLERS_FROM)
        wanted_loader_sample(&f->loader);
    if (f->seed >= WANTED_OUT_FROM)
        wanted_loader_turn(&f->loader);
    if (f->seed >= WANTED_TOTALS_FROM)
        wanted_loader_total(&f->loader);
    if (f->seed >= WANTED_LINKS_FROM)
        wanted_loader_link(&f->loader);
    if (f->seed >= WANTED_CORRUPTIONS_FROM)
        wanted_loader_corrupt(&f->loader);
    if (f->seed >= WANTED_NO_EDGES_FROM)
        wanted_loader_redraw(&f->loader);
    if (f->seed >= WANTED_DEGREES_FROM)
        wanted_loader_weigh(&f->loader, &f->raw);
    if (f->seed >= WANTED_REVERSES_FROM)
        wanted_loader_reverse(&f->loader, &f->raw);
    if (f->seed >= WANTED_PAIR_TYPES_FROM)
        wanted_loader_mix(&f->loader, &f->raw);
    if (f->seed >= WANTED_LISTED_FROM)
        wanted_loader_list_reverses(&f->loader);
    open->flags |= draws_chance(draws, 20) ? MSG_LOADER_EDGE_IDS : 0;
    open->flags |= draws_chance(draws, 20) ? MSG_LOADER_DEGREES : 0;
    bool features = raw_is_featured(&f->raw) && draws_chance(draws, 75);
    open->features = features ? PLACED_FEATURE : MSG_MASK_ALL;
    open->labels = draws_chance(draws, 75) ? PLACED_LABEL : MSG_MASK_ALL;
    open->prefetch = draws_chance(draws, 60) ? 0 : (uint32_t)draws_between(draws, 1, 5);
}

static void draw_job(struct fleet_plan *f, struct draws *draws)
{
    draw_loader(f, draws);
    f->steps_epoch = reference_steps(&f->loader.open);
    f->steps = f->steps_epoch * draws_between(draws, 1, 2);
    f->values = (uint32_t)draws_scale(draws, 1, FLEET_VALUES_MAX);
    f->save_every = draws_chance(draws, 15) ? 0 : (uint32_t)draws_between(draws, 1, 5);
    f->keep = (uint32_t)draws_below(draws, 4);
    f->think_ns = draws_scale(draws, 10 * US, 20 * MS);
    f->group_ns = draws_chance(draws, 70) ? 600 * ENV_SECOND_NS
                                          : draws_scale(draws, 20 * MS, 10 * ENV_SECOND_NS);
    f->evaluates = draws_chance(draws, 60);
    f->messages = draws_chance(draws, 50) ? 0 : (uint32_t)draws_between(draws, 5, 40);
}

static uint64_t fleet_largest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void draw_bounds(struct fleet_plan *f, struct draws *draws)
{
    /* Room for the largest row alone in a reply, for a loader's seeds, for a piece of sums. */
    uint64_t row = reference_row_bytes(f->seed, &f->raw);
    uint64_t piece = reducer_piece_values(f->values + UINT64_C(1), f->plan.trainers);
    piece = piece < f->values + UINT64_C(1) ? piece : f->values + UINT64_C(1);
    uint64_t need = fleet_largest(row, fleet_largest(16 * f->loader.open.num_seeds, 4 * piece)) +
                    MESSAGE_ROOM;
    /* A part of a checkpoint travels to another host in one piece. */
    if (f->seed >= FLEET_DISKS_FROM)
        need = fleet_largest(need, f->values * sizeof(float) + 2 * MESSAGE_ROOM);
    f->window_bytes = draws_scale(draws, 2 * need, 1 << 20);
    f->reply_bytes_max = draws_scale(draws, row, f->window_bytes / 2 - MESSAGE_ROOM / 2);
    f->replies_bytes_max = f->window_bytes * draws_between(draws, 1, 2);
    f->slice_edges = reference_max_degree(f->seed, &f->raw) +
                     (uint32_t)draws_scale(draws, 16, 65536);
    f->call_ns = draws_chance(draws, 60) ? 0 : draws_scale(draws, 50 * MS, 10 * ENV_SECOND_NS);
    f->batch_bytes_max = (size_t)1 << 28;
    f->dead_ns = draws_chance(draws, 50) ? 5 * ENV_SECOND_NS
                                         : draws_scale(draws, ENV_SECOND_NS, 5 * ENV_SECOND_NS);
    f->heartbeat_ns = f->dead_ns / 5;
    f->net_delay_ns = draws_scale(draws, 20 * US, 2 * MS);
    f->short_ppm = (uint32_t)draws_scale(draws, 1000, 300000);
    f->env = (struct env_sim_options){
        .turn_ns_max = draws_scale(draws, 10, 20 * US),
        .timer_late_ns_max = draws_scale(draws, 10, 5 * MS),
        .steps_max = 20000000, /* a thousand times what a run takes */
    };
}

static uint64_t draw_length(struct fleet_plan *f, enum fleet_fault fault, struct draws *draws)
{
    if (fault == FLEET_PAUSE && draws_chance(draws, 70))
        return (draws_chance(draws, 50) ? 3 : 20) * ENV_SECOND_NS;
    if (fault == FLEET_DISK_FULL && draws_chance(draws, 30))
        return (draws_chance(draws, 50) ? 2 : 20) * ENV_SECOND_NS; /* a person makes room */
    if (fault == FLEET_PAUSE || fault == FLEET_CLOG)
        return draws_scale(draws, MS, 2 * f->dead_ns);
    return draws_scale(draws, MS, ENV_SECOND_NS);
}

static bool comes_before(const struct fleet_strike *a, const struct fleet_strike *b)
{
    return a->at_step < b->at_step;
}

/* Faults come in the order of the steps that they wait for. */
static void add_strike(struct fleet_plan *f, const struct fleet_strike *strike)
{
    uint32_t at = f->num_strikes++;
    for (; at > 0 && comes_before(strike, &f->strikes[at - 1]); at--)
        f->strikes[at] = f->strikes[at - 1];
    f->strikes[at] = *strike;
}

static void add_busy(struct fleet_plan *f, enum fleet_fault fault, struct draws *draws)
{
    struct fleet_strike strike = { .fault = fault, .draw = draws_below(draws, UINT64_MAX) };
    strike.at_step = draws_below(draws, f->steps + 2);
    strike.after_ns = draws_scale(draws, US, 20 * MS);
    strike.lasts_ns = draws_scale(draws, MS, 20 * ENV_SECOND_NS);
    add_strike(f, &strike);
}

static void draw_server_faults(struct fleet_plan *f, struct draws *draws)
{
    if (draws_chance(draws, 50))
        return;
    for (uint64_t n = draws_between(draws, 1, FLEET_SERVER_FAULTS_MAX); n > 0; n--)
        add_busy(f, FLEET_SERVERS, draws);
}

static void draw_busy_faults(struct fleet_plan *f, struct draws *draws)
{
    if (f->seed < FLEET_BUSY_FROM || draws_chance(draws, 30))
        return;
    for (uint64_t n = draws_between(draws, 1, FLEET_BUSY_FAULTS_MAX); n > 0; n--)
        add_busy(f, draws_chance(draws, 50) ? FLEET_CHECKPOINT_STORES : FLEET_REDUCERS, draws);
}

static void draw_disks(struct fleet_plan *f, struct draws *draws)
{
    if (f->seed < FLEET_DISKS_FROM)
        return;
    f->own_disks = f->plan.num_hosts > 1 && draws_chance(draws, 80);
    if (draws_chance(draws, 50))
        return;
    for (uint64_t n = draws_between(draws, 1, FLEET_HOST_FAULTS_MAX); n > 0; n--) {
        struct fleet_strike strike = { .fault = FLEET_HOST,
                                       .draw = draws_below(draws, UINT64_MAX) };
        strike.at_step = draws_below(draws, f->steps + 2);
        strike.after_ns = draws_scale(draws, US, 20 * MS);
        add_strike(f, &strike);
    }
}

static void draw_faults(struct fleet_plan *f, struct draws *draws)
{
    uint64_t count = 0;
    if (!draws_chance(draws, 10))
        count = draws_between(draws, 1, FLEET_FAULTS_MAX);
    uint64_t kinds = draws_between(draws, 1, (1u << FLEET_FAULT_KINDS) - 1);
    f->num_strikes = 0;
    for (; count > 0; count--) {
        struct fleet_strike strike = { .draw = draws_below(draws, UINT64_MAX) };
        do
            strike.fault = (enum fleet_fault)draws_below(draws, FLEET_FAULT_KINDS);
        while ((kinds >> strike.fault & 1) == 0);
        if (strike.fault == FLEET_CORRUPT && !f->tcp)
            strike.fault = FLEET_KILL; /* nothing protects a plain unix socket, nothing has to */
        /* From the very start to after the last step. */
        strike.at_step = draws_below(draws, f->steps + 2);
        strike.after_ns = draws_scale(draws, US, draws_chance(draws, 80) ? 20 * MS : ENV_SECOND_NS);
        strike.lasts_ns = draw_length(f, strike.fault, draws);
        add_strike(f, &strike);
    }
}

/* A third of the runs have none; a later pass is rarer than the first. */
static void draw_failpoints(struct fleet_plan *f, const struct sim_failpoints *die_at)
{
    struct draws draws = draws_of(f->seed, DRAWS_FAILPOINTS);
    bool drawn = die_at == NULL && f->seed >= FLEET_FAILPOINTS_FROM;
    uint32_t count = drawn ? (uint32_t)draws_below(&draws, FLEET_FAILPOINTS_MAX + 1) : 0;
    uint32_t points = f->seed >= FLEET_ALL_FAILPOINTS_FROM ? FAILPOINTS_COUNT
                                                           : FLEET_FIRST_FAILPOINTS;
    f->num_failpoints = die_at != NULL ? die_at->count : count;
    for (uint32_t i = 0; i < f->num_failpoints; i++) {
        enum failpoint point = (enum failpoint)draws_below(&draws, points);
        f->failpoints[i].point = die_at != NULL ? die_at->points[i] : point;
        f->failpoints[i].nth = 1 + (uint32_t)draws_scale(&draws, 1, 12) / 3;
    }
}

static void draw_launches(struct fleet_plan *f, struct draws *draws)
{
    f->restarts = LAUNCHER_RESTARTS_MAX; /* more faults than a job survives in life */
    f->restarts_ns = LAUNCHER_PERIOD_NS;
    if (f->seed < FLEET_LAUNCHES_FROM)
        return;
    if (draws_chance(draws, 40)) {
        f->restarts = (uint32_t)draws_below(draws,
                                            draws_chance(draws, 70) ? 2 : LAUNCHER_RESTARTS + 1);
        if (draws_chance(draws, 50))
            f->restarts_ns = draws_scale(draws, ENV_SECOND_NS, LAUNCHER_PERIOD_NS);
    }
    f->resumes = (uint32_t)draws_below(draws, 3);
    f->resume_ns = draws_scale(draws, RESUME_FIRST_NS, RESUME_MAX_NS);
    uint64_t count = draws_chance(draws, 40) ? 0 : draws_between(draws, 1, FLEET_LAUNCH_FAULTS_MAX);
    for (; count > 0; count--) {
        struct fleet_strike strike = { .draw = draws_below(draws, UINT64_MAX) };
        strike.fault = draws_chance(draws, 50) ? FLEET_STOP : FLEET_LAUNCHER;
        strike.at_step = draws_below(draws, f->steps + 2);
        strike.after_ns = draws_scale(draws, US, draws_chance(draws, 80) ? 20 * MS : ENV_SECOND_NS);
        strike.lasts_ns = draws_scale(draws, RESUME_FIRST_NS, RESUME_MAX_NS);
        add_strike(f, &strike);
    }
}

/* A process is to leave, for which it has a while; at one of the first `steps` steps. */
static void draw_leave(struct fleet_plan *f, struct draws *draws, enum fleet_fault fault,
                       uint64_t steps)
{
    struct fleet_strike strike = { .fault = fault,
                                   .lasts_ns = TR_PROCESS_LINGER_NS,
                                   .draw = draws_below(draws, UINT64_MAX) };
    strike.at_step = draws_below(draws, steps);
    strike.after_ns = draws_scale(draws, US, 20 * MS);
    add_strike(f, &strike);
}

static void draw_carriers(struct fleet_plan *f, struct draws *draws)
{
    if (f->seed < FLEET_CARRIERS_FROM || draws_chance(draws, 60))
        return;
    for (uint64_t n = draws_between(draws, 1, FLEET_CARRIER_FAULTS_MAX); n > 0; n--)
        draw_leave(f, draws, FLEET_CARRIER, f->steps + 2);
}

static void draw_signals(struct fleet_plan *f, struct draws *draws)
{
    if (f->seed >= FLEET_SIGNALS_FROM && !draws_chance(draws, 60))
        draw_leave(f, draws, FLEET_SIGNAL, f->steps);
}

static void draw_reads(struct fleet_plan *f, struct draws *draws)
{
    if (f->seed < FLEET_READS_FROM || draws_chance(draws, 30))
        return;
    f->readers = (uint32_t)draws_between(draws, 1, FLEET_READERS_MAX);
    f->reads = (uint32_t)draws_between(draws, 1, FLEET_READS_MAX);
    f->read_ns = draws_scale(draws, MS, 2 * ENV_SECOND_NS);
}

static void draw_writes(struct fleet_plan *f, struct draws *draws)
{
    if (f->seed < FLEET_WRITES_FROM || draws_chance(draws, 30))
        return;
    f->writes = (uint32_t)draws_between(draws, 1, FLEET_WRITES_MAX);
    f->write_ns = draws_scale(draws, MS, ENV_SECOND_NS);
}

static void draw_withdrawals(struct fleet_plan *f, struct draws *draws)
{
    if (f->seed < FLEET_WITHDRAWALS_FROM || draws_chance(draws, 40))
        return;
    f->interrupts = (uint32_t)draws_scale(draws, 1, FLEET_INTERRUPTS_MAX);
    f->shuts = draws_chance(draws, 50) ? 0 : (uint32_t)draws_between(draws, 1, FLEET_SHUTS_MAX);
    f->withdraw_percent = (uint32_t)draws_between(draws, 1, 40);
    f->withdraw_ns = draws_scale(draws, US, ENV_SECOND_NS);
}

/* The length of each fault, the time until it is noticed twice over (one dead process can hide
 * another), and what the way back takes. */
static void fleet_limit(struct fleet_plan *f)
{
    f->limit_ns = BASE_NS + f->steps * 2 * f->think_ns;
    for (uint32_t i = 0; i < f->num_strikes; i++)
        f->limit_ns += f->strikes[i].after_ns + f->strikes[i].lasts_ns + 2 * f->dead_ns + MEND_NS +
                       (f->strikes[i].fault == FLEET_CHECKPOINT_STORES
                            ? ACTOR_FAULTS_SLOW_NS + ACTOR_FAULTS_LOOK_LONGER_NS
                            : 0);
    f->limit_ns += f->num_failpoints * (2 * f->dead_ns + MEND_NS);
    f->limit_ns += f->interrupts * WITHDRAW_NS + f->shuts * MEND_NS;
    /* All ends, and all steps are done again. */
    uint64_t again_ns = LAUNCHER_ROLES * LAUNCHER_GRACE_NS + RESUME_MAX_NS + BASE_NS +
                        f->steps * 2 * f->think_ns;
    if (f->seed >= FLEET_LAUNCHES_FROM)
        f->limit_ns += (f->resumes + FLEET_LAUNCH_FAULTS_MAX) * again_ns;
}

/* Each part has a stream of its own, so that a part that draws more leaves the others as they were.
 * A part draws from what those above it have drawn: a loader needs the layout, a bound the loader,
 * a fault the number of steps. */
static const struct {
    uint64_t stream;
    void (*draw)(struct fleet_plan *fleet, struct draws *draws);
} FLEET_DRAWS[] = {
    { DRAWS_LAYOUT, draw_layout },         { DRAWS_JOB, draw_job },
    { DRAWS_BOUNDS, draw_bounds },         { DRAWS_FAULTS, draw_faults },
    { DRAWS_SERVERS, draw_server_faults }, { DRAWS_BUSY, draw_busy_faults },
    { DRAWS_LAUNCHES, draw_launches },     { DRAWS_READS, draw_reads },
    { DRAWS_DISKS, draw_disks },           { DRAWS_WITHDRAWALS, draw_withdrawals },
    { DRAWS_WRITES, draw_writes },         { DRAWS_CARRIERS, draw_carriers },
    { DRAWS_SIGNALS, draw_signals },
};

void fleet_plan_init(struct fleet_plan *fleet, uint64_t seed, const struct sim_failpoints *die_at)
{
    *fleet = (struct fleet_plan){ .seed = seed };
    struct draws draws = draws_of(seed, DRAWS_GRAPH);
    sim_graph_init(&fleet->raw, &draws);
    if (fleet->seed >= WANTED_REVERSES_FROM)
        sim_graph_reverse(&fleet->raw, fleet->seed);
    for (size_t i = 0; i < sizeof FLEET_DRAWS / sizeof *FLEET_DRAWS; i++) {
        draws = draws_of(seed, FLEET_DRAWS[i].stream);
        FLEET_DRAWS[i].draw(fleet, &draws);
    }
    draw_failpoints(fleet, die_at);
    fleet_limit(fleet);
    draws = draws_of(seed, DRAWS_LAUNCH);
    fleet->watches = draws_chance(&draws, 70);
}

void fleet_plan_fini(struct fleet_plan *fleet)
{
    wanted_loader_fini(&fleet->loader);
    sim_graph_fini(&fleet->raw);
}

bool fleet_plan_is_of_disks(const struct fleet_plan *fleet)
{
    bool of_disks = fleet->num_failpoints == 0 && fleet->interrupts + fleet->shuts == 0;
    for (uint32_t i = 0; i < fleet->num_strikes; i++)
        switch (fleet->strikes[i].fault) {
        case FLEET_DISK_FULL:
        case FLEET_SYNC_FAIL:
        case FLEET_SERVERS:
        case FLEET_WALL:
            break;
        default:
            of_disks = false;
            break;
        }
    return of_disks;
}

const char *fleet_fault_name(enum fleet_fault fault)
{
    static const char *const names[] = {
        [FLEET_KILL] = "kill",
        [FLEET_PAUSE] = "pause",
        [FLEET_CLOG] = "clog",
        [FLEET_RESET] = "reset",
        [FLEET_CORRUPT] = "corrupt",
        [FLEET_REFUSE] = "refuse",
        [FLEET_WALL] = "wall clock",
        [FLEET_MEMORY] = "memory",
        [FLEET_DISK_FULL] = "disk full",
        [FLEET_SYNC_FAIL] = "fsync",
        [FLEET_ACTOR] = "actor",
        [FLEET_SERVERS] = "servers",
        [FLEET_CHECKPOINT_STORES] = "checkpoint stores",
        [FLEET_REDUCERS] = "reducers",
        [FLEET_STOP] = "stop",
        [FLEET_LAUNCHER] = "launcher",
        [FLEET_HOST] = "host",
        [FLEET_CARRIER] = "carrier",
        [FLEET_SIGNAL] = "signal",
    };
    return names[fault];
}

void fleet_plan_print(const struct fleet_plan *f, FILE *out)
{
    fprintf(out,
            "seed %" PRIu64 ": a cluster of %" PRIu32 " processes, %" PRIu32 " parts, %" PRIu32
            " samplers, %" PRIu32 " trainers, coordinator in %" PRIu32
            "%s%s%s%s%s%s, window %" PRIu64 ", replies %" PRIu64 ", dead after %" PRIu64 " ms\n",
            f->seed, f->plan.num_processes, f->plan.num_parts, f->plan.samplers, f->plan.trainers,
            f->plan.coordinator, f->tcp ? ", tcp" : ", unix", f->direct ? ", direct" : "",
            f->flat ? ", flat" : "", f->codec ? ", codec" : "", f->watches ? ", watching" : "",
            f->own_disks ? ", a disk each host" : "", f->window_bytes, f->reply_bytes_max,
            f->dead_ns / MS);
    for (uint32_t p = 0; p < f->plan.num_processes; p++) {
        const struct plan_process *process = &f->processes[p];
        fprintf(out,
                "    process %" PRIu32 " on host %" PRIu32 ": %" PRIu32 " loops, %" PRIu32
                " parts, %" PRIu32 " samplers, %" PRIu32 " trainers\n",
                p, process->host, process->loops, process->num_parts, process->samplers.count,
                process->trainers.count);
    }
    fprintf(out,
            "    job: %" PRIu64 " steps of %" PRIu64 " an epoch, %" PRIu32 " weights, saved "
            "every %" PRIu32 " (%" PRIu32 " kept), group calls of %" PRIu64 " ms, over in %" PRIu64
            " s\n",
            f->steps, f->steps_epoch, f->values, f->save_every, f->keep, f->group_ns / MS,
            f->limit_ns / ENV_SECOND_NS);
    if (f->seed >= FLEET_LAUNCHES_FROM)
        fprintf(out,
                "    launcher: %" PRIu32 " restarts in %" PRIu64 " ms, launched again %" PRIu32
                " times at most, %" PRIu64 " ms later\n",
                f->restarts, f->restarts_ns / MS, f->resumes, f->resume_ns / MS);
    if (f->readers > 0)
        fprintf(out,
                "    %" PRIu32 " readers in each process, of %" PRIu32 " reads, one in %" PRIu64
                " ms\n",
                f->readers, f->reads, f->read_ns / MS);
    if (f->writes > 0)
        fprintf(out, "    a writer in each process, of %" PRIu32 " steps, one in %" PRIu64 " ms\n",
                f->writes, f->write_ns / MS);
    if (f->interrupts > 0)
        fprintf(out,
                "    %" PRIu32 " calls of groups are interrupted and %" PRIu32
                " groups shut at most, %" PRIu32 " %% of the calls within %" PRIu64 " us\n",
                f->interrupts, f->shuts, f->withdraw_percent, f->withdraw_ns / US);
    for (uint32_t i = 0; i < f->num_strikes; i++)
        fprintf(out, "    fault: %s at step %" PRIu64 " + %" PRIu64 " us, for %" PRIu64 " ms\n",
                fleet_fault_name(f->strikes[i].fault), f->strikes[i].at_step,
                f->strikes[i].after_ns / US, f->strikes[i].lasts_ns / MS);
    for (uint32_t i = 0; i < f->num_failpoints; i++)
        fprintf(out, "    fault: death at %s, at pass %" PRIu32 "\n",
                failpoint_name(f->failpoints[i].point), f->failpoints[i].nth);
}

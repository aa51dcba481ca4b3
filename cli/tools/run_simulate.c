/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe simulate`: whole jobs under faults, in virtual time, each from one seed.
 *
 * A seed that fails is printed with the command that replays it. With --minutes the seeds are
 * fresh: they count up from the microseconds since 1970, so no later run has them again, nor does
 * the list of remembered seeds, which are far smaller; and what fails goes to a file as soon as it
 * does.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/lib/report.h"
#include "cli/simulate_values.h"
#include "cli/tools/inside.h"
#include "cli/tools/tools.h"
#include "sim/seed_workers.h"

_Static_assert(SIMULATE_JOBS_MAX == SEED_WORKERS_WORKERS_MAX,
               "the option has the bound of workers");

/* More seeds than anyone waits for. */
#define SEEDS_MAX 100000000u
/* Failures that are reported one by one: the first are what a person looks at. */
#define FAILURES_MAX 100u
/* That a run repeats is the same code in each seed: every so many show it. */
#define TWICE_EVERY 8u

#define REPLAY_MAX 192u /* a command, with the names of two fail-points */

struct seeds_tally {
    uint64_t runs, failed, steps, batches, faults, restarts;
    uint32_t num_failures;
    struct sim_result *failures; /* [FAILURES_MAX] */
    const char *path;            /* of the file of failures; NULL: none */
    const char *die_at;          /* as it was given, to replay; NULL: none */
    int path_errno;              /* why a failure did not get there */
};

static const char *read_number(const char *text, uint64_t *number)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 ? end : NULL;
}

/* "A-B" or "A". */
static int parse_seeds(const char *text, uint64_t *first, uint64_t *count, struct error *error)
{
    uint64_t last = 0;
    const char *at = read_number(text, first);
    if (at != NULL && *at == '-')
        at = read_number(at + 1, &last);
    else
        last = *first;
    if (at == NULL || *at != '\0' || last < *first)
        return error_set(error, TR_EINVAL,
                         "--seeds %s: give one seed, or the first and the last "
                         "as in 0-199",
                         text);
    if (last - *first >= SEEDS_MAX)
        return error_set(error, TR_ERANGE, "--seeds %s: give at most %u seeds", text, SEEDS_MAX);
    *count = last - *first + 1;
    return 0;
}

static uint32_t workers_of(const struct simulate_values *values)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t workers = values->jobs != 0 ? values->jobs : (uint64_t)(cores < 1 ? 1 : cores);
    if (values->verbose)
        workers = 1; /* lines of one seed stay together */
    return (uint32_t)(workers < SEED_WORKERS_WORKERS_MAX ? workers : SEED_WORKERS_WORKERS_MAX);
}

static void write_replay(char *text, size_t size, uint64_t seed, const char *die_at)
{
    snprintf(text, size, "troupe simulate --seeds %" PRIu64 "%s%s --verbose", seed,
             die_at != NULL ? " --die-at " : "", die_at != NULL ? die_at : "");
}

/* At once, so that a run that is stopped has not lost what it found. */
static void append_failure(struct seeds_tally *tally, const struct sim_result *result)
{
    char replay[REPLAY_MAX];
    write_replay(replay, sizeof replay, result->seed, tally->die_at);
    FILE *file = fopen(tally->path, "a");
    bool written = file != NULL && fprintf(file, "%s\n    %s\n", replay, result->error.text) > 0;
    int why = errno;
    if (file != NULL && fclose(file) != 0) {
        written = false;
        why = errno;
    }
    if (!written && tally->path_errno == 0)
        tally->path_errno = why != 0 ? why : EIO;
}

static void simulate_note(void *arg, const struct sim_result *result)
{
    struct seeds_tally *tally = arg;
    tally->runs++;
    tally->steps += result->steps;
    tally->batches += result->batches;
    tally->faults += result->faults;
    tally->restarts += result->restarts;
    if (result->error.code == 0)
        return;
    tally->failed++;
    if (tally->num_failures < FAILURES_MAX)
        tally->failures[tally->num_failures++] = *result;
    if (tally->path != NULL)
        append_failure(tally, result);
}

static int by_seed(const void *a, const void *b)
{
    const struct sim_result *x = a, *y = b;
    return (x->seed > y->seed) - (x->seed < y->seed);
}

static int simulate_print(const struct simulate_values *values, struct seeds_tally *tally,
                          uint64_t first, double seconds, struct error *error)
{
    struct report report;
    report_init(&report, values->json);
    report_count(&report, "first_seed", "first seed", first);
    report_count(&report, "seeds", "seeds", tally->runs);
    report_count(&report, "failed", "failed", tally->failed);
    report_count(&report, "batches", "batches", tally->batches);
    report_count(&report, "faults", "faults", tally->faults);
    report_count(&report, "restarts", "restarts", tally->restarts);
    report_count(&report, "steps", "steps", tally->steps);
    report_seconds(&report, "seconds", "time", seconds);
    report_real(&report, "seeds_per_second", "seeds/s",
                seconds > 0 ? (double)tally->runs / seconds : 0);
    qsort(tally->failures, tally->num_failures, sizeof *tally->failures, by_seed);
    for (uint32_t i = 0; i < tally->num_failures; i++) {
        char replay[REPLAY_MAX];
        write_replay(replay, sizeof replay, tally->failures[i].seed, tally->die_at);
        report_row(&report, "failures");
        report_count(&report, "seed", "failing seed", tally->failures[i].seed);
        report_text(&report, "replay", "replay", replay);
        report_text(&report, "what", "what", tally->failures[i].error.text);
    }
    report_rows_end(&report);
    return report_print_inside(&report, error);
}

static double now_seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int parse_failpoints(const char *text, struct sim_failpoints *die_at, struct error *error)
{
    for (const char *at = text; at != NULL; at = *at == ',' ? at + 1 : NULL) {
        size_t length = strcspn(at, ",");
        enum failpoint point = failpoint_find(at, length);
        bool full = die_at->count == sizeof die_at->points / sizeof die_at->points[0];
        if (full || point == FAILPOINTS_COUNT || !failpoint_is_simulated(point))
            return error_set(error, TR_EINVAL,
                             "--die-at %s: give one or two fail-points that the "
                             "simulator passes, as --failpoints lists them",
                             text);
        die_at->points[die_at->count++] = point;
        at += length;
    }
    return 0;
}

static void print_failpoints(void)
{
    for (enum failpoint point = 0; point < FAILPOINTS_COUNT; point++)
        printf("%s%s\n", failpoint_name(point),
               failpoint_is_simulated(point) ? "" : " (in commands, not simulated)");
}

static int simulate_seeds(const struct simulate_values *values, uint64_t first, uint64_t count,
                          const struct sim_failpoints *die_at, struct seeds_tally *tally,
                          struct error *error)
{
    double begun = now_seconds(CLOCK_MONOTONIC);
    const struct seed_workers_options options = {
        .first_seed = first,
        .num_seeds = count,
        .until_ns = (uint64_t)((values->minutes > 0 ? begun + values->minutes * 60 : 0) * 1e9),
        .workers = workers_of(values),
        .twice_every = values->twice ? 1 : TWICE_EVERY,
        .verbose = values->verbose ? stderr : NULL,
        .die_at = die_at->count > 0 ? die_at : NULL,
    };
    tally->failures = calloc(FAILURES_MAX, sizeof *tally->failures);
    int rv = tally->failures == NULL ? error_set(error, TR_ENOMEM, "no memory for failures") : 0;
    if (rv == 0)
        rv = seed_workers_run(&options, simulate_note, tally, error);
    if (rv == 0)
        rv = simulate_print(values, tally, first, now_seconds(CLOCK_MONOTONIC) - begun, error);
    if (rv == 0 && tally->path_errno != 0)
        rv = error_set_errno(error, tally->path_errno, "writing what failed to %s", tally->path);
    free(tally->failures);
    return rv;
}

/* Which seeds: those that were asked for, or fresh ones. */
static int choose_seeds(const struct simulate_values *values, uint64_t *first, uint64_t *count,
                        struct error *error)
{
    if ((values->seeds != NULL) == (values->minutes > 0))
        return error_set(error, TR_EINVAL,
                         "give the seeds with --seeds, or with --minutes a time "
                         "above 0 in which fresh ones run");
    if (values->seeds != NULL)
        return parse_seeds(values->seeds, first, count, error);
    *first = (uint64_t)(now_seconds(CLOCK_REALTIME) * 1e6);
    *count = SEEDS_MAX;
    return 0;
}

int run_simulate(const struct invocation *invocation, const void *opaque)
{
    const struct simulate_values *values = opaque;
    struct error error = { 0 };
    struct seeds_tally tally = {
        .path = values->failures != NULL ? values->failures
                : values->minutes > 0    ? SIMULATE_FAILURES_FILE
                                         : NULL,
        .die_at = values->die_at,
    };
    struct sim_failpoints die_at = { .count = 0 };
    uint64_t first = 0, count = 0;
    if (values->failpoints) {
        print_failpoints();
        return EXIT_DONE;
    }
    if (choose_seeds(values, &first, &count, &error) != 0 ||
        parse_failpoints(values->die_at, &die_at, &error) != 0)
        return fail_usage_inside(invocation, &error);
    if (simulate_seeds(values, first, count, &die_at, &tally, &error) != 0)
        return fail_inside(invocation, &error);
    return tally.failed == 0 ? EXIT_DONE : EXIT_FAILED;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports of text: edges between numbers, plain and packed, and edges between names. Seconds are
 * those of the whole import, with the folder that it writes; CPU time is that of all threads, which
 * a busy neighbour hardly changes. Files lie in the page cache.
 */
#include "bench/benches.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench_child.h"
#include "bench/biggraph.h"
#include "bench/clock.h"
#include "bench/disk.h"
#include "bench/import_texts.h"
#include "partition/raw/edge_import.h"
#include "partition/table/table_import.h"

/* The share of the big graph that is imported by names, which are three times as long as numbers. */
#define NAMES_SHARE 0.25
#define EDGES_A_NODE 8u
/* An import of the whole graph takes seconds, and few runs tell enough. */
#define ROUNDS_MAX 5u

extern char **environ;

struct importing {
    struct disk *disk;
    struct import_text text;
    char *path;
    bool names;
    bool by_cpu;
    uint64_t bytes; /* of the text, unpacked */
};

static double clock_now(const struct importing *importing)
{
    return importing->by_cpu ? clock_process() : clock_wall();
}

static int import_numbers(const struct importing *importing, const char *out, struct error *error)
{
    const struct raw_options options = { .delimiter = '\0' };
    struct raw_edges_found found;
    int rv = edge_import(importing->path, &options, out, NULL, &found, error);
    if (rv == 0)
        raw_edges_found_fini(&found);
    return rv;
}

static int import_names(struct importing *importing, const char *out, struct error *error)
{
    const struct table_options options = { .edges = importing->path };
    const struct raw_write_options write = { .cancel = NULL };
    struct table_found found;
    int rv = table_import(&options, out, &write, &found, error);
    if (rv == 0)
        table_found_fini(&found);
    return rv;
}

/* Seconds of an import, without those of taking away what it made. */
static int import_once(struct importing *importing, double *seconds, struct error *error)
{
    char *out;
    int rv = disk_spare(importing->disk, &out, error);
    if (rv != 0)
        return rv;
    double start = clock_now(importing);
    rv = importing->names ? import_names(importing, out, error)
                          : import_numbers(importing, out, error);
    *seconds = clock_now(importing) - start;
    if (rv == 0)
        rv = files_remove_tree(files_posix, out, error);
    free(out);
    return rv;
}

static int measure_import(void *arg, double *value, struct error *error)
{
    struct importing *importing = arg;
    double seconds;
    int rv = import_once(importing, &seconds, error);
    *value = rv == 0 ? (double)importing->bytes / seconds : 0;
    return rv;
}

static int measure_bare(void *arg, double *value, struct error *error)
{
    struct importing *importing = arg;
    double start = clock_now(importing);
    int rv = importing->names ? import_text_split(importing->path, &importing->bytes, error)
                              : import_text_parse(importing->path, importing->text.num_edges,
                                                  &importing->bytes, error);
    *value = (double)importing->bytes / (clock_now(importing) - start);
    return rv;
}

/* Runs a program with its output thrown away. */
static int run_program(const char *const given[], struct error *error)
{
    /* The program gets a copy of what it is given. */
    char *const *argv = (char *const *)(uintptr_t)given;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        return error_set_errno(error, failed, "%s", argv[0]);
    if (waitpid(child, &status, 0) != child || status != 0)
        return error_set(error, TR_ECHILD, "%s %s: failed", argv[0], argv[1]);
    return 0;
}

static int measure_zcat(void *arg, double *value, struct error *error)
{
    struct importing *importing = arg;
    const char *argv[] = { "zcat", importing->path, NULL };
    double start = clock_wall();
    int rv = run_program(argv, error);
    *value = (double)importing->bytes / (clock_wall() - start);
    return rv;
}

/* What the import holds at most, by the edge. */
static int measure_memory(void *arg, double *value, struct error *error)
{
    struct importing *importing = arg;
    uint64_t before = child_resident();
    double seconds;
    int rv = import_once(importing, &seconds, error);
    *value = (double)(child_resident_peak() - before) / (double)importing->text.num_edges;
    return rv;
}

static int measure_memory_here(void *arg, double *value, struct error *error)
{
    return child_measure(measure_memory, arg, value, error);
}

static int make_text(struct importing *importing, struct error *error)
{
    char name[96];
    snprintf(name, sizeof name, "%s-%llu.txt", importing->names ? "names" : "numbers",
             (unsigned long long)importing->text.num_edges);
    importing->path = files_join(importing->disk->folder, name);
    if (importing->path == NULL)
        return error_set(error, TR_ENOMEM, "out of memory");
    if (files_exists(files_posix, importing->path))
        return 0;
    return importing->names ? import_text_names(importing->path, &importing->text, error)
                            : import_text_numbers(importing->path, &importing->text, error);
}

static int measure_pair(struct importing *importing, bool by_cpu, uint32_t rounds,
                        struct figure figure, bench_emit *emit, void *arg, struct error *error)
{
    importing->by_cpu = by_cpu;
    int rv = figure_pair(&figure, rounds, measure_import, measure_bare, importing, error);
    if (rv == 0)
        emit(arg, &figure);
    return rv;
}

/* Packs the text and imports that; `bytes` is of the text still. */
static int measure_packed(struct importing *importing, uint32_t rounds, bench_emit *emit, void *arg,
                          struct error *error)
{
    struct figure figure = {
        .name = "import_gzip", .unit = "bytes/s", .goal = 0.8, .reference = "zcat"
    };
    const char *argv[] = { "gzip", "-fk", importing->path, NULL };
    char *plain = importing->path, *packed = malloc(strlen(plain) + 4);
    if (packed == NULL)
        return error_set(error, TR_ENOMEM, "out of memory");
    sprintf(packed, "%s.gz", plain);
    int rv = files_exists(files_posix, packed) ? 0 : run_program(argv, error);
    importing->path = packed;
    importing->by_cpu = false;
    if (rv == 0)
        rv = figure_pair(&figure, rounds, measure_import, measure_zcat, importing, error);
    if (rv == 0)
        emit(arg, &figure);
    importing->path = plain;
    free(packed);
    return rv;
}

static int bench_numbers(struct disk *disk, const struct bench_options *options, uint32_t rounds,
                         bench_emit *emit, void *arg, struct error *error)
{
    struct importing importing = { .disk = disk };
    const struct figure wall = {
        .name = "import_edges", .unit = "bytes/s", .goal = 0.4, .reference = "bare parsing loop"
    };
    struct figure cpu = wall, memory = { .name = "import_memory",
                                         .unit = "bytes/edge",
                                         .goal = 0.5,
                                         .reference = "a pair of 32-bit numbers",
                                         .lower_is_better = true };
    cpu.name = "import_edges_cpu";
    cpu.unit = "bytes/s of CPU time";
    importing.text.num_edges = (uint64_t)(options->scale * (double)BIGGRAPH_EDGES);
    importing.text.num_nodes = importing.text.num_edges / EDGES_A_NODE;
    importing.text.seed = options->seed;
    int rv = make_text(&importing, error);
    if (rv == 0)
        rv = measure_pair(&importing, false, rounds, wall, emit, arg, error);
    if (rv == 0)
        rv = measure_pair(&importing, true, rounds, cpu, emit, arg, error);
    if (rv == 0)
        rv = measure_packed(&importing, rounds, emit, arg, error);
    if (rv == 0)
        rv = figure_against(&memory, 1, measure_memory_here, &importing, 8, error);
    if (rv == 0)
        emit(arg, &memory);
    free(importing.path);
    return rv;
}

static int bench_names(struct disk *disk, const struct bench_options *options, uint32_t rounds,
                       bench_emit *emit, void *arg, struct error *error)
{
    struct importing importing = { .disk = disk, .names = true };
    const struct figure wall = {
        .name = "import_names", .unit = "bytes/s", .goal = 0.1, .reference = "bare splitting loop"
    };
    struct figure cpu = wall;
    cpu.name = "import_names_cpu";
    cpu.unit = "bytes/s of CPU time";
    importing.text.num_edges = (uint64_t)(options->scale * NAMES_SHARE * (double)BIGGRAPH_EDGES);
    importing.text.num_nodes = importing.text.num_edges / EDGES_A_NODE;
    importing.text.seed = options->seed;
    int rv = make_text(&importing, error);
    if (rv == 0)
        rv = measure_pair(&importing, false, rounds, wall, emit, arg, error);
    if (rv == 0)
        rv = measure_pair(&importing, true, rounds, cpu, emit, arg, error);
    free(importing.path);
    return rv;
}

int import_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                 struct error *error)
{
    struct disk disk;
    uint32_t rounds = options->rounds < ROUNDS_MAX ? options->rounds : ROUNDS_MAX;
    int rv = disk_open(&disk, options, error);
    if (rv != 0)
        return rv;
    rv = bench_numbers(&disk, options, rounds, emit, arg, error);
    if (rv == 0)
        rv = bench_names(&disk, options, rounds, emit, arg, error);
    disk_close(&disk);
    return rv;
}

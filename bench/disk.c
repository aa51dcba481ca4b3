/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/disk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/biggraph.h"
#include "partition/build/partition.h"
#include "partition/generate/generate.h"
#include "runtime/core/crew.h"

/* In a temporary folder nothing else can be. */
static int make_temporary(struct disk *disk, struct error *error)
{
    const char *parent = getenv("TMPDIR");
    disk->temporary = true;
    disk->folder = files_join(parent != NULL ? parent : "/tmp", "troupe-bench.XXXXXX");
    if (disk->folder == NULL)
        return error_set(error, TR_ENOMEM, "out of memory");
    if (mkdtemp(disk->folder) != NULL)
        return 0;
    error_set(error, TR_EIO, "%s: cannot be made; is TMPDIR a folder that can be written to?",
              disk->folder);
    free(disk->folder);
    disk->folder = NULL;
    return TR_EIO;
}

static int make_lasting(struct disk *disk, const char *folder, struct error *error)
{
    disk->folder = strdup(folder);
    if (disk->folder == NULL)
        return error_set(error, TR_ENOMEM, "out of memory");
    return files_make_folders(files_posix, folder, error);
}

int disk_open(struct disk *disk, const struct bench_options *options, struct error *error)
{
    *disk = (struct disk){ .temporary = false };
    int rv = options->folder != NULL ? make_lasting(disk, options->folder, error)
                                     : make_temporary(disk, error);
    if (rv != 0) {
        disk_close(disk);
        return rv;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    disk->parallel = crew_parallel_create(cores > 1 ? (size_t)cores - 1 : 0);
    if (disk->parallel != NULL)
        return 0;
    disk_close(disk);
    return error_set(error, TR_ENOMEM, "out of memory or threads");
}

void disk_rest(struct disk *disk)
{
    if (disk->parallel != NULL)
        crew_parallel_destroy(disk->parallel);
    disk->parallel = NULL;
}

void disk_close(struct disk *disk)
{
    disk_rest(disk);
    if (disk->temporary && disk->folder != NULL)
        files_remove_tree(files_posix, disk->folder, NULL);
    free(disk->folder);
    *disk = (struct disk){ .temporary = false };
}

struct disk_graph disk_big(double scale)
{
    return (struct disk_graph){ .num_nodes = (uint64_t)(scale * (double)BIGGRAPH_NODES),
                                .num_edges = (uint64_t)(scale * (double)BIGGRAPH_EDGES),
                                .features = BIGGRAPH_FEATURES };
}

/* The path of a graph's folder: everything that tells it from others is in its name. */
static int name_folder(const struct disk *disk, const struct disk_graph *graph, const char *what,
                       char **path, struct error *error)
{
    char name[128];
    snprintf(name, sizeof name, "%s-%" PRIu64 "-%" PRIu64 "-%" PRIu32 "-%s",
             graph->blocks ? "sbm" : "skew", graph->num_nodes, graph->num_edges, graph->features,
             what);
    *path = files_join(disk->folder, name);
    return *path != NULL ? 0 : error_set(error, TR_ENOMEM, "out of memory");
}

int disk_raw(struct disk *disk, const struct disk_graph *graph, char **path, struct error *error)
{
    int rv = name_folder(disk, graph, "raw", path, error);
    if (rv != 0 || files_is_folder(files_posix, *path))
        return rv;
    struct generate_options options = GENERATE_DEFAULTS;
    options.num_nodes = graph->num_nodes;
    options.num_edges = graph->num_edges;
    options.num_features = graph->features;
    options.num_classes = BIGGRAPH_CLASSES;
    options.seed = 1;
    rv = graph->blocks ? generate_sbm(*path, &options, NULL, error)
                       : generate_skew(*path, &options, NULL, error);
    if (rv != 0)
        free(*path);
    return rv;
}

int disk_spare(struct disk *disk, char **path, struct error *error)
{
    *path = files_join(disk->folder, "spare");
    if (*path == NULL)
        return error_set(error, TR_ENOMEM, "out of memory");
    int rv = files_remove_tree(files_posix, *path, error);
    if (rv != 0)
        free(*path);
    return rv;
}

static int partition_once(struct disk *disk, const struct disk_graph *graph, uint32_t num_parts,
                          const char *folder, struct error *error)
{
    char *raw_path;
    struct raw_graph *raw;
    int rv = disk_raw(disk, graph, &raw_path, error);
    if (rv != 0)
        return rv;
    rv = raw_open(raw_path, NULL, &raw, error);
    free(raw_path);
    if (rv != 0)
        return rv;
    struct partition_options options = {
        .name = "graph", .method = PARTITION_RANDOM, .num_parts = num_parts, .drop_edge_ids = true
    };
    struct partition_report report;
    rv = partition_graph(raw, &options, folder, disk->parallel, NULL, &report, error);
    raw_close(raw);
    return rv;
}

int disk_partition(struct disk *disk, const struct disk_graph *graph, uint32_t num_parts,
                   char **path, struct error *error)
{
    char *folder, what[32];
    snprintf(what, sizeof what, "parts-%" PRIu32, num_parts);
    int rv = name_folder(disk, graph, num_parts == 1 ? "parts" : what, &folder, error);
    if (rv != 0)
        return rv;
    if (!files_is_folder(files_posix, folder))
        rv = partition_once(disk, graph, num_parts, folder, error);
    if (rv == 0) {
        *path = files_join(folder, "graph.json");
        rv = *path != NULL ? 0 : error_set(error, TR_ENOMEM, "out of memory");
    }
    free(folder);
    return rv;
}

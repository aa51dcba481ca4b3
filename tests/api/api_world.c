/* SPDX-License-Identifier: Apache-2.0 */
#include "api_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "partition/generate/generate.h"
#include "tests/scratch.h"

static void check(int rv, const struct error *error)
{
    if (rv != 0)
        fail_msg("%s: %s", tr_error_name(rv), error->text);
}

static char folder[64];

static void raw_path(char path[256])
{
    snprintf(path, 256, "%s/raw", folder);
}

int world_setup(void **state)
{
    struct generate_options options = GENERATE_DEFAULTS;
    struct error error = { 0 };
    char path[256];
    (void)state;
    assert_non_null(scratch_folder(folder, sizeof folder, "api"));
    raw_path(path);
    options.num_nodes = WORLD_NODES;
    options.num_edges = WORLD_EDGES;
    options.num_features = WORLD_WIDTH;
    options.num_classes = WORLD_CLASSES;
    options.seed = 11;
    check(generate_sbm(path, &options, NULL, &error), &error);
    return 0;
}

int world_teardown(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

const char *world_folder(void)
{
    return folder;
}

static struct raw_graph *open_raw(void)
{
    struct raw_graph *raw = NULL;
    struct error error = { 0 };
    char path[256];
    raw_path(path);
    check(raw_open(path, NULL, &raw, &error), &error);
    return raw;
}

void world_partition(enum partition_method method, uint32_t num_parts, char path[256])
{
    struct error error = { 0 };
    char dir[200];
    snprintf(dir, sizeof dir, "%s/%s-%u", folder, method == PARTITION_METIS ? "metis" : "random",
             num_parts);
    snprintf(path, 256, "%s/g.json", dir);
    if (access(path, R_OK) == 0)
        return;
    struct raw_graph *raw = open_raw();
    const struct partition_options options = {
        .name = "g", .method = method, .num_parts = num_parts, .seed = 5, .halo_hops = 1
    };
    struct partition_report report;
    check(partition_graph(raw, &options, dir, parallel_serial, NULL, &report, &error), &error);
    raw_close(raw);
}

static uint32_t table_number(const struct raw_graph *raw, const char *name)
{
    uint32_t i = 0;
    while (i < raw->num_tables && strcmp(raw->tables[i].name, name) != 0)
        i++;
    assert_true(i < raw->num_tables);
    return i;
}

void world_truth(float *features, int64_t *labels)
{
    struct raw_graph *raw = open_raw();
    struct error error = { 0 };
    check(raw_read_rows(raw, table_number(raw, "feat"), 0, WORLD_NODES, features, &error), &error);
    check(raw_read_rows(raw, table_number(raw, "label"), 0, WORLD_NODES, labels, &error), &error);
    raw_close(raw);
}

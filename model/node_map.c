/* SPDX-License-Identifier: Apache-2.0 */
#include "model/node_map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

static int count_nodes(const struct graph_part *const *parts, uint32_t num_parts, uint32_t ntype,
                       uint64_t *total, struct error *error)
{
    *total = 0;
    for (uint32_t p = 0; p < num_parts; p++) {
        if (__builtin_add_overflow(*total, parts[p]->nodes[ntype].num_nodes, total) ||
            *total >= UINT32_MAX)
            return error_set(error, TR_ETOOBIG, "exact inference: more than %u nodes",
                             UINT32_MAX - 1);
    }
    return 0;
}

static int place_part(struct node_map *map, const struct graph_part *part, uint32_t number,
                      uint32_t ntype, struct error *error)
{
    const struct node_part *nodes = &part->nodes[ntype];
    for (uint64_t row = 0; row < nodes->num_nodes; row++) {
        uint64_t original = nodes->original_ids[row], global = nodes->global_begin + row;
        if (original >= map->num_nodes || global >= map->num_nodes ||
            map->places[original].part != NOWHERE || map->originals[global] != NOWHERE)
            return error_set(error, TR_EFORMAT,
                             "exact inference: partition %u row %" PRIu64 " is node %" PRIu64
                             " (global %" PRIu64 "), which is twice there or not below the %u "
                             "nodes of the partitions given; give all partitions, once",
                             part->part_id, row, original, global, map->num_nodes);
        map->places[original] = (struct node_place){ number, (uint32_t)row };
        map->originals[global] = (uint32_t)original;
    }
    return 0;
}

int node_map_init(struct node_map *map, const struct graph_part *const *parts, uint32_t num_parts,
                  uint32_t ntype, struct error *error)
{
    *map = (struct node_map){ 0 };
    uint64_t total;
    int rc = count_nodes(parts, num_parts, ntype, &total, error);
    if (rc != 0)
        return rc;
    map->num_nodes = (uint32_t)total;
    map->places = malloc((total + 1) * sizeof *map->places);
    map->originals = malloc((total + 1) * sizeof *map->originals);
    if (map->places == NULL || map->originals == NULL) {
        rc = error_set(error, TR_ENOMEM, "exact inference: no memory for %" PRIu64 " nodes", total);
        goto fail;
    }
    memset(map->places, 0xff, total * sizeof *map->places);
    memset(map->originals, 0xff, total * sizeof *map->originals);
    for (uint32_t p = 0; p < num_parts; p++) {
        rc = place_part(map, parts[p], p, ntype, error);
        if (rc != 0)
            goto fail;
    }
    return 0;
fail:
    node_map_fini(map);
    return rc;
}

void node_map_fini(struct node_map *map)
{
    free(map->places);
    free(map->originals);
    *map = (struct node_map){ 0 };
}

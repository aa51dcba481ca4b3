/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/part_list.h"

#include <stdlib.h>
#include <string.h>

#include "api/schema.h"
#include "api/sized.h"

static int part_list_create(struct part_list *list, uint32_t count, size_t num_processes)
{
    *list = (struct part_list){ .count = count, .num_processes = num_processes };
    list->parts = calloc(count + (size_t)1, sizeof *list->parts);
    list->processes = calloc(num_processes + 1, sizeof *list->processes);
    if (list->parts != NULL && list->processes != NULL)
        return 0;
    part_list_fini(list);
    return TR_ENOMEM;
}

static uint64_t sizes_of(struct extent *const *extents, uint32_t types, uint32_t part)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < types; t++)
        sum += extents[t][part].end - extents[t][part].begin;
    return sum;
}

int part_list_make(struct part_list *list, const struct plan *plan, const struct book *book)
{
    size_t all = 0, placed = 0;
    for (uint32_t p = 0; p < plan->num_processes; p++)
        all += plan->processes[p].num_parts;
    int rv = part_list_create(list, plan->num_parts, all);
    if (rv != 0)
        return rv;
    for (uint32_t p = 0; p < plan->num_processes; p++)
        for (uint32_t i = 0; i < plan->processes[p].num_parts; i++)
            list->parts[plan->processes[p].parts[i]].num_processes++;
    for (uint32_t part = 0; part < list->count; part++) {
        struct tr_part_status *of = &list->parts[part];
        of->size = sizeof *of;
        of->num_nodes = sizes_of(book->node_extents, book->types.num_ntypes, part);
        of->num_edges = sizes_of(book->edge_extents, book->types.num_etypes, part);
        of->processes = list->processes + placed;
        placed += of->num_processes;
        of->num_processes = 0; /* counted again, as they are put there */
    }
    for (uint32_t p = 0; p < plan->num_processes; p++)
        for (uint32_t i = 0; i < plan->processes[p].num_parts; i++) {
            struct tr_part_status *of = &list->parts[plan->processes[p].parts[i]];
            list->processes[(size_t)(of->processes - list->processes) + of->num_processes++] = p;
        }
    return 0;
}

int part_list_copy(struct part_list *to, const struct part_list *from)
{
    int rv = part_list_create(to, from->count, from->num_processes);
    if (rv != 0)
        return rv;
    memcpy(to->processes, from->processes, from->num_processes * sizeof *to->processes);
    memcpy(to->parts, from->parts, from->count * sizeof *to->parts);
    for (uint32_t part = 0; part < to->count; part++)
        to->parts[part].processes = to->processes + (from->parts[part].processes - from->processes);
    return 0;
}

void part_list_fini(struct part_list *list)
{
    free(list->parts);
    free(list->processes);
    *list = (struct part_list){ 0 };
}

int part_list_get(const struct part_list *list, uint32_t part, struct tr_part_status *out,
                  struct tr_error *error)
{
    if (part >= list->count)
        return schema_refuse("partition", part, list->count, error);
    return sized_write(out, &list->parts[part], sizeof *out, "tr_part_status", error);
}

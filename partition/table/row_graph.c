/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/row_graph.h"

#include <stdlib.h>

#include "runtime/base/crc32c.h"

#define GRAPHS_ROOM_MIN ((uint64_t)1024)

uint32_t row_graph_number(const struct table_field *name)
{
    const uint32_t number = crc32c(0, name->at, name->length);
    return number != 0 ? number : 1;
}

static int make_room(struct node_graphs *graphs, uint64_t node)
{
    if (node < graphs->room)
        return 0;
    const uint64_t room = node < GRAPHS_ROOM_MIN ? GRAPHS_ROOM_MIN : 2 * node;
    uint32_t *grown = realloc(graphs->of, room * sizeof *grown);
    if (grown == NULL)
        return TR_ENOMEM;
    memset(grown + graphs->room, 0, (room - graphs->room) * sizeof *grown);
    graphs->of = grown;
    graphs->room = room;
    return 0;
}

int node_graphs_note(struct node_graphs *graphs, uint64_t node, uint32_t graph)
{
    int rv = make_room(graphs, node);
    if (rv != 0)
        return rv;
    if (graphs->of[node] == 0)
        graphs->of[node] = graph;
    return graphs->of[node] == graph ? 0 : TR_EMISMATCH;
}

void node_graphs_fini(struct node_graphs *graphs)
{
    free(graphs->of);
    *graphs = (struct node_graphs){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Random partitions in memory, two node types and three edge types, for tests of actors. */
#ifndef TESTS_ACTORS_GRAPHS_H
#define TESTS_ACTORS_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/part.h"
#include "partition/store/book.h"

#define GRAPH_NTYPES 2
#define GRAPH_ETYPES 3
/* Tables of each node type: "feat", 5 floats a row; "mask", one byte; "none", rows of 0 bytes. */
#define GRAPH_TABLES 3
#define GRAPH_PARTS 2

struct test_graph {
    struct book book;
    struct graph_part parts[GRAPH_PARTS];
};

/* rows: nodes of each type of each partition; edge type 2 has a column table (wide columns). */
void test_graph_init(struct test_graph *graph, uint64_t seed, uint32_t rows, uint32_t degree_max);
void test_graph_fini(struct test_graph *graph);

#endif

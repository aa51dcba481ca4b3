/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges between two nodes: what a scan in pieces of any length finds is the first in-edge of the row
 * from the source, by the definition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/key.h"
#include "graph/reverse_edges.h"

#define ROWS 40u
#define NODES 30u
#define EDGES 600u

static void make_csc(uint64_t index[ROWS + 1], uint32_t indices[EDGES])
{
    uint64_t each[ROWS] = { 0 };
    for (uint64_t i = 0; i < EDGES; i++) {
        uint64_t drawn = key_mix(i);
        each[drawn % ROWS * (drawn >> 32) % ROWS]++; /* some have none, some have many */
        indices[i] = (uint32_t)(drawn >> 16) % NODES;
    }
    index[0] = 0;
    for (uint32_t r = 0; r < ROWS; r++)
        index[r + 1] = index[r] + each[r];
}

static uint64_t first_edge(const struct csc *csc, uint32_t row, uint64_t source)
{
    for (uint64_t at = csc->index[row]; at < csc->index[row + 1]; at++)
        if (csc_source(csc, at) == source)
            return csc->first_edge + at;
    return REVERSE_NO_EDGE;
}

static void pieces_find_the_first_edge(void **state)
{
    uint64_t index[ROWS + 1], columns[NODES], found, met = 0;
    uint32_t indices[EDGES];
    (void)state;
    make_csc(index, indices);
    for (uint32_t c = 0; c < NODES; c++)
        columns[c] = 5 + 3 * (uint64_t)((c * 7) % NODES);
    for (uint32_t wide = 0; wide < 2; wide++)
        for (uint64_t piece = 1; piece < 40; piece += 3) {
            struct edge_part edges = { .csc = { .num_rows = ROWS,
                                                .num_edges = EDGES,
                                                .index = index,
                                                .indices = indices,
                                                .column_global = wide != 0 ? columns : NULL,
                                                .first_edge = 100 } };
            struct edge_scan scan = { 0 };
            for (uint32_t r = 0; r < ROWS; r++)
                for (uint64_t source = 0; source < 4 * NODES; source++) {
                    const struct reverse_question asked = { REVERSE_ANY_EDGE, source, r };
                    uint64_t pieces = 0;
                    scan.left = piece;
                    while (edge_scan_find(&edges, &asked, &scan, &found) != 0) {
                        assert_int_equal(scan.left, 0);
                        scan.left = piece;
                        pieces++;
                    }
                    assert_true(pieces * piece <= index[r + 1] - index[r]);
                    assert_int_equal(scan.at, 0);
                    assert_int_equal(found, first_edge(&edges.csc, r, source));
                    met += found != REVERSE_NO_EDGE;
                }
        }
    assert_true(met > EDGES);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pieces_find_the_first_edge) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Few positions of a row at a time, in registers: four signed lanes each, which SSE2 and NEON have.
 *
 * SSE2 compares signed words only, so where the order of positions matters they are stored with
 * their top bit flipped, which keeps it.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_QUADS_H
#define GRAPH_QUADS_H

#include <stdint.h>

typedef int32_t quad __attribute__((vector_size(16)));
typedef uint32_t quad_bits __attribute__((vector_size(16)));
typedef float quad_floats __attribute__((vector_size(16)));

#define QUAD_FLIP UINT32_C(0x80000000)

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 32")

/* One bit for each lane that is set in the masks, of which there are eight at most. */
ALWAYS_INLINE uint32_t quad_gather(const quad *masks, uint32_t quads)
{
    quad_bits bits = { 0 };
    UNROLL
    for (uint32_t q = 0; q < quads; q++)
        bits |= (quad_bits)masks[q] & (quad_bits){ UINT32_C(1) << 4 * q, UINT32_C(2) << 4 * q,
                                                   UINT32_C(4) << 4 * q, UINT32_C(8) << 4 * q };
    return bits[0] | bits[1] | bits[2] | bits[3];
}

/* The lanes that equal one of the first k which is before them, a bit each; at most eight quads. */
ALWAYS_INLINE uint32_t quad_repeats(const quad *lanes, uint32_t quads, uint32_t k)
{
    quad repeats[8] = { { 0 } };
    UNROLL
    for (uint32_t i = 0; i < k; i++) {
        quad value = lanes[i / 4][i % 4] - (quad){ 0 };
        UNROLL
        for (uint32_t q = i / 4; q < quads; q++) {
            quad later = { -(4 * q > i), -(4 * q + 1 > i), -(4 * q + 2 > i), -(4 * q + 3 > i) };
            repeats[q] |= (lanes[q] == value) & later;
        }
    }
    return quad_gather(repeats, quads);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that carries a graph to troupe-metis and its partitions back.
 *
 * It is a memfd that the library writes and seals against changes of its size, and that the helper
 * finds at METIS_EXCHANGE_FD: a head, then four arrays, each at a multiple of METIS_EXCHANGE_ALIGN.
 * No offset travels: both sides compute them from the head's counts, so there is none to check. The
 * helper refuses what metis_exchange_check() refuses; the library reads the answer only after the
 * helper has ended, and checks every number of it. Both run on one machine, in its byte order.
 *
 * This file stands on the C library alone, since the helper links nothing of Troupe's but it.
 *
 * Thread rules: pure functions. Ownership: the caller's memory.
 */
#ifndef PARTITION_METIS_METIS_EXCHANGE_H
#define PARTITION_METIS_METIS_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first descriptor after standard input, output and error. */
#define METIS_EXCHANGE_FD 3
/* A cache line, so that an array never shares one with its neighbour. */
#define METIS_EXCHANGE_ALIGN 64u
/* Another layout has another number: a helper of another release refuses it. */
#define METIS_EXCHANGE_MAGIC UINT64_C(0x31534954454d5254) /* "TRMETIS1" */
/* The most that METIS balances at once: twice the classes of nodes that partitioning knows. */
#define METIS_CONSTRAINTS_MAX 32u

/* The reason that kept the helper from asking METIS; METIS's own failure is an answer. */
enum metis_exit {
    METIS_EXIT_ANSWERED = 0,
    METIS_EXIT_REFUSED = 2,   /* the question is damaged, or of another version */
    METIS_EXIT_ORPHAN = 3,    /* the process that asked has ended */
    METIS_EXIT_NO_MEMORY = 4, /* the question could not be mapped */
};

struct metis_exchange {
    uint64_t magic;
    /* The question. */
    uint64_t num_nodes;
    uint64_t num_entries; /* of the adjacency: each edge in both directions */
    uint32_t num_parts;
    uint32_t num_constraints; /* columns of the weights; at least 1 */
    uint32_t weighted;        /* 0: all nodes weigh 1, and there is no array of weights */
    uint32_t volume;          /* 1: the communication volume is made small, 0: the edge cut */
    int32_t seed;
    int32_t parent; /* the process that asks: the helper ends with it */
    /* The answer. */
    uint32_t answered; /* 1 once all else is written */
    int32_t status;    /* METIS_* */
    double seconds;
    int64_t objective;
    uint64_t peak_bytes; /* of the helper's memory */
    uint64_t unused[6];
};
_Static_assert(sizeof(struct metis_exchange) == 128, "the head has a fixed size");

/* Where each array lies, in bytes from the start. */
struct metis_layout {
    size_t index;     /* int32_t[num_nodes + 1] */
    size_t adjacency; /* int32_t[num_entries] */
    size_t weights;   /* int32_t[num_nodes * num_constraints], where weighted */
    size_t parts;     /* int32_t[num_nodes], written by the helper */
    size_t size;
};

/* NULL, or what is wrong with the head's numbers, which then have no layout. */
const char *metis_exchange_layout(const struct metis_exchange *head, struct metis_layout *layout);

/* Checks head and arrays of `size` bytes at `data`, aligned as an array is: every number that METIS
 * takes as an index is one. NULL, or what is wrong. That the graph is symmetric is not checked: it
 * costs as much as a level of METIS, and METIS that stumbles over it does so in its own process. */
const char *metis_exchange_check(const void *data, size_t size, struct metis_layout *layout);

#endif

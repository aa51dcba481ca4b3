/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counter-based randomness: every random number is a pure function of what it is for.
 *
 * There is no generator state, so a draw gives the same bits on every host, whatever was drawn
 * before it and however often a request is repeated. A draw is named by (seed, purpose, epoch,
 * rank, batch, hop, type, original ID, number of the draw). The first seven are folded once
 * into a 64-bit base; a node adds its ID, a draw its number. The mixing is splitmix64 (Steele,
 * Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
 *
 * Only integers and IEEE + - * / are used: the bits are equal on every machine.
 *
 * Thread rules: all functions are pure.
 */
#ifndef GRAPH_KEY_H
#define GRAPH_KEY_H

#include <stdint.h>

/* The purpose of a draw. The numbers are part of every result ever published: never renumber. */
enum key_purpose {
    KEY_SHUFFLE = 1,    /* the order of the seeds of an epoch */
    KEY_NEIGHBOURS = 2, /* which in-edges of a node are drawn */
    KEY_WEIGHTS = 3,    /* initial weights of a model */
    KEY_DROPOUT = 4,
    KEY_SPLIT = 5,           /* train, validation and test sets */
    KEY_GENERATE = 6,        /* synthetic graphs */
    KEY_NEGATIVES = 7,       /* negative edges of link prediction */
    KEY_WALK = 8,            /* random walks */
    KEY_DEAL = 9,            /* which trainer gets which seed */
    KEY_PARTITION = 10,      /* the random partitioner */
    KEY_SOURCES = 11,        /* numbers of source nodes, which all their out-edges share */
    KEY_OUT_NEIGHBOURS = 12, /* which out-edges of a node are drawn */
    KEY_TOTAL = 13,          /* which in-edges are drawn of those of all types, by node type */
    KEY_OUT_TOTAL = 14       /* and which out-edges */
};

struct draw_key {
    uint64_t seed;
    uint64_t batch; /* within the epoch */
    uint32_t purpose;
    uint32_t epoch;
    uint32_t rank; /* of the trainer the batch is dealt to */
    uint32_t hop;  /* 0 draws the neighbours of the seeds */
    uint32_t type; /* edge type, or node type, or number of a tensor, as the purpose says */
};

/* 2^64 divided by the golden ratio: odd, and its multiples are spread evenly. */
#define KEY_STEP UINT64_C(0x9e3779b97f4a7c15)

/* A bijection of 64-bit words in which each bit of x flips half the bits of the result. */
static inline uint64_t key_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A hash of an ordered pair of IDs, for tables and samples of edges. */
static inline uint64_t key_of_pair(uint64_t a, uint64_t b)
{
    return key_mix(a * KEY_STEP + b);
}

/* Everything but the node and the draw, in one word. */
uint64_t key_base(const struct draw_key *key);

static inline uint64_t key_node(uint64_t base, uint64_t original_id)
{
    return key_mix(base + original_id * KEY_STEP);
}

/* The key of another occurrence of a node in one request, whose draws are independent of the
 * first's; occurrence 0 is the node itself. */
static inline uint64_t key_occurrence(uint64_t node_key, uint32_t salt)
{
    return salt == 0 ? node_key : key_mix(node_key ^ (salt * UINT64_C(0xd1342543de82ef95)));
}

/* Draw number `draw` (from 0) of a node: 64 random bits. */
static inline uint64_t key_draw(uint64_t node_key, uint64_t draw)
{
    return key_mix(node_key + (draw + 1) * KEY_STEP);
}

/*
 * A uniform integer in [0, n), n > 0, without bias: draws are rejected that would make some
 * results likelier (Lemire: "Fast random integer generation in an interval", TOMACS 2019).
 * *draw is the number of the next draw and moves past those used.
 */
static inline uint64_t key_below(uint64_t node_key, uint64_t *draw, uint64_t n)
{
    unsigned __int128 product = (unsigned __int128)key_draw(node_key, (*draw)++) * n;
    if (__builtin_expect((uint64_t)product < n, 0)) {
        uint64_t threshold = -n % n;
        while ((uint64_t)product < threshold)
            product = (unsigned __int128)key_draw(node_key, (*draw)++) * n;
    }
    return (uint64_t)(product >> 64);
}

/* Uniform in [0, 1): a multiple of 2^-53, of 2^-24. */
static inline double key_double(uint64_t node_key, uint64_t draw)
{
    return (double)(key_draw(node_key, draw) >> 11) * 0x1p-53;
}

static inline float key_float(uint64_t node_key, uint64_t draw)
{
    return (float)(key_draw(node_key, draw) >> 40) * 0x1p-24f;
}

#endif

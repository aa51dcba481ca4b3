/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deal: which trainer trains which node, an input of an experiment.
 *
 * A trainer number for each node of a type by original ID, -1 (as unsigned: 2^32 - 1) for nodes
 * that nobody trains; in a .npy file of 32-bit integers. Numbers of nodes of two trainers differ
 * by 1 at most, so that all have equally many steps. Partitioning writes one that puts nodes beside
 * their trainer; it serves any other partitioning of the same graph, since it is by original ID.
 *
 * Ownership: seed_split_fini. Thread rules: immutable once read; any thread.
 */
#ifndef PARTITION_STORE_SEED_SPLIT_H
#define PARTITION_STORE_SEED_SPLIT_H

#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/base/files.h"

struct seed_split {
    int32_t *trainers; /* [num_nodes] by original ID; -1: none */
    uint64_t num_nodes;
    uint32_t num_trainers;
    uint64_t hash; /* of all above: what two deals that are equal share */
};

/* Reads a deal of that many nodes among that many trainers. TR_EMISMATCH: it is one of another
 * graph or of other trainers; the message says what differs. checksum: the CRC-32C that the file
 * must have; NULL: whatever it is. */
int seed_split_read(struct seed_split *deal, struct files *files, const char *path,
                    uint64_t num_nodes, uint32_t num_trainers, const uint32_t *checksum,
                    struct error *error);
/* The value that deal->hash is to have. */
uint64_t seed_split_hash(const struct seed_split *deal);
void seed_split_fini(struct seed_split *deal);

/* Moves nodes from trainers that have more than their share to those that have less: to the next
 * one, whose number says that it is on the same host where there is one. counts: [num_trainers] of
 * training nodes, and of the result afterwards; lower numbers have the larger shares. */
int seed_split_even_out(int32_t *trainers, uint64_t num_nodes, uint64_t *counts,
                        uint32_t num_trainers);

#endif

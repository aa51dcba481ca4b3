/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IDs that are texts, numbered from 0 in the order in which they were added first.
 *
 * It exists because people name their nodes. Two hundred million names have to fit beside the edges
 * that they end, so a table that doubles in one piece, and holds two of itself meanwhile, is too
 * much:
 *
 *  - Slots are in ID_MAP_SHARDS tables of open addressing, each of which doubles by itself. A slot
 *    has 32 bits of the hash, which say where it goes when its shard doubles, and 32 of the text's
 *    place.
 *  - Texts are in segments, one after the other, each with its number in front and a line end
 *    behind it, at a multiple of 8; so looking for a text touches two places of memory. 4 bytes a
 *    number say where its text is. Nothing of this moves.
 *
 * An ID takes at most ID_MAP_BYTES_MAX beside its text, while the map grows too, and all of them
 * ID_MAP_BYTES_ALWAYS. IDs are asked for many at a time: what one needs is prefetched while those
 * before it are looked at.
 *
 * Ownership: id_map_fini frees all. Thread rules: one thread at a time while IDs are added; any
 * threads afterwards.
 */
#ifndef PARTITION_TABLE_ID_MAP_H
#define PARTITION_TABLE_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

/* A name that is longer is a text that stands in the wrong column. */
#define ID_TEXT_MAX 4096u
/* int32 holds the numbers. */
#define ID_MAP_MAX ((uint64_t)1 << 31)
/* Of all texts together, with 5 to 12 bytes each beside it: a place has 32 bits. */
#define ID_MAP_TEXT_MAX ((uint64_t)31 << 30)
#define ID_NONE UINT64_MAX
/* Doubling one shard of so many takes 1 / 128 of the slots more for a moment. */
#define ID_MAP_SHARDS 256u
#define ID_MAP_BYTES_MAX 40u
#define ID_MAP_BYTES_ALWAYS ((size_t)8 << 20)

/* Without a line end or a byte 0 in it. */
struct id_text {
    const char *at;
    uint32_t length;
};

struct id_shard {
    uint64_t *slots; /* hash << 32 | place + 1; 0: free */
    uint32_t bits;   /* there are 2^bits slots */
    uint32_t used;
};

struct id_map {
    uint64_t count;
    uint64_t text_bytes; /* of all texts, without line ends */
    uint64_t held_bytes; /* all memory that the map has */
    uint64_t peak_bytes; /* the most that it had */
    struct id_shard shards[ID_MAP_SHARDS];
    char **segments; /* of texts */
    uint64_t num_segments;
    size_t last_used;  /* bytes of the last segment */
    uint32_t **places; /* segments of where the text of a number is */
    uint64_t num_places;
};

/* Zeroed is an empty map. */
void id_map_fini(struct id_map *map);

/* numbers [count]: of the texts, which are added where they are not there. TR_ENOMEM; TR_ETOOBIG:
 * more than ID_MAP_MAX, or texts beyond ID_MAP_TEXT_MAX. After a failure the map is whole, with some of them. */
int id_map_add(struct id_map *map, const struct id_text *texts, size_t count, uint64_t *numbers);
/* numbers [count]: of the texts, ID_NONE where there is none. */
void id_map_find(const struct id_map *map, const struct id_text *texts, size_t count,
                 uint64_t *numbers);

/* The text of a number below count, which the map keeps; a line end follows it. */
struct id_text id_map_text(const struct id_map *map, uint64_t number);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IDs that are texts, numbered from 0 in the order in which they were added first.
 *
 * It exists because people name their nodes. Two hundred million names have to fit beside the edges
 * that they end, so a table that doubles in one piece, and holds two of itself meanwhile, is too
 * much, and too slow while it doubles:
 *
 *  - Slots are in pages of ID_PAGE_SLOTS, which a directory finds by the first bits of a hash
 *    (Fagin, Nievergelt, Pippenger, Strong: "Extendible Hashing", ACM TODS 4, 1979). Within a page
 *    addressing is open. A page that is full becomes two, and nothing else moves. A slot has 32
 *    bits of the hash, which say to which of the two it goes, and 32 of the text's place.
 *  - Texts are in segments, one after the other, each with its number in front and a line end
 *    behind it, at a multiple of 8; so looking for a text touches two places of memory. 4 bytes a
 *    number say where its text is. Nothing of this moves.
 *
 * An ID takes at most ID_MAP_BYTES_MAX beside its text, while the map grows too, and all of them
 * ID_MAP_BYTES_ALWAYS. All of it is huge pages that are kept until the end, so the kernel clears
 * each of them once. IDs are asked for many at a time: what one needs is prefetched while those
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
#define ID_PAGE_SLOTS 1024u
#define ID_MAP_BYTES_MAX 40u
#define ID_MAP_BYTES_ALWAYS ((size_t)8 << 20)

/* Without a line end or a byte 0 in it. */
struct id_text {
    const char *at;
    uint32_t length;
};

struct id_page {
    uint16_t used;
    uint8_t depth; /* bits of a hash that all of its texts have in common */
};

struct id_map {
    uint64_t count;
    uint64_t text_bytes; /* of all texts, without line ends */
    uint64_t held_bytes; /* all memory that the map has */
    uint64_t peak_bytes; /* the most that it had */
    uint32_t *directory; /* [2^depth]: the page of a hash's first bits; NULL: the map is empty */
    uint32_t depth;
    uint32_t num_pages;
    struct id_page *pages; /* [pages_room] */
    uint32_t pages_room;
    uint64_t **slots; /* segments of pages; a slot is hash << 32 | place + 1; 0: free */
    uint64_t num_slots;
    char **segments; /* of texts */
    uint64_t num_segments;
    size_t last_used;  /* bytes of the last segment */
    uint32_t **places; /* segments of where the text of a number is */
    uint64_t num_places;
};

/* Zeroed is an empty map. */
void id_map_fini(struct id_map *map);

/* numbers [count]: of the texts, which are added where they are not there. TR_ENOMEM; TR_ETOOBIG:
 * more than ID_MAP_MAX, texts beyond ID_MAP_TEXT_MAX, or a thousand texts that were made so that
 * their hashes are equal. After a failure the map is whole, with some of them. */
int id_map_add(struct id_map *map, const struct id_text *texts, size_t count, uint64_t *numbers);
/* What failed where id_map_add() said so, for a message: "more than 2147483648 names". */
#define ID_MAP_FAULT_MAX 96
const char *id_map_fault(const struct id_map *map, int rv, char text[ID_MAP_FAULT_MAX]);
/* numbers [count]: of the texts, ID_NONE where there is none. */
void id_map_find(const struct id_map *map, const struct id_text *texts, size_t count,
                 uint64_t *numbers);

/* The text of a number below count, which the map keeps; a line end follows it. */
struct id_text id_map_text(const struct id_map *map, uint64_t number);

#endif

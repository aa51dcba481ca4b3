/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/id_map.h"

#include <stdlib.h>
#include <string.h>

#include "graph/key.h"
#include "runtime/base/hotmem.h"

/* Texts that are looked for at once: their lines of slots, places and texts fit a core's cache. */
#define BATCH 64
#define SHARD_BITS_MIN 4
/* Bits of the hash in a slot: a shard has no more slots than they tell apart. */
#define HASH_BITS 32
#define SEGMENT_BITS 21
#define SEGMENT_BYTES ((size_t)1 << SEGMENT_BITS)
/* A text begins at a multiple of UNIT, its number first. */
#define UNIT ((size_t)8)
#define PLACE_BITS 18
#define NUMBER_BYTES sizeof(uint32_t)
#define SEGMENTS_MAX (((uint64_t)1 << (32 - PLACE_BITS)) - 1)
#define PLACES_BITS 19
#define PLACES ((size_t)1 << PLACES_BITS)
#define PLACES_BYTES (PLACES * sizeof(uint32_t))

_Static_assert(SEGMENT_BYTES == UNIT << PLACE_BITS, "a place is a segment and a unit in it");
_Static_assert(SEGMENTS_MAX *SEGMENT_BYTES >= ID_MAP_TEXT_MAX, "a place is 32 bits");
_Static_assert(ID_TEXT_MAX + NUMBER_BYTES + 1 <= SEGMENT_BYTES, "a segment has room for any text");
_Static_assert(ID_MAP_SHARDS == 256, "a shard is the first byte of a hash");
_Static_assert(SEGMENT_BYTES + PLACES_BYTES <= ID_MAP_BYTES_ALWAYS, "of the first ID");

_Static_assert(ID_MAP_MAX <= UINT32_MAX, "a number is 32 bits");

static uint64_t hash_text(const struct id_text *text)
{
    uint64_t hash = text->length * KEY_STEP, word;
    const char *at = text->at;
    uint32_t left = text->length;
    for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, at, left);
    return key_mix(hash ^ word);
}

static uint32_t shard_of(uint64_t hash)
{
    return (uint32_t)(hash >> 56);
}

/* What a slot keeps of the hash. */
static uint32_t kept_of(uint64_t hash)
{
    return (uint32_t)(hash >> 24);
}

/* Where a hash begins to look: slots stand in the order of their hashes, but for collisions. */
static uint64_t slot_of(const struct id_shard *shard, uint32_t kept)
{
    return (uint64_t)kept >> (HASH_BITS - shard->bits);
}

static uint64_t mask_of(const struct id_shard *shard)
{
    return ((uint64_t)1 << shard->bits) - 1;
}

static size_t slots_bytes(uint32_t bits)
{
    return sizeof(uint64_t) << bits;
}

static void map_hold(struct id_map *map, uint64_t bytes)
{
    map->held_bytes += bytes;
    if (map->held_bytes > map->peak_bytes)
        map->peak_bytes = map->held_bytes;
}

void id_map_fini(struct id_map *map)
{
    for (uint32_t i = 0; i < ID_MAP_SHARDS; i++)
        hotmem_free(map->shards[i].slots, slots_bytes(map->shards[i].bits));
    for (uint64_t i = 0; i < map->num_segments; i++)
        hotmem_free(map->segments[i], SEGMENT_BYTES);
    for (uint64_t i = 0; i < map->num_places; i++)
        hotmem_free(map->places[i], PLACES_BYTES);
    free(map->segments);
    free(map->places);
    *map = (struct id_map){ 0 };
}

static uint32_t *place_of(const struct id_map *map, uint64_t number)
{
    return &map->places[number >> PLACES_BITS][number & (PLACES - 1)];
}

static char *number_at(const struct id_map *map, uint32_t place)
{
    return map->segments[place >> PLACE_BITS] + (place & (((uint32_t)1 << PLACE_BITS) - 1)) * UNIT;
}

static const char *text_at(const struct id_map *map, uint32_t place)
{
    return number_at(map, place) + NUMBER_BYTES;
}

/* Of a slot that is not free. */
static uint32_t place_in(uint64_t slot)
{
    return (uint32_t)slot - 1;
}

static uint64_t number_of(const struct id_map *map, uint64_t slot)
{
    uint32_t number;
    memcpy(&number, number_at(map, place_in(slot)), sizeof number);
    return number;
}

struct id_text id_map_text(const struct id_map *map, uint64_t number)
{
    const char *at = text_at(map, *place_of(map, number));
    const char *end = memchr(at, '\n', ID_TEXT_MAX + 1);
    return (struct id_text){ at, (uint32_t)(end - at) };
}

static bool is_text(const struct id_map *map, uint32_t place, const struct id_text *text)
{
    const char *at = text_at(map, place);
    /* A text that is shorter ends with a line end, which the other one has not. */
    return strncmp(at, text->at, text->length) == 0 && at[text->length] == '\n';
}

/* The slot of the text, or the free one where it goes. */
static uint64_t *find_slot(const struct id_map *map, const struct id_shard *shard, uint32_t kept,
                           const struct id_text *text)
{
    const uint64_t mask = mask_of(shard);
    for (uint64_t at = slot_of(shard, kept);; at = (at + 1) & mask) {
        uint64_t *slot = &shard->slots[at];
        if (*slot == 0 || (*slot >> 32 == kept && is_text(map, place_in(*slot), text)))
            return slot;
    }
}

/* Slots are put where they belong among twice as many. */
static int grow_shard(struct id_map *map, struct id_shard *shard)
{
    struct id_shard grown = { .bits = shard->slots == NULL ? SHARD_BITS_MIN : shard->bits + 1,
                              .used = shard->used };
    grown.slots = hotmem_alloc(slots_bytes(grown.bits));
    if (grown.slots == NULL)
        return TR_ENOMEM;
    map_hold(map, slots_bytes(grown.bits));
    const uint64_t mask = mask_of(&grown);
    for (uint64_t i = 0; shard->slots != NULL && i <= mask_of(shard); i++) {
        uint64_t slot = shard->slots[i];
        if (slot == 0)
            continue;
        uint64_t at = slot_of(&grown, (uint32_t)(slot >> 32));
        while (grown.slots[at] != 0)
            at = (at + 1) & mask;
        grown.slots[at] = slot;
    }
    if (shard->slots != NULL)
        map->held_bytes -= slots_bytes(shard->bits);
    hotmem_free(shard->slots, slots_bytes(shard->bits));
    *shard = grown;
    return 0;
}

/* Appends a segment to a list of them, whose room doubles. */
static int add_segment(struct id_map *map, void ***list, uint64_t *count, size_t bytes)
{
    /* The list has room for the next power of two of what it holds. */
    if ((*count & (*count - 1)) == 0) {
        uint64_t room = *count == 0 ? 1 : 2 * *count;
        void **grown = realloc(*list, room * sizeof *grown);
        if (grown == NULL)
            return TR_ENOMEM;
        map_hold(map, (room - *count) * sizeof *grown);
        *list = grown;
    }
    void *segment = hotmem_alloc(bytes);
    if (segment == NULL)
        return TR_ENOMEM;
    (*list)[(*count)++] = segment;
    map_hold(map, bytes);
    return 0;
}

/* Keeps the text of the next number. */
static int keep_text(struct id_map *map, const struct id_text *text, uint32_t *place)
{
    size_t bytes = (NUMBER_BYTES + text->length + 1 + UNIT - 1) / UNIT * UNIT;
    int rv = 0;
    if (map->num_segments == 0 || SEGMENT_BYTES - map->last_used < bytes) {
        rv = map->num_segments < SEGMENTS_MAX
                 ? add_segment(map, (void ***)&map->segments, &map->num_segments, SEGMENT_BYTES)
                 : TR_ETOOBIG;
        if (rv != 0)
            return rv;
        map->last_used = 0;
    }
    if (map->count >> PLACES_BITS == map->num_places)
        rv = add_segment(map, (void ***)&map->places, &map->num_places, PLACES_BYTES);
    if (rv != 0)
        return rv;
    *place = (uint32_t)((map->num_segments - 1) << PLACE_BITS | map->last_used / UNIT);
    uint32_t number = (uint32_t)map->count;
    char *to = number_at(map, *place);
    memcpy(to, &number, sizeof number);
    memcpy(to + NUMBER_BYTES, text->at, text->length);
    to[NUMBER_BYTES + text->length] = '\n';
    *place_of(map, map->count) = *place;
    map->last_used += bytes;
    map->text_bytes += text->length;
    return 0;
}

/* At most three quarters of a shard's slots are used, so that a free one is always near. */
static int add_text(struct id_map *map, uint64_t hash, const struct id_text *text, uint64_t *number)
{
    struct id_shard *shard = &map->shards[shard_of(hash)];
    uint32_t kept = kept_of(hash), place;
    uint64_t *slot = shard->slots != NULL ? find_slot(map, shard, kept, text) : NULL;
    if (slot != NULL && *slot != 0) {
        *number = number_of(map, *slot);
        return 0;
    }
    if (map->count == ID_MAP_MAX)
        return TR_ETOOBIG;
    if (slot == NULL || shard->used + 1 > (UINT64_C(3) << shard->bits) / 4) {
        int rv = shard->bits < HASH_BITS ? grow_shard(map, shard) : TR_ETOOBIG;
        if (rv != 0)
            return rv;
        slot = find_slot(map, shard, kept, text);
    }
    /* The text is kept before a slot names it: the slot is all that shows the number. */
    int rv = keep_text(map, text, &place);
    if (rv != 0)
        return rv;
    *number = map->count++;
    *slot = (uint64_t)kept << 32 | ((uint64_t)place + 1);
    shard->used++;
    return 0;
}

/* The first slot that may be the text's, 0 where there is none: a guess. */
static uint64_t guess_slot(const struct id_shard *shard, uint32_t kept)
{
    const uint64_t mask = mask_of(shard);
    if (shard->slots == NULL)
        return 0;
    for (uint64_t at = slot_of(shard, kept);; at = (at + 1) & mask) {
        uint64_t slot = shard->slots[at];
        if (slot == 0 || slot >> 32 == kept)
            return slot;
    }
}

/* Loads what the texts need into the cache: slots, then texts. */
static void map_prefetch(const struct id_map *map, const struct id_text *texts, size_t count,
                         uint64_t hashes[BATCH])
{
    for (size_t i = 0; i < count; i++) {
        hashes[i] = hash_text(&texts[i]);
        const struct id_shard *shard = &map->shards[shard_of(hashes[i])];
        if (shard->slots != NULL)
            __builtin_prefetch(&shard->slots[slot_of(shard, kept_of(hashes[i]))]);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t slot = guess_slot(&map->shards[shard_of(hashes[i])], kept_of(hashes[i]));
        if (slot != 0)
            __builtin_prefetch(number_at(map, place_in(slot)));
    }
}

int id_map_add(struct id_map *map, const struct id_text *texts, size_t count, uint64_t *numbers)
{
    uint64_t hashes[BATCH];
    for (size_t done = 0; done < count;) {
        size_t some = count - done < BATCH ? count - done : BATCH;
        map_prefetch(map, texts + done, some, hashes);
        for (size_t i = 0; i < some; i++) {
            int rv = add_text(map, hashes[i], &texts[done + i], &numbers[done + i]);
            if (rv != 0)
                return rv;
        }
        done += some;
    }
    return 0;
}

void id_map_find(const struct id_map *map, const struct id_text *texts, size_t count,
                 uint64_t *numbers)
{
    uint64_t hashes[BATCH];
    for (size_t done = 0; done < count;) {
        size_t some = count - done < BATCH ? count - done : BATCH;
        map_prefetch(map, texts + done, some, hashes);
        for (size_t i = 0; i < some; i++) {
            const struct id_shard *shard = &map->shards[shard_of(hashes[i])];
            uint64_t slot = shard->slots == NULL
                                ? 0
                                : *find_slot(map, shard, kept_of(hashes[i]), &texts[done + i]);
            numbers[done + i] = slot == 0 ? ID_NONE : number_of(map, slot);
        }
        done += some;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/id_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/key.h"
#include "runtime/base/hotmem.h"

/* Texts that are looked for at once: their lines of slots and texts fit a core's first cache, and
 * are more than it fetches at a time. */
#define BATCH 64
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
#define LINE_BYTES 64u

/* The first pages fill a segment. Their number is in no slot, so that all of a slot's bits of the
 * hash tell texts apart. */
#define DEPTH_MIN 8u
#define PAGE_MASK (ID_PAGE_SLOTS - 1)
#define PAGE_BYTES (ID_PAGE_SLOTS * sizeof(uint64_t))
#define PAGES_BITS 8
#define PAGES ((uint32_t)1 << PAGES_BITS)
/* Three quarters of a page's slots: a free one is always near. */
#define PAGE_FULL (ID_PAGE_SLOTS / 4 * 3)
/* The directory has at most an entry for so many IDs, so that texts whose hashes were made equal
 * cannot make it huge; pages need one for about 200. */
#define IDS_AN_ENTRY 32u
#define ENTRIES_ALWAYS ((uint64_t)1 << 12)

_Static_assert(SEGMENT_BYTES == UNIT << PLACE_BITS, "a place is a segment and a unit in it");
_Static_assert(SEGMENTS_MAX *SEGMENT_BYTES >= ID_MAP_TEXT_MAX, "a place is 32 bits");
_Static_assert(ID_TEXT_MAX + NUMBER_BYTES + 1 <= SEGMENT_BYTES, "a segment has room for any text");
_Static_assert(SEGMENT_BYTES == PAGES * PAGE_BYTES, "a segment is so many pages");
_Static_assert(PAGES == 1u << DEPTH_MIN, "the first pages fill a segment");
_Static_assert(2 * SEGMENT_BYTES + PLACES_BYTES + ENTRIES_ALWAYS * 8 <= ID_MAP_BYTES_ALWAYS,
               "of the first ID");
_Static_assert(ID_MAP_MAX <= UINT32_MAX, "a number is 32 bits");

/* The first and the last bytes of up to 8, which may be the same ones. */
static inline uint64_t short_word(const char *at, uint32_t length)
{
    uint32_t first = 0, last = 0;
    if (length >= sizeof first) {
        memcpy(&first, at, sizeof first);
        memcpy(&last, at + length - sizeof last, sizeof last);
        return (uint64_t)first << 32 | last;
    }
    for (uint32_t i = 0; i < length; i++)
        first = first << 8 | (unsigned char)at[i];
    return first;
}

static inline uint64_t hash_text(const struct id_text *text)
{
    uint64_t hash = text->length * KEY_STEP, word;
    const uint32_t length = text->length;
    for (uint32_t i = 0; i + sizeof word < length; i += sizeof word) {
        memcpy(&word, text->at + i, sizeof word);
        hash = (hash ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
        hash ^= hash >> 29;
    }
    if (length >= sizeof word)
        memcpy(&word, text->at + length - sizeof word, sizeof word);
    else
        word = short_word(text->at, length);
    return key_mix(hash ^ word);
}

/* What a slot keeps of the hash. */
static inline uint32_t kept_of(uint64_t hash)
{
    return (uint32_t)(hash >> (32 - DEPTH_MIN));
}

static inline uint32_t page_of(const struct id_map *map, uint64_t hash)
{
    return map->directory[hash >> (64 - map->depth)];
}

static inline uint64_t *slots_of(const struct id_map *map, uint32_t page)
{
    return map->slots[page >> PAGES_BITS] + (size_t)(page & (PAGES - 1)) * ID_PAGE_SLOTS;
}

static void map_hold(struct id_map *map, uint64_t bytes)
{
    map->held_bytes += bytes;
    if (map->held_bytes > map->peak_bytes)
        map->peak_bytes = map->held_bytes;
}

void id_map_fini(struct id_map *map)
{
    for (uint64_t i = 0; i < map->num_slots; i++)
        hotmem_free(map->slots[i], SEGMENT_BYTES);
    for (uint64_t i = 0; i < map->num_segments; i++)
        hotmem_free(map->segments[i], SEGMENT_BYTES);
    for (uint64_t i = 0; i < map->num_places; i++)
        hotmem_free(map->places[i], PLACES_BYTES);
    free(map->directory);
    free(map->pages);
    free(map->slots);
    free(map->segments);
    free(map->places);
    *map = (struct id_map){ 0 };
}

static uint32_t *place_of(const struct id_map *map, uint64_t number)
{
    return &map->places[number >> PLACES_BITS][number & (PLACES - 1)];
}

static inline char *number_at(const struct id_map *map, uint32_t place)
{
    return map->segments[place >> PLACE_BITS] + (place & (((uint32_t)1 << PLACE_BITS) - 1)) * UNIT;
}

/* Of a slot that is not free. */
static inline uint32_t place_in(uint64_t slot)
{
    return (uint32_t)slot - 1;
}

static inline uint64_t number_of(const struct id_map *map, uint32_t place)
{
    uint32_t number;
    memcpy(&number, number_at(map, place), sizeof number);
    return number;
}

struct id_text id_map_text(const struct id_map *map, uint64_t number)
{
    const char *at = number_at(map, *place_of(map, number)) + NUMBER_BYTES;
    const char *end = memchr(at, '\n', ID_TEXT_MAX + 1);
    return (struct id_text){ at, (uint32_t)(end - at) };
}

static inline bool are_equal(const char *a, const char *b, uint32_t length)
{
    uint64_t one, other;
    if (length < sizeof one)
        return short_word(a, length) == short_word(b, length);
    for (uint32_t i = 0; i + sizeof one < length; i += sizeof one) {
        memcpy(&one, a + i, sizeof one);
        memcpy(&other, b + i, sizeof other);
        if (one != other)
            return false;
    }
    memcpy(&one, a + length - sizeof one, sizeof one);
    memcpy(&other, b + length - sizeof other, sizeof other);
    return one == other;
}

static inline bool is_text(const struct id_map *map, uint32_t place, const struct id_text *text)
{
    const char *number = number_at(map, place);
    size_t left = SEGMENT_BYTES - (size_t)(number - map->segments[place >> PLACE_BITS]);
    /* A text that is kept has its line end in its segment; one that is shorter ends with it sooner,
     * which the other one has not. */
    return left > NUMBER_BYTES + text->length && number[NUMBER_BYTES + text->length] == '\n' &&
           are_equal(number + NUMBER_BYTES, text->at, text->length);
}

/* The slot of the text, or the free one where it goes. A page always has a free one. */
static uint64_t *find_slot(const struct id_map *map, uint64_t *slots, uint32_t kept,
                           const struct id_text *text)
{
    for (uint32_t at = kept & PAGE_MASK;; at = (at + 1) & PAGE_MASK) {
        uint64_t slot = slots[at];
        if (slot == 0 || (slot >> 32 == kept && is_text(map, place_in(slot), text)))
            return &slots[at];
    }
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

/* Makes the memory of page number num_pages. */
static int make_page_room(struct id_map *map)
{
    if (map->num_pages == map->pages_room) {
        uint32_t room = map->pages_room == 0 ? PAGES : 2 * map->pages_room;
        struct id_page *grown = realloc(map->pages, room * sizeof *grown);
        if (grown == NULL)
            return TR_ENOMEM;
        map_hold(map, (room - map->pages_room) * sizeof *grown);
        map->pages = grown;
        map->pages_room = room;
    }
    if (map->num_pages >> PAGES_BITS < map->num_slots)
        return 0;
    return add_segment(map, (void ***)&map->slots, &map->num_slots, SEGMENT_BYTES);
}

/* The first pages. */
static int begin_map(struct id_map *map)
{
    int rv = make_page_room(map);
    if (rv != 0)
        return rv;
    map->directory = malloc(PAGES * sizeof *map->directory);
    if (map->directory == NULL)
        return TR_ENOMEM;
    map_hold(map, PAGES * sizeof *map->directory);
    map->depth = DEPTH_MIN;
    map->num_pages = PAGES;
    for (uint32_t i = 0; i < PAGES; i++) {
        map->directory[i] = i;
        map->pages[i] = (struct id_page){ 0, DEPTH_MIN };
    }
    return 0;
}

/* Each entry of the directory becomes two. TR_ETOOBIG: it would be too large. */
static int double_directory(struct id_map *map)
{
    const uint64_t entries = (uint64_t)1 << map->depth, bytes = entries * sizeof *map->directory;
    if (2 * entries > ENTRIES_ALWAYS && 2 * entries > map->count / IDS_AN_ENTRY)
        return TR_ETOOBIG;
    uint32_t *grown = malloc(2 * bytes);
    if (grown == NULL)
        return TR_ENOMEM;
    map_hold(map, 2 * bytes);
    for (uint64_t i = 0; i < entries; i++)
        grown[2 * i] = grown[2 * i + 1] = map->directory[i];
    free(map->directory);
    map->held_bytes -= bytes;
    map->directory = grown;
    map->depth++;
    return 0;
}

static void put_slot(uint64_t *slots, uint64_t slot)
{
    uint32_t at = (uint32_t)(slot >> 32) & PAGE_MASK;
    while (slots[at] != 0)
        at = (at + 1) & PAGE_MASK;
    slots[at] = slot;
}

/* The page of the hash becomes two, by the next bit of their hashes. All that can fail comes
 * first. */
static int split_page(struct id_map *map, uint64_t hash)
{
    uint64_t moved[ID_PAGE_SLOTS];
    const uint32_t page = page_of(map, hash);
    int rv = make_page_room(map);
    if (rv == 0 && map->pages[page].depth == map->depth)
        rv = double_directory(map);
    if (rv != 0)
        return rv;
    const uint32_t other = map->num_pages++, depth = map->pages[page].depth;
    const uint32_t bit = (uint32_t)1 << (31 + DEPTH_MIN - depth);
    uint64_t *slots = slots_of(map, page), *others = slots_of(map, other);
    uint32_t left = 0, right = 0;
    memcpy(moved, slots, sizeof moved);
    memset(slots, 0, sizeof moved);
    for (uint32_t i = 0; i < ID_PAGE_SLOTS; i++) {
        if (moved[i] == 0)
            continue;
        bool goes = (moved[i] >> 32 & bit) != 0;
        put_slot(goes ? others : slots, moved[i]);
        *(goes ? &right : &left) += 1;
    }
    map->pages[page] = (struct id_page){ (uint16_t)left, (uint8_t)(depth + 1) };
    map->pages[other] = (struct id_page){ (uint16_t)right, (uint8_t)(depth + 1) };
    /* The second half of the page's entries. */
    const uint64_t half = (uint64_t)1 << (map->depth - depth - 1);
    uint32_t *entries = map->directory + 2 * half * (hash >> (64 - depth)) + half;
    for (uint64_t i = 0; i < half; i++)
        entries[i] = other;
    return 0;
}

/* Makes room in the page of the hash. */
static int make_slot_room(struct id_map *map, uint64_t hash)
{
    while (map->pages[page_of(map, hash)].used >= PAGE_FULL) {
        int rv = split_page(map, hash);
        /* Where the directory may not grow, the page takes what it can, and is slow. */
        if (rv == TR_ETOOBIG && map->pages[page_of(map, hash)].used < ID_PAGE_SLOTS - 1)
            return 0;
        if (rv != 0)
            return rv;
    }
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

static int add_text(struct id_map *map, uint64_t hash, const struct id_text *text, uint64_t *number)
{
    const uint32_t kept = kept_of(hash);
    uint32_t place;
    uint64_t *slot = find_slot(map, slots_of(map, page_of(map, hash)), kept, text);
    if (*slot != 0) {
        *number = number_of(map, place_in(*slot));
        return 0;
    }
    if (map->count == ID_MAP_MAX)
        return TR_ETOOBIG;
    if (map->pages[page_of(map, hash)].used >= PAGE_FULL) {
        int rv = make_slot_room(map, hash);
        if (rv != 0)
            return rv;
        slot = find_slot(map, slots_of(map, page_of(map, hash)), kept, text);
    }
    /* The text is kept before a slot names it: the slot is all that shows the number. */
    int rv = keep_text(map, text, &place);
    if (rv != 0)
        return rv;
    *number = map->count++;
    *slot = (uint64_t)kept << 32 | ((uint64_t)place + 1);
    map->pages[page_of(map, hash)].used++;
    return 0;
}

/* A text that is looked for. */
struct id_lookup {
    uint64_t hash;
    uint64_t *slots; /* of its page, when the batch began */
    uint64_t slot;   /* the first one with what slots keep of its hash; 0: there was none */
};

/* Loads what the texts need into the cache: slots, then the texts that they probably are. */
static void map_prefetch(const struct id_map *map, const struct id_text *texts, size_t count,
                         struct id_lookup lookups[BATCH])
{
    for (size_t i = 0; i < count; i++) {
        struct id_lookup *lookup = &lookups[i];
        lookup->hash = hash_text(&texts[i]);
        lookup->slots = slots_of(map, page_of(map, lookup->hash));
        __builtin_prefetch(&lookup->slots[kept_of(lookup->hash) & PAGE_MASK]);
    }
    for (size_t i = 0; i < count; i++) {
        struct id_lookup *lookup = &lookups[i];
        const uint32_t kept = kept_of(lookup->hash);
        uint32_t at = kept & PAGE_MASK;
        while (lookup->slots[at] != 0 && lookup->slots[at] >> 32 != kept)
            at = (at + 1) & PAGE_MASK;
        lookup->slot = lookup->slots[at];
        if (lookup->slot == 0)
            continue;
        const char *number = number_at(map, place_in(lookup->slot));
        __builtin_prefetch(number);
        if ((uintptr_t)number % LINE_BYTES + NUMBER_BYTES + texts[i].length >= LINE_BYTES)
            __builtin_prefetch(number + LINE_BYTES);
    }
}

/* Whether the text is the one that was loaded; a text that was found stays where it is, whatever
 * was added since. */
static inline bool is_loaded(const struct id_map *map, const struct id_lookup *lookup,
                             const struct id_text *text)
{
    return lookup->slot != 0 && is_text(map, place_in(lookup->slot), text);
}

int id_map_add(struct id_map *map, const struct id_text *texts, size_t count, uint64_t *numbers)
{
    struct id_lookup lookups[BATCH];
    int rv = map->directory == NULL && count > 0 ? begin_map(map) : 0;
    for (size_t done = 0; rv == 0 && done < count;) {
        size_t some = count - done < BATCH ? count - done : BATCH;
        map_prefetch(map, texts + done, some, lookups);
        for (size_t i = 0; rv == 0 && i < some; i++) {
            const struct id_text *text = &texts[done + i];
            if (is_loaded(map, &lookups[i], text))
                numbers[done + i] = number_of(map, place_in(lookups[i].slot));
            else
                rv = add_text(map, lookups[i].hash, text, &numbers[done + i]);
        }
        done += some;
    }
    return rv;
}

const char *id_map_fault(const struct id_map *map, int rv, char text[ID_MAP_FAULT_MAX])
{
    if (rv != TR_ETOOBIG)
        snprintf(text, ID_MAP_FAULT_MAX, "no memory for %" PRIu64 " names", map->count);
    else if (map->count >= ID_MAP_MAX)
        snprintf(text, ID_MAP_FAULT_MAX, "more than %" PRIu64 " names", ID_MAP_MAX);
    else if (map->num_segments >= SEGMENTS_MAX)
        snprintf(text, ID_MAP_FAULT_MAX, "names of more than %" PRIu64 " GiB in all",
                 ID_MAP_TEXT_MAX >> 30);
    else
        snprintf(text, ID_MAP_FAULT_MAX, "names that were made so that their hashes are equal");
    return text;
}

void id_map_find(const struct id_map *map, const struct id_text *texts, size_t count,
                 uint64_t *numbers)
{
    struct id_lookup lookups[BATCH];
    for (size_t done = 0; done < count;) {
        size_t some = count - done < BATCH ? count - done : BATCH;
        if (map->directory == NULL)
            memset(lookups, 0, sizeof lookups);
        else
            map_prefetch(map, texts + done, some, lookups);
        for (size_t i = 0; i < some; i++) {
            uint64_t slot = lookups[i].slot;
            if (slot != 0 && !is_loaded(map, &lookups[i], &texts[done + i]))
                slot = *find_slot(map, lookups[i].slots, kept_of(lookups[i].hash),
                                  &texts[done + i]);
            numbers[done + i] = slot == 0 ? ID_NONE : number_of(map, place_in(slot));
        }
        done += some;
    }
}

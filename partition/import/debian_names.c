/* SPDX-License-Identifier: Apache-2.0 */
/* Interned names, in an open-addressing table at most half full. */
#define _GNU_SOURCE /* qsort_r */
#include <stdlib.h>
#include <string.h>

#include "graph/key.h"
#include "partition/import/debian_archive.h"

#define SLOTS_MIN 1024
#define NAMES_MAX ((uint32_t)1 << 30) /* slots, a power of two and twice as many, are 32 bits */

uint64_t hash_text(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return key_mix(hash);
}

int grow(void **items, size_t item_size, size_t count, size_t *room)
{
    if (count < *room)
        return 0;
    size_t wanted = *room == 0 ? 64 : *room * 2;
    void *grown = realloc(*items, wanted * item_size);
    if (grown == NULL)
        return TR_ENOMEM;
    *items = grown;
    *room = wanted;
    return 0;
}

void names_fini(struct names *names)
{
    free(names->text);
    free(names->starts);
    free(names->slots);
    memset(names, 0, sizeof *names);
}

/* The slot that holds the text, or the free one where it belongs. */
static uint32_t find_slot(const struct names *names, const char *text, size_t length)
{
    uint32_t mask = names->num_slots - 1;
    uint32_t slot = (uint32_t)hash_text(text, length) & mask;
    while (names->slots[slot] != 0) {
        const char *other = names->text + names->starts[names->slots[slot] - 1];
        if (strncmp(other, text, length) == 0 && other[length] == '\0')
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static int rehash(struct names *names)
{
    uint32_t wanted = names->num_slots == 0 ? SLOTS_MIN : names->num_slots * 2;
    uint32_t *slots = calloc(wanted, sizeof *slots);
    if (slots == NULL)
        return TR_ENOMEM;
    free(names->slots);
    names->slots = slots;
    names->num_slots = wanted;
    for (uint32_t i = 0; i < names->count; i++) {
        const char *text = names->text + names->starts[i];
        slots[find_slot(names, text, strlen(text))] = i + 1;
    }
    return 0;
}

static int append_text(struct names *names, const char *text, size_t length)
{
    while (names->text_room - names->text_size < length + 1) {
        size_t wanted = names->text_room == 0 ? 4096 : names->text_room * 2;
        char *grown = realloc(names->text, wanted);
        if (grown == NULL)
            return TR_ENOMEM;
        names->text = grown;
        names->text_room = wanted;
    }
    memcpy(names->text + names->text_size, text, length);
    names->text[names->text_size + length] = '\0';
    names->text_size += length + 1;
    return 0;
}

bool names_find(const struct names *names, const char *text, size_t length, uint32_t *name)
{
    uint32_t slot = names->num_slots == 0 ? 0 : find_slot(names, text, length);
    if (names->num_slots == 0 || names->slots[slot] == 0)
        return false;
    *name = names->slots[slot] - 1;
    return true;
}

int names_intern(struct names *names, const char *text, size_t length, uint32_t *name)
{
    if (names->count >= names->num_slots / 2) {
        int rv = names->count >= NAMES_MAX ? TR_ETOOBIG : rehash(names);
        if (rv != 0)
            return rv;
    }
    uint32_t slot = find_slot(names, text, length);
    if (names->slots[slot] == 0) {
        size_t room = names->room, start = names->text_size;
        void *starts = names->starts;
        int rv = grow(&starts, sizeof *names->starts, names->count, &room);
        names->starts = starts;
        names->room = (uint32_t)room;
        if (rv == 0)
            rv = append_text(names, text, length);
        if (rv != 0)
            return rv;
        names->starts[names->count++] = start;
        names->slots[slot] = names->count;
    }
    *name = names->slots[slot] - 1;
    return 0;
}

static int compare_names(const void *a, const void *b, void *names_arg)
{
    const struct names *names = names_arg;
    return strcmp(names_text(names, *(const uint32_t *)a), names_text(names, *(const uint32_t *)b));
}

uint32_t *names_sorted(const struct names *names)
{
    uint32_t count = names->count;
    uint32_t *order = malloc((2 * (size_t)count + 1) * sizeof *order);
    if (order == NULL)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, compare_names, (void *)(uintptr_t)names);
    for (uint32_t i = 0; i < count; i++)
        order[count + order[i]] = i;
    return order;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/slots.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

#define SLOTS_FIRST 16u /* thousands of small nodes live in one simulator */

void slots_fini(struct slots *slots)
{
    free(slots->actors);
    free(slots->grown);
    free(slots->generations);
    free(slots->free);
    *slots = (struct slots){ 0 };
}

static void take_over(struct slots *slots)
{
    if (slots->grown == NULL)
        return;
    if (slots->actors_capacity > 0)
        memcpy(slots->grown, slots->actors, slots->actors_capacity * sizeof *slots->actors);
    free(slots->actors);
    slots->actors = slots->grown;
    slots->actors_capacity = slots->capacity;
    slots->grown = NULL;
}

static int grow(struct slots *slots)
{
    if (slots->capacity == ADDRESS_SLOTS_MAX)
        return TR_EFULL;
    uint32_t capacity = slots->capacity == 0 ? SLOTS_FIRST : slots->capacity * 2;
    struct actor **grown = calloc(capacity, sizeof(struct actor *));
    uint32_t *generations = calloc(capacity, sizeof *generations);
    uint32_t *unused = calloc(capacity, sizeof *unused);
    if (grown == NULL || generations == NULL || unused == NULL) {
        free(grown);
        free(generations);
        free(unused);
        return TR_ENOMEM;
    }
    /* From here on nothing fails. Low slots are handed out first, so they are pushed last. */
    if (slots->capacity > 0)
        memcpy(generations, slots->generations, slots->capacity * sizeof *generations);
    for (uint32_t i = capacity; i > slots->capacity; i--)
        unused[slots->free_count++] = i - 1;
    free(slots->generations);
    free(slots->free);
    free(slots->grown); /* one that the loop did not take over yet holds nothing */
    slots->generations = generations;
    slots->free = unused;
    slots->grown = grown;
    slots->capacity = capacity;
    return 0;
}

int slots_claim(struct slots *slots, uint32_t *index, uint32_t *generation)
{
    if (slots->free_count == 0) {
        int rc = grow(slots);
        if (rc < 0)
            return rc;
    }
    *index = slots->free[--slots->free_count];
    *generation = ++slots->generations[*index];
    return 0;
}

void slots_put(struct slots *slots, uint32_t index, struct actor *actor)
{
    /* This comes first: the index may lie beyond the array that the loop has so far. */
    take_over(slots);
    slots->actors[index] = actor;
}

void slots_free(struct slots *slots, uint32_t index)
{
    if (slots->generations[index] != UINT32_MAX)
        slots->free[slots->free_count++] = index;
}

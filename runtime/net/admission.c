/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/admission.h"

#include <stdbool.h>
#include <stddef.h>

/* Those that proved their identity count for no source: they are gone in a moment. There are
 * LINKS_HALF_OPEN_MAX places at most, so that counting them anew each time costs less than the
 * connection that asks. */
static uint32_t places_of(const struct admission_place *places, uint64_t source)
{
    uint32_t count = 0;
    for (; places != NULL; places = places->next)
        count += places->source == source && places->stage != ADMISSION_PROVED;
    return count;
}

/* The places divided by the sources that hold any, each of which is counted at its oldest one. */
static uint32_t share_of(const struct admission_place *places)
{
    uint32_t total = 0, sources = 0;
    for (; places != NULL; places = places->next) {
        if (places->stage == ADMISSION_PROVED)
            continue;
        total++;
        sources += places_of(places->next, places->source) == 0;
    }
    return sources > 0 ? total / sources : 0;
}

static uint64_t free_ns(const struct admission_place *place)
{
    if (place->stage == ADMISSION_PROVED)
        return UINT64_MAX;
    return place->stage == ADMISSION_OVER ? 0 : place->since_ns + LINKS_PLACE_NS;
}

uint64_t admission_next_ns(const struct admission_place *places)
{
    uint64_t next_ns = UINT64_MAX;
    for (; places != NULL; places = places->next)
        next_ns = free_ns(places) < next_ns ? free_ns(places) : next_ns;
    return next_ns;
}

static struct admission_place *longest_silent(struct admission_place *places, uint64_t now_ns)
{
    struct admission_place *oldest = NULL;
    for (; places != NULL; places = places->next)
        if (places->stage <= ADMISSION_SILENT && now_ns - places->since_ns >= LINKS_SILENT_NS)
            oldest = places;
    return oldest;
}

/* The least advanced place of that source among those that are free by then. Later in the list
 * is older, so that of equals the last one is taken. */
static struct admission_place *least_advanced(struct admission_place *places, uint64_t source,
                                              uint64_t by_ns)
{
    struct admission_place *least = NULL;
    for (; places != NULL; places = places->next)
        if (places->source == source && free_ns(places) <= by_ns &&
            (least == NULL || places->stage <= least->stage))
            least = places;
    return least;
}

/* The same of the source that holds most. Where several hold as many, the least advanced of all
 * gives way. */
static struct admission_place *of_busiest(struct admission_place *places, uint32_t share,
                                          uint64_t now_ns)
{
    struct admission_place *chosen = NULL;
    uint32_t most = 0;
    for (const struct admission_place *at = places; at != NULL; at = at->next) {
        uint32_t count = places_of(places, at->source);
        /* Below UINT64_MAX: those that proved their identity stay. */
        uint64_t by_ns = count > share ? UINT64_MAX - 1 : now_ns;
        struct admission_place *least = least_advanced(places, at->source, by_ns);
        if (least == NULL || count < share || count < most)
            continue;
        if (count > most || least->stage < chosen->stage ||
            (least->stage == chosen->stage && least->since_ns <= chosen->since_ns))
            chosen = least;
        most = count;
    }
    return chosen;
}

struct admission_place *admission_choose(struct admission_place *places, uint64_t source,
                                         uint64_t now_ns)
{
    /* The three rules of admission.h, in their order. */
    struct admission_place *silent = longest_silent(places, now_ns);
    uint32_t share = share_of(places);
    if (silent != NULL || share == 0)
        return silent;
    return places_of(places, source) >= share ? least_advanced(places, source, now_ns)
                                              : of_busiest(places, share, now_ns);
}

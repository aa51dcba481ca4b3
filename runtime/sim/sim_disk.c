/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/sim/sim_disk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/env.h"

#define SWEEP_FIRST 64u /* things before the first sweep */

static void *disk_grown(void *memory, size_t *capacity, size_t count, size_t bytes)
{
    if (count <= *capacity)
        return memory;
    *capacity = count > *capacity * 2 ? count : *capacity * 2;
    memory = realloc(memory, *capacity * bytes);
    assert(memory != NULL);
    return memory;
}

static char *copy_name(const char *name)
{
    char *copy = strdup(name);
    assert(copy != NULL);
    return copy;
}

uint64_t sim_disk_draw(struct sim_disk *disk, uint64_t n)
{
    return disk->env->ops->random(disk->env) % n;
}

static struct entry *find_entry(const struct entries *entries, const char *name)
{
    for (size_t i = 0; i < entries->count; i++)
        if (strcmp(entries->items[i].name, name) == 0)
            return &entries->items[i];
    return NULL;
}

static void put_entry(struct entries *entries, const char *name, struct thing *thing)
{
    struct entry *entry = find_entry(entries, name);
    if (entry != NULL) {
        entry->thing = thing;
        return;
    }
    entries->items = disk_grown(entries->items, &entries->capacity, entries->count + 1,
                                sizeof *entry);
    entries->items[entries->count++] = (struct entry){ copy_name(name), thing };
}

static void remove_entry(struct entries *entries, const char *name)
{
    struct entry *entry = find_entry(entries, name);
    if (entry == NULL)
        return;
    free(entry->name);
    *entry = entries->items[--entries->count];
}

static void clear_entries(struct entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        free(entries->items[i].name);
    entries->count = 0;
}

static void copy_entries(struct entries *to, const struct entries *from)
{
    clear_entries(to);
    for (size_t i = 0; i < from->count; i++)
        put_entry(to, from->items[i].name, from->items[i].thing);
}

/* One whose forerunners were lost may find nothing to change. */
static void disk_apply(struct entries *entries, const struct change *change)
{
    if (change->thing != NULL) {
        put_entry(entries, change->name, change->thing);
    } else if (change->moved_to == NULL) {
        remove_entry(entries, change->name);
    } else {
        struct entry *entry = find_entry(entries, change->name);
        struct entry *other = change->exchanged ? find_entry(entries, change->moved_to) : NULL;
        struct thing *thing = entry != NULL ? entry->thing : NULL;
        struct thing *back = other != NULL ? other->thing : NULL;
        /* Both names go before either is put again: an exchange that finds but one moves that. */
        remove_entry(entries, change->name);
        if (change->exchanged)
            remove_entry(entries, change->moved_to);
        if (thing != NULL)
            put_entry(entries, change->moved_to, thing);
        if (back != NULL)
            put_entry(entries, change->name, back);
    }
}

static void clear_changes(struct thing *folder)
{
    for (size_t i = 0; i < folder->num_changes; i++) {
        free(folder->changes[i].name);
        free(folder->changes[i].moved_to);
    }
    folder->num_changes = 0;
}

static void disk_change(struct thing *folder, struct change change)
{
    folder->changes = disk_grown(folder->changes, &folder->changes_capacity,
                                 folder->num_changes + 1, sizeof change);
    folder->changes[folder->num_changes++] = change;
    disk_apply(&folder->now, &change);
}

void sim_disk_put(struct thing *folder, const char *name, struct thing *thing, const void *by)
{
    disk_change(folder, (struct change){ .name = copy_name(name), .thing = thing, .by = by });
}

void sim_disk_remove(struct thing *folder, const char *name, const void *by)
{
    disk_change(folder, (struct change){ .name = copy_name(name), .by = by });
}

void sim_disk_move(struct thing *folder, const char *from, const char *to, const void *by)
{
    disk_change(folder,
                (struct change){ .name = copy_name(from), .moved_to = copy_name(to), .by = by });
}

void sim_disk_exchange(struct thing *folder, const char *one, const char *other, const void *by)
{
    disk_change(folder, (struct change){ .name = copy_name(one),
                                         .moved_to = copy_name(other),
                                         .exchanged = true,
                                         .by = by });
}

struct thing *sim_disk_find(const struct thing *folder, const char *name)
{
    struct entry *entry = find_entry(&folder->now, name);
    return entry != NULL ? entry->thing : NULL;
}

static void disk_destroy(struct thing *thing)
{
    clear_entries(&thing->now);
    clear_entries(&thing->kept);
    clear_changes(thing);
    free(thing->now.items);
    free(thing->kept.items);
    free(thing->changes);
    free(thing->seen.data);
    free(thing->synced.data);
    free(thing);
}

/* No folder of a simulated disk is deeper than paths are, so this recursion ends. */
static void disk_reach(struct thing *thing)
{
    if (thing->reached)
        return;
    thing->reached = true;
    for (size_t i = 0; i < thing->now.count; i++)
        disk_reach(thing->now.items[i].thing);
    for (size_t i = 0; i < thing->kept.count; i++)
        disk_reach(thing->kept.items[i].thing);
    for (size_t i = 0; i < thing->num_changes; i++)
        if (thing->changes[i].thing != NULL)
            disk_reach(thing->changes[i].thing);
}

static void disk_sweep(struct sim_disk *disk)
{
    /* All marks are cleared before the first is set, and all are set before anything is freed. */
    for (struct thing *at = disk->things; at != NULL; at = at->next)
        at->reached = false;
    for (struct thing *at = disk->things; at != NULL; at = at->next)
        if (at->open > 0 || at == disk->root)
            disk_reach(at);
    for (struct thing **at = &disk->things; *at != NULL;) {
        struct thing *thing = *at;
        if (thing->reached) {
            at = &thing->next;
            continue;
        }
        *at = thing->next;
        disk->num_things--;
        disk_destroy(thing);
    }
    disk->swept = disk->num_things;
}

struct thing *sim_disk_make(struct sim_disk *disk, bool is_folder)
{
    /* The sweep comes before the new thing, which nothing names yet: it would be freed. */
    if (disk->num_things > 2 * disk->swept + SWEEP_FIRST)
        disk_sweep(disk);
    struct thing *thing = calloc(1, sizeof *thing);
    assert(thing != NULL);
    thing->is_folder = is_folder;
    thing->next = disk->things;
    disk->things = thing;
    disk->num_things++;
    return thing;
}

void sim_disk_init(struct sim_disk *disk, struct env *env)
{
    *disk = (struct sim_disk){ .env = env, .short_ppm = 100000 };
    disk->root = sim_disk_make(disk, true);
}

void sim_disk_fini(struct sim_disk *disk)
{
    while (disk->things != NULL) {
        struct thing *thing = disk->things;
        disk->things = thing->next;
        disk_destroy(thing);
    }
}

/* Bytes of the files that can be seen; what only a crash would bring back costs nothing. */
static uint64_t disk_used(const struct thing *thing)
{
    uint64_t bytes = thing->seen.size;
    for (size_t i = 0; i < thing->now.count; i++)
        bytes += disk_used(thing->now.items[i].thing);
    return bytes;
}

size_t sim_disk_fits(struct sim_disk *disk, const struct thing *file, uint64_t offset, size_t size)
{
    if (disk->bytes_max == 0 || offset + size <= file->seen.size)
        return size;
    uint64_t taken = disk_used(disk->root);
    uint64_t room = taken < disk->bytes_max ? disk->bytes_max - taken : 0;
    uint64_t end = file->seen.size + room;
    uint64_t most = end > offset ? end - offset : 0;
    return most < size ? (size_t)most : size;
}

static void disk_resize(struct bytes *bytes, size_t size)
{
    bytes->data = disk_grown(bytes->data, &bytes->capacity, size, 1);
    if (size > bytes->size)
        memset(bytes->data + bytes->size, 0, size - bytes->size);
    bytes->size = size;
}

static void copy_bytes(struct bytes *to, const struct bytes *from)
{
    disk_resize(to, from->size);
    if (from->size > 0)
        memcpy(to->data, from->data, from->size);
}

void sim_disk_write(struct thing *file, uint64_t offset, const void *data, size_t size,
                    const void *by)
{
    if (size == 0)
        return;
    if (offset + size > file->seen.size)
        disk_resize(&file->seen, (size_t)offset + size);
    memcpy(file->seen.data + offset, data, size);
    file->dirty = true;
    file->writer = by;
}

bool sim_disk_sync(struct sim_disk *disk, struct thing *thing)
{
    /* The failure comes first: a sync that fails keeps nothing, and the file is poisoned from then
     * on. */
    if (disk->sync_fail_ppm != 0 && sim_disk_draw(disk, 1000000) < disk->sync_fail_ppm) {
        thing->poisoned = !thing->is_folder;
        return false;
    }
    if (thing->is_folder) {
        copy_entries(&thing->kept, &thing->now);
        clear_changes(thing);
    } else if (thing->dirty && !thing->poisoned) {
        copy_bytes(&thing->synced, &thing->seen);
        thing->dirty = false;
    }
    return true;
}

/* Each block is as synced or as written; the file ends somewhere between the two ends. */
static void lose_bytes(struct sim_disk *disk, struct thing *file)
{
    struct bytes *seen = &file->seen, *synced = &file->synced;
    size_t shorter = seen->size < synced->size ? seen->size : synced->size;
    size_t longer = seen->size < synced->size ? synced->size : seen->size;
    uint64_t kept = sim_disk_draw(disk, 3); /* of the new blocks: none, about half, all */
    size_t size = kept == 0 ? synced->size : seen->size;
    if (kept == 1)
        size = shorter + (size_t)sim_disk_draw(disk, longer - shorter + 1);
    /* The size comes before the blocks: beyond the old size the file has zeroes where no block was
     * kept. */
    disk_resize(synced, size);
    for (size_t at = 0; at < size && at < seen->size; at += SIM_DISK_BLOCK) {
        size_t end = at + SIM_DISK_BLOCK < size ? at + SIM_DISK_BLOCK : size;
        end = end < seen->size ? end : seen->size;
        if (kept == 2 || (kept == 1 && sim_disk_draw(disk, 2) == 0))
            memcpy(synced->data + at, seen->data + at, end - at);
    }
    copy_bytes(seen, synced);
    file->dirty = file->poisoned = false;
}

/* The first changes of this mount stay; all changes of earlier mounts do. */
static void lose_changes(struct sim_disk *disk, struct thing *folder, const void *by)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < folder->num_changes; i++)
        count += folder->changes[i].by == by;
    /* This comes before the draw: a folder with nothing to lose draws nothing. */
    if (count == 0)
        return;
    uint64_t keep = sim_disk_draw(disk, count + 1);
    /* The names begin as they were synced; the changes that stay are made again, in their order. */
    copy_entries(&folder->now, &folder->kept);
    for (size_t i = 0, ours = 0; i < folder->num_changes; i++) {
        struct change *at = &folder->changes[i];
        if (at->by == by && ours++ >= keep) {
            free(at->name);
            free(at->moved_to);
            continue;
        }
        disk_apply(&folder->now, at);
        if (at->by == by)
            at->by = NULL; /* it is as good as synced: no mount can lose it any more */
        folder->changes[kept++] = *at;
    }
    folder->num_changes = kept;
}

void sim_disk_lose(struct sim_disk *disk, const void *by)
{
    for (struct thing *at = disk->things; at != NULL; at = at->next) {
        if (!at->is_folder && at->dirty && at->writer == by)
            lose_bytes(disk, at);
        if (at->is_folder)
            lose_changes(disk, at, by);
    }
    /* The sweep comes after all folders: a thing that one of them lost may be named by another. */
    disk_sweep(disk);
}

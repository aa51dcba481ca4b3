/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of a simulated disk, and which part of it would survive a crash.
 *
 * A file has its bytes as processes see them and as they were synced. A folder has its entries as
 * they were synced and the changes since, in order. Things are freed when nothing names them and
 * no mount has them open (disk_sweep).
 *
 * Its own memory is not simulated: without it there is no run, so it is asserted.
 * Thread rules: one thread.
 */
#ifndef RUNTIME_SIM_SIM_DISK_H
#define RUNTIME_SIM_SIM_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_DISK_BLOCK 512u /* what a disk writes whole */

struct env;
struct thing;

struct entry {
    char *name;
    struct thing *thing;
};

struct entries {
    struct entry *items;
    size_t count, capacity;
};

/* A name in a folder: put there, removed, changed to another one, or exchanged with it. */
struct change {
    char *name, *moved_to; /* moved_to NULL: no move */
    bool exchanged;        /* what stood at moved_to stands at the name from then on */
    struct thing *thing;   /* put under the name; NULL: removed or moved */
    const void *by;        /* the mount that did it */
};

struct bytes {
    unsigned char *data;
    size_t size, capacity;
};

/* A file or a folder. */
struct thing {
    struct thing *next;
    bool is_folder, reached, poisoned; /* poisoned: a sync failed */
    uint32_t open;
    struct bytes seen, synced; /* of a file */
    bool dirty;
    const void *writer;       /* the mount that wrote last since the sync */
    struct entries now, kept; /* of a folder */
    struct change *changes;
    size_t num_changes, changes_capacity;
};

struct sim_disk {
    struct env *env;
    struct thing *things;
    size_t num_things, swept; /* swept: how many there were after the last sweep */
    struct thing *root;
    uint64_t bytes_max;
    bool read_only;
    uint32_t sync_fail_ppm, short_ppm;
};

void sim_disk_init(struct sim_disk *disk, struct env *env);
void sim_disk_fini(struct sim_disk *disk);
uint64_t sim_disk_draw(struct sim_disk *disk, uint64_t n);

struct thing *sim_disk_make(struct sim_disk *disk, bool is_folder);
struct thing *sim_disk_find(const struct thing *folder, const char *name);

/* Changes a folder by this mount. */
void sim_disk_put(struct thing *folder, const char *name, struct thing *thing, const void *by);
void sim_disk_remove(struct thing *folder, const char *name, const void *by);
void sim_disk_move(struct thing *folder, const char *from, const char *to, const void *by);
void sim_disk_exchange(struct thing *folder, const char *one, const char *other, const void *by);

/* How far a file can be written from offset on, up to size bytes: less when the disk is full. */
size_t sim_disk_fits(struct sim_disk *disk, const struct thing *file, uint64_t offset, size_t size);
void sim_disk_write(struct thing *file, uint64_t offset, const void *data, size_t size,
                    const void *by);

/* False: the sync failed. */
bool sim_disk_sync(struct sim_disk *disk, struct thing *thing);

/* This mount loses what it did and did not sync, as drawn. */
void sim_disk_lose(struct sim_disk *disk, const void *by);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of the simulator: a disk in memory that forgets what was not synced.
 *
 * Each process mounts the disk and gets a struct files of its own; a kill of the process loses, as
 * drawn, what it wrote and did not sync: blocks of files are old, new or torn, and of the names it
 * made, moved and removed in a folder only the first ones are kept. Writes are short and calls
 * interrupted now and then; the disk may fill up and syncs may fail. After a sync that failed the
 * file's unsynced bytes are never written, though later syncs say that they were, as Linux does it.
 *
 * Paths begin at the disk's root, with or without a slash; there are no links and no "..".
 *
 *     files_sim_create(env, &disk); files = files_sim_mount(disk); ...
 *     files_sim_kill(files); env_sim_kill(env, node); ... files = files_sim_mount(disk);
 *
 * Ownership: the disk owns the mounts. Thread rules: one thread.
 */
#ifndef RUNTIME_SIM_FILES_SIM_H
#define RUNTIME_SIM_FILES_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/files.h"
#include "runtime/core/env.h"

struct files_sim;

/* Draws come from the env, which outlives the disk. */
int files_sim_create(struct env *env, struct files_sim **disk);
void files_sim_destroy(struct files_sim *disk);

/* A process's view of the disk; NULL: no memory. */
struct files *files_sim_mount(struct files_sim *disk);

/* The process that mounted it dies: from here on everything it tries fails with EIO. */
void files_sim_kill(struct files *mount);

/* The bytes that all files together may hold; 0: no bound, as at the beginning. */
void files_sim_set_bytes_max(struct files_sim *disk, uint64_t bytes_max);

/* Nothing can be changed, as on a file system that met an error: what was written before still gets
 * to the disk. */
void files_sim_set_read_only(struct files_sim *disk, bool read_only);

/* Chance, per million, that a sync fails. */
void files_sim_set_sync_fail(struct files_sim *disk, uint32_t ppm);

/* Chance, per million, that a read or write is cut short or interrupted; 100000 at first. */
void files_sim_set_short(struct files_sim *disk, uint32_t ppm);

#endif

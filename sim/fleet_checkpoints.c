/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fleet_checkpoints.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "actors/job/checkpoint.h"
#include "actors/job/checkpoint_paths.h"

/* On how many of the two hosts that have it the part of a rank is whole. */
static uint32_t count_whole(struct fleet *fleet, const struct checkpoint_manifest *manifest,
                            uint32_t rank)
{
    const struct plan *plan = &fleet->plan.plan;
    uint32_t own = plan_trainer_node(plan, rank), whole = 0;
    const uint32_t nodes[] = { own, plan_second_node(plan, plan->processes[own].host) };
    for (uint32_t i = 0; i < 2; i++)
        if (nodes[i] != PLAN_NO_NODE)
            whole += checkpoint_read_saved(fleet_disk_of(fleet, nodes[i])->looks, FLEET_CHECKPOINTS,
                                           manifest->step, manifest->era, rank,
                                           &manifest->parts[rank], NULL, NULL) == 0;
    return whole;
}

static bool is_whole(struct fleet *fleet, const struct checkpoint_manifest *manifest)
{
    bool whole = manifest->world == fleet->plan.plan.trainers;
    for (uint32_t rank = 0; rank < manifest->world && whole; rank++)
        whole = count_whole(fleet, manifest, rank) > 0;
    return whole;
}

static bool is_newer(const struct checkpoint_manifest *a, const struct checkpoint_manifest *b)
{
    return a->step > b->step || (a->step == b->step && a->era > b->era);
}

/* Whether its manifest is on the host of the coordinator and on the next one: it does not count
 * before that. */
static bool checkpoint_counts(struct fleet *fleet, const struct checkpoint_manifest *manifest)
{
    const struct plan *plan = &fleet->plan.plan;
    uint32_t own = plan->coordinator, there = 0;
    const uint32_t nodes[] = { own, plan_second_node(plan, plan->processes[own].host) };
    for (uint32_t i = 0; i < 2; i++) {
        struct checkpoint_manifest here = { 0 };
        if (nodes[i] != PLAN_NO_NODE &&
            checkpoint_find(fleet_disk_of(fleet, nodes[i])->looks, FLEET_CHECKPOINTS,
                            manifest->step, &here, NULL) == 0)
            there += here.era == manifest->era;
        checkpoint_manifest_fini(&here);
    }
    return there == 2;
}

/* What a restore would find on all disks together. */
struct found {
    bool counting;                    /* only those that count */
    struct checkpoint_manifest whole; /* the newest one, for checkpoint_manifest_fini; world 0 */
    /* The newest one that is not, without its parts. A disk that failed may keep one that was to be
     * taken back. */
    struct checkpoint_manifest torn;
};

static void find_on(struct fleet *fleet, const struct fleet_disk *disk, struct found *found)
{
    struct files *files = disk->looks;
    uint64_t *steps = NULL;
    size_t count = 0;
    if (checkpoint_list(files, FLEET_CHECKPOINTS, &steps, &count, NULL) != 0)
        fleet_fail(fleet, "%s cannot be listed", FLEET_CHECKPOINTS);
    for (size_t i = 0; i < count; i++) {
        struct checkpoint_manifest manifest;
        struct error error = { 0 };
        int rv = checkpoint_find(files, FLEET_CHECKPOINTS, steps[i], &manifest, &error);
        /* One that is being removed has none. */
        if (rv != 0 && rv != TR_ENOENT)
            fleet_fail(fleet, "a checkpoint is damaged: %s", error.text);
        if (rv != 0)
            continue;
        if (!is_newer(&manifest, &found->whole) ||
            (found->counting && !checkpoint_counts(fleet, &manifest))) {
            checkpoint_manifest_fini(&manifest);
        } else if (is_whole(fleet, &manifest)) {
            checkpoint_manifest_fini(&found->whole);
            found->whole = manifest;
        } else {
            if (!disk->failed && is_newer(&manifest, &found->torn))
                found->torn = manifest;
            found->torn.parts = NULL;
            checkpoint_manifest_fini(&manifest);
        }
    }
    free(steps);
}

/* Reads are whole meanwhile: they are the oracles' own. */
static void find_newest(struct fleet *fleet, bool counting, struct found *found)
{
    *found = (struct found){ .counting = counting };
    for (uint32_t i = 0; i < fleet->disks.count; i++)
        files_sim_set_short(fleet->disks.items[i].files, 0);
    for (uint32_t i = 0; i < fleet->disks.count; i++)
        find_on(fleet, &fleet->disks.items[i], found);
    for (uint32_t i = 0; i < fleet->disks.count; i++)
        files_sim_set_short(fleet->disks.items[i].files, fleet->plan.short_ppm);
}

void fleet_checkpoints_restored(struct fleet *fleet, uint64_t step)
{
    struct found found;
    if (!fleet->plan.own_disks)
        return;
    find_newest(fleet, true, &found);
    if (found.whole.world != 0 && found.whole.step > step)
        fleet_fail(fleet,
                   "an era began at step %" PRIu64 ", and the checkpoint of step %" PRIu64
                   ", era %" PRIu32 " is whole",
                   step, found.whole.step, found.whole.era);
    checkpoint_manifest_fini(&found.whole);
}

struct folder_visit {
    struct fleet *fleet;
    uint32_t disk;
    struct files *files;
    uint64_t newest_step; /* of the newest manifest there; 0: none */
    uint32_t newest_era;
    uint32_t checkpoints; /* that have a part there */
};

static void find_newest_here(struct folder_visit *looking)
{
    struct checkpoint_manifest newest;
    if (checkpoint_newest(looking->files, FLEET_CHECKPOINTS, UINT64_MAX, &newest, NULL, NULL) != 0)
        return;
    looking->newest_step = newest.step;
    looking->newest_era = newest.era;
    checkpoint_manifest_fini(&newest);
}

/* With a manifest goes all that was being made before it. What failed since was dropped at once, if
 * nothing but disks was at fault; of the last save that may be under way at the end, and so may the
 * notice of one that was made, to a host that is neither the coordinator's nor the next. */
static bool may_be_aside(const struct folder_visit *looking, uint64_t step, uint32_t era)
{
    const struct fleet *fleet = looking->fleet;
    if (era < looking->newest_era || (era == looking->newest_era && step < looking->newest_step))
        return false;
    return !fleet_plan_is_of_disks(&fleet->plan) || step == fleet->offered ||
           (step <= fleet->plan.steps && fleet->made[step]);
}

/* A manifest alone takes no room: a notice that came late makes one again that was removed. */
static bool has_part(const struct folder_visit *looking, const char *name)
{
    bool has = false;
    for (uint32_t rank = 0; rank < looking->fleet->plan.plan.trainers; rank++) {
        char path[256];
        snprintf(path, sizeof path, FLEET_CHECKPOINTS "/%s/part%" PRIu32, name, rank);
        has = has || files_exists(looking->files, path);
    }
    return has;
}

static int look_at_name(void *arg, const char *name)
{
    struct folder_visit *looking = arg;
    struct checkpoint_manifest manifest;
    struct error error = { 0 };
    uint64_t step;
    uint32_t era;
    if (checkpoint_name_aside(name, &step, &era)) {
        if (!may_be_aside(looking, step, era))
            fleet_fail(looking->fleet, "disk %" PRIu32 ": %s/%s was left", looking->disk,
                       FLEET_CHECKPOINTS, name);
        return 0;
    }
    if (!checkpoint_name_step(name, &step)) {
        fleet_fail(looking->fleet, "disk %" PRIu32 ": %s/%s is no name of a checkpoint",
                   looking->disk, FLEET_CHECKPOINTS, name);
        return 0;
    }
    looking->checkpoints += has_part(looking, name);
    if (checkpoint_find(looking->files, FLEET_CHECKPOINTS, step, &manifest, &error) != 0)
        fleet_fail(looking->fleet, "disk %" PRIu32 ": %s", looking->disk, error.text);
    checkpoint_manifest_fini(&manifest);
    return 0;
}

/* A disk that never failed, and none of whose processes died, has what was promised. */
static void check_undisturbed(struct fleet *fleet, uint32_t number)
{
    struct folder_visit looking = { .fleet = fleet,
                                    .disk = number,
                                    .files = fleet->disks.items[number].looks };
    uint32_t keep = fleet->plan.keep != 0 ? fleet->plan.keep : CHECKPOINT_KEEP_DEFAULT;
    if (!files_exists(looking.files, FLEET_CHECKPOINTS))
        return;
    find_newest_here(&looking);
    (void)looking.files->list(looking.files, FLEET_CHECKPOINTS, look_at_name, &looking);
    if (looking.checkpoints > keep)
        fleet_fail(fleet, "disk %" PRIu32 " has %" PRIu32 " checkpoints, and is to keep %" PRIu32,
                   number, looking.checkpoints, keep);
}

static void check_committed(struct fleet *fleet, const struct found *found)
{
    const struct checkpoint_manifest *whole = &found->whole;
    const struct fleet_disks *disks = &fleet->disks;
    if (fleet->committed != 0 && (whole->world == 0 || whole->step < fleet->committed))
        fleet_fail(fleet,
                   "the newest whole checkpoint is of step %" PRIu64 ", but %" PRIu64
                   " was committed",
                   whole->step, fleet->committed);
    if (is_newer(&found->torn, whole))
        fleet_fail(fleet, "the checkpoint of step %" PRIu64 ", era %" PRIu32 " lacks a part",
                   found->torn.step, found->torn.era);
    /* One that nobody was notified of may be on its way to the second host. */
    if (whole->world == 0 || whole->step != fleet->committed ||
        (disks->replaced != 0 && disks->replaced_after >= whole->step))
        return;
    for (uint32_t rank = 0; rank < whole->world; rank++)
        if (count_whole(fleet, whole, rank) != 2)
            fleet_fail(fleet,
                       "the part of trainer %" PRIu32 " of the checkpoint of step %" PRIu64
                       " is on one host alone",
                       rank, whole->step);
}

/* The next job on hosts that share a folder would find what was committed, and nothing torn. */
static void check_shared(struct fleet *fleet)
{
    struct checkpoint_manifest manifest;
    struct error damaged, error = { 0 };
    struct fleet_disk *disk = &fleet->disks.items[0];
    files_sim_set_short(disk->files, 0);
    int rv = checkpoint_choose(disk->looks, FLEET_CHECKPOINTS, fleet->plan.plan.trainers, &manifest,
                               &damaged, &error);
    if (rv != 0 && (rv != TR_ENOENT || fleet->committed != 0))
        fleet_fail(fleet, "the newest checkpoint: %s", error.text);
    if (rv == 0 && manifest.step < fleet->committed)
        fleet_fail(fleet,
                   "the newest checkpoint is of step %" PRIu64 ", but %" PRIu64 " was committed",
                   manifest.step, fleet->committed);
    if (damaged.code != 0)
        fleet_fail(fleet, "a checkpoint is damaged: %s", damaged.text);
    checkpoint_manifest_fini(&manifest);
}

void fleet_checkpoints_ended(struct fleet *fleet)
{
    struct found found;
    if (!fleet->plan.own_disks) {
        check_shared(fleet);
        return;
    }
    find_newest(fleet, false, &found);
    check_committed(fleet, &found);
    checkpoint_manifest_fini(&found.whole);
    /* A job that was stopped may have been at work on a checkpoint. */
    for (uint32_t i = 0; i < fleet->disks.count && fleet->complete; i++)
        if (!fleet->disks.items[i].disturbed)
            check_undisturbed(fleet, i);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fleet_disks.h"

#include <assert.h>

#include "sim/fleet.h"

#define SYNC_FAIL_PPM 500000u
#define FULL_BYTES_MAX (UINT64_C(1) << 20)

static void open_disk(struct fleet *fleet, struct fleet_disk *disk)
{
    int rv = files_sim_create(fleet->env, &disk->files);
    disk->looks = rv == 0 ? files_sim_mount(disk->files) : NULL;
    assert(disk->looks != NULL);
    files_sim_set_short(disk->files, fleet->plan.short_ppm);
}

void fleet_disks_init(struct fleet *fleet)
{
    fleet->disks.count = fleet->plan.own_disks ? fleet->plan.plan.num_hosts : 1;
    for (uint32_t i = 0; i < fleet->disks.count; i++)
        open_disk(fleet, &fleet->disks.items[i]);
}

void fleet_disks_fini(struct fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->disks.count; i++)
        files_sim_destroy(fleet->disks.items[i].files);
}

struct fleet_disk *fleet_disk_of(struct fleet *fleet, uint32_t process)
{
    return &fleet->disks.items[fleet->plan.own_disks ? fleet->plan.processes[process].host : 0];
}

/* True: the fault is of all disks. Where there is one alone nothing is drawn. */
static bool strikes_all(const struct fleet *fleet, struct draws *draws)
{
    return fleet->disks.count > 1 && draws_chance(draws, 30);
}

void fleet_disks_fill(struct fleet *fleet, uint32_t process, struct draws *draws, uint64_t until_ns)
{
    bool read_only = draws_chance(draws, 40);
    uint64_t bytes_max = read_only ? 0 : draws_scale(draws, 1, FULL_BYTES_MAX);
    bool all = strikes_all(fleet, draws);
    for (uint32_t i = 0; i < fleet->disks.count; i++) {
        struct fleet_disk *disk = &fleet->disks.items[i];
        if (!all && disk != fleet_disk_of(fleet, process))
            continue;
        if (read_only)
            files_sim_set_read_only(disk->files, true);
        else
            files_sim_set_bytes_max(disk->files, bytes_max);
        disk->full_until_ns = until_ns;
        disk->failed = disk->disturbed = true;
    }
}

void fleet_disks_fail_syncs(struct fleet *fleet, uint32_t process, struct draws *draws,
                            uint64_t until_ns)
{
    bool all = strikes_all(fleet, draws);
    for (uint32_t i = 0; i < fleet->disks.count; i++) {
        struct fleet_disk *disk = &fleet->disks.items[i];
        if (!all && disk != fleet_disk_of(fleet, process))
            continue;
        files_sim_set_sync_fail(disk->files, SYNC_FAIL_PPM);
        disk->sync_until_ns = until_ns;
        disk->failed = disk->disturbed = true;
    }
}

bool fleet_disks_may_be_replaced(const struct fleet *fleet)
{
    /* A host that was replaced has its copies again with the next checkpoint. The result of the job
     * is on one host alone. */
    return fleet->plan.own_disks && !fleet->complete &&
           (fleet->disks.replaced == 0 || fleet->committed > fleet->disks.replaced_after);
}

void fleet_disks_replace(struct fleet *fleet, uint32_t host)
{
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++)
        assert(fleet->plan.processes[p].host != host || fleet->processes[p].node == NULL);
    struct fleet_disk *disk = &fleet->disks.items[host];
    files_sim_destroy(disk->files);
    *disk = (struct fleet_disk){ .disturbed = true };
    open_disk(fleet, disk);
    fleet->disks.replaced++;
    /* What was being saved may have lost copies that were made already. */
    fleet->disks.replaced_after = fleet->offered > fleet->committed ? fleet->offered
                                                                    : fleet->committed;
}

static bool is_over(uint64_t *until_ns, uint64_t now_ns)
{
    bool over = *until_ns != 0 && *until_ns <= now_ns;
    if (over)
        *until_ns = 0;
    return over;
}

void fleet_disks_mend(struct fleet *fleet, uint64_t now_ns)
{
    for (uint32_t i = 0; i < fleet->disks.count; i++) {
        struct fleet_disk *disk = &fleet->disks.items[i];
        if (is_over(&disk->full_until_ns, now_ns)) {
            files_sim_set_bytes_max(disk->files, 0);
            files_sim_set_read_only(disk->files, false);
        }
        if (is_over(&disk->sync_until_ns, now_ns))
            files_sim_set_sync_fail(disk->files, 0);
    }
}

uint64_t fleet_disks_next_ns(const struct fleet *fleet)
{
    uint64_t next_ns = UINT64_MAX;
    for (uint32_t i = 0; i < fleet->disks.count; i++) {
        const struct fleet_disk *disk = &fleet->disks.items[i];
        const uint64_t ends[] = { disk->full_until_ns, disk->sync_until_ns };
        for (uint32_t k = 0; k < 2; k++)
            if (ends[k] != 0 && ends[k] < next_ns)
                next_ns = ends[k];
    }
    return next_ns;
}

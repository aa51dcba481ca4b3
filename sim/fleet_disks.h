/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disks of a simulated cluster: one of each host, or one folder that all hosts see.
 *
 * Each disk is full, read-only or does not sync for itself, and goes with its host when that is
 * replaced by an empty one. What is on a disk survives the processes that mounted it, but for what
 * they had not synced (runtime/sim/files_sim.h).
 *
 * Plain memory of the fleet's thread.
 */
#ifndef SIM_FLEET_DISKS_H
#define SIM_FLEET_DISKS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/sim/files_sim.h"
#include "sim/draws.h"
#include "sim/fleet_plan.h"

struct fleet;

struct fleet_disk {
    struct files_sim *files;
    struct files *looks;                   /* of the oracles */
    uint64_t full_until_ns, sync_until_ns; /* 0: not under way */
    bool failed;                           /* it was full or read-only, or did not sync */
    bool disturbed;                        /* or a process died that had it */
};

struct fleet_disks {
    struct fleet_disk items[FLEET_PROCESSES_MAX];
    uint32_t count;
    uint32_t replaced; /* hosts, with their disks */
    uint64_t
        replaced_after; /* the last one when this was the newest step of which parts were saved */
};

void fleet_disks_init(struct fleet *fleet);
void fleet_disks_fini(struct fleet *fleet);

/* The disk of a process's host. */
struct fleet_disk *fleet_disk_of(struct fleet *fleet, uint32_t process);

/* The disk of that process's host, and now and then all, is full or read-only, or syncs of it fail,
 * until then. */
void fleet_disks_fill(struct fleet *fleet, uint32_t process, struct draws *draws,
                      uint64_t until_ns);
void fleet_disks_fail_syncs(struct fleet *fleet, uint32_t process, struct draws *draws,
                            uint64_t until_ns);

/* Whether a job loses nothing with the disk of one host: what was committed is on two. */
bool fleet_disks_may_be_replaced(const struct fleet *fleet);

/* The host has died, and an empty one takes its place. None of its processes runs. */
void fleet_disks_replace(struct fleet *fleet, uint32_t host);

/* Ends what is over by then. */
void fleet_disks_mend(struct fleet *fleet, uint64_t now_ns);

/* When the next fault is over; UINT64_MAX: none is under way. */
uint64_t fleet_disks_next_ns(const struct fleet *fleet);

#endif

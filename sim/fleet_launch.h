/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launches of a simulated job: the launcher of today, how it ends, and the next one.
 *
 * The launcher decides (actors/cluster/launcher.h); here is what a person and the system do to it,
 * and whether its end is one that the plan allows:
 *
 *     the result is written          it succeeded, and the run is over
 *     a role's budget is spent       everything ends, the job failed
 *     it was asked to stop           everything ends, in order; asked again in a hurry: at once
 *     it is killed                   its processes end by themselves, each when it notices
 *
 * After each but the first the job may be launched again, on the same hosts: it goes on from the
 * newest checkpoint. A process of a launcher that was killed still holds its address while it ends,
 * so that the one that is to take its place waits for it, as api/graph_cluster.c has it.
 *
 * Plain memory of the fleet's thread.
 */
#ifndef SIM_FLEET_LAUNCH_H
#define SIM_FLEET_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/cluster/launcher.h"

struct fleet;
struct fleet_strike;

/* The restarts of a role that count, as the checker has them. */
struct fleet_restarts {
    uint32_t count;
    uint64_t times_ns[LAUNCHER_RESTARTS_MAX];
};

struct fleet_launch {
    struct launcher launcher; /* that of `troupe launch` */
    bool lives;               /* the launcher runs */
    uint64_t next_ns;         /* when the next one begins; UINT64_MAX: none is to */
    uint64_t ask_ns;          /* when this one is asked to stop again; UINT64_MAX: it is not */
    bool hurries;             /* then it is to be in a hurry */
    bool asked, hurried;      /* to stop */
    bool spent;               /* a role has no restart left */
    bool left;                /* a process said that its trainers left */
    bool over;                /* nothing will be launched any more */
    int result;               /* of the last launcher that ended by itself */
    uint32_t resumed;         /* launches after one that failed or was stopped */
    struct fleet_restarts restarts[LAUNCHER_ROLES];
};

/* The first launcher. */
void fleet_launch_init(struct fleet *fleet);
void fleet_launch_fini(struct fleet *fleet);

/* A process prints a line. */
void fleet_launch_line(struct fleet *fleet, uint32_t process, const char *line);

/* A process has ended by itself. */
void fleet_launch_end(struct fleet *fleet, uint32_t process, int code, int signal);

/* The launcher is asked to stop, once or twice; or is killed, and launched again. */
void fleet_launch_stop(struct fleet *fleet, const struct fleet_strike *strike);
void fleet_launch_kill(struct fleet *fleet, const struct fleet_strike *strike);

/* What carries a process's input and output dies: its launcher takes that for its end, and it for the
 * end of its launcher. */
void fleet_launch_lose(struct fleet *fleet, uint32_t process);

/* A user sends the process SIGTERM: where its trainers leave, the job is to stop; otherwise its end is
 * a failure. */
void fleet_launch_signal(struct fleet *fleet, uint32_t process);

/* Does what is due, when all ends of this instant are known but those of fleet_kill(). */
void fleet_launch_turn(struct fleet *fleet);

/* When to do so at the latest. */
uint64_t fleet_launch_wake_ns(const struct fleet *fleet);

#endif

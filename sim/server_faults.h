/*
 * Servers as a user has them on a bad day: full, short of memory or slow for a while.
 *
 * An actor that stands in for the server: it refuses requests, with a message or with a status
 * alone, or holds them back, and else is the server. Nothing here retries: a failure that the job
 * shows to its trainers is a failure of the job.
 *
 * Everything runs in one thread, so this is plain memory.
 */
#ifndef SIM_SERVER_FAULTS_H
#define SIM_SERVER_FAULTS_H

#include "actors/data/server.h"
#include "sim/draws.h"

#define SERVER_FAULTS_SERVERS 8u /* of one process; further ones share */

enum server_fault { SERVER_FULL, SERVER_MEMORY, SERVER_SLOW, SERVER_FAULT_KINDS };

struct server_held;

/* Of one process, through all its lives. All zeros: nothing is wrong. */
struct server_faults {
    struct {
        uint64_t until_ns[SERVER_FAULT_KINDS];
        uint64_t slow_ns; /* how long a request is held back while it is slow */
    } servers[SERVER_FAULTS_SERVERS];
    struct server_held *held; /* requests of all lives that still run */
};

/* arg: struct server_options, whose `faults` is a struct server_faults. */
extern const struct actor_ops faulty_server_ops;

/* Draws which servers, what and how slow, for that long. */
void server_faults_strike(struct server_faults *faults, struct draws *draws, uint64_t now_ns,
                          uint64_t lasts_ns);

#endif

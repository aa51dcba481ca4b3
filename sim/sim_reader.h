/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's thread that reads a simulated cluster's graph: rows of nodes and edges in any order,
 * and whole sets of nodes, through the client of its process, as api/graph_call.c, api/fetch.c and
 * api/nodes.c have it. Every answer is compared with the raw graph.
 *
 * What passes (a client, a server or its process that is down, full, slow or short of memory) is
 * none of its business: until its own deadline a read fails with nothing, and where that is far it
 * is answered within the time that the job has to get on (fleet_liveness.h).
 */
#ifndef SIM_SIM_READER_H
#define SIM_SIM_READER_H

#include "runtime/core/actor.h"

/* arg: struct fleet_seat, whose rank is the reader's number. */
extern const struct actor_ops sim_reader_ops;

#endif

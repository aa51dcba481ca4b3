/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's thread in a simulated cluster that makes a tensor together with those of the other
 * processes, writes rows of its own and reads any, through the client of its process, as
 * api/dist_tensor.c has it.
 *
 * A row says whose it is and how often it was written. What a read may find is known from a ledger
 * that all writers of the fleet share: no less than what was acknowledged before the read began, no
 * more than what somebody tried to write. A tensor that an era's end, a deletion or the death of an
 * owner took away is never read as another one, and never attached to in a later era.
 */
#ifndef SIM_SIM_WRITER_H
#define SIM_SIM_WRITER_H

#include "runtime/core/actor.h"

struct sim_ledger;

/* arg: struct fleet_seat. */
extern const struct actor_ops sim_writer_ops;

void sim_ledgers_free(struct sim_ledger *first);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a job that both envs share. */
#ifndef RUNTIME_CORE_CREW_IMPL_H
#define RUNTIME_CORE_CREW_IMPL_H

#include <stdbool.h>

#include "runtime/core/crew.h"

/* Runs one piece (none if cancelled). True: the job is finished and on its way to its actor. */
bool job_run_piece(struct job *job);

#endif

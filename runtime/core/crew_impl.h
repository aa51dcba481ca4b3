/* SPDX-License-Identifier: Apache-2.0 */
/* What both envs do with a job. */
#ifndef RUNTIME_CORE_CREW_IMPL_H
#define RUNTIME_CORE_CREW_IMPL_H

#include <stdbool.h>

#include "runtime/core/crew.h"

/* Runs one piece (none if cancelled). True: the job is finished and on its way to its actor. */
bool job_run_piece(struct job *job);

#endif

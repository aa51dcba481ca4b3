/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command puts around a training or inference job (model/run_job.h): the place of its process
 * in a cluster, and the BLAS's memory, had before anything else.
 *
 * Ownership: embedded; borrows the process. Thread rules: the main thread.
 */
#ifndef CLI_TRAIN_JOB_SURROUNDINGS_H
#define CLI_TRAIN_JOB_SURROUNDINGS_H

#include "cli/launch/job_process.h"
#include "cli/lib/interrupter.h"
#include "model/run_job.h"

struct job_surroundings {
    struct process *process; /* of a cluster; NULL: all is here */
    const struct cancel *cancel;
    struct interrupter *interrupter; /* fires on the job's session as long as that is open */
};

/* The hooks of a job whose `arg` is those surroundings; log is the caller's. */
struct run_job_hooks job_surroundings_hooks(struct job_surroundings *surroundings);

/* Says on standard error that a graph's files cannot be checked. */
void job_surroundings_warn(const struct run_job *job, const char *graph);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers of the BLAS, had at the start instead of in the middle of a step.
 *
 * OpenBLAS takes a buffer of 32 to 128 MiB of addresses for each thread that computes at the same
 * time, when it does so first, and where there are none (ulimit -v, a full machine that does not
 * overcommit) it asks again for ever, deaf to everything. So it is made to take them all while
 * nothing is lost, and is given WARM_UP_NS for it.
 *
 * Thread rules: any thread, before actors.
 */
#ifndef MODEL_WARM_UP_H
#define MODEL_WARM_UP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/cancel.h"
#include "runtime/base/error.h"

/* A buffer is there within a millisecond; a machine that swaps has the more. */
#define WARM_UP_NS UINT64_C(10000000000)

/* *stuck: threads of the BLAS go on asking for memory, and only _exit ends the process. TR_ENOMEM
 * says which limit is in the way; TR_ECANCELED: it was asked to stop meanwhile. */
int warm_up(size_t threads, const struct cancel *cancel, bool *stuck, struct error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process uses of its machine, as the kernel counts it. Thread rules: any thread.
 */
#ifndef RUNTIME_BASE_PROCESS_USAGE_H
#define RUNTIME_BASE_PROCESS_USAGE_H

#include <stdint.h>

struct process_usage {
    uint64_t resident_bytes; /* memory of it that is in RAM, shared pages included */
    uint64_t cpu_ns;         /* of all its threads, those that ended included */
};

/* What cannot be read is 0. It takes some microseconds. */
void process_usage_read(struct process_usage *usage);

#endif

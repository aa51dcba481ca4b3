/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory the groups that this process is in may take (Linux control groups).
 *
 * A batch system or a container puts its limit on some group above the process, not always on its
 * own: the smallest one on the way up is what holds. Version 2 (memory.max) and version 1
 * (memory.limit_in_bytes) may be there at once.
 *
 * Thread rules: any thread.
 */
#ifndef RUNTIME_BASE_MEMORY_LIMIT_H
#define RUNTIME_BASE_MEMORY_LIMIT_H

#include <stdint.h>

#include "runtime/base/files.h"

/* UINT64_MAX: there is none, or none is to be seen. root stands before the paths of the system
 * ("" is the system's own; tests have theirs). */
uint64_t memory_limit(struct files *files, const char *root);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of `troupe cluster`: their values and what runs them.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_CMD_CLUSTER_H
#define CLI_CMD_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/lib/command.h"

struct cluster_check_values {
    uint64_t parts;
    bool insecure_network;
    bool json;
};

int cluster_check_run(const struct invocation *invocation, const void *values);

struct cluster_keys_values {
    const char *cluster;
    const char *hosts;
    const char *out;
    uint64_t days;
    bool replace;
    bool json;
};

int cluster_keys_run(const struct invocation *invocation, const void *values);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of troupe-tools, whose tables cli/ has.
 */
#ifndef CLI_TOOLS_TOOLS_H
#define CLI_TOOLS_TOOLS_H

#include "cli/lib/command.h"

int run_bench(const struct invocation *invocation, const void *values);
int run_simulate(const struct invocation *invocation, const void *values);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world.h"

#include <stdarg.h>
#include <stdio.h>

void world_fail(struct world *world, const char *format, ...)
{
    if (world->error.code != 0)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(world->error.text, sizeof world->error.text, format, args);
    va_end(args);
    world->error.code = TR_EMISMATCH;
}

struct draws world_draws(const struct world *world, uint32_t purpose, uint32_t number)
{
    return draws_of(world->scenario.seed, (uint64_t)purpose << 32 | number);
}

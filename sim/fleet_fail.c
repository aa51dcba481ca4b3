/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fleet.h"

#include <stdarg.h>
#include <stdio.h>

void fleet_fail(struct fleet *fleet, const char *format, ...)
{
    if (fleet->error.code != 0)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(fleet->error.text, sizeof fleet->error.text, format, args);
    va_end(args);
    fleet->error.code = TR_EMISMATCH;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/parallel.h"

static void run_serially(struct parallel *self, size_t count,
                         void (*body)(void *arg, size_t index, size_t worker), void *arg)
{
    (void)self;
    for (size_t i = 0; i < count; i++)
        body(arg, i, 0);
}

static struct parallel serial = { .run = run_serially, .workers = 1 };

struct parallel *const parallel_serial = &serial;

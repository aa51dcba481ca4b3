/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/work.h"

#include "cli/lib/inside.h"

static bool asked(void *arg)
{
    const struct signals *signals = arg;
    /* Relaxed: see signals.c. */
    return atomic_load_explicit(&signals->cancelled, memory_order_relaxed);
}

int work_begin(struct work *work, bool quiet, struct error *error)
{
    progress_init(&work->progress, quiet);
    work->cancel = (struct cancel){ .asked = asked, .arg = &work->signals };
    interrupter_init(&work->interrupter);
    int rv = signals_start_inside(&work->signals, interrupter_fire, NULL, &work->interrupter,
                                  error);
    if (rv != 0)
        interrupter_fini(&work->interrupter);
    return rv;
}

void work_end(struct work *work)
{
    progress_end(&work->progress);
    signals_stop(&work->signals);
    interrupter_fini(&work->interrupter);
}

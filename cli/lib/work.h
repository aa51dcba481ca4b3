/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a long command has around it: progress that people see and a Ctrl-C that the work
 * can ask about.
 *
 * Thread rules: begin and end on the main thread, before and after any other threads; `cancel`
 * may be asked from any thread.
 */
#ifndef CLI_LIB_WORK_H
#define CLI_LIB_WORK_H

#include "cli/lib/interrupter.h"
#include "cli/lib/progress.h"
#include "cli/lib/signals.h"
#include "runtime/base/cancel.h"
#include "runtime/base/error.h"

struct work {
    struct signals signals;
    struct interrupter interrupter;
    struct progress progress;
    struct cancel cancel;
};

int work_begin(struct work *work, bool quiet, struct error *error);
void work_end(struct work *work);

#endif

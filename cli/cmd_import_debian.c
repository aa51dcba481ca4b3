/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe import debian`: what apt knows of this machine's archive into a raw graph.
 */
#include <troupe/import.h>

#include "cli/cmd_import.h"
#include "cli/lib/raw_report.h"

static int start(const void *arg, struct tr_task **out, struct tr_error *error)
{
    return tr_import_debian_start(arg, out, error);
}

int import_debian_run(const struct invocation *invocation, const void *opaque)
{
    const struct import_debian_values *values = opaque;
    struct tr_import_debian_options options = TR_IMPORT_DEBIAN_OPTIONS_INIT;
    options.out = values->out;
    options.from = values->from;
    options.types = values->types;
    options.sources = values->sources;
    options.replace = values->replace;
    return raw_report_make(invocation, &(struct raw_report){ .start = start,
                                                             .options = &options,
                                                             .out = values->out,
                                                             .quiet = values->quiet,
                                                             .json = values->json });
}

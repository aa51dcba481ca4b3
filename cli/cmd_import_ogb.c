/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe import ogb`: a folder of the Open Graph Benchmark into a raw graph.
 */
#include <inttypes.h>
#include <stdio.h>

#include <troupe/import.h>

#include "cli/cmd_import.h"
#include "cli/lib/raw_report.h"

static int start(const void *arg, struct tr_task **out, struct tr_error *error)
{
    return tr_import_ogb_start(arg, out, error);
}

static int report_ogb(const void *arg, struct tr_task *task, struct report *report,
                      struct tr_error *error)
{
    const struct tr_import_ogb_options *options = arg;
    struct tr_import_ogb_report found = TR_IMPORT_OGB_REPORT_INIT;
    char hint[240];
    int rv = tr_import_ogb_result(task, &found, error);
    if (rv != 0)
        return rv;
    report_text(report, "split", "masks of the split",
                found.split != NULL ? found.split : "none; troupe split makes some");
    if (found.unread != NULL)
        report_text(report, "files_dropped", "files not read", found.unread);
    if (found.self_loops > 0)
        report_count(report, "self_loops", "self-loops in the folder", found.self_loops);
    /* Messages go along edges: where each stands once, half of them have no way. */
    if (options->undirected || found.pairs_mutual * 2 >= found.pairs_seen)
        return 0;
    snprintf(hint, sizeof hint,
             "of %" PRIu64 " pairs of nodes %" PRIu64
             " have edges both ways: where the graph is undirected, import with --undirected",
             found.pairs_seen, found.pairs_mutual);
    report_text(report, "hint", "hint", hint);
    return 0;
}

int import_ogb_run(const struct invocation *invocation, const void *opaque)
{
    const struct import_ogb_values *values = opaque;
    struct tr_import_ogb_options options = TR_IMPORT_OGB_OPTIONS_INIT;
    options.path = invocation->operands[0];
    options.out = values->out;
    options.split = values->split;
    options.replace = values->replace;
    options.undirected = values->undirected;
    return raw_report_make(invocation, &(struct raw_report){ .start = start,
                                                             .options = &options,
                                                             .add = report_ogb,
                                                             .out = values->out,
                                                             .quiet = values->quiet,
                                                             .json = values->json });
}

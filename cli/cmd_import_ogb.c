/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe import ogb`: a folder of the Open Graph Benchmark into a raw graph.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/import.h>

#include "cli/cmd_import.h"
#include "cli/lib/next_step.h"
#include "cli/lib/raw_report.h"

static int start(const void *arg, struct tr_task **out, struct tr_error *error)
{
    return tr_import_ogb_start(arg, out, error);
}

/* Turns the pickle of a split, in the folder that is named, into the texts that are read. */
static const char UNPICKLE[] =
    "import os, pandas, sys, torch; os.chdir(sys.argv[1]); [(os.makedirs(t, exist_ok=True), "
    "pandas.DataFrame(i).to_csv(t + \"/\" + p + \".csv.gz\", header=False, index=False)) for p, d "
    "in "
    "torch.load(\"split_dict.pt\", weights_only=False).items() for t, i in (d if isinstance(d, "
    "dict) "
    "else {\".\": d}).items()]";

/* What makes masks of a pickled split: a line for the shell. */
static void report_pickle(struct report *report, const char *folder, const char *pickle)
{
    const char *end = strrchr(pickle, '/');
    char *path = malloc(strlen(folder) + strlen(pickle) + 2);
    char *line = NULL;
    if (path != NULL && end != NULL) {
        sprintf(path, "%s/%.*s", folder, (int)(end - pickle), pickle);
        line = next_step_line((const char *const[]){ "python3", "-c", UNPICKLE, path, NULL });
    }
    if (line != NULL)
        report_text(report, "unpickle", "to have the split, before importing again", line);
    else
        report->failed = true;
    free(line);
    free(path);
}

static int report_ogb(const void *arg, struct tr_task *task, struct report *report,
                      struct tr_error *error)
{
    const struct tr_import_ogb_options *options = arg;
    struct tr_import_ogb_report found = TR_IMPORT_OGB_REPORT_INIT;
    int rv = tr_import_ogb_result(task, &found, error);
    if (rv != 0)
        return rv;
    const char *none = found.pickle != NULL ? "none: it is a pickle, which is never read"
                                            : "none; troupe split makes some";
    report_text(report, "split", "masks of the split", found.split != NULL ? found.split : none);
    if (found.pickle != NULL)
        report_pickle(report, options->path, found.pickle);
    if (found.unread != NULL)
        report_text(report, "files_dropped", "files not read", found.unread);
    if (found.self_loops > 0)
        report_count(report, "self_loops", "self-loops in the folder", found.self_loops);
    import_hint_at_directions(report,
                              &(struct import_directions){ found.pairs_seen, found.pairs_mutual,
                                                           options->undirected, false, false });
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

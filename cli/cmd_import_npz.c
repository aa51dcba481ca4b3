/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe import npz`: an archive of NumPy arrays into a raw graph.
 */
#include <troupe/import.h>

#include "cli/cmd_import.h"
#include "cli/lib/raw_report.h"

static int start(const void *arg, struct tr_task **out, struct tr_error *error)
{
    return tr_import_npz_start(arg, out, error);
}

static void say_array(struct report *report, const char *key, const char *label, const char *name)
{
    if (name != NULL)
        report_text(report, key, label, name);
}

/* How sparse features were written, and what the other form would have taken. */
static void report_rows(struct report *report, const struct tr_import_npz_report *found)
{
    if (found->sparse_items > 0 && !found->kept_sparse)
        report_count(report, "sparse_items", "sparse numbers, stored with their zeroes",
                     found->sparse_items);
    if (found->kept_sparse)
        report_count(report, "feature_items", "features kept sparse, numbers",
                     found->feature_items);
    if (found->sparse_bytes == 0)
        return;
    report_bytes(report, "sparse_bytes", "features sparse", found->sparse_bytes);
    report_bytes(report, "dense_bytes", "features dense", found->dense_bytes);
}

static int report_npz(const void *arg, struct tr_task *task, struct report *report,
                      struct tr_error *error)
{
    const struct tr_import_npz_options *options = arg;
    struct tr_import_npz_report found = TR_IMPORT_NPZ_REPORT_INIT;
    int rv = tr_import_npz_result(task, &found, error);
    if (rv != 0)
        return rv;
    say_array(report, "edges_array", "edges from", found.edges_name);
    say_array(report, "features_array", "features from", found.features_name);
    say_array(report, "labels_array", "labels from", found.labels_name);
    report_rows(report, &found);
    if (found.num_splits > 0) {
        report_count(report, "splits", "splits", found.num_splits);
        report_count(report, "split", "split of the masks", found.split);
    }
    say_array(report, "arrays_dropped", "arrays not read", found.unread);
    if (found.self_loops > 0)
        report_count(report, "self_loops", "self-loops in the archive", found.self_loops);
    if (options->duplicates != TR_DUPLICATES_KEEP)
        report_count(report, "duplicates",
                     options->duplicates == TR_DUPLICATES_MERGE ? "duplicates merged"
                                                                : "duplicates",
                     found.duplicates);
    import_hint_at_directions(report, &(struct import_directions){
                                          found.pairs_seen, found.pairs_mutual, options->undirected,
                                          true, options->duplicates == TR_DUPLICATES_MERGE });
    return 0;
}

int import_npz_run(const struct invocation *invocation, const void *opaque)
{
    const struct import_npz_values *values = opaque;
    struct tr_import_npz_options options = TR_IMPORT_NPZ_OPTIONS_INIT;
    options.path = invocation->operands[0];
    options.out = values->out;
    options.replace = values->replace;
    options.undirected = values->undirected;
    options.split = (uint32_t)values->split;
    options.loops = (uint32_t)values->loops;
    options.duplicates = (uint32_t)values->duplicates;
    options.rows = (uint32_t)values->rows;
    return raw_report_make(invocation, &(struct raw_report){ .start = start,
                                                             .options = &options,
                                                             .add = report_npz,
                                                             .out = values->out,
                                                             .quiet = values->quiet,
                                                             .json = values->json });
}

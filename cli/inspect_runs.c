/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf, versionsort */

#include "cli/inspect_runs.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <troupe/model.h>
#include <troupe/run.h>

#include "cli/lib/run_score.h"

/* A sweep's folder holds a folder a point, and that one a run a seed. */
#define DEPTH_MAX 2

/* Called with the path of each run below a folder, and with its part behind that folder's. */
typedef int (*run_visit)(void *arg, const char *path, const char *name, struct tr_error *error);

struct runs_walk {
    const char *root;
    run_visit visit;
    void *arg;
};

static int visit_entry(const struct runs_walk *walk, const char *path, int depth,
                       struct tr_error *error);

/* By name, but numbers by value: seed-9 before seed-10. A folder that cannot be read has none. */
static int visit_runs(const struct runs_walk *walk, const char *folder, int depth,
                      struct tr_error *error)
{
    struct dirent **entries;
    int rv = 0, count = scandir(folder, &entries, NULL, versionsort);
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        if (rv == 0 && entries[i]->d_name[0] != '.') {
            if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
                rv = tr_error_set(error, TR_ENOMEM, "%s: no memory", folder);
            else
                rv = visit_entry(walk, path, depth, error);
            free(path);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return rv;
}

static int visit_entry(const struct runs_walk *walk, const char *path, int depth,
                       struct tr_error *error)
{
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode))
        return 0;
    if (tr_run_named(path))
        return walk->visit(walk->arg, path, path + strlen(walk->root) + 1, error);
    return depth < DEPTH_MAX ? visit_runs(walk, path, depth + 1, error) : 0;
}

/* Any result but 0 ends the walk. */
static int stop_at_first(void *arg, const char *path, const char *name, struct tr_error *error)
{
    (void)arg, (void)path, (void)name, (void)error;
    return TR_EEXIST;
}

static bool is_graph(const char *folder)
{
    static const char *const MARKS[] = { "part0", "metadata.json", "edges.npy" };
    struct stat facts;
    bool found = false;
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS && !found; i++) {
        char *path;
        if (asprintf(&path, "%s/%s", folder, MARKS[i]) < 0)
            return false;
        found = stat(path, &facts) == 0;
        free(path);
    }
    return found;
}

bool inspect_runs_found(const char *path)
{
    const struct runs_walk walk = { .root = path, .visit = stop_at_first };
    struct tr_error error = TR_ERROR_INIT;
    return !tr_run_named(path) && !is_graph(path) &&
           visit_runs(&walk, path, 1, &error) == TR_EEXIST;
}

struct runs_shown {
    struct report *report;
    uint64_t count, complete;
};

static int count_run(void *arg, const char *path, const char *name, struct tr_error *error)
{
    struct runs_shown *shown = arg;
    struct tr_run_info info = TR_RUN_INFO_INIT;
    struct tr_run *run;
    (void)name;
    int rv = tr_run_open(path, &run, error);
    if (rv != 0)
        return rv;
    rv = tr_run_info(run, &info, error);
    tr_run_close(run);
    shown->count++;
    shown->complete += rv == 0 && info.complete;
    return rv;
}

/* A score that there is none of is left empty, and null in JSON, so that all rows have their
 * columns. */
static void report_score(struct report *report, const char *key, const char *label, double score)
{
    if (isfinite(score) || report->json)
        report_real(report, key, label, score);
    else
        report_text(report, key, label, "");
}

static int show_run(void *arg, const char *path, const char *name, struct tr_error *error)
{
    struct report *report = ((struct runs_shown *)arg)->report;
    struct tr_run_info info = TR_RUN_INFO_INIT;
    struct tr_scores test = TR_SCORES_INIT;
    struct tr_run *run;
    int rv = tr_run_open(path, &run, error);
    if (rv != 0)
        return rv;
    rv = tr_run_info(run, &info, error);
    test.accuracy = test.macro_f1 = test.roc_auc = test.mrr = (double)NAN;
    if (rv == 0 && info.tested)
        rv = tr_run_get_test(run, &test, error);
    if (rv == 0) {
        report_row(report, "runs");
        report_text(report, "run", "run", name);
        report_flag(report, "complete", "complete", info.complete);
        report_count(report, "epochs", "epochs", info.num_epochs);
        report_score(report, "val", "validation", run_score(run, &info));
        report_score(report, "test_accuracy", "test accuracy", test.accuracy);
        report_score(report, "test_macro_f1", "test macro-F1", test.macro_f1);
        report_score(report, "test_roc_auc", "test ROC AUC", test.roc_auc);
        report_score(report, "test_mrr", "test MRR", test.mrr);
    }
    tr_run_close(run);
    return rv;
}

int inspect_runs(struct report *report, const char *path, struct tr_error *error)
{
    struct runs_shown shown = { .report = report };
    const struct runs_walk counts = { path, count_run, &shown }, shows = { path, show_run, &shown };
    int rv = visit_runs(&counts, path, 1, error);
    if (rv != 0)
        return rv;
    report_text(report, "kind", "kind", "folder of training runs");
    report_count(report, "count", "runs", shown.count);
    report_count(report, "complete", "complete", shown.complete);
    rv = visit_runs(&shows, path, 1, error);
    report_rows_end(report);
    return rv;
}

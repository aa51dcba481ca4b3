/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/raw_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <troupe/raw.h>

#include "cli/lib/fail.h"
#include "cli/lib/next_step.h"

/* What training needs of a raw graph of one node type, and what commands add. */
struct lacks {
    bool features, masks;
};

static struct lacks raw_lacks(const struct tr_raw *raw, const struct tr_raw_info *info)
{
    struct lacks lacks = { true, true };
    bool labels = false;
    for (uint32_t i = 0; i < info->num_tables; i++) {
        struct tr_table_info table = TR_TABLE_INFO_INIT;
        if (tr_raw_table(raw, i, &table, NULL) != 0 || table.on_edges)
            continue;
        labels = labels || strcmp(table.name, "label") == 0;
        lacks.masks = lacks.masks && strcmp(table.name, "train_mask") != 0;
        lacks.features = lacks.features && strcmp(table.name, "feat") != 0;
    }
    /* Without labels no model is trained on it, whatever it has. */
    if (!labels || info->num_ntypes > 1)
        lacks = (struct lacks){ false, false };
    return lacks;
}

/* Two partitions are enough to look at, and one node cannot be in two. */
static void next_is_partition(struct report *report, const char *path, uint64_t num_nodes)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *parts = malloc(length + sizeof "-parts");
    if (parts == NULL) {
        report->failed = true;
        return;
    }
    sprintf(parts, "%.*s-parts", (int)length, path);
    const char *const words[] = { "troupe", "partition", path, "--parts", num_nodes > 1 ? "2" : "1",
                                  "--out",  parts,       NULL };
    next_step(report, words);
    free(parts);
}

static int look_at(const char *path, struct tr_raw_info *info, struct lacks *lacks,
                   struct tr_error *error)
{
    struct tr_raw *raw;
    int rv = tr_raw_open(path, NULL, &raw, error);
    if (rv != 0)
        return rv;
    rv = tr_raw_info(raw, info, error);
    *lacks = rv == 0 ? raw_lacks(raw, info) : (struct lacks){ false, false };
    tr_raw_close(raw);
    return rv;
}

/* Random numbers tell communities apart, which degrees do not, and most labels go by them. */
static bool next_is_added(struct report *report, const char *path, struct lacks lacks)
{
    if (lacks.features)
        next_step(report,
                  (const char *const[]){ "troupe", "feature", path, "--random", "64", NULL });
    else if (lacks.masks)
        next_step(report,
                  (const char *const[]){ "troupe", "split", path, "--ratio", "60/20/20", NULL });
    return lacks.features || lacks.masks;
}

bool raw_report_mend(struct report *report, const char *path)
{
    struct tr_raw_info info = TR_RAW_INFO_INIT;
    struct lacks lacks;
    struct stat facts;
    bool folder = stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
    return folder && look_at(path, &info, &lacks, NULL) == 0 && next_is_added(report, path, lacks);
}

int raw_report_next(struct report *report, const char *path, struct tr_error *error)
{
    struct tr_raw_info info = TR_RAW_INFO_INIT;
    struct lacks lacks;
    int rv = look_at(path, &info, &lacks, error);
    if (rv == 0 && !next_is_added(report, path, lacks))
        next_is_partition(report, path, info.num_nodes);
    return rv;
}

static int print(const struct raw_report *made, struct tr_task *task, struct tr_error *error)
{
    struct tr_raw_info info = TR_RAW_INFO_INIT;
    struct tr_raw *raw;
    int rv = tr_raw_open(made->out, NULL, &raw, error);
    if (rv != 0)
        return rv;
    rv = tr_raw_info(raw, &info, error);
    tr_raw_close(raw);
    if (rv != 0)
        return rv;
    struct report report;
    report_init(&report, made->json);
    report_text(&report, "out", "raw graph", made->out);
    report_count(&report, "nodes", "nodes", info.num_nodes);
    report_count(&report, "edges", "edges", info.num_edges);
    report_count(&report, "node_types", "node types", info.num_ntypes);
    report_count(&report, "edge_types", "edge types", info.num_etypes);
    report_count(&report, "features", "tables: features, labels, masks", info.num_tables);
    rv = made->add != NULL ? made->add(made->options, task, &report, error) : 0;
    if (rv == 0)
        rv = raw_report_next(&report, made->out, error);
    if (rv != 0) {
        report_fini(&report);
        return rv;
    }
    return report_print(&report, error);
}

int raw_report_make(const struct invocation *invocation, const struct raw_report *made)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task = NULL;
    int rv = follow_task(made->quiet, made->start, made->options, &task, &error);
    /* The names of columns are the task's. */
    if (rv == 0)
        rv = print(made, task, &error);
    tr_task_close(task);
    return rv != 0 ? fail(invocation, &error) : EXIT_DONE;
}

int raw_report_added(struct report *report, const char *path, bool edges, uint32_t type, bool json,
                     struct tr_error *error)
{
    struct tr_ntype_info ntype = TR_NTYPE_INFO_INIT;
    struct tr_etype_info etype = TR_ETYPE_INFO_INIT;
    struct tr_raw *raw;
    int rv = tr_raw_open(path, NULL, &raw, error);
    if (rv != 0)
        return rv;
    rv = edges ? tr_raw_etype(raw, type, &etype, error) : tr_raw_ntype(raw, type, &ntype, error);
    if (rv == 0) {
        report_init(report, json);
        report_text(report, "raw", "raw graph", path);
        /* The type's name is the graph's. */
        if (edges)
            report_text(report, "edge_type", "edge type", etype.name);
        else
            report_text(report, "type", "node type", ntype.name);
    }
    tr_raw_close(raw);
    return rv;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe inspect`: what a raw graph, a partition directory, a training run, a folder of runs
 * or one of checkpoints holds.
 *
 * Only the heads of files are read, so that a look at a big graph is quick; but for single nodes and
 * edges (inspect_ids.h).
 */
#include "config.h" /* asprintf */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <troupe/book.h>
#include <troupe/checkpoint.h>
#include <troupe/model.h>
#include <troupe/raw.h>
#include <troupe/run.h>
#include <troupe/trainer_state.h>

#include "cli/inspect_ids.h"
#include "cli/inspect_runs.h"
#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/graph_path.h"
#include "cli/lib/report.h"

/* The table shows at most so many events of a run's history. */
#define EVENTS_SHOWN 40u

struct inspect_values {
    bool json;
    struct inspect_ids ids;
};

static const struct option_spec OPTIONS[] = {
    { .name = "nodes",
      .kind = OPTION_COUNTS,
      .offset = offsetof(struct inspect_values, ids.nodes),
      .metavar = "IDS",
      .help = "show these nodes of a partitioned graph, by their global IDs" },
    { .name = "own-ids",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct inspect_values, ids.own_nodes),
      .metavar = "IDS",
      .help = "show nodes by your own IDs: names, or numbers as they were imported" },
    { .name = "node-type",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct inspect_values, ids.node_type),
      .metavar = "TYPE",
      .help = "the type of --nodes, where there are several" },
    { .name = "edges",
      .kind = OPTION_COUNTS,
      .offset = offsetof(struct inspect_values, ids.edges),
      .metavar = "IDS",
      .help = "show these edges of a partitioned graph, by their global IDs" },
    { .name = "edge-type",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct inspect_values, ids.edge_type),
      .metavar = "TYPE",
      .help = "the type of --edges, where there are several" },
    OPTION_ROW_JSON(struct inspect_values),
    OPTION_ROW_END,
};

/* A graph that describes itself: a raw one or a book. The functions are those of either. */
struct described {
    const void *graph;
    uint32_t num_ntypes, num_etypes, num_tables;
    int (*ntype)(const void *graph, uint32_t ntype, struct tr_ntype_info *info,
                 struct tr_error *error);
    int (*etype)(const void *graph, uint32_t etype, struct tr_etype_info *info,
                 struct tr_error *error);
    int (*table)(const void *graph, uint32_t table, struct tr_table_info *info,
                 struct tr_error *error);
    int (*names)(const void *graph, uint32_t list, struct tr_names_info *info,
                 struct tr_error *error);
    int (*read_names)(const void *graph, uint32_t list, uint64_t first, size_t count,
                      uint64_t *offsets, char *text, size_t text_bytes, struct tr_error *error);
};

static int report_types(struct report *report, const struct described *from, struct tr_error *error)
{
    int rv = 0;
    for (uint32_t t = 0; t < from->num_ntypes && rv == 0; t++) {
        struct tr_ntype_info type = TR_NTYPE_INFO_INIT;
        rv = from->ntype(from->graph, t, &type, error);
        report_row(report, "node_types");
        report_text(report, "type", "node type", type.name);
        report_count(report, "nodes", "nodes", type.num_nodes);
        if (type.first_id > 0)
            report_count(report, "first_id", "first ID", type.first_id);
    }
    for (uint32_t t = 0; t < from->num_etypes && rv == 0; t++) {
        struct tr_etype_info type = TR_ETYPE_INFO_INIT;
        rv = from->etype(from->graph, t, &type, error);
        report_row(report, "edge_types");
        report_text(report, "type", "edge type", type.name);
        report_count(report, "edges", "edges", type.num_edges);
    }
    report_rows_end(report);
    return rv;
}

/* The name of the type that a table is of; NULL after a failure. */
static const char *name_type(const struct described *from, const struct tr_table_info *table,
                             struct tr_error *error)
{
    struct tr_ntype_info ntype = TR_NTYPE_INFO_INIT;
    struct tr_etype_info etype = TR_ETYPE_INFO_INIT;
    if (!table->on_edges)
        return from->ntype(from->graph, table->type, &ntype, error) == 0 ? ntype.name : NULL;
    return from->etype(from->graph, table->type, &etype, error) == 0 ? etype.name : NULL;
}

/* What sparse tables save, where there are some. */
static int report_sparse(struct report *report, const struct described *from,
                         struct tr_error *error)
{
    int rv = 0;
    for (uint32_t i = 0; i < from->num_tables && rv == 0; i++) {
        struct tr_table_info table = TR_TABLE_INFO_INIT;
        rv = from->table(from->graph, i, &table, error);
        if (rv != 0 || !table.sparse)
            continue;
        const char *type = name_type(from, &table, error);
        if (type == NULL)
            return TR_EINTERNAL;
        struct tr_ntype_info ntype = TR_NTYPE_INFO_INIT;
        rv = from->ntype(from->graph, table.type, &ntype, error);
        double places = (double)ntype.num_nodes * (double)table.width;
        report_row(report, "sparse");
        report_text(report, "type", "sparse feature of", type);
        report_text(report, "name", "name", table.name);
        report_count(report, "elements", "elements", table.elements);
        report_share(report, "density", "density",
                     places > 0 ? (double)table.elements / places : 0);
        report_bytes(report, "bytes", "stored", table.stored_bytes);
        report_bytes(report, "dense_bytes", "dense", ntype.num_nodes * table.row_bytes);
    }
    report_rows_end(report);
    return rv;
}

static int report_tables(struct report *report, const struct described *from,
                         struct tr_error *error)
{
    int rv = 0;
    for (uint32_t i = 0; i < from->num_tables && rv == 0; i++) {
        struct tr_table_info table = TR_TABLE_INFO_INIT;
        rv = from->table(from->graph, i, &table, error);
        const char *type = rv == 0 ? name_type(from, &table, error) : NULL;
        if (type == NULL)
            return rv != 0 ? rv : TR_EINTERNAL;
        report_row(report, "features");
        report_text(report, "type", "feature of", type);
        report_text(report, "name", "name", table.name);
        report_text(report, "dtype", "dtype", tr_dtype_name(table.dtype));
        report_counts(report, "shape", "row", table.shape, table.ndim);
    }
    report_rows_end(report);
    return rv == 0 ? report_sparse(report, from, error) : rv;
}

/* The first names of a list, with commas between them. */
#define NAMES_SHOWN 3u
#define NAMES_SHOWN_BYTES 96u

static int report_first_names(struct report *report, const struct described *from, uint32_t list,
                              uint64_t count, struct tr_error *error)
{
    uint64_t offsets[NAMES_SHOWN + 1];
    size_t some = count < NAMES_SHOWN ? (size_t)count : NAMES_SHOWN, used = 0;
    char shown[NAMES_SHOWN_BYTES + 8] = "";
    int rv = from->read_names(from->graph, list, 0, some, offsets, NULL, 0, error);
    char *text = rv == 0 ? malloc((size_t)offsets[some] + 1) : NULL;
    if (rv == 0 && text == NULL)
        rv = tr_error_set(error, TR_ENOMEM, "no memory for names");
    if (rv == 0)
        rv = from->read_names(from->graph, list, 0, some, offsets, text, (size_t)offsets[some],
                              error);
    for (size_t i = 0; rv == 0 && i < some; i++) {
        /* The name's line end is left out. */
        size_t length = (size_t)(offsets[i + 1] - offsets[i]) - 1;
        size_t room = NAMES_SHOWN_BYTES - used;
        if (i > 0 && room > 2)
            used += (size_t)sprintf(shown + used, ", ");
        room = NAMES_SHOWN_BYTES - used;
        /* A cut goes between characters. */
        size_t kept = length < room ? length : room;
        while (kept < length && kept > 0 && ((unsigned char)text[offsets[i] + kept] & 0xc0) == 0x80)
            kept--;
        memcpy(shown + used, text + offsets[i], kept);
        used += kept;
        shown[used] = '\0';
    }
    free(text);
    if (rv == 0)
        report_text(report, "first", "first of them", shown);
    return rv;
}

static int report_names(struct report *report, const struct described *from, struct tr_error *error)
{
    static const char *const OF[] = { "nodes", "values", "columns" };
    int rv = 0;
    for (uint32_t i = 0; rv == 0; i++) {
        struct tr_names_info info = TR_NAMES_INFO_INIT;
        struct tr_ntype_info type = TR_NTYPE_INFO_INIT;
        if (from->names(from->graph, i, &info, NULL) != 0)
            break;
        rv = from->ntype(from->graph, info.ntype, &type, error);
        if (rv != 0)
            break;
        report_row(report, "names");
        report_text(report, "of", "names of", OF[info.of]);
        report_text(report, "type", "type", type.name);
        report_text(report, "table", "feature", info.table != NULL ? info.table : "");
        report_count(report, "count", "names", info.count);
        rv = report_first_names(report, from, i, info.count, error);
    }
    report_rows_end(report);
    return rv;
}

static int raw_ntype(const void *raw, uint32_t ntype, struct tr_ntype_info *info,
                     struct tr_error *error)
{
    return tr_raw_ntype(raw, ntype, info, error);
}

static int raw_etype(const void *raw, uint32_t etype, struct tr_etype_info *info,
                     struct tr_error *error)
{
    return tr_raw_etype(raw, etype, info, error);
}

static int raw_table(const void *raw, uint32_t table, struct tr_table_info *info,
                     struct tr_error *error)
{
    return tr_raw_table(raw, table, info, error);
}

static int raw_names(const void *raw, uint32_t list, struct tr_names_info *info,
                     struct tr_error *error)
{
    return tr_raw_names(raw, list, info, error);
}

static int raw_read_names(const void *raw, uint32_t list, uint64_t first, size_t count,
                          uint64_t *offsets, char *text, size_t text_bytes, struct tr_error *error)
{
    return tr_raw_read_names(raw, list, first, count, offsets, text, text_bytes, error);
}

static int report_raw(struct report *report, const struct tr_raw *raw, struct tr_error *error)
{
    struct tr_raw_info info = TR_RAW_INFO_INIT;
    int rv = tr_raw_info(raw, &info, error);
    if (rv != 0)
        return rv;
    const struct described from = { .graph = raw,
                                    .num_ntypes = info.num_ntypes,
                                    .num_etypes = info.num_etypes,
                                    .num_tables = info.num_tables,
                                    .ntype = raw_ntype,
                                    .etype = raw_etype,
                                    .table = raw_table,
                                    .names = raw_names,
                                    .read_names = raw_read_names };
    report_text(report, "kind", "kind", "raw graph");
    report_text(report, "graph", "graph", info.graph_name);
    rv = report_types(report, &from, error);
    if (rv == 0)
        rv = report_tables(report, &from, error);
    return rv == 0 ? report_names(report, &from, error) : rv;
}

static int book_ntype(const void *book, uint32_t ntype, struct tr_ntype_info *info,
                      struct tr_error *error)
{
    return tr_book_ntype(book, ntype, info, error);
}

static int book_etype(const void *book, uint32_t etype, struct tr_etype_info *info,
                      struct tr_error *error)
{
    return tr_book_etype(book, etype, info, error);
}

static int book_table(const void *book, uint32_t table, struct tr_table_info *info,
                      struct tr_error *error)
{
    return tr_book_table(book, table, info, error);
}

static void report_part(struct report *report, uint32_t number, const struct tr_part_info *part)
{
    report_row(report, "partitions");
    report_count(report, "part", "partition", number);
    report_count(report, "nodes", "nodes", part->num_nodes);
    report_count(report, "edges", "edges", part->num_edges);
    report_count(report, "halo_nodes", "halo", part->halo_nodes);
    report_bytes(report, "topology_bytes", "topology", part->topology_bytes);
    report_bytes(report, "feature_bytes", "features", part->feature_bytes);
    report_bytes(report, "bytes", "files", part->file_bytes);
}

static int book_names(const void *book, uint32_t list, struct tr_names_info *info,
                      struct tr_error *error)
{
    return tr_book_names(book, list, info, error);
}

static int book_read_names(const void *book, uint32_t list, uint64_t first, size_t count,
                           uint64_t *offsets, char *text, size_t text_bytes, struct tr_error *error)
{
    return tr_book_read_names(book, list, first, count, offsets, text, text_bytes, error);
}

/* parts: [info->num_parts]. */
static int report_book(struct report *report, const struct tr_book *book,
                       const struct tr_book_info *info, const struct tr_part_info *parts,
                       struct tr_error *error)
{
    const struct described from = { .graph = book,
                                    .num_ntypes = info->num_ntypes,
                                    .num_etypes = info->num_etypes,
                                    .num_tables = info->num_tables,
                                    .ntype = book_ntype,
                                    .etype = book_etype,
                                    .table = book_table,
                                    .names = book_names,
                                    .read_names = book_read_names };
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < info->num_parts; p++)
        bytes += parts[p].file_bytes;
    report_text(report, "kind", "kind", "partitioned graph");
    report_text(report, "graph", "graph", info->graph_name);
    report_count(report, "parts", "partitions", info->num_parts);
    report_text(report, "method", "method", info->method);
    report_count(report, "halo_hops", "halo hops", info->halo_hops);
    report_count(report, "trainers", "trainers of the deal", info->num_trainers);
    report_real(report, "node_balance", "node balance (largest / mean)", info->node_balance);
    report_real(report, "edge_balance", "edge balance (largest / mean)", info->edge_balance);
    report_bytes(report, "bytes", "files", bytes);
    report_flag(report, "checksums", "checksums", info->checksums);
    report_flag(report, "out_edges", "out-edges", info->out_edges);
    int rv = report_types(report, &from, error);
    if (rv == 0)
        rv = report_tables(report, &from, error);
    if (rv == 0)
        rv = report_names(report, &from, error);
    for (uint32_t p = 0; p < info->num_parts && rv == 0; p++)
        report_part(report, p, &parts[p]);
    report_rows_end(report);
    return rv;
}

/* A partition directory is named by its book, DIR/NAME.json; anything else is a raw graph. */
static bool names_book(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    struct stat facts;
    return length > 5 && strcmp(name + length - 5, ".json") == 0 &&
           strcmp(name, "metadata.json") != 0 &&
           !(stat(path, &facts) == 0 && S_ISDIR(facts.st_mode));
}

static int inspect_book(struct report *report, const char *path, struct tr_error *error)
{
    struct tr_book *book;
    struct tr_book_info info = TR_BOOK_INFO_INIT;
    int rv = tr_book_open(path, &book, error);
    if (rv != 0)
        return rv;
    rv = tr_book_info(book, &info, error);
    struct tr_part_info *parts = calloc((size_t)info.num_parts + 1, sizeof *parts);
    if (parts == NULL)
        rv = tr_error_set(error, TR_ENOMEM, "%s: no memory for its partitions", path);
    for (uint32_t p = 0; p < info.num_parts && rv == 0; p++) {
        parts[p] = (struct tr_part_info)TR_PART_INFO_INIT;
        rv = tr_book_part(book, p, &parts[p], error);
    }
    if (rv == 0)
        rv = report_book(report, book, &info, parts, error);
    free(parts);
    tr_book_close(book);
    return rv;
}

static int inspect_raw(struct report *report, const char *path, struct tr_error *error)
{
    struct tr_raw *raw;
    int rv = tr_raw_open(path, NULL, &raw, error);
    if (rv != 0)
        return rv;
    rv = report_raw(report, raw, error);
    tr_raw_close(raw);
    return rv;
}

/* Where the run stood that saved a checkpoint, from the first part that is here. False: it is
 * not of the built-in trainer, or none of its parts is here any more. */
static bool find_position(const struct tr_checkpoints *list, size_t index, uint32_t num_parts,
                          struct tr_trainer_position *position)
{
    char head[TR_TRAINER_HEAD_BYTES];
    for (uint32_t rank = 0; rank < num_parts; rank++) {
        struct tr_checkpoint_part_info part = TR_CHECKPOINT_PART_INFO_INIT;
        if (tr_checkpoints_part(list, index, rank, &part, NULL) == 0 && part.here &&
            part.bytes >= sizeof head &&
            tr_checkpoints_read(list, index, rank, 0, sizeof head, head, NULL) == 0 &&
            tr_trainer_position_read(head, position, NULL) == 0)
            return true;
    }
    return false;
}

static int report_checkpoint(struct report *report, const struct tr_checkpoints *list, size_t index,
                             struct tr_checkpoint_info *info, struct tr_error *error)
{
    struct tr_trainer_position position = TR_TRAINER_POSITION_INIT;
    char hash[17];
    int rv = tr_checkpoints_get(list, index, info, error);
    if (rv != 0)
        return rv;
    report_count(report, "step", "step", info->step);
    report_count(report, "era", "era", info->era);
    report_count(report, "trainers", "trainers", info->num_parts);
    if (find_position(list, index, info->num_parts, &position)) {
        report_count(report, "epoch", "epoch", position.epoch + 1);
        report_count(report, "batch", "batches of it", position.step);
        snprintf(hash, sizeof hash, "%016" PRIx64, position.job);
        report_text(report, "job_hash", "hash of the run", hash);
        report_count(report, "parameters", "parameters", position.parameters);
    }
    report_count(report, "parts_here", "parts here", info->parts_here);
    report_bytes(report, "bytes", "parts", info->bytes);
    return 0;
}

static int report_checkpoint_parts(struct report *report, const struct tr_checkpoints *list,
                                   uint32_t num_parts, struct tr_error *error)
{
    int rv = 0;
    for (uint32_t rank = 0; rank < num_parts && rv == 0; rank++) {
        struct tr_checkpoint_part_info part = TR_CHECKPOINT_PART_INFO_INIT;
        char crc[9];
        rv = tr_checkpoints_part(list, 0, rank, &part, error);
        snprintf(crc, sizeof crc, "%08" PRIx32, part.crc32c);
        report_row(report, "parts");
        report_count(report, "rank", "part of rank", rank);
        report_bytes(report, "bytes", "size", part.bytes);
        report_text(report, "crc32c", "CRC32C", crc);
        report_flag(report, "here", "here", part.here);
    }
    report_rows_end(report);
    return rv;
}

static int report_checkpoints(struct report *report, const struct tr_checkpoints *list,
                              struct tr_error *error)
{
    struct tr_checkpoints_info info = TR_CHECKPOINTS_INFO_INIT;
    int rv = tr_checkpoints_info(list, &info, error);
    if (rv != 0)
        return rv;
    report_text(report, "kind", "kind", info.single ? "checkpoint" : "checkpoints");
    if (!info.single) {
        report_count(report, "count", "checkpoints", info.count);
        report_count(report, "unfinished", "without a manifest", info.unfinished);
    }
    for (size_t i = 0; i < info.count && rv == 0; i++) {
        struct tr_checkpoint_info one = TR_CHECKPOINT_INFO_INIT;
        if (!info.single)
            report_row(report, "checkpoints");
        rv = report_checkpoint(report, list, i, &one, error);
        if (rv == 0 && info.single)
            rv = report_checkpoint_parts(report, list, one.num_parts, error);
    }
    report_rows_end(report);
    return rv;
}

static int inspect_checkpoints(struct report *report, const char *path, struct tr_error *error)
{
    struct tr_checkpoints *list;
    int rv = tr_checkpoints_open(path, &list, error);
    if (rv != 0)
        return rv;
    rv = report_checkpoints(report, list, error);
    tr_checkpoints_close(list);
    return rv;
}

static void report_run_scores(struct report *report, const char *split,
                              const struct tr_scores *scores)
{
    report_row(report, "scores");
    report_text(report, "split", "scores of", split);
    report_count(report, "labelled", "labelled", scores->labelled);
    report_real(report, "loss", "loss", scores->loss);
    report_real(report, "accuracy", "accuracy", scores->accuracy);
    report_real(report, "macro_f1", "macro-F1", scores->macro_f1);
    if (isfinite(scores->roc_auc))
        report_real(report, "roc_auc", "ROC AUC", scores->roc_auc);
    if (isfinite(scores->mrr))
        report_real(report, "mrr", "MRR", scores->mrr);
}

/* Sums over the epochs of a run. */
struct run_sums {
    uint64_t steps;
    double seconds;
    struct tr_run_epoch last;
};

static int report_run_training(struct report *report, const struct tr_run *run,
                               const struct tr_run_info *info, struct tr_error *error)
{
    struct tr_scores best_scores = TR_SCORES_INIT, test = TR_SCORES_INIT;
    struct tr_run_epoch best = TR_RUN_EPOCH_INIT;
    struct run_sums sums = { .last = TR_RUN_EPOCH_INIT };
    int rv = 0;
    for (uint64_t i = 0; i < info->num_epochs && rv == 0; i++) {
        rv = tr_run_get_epoch(run, i, &sums.last, NULL, error);
        sums.steps += sums.last.steps;
        sums.seconds += isfinite(sums.last.seconds) ? sums.last.seconds : 0;
    }
    if (rv == 0 && info->has_best)
        rv = tr_run_get_epoch(run, info->best, &best, &best_scores, error);
    if (rv == 0 && info->tested)
        rv = tr_run_get_test(run, &test, error);
    if (rv != 0)
        return rv;
    report_count(report, "epochs_done", "epochs done", sums.last.epoch);
    report_count(report, "steps", "steps", sums.steps);
    report_seconds(report, "seconds", "time of epochs", sums.seconds);
    if (info->num_epochs > 0)
        report_real(report, "train_loss", "training loss of the last epoch", sums.last.train_loss);
    if (info->has_best)
        report_count(report, "best_epoch", "best epoch", best.epoch);
    if (info->has_best)
        report_run_scores(report, "validation", &best_scores);
    if (info->tested)
        report_run_scores(report, "test", &test);
    report_rows_end(report);
    return 0;
}

static int report_run_checkpoints(struct report *report, const char *run, struct tr_error *error)
{
    struct tr_checkpoints_info info = TR_CHECKPOINTS_INFO_INIT;
    struct tr_checkpoint_info newest = TR_CHECKPOINT_INFO_INIT;
    struct tr_checkpoints *list;
    struct stat facts;
    char *path;
    if (asprintf(&path, "%s/checkpoints", run) < 0)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory", run);
    /* Only a run that saves has the folder, which is empty until the first checkpoint. */
    bool there = stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
    int rv = there ? tr_checkpoints_open(path, &list, error) : TR_ENOENT;
    free(path);
    if (rv == TR_ENOENT)
        report_count(report, "checkpoints", "checkpoints", 0);
    if (rv != 0)
        return rv == TR_ENOENT ? 0 : rv;
    rv = tr_checkpoints_info(list, &info, error);
    if (rv == 0 && info.count > 0)
        rv = tr_checkpoints_get(list, 0, &newest, error);
    tr_checkpoints_close(list);
    report_count(report, "checkpoints", "checkpoints", info.count);
    if (info.count > 0)
        report_count(report, "checkpoint_step", "step of the newest", newest.step);
    return rv;
}

/* The edge types of rgcn and gat, with the parameters that each has for itself. */
static int report_run_relations(struct report *report, const char *run, struct tr_error *error)
{
    struct tr_model_info info = TR_MODEL_INFO_INIT;
    struct tr_model *model;
    int rv = tr_model_open(run, &model, error);
    if (rv != 0)
        return rv;
    rv = tr_model_info(model, &info, error);
    for (uint64_t i = 0; rv == 0 && i < info.num_relations; i++) {
        const char *name = NULL;
        uint64_t parameters = 0;
        rv = tr_model_relation(model, i, &name, &parameters, error);
        if (rv != 0)
            break;
        report_row(report, "relations");
        report_text(report, "type", "relation", name);
        report_count(report, "parameters", "parameters", parameters);
    }
    report_rows_end(report);
    tr_model_close(model);
    return rv;
}

/* RFC 3339, as the file has it. */
static void report_time(struct report *report, int64_t time_ns)
{
    struct tm utc;
    char date[32], text[48];
    time_t seconds = (time_t)(time_ns / 1000000000);
    if (gmtime_r(&seconds, &utc) == NULL ||
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc) == 0)
        date[0] = '\0';
    snprintf(text, sizeof text, "%s.%03dZ", date, (int)(time_ns / 1000000 % 1000));
    report_text(report, "time", "time (UTC)", text);
}

/* What an event says beside its process, in one column. */
static void report_event_shortly(struct report *report, const struct tr_run_event *event)
{
    char what[160];
    if (event->signal != 0)
        snprintf(what, sizeof what, "signal %d", event->signal);
    else if (strcmp(event->event, "ended") == 0)
        snprintf(what, sizeof what, "exit code %d", event->exit_code);
    else if (strcmp(event->event, "checkpoint") == 0 || strcmp(event->event, "era") == 0)
        snprintf(what, sizeof what, "step %" PRIu64, event->step);
    else
        snprintf(what, sizeof what, "%s%s%.100s", event->outcome,
                 event->outcome[0] != '\0' && event->text[0] != '\0' ? ": " : "", event->text);
    report_text(report, "what", "what", what);
}

static void report_event(struct report *report, const struct tr_run_event *event)
{
    report_row(report, "events");
    report_time(report, event->time_ns);
    report_text(report, "event", "event", event->event);
    if (event->process != UINT32_MAX)
        report_count(report, "process", "process", event->process);
    else
        report_absent(report, "process", "process");
    report_text(report, "role", "role", event->role);
    report_text(report, "host", "host", event->host);
    if (!report->json) {
        report_event_shortly(report, event);
        return;
    }
    report_count(report, "step", "", event->step);
    report_count(report, "pid", "", (uint64_t)event->pid);
    report_count(report, "exit_code", "", (uint64_t)event->exit_code);
    report_count(report, "signal", "", (uint64_t)event->signal);
    report_text(report, "outcome", "", event->outcome);
    report_text(report, "text", "", event->text);
    report_count(report, "lost", "", event->lost);
}

/* The table shows the last events of a long history. */
static int report_run_events(struct report *report, const struct tr_run *run,
                             struct tr_error *error)
{
    uint64_t count = tr_run_num_events(run);
    uint64_t first = !report->json && count > EVENTS_SHOWN ? count - EVENTS_SHOWN : 0;
    int rv = 0;
    if (count > 0)
        report_count(report, "num_events", "events of its job", count);
    for (uint64_t i = first; i < count && rv == 0; i++) {
        struct tr_run_event event = TR_RUN_EVENT_INIT;
        rv = tr_run_get_event(run, i, &event, error);
        if (rv == 0)
            report_event(report, &event);
    }
    report_rows_end(report);
    return rv;
}

static int report_run(struct report *report, const struct tr_run *run, struct tr_error *error)
{
    struct tr_run_info info = TR_RUN_INFO_INIT;
    int rv = tr_run_info(run, &info, error);
    if (rv != 0)
        return rv;
    report_text(report, "kind", "kind", "training run");
    report_flag(report, "complete", "complete", info.complete);
    report_text(report, "graph", "graph", info.graph);
    report_text(report, "version", "trained by version", info.version);
    report_text(report, "kernels", "computed by", info.kernels);
    report_flag(report, "model", "has a model", info.has_model);
    if (info.has_model)
        report_count(report, "parameters", "parameters", info.parameters);
    rv = report_run_checkpoints(report, info.path, error);
    if (rv == 0)
        rv = report_run_training(report, run, &info, error);
    if (rv == 0 && info.has_model)
        rv = report_run_relations(report, info.path, error);
    for (uint64_t i = 0; i < info.num_options && rv == 0; i++) {
        const char *name, *value;
        rv = tr_run_option(run, i, &name, &value, error);
        if (rv != 0)
            break;
        report_row(report, "options");
        report_text(report, "name", "option", name);
        report_text(report, "value", "value", value);
    }
    report_rows_end(report);
    return rv == 0 ? report_run_events(report, run, error) : rv;
}

static int inspect_run(struct report *report, const char *path, struct tr_error *error)
{
    struct tr_run *run;
    int rv = tr_run_open(path, &run, error);
    if (rv != 0)
        return rv;
    rv = report_run(report, run, error);
    tr_run_close(run);
    return rv;
}

static int inspect_path(struct report *report, const char *path, struct tr_error *error)
{
    if (tr_checkpoints_named(path))
        return inspect_checkpoints(report, path, error);
    if (tr_run_named(path))
        return inspect_run(report, path, error);
    if (inspect_runs_found(path))
        return inspect_runs(report, path, error);
    char *graph;
    int rv = graph_path_try(path, &graph, error);
    if (rv == 0)
        rv = names_book(graph) ? inspect_book(report, graph, error)
                               : inspect_raw(report, graph, error);
    free(graph);
    return rv;
}

/* Single nodes and edges, of what must be a partitioned graph. */
static int inspect_path_ids(struct report *report, const char *path, const struct inspect_ids *ids,
                            struct tr_error *error)
{
    char *graph;
    int rv = graph_path_find(path, &graph, error);
    if (rv == 0)
        rv = inspect_ids(report, graph, ids, error);
    free(graph);
    return rv;
}

static int cmd_inspect_run(const struct invocation *invocation, const void *opaque)
{
    const struct inspect_values *values = opaque;
    const char *path = invocation->operands[0];
    struct tr_error error = TR_ERROR_INIT;
    struct report report;
    report_init(&report, values->json);
    bool single = values->ids.nodes.count > 0 || values->ids.edges.count > 0 ||
                  values->ids.own_nodes != NULL;
    int rv = single             ? inspect_path_ids(&report, path, &values->ids, &error)
             : names_book(path) ? inspect_book(&report, path, &error)
                                : inspect_path(&report, path, &error);
    if (rv != 0) {
        report_fini(&report);
        return fail(invocation, &error);
    }
    return report_print(&report, &error) != 0 ? fail(invocation, &error) : EXIT_DONE;
}

static const char *const EXAMPLES[] = {
    "troupe inspect raw",
    "troupe inspect parts/graph.json --json",
    "troupe inspect parts --node-type paper --nodes 0,17",
    "troupe inspect parts --edges 5",
    "troupe inspect parts --own-ids alice,bob",
    "troupe inspect run",
    "troupe inspect all",
    "troupe inspect run/checkpoints",
    "troupe inspect run/checkpoints/checkpoint-40",
    NULL,
};

const struct command command_inspect = {
    .name = "inspect",
    .summary = "Show what a raw graph, a partitioned graph, a run or a checkpoint holds",
    .operands = "RAW|DIR|DIR/NAME.json|RUN|CHECKPOINTS",
    .operands_min = 1,
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = sizeof(struct inspect_values),
    .examples = EXAMPLES,
    .run = cmd_inspect_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "partition/build/partition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "partition/build/assign.h"
#include "partition/build/check.h"
#include "partition/build/classes.h"
#include "partition/build/id_plan.h"
#include "partition/build/train_mask.h"
#include "partition/build/write.h"
#include "partition/raw/raw_csr.h"
#include "partition/store/book_json.h"
#include "partition/store/replace.h"
#include "runtime/base/atomic_dir.h"
#include "runtime/base/hotmem.h"

static int partition_assign(struct assignment *assignment, struct partition_job *job,
                            struct error *error)
{
    int rv = assignment_init(assignment, job, error);
    if (rv != 0)
        return rv;
    switch (job->options->method) {
    case PARTITION_RANDOM:
        return assign_random(assignment, job, error);
    case PARTITION_METIS:
        return assign_metis(assignment, job, error);
    case PARTITION_FILE:
        return assign_file(assignment, job, error);
    }
    return error_set(error, TR_EINVAL, "there is no partition method %d",
                     (int)job->options->method);
}

static int make_degrees(struct partition_job *job, uint32_t ***degrees, struct error *error)
{
    uint32_t num_ntypes = job->raw->types.num_ntypes;
    *degrees = calloc(num_ntypes + 1, sizeof **degrees);
    if (*degrees == NULL)
        return job_no_memory(error, "degrees", 0);
    for (uint32_t type = 0; type < num_ntypes; type++) {
        size_t bytes = (size_t)job->raw->num_nodes[type] * sizeof(uint32_t);
        (*degrees)[type] = hotmem_alloc(bytes);
        if ((*degrees)[type] == NULL)
            return job_no_memory(error, "degrees", bytes);
    }
    return 0;
}

static void free_degrees(const struct partition_job *job, uint32_t **degrees)
{
    for (uint32_t type = 0; degrees != NULL && type < job->raw->types.num_ntypes; type++)
        hotmem_free(degrees[type], (size_t)job->raw->num_nodes[type] * sizeof(uint32_t));
    free(degrees);
}

static int make_folders(struct partition_job *job, struct error *error)
{
    int rv = 0;
    for (uint32_t part = 0; part < job->options->num_parts && rv == 0; part++) {
        char *path = job_path(job, part, strdup("."));
        rv = path == NULL ? job_no_memory(error, "a folder's name", 0)
                          : files_make_folders(job->files, path, error);
        free(path);
    }
    return rv;
}

static int write_arrays(struct partition_job *job, const struct assignment *assignment,
                        bool *column_tables, struct error *error)
{
    const struct raw_graph *raw = job->raw;
    /* Edges come first: counting them makes the degrees that are written with the nodes. Halos
     * come after the edges, whose files they read. Ranks of sets come before those of the deal:
     * the book numbers tables as they are finished. */
    int rv = make_folders(job, error);
    for (uint32_t i = 0; i < raw->types.num_etypes && rv == 0; i++)
        rv = write_edges(job, i, &column_tables[i], error);
    for (uint32_t i = 0; i < raw->types.num_ntypes && rv == 0; i++)
        rv = write_nodes(job, assignment, i, error);
    for (uint32_t i = 0; i < raw->num_tables && rv == 0; i++) {
        if (!raw->tables[i].on_edges)
            rv = (raw->tables[i].csr != NULL ? write_csr_rows : write_node_rows)(job, i, error);
    }
    for (uint32_t i = 0; i < raw->types.num_ntypes && rv == 0; i++)
        rv = write_ranks(job, i, error);
    if (rv == 0)
        rv = write_halos(job, column_tables, error);
    if (rv == 0 && job->options->trainers > 0)
        rv = write_deal(job, assignment, error);
    for (uint32_t i = 0; i < raw->num_names && rv == 0; i++)
        rv = write_names(job, i, error);
    return rv;
}

static int add_table(struct book_file *file, const struct raw_table *table, const char *name,
                     uint32_t type, enum tr_dtype dtype)
{
    struct book_table *grown = realloc(file->tables, (file->num_tables + 1) * sizeof *grown);
    if (grown == NULL)
        return TR_ENOMEM;
    file->tables = grown;
    struct book_table *added = &grown[file->num_tables];
    *added = (struct book_table){ .name = strdup(name), .type = type, .dtype = dtype };
    if (added->name == NULL)
        return TR_ENOMEM;
    file->num_tables++;
    if (table != NULL) {
        added->on_edges = table->on_edges;
        added->ndim = table->ndim;
        memcpy(added->shape, table->shape, sizeof added->shape);
    }
    return 0;
}

/* Takes the counts. */
static void list_csr(struct book_table *added, const struct raw_table *table, struct job_csr *csr)
{
    added->form = TABLE_CSR;
    added->has_values = table->csr->has_values;
    added->row_nnz_max = csr->row_nnz_max;
    added->nnz = csr->nnz;
    csr->nnz = NULL;
}

static int list_tables(struct book_file *file, const struct partition_job *job)
{
    const struct raw_graph *raw = job->raw;
    int rv = 0;
    for (uint32_t i = 0; i < raw->num_tables && rv == 0; i++) {
        rv = add_table(file, &raw->tables[i], raw->tables[i].name, raw->tables[i].type,
                       raw->tables[i].dtype);
        if (rv == 0 && raw->tables[i].csr != NULL)
            list_csr(&file->tables[file->num_tables - 1], &raw->tables[i], &job->csr[i]);
    }
    for (uint32_t type = 0; job->options->trainers > 0 && type < raw->types.num_ntypes && rv == 0;
         type++)
        rv = add_table(file, NULL, PARTITION_TRAINER_ID, type, TR_I32);
    return rv;
}

static int list_folders(struct book_file *file)
{
    file->part_folders = calloc(file->book.num_parts, sizeof *file->part_folders);
    for (uint32_t i = 0; file->part_folders != NULL && i < file->book.num_parts; i++) {
        if (asprintf(&file->part_folders[i], "part%u", i) < 0) {
            file->part_folders[i] = NULL;
            return TR_ENOMEM;
        }
    }
    return file->part_folders == NULL ? TR_ENOMEM : 0;
}

static const char *method_name(enum partition_method method)
{
    return method == PARTITION_RANDOM ? "random" : method == PARTITION_METIS ? "metis" : "file";
}

/* NAME.json. Takes column_tables and the job's checksums. */
static int write_book(struct partition_job *job, const char *name, bool *column_tables,
                      struct error *error)
{
    const struct partition_options *options = job->options;
    struct book_file file = { .seed = options->seed,
                              .num_trainers = options->trainers,
                              .original_edge_ids = !options->drop_edge_ids };
    char *path = NULL;
    int rv = book_init(&file.book, name, &job->raw->types, options->num_parts,
                       job->plan->node_counts, job->plan->edge_counts);
    if (rv == 0 && options->out_edges)
        rv = book_add_out_edges(&file.book, job->plan->out_counts);
    file.column_tables = column_tables;
    file.checksums = job->checksums;
    job->checksums = (struct checksums){ 0 };
    for (uint32_t i = 0; i < job->ranks.num_ranks && rv == 0; i++)
        rv = book_add_ranks(&file.book, &job->ranks.ranks[i]);
    if (rv == 0) {
        file.book.edge_runs = true;
        file.book.halo_hops = options->halo_hops;
        file.book.part_method = strdup(method_name(options->method));
        rv = file.book.part_method == NULL ? TR_ENOMEM : list_folders(&file);
    }
    if (rv == 0 && options->trainers > 0 && options->train_mask != NULL) {
        file.train_mask = strdup(options->train_mask);
        rv = file.train_mask == NULL ? TR_ENOMEM : 0;
    }
    if (rv == 0)
        rv = list_tables(&file, job);
    file.first_id = job->raw->first_id;
    for (uint32_t i = 0; i < job->raw->num_names && rv == 0; i++)
        rv = book_file_add_names(&file, &job->raw->names[i].key, job->raw->names[i].count);
    if (rv == 0)
        rv = asprintf(&path, "%s/%s.json", job->folder, name) < 0 ? TR_ENOMEM : 0;
    if (rv != 0) {
        error_set(error, rv, "%s.json: %s", name, tr_strerror(rv));
        path = NULL;
    } else {
        rv = book_file_write(&file, job->files, path, error);
    }
    free(path);
    book_file_fini(&file);
    return rv;
}

/* Largest over mean; 0 of nothing. */
static double balance_of(const uint64_t *counts, uint32_t num_types, uint32_t num_parts)
{
    uint64_t largest = 0, total = 0;
    for (uint32_t part = 0; part < num_parts; part++) {
        uint64_t sum = 0;
        for (uint32_t type = 0; type < num_types; type++)
            sum += counts[(size_t)type * num_parts + part];
        total += sum;
        largest = sum > largest ? sum : largest;
    }
    return total == 0 ? 0 : (double)largest * num_parts / (double)total;
}

static void fill_report(struct partition_job *job)
{
    struct partition_report *report = job->report;
    const struct raw_graph *raw = job->raw;
    struct rusage usage;
    for (uint32_t i = 0; i < raw->types.num_ntypes; i++)
        report->num_nodes += raw->num_nodes[i];
    for (uint32_t i = 0; i < raw->types.num_etypes; i++)
        report->num_edges += raw->num_edges[i];
    report->node_balance = balance_of(job->plan->node_counts, raw->types.num_ntypes,
                                      job->options->num_parts);
    report->edge_balance = balance_of(job->plan->edge_counts, raw->types.num_etypes,
                                      job->options->num_parts);
    if (report->num_edges > 0)
        report->cut_share = (double)report->cut_edges / (double)report->num_edges;
    if (report->num_nodes + report->halo_nodes > 0)
        report->halo_share = (double)report->halo_nodes /
                             (double)(report->num_nodes + report->halo_nodes);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        report->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
}

/* How even the partitions are in what was asked to be balanced, and in what trains. */
static int report_classes(struct partition_job *job, const struct assignment *assignment,
                          struct error *error)
{
    const struct partition_options *options = job->options;
    struct classes classes;
    int rv = classes_init(&classes, job, options->balance_tables, options->num_balance_tables,
                          error);
    if (rv == 0) {
        job->report->num_classes = classes.num_classes;
        rv = classes_balance(&classes, job, assignment->parts, job->report->class_balance);
        if (rv != 0)
            job_no_memory(error, "counts of classes", 0);
    }
    classes_fini(&classes);
    return rv != 0 ? rv
                   : train_mask_balance(job, assignment->parts, &job->report->train_balance, error);
}

/* Everything between an assignment and a directory that is whole but for its rename. */
static int write_directory(struct partition_job *job, const struct assignment *assignment,
                           const char *name, struct error *error)
{
    struct id_plan plan;
    bool *column_tables = calloc(job->raw->types.num_etypes + 1, sizeof *column_tables);
    job->csr = calloc(job->raw->num_tables + (size_t)1, sizeof *job->csr);
    int rv = column_tables == NULL || job->csr == NULL
                 ? job_no_memory(error, "the types", 0)
                 : id_plan_init(&plan, assignment, job, error);
    if (rv != 0) {
        free(job->csr);
        free(column_tables);
        return rv;
    }
    job->plan = &plan;
    rv = make_degrees(job, &job->in_degrees, error);
    if (rv == 0)
        rv = make_degrees(job, &job->out_degrees, error);
    if (rv == 0)
        rv = write_arrays(job, assignment, column_tables, error);
    if (rv == 0) {
        /* The book comes after the arrays: their checksums, the counts of edges and the tables
         * of ranks are known now. */
        rv = write_book(job, name, column_tables, error);
        column_tables = NULL;
    }
    if (rv == 0)
        fill_report(job);
    free_degrees(job, job->in_degrees);
    free_degrees(job, job->out_degrees);
    for (uint32_t i = 0; i < job->raw->num_tables; i++)
        free(job->csr[i].nnz);
    free(job->csr);
    free(column_tables);
    id_plan_fini(&plan);
    return rv;
}

int partition_graph(struct raw_graph *raw, const struct partition_options *options,
                    const char *out_dir, struct parallel *parallel,
                    const struct partition_hooks *hooks, struct partition_report *report,
                    struct error *error)
{
    struct partition_report unwanted;
    struct assignment assignment = { 0 };
    struct atomic_dir folder;
    double begin = job_seconds();
    struct partition_job job = { .raw = raw,
                                 .options = options,
                                 .hooks = hooks,
                                 .parallel = parallel == NULL ? parallel_serial : parallel,
                                 .files = options->files == NULL ? files_posix : options->files,
                                 .report = report == NULL ? &unwanted : report,
                                 .summing = PTHREAD_MUTEX_INITIALIZER };
    *job.report = (struct partition_report){ 0 };
    int rv = partition_check(raw, options, error);
    if (rv != 0)
        return rv;
    /* The place is checked before the work: a path that is taken is refused before hours are
     * spent on it. */
    if (options->replace)
        rv = replace_check(job.files, out_dir, "part0", "a partition directory", error);
    if (rv == 0)
        rv = atomic_dir_begin(&folder, job.files, out_dir, options->replace, error);
    if (rv != 0)
        return rv;
    job.folder = folder.path;
    rv = partition_assign(&assignment, &job, error);
    if (rv == 0)
        rv = report_classes(&job, &assignment, error);
    if (rv == 0)
        rv = write_directory(&job, &assignment, options->name == NULL ? raw->name : options->name,
                             error);
    /* Whether somebody cancelled is asked once more: the commit is not taken back. */
    if (rv == 0)
        rv = job_step(&job, "writing to disk", 0, 0, error);
    if (rv == 0)
        rv = atomic_dir_commit(&folder, error);
    atomic_dir_abort(&folder);
    assignment_fini(&assignment);
    checksums_fini(&job.checksums);
    book_fini(&job.ranks);
    pthread_mutex_destroy(&job.summing);
    job.report->total_seconds = job_seconds() - begin;
    return rv;
}

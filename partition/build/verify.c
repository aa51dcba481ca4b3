/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "partition/build/verify_private.h"
#include "partition/raw/raw_csr.h"
#include "partition/store/part_files.h"
#include "runtime/base/hotmem.h"

int verify_differs(struct verification *verification, uint32_t part, char *name, const char *what,
                   uint64_t at, uint64_t found, uint64_t expected)
{
    char *path = store_path(verification->store, part, name);
    int rv = error_set(verification->error, TR_EMISMATCH,
                       "%s: %s %" PRIu64 " is %" PRIu64 ", the input says %" PRIu64
                       "; partition again",
                       path == NULL ? "?" : path, what, at, found, expected);
    free(path);
    return rv;
}

static int differs_in_book(struct verification *verification, const char *what, const char *name)
{
    return error_set(verification->error, TR_EMISMATCH,
                     "%s: %s '%s' is not as in the input; was it made of another graph?",
                     verification->store->path, what, name);
}

static int check_types(struct verification *verification)
{
    const struct raw_graph *raw = verification->raw;
    const struct book *book = verification->book;
    if (book->types.num_ntypes != raw->types.num_ntypes ||
        book->types.num_etypes != raw->types.num_etypes)
        return differs_in_book(verification, "the number of types of", book->graph_name);
    if (store_book_file(verification->store)->first_id != raw->first_id)
        return differs_in_book(verification, "the first ID of", book->graph_name);
    for (uint32_t t = 0; t < raw->types.num_ntypes; t++) {
        if (strcmp(book->types.ntypes[t], raw->types.ntypes[t]) != 0)
            return differs_in_book(verification, "node type", book->types.ntypes[t]);
        if (book->num_nodes[t] != raw->num_nodes[t])
            return differs_in_book(verification, "the number of nodes of", raw->types.ntypes[t]);
    }
    for (uint32_t e = 0; e < raw->types.num_etypes; e++) {
        const struct graph_etype *a = &book->types.etypes[e], *b = &raw->types.etypes[e];
        if (strcmp(a->name, b->name) != 0 || a->src != b->src || a->dst != b->dst)
            return differs_in_book(verification, "edge type", a->name);
        if (book->num_edges[e] != raw->num_edges[e])
            return differs_in_book(verification, "the number of edges of", b->name);
    }
    return 0;
}

/* A sparse table is one in the directory too, with as many elements; its rows are compared by what
 * they say, so that this alone shows a stored 0 that is missing. */
static bool same_form(const struct book_table *a, uint32_t num_parts, const struct raw_table *b)
{
    if (b->csr == NULL || a->form == TABLE_DENSE)
        return b->csr == NULL && a->form == TABLE_DENSE;
    return a->has_values == b->csr->has_values && book_table_nnz(a, num_parts) == b->csr->nnz;
}

static bool same_table(const struct book_table *a, const struct raw_table *b)
{
    return strcmp(a->name, b->name) == 0 && a->on_edges == b->on_edges && a->type == b->type &&
           a->dtype == b->dtype && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, sizeof a->shape[0] * a->ndim) == 0;
}

/* The tables of the input, and those of trainers. */
static int check_tables(struct verification *verification)
{
    const struct book_file *file = store_book_file(verification->store);
    const struct raw_graph *raw = verification->raw;
    uint32_t found = 0;
    for (uint32_t i = 0; i < raw->num_tables; i++) {
        uint32_t j = 0;
        while (j < file->num_tables && !same_table(&file->tables[j], &raw->tables[i]))
            j++;
        if (j == file->num_tables ||
            !same_form(&file->tables[j], verification->book->num_parts, &raw->tables[i]))
            return differs_in_book(verification, "table", raw->tables[i].name);
        found++;
    }
    for (uint32_t t = 0; file->num_trainers > 0 && t < raw->types.num_ntypes; t++) {
        const struct raw_table ids = { .name = (char[]){ PARTITION_TRAINER_ID },
                                       .type = t,
                                       .dtype = TR_I32 };
        uint32_t j = 0;
        while (j < file->num_tables && !same_table(&file->tables[j], &ids))
            j++;
        if (j == file->num_tables)
            return differs_in_book(verification, "table", PARTITION_TRAINER_ID);
        found++;
    }
    return found == file->num_tables ? 0
                                     : differs_in_book(verification, "the number of tables of",
                                                       verification->book->graph_name);
}

static int load_parts(struct verification *verification)
{
    struct partition_load load = {
        .mode = PARTITION_MAP,
        .check = PARTITION_CHECK_NONE, /* the comparison says more of what differs */
        .features = true,
        .degrees = true,
        .edge_rank = true,
        .ranks = true,
        .out_edges = true,
        .original_edge_ids = store_book_file(verification->store)->original_edge_ids,
    };
    uint32_t num_parts = verification->book->num_parts;
    int rv = 0;
    verification->parts = calloc(num_parts, sizeof *verification->parts);
    if (verification->parts == NULL)
        return job_no_memory(verification->error, "the partitions", 0);
    for (uint32_t p = 0; p < num_parts && rv == 0; p++) {
        rv = job_step(&verification->job, "open", p, num_parts, verification->error);
        if (rv == 0)
            rv = store_load(verification->store, p, &load, &verification->parts[p],
                            verification->error);
    }
    return rv;
}

/* original -> global of a type. Every original ID must be found in exactly one partition. */
static int map_nodes(struct verification *verification, uint32_t ntype)
{
    uint64_t count = verification->book->num_nodes[ntype];
    uint64_t *global = hotmem_alloc((size_t)count * sizeof *global);
    verification->global[ntype] = global;
    verification->in_degrees[ntype] = hotmem_alloc((size_t)count * sizeof(uint32_t));
    verification->out_degrees[ntype] = hotmem_alloc((size_t)count * sizeof(uint32_t));
    if (global == NULL || verification->in_degrees[ntype] == NULL ||
        verification->out_degrees[ntype] == NULL)
        return job_no_memory(verification->error, "the map of node IDs", count * 16);
    memset(global, 0xff, (size_t)count * sizeof *global);
    /* As many places as IDs, so none missing means none twice and the other way round. */
    for (uint32_t p = 0; p < verification->book->num_parts; p++) {
        const struct node_part *nodes = &verification->parts[p]->nodes[ntype];
        for (uint64_t i = 0; i < nodes->num_nodes; i++) {
            uint64_t original = nodes->original_ids[i];
            if (global[original] != UINT64_MAX)
                return verify_differs(
                    verification, p,
                    part_file_node(&verification->book->types, ntype, PART_ORIGINAL_IDS),
                    "a second owner of the node in element", i, original, global[original]);
            global[original] = nodes->global_begin + i;
        }
    }
    return 0;
}

static int check_degrees(struct verification *verification, uint32_t ntype)
{
    const struct graph_types *types = &verification->book->types;
    for (uint32_t p = 0; p < verification->book->num_parts; p++) {
        const struct node_part *nodes = &verification->parts[p]->nodes[ntype];
        for (uint64_t i = 0; i < nodes->num_nodes; i++) {
            uint64_t original = nodes->original_ids[i];
            uint32_t in = verification->in_degrees[ntype][original];
            uint32_t out = verification->out_degrees[ntype][original];
            if (nodes->in_degrees[i] != in)
                return verify_differs(verification, p,
                                      part_file_node(types, ntype, PART_IN_DEGREES), "element", i,
                                      nodes->in_degrees[i], in);
            if (nodes->out_degrees[i] != out)
                return verify_differs(verification, p,
                                      part_file_node(types, ntype, PART_OUT_DEGREES), "element", i,
                                      nodes->out_degrees[i], out);
        }
    }
    return 0;
}

static int check_nodes(struct verification *verification, uint32_t ntype)
{
    const struct raw_graph *raw = verification->raw;
    int rv = check_degrees(verification, ntype);
    for (uint32_t i = 0; i < raw->num_tables && rv == 0; i++) {
        if (!raw->tables[i].on_edges && raw->tables[i].type == ntype)
            rv = verify_rows(verification, i, NULL);
    }
    verification->report->num_nodes += verification->book->num_nodes[ntype];
    if (rv == 0)
        rv = verify_ranks(verification, ntype);
    return rv == 0 ? verify_trainers(verification, ntype) : rv;
}

static int check_all(struct verification *verification)
{
    const struct graph_types *types = &verification->book->types;
    uint32_t num_parts = verification->book->num_parts;
    /* Nodes are mapped before edges, which are compared by that map; edges come before what
     * nodes hold, since degrees are compared with them. Halos come last: they are found again by
     * edges that were proven. */
    int rv = load_parts(verification);
    for (uint32_t t = 0; t < types->num_ntypes && rv == 0; t++)
        rv = map_nodes(verification, t);
    for (uint32_t e = 0; e < types->num_etypes && rv == 0; e++) {
        rv = verify_edges(verification, e);
        verification->report->num_edges += verification->book->num_edges[e];
    }
    for (uint32_t t = 0; t < types->num_ntypes && rv == 0; t++)
        rv = check_nodes(verification, t);
    for (uint32_t p = 0; p < num_parts && rv == 0; p++) {
        rv = job_step(&verification->job, "halo", p, num_parts, verification->error);
        if (rv == 0)
            rv = verify_halos(verification, p);
    }
    return rv;
}

static void verify_unload(struct verification *verification)
{
    const struct book *book = verification->book;
    for (uint32_t p = 0; verification->parts != NULL && p < book->num_parts; p++)
        store_unload(verification->store, verification->parts[p]);
    free(verification->parts);
    for (uint32_t t = 0; t < book->types.num_ntypes; t++) {
        size_t count = (size_t)book->num_nodes[t];
        if (verification->global != NULL)
            hotmem_free(verification->global[t], count * sizeof(uint64_t));
        if (verification->in_degrees != NULL)
            hotmem_free(verification->in_degrees[t], count * sizeof(uint32_t));
        if (verification->out_degrees != NULL)
            hotmem_free(verification->out_degrees[t], count * sizeof(uint32_t));
    }
    free(verification->global);
    free(verification->in_degrees);
    free(verification->out_degrees);
}

static int show_sums(void *arg, uint32_t part, struct error *error)
{
    struct verification *verification = arg;
    return job_step(&verification->job, "checksums", part, verification->book->num_parts, error);
}

int verify_directory(const char *path, struct raw_graph *raw, struct parallel *parallel,
                     const struct partition_hooks *hooks, struct verify_report *report,
                     struct error *error)
{
    struct partition_report unused = { 0 };
    struct verify_report unwanted;
    struct partition_options options = { 0 };
    double begin = job_seconds();
    struct store_checked checked;
    struct verification verification = {
        .job = { .raw = raw,
                 .hooks = hooks,
                 .parallel = parallel_serial,
                 .files = files_posix,
                 .report = &unused,
                 .options = &options },
        .raw = raw,
        .report = report == NULL ? &unwanted : report,
        .error = error,
    };
    *verification.report = (struct verify_report){ 0 };
    int rv = store_open(path, &verification.store, error);
    if (rv != 0)
        return rv;
    verification.book = store_book(verification.store);
    options.train_mask = store_book_file(verification.store)->train_mask;
    size_t types = verification.book->types.num_ntypes + 1;
    verification.global = calloc(types, sizeof *verification.global);
    verification.in_degrees = calloc(types, sizeof *verification.in_degrees);
    verification.out_degrees = calloc(types, sizeof *verification.out_degrees);
    if (verification.global == NULL || verification.in_degrees == NULL ||
        verification.out_degrees == NULL)
        rv = job_no_memory(error, "the types", types);
    if (rv == 0)
        rv = check_types(&verification);
    if (rv == 0)
        rv = check_tables(&verification);
    if (rv == 0)
        rv = verify_names(&verification);
    if (rv == 0)
        rv = check_all(&verification);
    /* Sums come last: the comparison above says more of what differs. */
    if (rv == 0 && store_has_checksums(verification.store))
        rv = store_check_files(verification.store, false, parallel,
                               hooks == NULL ? NULL : hooks->cancel, show_sums, &verification,
                               &checked, error);
    if (rv == TR_ECANCELED) /* the steps speak of partitioning */
        error_set(error, rv, "verifying was cancelled");
    verify_unload(&verification);
    store_close(verification.store);
    verification.report->seconds = job_seconds() - begin;
    return rv;
}

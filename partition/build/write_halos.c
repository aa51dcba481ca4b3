/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The halo lists of each partition, found hop by hop from the columns that were written before.
 *
 * Invariants, for each hop and node type: `previous` has the nodes of the hop before, `seen` has
 * those of all hops before, and a node enters `frontier` only if it is neither owned nor seen. So a
 * node is in the list of the first hop that reaches it, and in no other.
 */
#include "partition/build/write.h"

#include <stdlib.h>
#include <string.h>

#include "partition/store/npy.h"
#include "partition/store/part_files.h"
#include "runtime/base/hotmem.h"

/* Columns that are read at once. */
#define PIECE ((uint64_t)1 << 16)
/* Two words of bits a node type and worker; partitions that are looked at together. */
#define GROUP_PARTS 32

/* The halo of one partition while it is found: bits by global ID. */
struct halo {
    struct partition_job *job;
    const bool *column_tables;
    uint32_t part;
    uint64_t **seen;     /* [ntype] owned, or in the halo of an earlier hop */
    uint64_t **frontier; /* [ntype] in the halo of this hop */
    uint64_t **previous; /* [ntype] in the halo of the hop before */
    uint64_t cut_edges;
    uint64_t halo_nodes; /* of the first hop */
    uint64_t listed[BOOK_HALO_HOPS_MAX];
    struct error error;
};

static size_t words_of(const struct id_plan *plan, uint32_t ntype)
{
    return (size_t)(plan->num_nodes[ntype] / 64 + 1);
}

static uint64_t **make_bits(const struct id_plan *plan)
{
    uint64_t **bits = calloc(plan->num_ntypes + 1, sizeof *bits);
    for (uint32_t t = 0; bits != NULL && t < plan->num_ntypes; t++) {
        bits[t] = hotmem_alloc(words_of(plan, t) * sizeof **bits);
        if (bits[t] == NULL) {
            while (t > 0) {
                t--;
                hotmem_free(bits[t], words_of(plan, t) * sizeof **bits);
            }
            free(bits);
            return NULL;
        }
    }
    return bits;
}

static void free_bits(const struct id_plan *plan, uint64_t **bits)
{
    for (uint32_t t = 0; bits != NULL && t < plan->num_ntypes; t++)
        hotmem_free(bits[t], words_of(plan, t) * sizeof **bits);
    free(bits);
}

static bool has_bit(const uint64_t *bits, uint64_t id)
{
    return (bits[id / 64] >> (id % 64)) & 1;
}

static void set_bit(uint64_t *bits, uint64_t id)
{
    bits[id / 64] |= UINT64_C(1) << (id % 64);
}

/* An array of a partition that was written a moment ago. */
static int open_array(struct halo *halo, uint32_t part, uint32_t etype, const char *array,
                      struct npy *npy)
{
    char *path = job_path(halo->job, part, part_file_edge(&halo->job->raw->types, etype, array));
    int rv = path == NULL ? job_no_memory(&halo->error, "a file's name", 0)
                          : npy_open(npy, halo->job->files, path, &halo->error);
    free(path);
    return rv;
}

/* The columns of a partition's edge type, and their global IDs where those are a table. */
struct sources {
    struct npy indices;
    struct npy table;
    const uint64_t *global; /* NULL: columns are global IDs */
};

static int open_sources(struct halo *halo, uint32_t part, uint32_t etype, struct sources *sources)
{
    const void *map;
    *sources = (struct sources){ 0 };
    int rv = open_array(halo, part, etype, PART_INDICES, &sources->indices);
    if (rv != 0 || !halo->column_tables[etype])
        return rv;
    rv = open_array(halo, part, etype, PART_COLUMN_GLOBAL, &sources->table);
    if (rv == 0)
        rv = npy_map(&sources->table, &map, &halo->error);
    sources->global = rv == 0 ? map : NULL;
    return rv;
}

static void close_sources(struct sources *sources)
{
    npy_close(&sources->indices);
    npy_close(&sources->table);
}

/* Marks the sources of edges [begin, end) that are new. Returns edges from unowned nodes. */
static int halos_mark(struct halo *halo, struct sources *sources, uint32_t ntype, uint64_t begin,
                      uint64_t end, uint32_t *piece, uint64_t *unowned)
{
    const struct id_plan *plan = halo->job->plan;
    size_t cell = (size_t)ntype * plan->num_parts + halo->part;
    uint64_t first = plan->node_begins[cell], owned = plan->node_counts[cell];
    const uint64_t *seen = halo->seen[ntype];
    uint64_t *frontier = halo->frontier[ntype];
    int rv = 0;
    for (; begin < end && rv == 0; begin += PIECE) {
        uint64_t count = end - begin < PIECE ? end - begin : PIECE;
        rv = npy_read_rows(&sources->indices, begin, count, piece, &halo->error);
        for (uint64_t i = 0; i < count && rv == 0; i++) {
            uint64_t id = sources->global == NULL ? piece[i] : sources->global[piece[i]];
            if (id - first < owned)
                continue;
            ++*unowned;
            if (!has_bit(seen, id))
                set_bit(frontier, id);
        }
    }
    return rv;
}

/* The first hop: sources of all edges of the partition. */
static int first_hop(struct halo *halo, uint32_t *piece)
{
    const struct raw_graph *raw = halo->job->raw;
    int rv = 0;
    for (uint32_t etype = 0; etype < raw->types.num_etypes && rv == 0; etype++) {
        struct sources sources;
        rv = open_sources(halo, halo->part, etype, &sources);
        if (rv == 0)
            rv = halos_mark(halo, &sources, raw->types.etypes[etype].src, 0,
                            sources.indices.num_rows, piece, &halo->cut_edges);
        close_sources(&sources);
    }
    return rv;
}

/* Sources of the in-edges that halo nodes of the hop before have in the partition that owns
 * them. */
static int next_hop_from(struct halo *halo, uint32_t owner, uint32_t etype, uint32_t *piece)
{
    const struct id_plan *plan = halo->job->plan;
    const struct graph_etype *type = &halo->job->raw->types.etypes[etype];
    size_t cell = (size_t)type->dst * plan->num_parts + owner;
    uint64_t begin = plan->node_begins[cell], end = begin + plan->node_counts[cell], unowned = 0;
    struct sources sources = { 0 };
    struct npy index = { 0 };
    const void *map = NULL;
    int rv = open_array(halo, owner, etype, PART_INDEX, &index);
    if (rv == 0)
        rv = npy_map(&index, &map, &halo->error);
    if (rv == 0)
        rv = open_sources(halo, owner, etype, &sources);
    const uint64_t *bounds = map;
    for (uint64_t id = begin; id < end && rv == 0; id++) {
        uint64_t word = halo->previous[type->dst][id / 64] >> (id % 64);
        if (word == 0)
            id |= 63; /* nothing in the rest of this word */
        else if (word & 1)
            rv = halos_mark(halo, &sources, type->src, bounds[id - begin], bounds[id - begin + 1],
                            piece, &unowned);
    }
    close_sources(&sources);
    npy_close(&index);
    return rv;
}

static int next_hop(struct halo *halo, uint32_t *piece)
{
    int rv = 0;
    for (uint32_t owner = 0; owner < halo->job->plan->num_parts && rv == 0; owner++) {
        for (uint32_t e = 0; e < halo->job->raw->types.num_etypes && rv == 0; e++)
            rv = next_hop_from(halo, owner, e, piece);
    }
    return rv;
}

static int write_bits(struct halo *halo, uint32_t ntype, uint32_t hop)
{
    const uint64_t *bits = halo->frontier[ntype];
    size_t words = words_of(halo->job->plan, ntype);
    struct npy_writer writer = { 0 };
    uint64_t count = 0;
    for (size_t w = 0; w < words; w++)
        count += (uint64_t)__builtin_popcountll(bits[w]);
    if (hop == 1)
        halo->halo_nodes += count;
    if (hop > halo->job->options->halo_hops)
        return 0;
    halo->listed[hop - 1] += count;
    char *path = job_path(halo->job, halo->part,
                          part_file_halo(&halo->job->raw->types, ntype, hop));
    int rv = path == NULL
                 ? job_no_memory(&halo->error, "a file's name", 0)
                 : npy_create(&writer, halo->job->files, path, "<u8", 1, &count, &halo->error);
    for (size_t w = 0; w < words && rv == 0; w++) {
        for (uint64_t word = bits[w]; word != 0 && rv == 0; word &= word - 1) {
            uint64_t id = w * 64 + (uint64_t)__builtin_ctzll(word);
            rv = npy_append(&writer, &id, sizeof id, &halo->error);
        }
    }
    if (rv == 0)
        rv = job_finish_array(halo->job, halo->part, &writer, &halo->error);
    npy_writer_close(&writer);
    free(path);
    return rv;
}

/* This hop becomes the one before: its nodes are seen, the next frontier is empty. */
static void halos_advance(struct halo *halo)
{
    const struct id_plan *plan = halo->job->plan;
    uint64_t **frontier = halo->previous;
    halo->previous = halo->frontier;
    halo->frontier = frontier;
    for (uint32_t t = 0; t < plan->num_ntypes; t++) {
        for (size_t w = 0; w < words_of(plan, t); w++)
            halo->seen[t][w] |= halo->previous[t][w];
        memset(frontier[t], 0, words_of(plan, t) * sizeof **frontier);
    }
}

static void find_halo(void *arg, size_t index, size_t worker)
{
    struct halo *halo = &((struct halo *)arg)[index];
    const struct id_plan *plan = halo->job->plan;
    uint32_t hops = halo->job->options->halo_hops;
    uint32_t *piece = malloc(PIECE * sizeof *piece);
    (void)worker;
    halo->seen = make_bits(plan);
    halo->frontier = make_bits(plan);
    halo->previous = make_bits(plan);
    int rv = piece == NULL || halo->seen == NULL || halo->frontier == NULL || halo->previous == NULL
                 ? job_no_memory(&halo->error, "halo lists", 0)
                 : 0;
    for (uint32_t hop = 1; rv == 0 && (hop == 1 || hop <= hops); hop++) {
        rv = hop == 1 ? first_hop(halo, piece) : next_hop(halo, piece);
        /* The hop is written while it is the frontier: halos_advance() makes it the one before. */
        for (uint32_t t = 0; t < plan->num_ntypes && rv == 0; t++)
            rv = write_bits(halo, t, hop);
        if (rv == 0)
            halos_advance(halo);
    }
    halo->error.code = rv;
    free_bits(plan, halo->seen);
    free_bits(plan, halo->frontier);
    free_bits(plan, halo->previous);
    free(piece);
}

static void halos_report(const struct halo *halo, struct partition_report *report)
{
    uint64_t listed = 0;
    report->cut_edges += halo->cut_edges;
    report->halo_nodes += halo->halo_nodes;
    for (uint32_t hop = 0; hop < BOOK_HALO_HOPS_MAX; hop++) {
        report->hop_halo_nodes[hop] += halo->listed[hop];
        listed += halo->listed[hop];
    }
    report->listed_halo_nodes += listed;
    if (listed > report->listed_halo_max)
        report->listed_halo_max = listed;
}

int write_halos(struct partition_job *job, const bool *column_tables, struct error *error)
{
    uint32_t num_parts = job->plan->num_parts;
    struct halo *halos = calloc(GROUP_PARTS, sizeof *halos);
    int rv = halos == NULL ? job_no_memory(error, "halo lists", 0) : 0;
    for (uint32_t first = 0; first < num_parts && rv == 0; first += GROUP_PARTS) {
        uint32_t count = num_parts - first < GROUP_PARTS ? num_parts - first : GROUP_PARTS;
        rv = job_step(job, "halo", first, num_parts, error);
        for (uint32_t i = 0; i < count; i++)
            halos[i] = (struct halo){ .job = job,
                                      .column_tables = column_tables,
                                      .part = first + i };
        if (rv == 0)
            parallel_for(job->parallel, count, find_halo, halos);
        for (uint32_t i = 0; i < count && rv == 0; i++) {
            rv = halos[i].error.code;
            if (rv != 0)
                error_set(error, rv, "%s", halos[i].error.text);
            halos_report(&halos[i], job->report);
        }
    }
    free(halos);
    return rv;
}

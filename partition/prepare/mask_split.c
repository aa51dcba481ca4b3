/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/prepare/mask_split.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/bijection.h"
#include "graph/key.h"
#include "partition/raw/raw_amend.h"

/* Rows of nodes or edges that are read and written at a time. */
#define SPLIT_ROWS_AT_ONCE ((uint64_t)1 << 16)
#define SPLIT_UNLABELLED (-1)
/* Draws of generated graphs have the same purpose and hop 0. */
#define SPLIT_HOP 1u

/* Units that are split among themselves: nodes of a class, or all nodes, or all edges of a type. A unit
 * is a row, or the two edges of a pair, and goes to one set. */
struct split_group {
    uint64_t count; /* of units that this pass has met */
    uint64_t size[MASK_SETS];
    struct bijection order;
};

/* Finds pairs among edges that follow each other. */
struct edge_pairer {
    uint64_t *src, *dst;             /* SPLIT_ROWS_AT_ONCE */
    uint64_t *other_src, *other_dst; /* as many, of the first half */
    uint64_t last_src, last_dst;
    uint64_t single; /* self-loops aside, so far in this pass */
    bool alone;      /* the last edge may be paired with the next one */
};

struct mask_splitter {
    const struct mask_split_options *options;
    struct mask_split_report *report;
    struct raw_amend *amend;
    struct raw_graph *graph;
    struct amend_rows_of of;
    uint32_t labels;   /* the table, where it is by class */
    uint64_t num_rows; /* nodes, or edges */
    struct edge_pairer pairer;
    uint32_t num_groups;
    struct split_group *groups;
    void *rows;       /* SPLIT_ROWS_AT_ONCE labels */
    int64_t *classes; /* of those rows: the numbers of their groups, or SPLIT_UNLABELLED */
    uint64_t *units;  /* of those rows, numbered in their groups */
    uint8_t *masks[MASK_SETS];
};

void mask_split_sizes(uint64_t n, const uint32_t share[MASK_SETS], uint64_t size[MASK_SETS])
{
    uint64_t left = n, rest[MASK_SETS];
    for (int i = 0; i < MASK_SETS; i++) {
        size[i] = n * share[i] / MASK_SPLIT_WHOLE;
        rest[i] = n * share[i] % MASK_SPLIT_WHOLE;
        left -= size[i];
    }
    /* The remainders add up to left * MASK_SPLIT_WHOLE, and each is below that: there are more sets
     * with a remainder than nodes left. */
    for (; left > 0; left--) {
        int most = 0;
        for (int i = 1; i < MASK_SETS; i++)
            most = rest[i] > rest[most] ? i : most;
        size[most]++;
        rest[most] = 0;
    }
}

static int splitter_check(const struct mask_split_options *options, struct error *error)
{
    uint64_t sum = 0;
    for (int i = 0; i < MASK_SETS; i++)
        sum += options->share[i];
    if (sum != MASK_SPLIT_WHOLE)
        return error_set(error, TR_EINVAL,
                         "the shares of training, validation and test nodes add up to %" PRIu64
                         ", not to %u",
                         sum, MASK_SPLIT_WHOLE);
    if (options->share[MASK_TRAIN] == 0)
        return error_set(error, TR_EINVAL, "the share of training nodes is 0");
    if (options->edges && options->by_class)
        return error_set(error, TR_EINVAL,
                         "by_class: edges have no classes; split them without by_class");
    if (!options->edges && options->pairs != MASK_PAIRS_NONE)
        return error_set(error, TR_EINVAL, "pairs: nodes are split, which are no pairs");
    return 0;
}

static int find_labels(struct mask_splitter *s, struct error *error)
{
    const char *names[] = { s->options->labels, NULL };
    if (names[0] == NULL) {
        names[0] = "label";
        names[1] = "labels";
    }
    int found = -1;
    for (int i = 0; found < 0 && i < 2 && names[i] != NULL; i++)
        found = raw_find_table(s->graph, false, s->report->ntype, names[i]);
    if (found < 0)
        return error_set(error, TR_ENOENT,
                         "node type '%s' has no table '%s' whose classes could be split; name one "
                         "by \"labels\", or split without by_class",
                         s->graph->types.ntypes[s->report->ntype], names[0]);
    const struct raw_table *table = &s->graph->tables[found];
    if (table->width != 1 || table->dtype == TR_F16 || table->dtype == TR_BF16)
        return error_set(
            error, TR_EUNSUPPORTED,
            "labels '%s' are %" PRIu64
            " of %s a node; a class is one whole number a node; split without by_class",
            table->name, table->width, tr_dtype_name(table->dtype));
    s->labels = (uint32_t)found;
    return 0;
}

static double label_at(enum tr_dtype dtype, const void *rows, uint64_t i)
{
    switch (dtype) {
    case TR_F32:
        return (double)((const float *)rows)[i];
    case TR_F64:
        return ((const double *)rows)[i];
    default:
        return (double)raw_whole(dtype, rows, i);
    }
}

/* Whether the next edge is the other way of the one before, which is in no pair yet. */
static bool ends_pair(struct edge_pairer *pairer, uint64_t src, uint64_t dst)
{
    bool pair = pairer->alone && src != dst && src == pairer->last_dst && dst == pairer->last_src;
    pairer->alone = !pair;
    if (pair)
        pairer->single--;
    else
        pairer->single += src != dst;
    pairer->last_src = src;
    pairer->last_dst = dst;
    return pair;
}

/* Counts what is single among rows [begin, begin + count) of edges that are pairs, after read_units().
 * The ends of those of the second half are compared with those of the first half. */
static int count_single(struct mask_splitter *s, uint64_t begin, uint64_t count,
                        struct error *error)
{
    struct edge_pairer *pairer = &s->pairer;
    const uint64_t half = s->num_rows / 2;
    const uint64_t skipped = begin < half ? half - begin < count ? half - begin : count : 0;
    if (s->options->pairs != MASK_PAIRS_HALVES || skipped == count)
        return 0;
    count -= skipped;
    begin += skipped;
    int rv = raw_read_edges(s->graph, s->of.type, begin, count, pairer->src, pairer->dst, error);
    if (rv == 0)
        rv = raw_read_edges(s->graph, s->of.type, begin - half, count, pairer->other_src,
                            pairer->other_dst, error);
    for (uint64_t i = 0; rv == 0 && i < count; i++) {
        const bool pair = pairer->src[i] == pairer->other_dst[i] &&
                          pairer->dst[i] == pairer->other_src[i];
        if (!pair)
            s->report->num_single += (pairer->src[i] != pairer->dst[i]) +
                                     (pairer->other_src[i] != pairer->other_dst[i]);
    }
    return rv;
}

/* The units of rows [begin, begin + count), whose classes are known, into s->units. */
static int read_units(struct mask_splitter *s, uint64_t begin, uint64_t count, struct error *error)
{
    struct edge_pairer *pairer = &s->pairer;
    const bool adjacent = s->options->pairs == MASK_PAIRS_ADJACENT;
    /* From here on edges belong to the units of the first half. */
    const uint64_t second = s->options->pairs == MASK_PAIRS_HALVES ? s->num_rows / 2 : UINT64_MAX;
    int rv = adjacent ? raw_read_edges(s->graph, s->of.type, begin, count, pairer->src, pairer->dst,
                                       error)
                      : 0;
    for (uint64_t i = 0; rv == 0 && i < count; i++) {
        if (s->classes[i] == SPLIT_UNLABELLED)
            continue;
        struct split_group *group = &s->groups[s->classes[i]];
        if (begin + i >= second)
            s->units[i] = begin + i - second;
        else if (adjacent && ends_pair(pairer, pairer->src[i], pairer->dst[i]))
            s->units[i] = group->count - 1;
        else
            s->units[i] = group->count++;
    }
    return rv;
}

/* The classes of rows [begin, begin + count) into s->classes. */
static int read_classes(struct mask_splitter *s, uint64_t begin, uint64_t count,
                        struct error *error)
{
    if (!s->options->by_class) {
        memset(s->classes, 0, (size_t)count * sizeof *s->classes);
        return 0;
    }
    const struct raw_table *table = &s->graph->tables[s->labels];
    int rv = raw_read_rows(s->graph, s->labels, begin, count, s->rows, error);
    for (uint64_t i = 0; rv == 0 && i < count; i++) {
        double value = label_at(table->dtype, s->rows, i);
        /* NaN is not >= 0 either. */
        s->classes[i] = value >= 0 && value < MASK_SPLIT_CLASSES_MAX ? (int64_t)value
                                                                     : SPLIT_UNLABELLED;
        if (value >= MASK_SPLIT_CLASSES_MAX || (value >= 0 && value != floor(value)))
            rv = error_set(error, TR_ERANGE,
                           "labels '%s': node %" PRIu64 " has %g; classes are whole numbers from 0 "
                           "to %u; split without by_class",
                           table->name, begin + i, value, MASK_SPLIT_CLASSES_MAX - 1);
    }
    return rv;
}

static int splitter_grow(struct mask_splitter *s, uint32_t num_groups, struct error *error)
{
    if (num_groups <= s->num_groups)
        return 0;
    /* Twice as many as are needed, so that classes in rising order cost no copy each. */
    uint32_t room = num_groups * 2;
    struct split_group *grown = realloc(s->groups, room * sizeof *grown);
    if (grown == NULL)
        return error_set(error, TR_ENOMEM, "no memory for %u classes", num_groups);
    memset(grown + s->num_groups, 0, (room - s->num_groups) * sizeof *grown);
    s->groups = grown;
    s->num_groups = room;
    return 0;
}

/* Makes the groups of the rows' classes. */
static int make_groups(struct mask_splitter *s, uint64_t count, struct error *error)
{
    int64_t most = SPLIT_UNLABELLED;
    for (uint64_t i = 0; i < count; i++)
        most = s->classes[i] > most ? s->classes[i] : most;
    return splitter_grow(s, (uint32_t)(most + 1), error);
}

/* Units are counted as they are read. */
static int count_unlabelled(struct mask_splitter *s, uint64_t begin, uint64_t count,
                            struct error *error)
{
    for (uint64_t i = 0; i < count; i++)
        s->report->num_unlabelled += s->classes[i] == SPLIT_UNLABELLED;
    return count_single(s, begin, count, error);
}

/* The set of a group's unit: the order's first places are trained on, and so on. */
static enum mask_set set_of(const struct split_group *group, uint64_t unit)
{
    uint64_t place = bijection_map(&group->order, unit);
    if (place < group->size[MASK_TRAIN])
        return MASK_TRAIN;
    place -= group->size[MASK_TRAIN];
    return place < group->size[MASK_VALIDATION] ? MASK_VALIDATION : MASK_TEST;
}

static int write_masks(struct mask_splitter *s, uint64_t begin, uint64_t count, struct error *error)
{
    int rv = 0;
    (void)begin;
    for (int set = 0; set < MASK_SETS; set++)
        memset(s->masks[set], 0, (size_t)count);
    for (uint64_t i = 0; i < count; i++) {
        if (s->classes[i] == SPLIT_UNLABELLED)
            continue;
        enum mask_set set = set_of(&s->groups[s->classes[i]], s->units[i]);
        s->masks[set][i] = 1;
        s->report->size[set]++;
    }
    for (uint32_t set = 0; rv == 0 && set < MASK_SETS; set++)
        rv = raw_amend_rows(s->amend, set, count, s->masks[set], error);
    return rv;
}

/* Goes through all nodes or edges, a piece at a time. */
static int splitter_pass(struct mask_splitter *s, const char *phase,
                         int (*piece)(struct mask_splitter *s, uint64_t begin, uint64_t count,
                                      struct error *error),
                         struct error *error)
{
    const struct mask_split_options *options = s->options;
    int rv = 0;
    s->pairer.alone = false;
    s->pairer.single = 0;
    for (uint32_t g = 0; g < s->num_groups; g++)
        s->groups[g].count = 0;
    for (uint64_t done = 0; rv == 0 && done < s->num_rows;) {
        uint64_t left = s->num_rows - done;
        uint64_t count = left < SPLIT_ROWS_AT_ONCE ? left : SPLIT_ROWS_AT_ONCE;
        if (cancel_asked(options->cancel))
            return error_set(error, TR_ECANCELED, "split: interrupted; nothing was added");
        rv = read_classes(s, done, count, error);
        if (rv == 0)
            rv = make_groups(s, count, error);
        if (rv == 0)
            rv = read_units(s, done, count, error);
        if (rv == 0)
            rv = piece(s, done, count, error);
        done += count;
        if (options->progress != NULL)
            options->progress(options->progress_arg, phase, options->edges ? "edges" : "nodes",
                              done, s->num_rows);
    }
    return rv;
}

/* How many units of each group go where, and in which order they are. */
static void plan_groups(struct mask_splitter *s)
{
    struct mask_split_report *report = s->report;
    const struct draw_key key = { .seed = s->options->seed,
                                  .purpose = KEY_SPLIT,
                                  .hop = SPLIT_HOP,
                                  .type = s->options->by_class };
    uint64_t base = key_base(&key);
    for (uint32_t g = 0; g < s->num_groups; g++) {
        struct split_group *group = &s->groups[g];
        if (group->count == 0)
            continue;
        mask_split_sizes(group->count, s->options->share, group->size);
        bijection_init(&group->order, group->count, key_node(base, g));
        if (s->options->by_class) {
            report->num_classes++;
            report->num_without_train += group->size[MASK_TRAIN] == 0;
        }
    }
}

static int splitter_prepare(struct mask_splitter *s, struct error *error)
{
    static const char *const NAMES[] = { "train_mask", "val_mask", "test_mask" };
    bool edges = s->options->edges;
    int rv = raw_amend_find_type(s->amend, edges, edges ? s->options->etype : s->options->ntype,
                                 &s->of, error);
    if (rv != 0)
        return rv;
    *(edges ? &s->report->etype : &s->report->ntype) = s->of.type;
    if (s->options->by_class)
        rv = find_labels(s, error);
    for (int i = 0; rv == 0 && i < MASK_SETS; i++) {
        uint32_t table;
        rv = raw_amend_add_table(s->amend, s->of, NAMES[i], s->options->replace, TR_U8, 0, &table,
                                 error);
        /* write_masks() takes a set's number for its table's. */
        assert(rv != 0 || table == (uint32_t)i);
    }
    if (rv != 0)
        return rv;
    if (edges)
        s->num_rows = s->report->num_edges = s->graph->num_edges[s->of.type];
    else
        s->num_rows = s->report->num_nodes = s->graph->num_nodes[s->of.type];
    if (s->options->pairs == MASK_PAIRS_HALVES && s->num_rows % 2 != 0)
        return error_set(error, TR_EINVAL,
                         "pairs: %" PRIu64 " edges have no halves; their reverses do not stand "
                         "behind them",
                         s->num_rows);
    s->pairer.src = malloc(SPLIT_ROWS_AT_ONCE * sizeof *s->pairer.src);
    s->pairer.dst = malloc(SPLIT_ROWS_AT_ONCE * sizeof *s->pairer.dst);
    s->pairer.other_src = malloc(SPLIT_ROWS_AT_ONCE * sizeof *s->pairer.other_src);
    s->pairer.other_dst = malloc(SPLIT_ROWS_AT_ONCE * sizeof *s->pairer.other_dst);
    s->units = malloc(SPLIT_ROWS_AT_ONCE * sizeof *s->units);
    s->rows = malloc(SPLIT_ROWS_AT_ONCE * sizeof(int64_t));
    s->classes = malloc(SPLIT_ROWS_AT_ONCE * sizeof *s->classes);
    for (int i = 0; i < MASK_SETS; i++)
        s->masks[i] = malloc(SPLIT_ROWS_AT_ONCE);
    if (s->pairer.src == NULL || s->pairer.dst == NULL || s->pairer.other_src == NULL ||
        s->pairer.other_dst == NULL || s->units == NULL || s->rows == NULL || s->classes == NULL ||
        s->masks[0] == NULL || s->masks[1] == NULL || s->masks[2] == NULL)
        return error_set(error, TR_ENOMEM, "no memory to split %" PRIu64 " %s", s->num_rows,
                         edges ? "edges" : "nodes");
    return 0;
}

static int splitter_run(struct mask_splitter *s, struct error *error)
{
    bool edges = s->options->edges;
    int rv = splitter_prepare(s, error);
    if (rv == 0)
        rv = splitter_pass(s, edges ? "counting edges" : "counting nodes", count_unlabelled, error);
    if (rv != 0)
        return rv;
    s->report->num_single += s->pairer.single;
    if (s->num_rows == s->report->num_unlabelled)
        return error_set(error, TR_EINVAL, "%s type '%s' has no %s, so there is nothing to split",
                         edges ? "edge" : "node",
                         edges ? s->graph->types.etypes[s->of.type].name
                               : s->graph->types.ntypes[s->of.type],
                         edges              ? "edge"
                         : s->num_rows == 0 ? "node"
                                            : "node with a label");
    plan_groups(s);
    return splitter_pass(s, edges ? "writing masks of edges" : "writing masks", write_masks, error);
}

int mask_split(const char *path, const struct mask_split_options *options,
               struct mask_split_report *report, struct error *error)
{
    struct mask_splitter s = { .options = options, .report = report };
    *report = (struct mask_split_report){ 0 };
    int rv = splitter_check(options, error);
    if (rv == 0)
        rv = raw_amend_open(path, options->files, options->cancel, &s.amend, error);
    if (rv != 0)
        return rv;
    s.graph = raw_amend_graph(s.amend);
    rv = splitter_run(&s, error);
    if (rv == 0)
        rv = raw_amend_commit(s.amend, error);
    else
        raw_amend_abort(s.amend);
    for (int i = 0; i < MASK_SETS; i++)
        free(s.masks[i]);
    free(s.pairer.src);
    free(s.pairer.dst);
    free(s.pairer.other_src);
    free(s.pairer.other_dst);
    free(s.units);
    free(s.groups);
    free(s.classes);
    free(s.rows);
    return rv;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields that come with the rows of a builder beside their numbers: salts, times, exclusions.
 *
 * Times and exclusions come with seeds. Every node has a root, the seed from which the walk first
 * came to it, and its rows have the root's fields. The walk is the same on every placement, so the
 * roots are too. Lists have copies of the fields, as the kernel and the messages want them: one
 * array a field, row after row.
 */
#include <string.h>

#include "graph/batch_builder.h"

static bool has_times(const struct batch_builder *builder)
{
    return (builder->plan->spec->row_fields & SAMPLE_ROW_TIME) != 0;
}

static bool has_exclusions(const struct batch_builder *builder)
{
    return (builder->plan->spec->row_fields & SAMPLE_ROW_EXCLUDE) != 0;
}

uint32_t batch_builder_row_fields(const struct batch_builder *builder)
{
    uint32_t fields = builder->plan->spec->row_fields & SAMPLE_SEED_FIELDS;
    for (uint32_t t = 0; t < builder->num_ntypes; t++)
        fields |= builder->types[t].repeats ? SAMPLE_ROW_SALT : 0;
    return fields;
}

struct sample_row_fields batch_builder_list_fields(const struct batch_builder *builder,
                                                   uint32_t ntype, uint32_t part, uint32_t first)
{
    const struct batch_builder_type *type = &builder->types[ntype];
    const struct batch_builder_list *list = &type->lists[part];
    struct sample_row_fields with = { .salts = NULL };
    if (type->repeats)
        with.salts = (const uint32_t *)list->salts.data + first;
    if (has_times(builder))
        with.times = (const int64_t *)list->times.data + first;
    if (has_exclusions(builder)) {
        with.exclusions = (const uint32_t *)list->exclusions.data + first;
        with.excluded = (const uint64_t *)list->excluded.data +
                        ((const uint64_t *)list->starts.data)[first];
    }
    return with;
}

uint64_t batch_builder_list_excluded(const struct batch_builder *builder, uint32_t ntype,
                                     uint32_t part)
{
    const struct batch_builder_list *list = &builder->types[ntype].lists[part];
    bool some = has_exclusions(builder) && list->count > 0;
    return some ? ((const uint64_t *)list->starts.data)[list->count] : 0;
}

/* The IDs of one root behind those of the others. */
static int add_excluded(struct batch_builder_roots *roots, const uint64_t *ids, uint32_t count)
{
    uint64_t begin = roots->count == 0 ? 0 : ((const uint64_t *)roots->starts.data)[roots->count];
    size_t size = sizeof(uint64_t), kept = roots->count == 0 ? 0 : roots->count + (size_t)1;
    int rv = vec_reserve(&roots->starts, roots->count + (size_t)2, size, kept * size);
    if (rv == 0)
        rv = vec_reserve(&roots->excluded, begin + count, size, begin * size);
    if (rv != 0)
        return rv;
    uint64_t *starts = roots->starts.data;
    starts[roots->count] = begin;
    starts[roots->count + 1] = begin + count;
    if (count > 0)
        memcpy((uint64_t *)roots->excluded.data + begin, ids, count * size);
    return 0;
}

/* One root more; the first row of `with` is its. */
static int add_root(struct batch_builder *builder, const struct sample_row_fields *with)
{
    struct batch_builder_roots *roots = &builder->roots;
    int rv = 0;
    if (has_times(builder)) {
        rv = vec_reserve(&roots->times, roots->count + (size_t)1, sizeof(int64_t),
                         roots->count * sizeof(int64_t));
        if (rv == 0)
            ((int64_t *)roots->times.data)[roots->count] = with->times != NULL ? with->times[0]
                                                                               : SAMPLE_NO_TIME;
    }
    if (rv == 0 && has_exclusions(builder))
        rv = add_excluded(roots, with->excluded,
                          with->exclusions != NULL ? with->exclusions[0] : 0);
    roots->count += rv == 0;
    return rv;
}

int batch_builder_add_roots(struct batch_builder *builder, uint32_t ntype, uint32_t num_seeds,
                            const struct sample_row_fields *with)
{
    struct batch_builder_type *type = &builder->types[ntype];
    uint32_t first = type->nodes.num_ids - num_seeds;
    struct sample_row_fields left = { .salts = NULL };
    int rv = vec_reserve(&type->roots, type->nodes.num_ids, sizeof(uint32_t),
                         first * sizeof(uint32_t));
    if (with != NULL)
        left = *with;
    for (uint32_t i = 0; i < num_seeds && rv == 0; i++) {
        ((uint32_t *)type->roots.data)[first + i] = builder->roots.count;
        rv = add_root(builder, &left);
        sample_row_fields_skip(&left, 1);
    }
    return rv;
}

int batch_builder_follow_roots(struct batch_builder *builder, uint32_t ntype, uint32_t from,
                               uint32_t row_ntype, uint32_t first_row, uint32_t num_rows,
                               const uint32_t *index, const uint32_t *sources)
{
    struct batch_builder_type *type = &builder->types[ntype];
    int rv = vec_reserve(&type->roots, type->nodes.num_ids, sizeof(uint32_t),
                         from * sizeof(uint32_t));
    if (rv != 0)
        return rv;
    uint32_t *roots = type->roots.data, next = from;
    const uint32_t *of_rows = (const uint32_t *)builder->types[row_ntype].roots.data + first_row;
    for (uint32_t r = 0; r < num_rows; r++)
        for (uint32_t e = index[r] - index[0]; e < index[r + 1] - index[0]; e++)
            if (sources[e] == next) /* numbers are given in this order: its first appearance */
                roots[next++] = of_rows[r];
    return 0;
}

static int put_excluded(const struct batch_builder_roots *roots, struct batch_builder_list *list,
                        uint32_t count, uint32_t root)
{
    const uint64_t *of = (const uint64_t *)roots->starts.data + root;
    uint32_t more = (uint32_t)(of[1] - of[0]);
    uint64_t begin = count == 0 ? 0 : ((const uint64_t *)list->starts.data)[count];
    size_t size = sizeof(uint64_t), kept = count == 0 ? 0 : count + (size_t)1;
    int rv = vec_reserve(&list->starts, count + (size_t)2, size, kept * size);
    if (rv == 0)
        rv = vec_reserve(&list->exclusions, count + (size_t)1, sizeof(uint32_t),
                         count * sizeof(uint32_t));
    if (rv == 0)
        rv = vec_reserve(&list->excluded, begin + more, size, begin * size);
    if (rv != 0)
        return rv;
    ((uint64_t *)list->starts.data)[count] = begin;
    ((uint64_t *)list->starts.data)[count + 1] = begin + more;
    ((uint32_t *)list->exclusions.data)[count] = more;
    if (more > 0)
        memcpy((uint64_t *)list->excluded.data + begin,
               (const uint64_t *)roots->excluded.data + of[0], more * size);
    return 0;
}

int batch_builder_put_fields(struct batch_builder *builder, struct batch_builder_type *type,
                             struct batch_builder_list *list, uint32_t count, uint32_t position)
{
    const struct batch_builder_roots *roots = &builder->roots;
    uint32_t root = ((const uint32_t *)type->roots.data)[position];
    int rv = 0;
    if (has_times(builder)) {
        rv = vec_reserve(&list->times, count + (size_t)1, sizeof(int64_t), count * sizeof(int64_t));
        if (rv == 0)
            ((int64_t *)list->times.data)[count] = ((const int64_t *)roots->times.data)[root];
    }
    return rv == 0 && has_exclusions(builder) ? put_excluded(roots, list, count, root) : rv;
}

void batch_builder_fini_fields(struct batch_builder *builder)
{
    vec_fini(&builder->roots.times);
    vec_fini(&builder->roots.starts);
    vec_fini(&builder->roots.excluded);
    for (uint32_t t = 0; builder->types != NULL && t < builder->num_ntypes; t++) {
        struct batch_builder_type *type = &builder->types[t];
        vec_fini(&type->roots);
        for (uint32_t p = 0; type->lists != NULL && p < builder->num_parts; p++) {
            vec_fini(&type->lists[p].times);
            vec_fini(&type->lists[p].exclusions);
            vec_fini(&type->lists[p].excluded);
            vec_fini(&type->lists[p].starts);
        }
    }
}

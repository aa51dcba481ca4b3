/* SPDX-License-Identifier: Apache-2.0 */
#include "schemas/body.h"

#include <string.h>

#include <troupe/error.h>

#define ADDRESS_BYTES 16 /* of struct address, see runtime/core/address.h */

int body_take(struct body_reader *reader, uint64_t count, uint64_t size, uint64_t align,
              const void **out)
{
    uint64_t begin = reader->at, bytes;
    if (__builtin_add_overflow(begin, align - 1, &begin))
        return TR_EFORMAT;
    begin &= ~(align - 1);
    if (__builtin_mul_overflow(count, size, &bytes) || begin > reader->length ||
        bytes > reader->length - begin)
        return TR_EFORMAT;
    *out = reader->bytes + begin;
    reader->at = begin + bytes;
    return 0;
}

int body_grow(uint64_t *length, uint64_t count, uint64_t size, uint64_t align)
{
    uint64_t begin, bytes;
    if (__builtin_add_overflow(*length, align - 1, &begin) ||
        __builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(begin & ~(align - 1), bytes, length))
        return TR_ETOOBIG;
    return 0;
}

/* A reader of no body at all must still hand out pointers that may be compared and added to. */
static struct body_reader reader_of(const void *body, uint64_t length)
{
    static const _Alignas(64) unsigned char empty[64];
    return (struct body_reader){ .bytes = body != NULL ? body : empty,
                                 .length = body != NULL ? length : 0 };
}

static int walk_begin(struct request_walk *walk, uint32_t num_sections, size_t section_bytes,
                      const void *body, uint64_t length)
{
    *walk = (struct request_walk){ .num_sections = num_sections };
    walk->reader = reader_of(body, length);
    if (num_sections > MSG_SECTIONS_MAX)
        return TR_EFORMAT;
    return body_take(&walk->reader, num_sections, section_bytes, _Alignof(uint32_t),
                     &walk->sections);
}

int sample_walk_begin(struct request_walk *walk, const struct msg_sample_request *head,
                      const void *body, uint64_t length)
{
    int rv = walk_begin(walk, head->num_sections, sizeof(struct msg_sample_section), body, length);
    walk->row_fields = head->row_fields;
    return (head->row_fields & ~SAMPLE_ROW_FIELDS) != 0 ? TR_EFORMAT : rv;
}

int rows_walk_begin(struct request_walk *walk, const struct msg_rows_request *head,
                    const void *body, uint64_t length)
{
    return walk_begin(walk, head->num_sections, sizeof(struct msg_rows_section), body, length);
}

static uint64_t sum_of(const uint32_t *counts, uint32_t n)
{
    uint64_t sum = 0; /* of at most 2^32 numbers below 2^32 */
    for (uint32_t i = 0; i < n; i++)
        sum += counts[i];
    return sum;
}

int row_fields_take(struct body_reader *reader, uint32_t row_fields, uint32_t num_rows,
                    struct sample_row_fields *with)
{
    const void *taken;
    int rv = 0;
    *with = (struct sample_row_fields){ .salts = NULL };
    if ((row_fields & SAMPLE_ROW_SALT) != 0) {
        rv = body_take(reader, num_rows, sizeof(uint32_t), sizeof(uint32_t), &taken);
        with->salts = rv == 0 ? taken : NULL;
    }
    if (rv == 0 && (row_fields & SAMPLE_ROW_TIME) != 0) {
        rv = body_take(reader, num_rows, sizeof(int64_t), sizeof(int64_t), &taken);
        with->times = rv == 0 ? taken : NULL;
    }
    if (rv == 0 && (row_fields & SAMPLE_ROW_EXCLUDE) != 0) {
        rv = body_take(reader, num_rows, sizeof(uint32_t), sizeof(uint32_t), &taken);
        with->exclusions = rv == 0 ? taken : NULL;
        if (rv == 0)
            rv = body_take(reader, sum_of(taken, num_rows), sizeof(uint64_t), sizeof(uint64_t),
                           &taken);
        with->excluded = rv == 0 ? taken : NULL;
    }
    return rv;
}

int row_fields_grow(uint64_t *length, uint32_t row_fields, uint32_t num_rows, uint64_t num_excluded)
{
    int rv = 0;
    if ((row_fields & SAMPLE_ROW_SALT) != 0)
        rv = body_grow(length, num_rows, sizeof(uint32_t), sizeof(uint32_t));
    if (rv == 0 && (row_fields & SAMPLE_ROW_TIME) != 0)
        rv = body_grow(length, num_rows, sizeof(int64_t), sizeof(int64_t));
    if (rv == 0 && (row_fields & SAMPLE_ROW_EXCLUDE) != 0) {
        rv = body_grow(length, num_rows, sizeof(uint32_t), sizeof(uint32_t));
        if (rv == 0)
            rv = body_grow(length, num_excluded, sizeof(uint64_t), sizeof(uint64_t));
    }
    return rv;
}

/* Zeroes up to the next multiple, since all that is sent was written; copies, or zeroes more. */
static uint64_t put_array(unsigned char *body, uint64_t at, uint64_t count, uint64_t size,
                          const void *from)
{
    uint64_t begin = (at + size - 1) & ~(size - 1), bytes = count * size;
    memset(body + at, 0, begin - at);
    if (bytes > 0 && from != NULL)
        memcpy(body + begin, from, bytes);
    else
        memset(body + begin, 0, bytes);
    return begin + bytes;
}

uint64_t row_fields_put(void *body, uint64_t at, uint32_t row_fields, uint32_t num_rows,
                        const struct sample_row_fields *with)
{
    if ((row_fields & SAMPLE_ROW_SALT) != 0)
        at = put_array(body, at, num_rows, sizeof *with->salts, with->salts);
    if ((row_fields & SAMPLE_ROW_TIME) != 0)
        at = put_array(body, at, num_rows, sizeof *with->times, with->times);
    if ((row_fields & SAMPLE_ROW_EXCLUDE) != 0) {
        at = put_array(body, at, num_rows, sizeof *with->exclusions, with->exclusions);
        at = put_array(body, at, sum_of(with->exclusions, num_rows), sizeof *with->excluded,
                       with->excluded);
    }
    return at;
}

/* Moves past the rows of one section. */
static int walk_rows(struct request_walk *walk, uint32_t num_rows, uint32_t same_rows)
{
    const void *rows = walk->rows;
    int rv = 0;
    if (same_rows > 1 || (same_rows == 1 && (walk->next == 0 || num_rows != walk->num_rows)))
        return TR_EFORMAT;
    if (same_rows == 0)
        rv = body_take(&walk->reader, num_rows, sizeof *walk->rows, sizeof *walk->rows, &rows);
    if (rv == 0 && same_rows == 0)
        rv = row_fields_take(&walk->reader, walk->row_fields, num_rows, &walk->with);
    walk->rows = rows;
    walk->num_rows = num_rows;
    walk->next++;
    return rv != 0 ? rv : 1;
}

static int walk_end(const struct request_walk *walk)
{
    return walk->reader.at == walk->reader.length ? 0 : TR_EFORMAT;
}

/* The edges that a section leaves out: they are searched, so they are in order. */
static int take_excluded(struct request_walk *walk, uint32_t count)
{
    const void *taken = NULL;
    int rv = count == 0 ? 0 : body_take(&walk->reader, count, 8, 8, &taken);
    walk->excluded = taken;
    for (uint32_t i = 1; i < count && rv == 0; i++)
        if (walk->excluded[i] <= walk->excluded[i - 1])
            rv = TR_EFORMAT;
    return rv != 0 ? rv : 1;
}

int sample_walk_next(struct request_walk *walk, const struct msg_sample_section **section,
                     const uint32_t **rows)
{
    if (walk->next == walk->num_sections)
        return walk_end(walk);
    *section = (const struct msg_sample_section *)walk->sections + walk->next;
    int rv = walk_rows(walk, (*section)->num_rows, (*section)->same_rows);
    if (rv == 1)
        rv = take_excluded(walk, (*section)->num_excluded);
    *rows = walk->rows;
    return rv;
}

int rows_walk_next(struct request_walk *walk, const struct msg_rows_section **section,
                   const uint32_t **rows)
{
    if (walk->next == walk->num_sections)
        return walk_end(walk);
    *section = (const struct msg_rows_section *)walk->sections + walk->next;
    int rv = walk_rows(walk, (*section)->num_rows, (*section)->same_rows);
    *rows = walk->rows;
    return rv;
}

int sample_reply_begin(struct sample_reply_walk *walk, const struct msg_sample_reply *head,
                       const void *body, uint64_t length)
{
    walk->left = head->num_sections;
    walk->reader = reader_of(body, length);
    return head->num_sections > MSG_SECTIONS_MAX ? TR_EFORMAT : 0;
}

static int check_counts(const struct sample_answer *answer)
{
    return sum_of(answer->counts, answer->num_rows) == answer->num_edges ? 1 : TR_EFORMAT;
}

int sample_reply_next(struct sample_reply_walk *walk, struct sample_answer *answer)
{
    if (walk->left == 0)
        return walk->reader.at == walk->reader.length ? 0 : TR_EFORMAT;
    walk->left--;
    const void *taken;
    int rv = body_take(&walk->reader, 1, sizeof(struct msg_sample_answer), 8, &taken);
    if (rv != 0)
        return rv;
    const struct msg_sample_answer *head = taken;
    if ((head->column_bytes != 4 && head->column_bytes != 8) || head->edge_ids > 1 ||
        head->weights > 1)
        return TR_EFORMAT;
    *answer = (struct sample_answer){ .num_rows = head->num_rows, .num_edges = head->num_edges };
    rv = body_take(&walk->reader, head->num_rows, 4, 8, &taken);
    answer->counts = taken;
    if (rv == 0)
        rv = body_take(&walk->reader, head->num_edges, head->column_bytes, 8, &taken);
    if (rv != 0)
        return rv;
    if (head->column_bytes == 4)
        answer->columns = taken;
    else
        answer->wide_columns = taken;
    if (head->edge_ids == 1) {
        rv = body_take(&walk->reader, head->num_edges, 8, 8, &taken);
        answer->edge_ids = taken;
    }
    if (rv == 0 && head->weights == 1) {
        rv = body_take(&walk->reader, head->num_edges, sizeof(float), 8, &taken);
        answer->edge_weights = taken;
    }
    return rv != 0 ? rv : check_counts(answer);
}

int rows_reply_begin(struct body_reader *reader, const void *body, uint64_t length)
{
    *reader = reader_of(body, length);
    return 0;
}

int rows_reply_next(struct body_reader *reader, uint64_t num_rows, uint64_t row_bytes,
                    const void **rows)
{
    return body_take(reader, num_rows, row_bytes, 64, rows);
}

int rows_reply_end(const struct body_reader *reader)
{
    return reader->at == reader->length ? 0 : TR_EFORMAT;
}

/* Dense rows begin at the next multiple of 64 behind the head. */
#define SECTION_ALIGN ((uint64_t)64)
#define VALUES_ALIGN ((uint64_t)8)

int sparse_layout_make(struct sparse_layout *layout, uint64_t length, uint64_t num_rows,
                       uint64_t num_elements, const struct sparse_form *form)
{
    uint64_t sparse = length, dense;
    struct sparse_layout to = { 0 };
    int rv = body_grow(&sparse, 1, sizeof(struct msg_sparse_rows), SECTION_ALIGN);
    if (rv != 0)
        return rv;
    to.head = sparse - sizeof(struct msg_sparse_rows);
    dense = sparse;
    to.counts = sparse;
    rv = body_grow(&sparse, num_rows, sizeof(uint32_t), sizeof(uint32_t));
    to.columns = sparse;
    if (rv == 0)
        rv = body_grow(&sparse, num_elements, sizeof(uint32_t), sizeof(uint32_t));
    to.columns_end = sparse;
    if (rv == 0 && form->has_values)
        rv = body_grow(&sparse, num_elements, form->element_bytes, VALUES_ALIGN);
    to.values = sparse - (form->has_values ? num_elements * form->element_bytes : 0);
    if (rv == 0)
        rv = body_grow(&dense, num_rows, form->width * form->element_bytes, SECTION_ALIGN);
    if (rv != 0)
        return rv;
    to.rows = dense - num_rows * form->width * form->element_bytes;
    to.dense = dense < sparse;
    to.end = to.dense ? dense : sparse;
    *layout = to;
    return 0;
}

uint64_t sparse_row_bytes_max(const struct sparse_form *form)
{
    uint64_t element = sizeof(uint32_t) + (form->has_values ? form->element_bytes : 0);
    uint64_t sparse = sizeof(uint32_t) + form->row_max * element;
    uint64_t dense = form->width * form->element_bytes;
    return sparse < dense ? sparse : dense;
}

/* The columns of each row increase and stay below the width. */
static int check_sparse(const struct sparse_answer *answer, uint64_t num_rows,
                        uint64_t num_elements, const struct sparse_form *form)
{
    uint64_t at = 0;
    for (uint64_t row = 0; row < num_rows; row++) {
        uint64_t next = 0;
        if (answer->counts[row] > form->row_max || answer->counts[row] > num_elements - at)
            return TR_EFORMAT;
        for (uint64_t end = at + answer->counts[row]; at < end; at++) {
            if (answer->columns[at] < next || answer->columns[at] >= form->width)
                return TR_EFORMAT;
            next = answer->columns[at] + (uint64_t)1;
        }
    }
    return at == num_elements ? 0 : TR_EFORMAT;
}

int rows_reply_next_sparse(struct body_reader *reader, uint64_t num_rows,
                           const struct sparse_form *form, struct sparse_answer *answer)
{
    const void *taken;
    *answer = (struct sparse_answer){ .dense = NULL };
    int rv = body_take(reader, 1, sizeof(struct msg_sparse_rows), SECTION_ALIGN, &taken);
    if (rv != 0)
        return rv;
    const struct msg_sparse_rows head = *(const struct msg_sparse_rows *)taken;
    if (head.dense > 1 || head.has_values > 1 || (head.dense && head.num_elements > 0) ||
        (!head.dense && (head.has_values != 0) != form->has_values))
        return TR_EFORMAT;
    if (head.dense)
        return rows_reply_next(reader, num_rows, form->width * form->element_bytes, &answer->dense);
    rv = body_take(reader, num_rows, sizeof(uint32_t), sizeof(uint32_t), &taken);
    answer->counts = taken;
    if (rv == 0)
        rv = body_take(reader, head.num_elements, sizeof(uint32_t), sizeof(uint32_t), &taken);
    answer->columns = taken;
    if (rv == 0 && form->has_values)
        rv = body_take(reader, head.num_elements, form->element_bytes, VALUES_ALIGN,
                       &answer->values);
    return rv == 0 ? check_sparse(answer, num_rows, head.num_elements, form) : rv;
}

static int verify_sample_request(const void *head, const void *body, uint64_t length)
{
    struct request_walk walk;
    const struct msg_sample_section *section;
    const uint32_t *rows;
    int rv = sample_walk_begin(&walk, head, body, length);
    if (rv != 0)
        return rv;
    while ((rv = sample_walk_next(&walk, &section, &rows)) == 1)
        continue;
    return rv;
}

static int verify_rows_request(const void *head, const void *body, uint64_t length)
{
    struct request_walk walk;
    const struct msg_rows_section *section;
    const uint32_t *rows;
    int rv = rows_walk_begin(&walk, head, body, length);
    if (rv != 0)
        return rv;
    while ((rv = rows_walk_next(&walk, &section, &rows)) == 1)
        continue;
    return rv;
}

static int verify_sample_reply(const void *head, const void *body, uint64_t length)
{
    struct sample_reply_walk walk;
    struct sample_answer answer;
    int rv = sample_reply_begin(&walk, head, body, length);
    if (rv != 0)
        return rv;
    while ((rv = sample_reply_next(&walk, &answer)) == 1)
        continue;
    return rv;
}

/* A body of exactly count elements. */
static int verify_array(uint64_t count, uint64_t size, uint64_t length)
{
    uint64_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) || bytes != length ? TR_EFORMAT : 0;
}

/* An array, then a path. */
static int verify_with_path(uint64_t count, uint64_t size, uint64_t path_bytes, uint64_t length)
{
    if (path_bytes > MSG_PATH_BYTES_MAX || path_bytes > length)
        return TR_EFORMAT;
    return verify_array(count, size, length - path_bytes);
}

uint32_t seed_kind_given(uint32_t seeds)
{
    return seeds == MSG_SEEDS_LISTED           ? MSG_SEEDS_GIVEN
           : seeds == MSG_SEEDS_PAIRS          ? MSG_SEEDS_PAIRS_GIVEN
           : seeds == MSG_SEEDS_EDGES          ? MSG_SEEDS_EDGES_GIVEN
           : seeds == MSG_SEEDS_EDGES_REVERSED ? MSG_SEEDS_EDGES_REVERSED_GIVEN
                                               : seeds;
}

bool seed_kind_is_given(uint32_t seeds)
{
    return seeds == MSG_SEEDS_GIVEN || seeds == MSG_SEEDS_PAIRS_GIVEN ||
           seeds == MSG_SEEDS_EDGES_GIVEN || seeds == MSG_SEEDS_EDGES_REVERSED_GIVEN;
}

uint32_t seed_kind_ids(uint32_t seeds)
{
    bool two = seeds == MSG_SEEDS_PAIRS || seeds == MSG_SEEDS_PAIRS_GIVEN ||
               seeds == MSG_SEEDS_EDGES_REVERSED || seeds == MSG_SEEDS_EDGES_REVERSED_GIVEN;
    return two ? 2 : 1;
}

/* IDs of a draw's seed of that kind. */
static uint64_t listed_ids(uint32_t seeds)
{
    return seed_kind_is_listed(seeds) ? seed_kind_ids(seeds) : 0;
}

int loader_open_spec(const struct msg_loader_open *head, const void *body, uint64_t length,
                     struct sample_spec *spec)
{
    /* A body without bytes has no place to read from either. */
    if (head->spec_bytes == 0 || head->spec_bytes > length || head->spec_bytes % 8 != 0)
        return TR_EFORMAT;
    return sample_spec_read((const unsigned char *)body + (length - head->spec_bytes),
                            head->spec_bytes, spec);
}

int loader_open_seeds(const struct msg_loader_open *head, const void *body, uint64_t length,
                      const struct msg_seed_segment **segments)
{
    bool several = head->seeds == MSG_SEEDS_SEVERAL;
    const void *taken;
    if (head->spec_bytes > length || head->num_segments > MSG_SEGMENTS_MAX ||
        several != (head->num_segments > 0))
        return TR_EFORMAT;
    struct body_reader reader = reader_of(body, length - head->spec_bytes);
    int rv = body_take(&reader, head->num_segments, sizeof **segments, 8, &taken);
    *segments = rv == 0 ? taken : NULL;
    return rv;
}

struct msg_loader_open draw_as_loader(const struct msg_draw_request *head)
{
    return (struct msg_loader_open){
        .loader = head->draw,
        .seed = head->seed,
        .num_seeds = head->num_seeds,
        .ntype = head->ntype,
        .batch_size = head->num_seeds,
        .world = 1,
        .features = head->features,
        .labels = head->labels,
        .flags = head->flags & ~(MSG_LOADER_SHUFFLE | MSG_LOADER_DROP_LAST),
        .prefetch = 1,
        .spec_bytes = head->spec_bytes,
        .seeds = seed_kind_given(head->seeds),
        .etype = head->etype,
        .num_negatives = head->num_negatives,
        .negative_ranks = head->negative_ranks,
        .reverse_etype = head->reverse_etype,
        .reverse_rule = head->reverse_rule,
        .negative_ends = head->negative_ends,
        .negative_source_ranks = head->negative_source_ranks,
        .num_segments = head->num_segments,
    };
}

void reverse_request_read(const struct msg_reverse_request *head, const void *body,
                          struct reverse_questions *out)
{
    out->originals = body;
    out->sources = out->originals + head->count;
    out->rows = (const uint32_t *)(const void *)(out->sources + head->count);
}

/* The IDs of a draw's seeds, behind its segments. */
static int take_ids(const struct msg_draw_request *head, struct body_reader *reader,
                    const uint64_t **ids, uint64_t *num_ids)
{
    const struct msg_seed_segment *segments;
    const void *taken;
    uint64_t seeds = 0;
    if (head->num_segments > MSG_SEGMENTS_MAX ||
        (head->num_segments > 0) != (head->seeds == MSG_SEEDS_SEVERAL))
        return TR_EFORMAT;
    int rv = body_take(reader, head->num_segments, sizeof *segments, 8, &taken);
    segments = taken;
    *num_ids = head->num_segments > 0 ? 0 : head->num_seeds * listed_ids(head->seeds);
    for (uint32_t i = 0; i < head->num_segments && rv == 0; i++) {
        /* Each is no more than what has 32 bits, so the sums stay far from overflow. */
        if (segments[i].num_seeds > head->num_seeds || !seed_kind_is_given(segments[i].seeds))
            return TR_EFORMAT;
        seeds += segments[i].num_seeds;
        *num_ids += segments[i].num_seeds * seed_kind_ids(segments[i].seeds);
    }
    if (rv == 0 && head->num_segments > 0 && seeds != head->num_seeds)
        return TR_EFORMAT;
    if (rv == 0)
        rv = body_take(reader, *num_ids, sizeof **ids, 8, &taken);
    *ids = rv == 0 ? taken : NULL;
    return rv;
}

int draw_request_ids(const struct msg_draw_request *head, const void *body, uint64_t length,
                     const uint64_t **ids, uint64_t *num_ids)
{
    struct body_reader reader = reader_of(body, length - head->spec_bytes);
    return take_ids(head, &reader, ids, num_ids);
}

int draw_request_fields(const struct msg_draw_request *head, const void *body, uint64_t length,
                        const struct sample_spec *spec, struct sample_row_fields *with,
                        const struct msg_excluded_edge **excluded)
{
    uint32_t fields = head->seeds == MSG_SEEDS_LISTED ? spec->row_fields & SAMPLE_SEED_FIELDS : 0;
    struct body_reader reader = reader_of(body, length - head->spec_bytes);
    const uint64_t *ids;
    uint64_t num_ids;
    const void *taken;
    int rv = take_ids(head, &reader, &ids, &num_ids);
    if (rv == 0)
        rv = row_fields_take(&reader, fields, head->num_seeds, with);
    if (rv == 0)
        rv = body_take(&reader, head->num_excluded, sizeof **excluded, 8, &taken);
    *excluded = rv == 0 ? taken : NULL;
    return rv == 0 && reader.at != reader.length ? TR_EFORMAT : rv;
}

static int verify_draw(const struct msg_draw_request *head, const void *body, uint64_t length)
{
    const struct msg_loader_open open = draw_as_loader(head);
    const struct msg_excluded_edge *excluded;
    struct sample_row_fields with;
    struct sample_spec spec;
    if (head->num_seeds == 0 || head->spec_bytes > length || (length - head->spec_bytes) % 8 != 0 ||
        (!seed_kind_is_listed(head->seeds) && head->seeds != MSG_SEEDS_SEVERAL) ||
        head->num_excluded > MSG_EXCLUDED_MAX)
        return TR_EFORMAT;
    int rv = loader_open_spec(&open, body, length, &spec);
    return rv != 0 ? rv : draw_request_fields(head, body, length, &spec, &with, &excluded);
}

static int verify_loader_open(const struct msg_loader_open *head, const void *body, uint64_t length)
{
    const struct msg_seed_segment *segments;
    struct sample_spec spec;
    int rv = loader_open_seeds(head, body, length, &segments);
    if (rv == 0 && length - head->spec_bytes != head->num_segments * sizeof *segments)
        rv = TR_EFORMAT;
    return rv != 0 ? rv : loader_open_spec(head, body, length, &spec);
}

/* A piece lies inside its part. */
static int verify_copy(const struct msg_checkpoint_copy *head, uint64_t length)
{
    if (head->count > MSG_CHECKPOINT_PIECE_MAX || head->offset > head->bytes ||
        head->count > head->bytes - head->offset)
        return TR_EFORMAT;
    return verify_with_path(head->count, 1, head->path_bytes, length);
}

static int verify_group(const struct msg_group_request *head, uint64_t length)
{
    switch (head->operation) {
    case MSG_GROUP_REDUCE:
        return verify_array(head->count, sizeof(float), length);
    case MSG_GROUP_SAVE:
        return verify_array(head->count, 1, length);
    default:
        return length == 0 ? 0 : TR_EFORMAT;
    }
}

static int verify_tensor_request(const struct msg_tensor_request *head, uint64_t length)
{
    if (head->num_dims > MSG_TENSOR_DIMS_MAX || head->name_bytes > MSG_TENSOR_NAME_MAX)
        return TR_EFORMAT;
    return length == head->num_dims * sizeof(uint64_t) + head->name_bytes ? 0 : TR_EFORMAT;
}

uint64_t tensor_rows_begin(uint64_t count, uint64_t number_bytes)
{
    uint64_t end = count * number_bytes; /* of at most 2^32 of at most 8 */
    return (end + 63) & ~UINT64_C(63);
}

/* Numbers of rows, then the rows. */
static int verify_tensor_rows(uint64_t count, uint64_t number_bytes, uint64_t row_bytes,
                              uint64_t length)
{
    uint64_t begin = tensor_rows_begin(count, number_bytes);
    return length < begin ? TR_EFORMAT : verify_array(count, row_bytes, length - begin);
}

/* The messages between saving and restoring; kinds that nobody knows here have no body. */
static int verify_checkpoint(uint32_t kind, const void *head, uint64_t length)
{
    switch (kind) {
    case MSG_RESTORE:
        return verify_array(((const struct msg_restore *)head)->path_bytes, 1, length);
    case MSG_CHECKPOINT_PART:
        return verify_array(((const struct msg_checkpoint_part *)head)->path_bytes, 1, length);
    case MSG_CHECKPOINT_LOOK:
        return verify_array(((const struct msg_checkpoint_look *)head)->path_bytes, 1, length);
    case MSG_CHECKPOINT_COPY:
        return verify_copy(head, length);
    case MSG_CHECKPOINT_FETCH:
        return verify_array(((const struct msg_checkpoint_fetch *)head)->path_bytes, 1, length);
    case MSG_CHECKPOINT_PIECE:
        return verify_array(((const struct msg_checkpoint_piece *)head)->count, 1, length);
    case MSG_CHECKPOINT_FIND:
        return verify_array(((const struct msg_checkpoint_find *)head)->path_bytes, 1, length);
    case MSG_CHECKPOINT_DROP:
        return verify_array(((const struct msg_checkpoint_drop *)head)->path_bytes, 1, length);
    case MSG_CHECKPOINT_FOUND:
        return verify_array(((const struct msg_checkpoint_found *)head)->world,
                            sizeof(struct msg_checkpoint_entry), length);
    case MSG_CHECKPOINT_COMMIT:
        return verify_with_path(((const struct msg_checkpoint_commit *)head)->world,
                                sizeof(struct msg_checkpoint_entry),
                                ((const struct msg_checkpoint_commit *)head)->path_bytes, length);
    case MSG_RESTORED:
        return verify_array(((const struct msg_restored *)head)->world, ADDRESS_BYTES, length);
    default:
        return length == 0 ? 0 : TR_EFORMAT;
    }
}

/* The messages of tensors; all others are those of checkpoints. */
static int verify_tensor(uint32_t kind, const void *head, uint64_t length)
{
    const struct msg_tensor_write *write = head;
    const struct msg_tensor_store *store = head;
    switch (kind) {
    case MSG_TENSOR_REQUEST:
        return verify_tensor_request(head, length);
    case MSG_TENSOR_READ:
        return verify_array(((const struct msg_tensor_read *)head)->count, 4, length);
    case MSG_TENSOR_WRITE:
        return verify_tensor_rows(write->count, 4, write->row_bytes, length);
    case MSG_TENSOR_STORE:
        return verify_tensor_rows(store->count, 8, store->row_bytes, length);
    default:
        return verify_checkpoint(kind, head, length);
    }
}

int messages_verify(uint32_t kind, const void *head, const void *body, uint64_t length)
{
    switch (kind) {
    case MSG_SAMPLE_REQUEST:
        return verify_sample_request(head, body, length);
    case MSG_SAMPLE_REPLY:
        return verify_sample_reply(head, body, length);
    case MSG_ROWS_REQUEST:
        return verify_rows_request(head, body, length);
    case MSG_SELECT_REPLY:
        return verify_array(((const struct msg_select_reply *)head)->count, 16, length);
    case MSG_REVERSE_REQUEST:
        return verify_array(((const struct msg_reverse_request *)head)->count,
                            REVERSE_QUESTION_BYTES, length);
    case MSG_REVERSE_REPLY:
        return verify_array(((const struct msg_reverse_reply *)head)->count, 8, length);
    case MSG_FETCH_REQUEST:
        return verify_array(((const struct msg_fetch_request *)head)->count, 8, length);
    case MSG_FETCH_REPLY:
        return verify_array(((const struct msg_fetch_reply *)head)->count,
                            ((const struct msg_fetch_reply *)head)->row_bytes, length);
    case MSG_NODES_REPLY:
        return verify_array(((const struct msg_nodes_reply *)head)->count, 16, length);
    case MSG_DRAW_REQUEST:
        return verify_draw(head, body, length);
    case MSG_LOADER_OPEN:
        return verify_loader_open(head, body, length);
    case MSG_BATCH_REQUEST:
        return verify_array(((const struct msg_batch_request *)head)->num_seeds, 8, length);
    case MSG_BATCH_PIECE:
        return verify_array(((const struct msg_batch_piece *)head)->count, 1, length);
    case MSG_REDUCE:
        return verify_array(((const struct msg_reduce *)head)->count, sizeof(float), length);
    case MSG_REDUCED:
        return verify_array(((const struct msg_reduced *)head)->count, sizeof(float), length);
    case MSG_STATUS_REPLY:
        return verify_array(((const struct msg_status_reply *)head)->count, 1, length);
    case MSG_GROUP_REQUEST:
        return verify_group(head, length);
    case MSG_ROWS_REPLY:
    case MSG_ERROR_REPLY:
    case MSG_GROUP_REPLY:
        return 0;
    default:
        return verify_tensor(kind, head, length);
    }
}

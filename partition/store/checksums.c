/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "partition/store/checksums.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/crc32c.h"

#define SUM_DIGITS 8
#define KEY_OWN "checksum"
#define KEY_PARTS "part_checksums"
#define KEY_GRAPH "graph_checksums"
/* The text before the digits of the document's own sum. No other value of NAME.json is a text
 * whose key ends so, and within a text the quotes would be escaped. */
#define SEAL_MARK "\"" KEY_OWN "\": \""

void checksums_fini(struct checksums *checksums)
{
    for (uint32_t i = 0; i < checksums->num_rows; i++) {
        free(checksums->rows[i].name);
        free(checksums->rows[i].sums);
    }
    free(checksums->rows);
    *checksums = (struct checksums){ 0 };
}

/* The first row whose name is not before this one. */
static uint32_t lower_bound(const struct checksums *checksums, const char *name)
{
    uint32_t begin = 0, end = checksums->num_rows;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (strcmp(checksums->rows[middle].name, name) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static struct checksum_row *find_row(const struct checksums *checksums, const char *name)
{
    uint32_t at = lower_bound(checksums, name);
    return at < checksums->num_rows && strcmp(checksums->rows[at].name, name) == 0
               ? &checksums->rows[at]
               : NULL;
}

static struct checksum_row *add_row(struct checksums *checksums, const char *name, bool of_graph,
                                    uint32_t num_sums)
{
    struct checksum_row row = { .name = strdup(name), .of_graph = of_graph, .num_sums = num_sums };
    row.sums = malloc(num_sums * sizeof *row.sums + 1);
    struct checksum_row *grown = realloc(checksums->rows,
                                         (checksums->num_rows + (size_t)1) * sizeof *grown);
    if (grown != NULL)
        checksums->rows = grown;
    if (row.name == NULL || row.sums == NULL || grown == NULL) {
        free(row.name);
        free(row.sums);
        return NULL;
    }
    for (uint32_t i = 0; i < num_sums; i++)
        row.sums[i] = CHECKSUM_UNSET;
    uint32_t at = lower_bound(checksums, name);
    memmove(&grown[at + 1], &grown[at], (checksums->num_rows - at) * sizeof *grown);
    grown[at] = row;
    checksums->num_rows++;
    return &grown[at];
}

int checksums_set(struct checksums *checksums, uint32_t num_parts, uint32_t part, const char *name,
                  uint32_t sum)
{
    bool of_graph = part == CHECKSUMS_GRAPH;
    struct checksum_row *row = find_row(checksums, name);
    if (row == NULL)
        row = add_row(checksums, name, of_graph, of_graph ? 1 : num_parts);
    if (row == NULL)
        return TR_ENOMEM;
    assert(row->of_graph == of_graph && (of_graph || part < row->num_sums));
    row->sums[of_graph ? 0 : part] = sum;
    return 0;
}

bool checksums_find(const struct checksums *checksums, uint32_t part, const char *name,
                    uint32_t *sum)
{
    const struct checksum_row *row = find_row(checksums, name);
    bool of_graph = part == CHECKSUMS_GRAPH;
    if (row == NULL || row->of_graph != of_graph || (!of_graph && part >= row->num_sums))
        return false;
    *sum = (uint32_t)row->sums[of_graph ? 0 : part];
    return true;
}

/* "1c291ca3 00000000": the sums in the order of partitions, a line of the document each array. */
static json_t *make_text(const struct checksum_row *row)
{
    size_t step = SUM_DIGITS + 1, size = row->num_sums * step;
    char *text = malloc(size + 1);
    if (text == NULL)
        return NULL;
    for (uint32_t i = 0; i < row->num_sums; i++) {
        assert(row->sums[i] != CHECKSUM_UNSET);
        snprintf(text + i * step, step + 1, "%08" PRIx32 " ", (uint32_t)row->sums[i]);
    }
    json_t *value = json_stringn(text, size - 1);
    free(text);
    return value;
}

int checksums_put(const struct checksums *checksums, json_t *own)
{
    json_t *parts = json_object(), *graph = json_object();
    int rv = 0;
    for (uint32_t i = 0; i < checksums->num_rows && rv == 0; i++)
        rv = json_object_set_new(checksums->rows[i].of_graph ? graph : parts,
                                 checksums->rows[i].name, make_text(&checksums->rows[i]));
    /* The sum is zeroes for now: it is one of the text, which checksums_seal() puts there when
     * the text is made. */
    rv |= json_object_set_new(own, KEY_OWN, json_string("00000000"));
    rv |= json_object_set_new(own, KEY_PARTS, parts);
    rv |= json_object_set_new(own, KEY_GRAPH, graph);
    return rv == 0 ? 0 : TR_ENOMEM;
}

/* Eight digits, small ones only: a letter whose case was changed is a wrong byte too. */
static bool parse_sum(const char *text, uint32_t *sum)
{
    *sum = 0;
    for (int i = 0; i < SUM_DIGITS; i++) {
        const char *digits = "0123456789abcdef";
        const char *digit = text[i] == '\0' ? NULL : strchr(digits, text[i]);
        if (digit == NULL)
            return false;
        *sum = *sum << 4 | (uint32_t)(digit - digits);
    }
    return true;
}

static int take_row(struct checksums *checksums, const struct json_field *field, const char *name,
                    bool of_graph, uint32_t num_parts, struct error *error)
{
    const char *text = json_string_value(field->value);
    size_t step = SUM_DIGITS + 1, size = json_string_length(field->value);
    uint32_t count = of_graph ? 1 : num_parts, sum;
    /* The length is checked first: the loop reads as many sums without looking for the end. */
    if (size != count * step - 1)
        return json_fail(field, error, TR_EFORMAT,
                         "%u checksums of %d digits are needed, this has "
                         "%zu bytes",
                         count, SUM_DIGITS, size);
    for (uint32_t i = 0; i < count; i++) {
        const char *at = text + i * step;
        if (!parse_sum(at, &sum) || (i + 1 < count && at[SUM_DIGITS] != ' '))
            return json_fail(field, error, TR_EFORMAT, "'%.8s' is not a checksum of %d digits", at,
                             SUM_DIGITS);
        if (checksums_set(checksums, num_parts, of_graph ? CHECKSUMS_GRAPH : i, name, sum) != 0)
            return json_fail(field, error, TR_ENOMEM, "no memory for the checksums");
    }
    return 0;
}

static int take_rows(struct checksums *checksums, const struct json_field *own, bool of_graph,
                     uint32_t num_parts, struct error *error)
{
    struct json_field rows, field;
    int rv = json_get(own, of_graph ? KEY_GRAPH : KEY_PARTS, JSON_OBJECT, &rows, error);
    for (void *i = rv == 0 ? json_object_iter(rows.value) : NULL; i != NULL && rv == 0;
         i = json_object_iter_next(rows.value, i)) {
        const char *name = json_object_iter_key(i);
        rv = json_iterate(&rows, i, JSON_STRING, &field, error);
        /* Names that increase, over both objects, are added at the end: no list takes long. */
        if (rv == 0 && lower_bound(checksums, name) < checksums->num_rows)
            rv = json_fail(&field, error, TR_EFORMAT, "names of files must increase");
        if (rv == 0)
            rv = take_row(checksums, &field, name, of_graph, num_parts, error);
    }
    return rv;
}

/* Sums are there as a whole or not at all, so that a wrong byte in a key's name does not make the
 * folder one that never had them. */
static bool has_sums(json_t *own)
{
    return json_object_get(own, KEY_OWN) != NULL || json_object_get(own, KEY_PARTS) != NULL ||
           json_object_get(own, KEY_GRAPH) != NULL;
}

int checksums_take(struct checksums *checksums, const struct json_field *own, uint32_t num_parts,
                   struct error *error)
{
    if (!has_sums(own->value))
        return 0;
    /* The sums of the graph come first: their files' names (deal~) come before those of
     * partitions. */
    int rv = take_rows(checksums, own, true, num_parts, error);
    return rv == 0 ? take_rows(checksums, own, false, num_parts, error) : rv;
}

static const char *find_mark(const char *text, size_t size)
{
    const char *mark = memmem(text, size, SEAL_MARK, sizeof SEAL_MARK - 1);
    size_t at = mark == NULL ? 0 : (size_t)(mark - text) + sizeof SEAL_MARK - 1;
    return mark == NULL || size - at < SUM_DIGITS ? NULL : text + at;
}

/* The sum of the text with zeros for the digits. */
static uint32_t seal_of(const char *text, size_t size, const char *digits)
{
    size_t before = (size_t)(digits - text);
    uint32_t sum = crc32c(0, text, before);
    sum = crc32c(sum, "00000000", SUM_DIGITS);
    return crc32c(sum, digits + SUM_DIGITS, size - before - SUM_DIGITS);
}

bool checksums_seal(char *text, size_t size)
{
    const char *mark = find_mark(text, size);
    char digits[SUM_DIGITS + 1];
    if (mark == NULL)
        return false;
    snprintf(digits, sizeof digits, "%08" PRIx32, seal_of(text, size, mark));
    memcpy(text + (mark - text), digits, SUM_DIGITS);
    return true;
}

int checksums_check_seal(const struct json_field *root, const char *text, size_t size,
                         struct error *error)
{
    uint32_t said, found;
    json_t *own = json_object_get(root->value, "troupe");
    if (!has_sums(own))
        return 0;
    const char *digits = find_mark(text, size);
    if (digits == NULL || !parse_sum(digits, &said))
        return json_fail(root, error, TR_EFORMAT,
                         "it holds checksums but not its own: it was "
                         "damaged or changed; copy it again, or partition again");
    found = seal_of(text, size, digits);
    if (found != said)
        return json_fail(root, error, TR_EFORMAT,
                         "its checksum is %08" PRIx32 ", it says %08" PRIx32
                         ": it was damaged or changed; copy it again, or partition again",
                         found, said);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "schemas/sample_spec.h"

#include <stdlib.h>
#include <string.h>

#include <troupe/error.h>

/* Before the terms. */
struct spec_head {
    uint32_t kind;
    uint32_t row_fields;
    uint32_t num_layers;
    uint32_t num_etypes;
    uint32_t num_tables;
    uint32_t zero;
};

_Static_assert(sizeof(struct spec_head) % 8 == 0 && sizeof(struct sample_term) == 20 &&
                   sizeof(struct sample_table) == 16,
               "the encoded form has no padding of a compiler's");

static uint64_t num_terms(uint32_t num_layers, uint32_t num_etypes)
{
    return (uint64_t)num_layers * num_etypes;
}

static size_t padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

int sample_spec_alloc(struct sample_spec *spec, uint32_t num_layers, uint32_t num_etypes)
{
    *spec = (struct sample_spec){ .num_layers = num_layers, .num_etypes = num_etypes };
    uint64_t count = num_terms(num_layers, num_etypes);
    if (num_layers == 0 || num_layers > SAMPLE_LAYERS_MAX || count > SAMPLE_TERMS_MAX)
        return TR_ETOOBIG;
    spec->terms = calloc(count + 1, sizeof *spec->terms);
    if (spec->terms == NULL)
        return TR_ENOMEM;
    for (uint64_t i = 0; i < count; i++)
        spec->terms[i] = SAMPLE_TERM(0, false);
    return 0;
}

int sample_spec_copy(struct sample_spec *spec, const struct sample_spec *from)
{
    int rv = sample_spec_alloc(spec, from->num_layers, from->num_etypes);
    if (rv != 0)
        return rv;
    spec->kind = from->kind;
    spec->row_fields = from->row_fields;
    size_t count = num_terms(from->num_layers, from->num_etypes);
    if (count > 0)
        memcpy(spec->terms, from->terms, count * sizeof *spec->terms);
    for (uint32_t i = 0; i < from->num_tables && rv == 0; i++)
        rv = sample_spec_add_table(spec, &from->tables[i]);
    if (rv != 0)
        sample_spec_free(spec);
    return rv;
}

int sample_spec_add_table(struct sample_spec *spec, const struct sample_table *table)
{
    if (spec->num_tables == SAMPLE_TABLES_MAX)
        return TR_ETOOBIG;
    struct sample_table *tables = realloc(spec->tables,
                                          (spec->num_tables + (size_t)1) * sizeof *tables);
    if (tables == NULL)
        return TR_ENOMEM;
    spec->tables = tables;
    tables[spec->num_tables++] = *table;
    return 0;
}

void sample_spec_free(struct sample_spec *spec)
{
    free(spec->terms);
    free(spec->tables);
    *spec = (struct sample_spec){ .num_layers = 0 };
}

void sample_spec_set_layer(const struct sample_spec *spec, uint32_t layer,
                           const struct sample_term *term)
{
    for (uint32_t e = 0; e < spec->num_etypes; e++)
        *sample_spec_term(spec, layer, e) = *term;
}

size_t sample_spec_bytes(const struct sample_spec *spec)
{
    return padded(sizeof(struct spec_head) +
                  num_terms(spec->num_layers, spec->num_etypes) * sizeof *spec->terms +
                  spec->num_tables * sizeof *spec->tables);
}

void sample_spec_write(const struct sample_spec *spec, void *bytes)
{
    const struct spec_head head = { spec->kind,       spec->row_fields, spec->num_layers,
                                    spec->num_etypes, spec->num_tables, 0 };
    size_t count = num_terms(spec->num_layers, spec->num_etypes);
    memset(bytes, 0, sample_spec_bytes(spec)); /* the padding is sent too */
    memcpy(bytes, &head, sizeof head);
    if (count > 0)
        memcpy((unsigned char *)bytes + sizeof head, spec->terms, count * sizeof *spec->terms);
    if (spec->num_tables > 0)
        memcpy((unsigned char *)bytes + sizeof head + count * sizeof *spec->terms, spec->tables,
               spec->num_tables * sizeof *spec->tables);
}

static int term_check(const struct sample_term *term)
{
    bool good = term->fanout >= SAMPLE_EVERY && (term->flags & ~SAMPLE_FLAGS) == 0 &&
                term->direction <= SAMPLE_OUT;
    return good ? 0 : TR_EFORMAT;
}

static int table_check(const struct sample_spec *spec, const struct sample_table *table)
{
    bool good = table->of <= SAMPLE_OF_EDGES &&
                (table->of != SAMPLE_OF_EDGES || table->type < spec->num_etypes) &&
                (table->where < spec->num_layers || table->where == SAMPLE_FOR_ALL ||
                 (table->where == SAMPLE_FOR_SEEDS && table->of == SAMPLE_OF_NODES));
    return good ? 0 : TR_EFORMAT;
}

int sample_spec_read(const void *bytes, uint64_t length, struct sample_spec *spec)
{
    const struct spec_head *head = bytes;
    if (length < sizeof *head)
        return TR_EFORMAT;
    /* Bounds before sizes: within them no product overflows. */
    uint64_t count = num_terms(head->num_layers, head->num_etypes);
    if (head->num_layers == 0 || head->num_layers > SAMPLE_LAYERS_MAX || count > SAMPLE_TERMS_MAX ||
        head->num_tables > SAMPLE_TABLES_MAX || head->zero != 0 ||
        (head->row_fields & ~SAMPLE_ROW_FIELDS) != 0)
        return TR_EFORMAT;
    *spec = (struct sample_spec){
        .kind = head->kind,
        .row_fields = head->row_fields,
        .num_layers = head->num_layers,
        .num_etypes = head->num_etypes,
        .num_tables = head->num_tables,
        .terms = (struct sample_term *)(uintptr_t)(head + 1), /* read only from here on */
    };
    spec->tables = (struct sample_table *)(void *)(spec->terms + count);
    if (sample_spec_bytes(spec) != length)
        return TR_EFORMAT;
    for (uint64_t i = 0; i < count; i++)
        if (term_check(&spec->terms[i]) != 0)
            return TR_EFORMAT;
    for (uint32_t i = 0; i < spec->num_tables; i++)
        if (table_check(spec, &spec->tables[i]) != 0)
            return TR_EFORMAT;
    return 0;
}

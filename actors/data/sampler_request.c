/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the sampler to servers. */
#include <string.h>

#include "actors/data/draw.h"
#include "actors/data/sampler_state.h"

/* Where the loader's options don't say: large enough that asking costs little. */
#define REPLY_BYTES ((uint64_t)8 << 20)

/* A reply of rows is smaller: they are summed, sent, read and placed while a cache has them. */
#define ROWS_BYTES ((uint64_t)1 << 20)

/* The rows of each section start at a multiple of this. */
#define ROWS_ALIGN 64u

static uint64_t reply_bytes_max(const struct ask *ask)
{
    uint64_t bytes = ask->task->sampler->options->reply_bytes_max;
    return bytes != 0 ? bytes : REPLY_BYTES;
}

bool sampler_samples_etype(const struct ask *ask, uint32_t etype)
{
    const struct batch_builder *builder = &ask->task->builder;
    uint32_t dst = builder->graph.types->etypes[etype].dst;
    return ask_list(ask, dst)->count > 0 && batch_builder_term(builder, etype)->fanout != 0;
}

/* Salts come with the rows of all sections as soon as one type has repeated seeds. */
static bool has_salts(const struct batch_builder *builder)
{
    for (uint32_t t = 0; t < builder->num_ntypes; t++)
        if (builder->types[t].repeats)
            return true;
    return false;
}

static uint32_t put_samples(const struct ask *ask, struct msg_sample_section *sections,
                            uint64_t *bytes)
{
    const struct batch_builder *builder = &ask->task->builder;
    uint32_t count = 0, last = UINT32_MAX;
    size_t row_bytes = sizeof(uint32_t) * (has_salts(builder) ? 2 : 1);
    for (uint32_t e = 0; e < builder->num_etypes; e++) {
        if (!sampler_samples_etype(ask, e))
            continue;
        uint32_t dst = builder->graph.types->etypes[e].dst;
        uint32_t rows = ask_list(ask, dst)->count;
        if (sections != NULL)
            sections[count] = (struct msg_sample_section){
                .etype = e,
                .num_rows = rows,
                .same_rows = dst == last,
                .term = *batch_builder_term(builder, e),
            };
        *bytes += sizeof *sections + (dst == last ? 0 : rows * row_bytes);
        last = dst;
        count++;
    }
    return count;
}

/* Bytes of the largest reply, up to reply_bytes_max, which stands for rows that may bring every
 * neighbour. 0: no edge type has a section. */
static size_t samples_bytes(const struct ask *ask)
{
    const struct batch_builder *builder = &ask->task->builder;
    uint64_t most = reply_bytes_max(ask), bytes = 0;
    for (uint32_t e = 0; e < builder->num_etypes && bytes < most; e++) {
        if (!sampler_samples_etype(ask, e))
            continue;
        int32_t fanout = batch_builder_term(builder, e)->fanout;
        uint64_t edges = fanout < 0 ? most : (uint64_t)fanout;
        uint64_t row = sizeof(uint32_t) + edges * 2 * sizeof(uint64_t);
        bytes += sizeof(struct msg_sample_answer) + 3 * sizeof(uint64_t);
        bytes += row * ask_list(ask, builder->graph.types->etypes[e].dst)->count;
    }
    return (size_t)(bytes < most ? bytes : most);
}

static void copy_rows(const struct ask *ask, const struct msg_sample_section *sections,
                      uint32_t num_sections)
{
    unsigned char *to = (unsigned char *)(uintptr_t)(sections + num_sections);
    bool salted = has_salts(&ask->task->builder);
    for (uint32_t i = 0; i < num_sections; i++) {
        if (sections[i].same_rows)
            continue;
        uint32_t dst = ask->task->builder.graph.types->etypes[sections[i].etype].dst;
        size_t bytes = sections[i].num_rows * sizeof(uint32_t);
        memcpy(to, ask_list(ask, dst)->rows.data, bytes);
        to += bytes;
        if (!salted)
            continue;
        if (ask->task->builder.types[dst].repeats)
            memcpy(to, ask_list(ask, dst)->salts.data, bytes);
        else
            memset(to, 0, bytes);
        to += bytes;
    }
}

bool sampler_wants_samples(struct ask *ask)
{
    ask->call.reply_bytes = samples_bytes(ask);
    return ask->call.reply_bytes > 0;
}

int sampler_make_samples(const struct ask *ask, struct message **out)
{
    const struct batch_builder *builder = &ask->task->builder;
    struct actor *self = ask->task->sampler->self;
    uint64_t bytes = 0;
    uint32_t num_sections = put_samples(ask, NULL, &bytes);
    struct message *request = message_create(self, MSG_SAMPLE_REQUEST);
    struct msg_sample_section *sections = request == NULL
                                              ? NULL
                                              : message_body_alloc(self, request, bytes);
    if (sections == NULL) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    put_samples(ask, sections, &bytes);
    copy_rows(ask, sections, num_sections);
    struct msg_sample_request *head = message_head(request);
    *head = (struct msg_sample_request){
        .draw = draw_of(&builder->key),
        .part = ask->part,
        .version = ask->task->loader->versions[ask->part],
        .num_sections = num_sections,
        .sampler = builder->plan->spec->kind,
        .row_fields = has_salts(builder) ? SAMPLE_ROW_SALT : 0,
        .edge_ids = builder->plan->edge_ids,
        .reply_bytes_max = reply_bytes_max(ask),
        .skip_sections = ask->sections_done,
        .skip_rows = ask->rows_done,
    };
    *out = request;
    return 0;
}

/* Nodes of the list that come before the position `end` of the node list. */
static uint32_t count_before(const struct batch_builder_list *list, uint32_t end)
{
    const uint32_t *positions = list->positions.data;
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (positions[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t sampler_rows_pieces(const struct ask *ask,
                             struct rows_piece pieces[BATCH_BUILDER_TABLES_MAX])
{
    const struct batch_builder *builder = &ask->task->builder;
    uint32_t count = 0;
    for (uint32_t table = 0; table < batch_builder_num_tables(builder); table++) {
        struct rows_piece *piece = &pieces[count];
        if (!batch_builder_table_rows(builder, ask->list, table, &piece->rows))
            continue;
        uint32_t with_rows = count_before(ask_list(ask, ask->list), piece->rows.num_rows);
        uint32_t left = with_rows > ask->at ? with_rows - ask->at : 0;
        piece->count = left < ask->piece ? left : ask->piece;
        count += piece->count > 0;
    }
    return count;
}

/* Makes ask->piece as large as a reply may be, and moves past types of which nothing is wanted. */
static uint32_t find_piece(struct ask *ask, struct rows_piece pieces[BATCH_BUILDER_TABLES_MAX])
{
    for (; ask->list < batch_builder_num_lists(&ask->task->builder); ask->list++, ask->at = 0) {
        ask->piece = ask_list(ask, ask->list)->count - ask->at;
        uint32_t count = ask->piece == 0 ? 0 : sampler_rows_pieces(ask, pieces);
        if (count == 0)
            continue;
        uint64_t row_bytes = 0;
        for (uint32_t i = 0; i < count; i++)
            row_bytes += pieces[i].rows.row_bytes;
        uint64_t most = reply_bytes_max(ask);
        uint64_t room = (most < ROWS_BYTES ? most : ROWS_BYTES) / (row_bytes + 1);
        room = room == 0 ? 1 : room;
        ask->piece = room < ask->piece ? (uint32_t)room : ask->piece;
        ask->call.reply_bytes = (size_t)(ask->piece * row_bytes + count * ROWS_ALIGN);
        return sampler_rows_pieces(ask, pieces);
    }
    return 0;
}

bool sampler_wants_rows(struct ask *ask)
{
    struct rows_piece pieces[BATCH_BUILDER_TABLES_MAX];
    return find_piece(ask, pieces) > 0;
}

int sampler_make_rows(const struct ask *ask, struct message **out)
{
    struct actor *self = ask->task->sampler->self;
    struct rows_piece pieces[BATCH_BUILDER_TABLES_MAX];
    uint32_t count = sampler_rows_pieces(ask, pieces);
    uint64_t bytes = count * sizeof(struct msg_rows_section);
    for (uint32_t i = 0; i < count; i++)
        bytes += i > 0 && pieces[i].count == pieces[i - 1].count
                     ? 0
                     : pieces[i].count * sizeof(uint32_t);
    struct message *request = message_create(self, MSG_ROWS_REQUEST);
    struct msg_rows_section *sections = request == NULL ? NULL
                                                        : message_body_alloc(self, request, bytes);
    if (sections == NULL) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    const uint32_t *rows = (const uint32_t *)ask_list(ask, ask->list)->rows.data + ask->at;
    uint32_t *to = (uint32_t *)(sections + count);
    for (uint32_t i = 0; i < count; i++) {
        bool same = i > 0 && pieces[i].count == pieces[i - 1].count;
        sections[i] = (struct msg_rows_section){ pieces[i].rows.type, pieces[i].rows.table,
                                                 pieces[i].count, same };
        if (!same) {
            memcpy(to, rows, pieces[i].count * sizeof *rows);
            to += pieces[i].count;
        }
    }
    struct msg_rows_request *head = message_head(request);
    head->part = ask->part;
    head->version = ask->task->loader->versions[ask->part];
    head->num_sections = count;
    *out = request;
    return 0;
}

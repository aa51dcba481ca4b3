/* Answers of servers, checked and copied to where the draft wants them. */
#include <inttypes.h>
#include <string.h>

#include "actors/sampler_state.h"
#include "graph/gather.h"
#include "schemas/body.h"

static int bad(const struct ask *ask, struct error *error, const char *what)
{
    return error_set(error, TR_EFORMAT, "partition %" PRIu32 " answered with %s", ask->part, what);
}

/* The edge type of the section that the ask stands at; num_etypes when all are answered. */
static uint32_t etype_at(const struct ask *ask)
{
    uint32_t left = ask->sections_done, e = 0;
    for (; e < ask->task->draft.num_etypes; e++)
        if (sampler_samples_etype(ask, e) && left-- == 0)
            break;
    return e;
}

static int append(struct vec *to, uint64_t have, const void *from, uint64_t count, size_t size)
{
    int rv = vec_reserve(to, have + count, size, have * size);
    if (rv == 0 && count > 0)
        memcpy((unsigned char *)to->data + have * size, from, count * size);
    return rv;
}

/* A column is a node's number: one beyond the type would be looked up outside of every table. */
static bool has_strays(const struct sample_answer *got, uint64_t num_nodes)
{
    bool stray = false;
    for (uint64_t i = 0; got->columns != NULL && i < got->num_edges; i++)
        stray |= got->columns[i] >= num_nodes;
    for (uint64_t i = 0; got->wide_columns != NULL && i < got->num_edges; i++)
        stray |= got->wide_columns[i] >= num_nodes;
    return stray;
}

static int take_section(struct ask *ask, const struct sample_answer *got, struct error *error)
{
    struct draft *draft = &ask->task->draft;
    uint32_t etype = etype_at(ask);
    if (etype == draft->num_etypes)
        return bad(ask, error, "more edge types than were asked for");
    const struct graph_etype *type = &draft->options.book->types.etypes[etype];
    uint32_t asked = ask_list(ask, type->dst)->count;
    bool wide = draft->types[type->src].wide;
    if (got->num_rows > asked - ask->rows_done)
        return bad(ask, error, "more rows than were asked for");
    if (got->num_edges > 0 && (wide ? got->wide_columns == NULL : got->columns == NULL))
        return bad(ask, error, "columns of the wrong width");
    if (has_strays(got, draft->options.book->num_nodes[type->src]))
        return bad(ask, error, "a neighbour that is no node");
    if (got->num_edges > 0 && draft_wants_edge_ids(draft) && got->edge_ids == NULL)
        return bad(ask, error, "no edge IDs");
    struct draft_answer *answer = draft_answer(draft, etype, ask->part);
    int rv = append(&answer->counts, answer->num_rows, got->counts, got->num_rows,
                    sizeof *got->counts);
    if (rv == 0)
        rv = wide ? append(&answer->columns, answer->num_edges, got->wide_columns,
                           got->num_edges, sizeof(uint64_t))
                  : append(&answer->columns, answer->num_edges, got->columns, got->num_edges,
                           sizeof(uint32_t));
    if (rv == 0 && draft_wants_edge_ids(draft))
        rv = append(&answer->edge_ids, answer->num_edges, got->edge_ids, got->num_edges,
                    sizeof(uint64_t));
    if (rv != 0)
        return error_set(error, rv, "no memory for %" PRIu64 " edges", got->num_edges);
    answer->num_rows += got->num_rows;
    answer->num_edges += got->num_edges;
    ask->rows_done += got->num_rows;
    if (ask->rows_done == asked) {
        ask->sections_done++;
        ask->rows_done = 0;
    }
    return 0;
}

int sampler_take_samples(struct ask *ask, struct message *reply, struct error *error)
{
    const struct msg_sample_reply *head = message_head(reply);
    uint32_t sections = ask->sections_done, rows = ask->rows_done;
    struct sample_reply_walk walk;
    struct sample_answer answer;
    int rv = sample_reply_begin(&walk, head, message_body(reply), reply->frame.body_bytes);
    while (rv == 0 && (rv = sample_reply_next(&walk, &answer)) == 1)
        rv = take_section(ask, &answer, error);
    if (rv != 0)
        return error->code != 0 ? rv : bad(ask, error, "a body of the wrong shape");
    bool all = etype_at(ask) == ask->task->draft.num_etypes;
    if (all)
        return 0;
    if (head->done || (sections == ask->sections_done && rows == ask->rows_done))
        return bad(ask, error, "less than was asked for");
    return 1;
}

int sampler_take_rows(struct ask *ask, struct message *reply, struct error *error)
{
    struct rows_piece pieces[DRAFT_TABLES];
    uint32_t count = sampler_rows_pieces(ask, pieces);
    const uint32_t *positions =
        (const uint32_t *)ask_list(ask, ask->ntype)->positions.data + ask->at;
    struct body_reader reader;
    int rv = rows_reply_begin(&reader, message_body(reply), reply->frame.body_bytes);
    for (uint32_t i = 0; i < count && rv == 0; i++) {
        const void *rows;
        rv = rows_reply_next(&reader, pieces[i].count, pieces[i].rows.row_bytes, &rows);
        if (rv == 0)
            scatter_rows(pieces[i].rows.rows, positions, rows, pieces[i].rows.row_bytes,
                         pieces[i].count);
    }
    if (rv == 0)
        rv = rows_reply_end(&reader);
    if (rv != 0)
        return bad(ask, error, "rows of the wrong shape");
    ask->at += ask->piece;
    return 1;
}

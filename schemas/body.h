/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checked views of the bodies that messages.h lays out.
 *
 * One reader, whose bounds cannot overflow, serves whatever came from outside: nothing in a body
 * is touched before the reader has said that it is there. The views below walk one body each.
 * All of them return TR_EFORMAT for a body that is not what its head says.
 *
 * Bodies start at a multiple of 64 bytes (see runtime/core/message.h).
 * Thread rules: pure; a view belongs to one caller and points into the body.
 */
#ifndef SCHEMAS_BODY_H
#define SCHEMAS_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/messages.h"

struct body_reader {
    const unsigned char *bytes;
    uint64_t length;
    uint64_t at; /* <= length */
};

/* The next count elements of size bytes, from the next multiple of align (a power of two) on. */
int body_take(struct body_reader *reader, uint64_t count, uint64_t size, uint64_t align,
              const void **out);

/* Bytes of a body that grows the same way: adds to *length, or TR_ETOOBIG at overflow. */
int body_grow(uint64_t *length, uint64_t count, uint64_t size, uint64_t align);

/* The fields of num_rows rows as they lie behind rows or seeds: those that row_fields names, in the
 * order of its bits, each at a multiple of its element. */
int row_fields_take(struct body_reader *reader, uint32_t row_fields, uint32_t num_rows,
                    struct sample_row_fields *with);
/* Bytes of a body that grows by them, num_excluded IDs in all. TR_ETOOBIG at overflow. */
int row_fields_grow(uint64_t *length, uint32_t row_fields, uint32_t num_rows,
                    uint64_t num_excluded);
/* Writes them behind the first `at` bytes of a body that has room for them: where `with` has none
 * of a field that row_fields names, salts are 0. Returns the length of the body then. */
uint64_t row_fields_put(void *body, uint64_t at, uint32_t row_fields, uint32_t num_rows,
                        const struct sample_row_fields *with);

/* Sections of a sample or rows request, one after the other. */
struct request_walk {
    const void *sections; /* [num_sections] */
    uint32_t num_sections;
    uint32_t next; /* number of the next section */
    struct body_reader reader;
    const uint32_t *rows; /* of the section before */
    uint32_t num_rows;
    uint32_t row_fields;           /* SAMPLE_ROW_* of a sample request */
    struct sample_row_fields with; /* those rows */
    const uint64_t *excluded;      /* of a section of a sample request: increasing edge IDs */
};

int sample_walk_begin(struct request_walk *walk, const struct msg_sample_request *head,
                      const void *body, uint64_t length);
int rows_walk_begin(struct request_walk *walk, const struct msg_rows_request *head,
                    const void *body, uint64_t length);

/* 1: *section and its rows[section->num_rows], of a sample request with walk->with and
 * walk->excluded[section->num_excluded]; 0: that was all (and the body ends here). */
int sample_walk_next(struct request_walk *walk, const struct msg_sample_section **section,
                     const uint32_t **rows);
int rows_walk_next(struct request_walk *walk, const struct msg_rows_section **section,
                   const uint32_t **rows);

/* One section of a sample reply. */
struct sample_answer {
    uint32_t num_rows;
    uint64_t num_edges;
    const uint32_t *counts;       /* [num_rows], their sum is num_edges */
    const uint32_t *columns;      /* [num_edges], or NULL where they are wide */
    const uint64_t *wide_columns; /* [num_edges], or NULL */
    const uint64_t *edge_ids;     /* [num_edges], or NULL where they were not asked for */
    const float *edge_weights;    /* [num_edges], or NULL where the sampler gives none */
};

struct sample_reply_walk {
    uint32_t left; /* sections to come */
    struct body_reader reader;
};

int sample_reply_begin(struct sample_reply_walk *walk, const struct msg_sample_reply *head,
                       const void *body, uint64_t length);
/* 1: *answer is the next section; 0: that was all. */
int sample_reply_next(struct sample_reply_walk *walk, struct sample_answer *answer);

/* Rows of a rows reply: call it for each section of the request, in order, then rows_reply_end.
 * The requester knows num_rows and row_bytes; *rows: [num_rows * row_bytes]. */
int rows_reply_begin(struct body_reader *reader, const void *body, uint64_t length);
int rows_reply_next(struct body_reader *reader, uint64_t num_rows, uint64_t row_bytes,
                    const void **rows);
int rows_reply_end(const struct body_reader *reader);

/* Facts of a sparse table that both sides of a request know. */
struct sparse_form {
    uint64_t width;         /* columns */
    uint32_t element_bytes; /* of a value */
    uint32_t row_max;       /* elements of a row, at most */
    bool has_values;
};

/* A section of rows that may come sparse. */
struct sparse_answer {
    const void *dense;       /* [num_rows * row_bytes]; NULL: they came sparse */
    const uint32_t *counts;  /* [num_rows], each at most row_max */
    const uint32_t *columns; /* their elements, increasing within a row, below the width */
    const void *values;      /* or NULL: each is 1 */
};

/* rows_reply_next() for a sparse table. Everything that came is checked: TR_EFORMAT. */
int rows_reply_next_sparse(struct body_reader *reader, uint64_t num_rows,
                           const struct sparse_form *form, struct sparse_answer *answer);

/* Where the parts of a section with that many elements lie, for who writes it. */
struct sparse_layout {
    uint64_t head, rows;                           /* struct msg_sparse_rows; rows that are dense */
    uint64_t counts, columns, columns_end, values; /* others */
    uint64_t end;
    bool dense;
};

/* Lays a section out behind `length` bytes of a body, in the form of fewer bytes. TR_ETOOBIG at
 * overflow. */
int sparse_layout_make(struct sparse_layout *layout, uint64_t length, uint64_t num_rows,
                       uint64_t num_elements, const struct sparse_form *form);
/* Bytes that a section of num_rows has at most, wherever it begins: those of a row, and beside. */
uint64_t sparse_row_bytes_max(const struct sparse_form *form);
#define SPARSE_SECTION_BYTES ((uint64_t)256)

/* The body of a MSG_REVERSE_REQUEST, an item for each of head->count. */
struct reverse_questions {
    const uint64_t *originals, *sources;
    const uint32_t *rows;
};
#define REVERSE_QUESTION_BYTES (2 * sizeof(uint64_t) + sizeof(uint32_t))
void reverse_request_read(const struct msg_reverse_request *head, const void *body,
                          struct reverse_questions *out);

/* The spec at the end of the body of a MSG_LOADER_OPEN or a MSG_DRAW_REQUEST. */
int loader_open_spec(const struct msg_loader_open *head, const void *body, uint64_t length,
                     struct sample_spec *spec);

/* The IDs of the seeds of a MSG_DRAW_REQUEST, *num_ids of them. TR_EFORMAT: the body does not have
 * them. */
int draw_request_ids(const struct msg_draw_request *head, const void *body, uint64_t length,
                     const uint64_t **ids, uint64_t *num_ids);

/* What a MSG_DRAW_REQUEST whose spec was read brings beside: the fields of its seeds, and the edges
 * that it leaves out, excluded[head->num_excluded]. */
int draw_request_fields(const struct msg_draw_request *head, const void *body, uint64_t length,
                        const struct sample_spec *spec, struct sample_row_fields *with,
                        const struct msg_excluded_edge **excluded);

/* The seeds at the beginning of the body of a MSG_LOADER_OPEN, or of the MSG_DRAW_REQUEST that
 * `head` was made of: the segments of several types, none of other kinds. TR_EFORMAT: they do not
 * end before the spec begins. */
int loader_open_seeds(const struct msg_loader_open *head, const void *body, uint64_t length,
                      const struct msg_seed_segment **segments);

/* Seeds of a kind that is listed at a proxy are given to samplers as this kind; others, as they
 * are. */
uint32_t seed_kind_given(uint32_t seeds);
static inline bool seed_kind_is_listed(uint32_t seeds)
{
    return seed_kind_given(seeds) != seeds;
}
/* Whether each request for a batch gives the IDs of its seeds. */
bool seed_kind_is_given(uint32_t seeds);
/* IDs that a listed or given seed has: 2 of a pair, and of an edge with its reverse. */
uint32_t seed_kind_ids(uint32_t seeds);

/* A draw as the loader that would have this batch alone, with the seeds as they stand: what plans,
 * checks and estimates batches need not know both. */
struct msg_loader_open draw_as_loader(const struct msg_draw_request *head);

/* Checks the counts of a head against its body: 0 or TR_EFORMAT. For a kind whose body has no fixed
 * shape (text) any length will do. A rows reply is checked as it is read, see above; so is a batch,
 * whose shape is the graph's (actors/data/batch_flat.h). */
int messages_verify(uint32_t kind, const void *head, const void *body, uint64_t length);

/* Where the rows begin in a body that has so many numbers of them before. */
uint64_t tensor_rows_begin(uint64_t count, uint64_t number_bytes);

#endif

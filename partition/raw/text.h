/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text file, plain or packed, as a stream of characters with line numbers.
 *
 * Made for parsers of big files: text_peek and text_next are a compare and a load unless a block
 * ends. Failures (reading, damaged data, bytes that are no text, cancelled) end the stream and are
 * kept in text->rv, so that parsers check once, at the end.
 *
 * What was packed is known by its first bytes (file_kind.h), not by its name. Its first block is
 * unpacked by the caller; where there are more, a thread unpacks the next one while the caller
 * parses (read_ahead.h). A file of a zip archive is "ARCHIVE.zip/NAME", or "ARCHIVE.zip" where it
 * is the only one.
 *
 * A reader may have threads parse blocks before it comes to them (text_parse_ahead). What they made
 * of a block stands beside it, to be taken or not: the characters, the lines and the failures are
 * those of a text without threads. Thread rules: one thread at a time.
 */
#ifndef PARTITION_RAW_TEXT_H
#define PARTITION_RAW_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "partition/raw/read_ahead.h"
#include "partition/raw/text_reading.h"
#include "partition/raw/unpack.h"
#include "runtime/base/cancel.h"
#include "runtime/base/error.h"
#include "runtime/base/files.h"

#define TEXT_END (-1)
/* A number longer than this is none. */
#define TEXT_TOKEN_MAX 64
/* A first line that is longer than this is no header, and a quoted field no field. */
#define TEXT_LINE_MAX ((size_t)1 << 20)

struct text {
    struct file file;
    const char *path; /* for messages; borrowed from the caller of text_open */
    uint64_t offset;  /* in the file, of what is read next where it is not packed */
    uint64_t line;    /* of the next character, from 1 */
    char delimiter;   /* ends a word too, beside blanks, ',' and ';' */
    bool packed;      /* the file's size is not that of the text */
    bool begun;       /* the first block was loaded */
    bool ahead_runs;  /* later blocks come from the threads */
    struct text_reading reading;
    struct unpack *unpack;
    struct read_ahead ahead;
    const struct block_parser *parser; /* of later blocks; NULL: none */
    const void *parsed;                /* of the block that is loaded; NULL: nothing */
    uint8_t *block; /* the first one, and all of a text without threads; NULL: bytes in memory */
    size_t first_bytes; /* of the first block */
    /* A line that was looked at and cut by the end of a block: it comes before the block's rest. */
    uint8_t *held;
    const uint8_t *rest, *rest_end;
    const uint8_t *begin; /* of what is loaded */
    uint8_t last;         /* the last character before it; 0: none */
    bool ended;           /* nothing follows what was loaded */
    size_t block_bytes;
    const uint8_t *at, *end;
    const struct cancel *cancel;
    struct error *error;
    int rv;
};

/* Whether there is a file at path, or in the archive that path begins with. */
bool text_exists(struct files *files, const char *path);

/* error and path are kept: failures of the stream are written there. */
int text_open(struct text *text, struct files *files, const char *path, const struct cancel *cancel,
              struct error *error);
/* reading: may be NULL. */
int text_open_with(struct text *text, struct files *files, const char *path,
                   const struct text_reading *reading, const struct cancel *cancel,
                   struct error *error);
void text_close(struct text *text);

/* A text of bytes in memory, from line 0 on, whose failures have no message: what a block_parser
 * parses. It needs no close. */
void text_of_bytes(struct text *text, const uint8_t *begin, const uint8_t *end);

/* Has threads parse blocks from now on, where the text is long enough and nothing reads ahead yet;
 * the parser is borrowed. What was made of the block that is loaded is text->parsed. */
void text_parse_ahead(struct text *text, const struct block_parser *parser);

/* Loads the next block; false at the end or on failure. */
bool text_fill(struct text *text);

static inline int text_peek(struct text *text)
{
    if (__builtin_expect(text->at == text->end, 0) && !text_fill(text))
        return TEXT_END;
    return *text->at;
}

/* The next character, which must have been peeked. */
static inline void text_skip(struct text *text)
{
    text->line += *text->at == '\n';
    text->at++;
}

/* The rest of this line without its end, which stays to be read. It is there until the next
 * character is asked for. */
int text_look_line(struct text *text, const char **line, size_t *length);

/* Fails with "FILE: line N: " before the message. */
int text_fail(struct text *text, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void text_skip_blanks(struct text *text); /* ' ', '\t', '\r' */
void text_skip_line(struct text *text);   /* and the '\n' at its end */
/* Skips blanks, empty lines and lines that begin with '%' (or '#' where hash). */
void text_skip_comments(struct text *text, bool hash);

/* An ID or count: digits only, below bound, which a quotation mark ends too. what names it in
 * errors. */
int text_number(struct text *text, uint64_t bound, const char *what, uint64_t *value);
/* A finite or other number, as strtod reads it in the C locale. */
int text_float(struct text *text, double *value);
/* Up to the next blank, ',' , ';' or line end; NUL-terminated, lower-cased. */
int text_word(struct text *text, char word[TEXT_TOKEN_MAX]);
/* Goes behind a field in quotation marks, whose first one stands here; two stand for one. */
int text_skip_quoted(struct text *text);
/* The end of the line (or of the text); anything else fails. */
int text_end_line(struct text *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strtod_l */
#include "partition/raw/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the path is "ARCHIVE.zip/NAME" with a file ARCHIVE.zip: how long ARCHIVE.zip is; else 0. */
static size_t archive_length(struct files *files, const char *path, char **archive)
{
    size_t length = 0;
    *archive = NULL;
    for (const char *end = strstr(path, ".zip/"); end != NULL && length == 0;
         end = strstr(end + 1, ".zip/")) {
        char *front = strndup(path, (size_t)(end - path) + 4);
        if (front == NULL)
            return 0;
        if (end[5] != '\0' && files_exists(files, front) && !files_is_folder(files, front)) {
            length = strlen(front);
            *archive = front;
        } else {
            free(front);
        }
    }
    return length;
}

bool text_exists(struct files *files, const char *path)
{
    char *archive;
    bool inside = archive_length(files, path, &archive) > 0;
    free(archive);
    return inside || files_exists(files, path);
}

static int refuse_kind(const struct text *text, const struct file_kind *kind)
{
    return error_set(text->error, TR_EUNSUPPORTED, "%s: looks like %s, not like text; %s",
                     text->path, kind->name, kind->remedy);
}

/* Looks at the file's first bytes, and begins to unpack where they say so. */
static int find_kind(struct text *text, const char *member)
{
    uint8_t head[FILE_KIND_BYTES];
    size_t got = 0;
    int rv = file_read_some(&text->file, 0, head, sizeof head, &got, text->error);
    const struct file_kind *kind = rv == 0 ? file_kind_of(head, got) : NULL;
    if (rv != 0)
        return rv;
    if (member != NULL && (kind == NULL || kind->packing != PACKING_ZIP))
        return error_set(text->error, TR_EFORMAT, "%s: is not a zip archive", text->file.path);
    if (kind == NULL)
        return 0;
    if (kind->packing == PACKING_NONE)
        return refuse_kind(text, kind);
    text->packed = true;
    return unpack_open(&text->file, kind, text->path, member, &text->unpack, text->error);
}

int text_open(struct text *text, struct files *files, const char *path, const struct cancel *cancel,
              struct error *error)
{
    return text_open_with(text, files, path, NULL, cancel, error);
}

int text_open_with(struct text *text, struct files *files, const char *path,
                   const struct text_reading *reading, const struct cancel *cancel,
                   struct error *error)
{
    memset(text, 0, sizeof *text);
    if (reading != NULL)
        text->reading = *reading;
    if (text->reading.block_bytes == 0)
        text->reading.block_bytes = TEXT_BLOCK_BYTES;
    char *archive;
    size_t length = archive_length(files, path, &archive);
    int rv = file_open(&text->file, files, length > 0 ? archive : path, error);
    free(archive);
    if (rv != 0)
        return rv;
    text->path = path;
    text->line = 1;
    text->cancel = cancel;
    text->error = error;
    rv = find_kind(text, length > 0 ? path + length + 1 : NULL);
    /* A graph may name thousands of small files. A byte more shows the end at the first read. */
    text->block_bytes = text->packed || text->file.size >= text->reading.block_bytes
                            ? text->reading.block_bytes
                            : (size_t)text->file.size + 1;
    text->block = malloc(text->block_bytes);
    if (rv == 0 && text->block == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory to read it", path);
    if (rv != 0)
        text_close(text);
    return rv;
}

void text_close(struct text *text)
{
    /* The threads end before what they read from. */
    if (text->ahead_runs)
        read_ahead_stop(&text->ahead);
    unpack_close(text->unpack);
    free(text->held);
    free(text->block);
    file_close(&text->file);
}

void text_of_bytes(struct text *text, const uint8_t *begin, const uint8_t *end)
{
    memset(text, 0, sizeof *text);
    text->at = text->begin = begin;
    text->end = end;
    text->begun = true;
}

void text_parse_ahead(struct text *text, const struct block_parser *parser)
{
    if (!text->ahead_runs)
        text->parser = parser;
}

/* The next bytes, on whichever thread. */
static int fill_from_unpack(void *arg, void *data, size_t size, size_t *got, struct error *error)
{
    struct text *text = arg;
    return text->unpack->read(text->unpack, data, size, got, error);
}

static int fill_from_file(void *arg, void *data, size_t size, size_t *got, struct error *error)
{
    struct text *text = arg;
    int rv = file_read_some(&text->file, text->offset, data, size, got, error);
    text->offset += *got;
    return rv;
}

/* Threads beside the caller's that are worth it. */
static uint32_t count_helpers(const struct text *text)
{
    uint64_t helpers = text->reading.threads;
    if (helpers == 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        helpers = cores > 0 ? (uint64_t)cores : 1;
    }
    helpers = text->parser != NULL ? helpers - 1 : 0;
    if (text->packed)
        return helpers > 1 ? (uint32_t)helpers : 1; /* unpacking takes one */
    uint64_t left = text->file.size > text->offset ? text->file.size - text->offset : 0;
    uint64_t blocks = left / text->block_bytes;
    return (uint32_t)(helpers < blocks ? helpers : blocks);
}

/* Whether the threads give the next block: they begin with the second one, so that small files need
 * none. */
static int start_ahead(struct text *text)
{
    const struct block_source source = { text->packed ? fill_from_unpack : fill_from_file, text,
                                         text->packed };
    uint32_t helpers = text->begun && !text->ahead_runs ? count_helpers(text) : 0;
    if (helpers == 0 || (text->packed && text->first_bytes < text->block_bytes))
        return 0;
    int rv = read_ahead_start(&text->ahead, &source, text->parser, text->block_bytes, helpers,
                              text->packed ? text->error : NULL);
    text->ahead_runs = rv == 0;
    if (rv != 0 && text->packed) {
        error_prefix(text->error, "%s", text->path);
        return rv;
    }
    /* There is no memory for threads: a text that needs none is read without. */
    if (rv != 0)
        text->parser = NULL;
    return 0;
}

static int load_block(struct text *text, const uint8_t **block, size_t *got)
{
    int rv = start_ahead(text);
    text->parsed = NULL;
    if (rv != 0)
        return rv;
    if (text->ahead_runs)
        return read_ahead_next(&text->ahead, block, got, &text->parsed, text->error);
    /* The first block was not full: there is no other one. */
    if (text->packed && text->begun)
        return 0;
    return (text->packed ? fill_from_unpack : fill_from_file)(text, text->block, text->block_bytes,
                                                              got, text->error);
}

/* Whether more lines end in CR alone than in LF: such a file would be one line. What ends the block
 * may be before an LF. */
static bool ends_lines_in_cr(const uint8_t *block, size_t size)
{
    size_t alone = 0, others = 0;
    for (size_t i = 0; i + 1 < size; i++) {
        alone += block[i] == '\r' && block[i + 1] != '\n' && block[i + 1] != '\r';
        others += block[i] == '\n';
    }
    return alone > others;
}

/* A byte 0 is in no text, and in nearly every block of what is none. */
static int check_block(struct text *text, const uint8_t *block, size_t size)
{
    const struct file_kind *kind = text->begun ? NULL : file_kind_of(block, size);
    if (kind != NULL && kind->packing != PACKING_NONE)
        return error_set(text->error, TR_EUNSUPPORTED,
                         "%s: was packed twice, with %s inside; unpack it first", text->path,
                         kind->name);
    if (kind != NULL)
        return refuse_kind(text, kind);
    if (!text->begun && ends_lines_in_cr(block, size))
        return error_set(text->error, TR_EFORMAT,
                         "%s: its lines end in CR alone, as old Macintosh programs write them; "
                         "convert it: tr '\\r' '\\n' <OLD >NEW",
                         text->path);
    const uint8_t *zero = memchr(block, '\0', size);
    if (zero == NULL)
        return 0;
    uint64_t line = text->line;
    for (const uint8_t *c = block; c < zero; c++)
        line += *c == '\n';
    return error_set(text->error, TR_EFORMAT,
                     "%s: line %" PRIu64 ": holds a byte 0, so it is a binary file, or no UTF-8; "
                     "save it as UTF-8 text",
                     text->path, line);
}

bool text_fill(struct text *text)
{
    const uint8_t *block = text->block;
    size_t got = 0;
    if (text->rv != 0)
        return false;
    if (text->rest != text->rest_end) {
        text->at = text->begin = text->rest;
        text->end = text->rest_end;
        text->rest = text->rest_end = NULL;
        return true;
    }
    if (text->block == NULL)
        return false;
    if (text->begin < text->end)
        text->last = text->end[-1];
    if (cancel_asked(text->cancel)) {
        text->rv = error_set(text->error, TR_ECANCELED, "%s: interrupted at line %" PRIu64,
                             text->path, text->line);
        return false;
    }
    text->rv = load_block(text, &block, &got);
    if (text->rv == 0)
        text->rv = check_block(text, block, got);
    if (text->rv != 0)
        return false;
    text->at = block;
    text->end = block + got;
    /* Programs of Windows begin UTF-8 files with a byte order mark. */
    if (!text->begun && got >= 3 && memcmp(block, "\xef\xbb\xbf", 3) == 0)
        text->at += 3;
    if (!text->begun)
        text->first_bytes = got;
    text->begun = true;
    text->begin = text->at;
    text->ended = got == 0;
    return text->at < text->end;
}

/* Appends the rest of what is loaded to the line that is held. */
static int hold_line(struct text *text, size_t *held)
{
    size_t more = (size_t)(text->end - text->at);
    /* The first piece may stand in what is held of an earlier look. */
    uint8_t *grown = *held == 0 ? malloc(more + 1) : realloc(text->held, *held + more + 1);
    if (grown == NULL)
        return text_fail(text, TR_ENOMEM, "no memory for it");
    memcpy(grown + *held, text->at, more);
    if (more > 0)
        text->last = text->end[-1];
    /* Nothing is read of what was loaded any more: it may be what was held before. */
    text->at = text->begin = text->end;
    if (*held == 0)
        free(text->held);
    text->held = grown;
    *held += more;
    return 0;
}

int text_look_line(struct text *text, const char **line, size_t *length)
{
    size_t held = 0;
    const uint8_t *stop = NULL;
    *line = "";
    *length = 0;
    if (text_peek(text) == TEXT_END)
        return text->rv;
    stop = memchr(text->at, '\n', (size_t)(text->end - text->at));
    if (stop != NULL) {
        *line = (const char *)text->at;
        *length = (size_t)(stop - text->at);
        return 0;
    }
    /* A block ends in the line: it is put together, and what follows it is read after it. */
    while (stop == NULL && text_peek(text) != TEXT_END) {
        stop = memchr(text->at, '\n', (size_t)(text->end - text->at));
        const uint8_t *end = stop != NULL ? stop : text->end;
        if (held + (size_t)(end - text->at) > TEXT_LINE_MAX)
            return text_fail(text, TR_EFORMAT, "is longer than %zu bytes; is it a table of lines?",
                             TEXT_LINE_MAX);
        if (stop == NULL && hold_line(text, &held) != 0)
            return text->rv;
    }
    if (text->rv != 0)
        return text->rv;
    if (stop != NULL) {
        const uint8_t *end = text->end;
        text->end = stop;
        if (hold_line(text, &held) != 0)
            return text->rv;
        text->rest = stop;
        text->rest_end = end;
    }
    text->at = text->begin = text->held;
    text->end = text->held + held;
    *line = (const char *)text->held;
    *length = held;
    return 0;
}

int text_fail(struct text *text, int code, const char *format, ...)
{
    if (text->rv != 0)
        return text->rv;
    char message[ERROR_TEXT_MAX / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    /* Behind the end of the last line there is no line that could be named. */
    bool behind = text->ended && text->last == '\n' && text->line > 1;
    text->rv = error_set(text->error, code, "%s: %s%" PRIu64 ": %s", text->path,
                         behind ? "after the last line, " : "line ", text->line - behind, message);
    return text->rv;
}

void text_skip_blanks(struct text *text)
{
    int c;
    while ((c = text_peek(text)) == ' ' || c == '\t' || c == '\r')
        text->at++;
}

void text_skip_line(struct text *text)
{
    while (text_peek(text) != TEXT_END) {
        const uint8_t *stop = memchr(text->at, '\n', (size_t)(text->end - text->at));
        text->at = stop != NULL ? stop : text->end;
        if (stop != NULL) {
            text_skip(text);
            return;
        }
    }
}

void text_skip_comments(struct text *text, bool hash)
{
    for (;;) {
        text_skip_blanks(text);
        int c = text_peek(text);
        if (c == '%' || (hash && c == '#'))
            text_skip_line(text);
        else if (c == '\n')
            text_skip(text);
        else
            return;
    }
}

static bool ends_token(const struct text *text, int c)
{
    return c == TEXT_END || (text->delimiter != '\0' && c == text->delimiter) || c == '\n' ||
           c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';';
}

/* A quotation mark ends a number too, since a whole number may stand between two of them. */
static bool ends_number(const struct text *text, int c)
{
    return ends_token(text, c) || c == '"';
}

/* Reads the word that stands where a number should, for the error; digits: what was read of it. */
static int fail_number(struct text *text, const char *what, const char *digits)
{
    char word[48];
    size_t length = (size_t)snprintf(word, sizeof word, "%s", digits);
    int c;
    while (!ends_number(text, c = text_peek(text)) && length < sizeof word - 1) {
        word[length++] = c >= 32 && c < 127 ? (char)c : '?';
        text_skip(text);
    }
    word[length] = '\0';
    if (length == 0)
        return text_fail(text, TR_EFORMAT, "%s is missing", what);
    if (word[0] == '-')
        return text_fail(text, TR_ERANGE, "%s '%s' is negative; numbers start at 0", what, word);
    return text_fail(text, TR_EFORMAT, "%s is needed, '%s' is not a whole number", what, word);
}

int text_number(struct text *text, uint64_t bound, const char *what, uint64_t *value)
{
    uint64_t number = 0;
    int c = text_peek(text);
    if (c < '0' || c > '9')
        return fail_number(text, what, "");
    do {
        /* bound < 2^60, so that this does not overflow. */
        number = number * 10 + (uint64_t)(c - '0');
        text->at++;
        c = text_peek(text);
        const bool more = c >= '0' && c <= '9';
        if (number >= bound)
            return text_fail(text, TR_ERANGE, "%s %s %" PRIu64 ", it must be below %" PRIu64, what,
                             more ? "begins with" : "is", number, bound);
    } while (c >= '0' && c <= '9');
    if (!ends_number(text, c)) {
        char digits[24];
        snprintf(digits, sizeof digits, "%" PRIu64, number);
        return fail_number(text, what, digits);
    }
    *value = number;
    return 0;
}

int text_word(struct text *text, char word[TEXT_TOKEN_MAX])
{
    size_t length = 0;
    int c;
    while (!ends_token(text, c = text_peek(text))) {
        if (length == TEXT_TOKEN_MAX - 1)
            return text_fail(text, TR_EFORMAT, "'%.20s...' is too long a word", word);
        word[length++] = (char)tolower(c);
        text->at++;
    }
    word[length] = '\0';
    return text->rv;
}

int text_float(struct text *text, double *value)
{
    char word[TEXT_TOKEN_MAX], *end;
    int rv = text_word(text, word);
    if (rv != 0)
        return rv;
    /* The user's locale may have a decimal comma. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *value = plain != (locale_t)0 ? strtod_l(word, &end, plain) : strtod(word, &end);
    if (plain != (locale_t)0)
        freelocale(plain);
    if (word[0] == '\0' || *end != '\0')
        return text_fail(text, TR_EFORMAT, "a number is needed, not '%s'", word);
    return 0;
}

int text_skip_quoted(struct text *text)
{
    uint64_t line = text->line;
    size_t length = 0;
    int c;
    text->at++;
    while ((c = text_peek(text)) != TEXT_END && length++ < TEXT_LINE_MAX) {
        text_skip(text);
        if (c != '"')
            continue;
        if (text_peek(text) != '"')
            return text->rv;
        text->at++;
    }
    /* The line is the one on which it was opened. */
    text->line = line;
    text->ended = false;
    return text_fail(text, TR_EFORMAT, "a quotation mark is not closed");
}

int text_end_line(struct text *text)
{
    text_skip_blanks(text);
    int c = text_peek(text);
    if (c == TEXT_END)
        return text->rv;
    if (c != '\n')
        return text_fail(text, TR_EFORMAT, "has more than is needed, from '%c'",
                         c >= 32 && c < 127 ? c : '?');
    text_skip(text);
    return 0;
}

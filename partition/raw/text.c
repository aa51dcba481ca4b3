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

#define BLOCK_BYTES ((size_t)1 << 20) /* a read: its cost vanishes beside that of parsing it */

int text_open(struct text *text, struct files *files, const char *path, const struct cancel *cancel,
              struct error *error)
{
    memset(text, 0, sizeof *text);
    int rv = file_open(&text->file, files, path, error);
    if (rv != 0)
        return rv;
    uint8_t magic[2] = { 0 };
    size_t got;
    text->line = 1;
    text->cancel = cancel;
    text->error = error;
    rv = file_read_some(&text->file, 0, magic, sizeof magic, &got, error);
    text->gzip = rv == 0 && got == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    /* A graph may name thousands of small files. A byte more shows the end at the first read. */
    text->block_bytes = text->gzip || text->file.size >= BLOCK_BYTES ? BLOCK_BYTES
                                                                     : (size_t)text->file.size + 1;
    text->block = malloc(text->block_bytes);
    text->packed = text->gzip ? malloc(BLOCK_BYTES) : NULL;
    if (rv == 0 && (text->block == NULL || (text->gzip && text->packed == NULL)))
        rv = error_set(error, TR_ENOMEM, "%s: no memory to read it", path);
    /* 16: gzip; 15: the largest window. */
    if (rv == 0 && text->gzip && inflateInit2(&text->stream, 16 + 15) != Z_OK)
        rv = error_set(error, TR_ENOMEM, "%s: no memory to unpack it", path);
    if (rv != 0) {
        /* This comes before the closing, which ends a stream that was begun. */
        text->gzip = text->gzip && text->stream.state != NULL;
        text_close(text);
    }
    return rv;
}

void text_close(struct text *text)
{
    if (text->gzip)
        inflateEnd(&text->stream);
    free(text->packed);
    free(text->block);
    file_close(&text->file);
}

static bool fill_packed(struct text *text)
{
    size_t got;
    if (text->stream.avail_in > 0)
        return true;
    text->rv = file_read_some(&text->file, text->offset, text->packed, BLOCK_BYTES, &got,
                              text->error);
    if (text->rv != 0)
        return false;
    text->offset += got;
    text->stream.next_in = text->packed;
    text->stream.avail_in = (uInt)got;
    if (got == 0 && text->inside)
        text->rv = error_set(text->error, TR_EFORMAT,
                             "%s: the gzip data end too early; it is truncated, copy it again",
                             text->file.path);
    return got > 0;
}

/* Unpacks until at least one byte came out. A file may hold several members, one after another. */
static size_t text_unpack(struct text *text)
{
    text->stream.next_out = text->block;
    text->stream.avail_out = (uInt)BLOCK_BYTES;
    while (text->stream.avail_out == BLOCK_BYTES && fill_packed(text)) {
        text->inside = true;
        int state = inflate(&text->stream, Z_NO_FLUSH);
        if (state == Z_STREAM_END) {
            text->inside = false;
            state = inflateReset(&text->stream);
        }
        if (state != Z_OK) {
            text->rv = error_set(text->error, state == Z_MEM_ERROR ? TR_ENOMEM : TR_EFORMAT,
                                 "%s: the gzip data are damaged near byte %" PRIu64
                                 "; copy it again",
                                 text->file.path, text->offset - text->stream.avail_in);
            return 0;
        }
    }
    return text->rv != 0 ? 0 : BLOCK_BYTES - text->stream.avail_out;
}

bool text_fill(struct text *text)
{
    size_t got = 0;
    if (text->rv != 0)
        return false;
    if (cancel_asked(text->cancel)) {
        text->rv = error_set(text->error, TR_ECANCELED, "%s: interrupted at line %" PRIu64,
                             text->file.path, text->line);
        return false;
    }
    if (text->gzip) {
        got = text_unpack(text);
    } else {
        text->rv = file_read_some(&text->file, text->offset, text->block, text->block_bytes, &got,
                                  text->error);
        text->offset += got;
    }
    if (text->rv != 0)
        return false;
    text->at = text->block;
    text->end = text->block + got;
    /* Programs of Windows begin UTF-8 files with a byte order mark. */
    if (!text->begun && got >= 3 && memcmp(text->block, "\xef\xbb\xbf", 3) == 0)
        text->at += 3;
    text->begun = true;
    return text->at < text->end;
}

int text_fail(struct text *text, int code, const char *format, ...)
{
    if (text->rv != 0)
        return text->rv;
    char sentence[ERROR_TEXT_MAX / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    text->rv = error_set(text->error, code, "%s: line %" PRIu64 ": %s", text->file.path, text->line,
                         sentence);
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

/* Reads the word that stands where a number should, for the error. */
static int fail_number(struct text *text, const char *what)
{
    char word[32];
    size_t length = 0;
    int c;
    while (!ends_token(text, c = text_peek(text)) && length < sizeof word - 1) {
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
        return fail_number(text, what);
    do {
        /* bound < 2^60, so that this does not overflow. */
        number = number * 10 + (uint64_t)(c - '0');
        if (number >= bound)
            return text_fail(text, TR_ERANGE,
                             "%s begins with %" PRIu64 ", it must be below %" PRIu64, what, number,
                             bound);
        text->at++;
        c = text_peek(text);
    } while (c >= '0' && c <= '9');
    if (!ends_token(text, c))
        return fail_number(text, what);
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
        if (c == '\0')
            return text_fail(text, TR_EFORMAT, "holds a byte 0; save it as UTF-8 text");
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

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memrchr, fwrite_unlocked */
#include "bench/import_texts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/key.h"

#define BLOCK_BYTES ((size_t)1 << 20)
/* The longest line, with its end. */
#define LINE_MAX_BYTES 64u
#define NAME_BYTES 17u
#define DRAW_BITS 32

/* A node of many or of few edges: the square of an even number between 0 and 1, spread over the
 * IDs. */
static uint64_t skewed_node(const struct import_text *text, uint64_t draw)
{
    uint64_t even = draw >> DRAW_BITS;
    uint64_t square = even * even >> DRAW_BITS;
    uint64_t rank = square * text->num_nodes >> DRAW_BITS;
    return key_mix(rank + text->seed) % text->num_nodes;
}

static char *put_number(char *to, uint64_t number)
{
    char digits[20];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

/* Syllables, and then what tells names apart: the node's number in base 36. */
static char *put_name(char *to, uint64_t node, uint64_t seed)
{
    static const char FIRST[] = "bdfghjklmnprstvz", SECOND[] = "aeiou",
                      TAIL[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint64_t draw = key_draw(seed, node);
    char *begin = to;
    for (uint64_t i = 0; i < 2 + draw % 4; i++) {
        *to++ = FIRST[draw >> (8 + 4 * i) & 15];
        *to++ = SECOND[(draw >> (32 + 3 * i) & 7) % 5];
    }
    for (; node > 0 || to - begin < 8; node /= 36)
        *to++ = TAIL[node % 36];
    return to;
}

typedef char *put_node(char *to, uint64_t node, uint64_t seed);

static char *put_plain(char *to, uint64_t node, uint64_t seed)
{
    (void)seed;
    return put_number(to, node);
}

static int write_edges(const char *path, const char *header, char delimiter, put_node *put,
                       const struct import_text *text, struct error *error)
{
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return error_set_errno(error, errno, "%s", path);
    fputs(header, file);
    const uint64_t key = key_mix(text->seed);
    for (uint64_t i = 0; i < text->num_edges; i++) {
        char line[LINE_MAX_BYTES];
        char *to = put(line, skewed_node(text, key_draw(key, 2 * i)), text->seed);
        *to++ = delimiter;
        to = put(to, skewed_node(text, key_draw(key, 2 * i + 1)), text->seed);
        *to++ = '\n';
        fwrite_unlocked(line, 1, (size_t)(to - line), file);
    }
    bool failed = ferror(file) != 0;
    failed = fclose(file) != 0 || failed;
    return failed ? error_set(error, TR_EIO, "%s: cannot be written", path) : 0;
}

int import_text_numbers(const char *path, const struct import_text *text, struct error *error)
{
    return write_edges(path, "", '\t', put_plain, text, error);
}

int import_text_names(const char *path, const struct import_text *text, struct error *error)
{
    return write_edges(path, "source,target\n", ',', put_name, text, error);
}

/* A file as blocks that end with a line; what follows the last line end comes with the next
 * block. */
struct blocks {
    int fd;
    char *block; /* [BLOCK_BYTES] */
    size_t kept; /* of the last block, at its begin */
    uint64_t bytes;
};

static int blocks_open(struct blocks *blocks, const char *path, struct error *error)
{
    *blocks = (struct blocks){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
    if (blocks->fd < 0)
        return error_set_errno(error, errno, "%s", path);
    blocks->block = malloc(BLOCK_BYTES);
    if (blocks->block != NULL)
        return 0;
    close(blocks->fd);
    return error_set(error, TR_ENOMEM, "out of memory");
}

static void blocks_close(struct blocks *blocks)
{
    close(blocks->fd);
    free(blocks->block);
}

/* Reads whole lines, up to *end; returns false behind the last one. Lines are shorter than a block. */
static bool blocks_next(struct blocks *blocks, const char **end)
{
    ssize_t got = read(blocks->fd, blocks->block + blocks->kept, BLOCK_BYTES - blocks->kept);
    if (got <= 0)
        return false;
    blocks->bytes += (uint64_t)got;
    const char *last = memrchr(blocks->block, '\n', blocks->kept + (size_t)got);
    *end = last != NULL ? last + 1 : blocks->block;
    blocks->kept = (size_t)(blocks->block + blocks->kept + got - *end);
    return true;
}

static void blocks_keep(struct blocks *blocks, const char *end)
{
    memmove(blocks->block, end, blocks->kept);
}

int import_text_parse(const char *path, uint64_t num_edges, uint64_t *bytes, struct error *error)
{
    struct blocks blocks;
    const char *end;
    uint64_t count = 0;
    uint32_t *numbers = malloc(2 * num_edges * sizeof *numbers);
    if (numbers == NULL)
        return error_set(error, TR_ENOMEM, "no memory for %" PRIu64 " edges", num_edges);
    int rv = blocks_open(&blocks, path, error);
    while (rv == 0 && blocks_next(&blocks, &end)) {
        for (const char *at = blocks.block; at < end && count < 2 * num_edges; at++) {
            uint32_t number = 0;
            for (; *at >= '0'; at++)
                number = number * 10 + (uint32_t)(*at - '0');
            numbers[count++] = number;
        }
        blocks_keep(&blocks, end);
    }
    if (rv == 0) {
        *bytes = blocks.bytes;
        blocks_close(&blocks);
        if (count != 2 * num_edges)
            rv = error_set(error, TR_EIO, "%s: has not the edges that were written", path);
    }
    free(numbers);
    return rv;
}

int import_text_split(const char *path, uint64_t *bytes, struct error *error)
{
    struct blocks blocks;
    const char *end;
    uint64_t first = 0, second = 0, lines = 0;
    int rv = blocks_open(&blocks, path, error);
    if (rv != 0)
        return rv;
    while (blocks_next(&blocks, &end)) {
        for (const char *at = blocks.block, *comma, *stop; at < end; at = stop + 1, lines++) {
            comma = memchr(at, ',', (size_t)(end - at));
            stop = comma != NULL ? memchr(comma, '\n', (size_t)(end - comma)) : NULL;
            if (stop == NULL)
                break;
            first += (uint64_t)(comma - at);
            second += (uint64_t)(stop - comma - 1);
        }
        blocks_keep(&blocks, end);
    }
    blocks_close(&blocks);
    *bytes = blocks.bytes;
    return first + second + 2 * lines == blocks.bytes
               ? 0
               : error_set(error, TR_EIO, "%s: has not the lines that were written", path);
}

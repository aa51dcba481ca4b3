/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memrchr */
#include "partition/raw/edge_blocks.h"

#include <stdlib.h>
#include <string.h>

struct parsed_rows {
    struct text text; /* the rows that are whole */
    struct pairs pairs;
    struct edge_lines lines;
    const uint8_t *first, *rest; /* of the first row, behind the last one; NULL: there is none */
    uint64_t line_ends;          /* between them */
};

static void *create_block(void *arg)
{
    (void)arg;
    return calloc(1, sizeof(struct parsed_rows));
}

static void destroy_block(void *parsed)
{
    struct parsed_rows *block = parsed;
    pairs_fini(&block->pairs);
    free(block);
}

static void parse_block(void *arg, const uint8_t *bytes, size_t size, void *parsed)
{
    const struct edge_lines *like = arg;
    struct parsed_rows *block = parsed;
    struct text *text = &block->text;
    const uint8_t *begin = memchr(bytes, '\n', size), *end = memrchr(bytes, '\n', size);
    block->first = block->rest = NULL;
    block->pairs.count = block->pairs.largest = 0;
    if (begin == end)
        return;
    block->lines = *like;
    block->lines.text = text;
    block->lines.pairs = &block->pairs;
    block->lines.tally = EDGE_TALLY_NONE;
    text_of_bytes(text, begin + 1, end + 1);
    text->delimiter = like->options->delimiter;
    edge_lines_skip(text, like->delimiter);
    block->first = block->rest = text->at;
    const uint64_t line = text->line;
    while (text_peek(text) != TEXT_END && edge_lines_take(&block->lines) == 0) {
        edge_lines_skip(text, like->delimiter);
        /* A row that fails is before this, so that the reader comes to its begin. */
        block->rest = text->at;
        block->line_ends = text->line - line;
    }
}

void edge_blocks_start(struct edge_blocks *blocks, const struct edge_lines *lines)
{
    blocks->like = *lines;
    blocks->parser = (struct block_parser){ create_block, parse_block, destroy_block,
                                            &blocks->like };
    text_parse_ahead(lines->text, &blocks->parser);
}

bool edge_blocks_take(struct edge_lines *lines)
{
    struct text *text = lines->text;
    const struct parsed_rows *block = text->parsed;
    if (block == NULL || text->at != block->first || block->first == block->rest)
        return false;
    /* Where the memory ends, the rows are parsed again up to the one that has none. */
    if (pairs_append(lines->pairs, &block->pairs) != 0)
        return false;
    edge_tally_add(&lines->tally, &block->lines.tally);
    text->at = block->rest;
    text->line += block->line_ends;
    return true;
}

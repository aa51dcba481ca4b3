/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the records of a file for TensorBoard, by the format's description and nothing of ours: its own
 * checksum, bit by bit, and whatever order and other fields a message has. A test aborts where a record
 * is broken.
 */
#ifndef TESTS_TENSORBOARD_READER_H
#define TESTS_TENSORBOARD_READER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOARD_SCALARS_MAX 64

struct board_scalar {
    char tag[128];
    float value;
};

struct board_event {
    double wall_time;
    int64_t step;
    char version[32];
    uint64_t session; /* 1: a start */
    size_t count;
    struct board_scalar scalars[BOARD_SCALARS_MAX];
};

/* A part of a file, of which the front is taken. */
struct board_bytes {
    const unsigned char *at;
    size_t left;
};

static inline void board_need(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "a file for TensorBoard: %s\n", what);
    abort();
}

/* RFC 3720, appendix B.4. */
static inline uint32_t board_crc(const unsigned char *bytes, size_t count)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    return ~crc;
}

static inline uint64_t board_number(const unsigned char *bytes, size_t count)
{
    uint64_t number = 0;
    while (count > 0)
        number = number << 8 | bytes[--count];
    return number;
}

static inline struct board_bytes board_take(struct board_bytes *from, uint64_t count)
{
    board_need(count <= from->left, "a message is longer than what it lies in");
    struct board_bytes taken = { from->at, (size_t)count };
    from->at += count;
    from->left -= (size_t)count;
    return taken;
}

static inline uint64_t board_varint(struct board_bytes *from)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char byte = board_take(from, 1).at[0];
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    board_need(0, "a number has more than ten bytes");
    return 0;
}

/* The next field of a message: its number, and a number or bytes. */
static inline uint64_t board_field(struct board_bytes *from, uint64_t *number,
                                   struct board_bytes *bytes)
{
    uint64_t key = board_varint(from), width = (key & 7) == 1 ? 8 : 4;
    *number = 0;
    *bytes = (struct board_bytes){ from->at, 0 };
    switch (key & 7) {
    case 0:
        *number = board_varint(from);
        break;
    case 1:
    case 5:
        *number = board_number(board_take(from, width).at, (size_t)width);
        break;
    case 2:
        *bytes = board_take(from, board_varint(from));
        break;
    default:
        board_need(0, "a field has no known type");
    }
    return key >> 3;
}

static inline void board_text(char *text, size_t size, struct board_bytes bytes)
{
    board_need(bytes.left < size, "a text is too long");
    memcpy(text, bytes.at, bytes.left);
    text[bytes.left] = '\0';
}

static inline void board_value(struct board_scalar *scalar, struct board_bytes message)
{
    uint64_t number;
    struct board_bytes bytes;
    while (message.left > 0)
        switch (board_field(&message, &number, &bytes)) {
        case 1:
            board_text(scalar->tag, sizeof scalar->tag, bytes);
            break;
        case 2: {
            uint32_t bits = (uint32_t)number;
            memcpy(&scalar->value, &bits, sizeof bits);
            break;
        }
        }
}

static inline void board_message(struct board_event *event, struct board_bytes message)
{
    uint64_t number, inner_number;
    struct board_bytes bytes, inner;
    *event = (struct board_event){ 0 };
    while (message.left > 0)
        switch (board_field(&message, &number, &bytes)) {
        case 1:
            memcpy(&event->wall_time, &number, sizeof number);
            break;
        case 2:
            event->step = (int64_t)number;
            break;
        case 3:
            board_text(event->version, sizeof event->version, bytes);
            break;
        case 5:
            while (bytes.left > 0)
                if (board_field(&bytes, &inner_number, &inner) == 1) {
                    board_need(event->count < BOARD_SCALARS_MAX, "too many scalars");
                    board_value(&event->scalars[event->count++], inner);
                }
            break;
        case 7:
            while (bytes.left > 0)
                if (board_field(&bytes, &inner_number, &inner) == 1)
                    event->session = inner_number;
            break;
        }
}

static inline void board_check(const unsigned char *bytes, size_t count,
                               const unsigned char *masked)
{
    uint32_t crc = board_crc(bytes, count);
    uint32_t expected = (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
    board_need(board_number(masked, 4) == expected, "a checksum is wrong");
}

/* The next record of a file; 0: what is left is no whole one. */
static inline int board_next(struct board_bytes *file, struct board_event *event)
{
    if (file->left < 12)
        return 0;
    board_check(file->at, 8, file->at + 8);
    uint64_t length = board_number(file->at, 8);
    if (length > file->left || file->left - length < 16)
        return 0;
    board_check(file->at + 12, (size_t)length, file->at + 12 + length);
    board_message(event, (struct board_bytes){ file->at + 12, (size_t)length });
    (void)board_take(file, length + 16);
    return 1;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tensorboard_record.h"

#include <assert.h>
#include <string.h>

#include "runtime/base/crc32c.h"

/* What readers expect of a file in which a start says from which step on it goes. */
#define FILE_VERSION "brain.Event:2"
/* Added to a rotated checksum, as the format says. */
#define MASK_DELTA UINT32_C(0xa282ead8)
#define FRAME_BEFORE 12u
#define FRAME_BEHIND 4u
#define SESSION_START 1u

/* How a field lies in a message. */
enum protobuf_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

enum event_field {
    EVENT_WALL_TIME = 1,
    EVENT_STEP = 2,
    EVENT_FILE_VERSION = 3,
    EVENT_SUMMARY = 5,
    EVENT_SESSION_LOG = 7
};

/* The field numbers of the messages inside an Event. */
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_SIMPLE = 2, SESSION_STATUS = 1 };

struct protobuf_message {
    unsigned char bytes[TENSORBOARD_RECORD_MAX - FRAME_BEFORE - FRAME_BEHIND];
    size_t size;
};

static void put_little_endian(unsigned char *into, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        into[i] = (unsigned char)(number >> (8 * i));
}

static void put_raw(struct protobuf_message *message, const void *bytes, size_t count)
{
    /* The bounds of tags and scalars leave room for every record. */
    assert(count <= sizeof message->bytes - message->size);
    memcpy(message->bytes + message->size, bytes, count);
    message->size += count;
}

/* Seven bits a byte, the lowest first; the highest bit says that another byte follows. */
static void put_varint(struct protobuf_message *message, uint64_t number)
{
    unsigned char bytes[10];
    size_t count = 0;
    do {
        bytes[count++] = (unsigned char)((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
        number >>= 7;
    } while (number != 0);
    put_raw(message, bytes, count);
}

static void put_key(struct protobuf_message *message, unsigned field, enum protobuf_type type)
{
    put_varint(message, field << 3 | (unsigned)type);
}

static void put_number(struct protobuf_message *message, unsigned field, uint64_t number)
{
    put_key(message, field, WIRE_VARINT);
    put_varint(message, number);
}

static void put_double(struct protobuf_message *message, unsigned field, double value)
{
    unsigned char bytes[8];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_little_endian(bytes, bits, sizeof bytes);
    put_key(message, field, WIRE_FIXED64);
    put_raw(message, bytes, sizeof bytes);
}

static void put_float(struct protobuf_message *message, unsigned field, float value)
{
    unsigned char bytes[4];
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_little_endian(bytes, bits, sizeof bytes);
    put_key(message, field, WIRE_FIXED32);
    put_raw(message, bytes, sizeof bytes);
}

static void put_bytes(struct protobuf_message *message, unsigned field, const void *bytes,
                      size_t count)
{
    put_key(message, field, WIRE_BYTES);
    put_varint(message, count);
    put_raw(message, bytes, count);
}

static void put_message(struct protobuf_message *message, unsigned field,
                        const struct protobuf_message *inner)
{
    put_bytes(message, field, inner->bytes, inner->size);
}

static uint32_t masked_crc(const void *bytes, size_t count)
{
    uint32_t crc = crc32c(0, bytes, count);
    return (crc >> 15 | crc << 17) + MASK_DELTA;
}

static void frame(struct tensorboard_record *record, const struct protobuf_message *event)
{
    unsigned char *at = record->bytes;
    put_little_endian(at, event->size, 8);
    put_little_endian(at + 8, masked_crc(at, 8), 4);
    memcpy(at + FRAME_BEFORE, event->bytes, event->size);
    put_little_endian(at + FRAME_BEFORE + event->size, masked_crc(event->bytes, event->size), 4);
    record->size = FRAME_BEFORE + event->size + FRAME_BEHIND;
}

void tensorboard_record_version(struct tensorboard_record *record, double wall_time)
{
    struct protobuf_message event = { .size = 0 };
    put_double(&event, EVENT_WALL_TIME, wall_time);
    put_bytes(&event, EVENT_FILE_VERSION, FILE_VERSION, strlen(FILE_VERSION));
    frame(record, &event);
}

void tensorboard_record_start(struct tensorboard_record *record, double wall_time, int64_t step)
{
    struct protobuf_message event = { .size = 0 }, log = { .size = 0 };
    put_number(&log, SESSION_STATUS, SESSION_START);
    put_double(&event, EVENT_WALL_TIME, wall_time);
    put_number(&event, EVENT_STEP, (uint64_t)step);
    put_message(&event, EVENT_SESSION_LOG, &log);
    frame(record, &event);
}

static void put_scalar(struct protobuf_message *summary, const struct tensorboard_scalar *scalar)
{
    struct protobuf_message value = { .size = 0 };
    size_t length = strlen(scalar->tag);
    assert(length <= TENSORBOARD_TAG_MAX);
    put_bytes(&value, VALUE_TAG, scalar->tag, length);
    put_float(&value, VALUE_SIMPLE, (float)scalar->value);
    put_message(summary, SUMMARY_VALUE, &value);
}

void tensorboard_record_scalars(struct tensorboard_record *record, double wall_time, int64_t step,
                                const struct tensorboard_scalar *scalars, size_t count)
{
    struct protobuf_message event = { .size = 0 }, summary = { .size = 0 };
    assert(count <= TENSORBOARD_SCALARS_MAX);
    for (size_t i = 0; i < count; i++)
        put_scalar(&summary, &scalars[i]);
    put_double(&event, EVENT_WALL_TIME, wall_time);
    put_number(&event, EVENT_STEP, (uint64_t)step);
    put_message(&event, EVENT_SUMMARY, &summary);
    frame(record, &event);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/wire.h"

#include <string.h>

#include "runtime/base/crc32c.h"

static uint32_t bytes_max(uint8_t type)
{
    switch (type) {
    case WIRE_HELLO:
    case WIRE_WELCOME:
    case WIRE_REFUSE:
        return LINKS_HELLO_BYTES_MAX;
    case WIRE_MESSAGE:
        return WIRE_RECORD_BYTES_MAX;
    case WIRE_MORE:
        return WIRE_PART_BYTES;
    case WIRE_ACK:
        return sizeof(struct wire_ack);
    default:
        return 0;
    }
}

static uint32_t bytes_min(uint8_t type)
{
    switch (type) {
    case WIRE_MESSAGE:
        return sizeof(struct frame);
    case WIRE_ACK:
        return sizeof(struct wire_ack);
    default:
        return type <= WIRE_REFUSE || type == WIRE_MORE ? 1 : 0;
    }
}

int wire_check_header(const struct wire_header *header, bool greeting)
{
    bool is_greeting = header->type >= WIRE_HELLO && header->type <= WIRE_REFUSE;
    bool has_lane = header->type == WIRE_MESSAGE || header->type == WIRE_MORE;
    if (header->type < WIRE_HELLO || header->type > WIRE_GOODBYE || is_greeting != greeting ||
        header->reserved != 0)
        return TR_EFORMAT;
    if (header->lane >= (has_lane ? WIRE_LANES : 1) || (!has_lane && header->sequence != 0))
        return TR_EFORMAT;
    if (header->bytes < bytes_min(header->type) || header->bytes > bytes_max(header->type))
        return TR_EFORMAT;
    return 0;
}

uint32_t wire_crc_begin(const struct wire_header *header)
{
    struct wire_header plain = *header;
    plain.crc = 0;
    return crc32c(0, &plain, sizeof plain);
}

const char *wire_refusal_text(uint32_t refusal)
{
    static const char *const texts[] = {
#define X(name, text) text,
        LINKS_REFUSALS(X)
#undef X
    };
    return refusal < LINKS_REFUSALS_COUNT ? texts[refusal] : "for a reason unknown here";
}

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    return hash;
}

uint64_t wire_schema_hash(const struct kinds *kinds)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (uint32_t id = 0; id < KINDS_MAX; id++) {
        const struct kind *kind = kinds_find(kinds, id);
        if (kind == NULL || kind->encode == NULL)
            continue;
        uint64_t numbers[] = { kind->id,         kind->lane,           kind->class,
                               kind->head_bytes, kind->body_bytes_max, kind->observer };
        hash = hash_bytes(hash, numbers, sizeof numbers);
        hash = hash_bytes(hash, kind->name, strlen(kind->name) + 1);
    }
    return hash;
}

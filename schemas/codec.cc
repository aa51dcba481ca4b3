/* SPDX-License-Identifier: Apache-2.0 */
#include "schemas/codec.h"

#include <cstring>

#include <troupe/error.h>

#include "runtime/base/flat.hh"
#include "schemas/fields.h"
#include "schemas/messages.h"
#include "schemas/messages_generated.h"

namespace
{

namespace wire = troupe_wire;

wire::msg_draw to_wire(const struct msg_draw &draw)
{
    return wire::msg_draw(draw.seed, draw.batch, draw.epoch, draw.rank, draw.hop);
}

struct msg_draw from_wire(const wire::msg_draw &draw)
{
    struct msg_draw out = {};
    out.seed = draw.seed();
    out.batch = draw.batch();
    out.epoch = draw.epoch();
    out.rank = draw.rank();
    out.hop = draw.hop();
    return out;
}

// For each head: its table's builder steps and the way back.
template <typename Head> struct Coder;

#define WRITE_SCALAR(field) table.add_##field(head.field);
#define WRITE_DRAW(field)                   \
    const auto field = to_wire(head.field); \
    table.add_##field(&field);
#define READ_SCALAR(field) head->field = table.field();
#define READ_DRAW(field) head->field = from_wire(*table.field());

#define X(kind, type, lane, class)                                                   \
    template <> struct Coder<struct type> {                                          \
        using Head = struct type;                                                    \
        using Table = wire::type;                                                    \
        static void write(flatbuffers::FlatBufferBuilder &builder, const Head &head, \
                          flatbuffers::Offset<Table> *out)                           \
        {                                                                            \
            wire::type##Builder table(builder);                                      \
            FIELDS_##type(WRITE_SCALAR, WRITE_DRAW) *out = table.Finish();           \
        }                                                                            \
        static void read(const Table &table, Head *head)                             \
        {                                                                            \
            FIELDS_##type(READ_SCALAR, READ_DRAW)                                    \
        }                                                                            \
    };
MESSAGES(X)
#undef X

template <typename Head> int encode(const void *head, void *out, size_t capacity)
{
    flat::Writer<CODEC_BYTES_MAX> writer;
    flatbuffers::Offset<typename Coder<Head>::Table> table;
    Coder<Head>::write(writer.builder(), *static_cast<const Head *>(head), &table);
    return writer.finish(table, out, capacity);
}

template <typename Head> int verify(const void *bytes, size_t count)
{
    flat::Reader<typename Coder<Head>::Table, CODEC_BYTES_MAX> reader(bytes, count);
    return reader.get() != nullptr ? 0 : TR_EFORMAT;
}

template <typename Head> int decode(const void *bytes, size_t count, void *head)
{
    if (count > CODEC_BYTES_MAX)
        return TR_EFORMAT;
    flat::Aligned<CODEC_BYTES_MAX> aligned(bytes, count);
    using Table = typename Coder<Head>::Table;
    *static_cast<Head *>(head) = Head();
    Coder<Head>::read(*flatbuffers::GetRoot<Table>(aligned.get()), static_cast<Head *>(head));
    return 0;
}

} // namespace

extern "C" int codec_encode(uint32_t kind, const void *head, void *out, size_t capacity)
{
    switch (kind) {
#define X(kind, type, lane, class) \
    case kind:                     \
        return encode<struct type>(head, out, capacity);
        MESSAGES(X)
#undef X
    }
    return TR_EUNSUPPORTED;
}

extern "C" int codec_verify(uint32_t kind, const void *bytes, size_t count)
{
    switch (kind) {
#define X(kind, type, lane, class) \
    case kind:                     \
        return verify<struct type>(bytes, count);
        MESSAGES(X)
#undef X
    }
    return TR_EFORMAT;
}

extern "C" int codec_decode(uint32_t kind, const void *bytes, size_t count, void *head)
{
    switch (kind) {
#define X(kind, type, lane, class) \
    case kind:                     \
        return decode<struct type>(bytes, count, head);
        MESSAGES(X)
#undef X
    }
    return TR_EFORMAT;
}

extern "C" size_t codec_head_bytes(uint32_t kind)
{
    switch (kind) {
#define X(kind, type, lane, class) \
    case kind:                     \
        return sizeof(struct type);
        MESSAGES(X)
#undef X
    }
    return 0;
}

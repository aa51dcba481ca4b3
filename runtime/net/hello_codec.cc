/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/hello_codec.h"

#include <troupe/error.h>

#include "runtime/base/flat.hh"
#include "runtime/net/hello.h"

#include "runtime/net/hello_generated.h"

namespace
{

namespace wire = troupe_hello;

using Writer = flat::Writer<HELLO_CODEC_BYTES_MAX>;
template <typename Table> using Reader = flat::Reader<Table, HELLO_CODEC_BYTES_MAX>;

} // namespace

extern "C" int hello_encode(const struct wire_hello *hello, void *out, size_t capacity)
{
    Writer writer;
    auto cluster = flat::write_text(writer, hello->cluster);
    return writer.finish(wire::Createhello(writer.builder(), hello->protocol_first,
                                           hello->protocol_last, hello->schema_hash, cluster,
                                           hello->node, hello->incarnation, hello->nonce,
                                           hello->peer_node, hello->peer_incarnation,
                                           hello->peer_fenced, hello->received[WIRE_CONTROL],
                                           hello->received[WIRE_BULK], hello->received[WIRE_DATA],
                                           hello->released_bytes, hello->window_bytes),
                         out, capacity);
}

extern "C" int hello_decode(const void *bytes, size_t count, struct wire_hello *hello)
{
    Reader<wire::hello> reader(bytes, count);
    const wire::hello *table = reader.get();
    if (table == nullptr || !flat::fits(table->cluster(), hello->cluster))
        return TR_EFORMAT;
    *hello = {};
    hello->protocol_first = table->protocol_first();
    hello->protocol_last = table->protocol_last();
    hello->schema_hash = table->schema_hash();
    flat::copy_text(table->cluster(), hello->cluster);
    hello->node = table->node();
    hello->incarnation = table->incarnation();
    hello->nonce = table->nonce();
    hello->peer_node = table->peer_node();
    hello->peer_incarnation = table->peer_incarnation();
    hello->peer_fenced = table->peer_fenced();
    hello->received[WIRE_CONTROL] = table->received_control();
    hello->received[WIRE_BULK] = table->received_bulk();
    hello->received[WIRE_DATA] = table->received_data();
    hello->released_bytes = table->released_bytes();
    hello->window_bytes = table->window_bytes();
    return 0;
}

extern "C" int refuse_encode(uint32_t refusal, void *out, size_t capacity)
{
    Writer writer;
    return writer.finish(wire::Createrefuse(writer.builder(), refusal), out, capacity);
}

extern "C" int refuse_decode(const void *bytes, size_t count, uint32_t *refusal)
{
    Reader<wire::refuse> reader(bytes, count);
    if (reader.get() == nullptr)
        return TR_EFORMAT;
    *refusal = reader.get()->refusal();
    return 0;
}

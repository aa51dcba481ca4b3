/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/runtime_codec.h"

#include <troupe/error.h>

#include "runtime/base/flat.hh"

// The headers are C's.
#define _Static_assert static_assert
#include "runtime/core/runtime_kinds.h"

#include "runtime/core/runtime_generated.h"

namespace
{

namespace wire = troupe_runtime;

using Writer = flat::Writer<RUNTIME_CODEC_BYTES_MAX>;
template <typename Table> using Reader = flat::Reader<Table, RUNTIME_CODEC_BYTES_MAX>;

int decode_kill(const void *bytes, size_t count, struct runtime_kill *head)
{
    Reader<wire::kill> reader(bytes, count);
    // A reason is a failure.
    if (reader.get() == nullptr || reader.get()->reason() >= 0 || reader.get()->reason() < INT8_MIN)
        return TR_EFORMAT;
    head->reason = reader.get()->reason();
    return 0;
}

int decode_demonitor(const void *bytes, size_t count, struct runtime_demonitor *head)
{
    Reader<wire::demonitor> reader(bytes, count);
    if (reader.get() == nullptr)
        return TR_EFORMAT;
    head->call = reader.get()->call();
    return 0;
}

int decode_name(const void *bytes, size_t count, struct runtime_name *head)
{
    Reader<wire::lookup> reader(bytes, count);
    if (reader.get() == nullptr || !flat::fits(reader.get()->name(), head->name))
        return TR_EFORMAT;
    flat::copy_text(reader.get()->name(), head->name);
    head->wait = reader.get()->wait();
    return 0;
}

int decode_found(const void *bytes, size_t count, struct runtime_found *head)
{
    Reader<wire::found> reader(bytes, count);
    if (reader.get() == nullptr)
        return TR_EFORMAT;
    const wire::address *address = reader.get()->who();
    head->address = { address->node(), address->incarnation(), address->slot(),
                      address->generation() };
    return 0;
}

} // namespace

extern "C" int runtime_encode(uint32_t kind, const void *head, void *out, size_t capacity)
{
    Writer writer;
    switch (kind) {
    case RUNTIME_STOP:
    case RUNTIME_MONITOR:
        return 0;
    case RUNTIME_KILL: {
        auto kill = static_cast<const struct runtime_kill *>(head);
        return writer.finish(wire::Createkill(writer.builder(), kill->reason), out, capacity);
    }
    case RUNTIME_DEMONITOR: {
        auto forget = static_cast<const struct runtime_demonitor *>(head);
        return writer.finish(wire::Createdemonitor(writer.builder(), forget->call), out, capacity);
    }
    case RUNTIME_LOOKUP: {
        auto name = static_cast<const struct runtime_name *>(head);
        auto text = flat::write_text(writer, name->name);
        return writer.finish(wire::Createlookup(writer.builder(), text, name->wait), out, capacity);
    }
    case RUNTIME_FOUND: {
        const struct address &found = static_cast<const struct runtime_found *>(head)->address;
        wire::address address(found.node, found.incarnation, found.slot, found.generation);
        return writer.finish(wire::Createfound(writer.builder(), &address), out, capacity);
    }
    }
    return TR_EUNSUPPORTED;
}

extern "C" int runtime_decode(uint32_t kind, const void *bytes, size_t count, void *head)
{
    switch (kind) {
    case RUNTIME_STOP:
    case RUNTIME_MONITOR:
        return count == 0 ? 0 : TR_EFORMAT;
    case RUNTIME_KILL:
        return decode_kill(bytes, count, static_cast<struct runtime_kill *>(head));
    case RUNTIME_DEMONITOR:
        return decode_demonitor(bytes, count, static_cast<struct runtime_demonitor *>(head));
    case RUNTIME_LOOKUP:
        return decode_name(bytes, count, static_cast<struct runtime_name *>(head));
    case RUNTIME_FOUND:
        return decode_found(bytes, count, static_cast<struct runtime_found *>(head));
    }
    return TR_EFORMAT;
}

extern "C" int runtime_verify(uint32_t kind, const void *bytes, size_t count)
{
    union {
        struct runtime_kill kill;
        struct runtime_demonitor demonitor;
        struct runtime_name name;
        struct runtime_found found;
    } head;
    return runtime_decode(kind, bytes, count, &head);
}

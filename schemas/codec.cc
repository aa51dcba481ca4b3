#include "schemas/codec.h"

#include <cstring>

#include <troupe/error.h>

#include "schemas/fields.h"
#include "schemas/messages.h"
#include "schemas/messages_generated.h"

namespace {

namespace wire = troupe_wire;

// No head has a table inside a table.
constexpr flatbuffers::uoffset_t kDepthMax = 2;
constexpr flatbuffers::uoffset_t kTablesMax = 2;
// The verifier reads numbers in place, so they must lie as the sender's builder laid them.
constexpr size_t kAlign = 8;

// Gives the builder one block, on the stack: a head never grows beyond it (see codec.h).
class StackAllocator final : public flatbuffers::Allocator {
 public:
  uint8_t *allocate(size_t size) override {
    FLATBUFFERS_ASSERT(size <= sizeof block_);
    return block_;
  }
  void deallocate(uint8_t *, size_t) override {}

 private:
  alignas(64) uint8_t block_[CODEC_BYTES_MAX];
};

wire::msg_draw to_wire(const struct msg_draw &draw) {
  return wire::msg_draw(draw.seed, draw.batch, draw.epoch, draw.rank, draw.hop);
}

struct msg_draw from_wire(const wire::msg_draw &draw) {
  struct msg_draw out = {};
  out.seed = draw.seed();
  out.batch = draw.batch();
  out.epoch = draw.epoch();
  out.rank = draw.rank();
  out.hop = draw.hop();
  return out;
}

template <size_t N>
constexpr uint32_t array_size(const int32_t (&)[N]) {
  return N;
}

// For each head: its tables' builder steps, what its struct allows, and the way back. Arrays are
// written before their table is begun, as FlatBuffers asks.
template <typename Head>
struct Coder;

#define NOTHING_1(a)
#define NOTHING_2(a, b)
#define WRITE_ARRAY(field, count)                                   \
  if (head.count > array_size(head.field)) return false;            \
  auto field = builder.CreateVector(head.field, head.count);
#define WRITE_SCALAR(field) table.add_##field(head.field);
#define WRITE_DRAW(field)                  \
  const auto field = to_wire(head.field);  \
  table.add_##field(&field);
#define ADD_ARRAY(field, count) table.add_##field(field);
#define CHECK_ARRAY(field, count)                                                      \
  if (table.count() > array_size(Head().field) || table.field()->size() != table.count()) \
    return false;
#define READ_SCALAR(field) head->field = table.field();
#define READ_DRAW(field) head->field = from_wire(*table.field());
#define READ_ARRAY(field, count) \
  for (uint32_t i = 0; i < table.count(); i++) head->field[i] = table.field()->Get(i);

#define X(kind, type, lane, class)                                                \
  template <>                                                                     \
  struct Coder<struct type> {                                                     \
    using Head = struct type;                                                     \
    using Table = wire::type;                                                     \
    static bool write(flatbuffers::FlatBufferBuilder &builder, const Head &head) { \
      FIELDS_##type(NOTHING_1, NOTHING_1, WRITE_ARRAY)                            \
      wire::type##Builder table(builder);                                         \
      FIELDS_##type(WRITE_SCALAR, WRITE_DRAW, ADD_ARRAY)                          \
      builder.Finish(table.Finish());                                             \
      return true;                                                                \
    }                                                                             \
    static bool allowed(const Table &table) {                                     \
      FIELDS_##type(NOTHING_1, NOTHING_1, CHECK_ARRAY)                            \
      return (void)table, true;                                                   \
    }                                                                             \
    static void read(const Table &table, Head *head) {                            \
      FIELDS_##type(READ_SCALAR, READ_DRAW, READ_ARRAY)                           \
    }                                                                             \
  };
MESSAGES(X)
#undef X

template <typename Head>
int encode(const void *head, void *out, size_t capacity) {
  StackAllocator allocator;
  flatbuffers::FlatBufferBuilder builder(CODEC_BYTES_MAX, &allocator, false, kAlign);
  if (!Coder<Head>::write(builder, *static_cast<const Head *>(head))) return TR_EINVAL;
  if (builder.GetSize() > capacity) return TR_ETOOBIG;
  std::memcpy(out, builder.GetBufferPointer(), builder.GetSize());
  return static_cast<int>(builder.GetSize());
}

// Where bytes are not aligned as the numbers in them need, a copy that is.
class Aligned {
 public:
  Aligned(const void *bytes, size_t count) : bytes_(static_cast<const uint8_t *>(bytes)) {
    if (reinterpret_cast<uintptr_t>(bytes) % kAlign == 0 || count == 0) return;
    std::memcpy(copy_, bytes, count);
    bytes_ = copy_;
  }
  const uint8_t *get() const { return bytes_; }

 private:
  alignas(kAlign) uint8_t copy_[CODEC_BYTES_MAX];
  const uint8_t *bytes_;
};

template <typename Head>
int verify(const void *bytes, size_t count) {
  if (count > CODEC_BYTES_MAX) return TR_EFORMAT;
  Aligned aligned(bytes, count);
  flatbuffers::Verifier verifier(aligned.get(), count, kDepthMax, kTablesMax);
  using Table = typename Coder<Head>::Table;
  if (!verifier.VerifyBuffer<Table>(nullptr)) return TR_EFORMAT;
  return Coder<Head>::allowed(*flatbuffers::GetRoot<Table>(aligned.get())) ? 0 : TR_EFORMAT;
}

template <typename Head>
int decode(const void *bytes, size_t count, void *head) {
  if (count > CODEC_BYTES_MAX) return TR_EFORMAT;
  Aligned aligned(bytes, count);
  using Table = typename Coder<Head>::Table;
  *static_cast<Head *>(head) = Head();
  Coder<Head>::read(*flatbuffers::GetRoot<Table>(aligned.get()), static_cast<Head *>(head));
  return 0;
}

}  // namespace

extern "C" int codec_encode(uint32_t kind, const void *head, void *out, size_t capacity) {
  switch (kind) {
#define X(kind, type, lane, class) \
  case kind:                       \
    return encode<struct type>(head, out, capacity);
    MESSAGES(X)
#undef X
  }
  return TR_EUNSUPPORTED;
}

extern "C" int codec_verify(uint32_t kind, const void *bytes, size_t count) {
  switch (kind) {
#define X(kind, type, lane, class) \
  case kind:                       \
    return verify<struct type>(bytes, count);
    MESSAGES(X)
#undef X
  }
  return TR_EFORMAT;
}

extern "C" int codec_decode(uint32_t kind, const void *bytes, size_t count, void *head) {
  switch (kind) {
#define X(kind, type, lane, class) \
  case kind:                       \
    return decode<struct type>(bytes, count, head);
    MESSAGES(X)
#undef X
  }
  return TR_EFORMAT;
}

extern "C" size_t codec_head_bytes(uint32_t kind) {
  switch (kind) {
#define X(kind, type, lane, class) \
  case kind:                       \
    return sizeof(struct type);
    MESSAGES(X)
#undef X
  }
  return 0;
}

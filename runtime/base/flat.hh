/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all codecs (runtime_codec.cc, hello_codec.cc, schemas/codec.cc) need of FlatBuffers: one small
 * buffer is built on the stack, and bytes are verified before anything is read of them.
 *
 * Bytes is the largest buffer that the codec writes or reads. Nothing is allocated on the heap.
 * Thread rules: an object is its function's.
 */
#ifndef RUNTIME_BASE_FLAT_HH
#define RUNTIME_BASE_FLAT_HH

#include <cstring>

#include <flatbuffers/flatbuffers.h>

#include <troupe/error.h>

namespace flat
{

// No table stands inside a table in what we send.
constexpr flatbuffers::uoffset_t kDepthMax = 2;
constexpr flatbuffers::uoffset_t kTablesMax = 2;
// The verifier reads numbers in place, so they must lie as the sender's builder laid them.
constexpr size_t kAlign = 8;

// Gives the builder one block, on the stack: nothing here grows beyond it.
template <size_t Bytes> class StackAllocator final : public flatbuffers::Allocator
{
  public:
    uint8_t *allocate(size_t size) override
    {
        FLATBUFFERS_ASSERT(size <= sizeof block_);
        return block_;
    }
    void deallocate(uint8_t *, size_t) override
    {
    }

  private:
    alignas(64) uint8_t block_[Bytes];
};

// One buffer to write, from its first byte to the caller's memory.
template <size_t Bytes> class Writer
{
  public:
    flatbuffers::FlatBufferBuilder &builder()
    {
        return builder_;
    }
    // The bytes written, or TR_ETOOBIG.
    template <typename Table>
    int finish(flatbuffers::Offset<Table> table, void *out, size_t capacity)
    {
        builder_.Finish(table);
        if (builder_.GetSize() > capacity)
            return TR_ETOOBIG;
        std::memcpy(out, builder_.GetBufferPointer(), builder_.GetSize());
        return static_cast<int>(builder_.GetSize());
    }

  private:
    StackAllocator<Bytes> allocator_;
    flatbuffers::FlatBufferBuilder builder_{ Bytes, &allocator_, false, kAlign };
};

// count <= Bytes bytes; where they are not aligned as the numbers in them need, a copy that is.
template <size_t Bytes> class Aligned
{
  public:
    Aligned(const void *bytes, size_t count) : bytes_(static_cast<const uint8_t *>(bytes))
    {
        if (reinterpret_cast<uintptr_t>(bytes) % kAlign == 0 || count == 0)
            return;
        std::memcpy(copy_, bytes, count);
        bytes_ = copy_;
    }
    const uint8_t *get() const
    {
        return bytes_;
    }

  private:
    alignas(kAlign) uint8_t copy_[Bytes];
    const uint8_t *bytes_;
};

// Bytes verified as one table; NULL: they are not, or too many.
template <typename Table, size_t Bytes> class Reader
{
  public:
    Reader(const void *bytes, size_t count) : aligned_(bytes, count <= Bytes ? count : 0)
    {
        if (count == 0 || count > Bytes)
            return;
        flatbuffers::Verifier verifier(aligned_.get(), count, kDepthMax, kTablesMax);
        if (verifier.VerifyBuffer<Table>(nullptr)) {
            table_ = flatbuffers::GetRoot<Table>(aligned_.get());
        }
    }
    const Table *get() const
    {
        return table_;
    }

  private:
    Aligned<Bytes> aligned_;
    const Table *table_ = nullptr;
};

// A string with its zero fits, and there is no zero in it.
template <size_t N> bool fits(const flatbuffers::String *text, const char (&)[N])
{
    return text->size() < N && std::memchr(text->data(), 0, text->size()) == nullptr;
}

template <size_t N> void copy_text(const flatbuffers::String *text, char (&out)[N])
{
    std::memcpy(out, text->data(), text->size());
    out[text->size()] = '\0';
}

template <size_t Bytes, size_t N>
flatbuffers::Offset<flatbuffers::String> write_text(Writer<Bytes> &writer, const char (&text)[N])
{
    return writer.builder().CreateString(text, strnlen(text, N - 1));
}

} // namespace flat

#endif

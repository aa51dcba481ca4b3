/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/memory_stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/core/stream_impl.h"

struct memory_stream {
    struct stream stream;
    const uint8_t *data;
    size_t left, piece;
    uint32_t *open;
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* It can always be read: the end is there too. */
static void tell(struct stream *stream)
{
    stream_tell(stream, STREAM_READABLE | STREAM_WRITABLE);
}

static int attach(struct stream *stream)
{
    tell(stream);
    return 0;
}

static void ignore(struct stream *stream)
{
    (void)stream;
}

static ssize_t readv_memory(struct stream *stream, const struct iovec *parts, int num_parts)
{
    struct memory_stream *self = (struct memory_stream *)stream;
    size_t most = smaller(self->left, self->piece), total = 0;
    for (int i = 0; i < num_parts && total < most; i++) {
        size_t count = smaller(parts[i].iov_len, most - total);
        memcpy(parts[i].iov_base, self->data, count);
        self->data += count;
        self->left -= count;
        total += count;
    }
    return total > 0 ? (ssize_t)total : TR_EEND;
}

static ssize_t writev_memory(struct stream *stream, const struct iovec *parts, int num_parts)
{
    size_t total = 0;
    (void)stream;
    for (int i = 0; i < num_parts; i++)
        total += parts[i].iov_len;
    return (ssize_t)total;
}

static void close_memory(struct stream *stream)
{
    --*((struct memory_stream *)stream)->open;
    free(stream);
}

static const struct stream_ops ops = { .attach = attach,
                                       .detach = ignore,
                                       .want = tell,
                                       .readv = readv_memory,
                                       .writev = writev_memory,
                                       .again = tell,
                                       .close = close_memory };

struct stream *memory_stream_create(const uint8_t *data, size_t size, size_t piece, bool trusted,
                                    uint32_t *open)
{
    struct memory_stream *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->stream.ops = &ops;
    self->stream.peer.uid = trusted ? (int64_t)geteuid() : -1;
    self->data = data;
    self->left = size;
    self->piece = piece == 0 ? SIZE_MAX : piece;
    self->open = open;
    ++*open;
    return &self->stream;
}

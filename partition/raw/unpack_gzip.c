/* SPDX-License-Identifier: Apache-2.0 */
/* gzip (RFC 1952) by zlib. A file may hold several members, one after another. */
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

#include "partition/raw/unpack.h"

#define PACKED_BYTES ((size_t)1 << 18) /* a read: its cost vanishes beside that of unpacking it */

struct gzip_unpack {
    struct unpack base;
    struct file *file;
    const char *path;
    uint64_t offset; /* in the file, of what is read next */
    bool inside;     /* a member has begun and not ended */
    z_stream stream;
    uint8_t packed[PACKED_BYTES];
};

/* *got is 0 at the end of the file. */
static int fill_packed(struct gzip_unpack *gzip, struct error *error)
{
    size_t got;
    if (gzip->stream.avail_in > 0)
        return 0;
    int rv = file_read_some(gzip->file, gzip->offset, gzip->packed, PACKED_BYTES, &got, error);
    if (rv != 0)
        return rv;
    gzip->offset += got;
    gzip->stream.next_in = gzip->packed;
    gzip->stream.avail_in = (uInt)got;
    if (got == 0 && gzip->inside)
        return error_set(error, TR_EFORMAT,
                         "%s: the gzip data end too early; it is truncated, copy it again",
                         gzip->path);
    return 0;
}

static int read_gzip(struct unpack *self, void *data, size_t size, size_t *got, struct error *error)
{
    struct gzip_unpack *gzip = (struct gzip_unpack *)self;
    gzip->stream.next_out = data;
    gzip->stream.avail_out = (uInt)size;
    while (gzip->stream.avail_out > 0) {
        int rv = fill_packed(gzip, error);
        if (rv != 0)
            return rv;
        if (gzip->stream.avail_in == 0)
            break;
        gzip->inside = true;
        int state = inflate(&gzip->stream, Z_NO_FLUSH);
        if (state == Z_STREAM_END) {
            gzip->inside = false;
            state = inflateReset(&gzip->stream);
        }
        if (state != Z_OK)
            return error_set(error, state == Z_MEM_ERROR ? TR_ENOMEM : TR_EFORMAT,
                             "%s: the gzip data are damaged near byte %" PRIu64 "; copy it again",
                             gzip->path, gzip->offset - gzip->stream.avail_in);
    }
    *got = size - gzip->stream.avail_out;
    return 0;
}

static void close_gzip(struct unpack *self)
{
    struct gzip_unpack *gzip = (struct gzip_unpack *)self;
    inflateEnd(&gzip->stream);
    free(gzip);
}

int unpack_open_gzip(struct file *file, const char *path, struct unpack **out, struct error *error)
{
    struct gzip_unpack *gzip = malloc(sizeof *gzip);
    if (gzip == NULL)
        goto no_memory;
    gzip->base = (struct unpack){ read_gzip, close_gzip };
    gzip->file = file;
    gzip->path = path;
    gzip->offset = 0;
    gzip->inside = false;
    gzip->stream = (z_stream){ 0 };
    /* 16: gzip; 15: the largest window. */
    if (inflateInit2(&gzip->stream, 16 + 15) != Z_OK)
        goto no_memory;
    *out = &gzip->base;
    return 0;
no_memory:
    free(gzip);
    return error_set(error, TR_ENOMEM, "%s: no memory to unpack it", path);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/tls_pipe.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void tls_pipe_flush(struct tls_pipe *pipe)
{
    while (tls_pipe_waits(pipe) && pipe->out_status == 0) {
        struct iovec part = { pipe->out + pipe->out_at, pipe->out_end - pipe->out_at };
        ssize_t put = stream_writev(pipe->stream, &part, 1);
        if (put == 0)
            return;
        if (put < 0)
            pipe->out_status = (int)put;
        else
            pipe->out_at += (size_t)put;
    }
    if (!tls_pipe_waits(pipe))
        pipe->out_at = pipe->out_end = 0;
}

static bool fits(const struct tls_pipe *pipe)
{
    return TLS_PIPE_BYTES - pipe->out_end >= TLS_PIPE_RECORD_BYTES;
}

/* Moving is worth it only when it gains as much room as it copies. */
static void close_gap(struct tls_pipe *pipe)
{
    size_t waits = pipe->out_end - pipe->out_at;
    if (pipe->out_at < waits)
        return;
    memmove(pipe->out, pipe->out + pipe->out_at, waits);
    pipe->out_at = 0;
    pipe->out_end = waits;
}

bool tls_pipe_room(struct tls_pipe *pipe)
{
    if (fits(pipe))
        return pipe->out_status == 0;
    /* The flush comes before close_gap: what is written need not be moved. */
    tls_pipe_flush(pipe);
    if (!fits(pipe))
        close_gap(pipe);
    return fits(pipe) && pipe->out_status == 0;
}

static int write_bio(BIO *bio, const char *data, int size)
{
    struct tls_pipe *pipe = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t room = TLS_PIPE_BYTES - pipe->out_end;
    size_t put = (size_t)size < room ? (size_t)size : room;
    if (put == 0) {
        BIO_set_retry_write(bio);
        return -1;
    }
    memcpy(pipe->out + pipe->out_end, data, put);
    pipe->out_end += put;
    pipe->wrote = true;
    return (int)put;
}

static void keep_first(struct tls_pipe *pipe, const char *data, size_t size)
{
    for (size_t i = 0; i < size && pipe->num_first < sizeof pipe->first; i++)
        pipe->first[pipe->num_first++] = (unsigned char)data[i];
}

/* Reads as much as there is; > 0, 0: would block, TR_E*. */
static ssize_t fill(struct tls_pipe *pipe)
{
    size_t most = TLS_PIPE_BYTES < pipe->may_read ? TLS_PIPE_BYTES : pipe->may_read;
    /* The bound is asked for before reading: a read of nothing would look like a peer without
     * bytes. */
    if (pipe->in_status == 0 && most == 0)
        pipe->in_status = TR_ETOOBIG;
    if (pipe->in_status != 0)
        return pipe->in_status;
    struct iovec part = { pipe->in, most };
    ssize_t got = stream_readv(pipe->stream, &part, 1);
    if (got < 0)
        pipe->in_status = (int)got;
    if (got <= 0)
        return got;
    pipe->in_at = 0;
    pipe->in_end = (size_t)got;
    if (pipe->may_read != SIZE_MAX)
        pipe->may_read -= (size_t)got;
    keep_first(pipe, (const char *)pipe->in, (size_t)got);
    return got;
}

static int read_bio(BIO *bio, char *data, int size)
{
    struct tls_pipe *pipe = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t got = tls_pipe_has(pipe) ? 1 : fill(pipe);
    if (got == 0)
        BIO_set_retry_read(bio);
    if (got <= 0)
        return -1;
    size_t has = pipe->in_end - pipe->in_at;
    size_t take = (size_t)size < has ? (size_t)size : has;
    memcpy(data, pipe->in + pipe->in_at, take);
    pipe->in_at += take;
    return (int)take;
}

static long control_bio(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH; /* the end of tls_writev and of the handshake does it */
}

int tls_pipe_init(struct tls_pipe *pipe, struct stream *stream, size_t may_read)
{
    *pipe = (struct tls_pipe){ .stream = stream, .may_read = may_read };
    pipe->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "troupe stream");
    pipe->out = malloc(TLS_PIPE_BYTES);
    pipe->in = malloc(TLS_PIPE_BYTES);
    if (pipe->out == NULL || pipe->in == NULL || pipe->method == NULL)
        return TR_ENOMEM;
    BIO_meth_set_read(pipe->method, read_bio);
    BIO_meth_set_write(pipe->method, write_bio);
    BIO_meth_set_ctrl(pipe->method, control_bio);
    return 0;
}

void tls_pipe_fini(struct tls_pipe *pipe)
{
    BIO_meth_free(pipe->method);
    free(pipe->out);
    free(pipe->in);
}

BIO *tls_pipe_bio(struct tls_pipe *pipe)
{
    BIO *bio = BIO_new(pipe->method);
    if (bio == NULL)
        return NULL;
    BIO_set_data(bio, pipe);
    BIO_set_init(bio, 1);
    return bio;
}

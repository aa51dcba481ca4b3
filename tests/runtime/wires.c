/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/runtime/wires.h"
#include "tests/scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/files.h"

struct end {
    struct stream stream;
    struct wires *wires;
    struct wire *in, *out;
};

void wires_init(struct wires *wires, uint64_t seed)
{
    memset(wires, 0, sizeof *wires);
    wires->random = seed * 2 + 1;
    wires->up.damage_at = wires->down.damage_at = UINT64_MAX;
}

/* Knuth's multiplier; the high bits are good enough for lengths. */
uint64_t wires_random(struct wires *wires, uint64_t below)
{
    wires->random = wires->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (wires->random >> 33) % below;
}

bool wire_is_readable(const struct wire *wire)
{
    return wire->end > wire->at || wire->ended;
}

size_t wire_put(struct wire *wire, const void *bytes, size_t size)
{
    if (wire->at == wire->end)
        wire->at = wire->end = 0;
    size_t room = WIRE_BYTES - wire->end;
    size_t put = size < room ? size : room;
    if (put > 0)
        memcpy(wire->bytes + wire->end, bytes, put);
    if (wire->damage_at - wire->carried < put)
        wire->bytes[wire->end + (wire->damage_at - wire->carried)] ^= 1;
    wire->end += put;
    wire->carried += put;
    return put;
}

/* Most calls move all they can, some a few bytes, some nothing. */
static size_t allowed(struct wires *wires)
{
    uint64_t draw = wires_random(wires, 8);
    return draw == 0 ? 0 : draw < 3 ? (size_t)wires_random(wires, 40) : SIZE_MAX;
}

static ssize_t read_end(struct stream *stream, const struct iovec *parts, int num_parts)
{
    struct end *end = (struct end *)stream;
    size_t most = allowed(end->wires), total = 0;
    if (end->in->at == end->in->end)
        return end->in->ended ? TR_EEND : 0;
    for (int i = 0; i < num_parts; i++) {
        size_t has = end->in->end - end->in->at;
        size_t take = parts[i].iov_len < has ? parts[i].iov_len : has;
        take = take < most - total ? take : most - total;
        memcpy(parts[i].iov_base, end->in->bytes + end->in->at, take);
        end->in->at += take;
        total += take;
    }
    return (ssize_t)total;
}

static ssize_t write_end(struct stream *stream, const struct iovec *parts, int num_parts)
{
    struct end *end = (struct end *)stream;
    size_t most = allowed(end->wires), total = 0;
    for (int i = 0; i < num_parts; i++) {
        size_t size = parts[i].iov_len < most - total ? parts[i].iov_len : most - total;
        size_t put = wire_put(end->out, parts[i].iov_base, size);
        total += put;
        if (put < parts[i].iov_len)
            break;
    }
    return (ssize_t)total;
}

static void close_end(struct stream *stream)
{
    ((struct end *)stream)->out->ended = true;
    free(stream);
}

static const struct stream_ops end_ops = { .readv = read_end,
                                           .writev = write_end,
                                           .close = close_end };

struct stream *wires_stream(struct wires *wires, bool connects)
{
    struct end *end = calloc(1, sizeof *end);
    assert_non_null(end);
    end->stream.ops = &end_ops;
    end->stream.peer.uid = -1;
    end->wires = wires;
    end->in = connects ? &wires->down : &wires->up;
    end->out = connects ? &wires->up : &wires->down;
    return &end->stream;
}

void keys_folder_make(char folder[64], const char *const *hosts, size_t num_hosts, int64_t begin_s)
{
    struct keys_host named[8];
    struct keys_report report;
    struct error error = { 0 };
    assert_true(num_hosts <= 8);
    for (size_t i = 0; i < num_hosts; i++)
        named[i] = (struct keys_host){ hosts[i], NULL };
    assert_non_null(scratch_folder(folder, 64, "keys"));
    struct keys_options options = {
        .folder = folder, .hosts = named, .num_hosts = num_hosts, .days = 30, .begin_s = begin_s
    };
    if (keys_make(&options, &report, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(report.made, num_hosts);
}

void keys_folder_remove(const char *folder)
{
    assert_int_equal(files_remove_tree(files_posix, folder, NULL), 0);
}

void keys_file_write(const char *path, const char *text, unsigned mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

struct security *keys_security(const char *folder, const char *host)
{
    char ca[128], certificate[128], key[128];
    struct security *security = NULL;
    struct error error = { 0 };
    snprintf(ca, sizeof ca, "%s/ca.pem", folder);
    snprintf(certificate, sizeof certificate, "%s/%s.pem", folder, host);
    snprintf(key, sizeof key, "%s/%s.key", folder, host);
    struct security_options options = { .ca = ca, .certificate = certificate, .key = key };
    if (security_create(&options, &security, &error) < 0)
        fail_msg("%s", error.text);
    return security;
}

struct security *keys_shared(const char *path)
{
    struct security *security = NULL;
    struct error error = { 0 };
    struct security_options options = { .shared_key = path };
    if (security_create(&options, &security, &error) < 0)
        fail_msg("%s", error.text);
    return security;
}

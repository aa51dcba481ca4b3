/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common parts of the tests of transports and keys: two streams in memory that carry bytes to
 * each other in random pieces, and folders of keys.
 */
#ifndef TESTS_RUNTIME_WIRES_H
#define TESTS_RUNTIME_WIRES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/core/stream_impl.h"
#include "runtime/net/keys.h"
#include "runtime/net/transport.h"

#define WIRE_BYTES 65536u

/* One direction. */
struct wire {
    unsigned char bytes[WIRE_BYTES];
    size_t at, end;
    bool ended;
    uint64_t carried;   /* so far */
    uint64_t damage_at; /* the byte whose lowest bit is turned over; UINT64_MAX: none */
};

struct wires {
    struct wire up, down; /* from the side that connects, and to it */
    uint64_t random;
};

void wires_init(struct wires *wires, uint64_t seed);

/* A detached stream at one end; closing it ends its direction. */
struct stream *wires_stream(struct wires *wires, bool connects);

uint64_t wires_random(struct wires *wires, uint64_t below);

/* Has the other side's stream bytes to read, or their end? */
bool wire_is_readable(const struct wire *wire);
size_t wire_put(struct wire *wire, const void *bytes, size_t size);

/* A folder with keys, removed by keys_folder_remove. */
void keys_folder_make(char folder[64], const char *const *hosts, size_t num_hosts, int64_t begin_s);
void keys_folder_remove(const char *folder);
void keys_file_write(const char *path, const char *text, unsigned mode);

/* With the keys of a host of a folder; with the shared key of a file. */
struct security *keys_security(const char *folder, const char *host);
struct security *keys_shared(const char *path);

#endif

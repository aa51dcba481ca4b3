/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Talk: calls between actors of two processes, over a link on TCP loopback.
 *
 * A driver here calls an actor there, so many calls at a time, each request and each reply with a
 * body of so many bytes. The other process starts with remote_echo_open, so that one has to come
 * before this process has threads.
 *
 * Ownership: remote_echo_close frees all and ends the other process. Thread rules: the main thread.
 */
#ifndef BENCH_REMOTE_ECHO_H
#define BENCH_REMOTE_ECHO_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"

#define REMOTE_ECHO_WINDOW_MAX 1024u

struct remote_echo;

/* tls: with a shared key; else plain, with a checksum a record. */
int remote_echo_open(bool tls, struct remote_echo **out, struct error *error);
void remote_echo_close(struct remote_echo *echo);

struct remote_echo_load {
    uint64_t calls;
    uint32_t window; /* under way; up to REMOTE_ECHO_WINDOW_MAX */
    uint64_t request_bytes, reply_bytes;
};

struct remote_echo_result {
    double seconds;
    double median; /* seconds of a call */
};

int remote_echo_run(struct remote_echo *echo, const struct remote_echo_load *load,
                    struct remote_echo_result *result, struct error *error);

#endif

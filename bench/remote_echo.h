/*
 * Talk: calls between actors of two processes, over a link on TCP loopback.
 *
 * A driver here calls an actor there, so many calls at a time, each request and each reply with a
 * body of so many bytes. The other process starts with talk_open, so that one has to come before
 * this process has threads.
 *
 * Ownership: talk_close frees all and ends the other process. Thread rules: the main thread.
 */
#ifndef BENCH_REMOTE_ECHO_H
#define BENCH_REMOTE_ECHO_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"

#define TALK_WINDOW_MAX 1024u

struct talk;

/* tls: with a shared key; else plain, with a checksum a record. */
int talk_open(bool tls, struct talk **out, struct error *error);
void talk_close(struct talk *talk);

struct talk_load {
    uint64_t calls;
    uint32_t window; /* under way; up to TALK_WINDOW_MAX */
    uint64_t request_bytes, reply_bytes;
};

struct talk_result {
    double seconds;
    double median; /* seconds of a call */
};

int talk_run(struct talk *talk, const struct talk_load *load, struct talk_result *result,
             struct error *error);

#endif

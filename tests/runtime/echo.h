/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two actors over streams, for tests in either env: one that echoes every connection's bytes, and
 * one that sends a known sequence, in drawn pieces, and compares what comes back.
 */
#ifndef TESTS_RUNTIME_ECHO_H
#define TESTS_RUNTIME_ECHO_H

#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/base/error.h"
#include "runtime/core/actor.h"
#include "runtime/core/stream.h"

#define ECHO_BUFFER 8192u

struct connection;

struct echo_server {
    struct endpoint endpoint; /* where to listen; then where it does */
    struct error error;
    atomic_int listening; /* 1: does; TR_E*: cannot */
    atomic_int accepted, ended, broken;
    uint32_t pieces_max;    /* bytes a call reads and writes at most; 0: ECHO_BUFFER */
    bool close_at_once;     /* each connection, in its first ready */
    struct address hand_to; /* an actor that gets each connection; none: serves them itself */
    struct stream *listener;
    struct connection *connections;
};
extern const struct actor_ops echo_server_ops;

/* Serves what an echo_server hands to it; arg: that server. */
extern const struct actor_ops echo_helper_ops;

struct echo_client {
    struct endpoint endpoint;
    uint64_t bytes; /* to send and get back */
    uint64_t sent, received, wrong;
    uint32_t pieces_max;
    bool stays;         /* keeps the stream open when all came */
    struct error error; /* of the stream */
    atomic_int result;  /* 1: all came; TR_E*: it broke; 0: goes on */
    struct stream *stream;
};
extern const struct actor_ops echo_client_ops;

#endif

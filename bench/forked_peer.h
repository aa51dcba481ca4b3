/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process beside this one, for what has to be measured between two.
 *
 * It is forked, so it begins with all that this process has; it reports when it is ready, and ends
 * when it is asked to, or with this process. The process that was started last has to be ended
 * first: it holds copies of the pipes of those before it.
 *
 * Thread rules: the main thread, while the process has no other that could hold a lock.
 */
#ifndef BENCH_FORKED_PEER_H
#define BENCH_FORKED_PEER_H

#include <stddef.h>
#include <sys/types.h>

#include "runtime/base/error.h"

struct forked_peer {
    pid_t child; /* 0: none */
    int hear, end;
};

/* Its ends of the same pipes: it says one thing when it is ready, and waits until `stop` ends. */
struct forked_peer_child {
    int say, stop;
};

/* Returns when it has to end: its exit status. */
typedef int forked_peer_play(void *arg, const struct forked_peer_child *child);

int forked_peer_start(struct forked_peer *peer, forked_peer_play *play, void *arg,
                      struct error *error);
/* Waits for what it says; TR_ECHILD: it ended before. */
int forked_peer_hear(const struct forked_peer *peer, void *said, size_t size, struct error *error);
/* Ends it and waits until it has gone; none is ignored. */
void forked_peer_end(struct forked_peer *peer);

/* In the child. */
int forked_peer_say(const struct forked_peer_child *child, const void *said, size_t size);
void forked_peer_wait(const struct forked_peer_child *child);

#endif

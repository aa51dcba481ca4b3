/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets without Troupe: the references of the figures of links.
 *
 * Another process listens on TCP loopback and serves one connection after the other, each by the
 * byte that it begins with. Starts with reference_net_open, before this process has threads.
 *
 * Thread rules: the main thread.
 */
#ifndef BENCH_REFERENCE_NET_H
#define BENCH_REFERENCE_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/forked_peer.h"

struct reference_net {
    struct forked_peer peer;
    uint16_t port;
};

int reference_net_open(struct reference_net *net, struct error *error);
void reference_net_close(struct reference_net *net);

/* Seconds that so many bytes take to the other process: blocking writes and reads; tls: through
 * OpenSSL, records of 16 KiB, both ends in memory of 1 MiB. */
int reference_net_bulk(const struct reference_net *net, bool tls, uint64_t bytes, double *seconds,
                       struct error *error);

/* The median of so many round trips of so many bytes, each side in epoll_wait. */
int reference_net_ping(const struct reference_net *net, uint32_t trips, uint32_t bytes,
                       double *median, struct error *error);

/* Bytes/s of one stream of iperf3; TR_ENOENT: it is not installed. */
int reference_net_iperf(uint64_t bytes, double *rate, struct error *error);
bool reference_net_has_iperf(void);

#endif

/*
 * What sockets do without Troupe: the references of the figures of links.
 *
 * Another process listens on TCP loopback and serves one connection after the other, each by the
 * byte that it begins with. Starts with bare_net_open, before this process has threads.
 *
 * Thread rules: the main thread.
 */
#ifndef BENCH_REFERENCE_NET_H
#define BENCH_REFERENCE_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/forked_peer.h"

struct bare_net {
    struct apart apart;
    uint16_t port;
};

int bare_net_open(struct bare_net *net, struct error *error);
void bare_net_close(struct bare_net *net);

/* Seconds that so many bytes take to the other process: blocking writes and reads; tls: through
 * OpenSSL, records of 16 KiB, both ends in memory of 1 MiB. */
int bare_net_bulk(const struct bare_net *net, bool tls, uint64_t bytes, double *seconds,
                  struct error *error);

/* The median of so many round trips of so many bytes, each side in epoll_wait. */
int bare_net_ping(const struct bare_net *net, uint32_t trips, uint32_t bytes, double *median,
                  struct error *error);

/* Bytes/s of one stream of iperf3; TR_ENOENT: it is not installed. */
int bare_net_iperf(uint64_t bytes, double *rate, struct error *error);
bool bare_net_has_iperf(void);

#endif

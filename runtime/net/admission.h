/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission: which connection gives up its place when a newcomer finds none free.
 *
 * Connections that are not known yet have LINKS_HALF_OPEN_MAX places between them. Any peer that
 * reaches the port can fill these, so a newcomer must never wait for the time-out of those that
 * hold them. Three rules choose the place that it takes, the first that applies:
 *
 *   1. That of the oldest connection which was silent for LINKS_SILENT_NS: a peer speaks first.
 *   2. For a newcomer whose source has its share (the places divided by the sources that hold any):
 *      one of its own source, so that a source which asks for much displaces itself.
 *   3. One of the source that holds most.
 *
 * Within a source the least advanced connection gives way, and of these the oldest: a handshake
 * that is under way costs a stranger more than a connection does. A connection that has proved its
 * identity never gives way. Others keep their place for LINKS_PLACE_NS at least, unless their
 * source holds more than its share and the newcomer's less: a flood of newcomers would otherwise
 * sweep everybody out before the first words arrive.
 *
 * The share is that of OpenSSH's PerSourceMaxStartups with PerSourceNetBlockSize (sshd_config(5)),
 * grown and shrunk with the number of sources as in longest-queue-drop (B. Suter, T. Lakshman,
 * D. Stiliadis, A. Choudhury: Design Considerations for Supporting TCP with Per-flow Queueing,
 * INFOCOM 1998). OpenSSH's MaxStartups drops the newcomer by a drawn chance; here the newcomer is
 * the one that is let in, because a process that was started again is always the newcomer.
 * PerSourcePenalties has no counterpart: a penalty for an address would hit the processes of a job
 * on a host from which a stranger of another user comes too.
 *
 * Pure values and functions. Thread rules: the listener's loop.
 */
#ifndef RUNTIME_NET_ADMISSION_H
#define RUNTIME_NET_ADMISSION_H

#include <stdint.h>

#include "runtime/net/links.h"

/* How far a connection came, in the order in which they give way. */
enum admission_stage {
    ADMISSION_OVER,     /* it was refused; only that is still to be written */
    ADMISSION_SILENT,   /* it has sent nothing */
    ADMISSION_SPOKE,    /* it has sent something */
    ADMISSION_ANSWERED, /* its part of the handshake was whole, and was answered */
    ADMISSION_PROVED,   /* it has a certificate or the key, or is a process of our user */
};

struct admission_place {
    struct admission_place *next; /* the one that came before it */
    uint64_t source;              /* struct stream_peer's */
    uint64_t since_ns;
    enum admission_stage stage;
};

/* When one of the places in this list may be taken by a newcomer of any source; UINT64_MAX: all
 * belong to connections that have proved their identity. */
uint64_t admission_next_ns(const struct admission_place *places);

/* The place in this list, newest first, that a newcomer of that source takes. NULL:
 * none may be taken for it now. */
struct admission_place *admission_choose(struct admission_place *places, uint64_t source,
                                         uint64_t now_ns);

#endif

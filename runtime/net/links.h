/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links: how a node's messages reach the actors of other nodes.
 *
 * Between two nodes there is one link: a session between two incarnations that outlives
 * connections. Messages that were sent are kept until the other side acknowledged them, and are
 * sent again on the next connection, so a reset loses nothing, repeats nothing and reorders
 * nothing. A peer that is silent for dead_ns is down: its incarnation is fenced here for good,
 * calls to it complete with TR_EPEERDOWN, monitors get their DOWN. It learns of it when it comes
 * back, and its node ends with TR_EPEERDOWN ("fenced").
 *
 * If both sides fenced each other, only the dialing side ends.
 *
 * A peer that this node has no link with for dead_ns is named in the log with its endpoint, every
 * few seconds and later each minute: threads may wait for it, and where it was stopped before this
 * node began, no node here knows the incarnation that is silent.
 *
 * Order is kept between two actors in each lane, as inside a node. A message that a link can't
 * carry is answered: TR_EUNSUPPORTED (a kind without an encoding; a request of another node that is
 * handed on to a third), TR_ETOOBIG, TR_EFULL (the data lane holds two windows), TR_EPEERDOWN.
 * Forwarded requests are not monitored: if the final node dies, the caller sees TR_ETIMEDOUT.
 *
 * The node with the higher number connects to the lower one. Numbers from NODE_OBSERVERS on are
 * observers: they connect, are not in the table, and may ask only what kinds allow observers.
 *
 * Flow: messages of the data lane are written while the receiver's window has room for them; the
 * receiver returns credit when its actors took them. Replies and the control lane don't wait for
 * credit: the caller made room for its largest reply (call.h).
 *
 * Ownership: the node's; what the options point to is copied, but for security, which outlives it.
 * Thread rules: links_create between node_create and node_start; the rest from any thread.
 */
#ifndef RUNTIME_NET_LINKS_H
#define RUNTIME_NET_LINKS_H

#include "runtime/core/endpoint.h"
#include "runtime/core/node.h"
#include "runtime/core/router.h"
#include "runtime/net/security.h"

#define LINKS_PEERS_MAX 65536u

#define LINKS_PROTOCOL_FIRST 1u /* the versions of the wire that we speak */
#define LINKS_PROTOCOL_LAST 1u

#define LINKS_HEARTBEAT_NS UINT64_C(1000000000)
#define LINKS_DEAD_NS UINT64_C(5000000000)
/* Two of the largest messages, so that one travels while another is taken. */
#define LINKS_WINDOW_BYTES (2 * ROUTER_MESSAGE_BYTES)

/* The bytes that messages of observers may take, all together, until their receivers took
 * them: thousands. */
#define LINKS_OBSERVER_BYTES_MAX (1u << 20)
#define LINKS_WINDOW_BYTES_MAX (UINT32_MAX / 2) /* sums of credit stay far from overflow */

/* Before it is authenticated a peer may cost no more: */
#define LINKS_HELLO_BYTES_MAX 4096u
#define LINKS_HELLO_NS UINT64_C(2000000000)
#define LINKS_HALF_OPEN_MAX 64u
/* A peer's first words go right behind its connection: one that has sent nothing for this long lost
 * a packet (Linux sends it again after 200 ms at least) on a way around the world, or does not mean
 * to. Its place is the first that a newcomer takes. */
#define LINKS_SILENT_NS UINT64_C(300000000)
/* A connection keeps its place for as long as a peer's loop may take to turn, so that its first
 * words can come. This bounds the connections that a flood can make us look at: 6400 a second. */
#define LINKS_PLACE_NS UINT64_C(10000000)
/* A step of a handshake takes up to a millisecond of signing and verifying, and anybody may ask for
 * one: a few in a turn of the loop, so that its actors have most of the 10 ms. */
#define LINKS_HANDSHAKES_A_TURN 4u
/* The share of these for connections that take another's place: half, so that neither a flood of
 * newcomers nor those that hold the places and send a byte now and then keep the other from going
 * on. */
#define LINKS_NEWCOMERS_A_TURN 2u

struct links_peer {
    uint32_t node;
    struct endpoint endpoint; /* where it listens; ENDPOINT_NONE: it only connects */
    const char *host;         /* that its certificate must name; NULL: any */
    const char *name;         /* of its host, for display; NULL: none */
};

struct links_options {
    const char *cluster;           /* the name of the cluster and job; others' peers are refused */
    const struct endpoint *listen; /* [num_listen] */
    uint32_t num_listen;
    const struct links_peer *peers; /* [num_peers], all nodes but this one */
    uint32_t num_peers;
    const struct security *security; /* NULL: unix sockets alone, or insecure */
    bool insecure_network;           /* TCP without TLS, with a CRC32C per message */
    uint64_t heartbeat_ns, dead_ns;  /* 0: the defaults above */
    uint64_t window_bytes;           /* 0: LINKS_WINDOW_BYTES; no message exceeds half of it */
    /* An incarnation of a peer was silent for dead_ns and counts as dead. It may be stopped, so
     * that it can't learn of it: the process that started it has to end it. On any loop's thread;
     * may be NULL. */
    void (*silent)(void *arg, uint32_t node, uint32_t incarnation);
    void *silent_arg;
    /* A connection with a peer could not be made, and is tried again. On any loop's thread; may be
     * NULL. */
    void (*apart)(void *arg, uint32_t node, const char *why);
    void *apart_arg;
    /* Somebody else listens at an address, as error says. True: it is tried again at once, so it is
     * this one that pauses, and bounds for how long. In links_create, which then needs an error;
     * NULL: that fails. */
    bool (*busy)(void *arg, const struct error *error);
    void *busy_arg;
};

/* Says what is wrong with an option, or why it can't listen there (TR_EEXIST: somebody else
 * does). */
int links_create(struct node *node, const struct links_options *options, struct error *error);

/* Where the node listens, ports filled in; after node_start. */
int links_listening(struct node *node, uint32_t index, struct endpoint *endpoint);

enum links_state { LINKS_DOWN, LINKS_CONNECTING, LINKS_UP };

/* One link as people see it. */
struct links_status {
    uint32_t node, incarnation;
    enum links_state state;
    uint64_t bytes_sent, bytes_received, messages_sent, messages_received;
    uint64_t queued_bytes;   /* waiting for the connection or credit */
    uint64_t retained_bytes; /* sent, not acknowledged */
    uint64_t credit_bytes;   /* that the other side grants now */
    uint64_t connections;    /* so far */
    uint64_t silent_ns;      /* since we heard of it, or since the link began */
};

/* Copies the picture of up to `most` links; returns how many there are. */
uint32_t links_status(struct node *node, struct links_status *status, uint32_t most);

/* A peer that has never been connected. */
struct links_absent {
    uint32_t node;
    char where[ENDPOINT_TEXT_MAX + 64]; /* "b, tcp:10.0.0.2:7000" */
};

/* How many have not been; *first, unless that is 0: the one with the lowest number. Any thread. */
uint32_t links_absent(struct node *node, struct links_absent *first);

struct links_counters {
    uint64_t accepted, refused; /* connections */
    uint64_t refused_by[16];    /* by enum links_refusal (wire.h) */
    uint64_t dropped_unproved;  /* ended before they were authenticated */
    uint64_t corrupt;           /* records that did not verify; each ends its connection */
    uint64_t observers;         /* now */
    uint64_t handshakes_most;   /* steps of handshakes of those not known yet, in one turn */
};
void links_counters(struct node *node, struct links_counters *counters);

/* The account "observers": messages of observers that no actor took yet. At its bound nothing
 * more is read from observers. NULL: the node has no links. */
struct account *links_observer_account(struct node *node);

/* The account "connections": their buffers and what TLS takes, of those not known yet too. Messages
 * that a link queues, or keeps until they are acknowledged, are in the account "messages":
 * node_message_account(). */
struct account *links_connection_account(struct node *node);

#endif

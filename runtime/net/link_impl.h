/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link as the runtime's own files see it.
 *
 *     links.c         the router of a node: options, what loops ask of it, the picture for display
 *     link_table.c    which link a node number has, and how long a link lives
 *     listener.c      the actor "links": accepts, greets, is the parent of the links
 *     link.c          a link's actor: dialing, ticks, silence, leaving
 *     link_session.c  what outlives a connection: resuming, acknowledging, the end of a peer
 *     link_send.c     queues and records out
 *     link_receive.c  records in
 *     link_down.c     on every loop: calls and watchers of an incarnation that is down
 *
 * Thread rules: a link belongs to its loop (node % loops). Other loops route messages to it by
 * their outboxes, return credit by `returned`, read `seen`, and post.
 */
#ifndef RUNTIME_NET_LINK_IMPL_H
#define RUNTIME_NET_LINK_IMPL_H

#include "runtime/core/account.h"
#include "runtime/core/actor_impl.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"
#include "runtime/net/greeting.h"
#include "runtime/net/transport.h"
#include "runtime/net/wire.h"

struct links;
struct link;

#define LINK_RETRY_FIRST_NS UINT64_C(50000000) /* after a connection that failed */
#define LINK_RETRY_MOST_NS UINT64_C(1000000000)
/* A link that ends grants the other side so long to take what is queued. */
#define LINK_LEAVE_NS UINT64_C(2000000000)
/* The last words of actors that ended just before are still in outboxes. */
#define LINK_LEAVE_DELAY_NS UINT64_C(1000000)
/* An acknowledgement alone in a record can wait this long for company. */
#define LINK_ACK_DELAY_NS UINT64_C(2000000)
/* Company of so many bytes or more takes it along: beside their copying it costs nothing. To a small
 * call it would add 0.1 us. */
#define LINK_ACK_COMPANY_BYTES 1024u
/* Unacknowledged bytes that wait no longer: what the sender keeps for us. */
#define LINK_ACK_BYTES (64u << 10)
/* When memory is out, reading goes on after this. */
#define LINK_STALL_NS UINT64_C(10000000)
/* It goes on so for this long at most: the acknowledgement that frees memory may be behind bytes
 * that are not read, on both sides. The greetings of the next connection bring it. */
#define LINK_STALL_MOST_NS UINT64_C(1000000000)
/* A peer without a link is named so often for as long as a start is watched, then rarely. */
#define LINK_ABSENT_NS UINT64_C(10000000000)
#define LINK_ABSENT_OFTEN_NS UINT64_C(60000000000)
#define LINK_ABSENT_RARE_NS UINT64_C(60000000000)
#define LINK_WHY_MAX 192 /* a line of the log has 512, with the peer's name and address */
/* A peer that sends the same message in a shape that does not verify is broken. */
#define LINK_CORRUPT_MAX 5u

#define LINK_IN_BYTES (256u << 10)  /* small messages: thousands a read */
#define LINK_OUT_BYTES (128u << 10) /* the same, out; bodies above LINK_COPY_BYTES don't pass it */
#define LINK_COPY_BYTES 4096u       /* a memcpy of it costs less than a part of a writev */
#define LINK_PARTS 64               /* of one writev */
#define LINK_WRITE_BYTES (1u << 20) /* staged for one writev */
/* With checksums less: what was just summed is still in the cache when the kernel copies it. */
#define LINK_SUMMED_BYTES (256u << 10)
#define LINK_TURN_BYTES (4u << 20) /* read or written in one turn: about 2 ms */
/* Replies with bodies from here on travel in the bulk lane. */
#define LINK_BULK_BYTES (64u << 10)
/* More in that lane, and control follows in it rather than to be compared with all of them. */
#define LINK_BULK_COMPARED 64u
/* The control lanes hold replies whose callers made room for them, so this is far off what a
 * sound peer lets grow: in windows. The data lane may hold two. */
#define LINK_CONTROL_WINDOWS 8u
#define LINK_DATA_WINDOWS 2u
/* The same at the other end: no credit holds control messages back, so those of one member that
 * wait in mailboxes here have a bound, and reading stands still at it. It is what a sound sender
 * may have queued, yet at most this part of the account of messages: the others need the rest. */
#define LINK_CONTROL_ACCOUNT_PART 4u
/* How long a lane that is full is left alone after what is too late for it was looked for; for each
 * message in it ten times what a look at one costs that is in no cache. There may be millions. */
#define LINK_LATE_LOOK_NS UINT64_C(10000000)
#define LINK_LATE_LOOK_EACH_NS UINT64_C(1000)
/* The bound of a lane to an observer, which is no part of the job: a few of the
 * largest pictures. */
#define LINK_OBSERVER_QUEUE_BYTES (UINT64_C(16) << 20)

enum link_phase { LINK_IDLE, LINK_DIALING, LINK_GREETING, LINK_UP };

/* One lane out: messages that were sent and not acknowledged, then those to be sent. */
struct link_out {
    struct message *first, *last;
    struct message *next;             /* to be sent, or half sent */
    struct message *before;           /* it, or NULL */
    uint64_t first_index, next_index; /* in the session */
    uint64_t written_index;           /* no part of what is before it waits to be written */
    uint64_t peer_received;           /* what the other side has */
    uint64_t body_at;                 /* of next: what was staged */
    bool begun;
    uint32_t count;
    uint64_t queued_bytes, retained_bytes;
    uint64_t late_looked_ns; /* when it was full, and what was too late for it was looked for */
};

struct link_in {
    uint64_t received; /* messages of the session */
    struct message *partial;
    uint64_t body_at;
};

struct link_part {
    const unsigned char *bytes;
    size_t count;
};

/* The state of one connection; made when it is up. */
struct link_wire {
    struct transport *transport;
    bool checksums;
    /* Out: staged[out_begin..out_end) of bytes, in parts. */
    struct link_part parts[LINK_PARTS];
    uint32_t first_part, num_parts;
    size_t staged_bytes;
    uint32_t out_used;
    bool blocked;
    /* In. */
    uint32_t in_begin, in_end;
    struct wire_header header;
    bool in_record, body_begun;
    uint32_t left, crc;
    uint64_t stalled_ns; /* since then; 0: what came last was taken */
    uint32_t read_bytes; /* asked of one read: small after large bodies, whose rest is not to be
                          * copied, and doubled when it is filled */
    _Alignas(64) unsigned char out[LINK_OUT_BYTES];
    _Alignas(64) unsigned char in[LINK_IN_BYTES];
};

#define LINK_WIRE_BYTES (sizeof(struct link_wire) + TRANSPORT_BYTES)

/* The picture of a link for display, on any thread. */
struct link_seen {
    counter state, incarnation, bytes_sent, bytes_received, messages_sent, messages_received,
        queued_bytes, retained_bytes, credit_bytes, connections, heard_ns;
};

struct link_down_post {
    struct post post;
    struct link *link;
};

/* A connection that was greeted, on its way from the listener to the link. */
struct link_arrival {
    struct post post;
    struct link *link;
    struct transport *transport;
    struct wire_hello hello;
};

struct link {
    struct links *links;
    struct loop *loop;
    struct actor *self; /* NULL: not started yet, or ended */
    bool ended;
    const struct links_peer *peer;
    uint32_t node;
    atomic_uint references; /* one for its table, one for each post under way */
    struct link *next_dirty;
    bool dirty;

    /* The session: between our incarnation and this one. */
    uint32_t incarnation; /* of the peer; 0: none is known to live */
    uint32_t fenced;      /* it and all before it are dead */
    uint64_t nonce;
    struct link_out out[WIRE_LANES];
    struct link_in in[WIRE_LANES];
    uint64_t peer_window;
    uint64_t data_acked, data_sent; /* bytes of the data lane: up to out.first, up to out.next */
    uint64_t data_granted;          /* released by the other side */
    uint64_t data_received, data_released;
    /* Bytes that left mailboxes, not yet in data_released, of this incarnation (the upper half). */
    _Atomic uint64_t returned;
    /* Bytes of this node's control lanes, of any incarnation, that have not left mailboxes. */
    _Atomic uint64_t control_held;
    _Atomic uint64_t control_full; /* times that they were at their bound */
    atomic_bool noted;             /* the post below is on its way */
    struct post note;              /* brings credit, and the wish to leave */
    uint64_t acked[WIRE_LANES], released_told;
    uint64_t unacked_bytes;
    uint32_t corrupt_times;

    /* The connection. */
    enum link_phase phase;
    struct greeting *greeting;
    struct greeting *parting;   /* the last connection that was refused: its REFUSE is written */
    struct link_arrival *early; /* an observer's, which came before the first turn of its actor */
    struct link_wire *wire;
    bool overflown; /* a control lane is at its bound: the peer is broken */
    bool ack_due, ping_due, stalled, leaving, stopping, goodbye_sent;
    enum wire_lane last_large; /* bulk and data take turns */
    struct timer dial_timer, deadline_timer, tick_timer, ack_timer, stall_timer, leave_timer;
    uint64_t retry_ns;
    uint32_t failures; /* to connect, since it was up */
    uint64_t last_tick_ns;
    uint32_t silent_ticks;
    uint32_t warn_ticks;    /* of silence without a link, when it is due to be named again */
    char why[LINK_WHY_MAX]; /* the last attempt since it was up failed; "": there was none */
    bool misfit;            /* one of them failed by what only a configuration mends */
    bool heard, spoke;      /* since the last tick */

    atomic_uint downs_open;
    struct link_down_post *downs; /* [loops] */
    uint32_t down_incarnation;
    struct link *next_delivering;
    struct link_seen seen;
    struct link *next_observer;         /* of the listener's list */
    struct link *next_observer_of_loop; /* of its loop's */
};

#define LINKS_OBSERVERS_MAX 64u /* people who look, and a few clients */

/* One loop's share of the links; touched by that loop alone. A line of the cache each. */
struct links_loop {
    _Alignas(64) struct link *dirty; /* that have something to write (ROUTER_FLUSH) */
    struct link
        *delivering;    /* that notify all loops of a dead incarnation (ROUTER_DELIVER_DOWNS) */
    struct post *downs; /* dead incarnations that it was notified of (ROUTER_RUN_DOWNS) */
    struct link *observers;
};

struct links {
    struct router router; /* first: a router is its links */
    struct node *node;
    struct links_loop *by_loop; /* [node's loops] */
    char cluster[WIRE_CLUSTER_MAX];
    uint64_t schema_hash, nonce, heartbeat_ns, window_bytes;
    uint32_t dead_ticks;
    const struct security *security;
    bool insecure_network;
    void (*silent)(void *arg, uint32_t node, uint32_t incarnation);
    void *silent_arg;
    void (*apart)(void *arg, uint32_t node, const char *why);
    void *apart_arg;
    uint32_t num_listen, num_peers;
    struct endpoint *listen;   /* [num_listen] */
    struct stream **listeners; /* [num_listen] */
    struct links_peer *peers;  /* [num_peers] */
    struct link *table;        /* [num_peers] */
    uint32_t *index;           /* [index_size]: open addressing; 1 + place in table, 0: empty */
    uint32_t index_mask;
    struct actor *self; /* the listener's */
    uint32_t spawned;   /* of table */
    struct timer spawn_timer;
    struct admission_place *half_open; /* of struct half_open, newest first */
    uint32_t num_half_open;
    struct timer accept_timer; /* newcomers wait in the system's queue until then */
    bool accept_paused;
    uint32_t handshakes; /* steps in the turn at handshakes_ns */
    uint64_t handshakes_ns;
    atomic_uint_fast64_t handshakes_most;
    atomic_bool leaving;
    /* The list of observers is the listener's; each loop finds its own in by_loop. */
    struct link *observers;
    atomic_uint num_observers;
    struct account observer_account;
    struct account connection_account; /* buffers of connections, and what TLS takes */
    atomic_uint_fast64_t accepted, refused, dropped_unproved, corrupt;
    atomic_uint_fast64_t refused_by[16];
    atomic_uint_fast64_t refusal_due_ns; /* when the log may have the next one */
};

static inline struct links_loop *links_on(struct loop *loop, struct links *links)
{
    return &links->by_loop[loop->index];
}

/* The links of a node whose router is known to be them. */
static inline struct links *links_of_router(const struct router *router)
{
    return (struct links *)(void *)(uintptr_t)router;
}

/* links.c */
struct links *links_of(const struct node *node); /* NULL: its router is another, or none */

/* link_table.c */
void links_index(struct links *links, uint32_t place);       /* so that links_find finds it */
struct link *links_find(struct links *links, uint32_t node); /* of the table; NULL */
int link_init(struct link *link, struct links *links, uint32_t node, const struct links_peer *peer);
void link_unref(struct link *link);
/* why: in the place of the refusal's own text; NULL: that. */
void links_count_refusal(struct links *links, uint32_t refusal, const char *who, const char *why,
                         bool by_us);

/* listener.c */
extern const struct actor_ops links_ops;
int links_listen(struct links *links, struct error *error);

/* link.c */
extern const struct actor_ops link_ops;
void link_disconnect(struct link *link, const char *why);
/* The same of a connection that is up: its transport may know better why it failed. */
void link_broke(struct link *link, const char *what);
void link_mark(struct link *link); /* it has something to write at the end of the turn */
void link_note(struct link *link); /* any thread: the note is to come */
struct actor *link_arrive(struct loop *loop, struct post *post);

/* link_session.c */
void link_hello(struct link *link, struct wire_hello *hello);
/* LINKS_REFUSED_*: may a connection with this greeting go on? */
uint32_t link_judge(struct link *link, const struct wire_hello *hello);
int link_begin(struct link *link, struct transport *transport, const struct wire_hello *hello);
void link_drop_wire(struct link *link); /* and its connection */
int link_acknowledged(struct link *link, const struct wire_ack *ack);
void link_forget_received(struct link *link, int lane); /* frees what the other side has */
void link_rewind(struct link *link); /* what was sent and not acknowledged is to be sent again */
void link_peer_down(struct link *link, const char *why); /* NULL: it said goodbye */
void link_take_returned(struct link *link);
/* The bound of control_held. */
uint64_t link_control_bound(const struct link *link);
void link_turn_queue_around(struct link *link, bool all);
void link_update_seen(struct link *link);

/* link_send.c */
void link_send(struct link *link, struct message *message);
void link_flush(struct link *link);

/* link_receive.c */
void link_read(struct link *link);
void link_drop_partial(struct link *link);

/* link_down.c; the first on a link's loop, the others are the router's */
void link_tell_down(struct link *link, uint32_t incarnation);
void links_run_downs(struct loop *loop);
void links_deliver_downs(struct loop *loop);

#endif

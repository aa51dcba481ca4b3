/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request being served, and what the server's files share. Internal to the server.
 *
 *     begun -> [waiting on the list] -> a slice a turn -> answered and freed
 *
 * Invariants:
 *
 *  - The first of the list alone is worked on, until it is answered: requests end in the order in
 *    which they came. One that ends in its first slice never is on the list.
 *  - The server works one slice a turn: `worked_ns` is the turn of the last one.
 *  - A work has its request exactly until that is answered: the answer takes it out before the
 *    work is freed, which would refuse it once more.
 *  - `num_works` and `waiting_bytes` are sums over the list. The timer runs while it is not empty.
 *  - All slices of a request read the one version of the partition that begin() pinned.
 */
#ifndef ACTORS_DATA_SERVER_WORK_H
#define ACTORS_DATA_SERVER_WORK_H

#include "actors/common/process_member.h"
#include "actors/data/server.h"
#include "graph/sample.h"
#include "runtime/core/call.h"
#include "runtime/core/timer.h"

enum { WORK_DONE = 0, WORK_MORE = 1 };

struct server_work;

struct server {
    const struct server_options *options;
    struct server_work *first, *last; /* first come, first served */
    uint32_t num_works;
    uint64_t waiting_bytes; /* bodies of their requests */
    uint64_t worked_ns;     /* the loop's time at the last slice: it stands still within a turn */
    struct sample_space space;
    struct process_member member;
    struct timer timer; /* fires the next slice */
};

/* The functions of a kind of request; each state starts with its struct server_work. */
struct work_ops {
    uint32_t kind;
    size_t state_bytes;
    /* Checks the head and takes what the slices need. */
    int (*begin)(struct actor *self, struct server_work *work, struct error *error);
    /* One slice: WORK_MORE, or WORK_DONE with work->reply made, or TR_E*. */
    int (*step)(struct actor *self, struct server_work *work, struct error *error);
    void (*fini)(struct actor *self, struct server_work *work); /* or NULL */
};

struct server_work {
    struct server_work *next;
    const struct work_ops *ops;
    struct server *server;
    struct message *request;
    uint64_t body_bytes; /* of the request, while it waits */
    struct message *reply;
    struct snapshot *snapshot;
    const struct graph_part *part;
};

extern const struct work_ops server_sample_ops;
extern const struct work_ops server_rows_ops;
extern const struct work_ops server_select_ops;
extern const struct work_ops server_reverse_ops;
extern const struct work_ops server_tensor_ops;
extern const struct work_ops server_tensor_read_ops;
extern const struct work_ops server_tensor_write_ops;

/* Pins that version of a partition (SNAPSHOT_NEWEST: the newest) in work->snapshot and ->part. */
int server_pin(struct server_work *work, uint32_t part, uint32_t version, struct error *error);

/* Makes work->reply with a head of zeroes; TR_ENOMEM. */
int server_make_reply(struct actor *self, struct server_work *work, uint32_t kind,
                      struct error *error);

/* The same, and a body of bytes. */
int server_make_body(struct actor *self, struct server_work *work, uint32_t kind, size_t bytes,
                     void **body, struct error *error);

#endif

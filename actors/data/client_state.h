/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the client share this. */
#ifndef ACTORS_DATA_CLIENT_STATE_H
#define ACTORS_DATA_CLIENT_STATE_H

#include <stdbool.h>

#include "actors/common/part_call.h"
#include "actors/common/part_locator.h"
#include "actors/data/client.h"
#include "runtime/base/error.h"
#include "runtime/core/account.h"
#include "runtime/core/call.h"
#include "runtime/core/timer.h"
#include "schemas/messages.h"

struct client;
struct operation;

enum { LANE_DONE = 0, LANE_MORE = 1 };

/* Goes through partitions one after the other, and through each piece by piece. */
struct lane {
    struct operation *op;
    bool local; /* reads partitions of this process, lane 0; others ask */
    bool busy;  /* stands at a partition */
    uint32_t part;
    struct snapshot *snapshot; /* of a local lane's partition: the operation's */
    uint64_t at;               /* in the partition: what comes next */
    uint32_t piece;            /* from there on: what was asked for */
    struct part_call call;
};

/* The functions of a kind of operation; each state starts with its struct operation. */
struct operation_ops {
    size_t state_bytes;
    /* Checks the head and says what the operation holds from its beginning on. */
    int (*size)(const struct client *client, const struct message *request, size_t *bytes,
                struct error *error);
    /* Makes ready. After TR_ENOMEM (and fini) it is called again, later. */
    int (*begin)(struct operation *op, struct error *error);
    bool (*wants)(const struct operation *op, uint32_t part);
    /* Chooses the piece that the lane asks for next; returns the most bytes of its reply. */
    size_t (*choose)(struct lane *lane);
    /* The request for that piece. */
    int (*make)(struct lane *lane, struct message **request);
    /* Takes the answer to it: LANE_MORE of this partition, LANE_DONE or TR_E*. */
    int (*take)(struct lane *lane, struct message *reply, struct error *error);
    /* A slice of a partition that is here: the same. */
    int (*read)(struct lane *lane, struct error *error);
    /* All partitions are done: makes op->reply ready, now or later, and calls operation_end. */
    void (*finish)(struct operation *op);
    /* Frees what begin and the rest made; harmless to call twice. */
    void (*fini)(struct operation *op);
};

extern const struct operation_ops fetch_ops;
extern const struct operation_ops nodes_ops;
extern const struct operation_ops tensor_order_ops;
extern const struct operation_ops tensor_store_ops;

enum operation_state {
    OPERATION_WAITING,
    OPERATION_RUNNING,
    OPERATION_ENDED, /* its answer goes out with the next slice of work */
};

struct operation {
    const struct operation_ops *ops;
    struct client *client;
    struct message *request;
    struct message *reply; /* made by begin; goes out when the operation ended well */
    enum operation_state state;
    bool began;     /* counts as running, its bytes are charged */
    bool at_owners; /* set by begin: of what owners alone have, which is never read here */
    bool busy;      /* a job of the crew reads it: it stays until that is done */
    uint64_t timeout_ns;
    struct timer deadline;
    size_t bytes;           /* charged while it runs */
    struct error error;     /* how it ended; before that: what it waits for */
    struct snapshot **here; /* [partitions]: those that are read, held; NULL: asked for */
    uint32_t next_part[2];  /* the first that no remote, no local lane has looked at */
    uint32_t lanes_open;
    struct lane lanes[CLIENT_LANES];
    struct operation *next;
};

struct client {
    struct actor *self;
    const struct client_options *options;
    struct account account;
    struct part_locator servers;    /* of what any server of a partition has */
    struct part_locator owners;     /* of what its owner alone has */
    struct operation *first, *last; /* in the order of their coming */
    uint32_t num_waiting, num_running;
    uint32_t turn; /* which operation the next slice is of */
    struct timer work, retry;
};

/* client.c: something may be done. */
void client_schedule(struct client *client);

/* The operation's deadline passed: it ends with what it waited for. */
void operation_expire(struct operation *op);

/* The operation is over, with that status; the first end counts. */
void operation_end(struct operation *op, int status, const char *text);
/* The same for a failure of one process (as struct error has it). */
void operation_end_about(struct operation *op, int status, const char *text, uint32_t process_1);

/* Charges more to the account: 0 or TR_EFULL with its message. */
int operation_charge(struct operation *op, size_t bytes, struct error *error);

/* client_lane.c: holds what is here of what the operation wants, until lanes_stop(). TR_ENOMEM. */
int lanes_hold(struct operation *op, struct error *error);
void lanes_start(struct operation *op);
void lanes_stop(struct operation *op);
/* The same in the client's fini. */
void lanes_fini(struct operation *op);
/* One slice of what is read in place; false: there is none. */
bool lanes_read(struct operation *op);

static inline uint64_t client_piece_bytes(const struct client *client)
{
    return client->options->piece_bytes != 0 ? client->options->piece_bytes : (size_t)2 << 20;
}

#endif

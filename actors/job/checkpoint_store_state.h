/* SPDX-License-Identifier: Apache-2.0 */
/* The store's files share this. Internal to the store. */
#ifndef ACTORS_JOB_CHECKPOINT_STORE_STATE_H
#define ACTORS_JOB_CHECKPOINT_STORE_STATE_H

#include <stdbool.h>

#include "actors/job/checkpoint_store.h"
#include "runtime/base/error.h"
#include "runtime/core/crew.h"
#include "schemas/messages.h"

/* A request while the crew works on it, or while it waits for one before it. */
struct checkpoint_task {
    struct job job;
    struct checkpoint_task *next, **link; /* newest first */
    bool begun;                           /* the crew has it */
    struct files *files;
    struct message *request;
    struct message *repeat; /* of a look, by the same actor: it gets the answer; NULL: none came */
    struct message *reply;  /* made before, so that its body can be filled */
    size_t bytes;           /* that it holds */
    char *folder;
    struct checkpoint_manifest manifest; /* found, or to commit */
    bool passed_over;                    /* a newer one than was found */
    int status;
    struct error error;
};

/* The newest save of a rank that this store heard of, by a life of the rank's process. */
struct known_save {
    uint64_t sequence;
    uint32_t era;
    uint32_t incarnation;
    bool dropped;
};

struct checkpoint_store {
    const struct checkpoint_store_options *options;
    struct checkpoint_task *tasks;
    uint32_t num_tasks;
    size_t bytes;             /* that they hold */
    struct known_save *saves; /* [num_saves], by rank: those of other hosts' copies */
    uint32_t num_saves;       /* at most CHECKPOINT_WORLD_MAX, which take a MiB */
};

/* The piece of work that a kind of request asks for; NULL: none. */
int (*checkpoint_store_work(uint32_t kind))(struct job *job);

/* Reads the manifest of MSG_CHECKPOINT_COMMIT. */
int checkpoint_store_read_commit(const struct message *request,
                                 struct checkpoint_manifest *manifest);

/* Bytes of a piece that a request asks for. */
uint32_t checkpoint_store_piece_count(const struct msg_checkpoint_fetch *head);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: a host's folder of checkpoints, for the other hosts of a job.
 *
 * A pure state machine, in the first process of each host of a cluster ("checkpoints"). It says
 * whether a part is there, keeps copies of parts that another host saves, gives them back, and
 * commits the coordinator's manifest, all on the crew. Every request may be repeated. The folder is
 * named in each request, and has to be the one that this host was notified of: a member cannot have
 * it write or read elsewhere. "%h" in it stands for this host.
 *
 * Ownership: the options outlive the actor and its restarts. Thread rules: an actor's.
 */
#ifndef ACTORS_JOB_CHECKPOINT_STORE_H
#define ACTORS_JOB_CHECKPOINT_STORE_H

#include <stdint.h>

#include "actors/job/checkpoint.h"
#include "runtime/core/actor.h"
#include "runtime/core/call.h"

#define CHECKPOINT_STORE_NAME "checkpoints" /* in the directory */

/* Requests that wait for the crew: one a rank of the largest job; pieces: of those that send. */
#define CHECKPOINT_STORE_TASKS_MAX 65536u
#define CHECKPOINT_STORE_BYTES_MAX ((size_t)256 << 20)

struct checkpoint_store_options {
    struct files *files; /* NULL: files_posix */
    const char *host;    /* "%h"; NULL: stands for itself */
    const char *folder;  /* as the cluster file names it; NULL: everything is refused */
    void *faults;        /* of an actor that stands in for this one in the simulator */
};

/* arg: struct checkpoint_store_options. */
extern const struct actor_ops checkpoint_store_ops;

/* The calls of an actor to checkpoint stores, in its state, all zeros at first. */
struct checkpoint_store_calls {
    struct checkpoint_store_call *first;
};

/* status 0: the reply, no MSG_ERROR_REPLY, now belongs to the callee; else error says why. */
typedef void checkpoint_store_done(struct actor *self, void *arg, int status, struct message *reply,
                                   const struct error *error);

/* Asks the store of a node, which may be on its way up, full, short of memory or slow, until the
 * deadline (actors/common/part_call.h); one that refuses for want of room is waited for a minute at
 * least. That the deadline passed, or the disk failed, says nothing of what the store has. Consumes
 * the request. done runs once, after this returned, when 0 is returned, unless the call is
 * cancelled; never otherwise. TR_ENOMEM. */
int checkpoint_store_call(struct actor *self, struct checkpoint_store_calls *calls, uint32_t node,
                          struct message *request, uint64_t deadline_ns,
                          checkpoint_store_done *done, void *arg);

/* Cancels all: done is not called. */
void checkpoint_store_calls_cancel(struct checkpoint_store_calls *calls);

/* The actor's fini begins with this: calls that are left are done with TR_ECANCELED. */
void checkpoint_store_calls_fini(struct checkpoint_store_calls *calls);

/* A request whose body is bytes[count], then the folder; head is filled by the caller. NULL: out of
 * memory. */
struct message *checkpoint_store_request(struct actor *self, uint32_t kind, const void *bytes,
                                         size_t count, const char *folder);

struct message *checkpoint_store_look(struct actor *self, const char *folder, uint64_t step,
                                      uint32_t era, uint32_t rank,
                                      const struct checkpoint_part *part);
struct message *checkpoint_store_commit(struct actor *self, const char *folder, uint32_t keep,
                                        const struct checkpoint_manifest *manifest);

/* Reads a MSG_CHECKPOINT_FOUND; TR_ENOENT: there is none. */
int checkpoint_store_read_found(const struct message *reply, struct checkpoint_manifest *manifest);

#endif

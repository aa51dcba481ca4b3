/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinator's files share this. Internal to the coordinator.
 *
 * Each file calls those above it in this list, and those below it by the functions that it is
 * given:
 *
 *     coordinator_members.c   the list of members, messages to them
 *     coordinator_hosts.c     checkpoints of several hosts: search, copies of manifests
 *     coordinator_barrier.c   barriers
 *     coordinator_save.c      the checkpoint that is made
 *     coordinator_end.c       the end of the job
 *     coordinator_era.c       eras: ends all that is of one, restores ranks to the next
 *     coordinator_join.c      members come and go
 *     coordinator.c           the actor: which request is whose
 */
#ifndef ACTORS_JOB_COORDINATOR_STATE_H
#define ACTORS_JOB_COORDINATOR_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/job/checkpoint_store.h"
#include "actors/job/coordinator.h"
#include "runtime/base/error.h"
#include "runtime/core/account.h"
#include "runtime/core/call.h"
#include "runtime/core/monitor.h"
#include "runtime/core/sequenced.h"
#include "runtime/core/timer.h"
#include "schemas/messages.h"

struct barrier_name;
struct choosing;
struct search;
struct saving;
struct checkpoint_manifest;

/* A save that the coordinator before this one answered with a failure, as a rank says. */
struct refused_save {
    uint64_t step, sequence;
    uint32_t era;
    int32_t status; /* 0: nobody said so */
};

struct coordinator_member {
    struct coordinator_member *next;
    struct address address;
    uint32_t role;
    uint32_t rank;
};

struct coordinator {
    const struct coordinator_options *options;
    struct files *files;                /* the options', or those of the system */
    struct coordinator_member *members; /* by role, then rank */
    uint32_t num_members;
    struct account account;   /* "sequenced" */
    struct sequenced clients; /* of barriers, checkpoints' parts and restores */
    struct barrier_name *barriers;
    uint32_t num_barriers;
    struct message **dones; /* [options->trainers]: that wait for the others; NULL: didn't come */
    uint32_t num_done;
    bool over;            /* all trainers were done: nothing rolls that back */
    unsigned char *aware; /* [options->trainers]: knows it, or is not here any more */
    uint32_t num_aware;
    struct timer rejoin;      /* ranks were done when the era ended, and are not all in a new one */
    struct timer linger;      /* until members are stopped, and until all could be asked to */
    uint64_t linger_until_ns; /* at the latest */
    bool stopping;
    int code;          /* of the job */
    char *checkpoints; /* their folder; NULL: none are kept, an era begins at the start */
    uint32_t keep;
    uint32_t era;
    uint32_t ended; /* the number of the last notice of an era's end; 0: there was none */
    struct timer notify_again; /* of the era's end */
    bool entered;              /* some reducer was restored to the era */
    uint32_t world;            /* of ranks that wait to be restored; 0: none asked yet */
    bool *restores;            /* [world]: asked, and waits */
    uint32_t num_restores;
    struct choosing *choosing; /* the checkpoint they begin from; NULL: not yet */
    struct timer choose_again; /* the folder of this host could not be read */
    uint64_t choose_until_ns;  /* then that is the outcome; 0: it could */
    struct search *search;     /* the same among several hosts */
    struct checkpoint_store_calls checkpoint_store_calls;
    struct saving *saving; /* the checkpoint that is made, or the last one; NULL: none */
    struct refused_save refused;
    uint32_t num_abandoned; /* of eras that are over, while the crew still makes them */
};

/* coordinator_members.c */

/* NULL: there is none of that role and rank. */
struct coordinator_member *coordinator_find_member(const struct coordinator *state, uint32_t role,
                                                   uint32_t rank);

/* Its address; none: there is no such member. */
struct address coordinator_member_address(const struct coordinator *state, uint32_t role,
                                          uint32_t rank);

/* Nobody has its role and rank. `down` gets the member, and removes it. */
int coordinator_add_member(struct actor *self, const struct msg_join *head, struct address from,
                           monitor_down *down, struct error *error);

/* Frees it. */
void coordinator_remove_member(struct coordinator *state, struct coordinator_member *member);

/* True: it is of this process. */
bool coordinator_member_is_here(struct actor *self, const struct coordinator_member *member);
bool coordinator_any_elsewhere(struct actor *self);

/* Asks members to stop: those of other processes, or where there are none, those of this one.
 * False: there was no memory for one of them. */
bool coordinator_stop_each(struct actor *self);

/* Sends a plain message with that head to all members of a role; false: there was no memory for
 * one of them. */
bool coordinator_notify(struct actor *self, uint32_t role, uint32_t kind, const void *head,
                        size_t head_bytes);

void coordinator_free_members(struct coordinator *state);

/* coordinator_hosts.c */

/* The result of a search: the checkpoint (world 0: there is none), why a newer one was passed over,
 * or why nothing could be found out. */
typedef void coordinator_chosen(struct actor *self, const struct checkpoint_manifest *manifest,
                                const struct error *damaged, const struct error *error);

/* Looks for the checkpoint on all hosts; `chosen` follows, unless self ends. */
int coordinator_search(struct actor *self, coordinator_chosen *chosen);

/* How long what cannot be read is looked for again: a little less than the ranks wait, which then
 * hear why there is no checkpoint. */
uint64_t coordinator_search_ns(const struct coordinator *state);

/* One that waits to ask again, when the calls of self have ended. */
void coordinator_free_search(struct coordinator *state);

/* The store that has the manifest beside this host; PLAN_NO_NODE: one host has all. */
uint32_t coordinator_second_node(const struct coordinator *state);

/* Gives every host a checkpoint that is there; one that was just made, those that do not have it by
 * that: a notice that comes late would make an older one again where it was removed. */
void coordinator_spread(struct actor *self, const char *folder, uint32_t keep,
                        const struct checkpoint_manifest *manifest, bool made);

/* coordinator_barrier.c */

int coordinator_barrier(struct actor *self, struct message *request, struct error *error);

/* Takes over what a reducer knows of the barriers of its era, before it is a member: a barrier of
 * an era is not given up before all its reducers are. */
int coordinator_learn_barriers(struct actor *self, const struct msg_join *head,
                               struct error *error);

/* Ends the barriers of eras before the present one with TR_EROLLBACK. */
void coordinator_end_barriers(struct actor *self);
void coordinator_free_barriers(struct coordinator *state);

/* coordinator_save.c */

int coordinator_save_part(struct actor *self, struct message *request, struct error *error);
int coordinator_save_known(struct actor *self, struct message *message, struct error *error);

/* Keeps the folder that is in the body of a request, which is one for all, and how many
 * checkpoints to keep there. */
int coordinator_keep_folder(struct coordinator *state, const struct message *request, uint32_t keep,
                            struct error *error);

typedef void coordinator_then(struct actor *self);

/* The save of an era that is over ends; the table of clients answers its ranks. Where the crew is
 * at work for it, num_abandoned counts it until `then`. */
void coordinator_end_saving(struct actor *self, coordinator_then *then);
void coordinator_free_saving(struct coordinator *state);

/* coordinator_end.c */

int coordinator_job_done(struct actor *self, struct message *request, struct error *error);

/* A rank's reducer has gone after the end of the job. */
void coordinator_note_aware(struct actor *self, uint32_t rank);

/* It came anew, and hears of the end in the answer; which is on its way, so nobody is stopped. */
void coordinator_note_refused(struct coordinator *state, uint32_t rank);

/* A member has gone, here or elsewhere, since all were asked to. */
void coordinator_go_on_stopping(struct actor *self, bool was_here);

/* Ranks that were done are so no more: refused with TR_EROLLBACK. */
void coordinator_end_dones(struct actor *self);

/* All ranks are in a new era: nobody is missing at the end any more. */
void coordinator_all_back(struct coordinator *state);
void coordinator_free_dones(struct actor *self, struct coordinator *state);

/* coordinator_era.c */

int coordinator_restore(struct actor *self, struct message *request, struct error *error);

/* A reducer came (with the era it is in) or went. */
void coordinator_reducer_joined(struct actor *self, const struct msg_join *head);
void coordinator_reducer_down(struct actor *self, uint32_t rank);
void coordinator_free_restores(struct coordinator *state);

/* coordinator_join.c */

int coordinator_join_member(struct actor *self, struct message *request, struct error *error);

#endif

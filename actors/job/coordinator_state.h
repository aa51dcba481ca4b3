/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the coordinator's files share. Internal to the coordinator.
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
#include "runtime/core/sequenced.h"
#include "runtime/core/timer.h"
#include "schemas/messages.h"

struct coordinator_member;
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

struct coordinator {
    const struct coordinator_options *options;
    struct coordinator_member *members; /* by role, then rank */
    uint32_t num_members;
    struct account account;   /* "sequenced" */
    struct sequenced clients; /* of barriers, checkpoints' parts and restores */
    struct barrier_name *barriers;
    uint32_t num_barriers;
    struct message **dones; /* [options->trainers]: that wait for the others; NULL: didn't come */
    uint32_t num_done;
    bool over;           /* all trainers were done: nothing rolls that back */
    unsigned char *told; /* [options->trainers]: knows it, or is not here any more */
    uint32_t num_told;
    struct timer rejoin;      /* ranks were done when the era ended, and are not all in a new one */
    struct timer linger;      /* until members are stopped, and until all could be told to */
    uint64_t linger_until_ns; /* at the latest */
    bool stopping;
    int code;          /* of the job */
    char *checkpoints; /* their folder; NULL: none are kept, an era begins at the start */
    uint32_t keep;
    uint32_t era;
    struct timer tell_again; /* of the era's beginning */
    bool entered;            /* some reducer was restored to the era */
    uint32_t world;          /* of those who wait to be restored; 0: nobody asked yet */
    bool *restores;          /* [world]: asked, and waits */
    uint32_t num_restores;
    struct choosing *choosing; /* the checkpoint they begin from; NULL: not yet */
    struct search *search;     /* the same among several hosts */
    struct checkpoint_store_calls checkpoint_store_calls;
    struct saving *saving; /* the checkpoint that is made, or the last one; NULL: none */
    struct refused_save refused;
    uint32_t num_abandoned; /* of eras that are over, while the crew still makes them */
};

/* Each consumes the request unless it returns a failure, which the caller answers. */
int coordinator_join_member(struct actor *self, struct message *request, struct error *error);
int coordinator_barrier(struct actor *self, struct message *request, struct error *error);
int coordinator_job_done(struct actor *self, struct message *request, struct error *error);

int coordinator_restore(struct actor *self, struct message *request, struct error *error);
int coordinator_save_part(struct actor *self, struct message *request, struct error *error);
int coordinator_save_known(struct actor *self, struct message *message, struct error *error);

/* A reducer came (with the era it is in) or went. */
void coordinator_reducer_joined(struct actor *self, const struct msg_join *head);
void coordinator_reducer_down(struct actor *self, uint32_t rank);

/* The address of a member; none: there is no such. */
struct address coordinator_member_address(const struct coordinator *state, uint32_t role,
                                          uint32_t rank);

/* A rank's reducer has gone after the end of the job. */
void coordinator_note_told(struct actor *self, uint32_t rank);

/* It came anew, and hears of the end in the answer; which is on its way, so nobody is stopped. */
void coordinator_note_refused(struct coordinator *state, uint32_t rank);

/* Takes over what a reducer knows of the barriers of its era, before it is a member: a barrier of
 * an era is not given up before all its reducers are. */
int coordinator_learn_barriers(struct actor *self, const struct msg_join *head,
                               struct error *error);

/* Ends everything of eras before the present one with TR_EROLLBACK. */
void coordinator_end_barriers(struct actor *self);
void coordinator_end_saving(struct actor *self);
void coordinator_end_dones(struct actor *self);

/* All ranks are in a new era: nobody is missing at the end any more. */
void coordinator_all_back(struct coordinator *state);

/* All who asked to be restored are, once the crew makes no checkpoint of an era that is over: it
 * would be chosen or not by chance, and take away an older one that was. */
void coordinator_restore_all(struct actor *self);

/* Asks all members to stop, and ends self when there are none (left). */
void coordinator_stop_members(struct actor *self);

/* Sends a plain message with that head to all members of a role; false: there was no memory for
 * one of them. */
bool coordinator_tell(struct actor *self, uint32_t role, uint32_t kind, const void *head,
                      size_t head_bytes);

void coordinator_free_members(struct coordinator *state);
void coordinator_free_barriers(struct coordinator *state);
void coordinator_free_dones(struct actor *self, struct coordinator *state);
void coordinator_free_restores(struct coordinator *state);
void coordinator_free_saving(struct coordinator *state);

/* Keeps the folder that is in the body of a request, which is one for all, and how many
 * checkpoints to keep there. */
int coordinator_keep_folder(struct coordinator *state, const struct message *request, uint32_t keep,
                            struct error *error);

/* What was looked for: the checkpoint (world 0: there is none) from which the next era begins. */
void coordinator_chosen(struct actor *self, const struct checkpoint_manifest *manifest,
                        const struct error *damaged, const struct error *error);

/* The store that has the manifest beside this host; PLAN_NO_NODE: one host has all. */
uint32_t coordinator_second_node(const struct coordinator *state);

/* Looks for the checkpoint on all hosts; coordinator_chosen follows. */
int coordinator_search(struct actor *self);

/* Tells every host of a checkpoint that is made. */
void coordinator_spread(struct actor *self, const char *folder, uint32_t keep,
                        const struct checkpoint_manifest *manifest);

struct files *coordinator_files(const struct coordinator *state);

#endif

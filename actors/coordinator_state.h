/*
 * What the coordinator's files share. Internal to the coordinator.
 */
#ifndef ACTORS_COORDINATOR_STATE_H
#define ACTORS_COORDINATOR_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/coordinator.h"
#include "runtime/call.h"
#include "runtime/error.h"
#include "schemas/messages.h"

struct coordinator_member;
struct barrier_name;
struct epoch_mark;

struct coordinator {
    const struct coordinator_options *options;
    struct coordinator_member *members; /* by role, then rank */
    uint32_t num_members;
    struct barrier_name *barriers;
    uint32_t num_barriers;
    struct epoch_mark *epochs;
    uint32_t num_epochs;
    unsigned char *trainers_done; /* [options->trainers] */
    uint32_t num_done;
    bool stopping;
    int code; /* of the job */
};

/* Each consumes the request unless it returns a failure, which the caller answers. */
int coordinator_join_member(struct actor *self, struct message *request, struct error *error);
int coordinator_list_members(struct actor *self, struct message *request, struct error *error);
int coordinator_barrier(struct actor *self, struct message *request, struct error *error);
int coordinator_epoch_done(struct actor *self, struct message *request, struct error *error);
int coordinator_job_done(struct actor *self, struct message *request, struct error *error);

/* Asks all members to stop, and ends self when there are none (left). */
void coordinator_stop_members(struct actor *self);

/* Sends a plain message with that head to all members of a role; who misses it is told nothing. */
void coordinator_tell(struct actor *self, uint32_t role, uint32_t kind, const void *head,
                      size_t head_bytes);

void coordinator_free_members(struct coordinator *state);
void coordinator_free_barriers(struct actor *self, struct coordinator *state);
void coordinator_free_epochs(struct coordinator *state);

#endif

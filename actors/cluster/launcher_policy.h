/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decisions of a launcher: which process of a job to start, to start again and to stop.
 *
 * A pure state machine: the launcher tells it what happened and when, and then takes the commands
 * that wait. It reads no clock and starts nothing, so tests drive it through years in a second.
 *
 *     start -> every process is to be started
 *     exited, by a failure -> started again after a pause that doubles, as long as its role has
 *         budget: so many restarts in a period, given back by a committed checkpoint
 *     a role without budget -> everything is stopped, the job failed
 *         (a trainer's failure also starts again those that had ended well, or do so before it is
 *         ready again)
 *     one without trainers ended well while they go on, or one with trainers while others do,
 *         some of which failed once, or have not been ready yet -> started again after
 *         LAUNCHER_GRACE_NS
 *     a trainer's failure, where trainers go back together -> the other trainers are killed, which
 *         counts as no failure of theirs, and all are started again once none lives
 *     silent, as another process says -> killed, which is a failure
 *     every process with trainers ended well -> the others are asked to stop, the job succeeded
 *     complete, as the process says that wrote the result -> the job succeeded, nothing is started
 *         any more: processes end by themselves, as they tell each other; what still runs after
 *         LAUNCHER_GRACE_NS, or once one of them failed, which the rest may wait for, is asked to
 *         stop
 *     stop asked, here or of a process whose trainers then leave behind a checkpoint -> everything is
 *         asked to stop, in order; asked again -> everything is killed
 *     trainers left behind a checkpoint since a process with trainers took a connection that broke for
 *         the end of its launcher, and had all leave -> the other trainers are killed, which counts as
 *         no failure of theirs, and all are started again
 *
 * Stopping is in order: processes with trainers first, then those with samplers, then the rest,
 * because the first still ask the last. A process that does not end within LAUNCHER_GRACE_NS is
 * killed.
 *
 * Restarts are counted a role, not a process: sixteen servers that each fail once have something in
 * common that a restart does not mend.
 *
 * Ownership: launcher_policy_fini frees what init made. Thread rules: one thread at a time.
 */
#ifndef ACTORS_CLUSTER_LAUNCHER_POLICY_H
#define ACTORS_CLUSTER_LAUNCHER_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"

#define LAUNCHER_RESTARTS 5u
#define LAUNCHER_RESTARTS_MAX 1024u /* to want more is to want no bound */
#define LAUNCHER_PERIOD_NS (UINT64_C(600) * 1000000000)
/* A process that keeps failing at once must not keep its host busy failing. */
#define LAUNCHER_PAUSE_FIRST_NS UINT64_C(250000000)
#define LAUNCHER_PAUSE_MAX_NS UINT64_C(8000000000)
/* From being asked to stop until it is killed: writing a checkpoint must fit. */
#define LAUNCHER_GRACE_NS (UINT64_C(20) * 1000000000)
#define LAUNCHER_REASON_MAX 256u
#define LAUNCHER_NEVER UINT64_MAX

/* In the order of stopping. A process that plays several roles counts as the first of them. */
enum launcher_role { LAUNCHER_TRAINER, LAUNCHER_SAMPLER, LAUNCHER_SERVER, LAUNCHER_ROLES };

enum launcher_action {
    LAUNCHER_START, /* process, with this incarnation */
    LAUNCHER_TERM,  /* ask it to stop */
    LAUNCHER_KILL,  /* end it now */
    LAUNCHER_DONE,  /* nothing runs any more and nothing will: see launcher_policy_result */
};

struct launcher_command {
    enum launcher_action action;
    uint32_t process;
    uint32_t incarnation; /* of START */
};

enum launcher_state {
    LAUNCHER_IDLE,    /* ended well, or not started */
    LAUNCHER_PAUSING, /* to be started at `at_ns` */
    LAUNCHER_RUNNING,
    LAUNCHER_STOPPING, /* was asked to stop; killed at `at_ns` */
    LAUNCHER_KILLED,   /* was killed; its end is waited for */
};

struct launcher_member {
    enum launcher_role role;
    enum launcher_state state;
    bool told;      /* the command of its state was taken */
    bool ended;     /* well, and was not started again */
    bool returning; /* it failed, and was neither ready nor ended well since */
    bool was_ready; /* in this life */
    bool came;      /* was ready in any life */
    bool recalled;  /* killed since another trainer failed or left: to be started with the others */
    uint64_t at_ns;
    uint32_t incarnation;
    uint32_t failures; /* in a row: since it was ready, or a checkpoint was committed */
};

struct launcher_budget {
    uint32_t used; /* of times_ns, oldest first */
    uint64_t times_ns[LAUNCHER_RESTARTS_MAX];
};

struct launcher_policy_options {
    const enum launcher_role *roles; /* [count] */
    uint32_t count;
    uint32_t incarnation; /* of the first start; later ones are larger */
    uint32_t restarts;    /* a role, at most LAUNCHER_RESTARTS_MAX, within ... */
    uint64_t period_ns;   /* ... this */
    /* Trainers are programs that cannot go back to a checkpoint while they run: when one fails, all
     * begin again. */
    bool together;
};

struct launcher_policy {
    uint32_t count, restarts;
    uint64_t period_ns;
    bool together;
    struct launcher_member *members;
    struct launcher_budget budgets[LAUNCHER_ROLES];
    uint64_t now_ns;
    bool trainer_failed; /* ever */
    bool complete;       /* the job's result is written: nothing that dies is started again */
    uint64_t complete_until_ns; /* then a process that has not ended by itself is asked to */
    bool stopping;              /* nothing is started again */
    bool killing;
    bool failed;
    bool hopeless;    /* failed, and another start of the job would fail too */
    bool interrupted; /* stopped because somebody asked */
    bool kept;        /* a checkpoint was committed, ever */
    bool done_told;
    char reason[LAUNCHER_REASON_MAX]; /* of failed */
};

/* TR_ENOMEM, TR_ERANGE (restarts). */
int launcher_policy_init(struct launcher_policy *policy,
                         const struct launcher_policy_options *options, uint64_t now_ns);
void launcher_policy_fini(struct launcher_policy *policy);

/* Events. A time that is before the last one is taken as that one. */
void launcher_policy_ready(struct launcher_policy *policy, uint32_t process, uint64_t now_ns);
/* How a process ended: its exit code, or the signal that ended it (else 0). One that could not be
 * started ended with the code that a shell would give it. */
void launcher_policy_exited(struct launcher_policy *policy, uint32_t process, int code, int signal,
                            uint64_t now_ns);
/* A witness counts that incarnation of a process as dead. It is killed, for it may be stopped and
 * not know; its end is then a failure like others. Where two say so of each other, the second is
 * not believed. */
void launcher_policy_silent(struct launcher_policy *policy, uint32_t witness, uint32_t process,
                            uint32_t incarnation, uint64_t now_ns);
void launcher_policy_checkpoint(struct launcher_policy *policy, uint64_t now_ns);
/* The job's result is written, as one of its processes says: no end of a process is a failure of
 * the job any more. */
void launcher_policy_complete(struct launcher_policy *policy, uint64_t now_ns);
/* The trainers of that process left behind a checkpoint, as it says; those of the others do too. asked:
 * a user stops the job; else one of the trainers has lost this launcher, or another. */
void launcher_policy_left(struct launcher_policy *policy, uint32_t process, bool asked,
                          uint64_t now_ns);
void launcher_policy_tick(struct launcher_policy *policy, uint64_t now_ns);
/* In order; while it stops already: at once. */
void launcher_policy_stop(struct launcher_policy *policy, uint64_t now_ns);

/* The next thing to do; false: nothing now. DONE comes once, last. */
bool launcher_policy_next(struct launcher_policy *policy, struct launcher_command *command);

/* When to tick again; LAUNCHER_NEVER: only after something happened. */
uint64_t launcher_policy_wake_ns(const struct launcher_policy *policy);

/* Once DONE was reported: 0 succeeded, TR_ECHILD failed, TR_ECANCELED stopped because it was
 * asked. */
int launcher_policy_result(const struct launcher_policy *policy, struct error *error);

/* "trainer", "sampler", "server". */
const char *launcher_role_name(enum launcher_role role);

#endif

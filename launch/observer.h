/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of an observer share: what it knows of its job, and of each process what was seen
 * last. observer.c opens and closes it and waits, observer_actor.c asks, observer_status.c says
 * what was learnt.
 *
 * Invariants:
 * - What was seen of a process is written by the actor and read by callers, under the mutex.
 * - A thread in a call is counted in inside. tr_observer_close() wakes those that wait, joins the
 *   node, after which no actor is left, and frees when no thread is inside.
 */
#ifndef LAUNCH_OBSERVER_H
#define LAUNCH_OBSERVER_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include <troupe/observe.h>

#include "actors/cluster/cluster.h"
#include "launch/job_key.h"
#include "launch/part_list.h"
#include "runtime/base/fork_mark.h"
#include "runtime/core/actor.h"
#include "runtime/core/timer.h"

/* The last that was seen of a process. */
struct observer_seen {
    json_t *document;              /* NULL: it does not answer */
    uint64_t round_trip_ns;        /* of the last answer */
    uint64_t at_ns;                /* when it came */
    uint64_t answers;              /* and failures: so often was it asked */
    double cpus;                   /* processors in use between two answers; below 0: one came */
    char why[TR_OBSERVER_WHY_MAX]; /* no connection was made since the last answer; "" */
};

/* One process, as the actor asks it. */
struct observed_process {
    struct tr_observer *observer;
    uint32_t process;
    struct address status; /* none: to be looked up */
    uint64_t asked_ns;
    struct timer again;
    char roles[64];
    struct observer_seen seen; /* guarded by the observer's mutex */
};

struct tr_observer {
    struct fork_mark *mark;
    /* A wait that began when they differed, or during which an interrupt came, is cancelled. */
    atomic_uint interrupts;
    atomic_uint resumed; /* as many interrupts were over */
    struct cluster cluster;
    struct cluster_plan plan;
    struct part_list parts;
    struct job_key key;
    char *sought; /* the cluster file that the key was found by; NULL: it was given, or is none */
    struct security *security;
    struct env *env;
    struct kinds kinds;
    struct node *node;
    pthread_mutex_t mutex;          /* guards all below */
    pthread_cond_t changed;         /* an answer came, the observer is closed, a thread left */
    struct observed_process *asked; /* [plan.plan.num_processes] */
    uint32_t inside;
    bool closing;
};

/* Asks every process of the plan again and again; its argument is the observer. */
extern const struct actor_ops observer_actor_ops;

/* A function of links_options: why there is no connection to a process. arg: the observer. */
void observer_note_apart(void *arg, uint32_t node, const char *why);

/* Begins a call: with 0 the mutex is held, and the observer stays until observer_leave(). Nothing
 * of it is read after that: a close may have freed it. */
int observer_enter(struct tr_observer *observer, struct tr_error *error);

void observer_leave(struct tr_observer *observer);

#endif

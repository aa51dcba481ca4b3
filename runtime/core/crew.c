/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs, from submission to `done`.
 *
 * Invariants: a job stands in its actor's list from crew_submit until its post runs on the actor's
 * loop, and the actor does not finish before; so `done` runs once, with an actor that lives. A crew
 * thread touches the job until loop_post and never after.
 */
#include "runtime/core/crew.h"

#include "runtime/core/actor_impl.h"
#include "runtime/core/crew_impl.h"
#include "runtime/core/loop.h"

static void unlink_job(struct job *job)
{
    if (job->actor_before != NULL)
        job->actor_before->actor_next = job->actor_next;
    else
        job->actor->jobs = job->actor_next;
    if (job->actor_next != NULL)
        job->actor_next->actor_before = job->actor_before;
}

static struct actor *completed(struct loop *loop, struct post *post)
{
    struct job *job = (struct job *)(void *)((char *)post - offsetof(struct job, post));
    struct actor *actor = job->actor;
    (void)loop;
    /* The job leaves the list before `done`, which may free it or submit it again. */
    unlink_job(job);
    job->done(actor, job, job->status);
    return actor;
}

void crew_submit(struct actor *self, struct job *job)
{
    struct env *env = self->loop->env;
    job->post.run = completed;
    job->actor = self;
    job->next = NULL;
    job->actor_before = NULL;
    job->actor_next = self->jobs;
    if (self->jobs != NULL)
        self->jobs->actor_before = job;
    self->jobs = job;
    job->status = 0;
    /* All fields are set before the push: a crew thread may finish the job before this returns. */
    atomic_store_explicit(&job->canceled, self->phase == ACTOR_ENDING, memory_order_relaxed);
    env->ops->crew_push(env, job);
}

void crew_cancel(struct job *job)
{
    /* Relaxed: a wish. The job's writes are published by its post, under the inbox's mutex. */
    atomic_store_explicit(&job->canceled, true, memory_order_relaxed);
}

void crew_cancel_all(struct actor *actor)
{
    for (struct job *job = actor->jobs; job != NULL; job = job->actor_next)
        crew_cancel(job);
}

bool job_run_piece(struct job *job)
{
    int rc = TR_ECANCELED;
    if (!atomic_load_explicit(&job->canceled, memory_order_relaxed))
        rc = job->piece(job);
    if (rc == CREW_MORE)
        return false;
    /* The post comes last: once it is in, the actor's loop may free the job or submit it again. */
    job->status = rc;
    loop_post(job->actor->loop, &job->post);
    return true;
}

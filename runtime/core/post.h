/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A post: something for a loop to run, brought by any thread through the loop's inbox.
 *
 * The one door into a loop beside messages: crew threads bring finished jobs, ports bring calls.
 * The memory is the poster's until `run` is called.
 */
#ifndef RUNTIME_CORE_POST_H
#define RUNTIME_CORE_POST_H

struct actor;
struct loop;

struct post {
    struct post *next;
    /* Returns the actor whose callback it ran, which the loop then settles (actor_settle); NULL: it
     * ran none, or settled it itself. */
    struct actor *(*run)(struct loop *loop, struct post *post);
};

/* Any thread. The loop must not have been destroyed; a stopped loop runs posts before its end. */
void loop_post(struct loop *loop, struct post *post);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mark by which a handle knows that it is seen by a forked child of the process that made it.
 *
 * A child of fork() has the memory of its parent and none of its threads: locks may be held by
 * threads that are not there, and descriptors are shared with the parent. Whatever has threads
 * keeps a mark, and each of its functions looks at it before it touches anything else.
 *
 * The mark is a page that the kernel wipes in a child (MADV_WIPEONFORK), so a look is one load. A
 * handler of pthread_atfork() would need a global, and getpid() is a system call.
 *
 * Thread rules: fork_mark_is_child() from any thread and from a signal handler.
 */
#ifndef RUNTIME_BASE_FORK_MARK_H
#define RUNTIME_BASE_FORK_MARK_H

#include <stdbool.h>

struct fork_mark;

/* NULL: no memory. */
struct fork_mark *fork_mark_create(void);

/* NULL is ignored. Only where fork_mark_is_child() is false. */
void fork_mark_destroy(struct fork_mark *mark);

/* True in every process but the one that created it. */
bool fork_mark_is_child(const struct fork_mark *mark);

#endif

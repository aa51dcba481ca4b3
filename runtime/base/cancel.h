/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question that long work asks between its pieces: has somebody asked for the end?
 *
 * The command line answers from a flag that its signal handler sets; an actor from its mailbox.
 * NULL means that nobody can ask. Thread rules: asked() is called on the working thread.
 */
#ifndef RUNTIME_BASE_CANCEL_H
#define RUNTIME_BASE_CANCEL_H

#include <stdbool.h>
#include <stddef.h>

struct cancel {
    bool (*asked)(void *arg);
    void *arg;
};

static inline bool cancel_asked(const struct cancel *cancel)
{
    return cancel != NULL && cancel->asked(cancel->arg);
}

#endif

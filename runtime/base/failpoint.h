/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fail-points: the steps of a job's start, checkpoint, era and end, each with a name, at which a
 * process can be made to die or to stand still.
 *
 * A step that matters to recovery says so as it is passed. The reaction hangs off the node, or
 * off the files that the step works on: nothing where neither has an owner of fail-points, which
 * costs one look at a pointer in steps that are taken a few times a checkpoint. The simulator owns
 * those of its nodes in every build. A real process owns its own only where it was built with
 * --enable-failpoints: then TROUPE_FAILPOINT says where it dies (CONTRIBUTING.md).
 *
 * Ownership: the owner outlives node and files. Thread rules: a real process's are reached from any
 * thread.
 */
#ifndef RUNTIME_BASE_FAILPOINT_H
#define RUNTIME_BASE_FAILPOINT_H

#include <stdbool.h>
#include <stddef.h>

/* X(name in the code, name for scripts, whether the simulator passes it: commands are not in it) */
#define FAILPOINTS(X)                                                 \
    X(START_OPENED, "start.opened", false)                            \
    X(START_READY, "start.ready", false)                              \
    X(START_JOINING, "start.joining", true)                           \
    X(START_ADMITTED, "start.admitted", true)                         \
    X(START_JOINED, "start.joined", true)                             \
    X(ERA_DOWN, "era.down", true)                                     \
    X(ERA_ENDED, "era.ended", true)                                   \
    X(ERA_ASKED, "era.asked", true)                                   \
    X(ERA_CHOOSING, "era.choosing", true)                             \
    X(ERA_BEGUN, "era.begun", true)                                   \
    X(ERA_PART_READ, "era.part.read", true)                           \
    X(ERA_RESTORED, "era.restored", true)                             \
    X(CHECKPOINT_FILE_WRITTEN, "checkpoint.file.written", true)       \
    X(CHECKPOINT_FILE_SYNCED, "checkpoint.file.synced", true)         \
    X(CHECKPOINT_PART_NAMED, "checkpoint.part.named", true)           \
    X(CHECKPOINT_PART_SYNCED, "checkpoint.part.synced", true)         \
    X(CHECKPOINT_PART_ASKED, "checkpoint.part.asked", true)           \
    X(CHECKPOINT_PARTS_THERE, "checkpoint.parts.there", true)         \
    X(CHECKPOINT_MANIFEST_SYNCED, "checkpoint.manifest.synced", true) \
    X(CHECKPOINT_NAMED, "checkpoint.named", true)                     \
    X(CHECKPOINT_SYNCED, "checkpoint.synced", true)                   \
    X(CHECKPOINT_PRUNED, "checkpoint.pruned", true)                   \
    X(CHECKPOINT_COPYING, "checkpoint.copying", true)                 \
    X(CHECKPOINT_ANSWERED, "checkpoint.answered", true)               \
    X(RUN_LINE_WRITTEN, "run.line.written", false)                    \
    X(RUN_REWOUND, "run.rewound", false)                              \
    X(END_TRAINED, "end.trained", false)                              \
    X(END_MODEL_SAVED, "end.model.saved", false)                      \
    X(END_REPORT_PRINTED, "end.report.printed", false)                \
    X(END_DONE_TAKEN, "end.done.taken", true)                         \
    X(END_OVER, "end.over", true)                                     \
    X(END_STOPPING, "end.stopping", true)                             \
    X(END_MEMBER_STOPPED, "end.member.stopped", true)                 \
    X(END_MEMBER_GONE, "end.member.gone", true)                       \
    X(END_LAST_GONE, "end.last.gone", true)                           \
    X(END_FINISHED, "end.finished", false)                            \
    X(START_SAID, "start.said", false)                                \
    X(FILE_SYNCED, "file.synced", true)                               \
    X(RUN_BEST_SAVED, "run.best.saved", false)                        \
    X(CHECKPOINT_COPIED, "checkpoint.copied", true)

#define FAILPOINT_ENUM(code, text, simulated) FAILPOINT_##code,
enum failpoint { FAILPOINTS(FAILPOINT_ENUM) FAILPOINTS_COUNT };
#undef FAILPOINT_ENUM

struct failpoints {
    /* A step was passed. In a real process it need not return. */
    void (*reached)(struct failpoints *self, enum failpoint point);
};

static inline void failpoint_reach(struct failpoints *owner, enum failpoint point)
{
    if (owner != NULL)
        owner->reached(owner, point);
}

const char *failpoint_name(enum failpoint point);
/* Does the simulator pass it? */
bool failpoint_is_simulated(enum failpoint point);
/* The point of that name, of length bytes; FAILPOINTS_COUNT: there is none. */
enum failpoint failpoint_find(const char *name, size_t length);

/* This process's owner; a constant NULL in builds without fail-points. */
#ifdef ENABLE_FAILPOINTS
extern struct failpoints failpoints_of_process;
#define FAILPOINTS_OF_PROCESS (&failpoints_of_process)
#else
#define FAILPOINTS_OF_PROCESS ((struct failpoints *)NULL)
#endif

#endif

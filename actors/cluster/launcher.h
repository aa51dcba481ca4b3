/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launcher of a job without its I/O: what processes print and how they end goes in, what is to
 * be done with them comes out through its ops.
 *
 * `troupe launch` gives it real processes (launch/launch_run.c), the simulator simulated ones
 * (sim/fleet_run.c); neither decides anything. The policy says which process is started again and
 * when (launcher_policy.h); the meaning of a process's line stands here, and so does that of a
 * person's wish to stop.
 *
 *     launcher_init
 *     until launcher_turn says that all is over:
 *         wait for launcher_wake_ns, or for something to happen
 *         launcher_take_line, launcher_take_end, launcher_take_stops
 *     launcher_result, launcher_fini
 *
 * Ownership: launcher_fini frees what init made; the plan is only read by init. Thread rules: one
 * thread at a time; ops are called in launcher_turn alone, and may call none of these.
 */
#ifndef ACTORS_CLUSTER_LAUNCHER_H
#define ACTORS_CLUSTER_LAUNCHER_H

#include "actors/cluster/launcher_policy.h"
#include "actors/cluster/plan.h"

/* A process that could not be started ended as a shell says that it could not run it. */
#define LAUNCHER_EXIT_NOT_STARTED 126

struct launcher_ops {
    /* Begins a life of a process, which has had so many before. TR_E*: it could not be. */
    int (*start)(void *arg, uint32_t process, uint32_t incarnation, uint32_t restarts);
    /* launcher_take_end takes its end, in whatever way it came. */
    void (*ask_to_stop)(void *arg, uint32_t process);
    void (*kill)(void *arg, uint32_t process);
};

/* Two trainers that compute with other kernels: the result may differ in its last digits. */
struct launcher_kernels {
    const char *here, *there; /* of the process that just said so, and of the first; launcher's */
    uint32_t process;         /* the first */
};

struct launcher_options {
    const struct plan *plan;
    uint32_t incarnation; /* of the first start of each process; later ones are larger */
    uint32_t restarts;    /* see launcher_policy.h */
    uint64_t period_ns;
    bool together;
    const struct launcher_ops *ops;
    void *arg;
};

struct launcher {
    struct launcher_policy policy;
    const struct launcher_ops *ops;
    void *arg;
    uint32_t incarnation; /* of the first start */
    char *kernels;        /* of the first trainer that said them, or NULL */
    uint32_t kernels_of;
    bool done;
};

/* TR_ENOMEM, TR_ERANGE (restarts). */
int launcher_init(struct launcher *launcher, const struct launcher_options *options,
                  uint64_t now_ns);
void launcher_fini(struct launcher *launcher);

/* A line of a process's standard output, which may be a notice (process_notice.h). True: it says
 * kernels that differ from those in *differ (may be NULL). */
bool launcher_take_line(struct launcher *launcher, uint32_t process, const char *line,
                        struct launcher_kernels *differ, uint64_t now_ns);

/* How a process ended: its exit code, or the signal that ended it (else 0). After its last line. */
void launcher_take_end(struct launcher *launcher, uint32_t process, int code, int signal,
                       uint64_t now_ns);

/* Somebody asked to stop, so often; hurried: at the keyboard. */
void launcher_take_stops(struct launcher *launcher, uint32_t stops, bool hurried, uint64_t now_ns);

/* Does what is due. False: nothing runs any more and nothing will. */
bool launcher_turn(struct launcher *launcher, uint64_t now_ns);

/* When to call launcher_turn at the latest; LAUNCHER_NEVER: once something happened. */
uint64_t launcher_wake_ns(const struct launcher *launcher);

/* Once launcher_turn said false: see launcher_policy_result. */
int launcher_result(const struct launcher *launcher, struct error *error);

/* The role that a process counts as: of its roles the one that is stopped first. */
enum launcher_role launcher_role_of(const struct plan *plan, uint32_t process);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session: the actors of one job as this process sees them.
 *
 * tr_session_open() starts the loops and the actors (servers, samplers, a trainer-proxy, a
 * coordinator) in this process; tr_session_close() stops them in order.
 *
 * Ownership: graphs, node sets, loaders and batches made from a session hold it alive:
 * they may be closed in any order, also after tr_session_close(), on any thread. A call
 * on a closed session gives TR_ECLOSED.
 *
 * Thread rules: every function may be called from any thread that is not one of the session's
 * own loops. Calls on different objects run at the same time.
 */
#ifndef TROUPE_SESSION_H
#define TROUPE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_log;
struct tr_session;

struct tr_session_options {
    size_t size;
    uint32_t servers;  /* server actors; 0: one a partition */
    uint32_t samplers; /* sampler actors; 0: one a loop */
    uint32_t trainers; /* that train in this process, each with its own loaders; 0: 1 */
    uint32_t loops;    /* event loops, each on a thread; 0: one a processor, at most 16 */
    uint64_t seed;     /* of every random choice; the same seed gives the same batches */
    /* Frozen local data are read in place; false sends every read as a message. */
    bool direct;
    /* Encodes and verifies each message as a link would, also inside the process. */
    bool codec;
    /* Serve from mapped files instead of huge-page memory: slower, but takes no memory. */
    bool map_files;
    /* Compare mapped files with their checksums first, which reads them whole; what is read into
     * memory is always compared. */
    bool verify_files;
    uint64_t memory_bytes_max;    /* of batches that are in flight or held; 0: 4 GiB */
    int64_t recovery_deadline_ns; /* 0: 600 s */
    /* The cluster file (troupe-cluster(5)) of a job of several processes, of which this is number
     * `process`; what the file says goes before the numbers above. NULL: everything is here. */
    const char *cluster;
    uint32_t process;
    /* The number of this life of the process: larger than that of the life before. 0: the clock
     * says. A launcher, which starts processes again, counts them. */
    uint32_t incarnation;
    /* The file of a key that the job's processes share, where the cluster file names no keys: what
     * troupe launch makes for its job. NULL: none. */
    const char *shared_key;
    /* The folder of checkpoints (troupe-checkpoint(5)), the same for every process of the job;
     * NULL: none are kept, and a group goes back to the start. A cluster file that names
     * one, or several hosts, goes before this. */
    const char *checkpoints;
    uint32_t checkpoint_keep; /* how many; 0: 2 */
    /* Where lines about the job go (troupe/log.h), held until the session is freed; NULL:
     * nowhere. */
    struct tr_log *log;
    /* Of the tensors (troupe/dist_tensor.h) whose rows this process owns; 0: 4 GiB. A cluster file that
     * says it goes before this. */
    uint64_t tensor_bytes_max;
};

/* The defaults: everything 0, direct reads. */
#define tr_session_options_init(options) \
    tr_session_options_init_sized((options), sizeof(struct tr_session_options))
TR_API void tr_session_options_init_sized(struct tr_session_options *options, size_t size);

/* options NULL: the defaults; strings in them are copied. TR_ERANGE and TR_EINVAL name an option;
 * TR_ENOENT, TR_EIO and TR_EFORMAT are of the cluster file. *out is NULL after a failure. */
TR_API int tr_session_open(const struct tr_session_options *options, struct tr_session **out,
                           struct tr_error *error);

/* Stops the actors and waits for their ends; NULL is ignored. */
TR_API void tr_session_close(struct tr_session *session);

/* Ends every call that waits on the session, or on anything made from it, with TR_ECANCELED, and
 * each that would wait from now on, until tr_session_resume(). An interrupted call loses no more
 * than one that timed out, and may be made again. Closing is never interrupted. Safe in a signal
 * handler, as long as the session is not closed meanwhile. */
TR_API void tr_session_interrupt(struct tr_session *session);
/* Calls may wait again. Those that were interrupted end all the same. */
TR_API void tr_session_resume(struct tr_session *session);

/* Has every loop write what its actors and mailboxes hold to the session's log, as SIGUSR1 does in
 * troupe(1); returns before they have. */
TR_API int tr_session_dump(struct tr_session *session, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of the public functions, and the structs that a caller declares.
 *
 * Every function that can fail returns an int: 0 on success, a negative TR_E* otherwise. The
 * message of a struct tr_error, which such a function takes as its last parameter, says what the
 * number cannot: which file, which field, what to do. NULL: the caller does not want it.
 *
 *     struct tr_error error = TR_ERROR_INIT;
 *     if (tr_graph_open(session, path, TR_WAIT_FOREVER, &graph, &error) != 0)
 *         fprintf(stderr, "%s\n", error.message);
 *
 * Headers name the results that a caller may want to tell apart; besides them TR_ENOMEM, TR_ECLOSED
 * (the session is closed, or the job has ended), TR_ECANCELED (tr_session_interrupt()) and
 * TR_EFORKED may come from any call.
 *
 * Fork: a handle belongs to the process that made it. In a child of fork() every call that can fail
 * gives TR_EFORKED at once, and a close does nothing; what the child needs it opens itself. Five
 * kinds of handles do not change and have no threads: books, cluster files with their plans, lists
 * of checkpoints, saved models and batches. A child may read those of its parent; it closes its
 * copy of all but a batch, whose release does nothing there.
 *
 * Structs that grow: each struct that a caller declares has `size_t size` first, and an initialiser
 * or an init function that sets it to the size that the caller was compiled with. Later versions
 * add fields at the end alone. A program that was compiled before gets the defaults of fields that
 * it does not know, and they are not written to it. A program that was compiled later is refused
 * (TR_EUNSUPPORTED) when it sets an option that the library does not know. TR_EINVAL: a struct was
 * not initialised. Since no initialiser writes padding, a struct ends without any: where its fields
 * leave bytes at its end they are named `reserved`, which is 0, means nothing and stays; what is
 * added follows it. The bound of an array in a struct never changes. A value that is complete as it
 * is has no size and never grows: struct tr_range (troupe/book.h), which is two bounds.
 *
 * Ownership: a struct tr_error is the caller's, and holds no memory. Thread rules: it belongs to
 * one thread at a time; the functions below may be called from any thread.
 */
#ifndef TROUPE_ERROR_H
#define TROUPE_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TR_API __attribute__((visibility("default")))
#define TR_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define TR_API
#define TR_PRINTF(at, first)
#endif

/* Functions that wait take timeout_ns, nanoseconds from the call on; 0 takes what is there. This
 * one, or any negative number: no end of one's own; calls on a session still end by its recovery
 * deadline. */
#define TR_WAIT_FOREVER ((int64_t)-1)

/* X(name, number, text) */
#define TR_ERRORS(X)                                                    \
    X(TR_EINVAL, -1, "invalid argument")                                \
    X(TR_ENOMEM, -2, "out of memory")                                   \
    X(TR_EIO, -3, "input or output failed")                             \
    X(TR_ENOENT, -4, "no such file or name")                            \
    X(TR_EEXIST, -5, "already exists")                                  \
    X(TR_EPERM, -6, "permission denied")                                \
    X(TR_ENOSPC, -7, "no space left")                                   \
    X(TR_EFORMAT, -8, "input is not in the format it claims")           \
    X(TR_ERANGE, -9, "value out of range")                              \
    X(TR_ETOOBIG, -10, "larger than a stated bound")                    \
    X(TR_EUNSUPPORTED, -11, "not supported here")                       \
    X(TR_EMISMATCH, -12, "two inputs do not belong together")           \
    X(TR_ETIMEDOUT, -13, "deadline passed")                             \
    X(TR_EPEERDOWN, -14, "the peer is down")                            \
    X(TR_ECANCELED, -15, "cancelled")                                   \
    X(TR_EFULL, -16, "an account is full")                              \
    X(TR_ECLOSED, -17, "closed")                                        \
    X(TR_EEND, -18, "end of the epoch")                                 \
    X(TR_ECHILD, -19, "a child process failed")                         \
    X(TR_EROLLBACK, -20, "rolled back to the last checkpoint")          \
    X(TR_EINTERNAL, -21, "an invariant of Troupe itself does not hold") \
    X(TR_EFORKED, -22, "opened by the process that forked this one")

enum tr_error_code {
#define X(name, number, text) name = number,
    TR_ERRORS(X)
#undef X
};

/* Bytes of a message with its end; longer ones are cut. */
#define TR_ERROR_MESSAGE_MAX 1024

struct tr_error {
    size_t size;
    int code;         /* TR_E*; 0: nothing failed yet */
    int system_error; /* the errno behind it, or 0 */
    /* The number in the cluster file of the process that refused, did not answer or was lost, as
     * far as one was asked and is known; else -1. */
    int64_t process;
    char message[TR_ERROR_MESSAGE_MAX]; /* printable UTF-8: what failed, on what, what to do */
};

#define TR_ERROR_INIT                                  \
    {                                                  \
        sizeof(struct tr_error), 0, 0, (int64_t)-1, "" \
    }

/* Fills error, unless it is NULL, and returns code: for libraries that stand on this one. */
TR_API int tr_error_set(struct tr_error *error, int code, const char *format, ...) TR_PRINTF(3, 4);

/* The text of a result, of static storage; never NULL. Positive numbers and 0 are "success". */
TR_API const char *tr_strerror(int code);

/* "TR_EINVAL" for TR_EINVAL, of static storage; never NULL. */
TR_API const char *tr_error_name(int code);

#ifdef __cplusplus
}
#endif

#endif

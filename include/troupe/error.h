/*
 * Results of the public functions.
 *
 * Every function that can fail returns an int: 0 on success, a negative TR_E* otherwise. What the
 * number cannot say (which file, which field, what to do) is kept as a sentence by the session:
 * tr_session_error(). Headers name the results that a caller may want to tell apart; besides them
 * TR_ENOMEM and TR_ECLOSED (the session is closed, or the job has ended) may come from any call.
 *
 * Thread rules: tr_strerror() and tr_error_name() may be called from any thread.
 */
#ifndef TROUPE_ERROR_H
#define TROUPE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TR_API __attribute__((visibility("default")))
#else
#define TR_API
#endif

/* X(name, number, text) */
#define TR_ERRORS(X)                                           \
    X(TR_EINVAL, -1, "invalid argument")                       \
    X(TR_ENOMEM, -2, "out of memory")                          \
    X(TR_EIO, -3, "input or output failed")                    \
    X(TR_ENOENT, -4, "no such file or name")                   \
    X(TR_EEXIST, -5, "already exists")                         \
    X(TR_EPERM, -6, "permission denied")                       \
    X(TR_ENOSPC, -7, "no space left")                          \
    X(TR_EFORMAT, -8, "input is not in the format it claims")  \
    X(TR_ERANGE, -9, "value out of range")                     \
    X(TR_ETOOBIG, -10, "larger than a stated bound")           \
    X(TR_EUNSUPPORTED, -11, "not supported here")              \
    X(TR_EMISMATCH, -12, "two inputs do not belong together")  \
    X(TR_ETIMEDOUT, -13, "deadline passed")                    \
    X(TR_EPEERDOWN, -14, "the other side is down")             \
    X(TR_ECANCELED, -15, "cancelled")                          \
    X(TR_EFULL, -16, "an account is full")                     \
    X(TR_ECLOSED, -17, "closed")                               \
    X(TR_EEND, -18, "end of the epoch")                        \
    X(TR_ECHILD, -19, "a child process failed")                \
    X(TR_EROLLBACK, -20, "rolled back to the last checkpoint") \
    X(TR_EINTERNAL, -21, "an invariant of Troupe itself does not hold")

enum tr_error_code {
#define X(name, number, text) name = number,
    TR_ERRORS(X)
#undef X
};

/* The text of a result; never NULL. Positive numbers and 0 are "success". */
TR_API const char *tr_strerror(int code);

/* "TR_EINVAL" for TR_EINVAL; never NULL. */
TR_API const char *tr_error_name(int code);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text behind a TR_E* code: what failed, on which input, and what to do.
 *
 * A struct error is owned by the caller that can show it to a person. Functions below take
 * one as their last parameter and fill it when they fail; NULL means that nobody
 * wants the message. Nothing is printed below cli/.
 *
 * Thread rules: an error belongs to one thread at a time.
 */
#ifndef RUNTIME_BASE_ERROR_H
#define RUNTIME_BASE_ERROR_H

#include <stdarg.h>
#include <stdint.h>

#include <troupe/error.h>

/* Long enough for two paths and a remedy; a longer message is cut at its end. */
#define ERROR_TEXT_MAX TR_ERROR_MESSAGE_MAX

struct error {
    int code; /* 0 or TR_E* */
    char text[ERROR_TEXT_MAX];
    int system_error;   /* the errno behind it; 0: none */
    uint32_t process_1; /* the process of the cluster that it is about, counted from 1; 0: none */
};

/* Fills error (if not NULL) and returns code, so that a caller can `return error_set(...)`. */
int error_set(struct error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int error_set_args(struct error *error, int code, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Puts "prefix: " before the message that is there, to say where it happened. */
int error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The TR_E* that matches an errno (ENOSPC, EACCES ...; TR_EIO for the rest). */
int error_from_errno(int errno_value);

/* error_set with the text of errno appended: "DIR/x.npy: write: No space left on device". */
int error_set_errno(struct error *error, int errno_value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

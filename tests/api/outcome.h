/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outcomes of calls of the public API. A test hands them `&failure`, and these checks say what
 * stands in it, and where the test made the call.
 */
#ifndef TESTS_API_OUTCOME_H
#define TESTS_API_OUTCOME_H

#include <troupe/error.h>

/* The error of the last call of this thread that failed. */
extern _Thread_local struct tr_error failure;

/* The call succeeded. */
#define ok(rv) expect_success((rv), __FILE__, __LINE__)

/* The call failed with this code, and its message has this text. */
#define refused(rv, code, text) expect_refusal((rv), (code), (text), __FILE__, __LINE__)

void expect_success(int rv, const char *file, int line);
void expect_refusal(int rv, int code, const char *text, const char *file, int line);

#endif

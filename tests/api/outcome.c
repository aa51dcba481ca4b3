/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/api/outcome.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

_Thread_local struct tr_error failure = TR_ERROR_INIT;

void expect_success(int rv, const char *file, int line)
{
    if (rv == 0)
        return;
    print_error("%s: %s\n", tr_error_name(rv), failure.message);
    _fail(file, line);
}

void expect_refusal(int rv, int code, const char *text, const char *file, int line)
{
    if (rv == code && strstr(failure.message, text) != NULL)
        return;
    print_error("%s (%s) is not %s (... %s ...)\n", tr_error_name(rv), failure.message,
                tr_error_name(code), text);
    _fail(file, line);
}

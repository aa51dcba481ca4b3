/* SPDX-License-Identifier: Apache-2.0 */
#include "api/public_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/sized.h"

int error_give(const struct error *from, struct tr_error *to)
{
    if (to == NULL)
        return from->code;
    struct tr_error full = TR_ERROR_INIT;
    const char *text = from->text[0] != '\0' ? from->text : tr_strerror(from->code);
    full.code = from->code;
    full.system_error = from->system_error;
    full.process = (int64_t)from->process_1 - 1;
    snprintf(full.message, sizeof full.message, "%s", text);
    /* An error that was not initialised gets nothing; the result says what failed all the same. */
    sized_write(to, &full, sizeof full, "tr_error", NULL);
    return from->code;
}

int error_take(const struct tr_error *from, struct error *to)
{
    if (to == NULL)
        return from->code;
    *to = (struct error){ .code = from->code, .system_error = from->system_error };
    to->process_1 = (uint32_t)(from->process + 1);
    memcpy(to->text, from->message, sizeof to->text);
    return from->code;
}
_Static_assert(sizeof((struct error *)0)->text == sizeof((struct tr_error *)0)->message,
               "messages are copied");

int tr_error_set(struct tr_error *error, int code, const char *format, ...)
{
    struct error full = { 0 };
    va_list args;
    va_start(args, format);
    error_set_args(&full, code, format, args);
    va_end(args);
    return error_give(&full, error);
}

int error_forked(struct tr_error *error, const char *what)
{
    return tr_error_set(error, TR_EFORKED,
                        "%s: it belongs to the process that forked this one; open one here", what);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *tr_strerror(int code)
{
    switch (code) {
#define X(name, number, text) \
    case name:                \
        return text;
        TR_ERRORS(X)
#undef X
    }
    return code >= 0 ? "success" : "unknown error";
}

const char *tr_error_name(int code)
{
    switch (code) {
#define X(name, number, text) \
    case name:                \
        return #name;
        TR_ERRORS(X)
#undef X
    }
    return code >= 0 ? "TR_OK" : "TR_E?";
}

/* Bytes of the character at a place in UTF-8 (RFC 3629), 0 if it is none or steers a terminal. */
static size_t measure_character(const unsigned char *at)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (at[0] < 0x20 || at[0] == 0x7f || at[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    bool too_small = (at[0] == 0xc2 && at[1] < 0xa0) || (at[0] == 0xe0 && at[1] < 0xa0) ||
                     (at[0] == 0xf0 && at[1] < 0x90);
    bool too_large = (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf4 && at[1] > 0x8f);
    return too_small || too_large ? 0 : length;
}

/* Texts quote names and words of files, which may hold anything; callers that show a text may count
 * on printable UTF-8. */
static void make_printable(char *text)
{
    while (*text != '\0') {
        size_t length = measure_character((const unsigned char *)text);
        if (length == 0)
            *text = '?';
        text += length == 0 ? 1 : length;
    }
}

int error_set_args(struct error *error, int code, const char *format, va_list args)
{
    if (error == NULL)
        return code;
    vsnprintf(error->text, sizeof error->text, format, args);
    make_printable(error->text);
    error->code = code;
    error->system_error = 0;
    error->process_1 = 0;
    return code;
}

int error_set(struct error *error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_set_args(error, code, format, args);
    va_end(args);
    return code;
}

int error_prefix(struct error *error, const char *format, ...)
{
    if (error == NULL)
        return TR_EINTERNAL;
    char rest[ERROR_TEXT_MAX];
    /* The text is copied before the prefix is written over it. */
    memcpy(rest, error->text, sizeof rest);
    va_list args;
    va_start(args, format);
    int length = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof error->text)
        snprintf(error->text + length, sizeof error->text - (size_t)length, ": %s", rest);
    make_printable(error->text);
    return error->code;
}

int error_from_errno(int errno_value)
{
    switch (errno_value) {
    case ENOMEM:
        return TR_ENOMEM;
    case ENOENT:
    case ENOTDIR:
        return TR_ENOENT;
    case EEXIST:
    case ENOTEMPTY:
        return TR_EEXIST;
    case EACCES:
    case EPERM:
    case EROFS:
        return TR_EPERM;
    case ENOSPC:
    case EDQUOT:
        return TR_ENOSPC;
    case EFBIG:
        return TR_ETOOBIG;
    case EINVAL:
        return TR_EINVAL;
    default:
        return TR_EIO;
    }
}

/* The remedy of a limit, behind what the system says of it; "": of others the caller knows more. */
static const char *limit_remedy(int errno_value)
{
    switch (errno_value) {
    case EMFILE:
        return "; raise this process's limit of open files (ulimit -n)";
    case ENFILE:
        return "; raise the system's limit of open files (sysctl fs.file-max)";
    case EFBIG:
        return "; raise the limit of a file's size (ulimit -f), or use a file system that holds "
               "larger files";
    default:
        return "";
    }
}

int error_set_errno(struct error *error, int errno_value, const char *format, ...)
{
    int code = error_from_errno(errno_value);
    if (error == NULL)
        return code;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof error->text)
        snprintf(error->text + length, sizeof error->text - (size_t)length, ": %s%s",
                 strerror(errno_value), limit_remedy(errno_value));
    make_printable(error->text);
    error->code = code;
    error->system_error = errno_value;
    error->process_1 = 0;
    return code;
}

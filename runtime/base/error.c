/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/printable.h"

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

int error_set_args(struct error *error, int code, const char *format, va_list args)
{
    if (error == NULL)
        return code;
    vsnprintf(error->text, sizeof error->text, format, args);
    /* Texts quote names and words of files. */
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
    /* A text that becomes too long loses its end. */
    if (length >= 0 && (size_t)length < sizeof error->text &&
        snprintf(error->text + length, sizeof error->text - (size_t)length, ": %s", rest) < 0)
        error->text[length] = '\0';
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

#include "runtime/error.h"

#include <errno.h>
#include <stdarg.h>
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

/* Names and words of files are quoted in sentences; what would steer a terminal is not shown. */
static void make_printable(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
    }
}

int error_set(struct error *error, int code, const char *format, ...)
{
    if (error == NULL)
        return code;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    make_printable(error->text);
    error->code = code;
    return code;
}

int error_prefix(struct error *error, const char *format, ...)
{
    if (error == NULL)
        return TR_EINTERNAL;
    char rest[ERROR_TEXT_MAX];
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
        snprintf(error->text + length, sizeof error->text - (size_t)length, ": %s",
                 strerror(errno_value));
    make_printable(error->text);
    error->code = code;
    return code;
}

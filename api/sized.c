/* SPDX-License-Identifier: Apache-2.0 */
#include "api/sized.h"

#include <string.h>

/* No struct of any version is larger: the size is one that nobody set. */
#define SIZE_MAX_SANE ((size_t)1 << 16)

static int check(const void *caller, const char *what, size_t *size, struct tr_error *error)
{
    memcpy(size, caller, sizeof *size);
    if (*size >= sizeof *size && *size <= SIZE_MAX_SANE)
        return 0;
    return tr_error_set(error, TR_EINVAL,
                        "struct %s: its size is not set; initialise it as its header says", what);
}

void sized_init(void *to, size_t size, const void *defaults, size_t bytes)
{
    size_t known = size < bytes ? size : bytes;
    memset(to, 0, size);
    memcpy(to, defaults, known);
    memcpy(to, &size, sizeof size);
}

int sized_read(void *to, size_t bytes, const void *from, const char *what, struct tr_error *error)
{
    size_t size;
    int rv = check(from, what, &size, error);
    if (rv != 0)
        return rv;
    for (size_t i = bytes; i < size; i++)
        if (((const unsigned char *)from)[i] != 0)
            return tr_error_set(error, TR_EUNSUPPORTED,
                                "struct %s: the program sets a field that this library, which is "
                                "older, does not know; use a newer one or leave the field alone",
                                what);
    size_t known = size < bytes ? size : bytes;
    memcpy((unsigned char *)to + sizeof size, (const unsigned char *)from + sizeof size,
           known - sizeof size);
    return 0;
}

int sized_write(void *to, const void *from, size_t bytes, const char *what, struct tr_error *error)
{
    size_t size;
    int rv = check(to, what, &size, error);
    if (rv != 0)
        return rv;
    size_t known = size < bytes ? size : bytes;
    memcpy((unsigned char *)to + sizeof size, (const unsigned char *)from + sizeof size,
           known - sizeof size);
    memset((unsigned char *)to + known, 0, size - known);
    return 0;
}

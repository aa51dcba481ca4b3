/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and names of element types, from the one list of them. */
#include <troupe/types.h>

size_t tr_dtype_size(enum tr_dtype dtype)
{
    switch (dtype) {
#define X(name, number, text, bytes) \
    case name:                       \
        return bytes;
        TR_DTYPES(X)
#undef X
    }
    return 0;
}

const char *tr_dtype_name(enum tr_dtype dtype)
{
    switch (dtype) {
#define X(name, number, text, bytes) \
    case name:                       \
        return text;
        TR_DTYPES(X)
#undef X
    }
    return "unknown";
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/names_read.h"

#include <inttypes.h>

#include <troupe/schema.h>

_Static_assert((int)TR_NAMES_NODES == (int)NAMES_NODES &&
                   (int)TR_NAMES_COLUMNS == (int)NAMES_COLUMNS,
               "callers and files mean the same lists");

int names_check_range(uint64_t first, size_t count, uint64_t total, struct error *error)
{
    if (first <= total && count <= total - first)
        return 0;
    return error_set(error, TR_ERANGE, "names %" PRIu64 " to %" PRIu64 ": there are %" PRIu64,
                     first, first + count, total);
}

int names_read(struct name_list *names, uint64_t first, size_t count, uint64_t *offsets, char *text,
               size_t text_bytes, struct error *error)
{
    int rv = name_list_offsets(names, first, count, offsets, error);
    if (rv == 0 && text != NULL && offsets[count] - offsets[0] > text_bytes)
        rv = error_set(error, TR_ETOOBIG, "the names take %" PRIu64 " bytes, not %zu",
                       offsets[count] - offsets[0], text_bytes);
    else if (rv == 0 && text != NULL)
        rv = name_list_text(names, offsets, count, text, error);
    /* From the file's begin to the text's. */
    uint64_t begin = offsets[0];
    for (size_t i = 0; (rv == 0 || rv == TR_ETOOBIG) && i <= count; i++)
        offsets[i] -= begin;
    name_list_close(names);
    return rv;
}

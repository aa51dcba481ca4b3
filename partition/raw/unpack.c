/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/unpack.h"

int unpack_open(struct file *file, const struct file_kind *kind, const char *path,
                const char *member, struct unpack **out, struct error *error)
{
    *out = NULL;
    return kind->packing == PACKING_GZIP
               ? unpack_open_gzip(file, path, out, error)
               : unpack_open_archive(file, kind, path, member, out, error);
}

void unpack_close(struct unpack *unpack)
{
    if (unpack != NULL)
        unpack->close(unpack);
}

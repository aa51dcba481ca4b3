/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/file_kind.h"

#include <string.h>

#define UNPACK "unpack it first"
#define SAVE_TEXT "save it as text, or its edges with numpy.save as [N, 2]"

struct magic {
    size_t offset;
    size_t length;
    const char *bytes;
    struct file_kind kind;
};

#define AT(offset, bytes, ...)            \
    {                                     \
        offset, sizeof(bytes) - 1, bytes, \
        {                                 \
            __VA_ARGS__                   \
        }                                 \
    }

/* No UTF-8 text of numbers begins with one of these. */
static const struct magic MAGICS[] = {
    AT(0, "\x1f\x8b", "gzip", PACKING_GZIP, NULL),
    AT(0, "BZh", "bzip2", PACKING_STREAM, NULL),
    AT(0,
       "\xfd"
       "7zXZ\0",
       "xz", PACKING_STREAM, NULL),
    AT(0, "\x28\xb5\x2f\xfd", "zstd", PACKING_STREAM, NULL),
    AT(0, "\x04\x22\x4d\x18", "lz4", PACKING_STREAM, NULL),
    /* These two have no checksum, and the second no end: what is damaged gives other text. */
    AT(0, "\x5d\0\0", "an old lzma stream", PACKING_NONE, UNPACK),
    AT(0, "\x1f\x9d", "a stream of compress", PACKING_NONE, UNPACK),
    AT(0, "PK\x03\x04", "zip", PACKING_ZIP, NULL),
    AT(0, "PK\x05\x06", "zip", PACKING_ZIP, NULL), /* without a member */
    AT(0, "LZIP\x01", "an lzip stream", PACKING_NONE, UNPACK),
    AT(0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive", PACKING_NONE, UNPACK),
    AT(0, "Rar!\x1a\x07", "a RAR archive", PACKING_NONE, UNPACK),
    AT(257, "ustar", "a tar archive", PACKING_NONE, UNPACK),
    AT(0, "\x02\x21\x4c\x18", "an old lz4 stream", PACKING_NONE, UNPACK),
    AT(0, "PAR1", "a Parquet file", PACKING_NONE, SAVE_TEXT),
    AT(0, "ARROW1", "an Arrow file", PACKING_NONE, SAVE_TEXT),
    AT(0, "FEA1", "a Feather file", PACKING_NONE, SAVE_TEXT),
    AT(0, "ORC", "an ORC file", PACKING_NONE, SAVE_TEXT),
    AT(0, "Obj\x01", "an Avro file", PACKING_NONE, SAVE_TEXT),
    AT(0, "\x89HDF\r\n", "an HDF5 file", PACKING_NONE, SAVE_TEXT),
    AT(0, "SQLite format 3\0", "an SQLite database", PACKING_NONE, SAVE_TEXT),
    AT(0, "\x93NUMPY", "a NumPy array", PACKING_NONE, "give its name the end .npy"),
    AT(0, "\x80\x02", "a Python pickle", PACKING_NONE, SAVE_TEXT),
    AT(0, "\x80\x03", "a Python pickle", PACKING_NONE, SAVE_TEXT),
    AT(0, "\x80\x04", "a Python pickle", PACKING_NONE, SAVE_TEXT),
    AT(0, "\x80\x05", "a Python pickle", PACKING_NONE, SAVE_TEXT),
    AT(0, "\xd0\xcf\x11\xe0", "an old Office document", PACKING_NONE, SAVE_TEXT),
    AT(0, "%PDF-", "a PDF document", PACKING_NONE, SAVE_TEXT),
    AT(0,
       "\x7f"
       "ELF",
       "a program", PACKING_NONE, "name the file of edges"),
    AT(0, "\xff\xfe", "UTF-16 text", PACKING_NONE, "save it as UTF-8 text"),
    AT(0, "\xfe\xff", "UTF-16 text", PACKING_NONE, "save it as UTF-8 text"),
};

const struct file_kind *file_kind_of(const uint8_t *head, size_t size)
{
    for (size_t i = 0; i < sizeof MAGICS / sizeof *MAGICS; i++) {
        const struct magic *magic = &MAGICS[i];
        if (size >= magic->offset + magic->length &&
            memcmp(head + magic->offset, magic->bytes, magic->length) == 0)
            return &magic->kind;
    }
    return NULL;
}

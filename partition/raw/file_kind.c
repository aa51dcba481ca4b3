/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/file_kind.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define UNPACK "unpack it first"
#define SAVE_TEXT "save it as text, or its edges with numpy.save as [N, 2]"
#define SAVE_EDGES "save its edges as CSV, with Gephi or Python's networkx for example"
#define GET_FILE "get the file itself, which may need a login"
/* By what pandas calls the format. */
#define SAVE_CSV(format) \
    "save it as CSV with Python: pandas.read_" format "('FILE').to_csv('FILE.csv', index=False)"

struct magic {
    size_t offset;
    size_t length;
    const char *bytes;
    bool word; /* a header may begin so: it has no text behind */
    struct file_kind kind;
};

#define MAGIC(offset, bytes, word, ...)         \
    {                                           \
        offset, sizeof(bytes) - 1, bytes, word, \
        {                                       \
            __VA_ARGS__                         \
        }                                       \
    }
#define AT(offset, bytes, ...) MAGIC(offset, bytes, false, __VA_ARGS__)
#define WORD(bytes, ...) MAGIC(0, bytes, true, __VA_ARGS__)

/* No UTF-8 text of numbers begins with one of these, nor with a word and bytes behind it that no
 * text has: "ORCID" names a column. */
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
    WORD("PAR1", "a Parquet file", PACKING_NONE, SAVE_CSV("parquet")),
    WORD("ARROW1", "an Arrow file", PACKING_NONE, SAVE_TEXT),
    WORD("FEA1", "a Feather file", PACKING_NONE, SAVE_CSV("feather")),
    WORD("ORC", "an ORC file", PACKING_NONE, SAVE_CSV("orc")),
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
    AT(0, "<?xml", "XML", PACKING_NONE, SAVE_EDGES),
    AT(0, "\xef\xbb\xbf<?xml", "XML", PACKING_NONE, SAVE_EDGES),
    AT(0, "<!--", "XML", PACKING_NONE, SAVE_EDGES),
    AT(0, "<graphml", "GraphML", PACKING_NONE, SAVE_EDGES),
    AT(0, "<gexf", "GEXF", PACKING_NONE, SAVE_EDGES),
    AT(0, "<!DOCTYPE", "a web page", PACKING_NONE, GET_FILE),
    AT(0, "<!doctype", "a web page", PACKING_NONE, GET_FILE),
    AT(0, "<html", "a web page", PACKING_NONE, GET_FILE),
    AT(0, "<HTML", "a web page", PACKING_NONE, GET_FILE),
    AT(0, "\xff\xfe", "UTF-16 text", PACKING_NONE, "save it as UTF-8 text"),
    AT(0, "\xfe\xff", "UTF-16 text", PACKING_NONE, "save it as UTF-8 text"),
};

static const struct file_kind GML = { "GML", PACKING_NONE, SAVE_EDGES };
static const struct file_kind PAJEK = { "a Pajek network", PACKING_NONE, SAVE_EDGES };

static bool is_of_text(uint8_t byte)
{
    return (byte >= ' ' && byte < 0x7f) || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool begins_so(const struct magic *magic, const uint8_t *head, size_t size)
{
    size_t end = magic->offset + magic->length;
    if (size < end || memcmp(head + magic->offset, magic->bytes, magic->length) != 0)
        return false;
    return !magic->word || size == end || !is_of_text(head[end]);
}

/* "*Vertices 3" and its kind, where a table has the names of its columns. */
static bool is_pajek(const char *head, size_t size)
{
    static const char *const WORDS[] = { "*vertices", "*network", "*arcs", "*edges", "*partition" };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        size_t length = strlen(WORDS[i]);
        if (size > length && strncasecmp(head, WORDS[i], length) == 0 && head[length] != '\0' &&
            strchr(" \t\r\n", head[length]) != NULL)
            return true;
    }
    return false;
}

/* "graph [" or "graph" and "[" in a line of its own, behind lines such as "Creator "x"". */
static bool is_gml(const char *head, size_t size)
{
    for (size_t at = 0; at + 6 < size;) {
        if (strncasecmp(head + at, "graph", 5) == 0) {
            size_t next = at + 5;
            while (next < size && head[next] != '\0' && strchr(" \t\r\n", head[next]) != NULL)
                next++;
            return next < size && head[next] == '[';
        }
        const char *end = memchr(head + at, '\n', size - at);
        if (end == NULL || (head[at] != '#' && strncasecmp(head + at, "creator", 7) != 0 &&
                            strncasecmp(head + at, "version", 7) != 0 &&
                            strncasecmp(head + at, "comment", 7) != 0))
            return false;
        at = (size_t)(end - head) + 1;
    }
    return false;
}

const struct file_kind *file_kind_of(const uint8_t *head, size_t size)
{
    for (size_t i = 0; i < sizeof MAGICS / sizeof *MAGICS; i++) {
        if (begins_so(&MAGICS[i], head, size))
            return &MAGICS[i].kind;
    }
    /* Texts, of which an edge list or a table is not. */
    if (is_pajek((const char *)head, size))
        return &PAJEK;
    return is_gml((const char *)head, size) ? &GML : NULL;
}

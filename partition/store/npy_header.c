/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a .npy file: a Python dictionary literal of three keys, read strictly. */
#include "partition/store/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint8_t magic[6] = { 0x93, 'N', 'U', 'M', 'P', 'Y' };

/* Where we are in the dictionary. */
struct scan {
    const char *path;
    const char *at;
    const char *end;
    bool texts; /* may be elements */
    struct error *error;
};

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t'))
        scan->at++;
}

static bool npy_take(struct scan *scan, char c)
{
    skip_blanks(scan);
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

static int npy_refuse(const struct scan *scan, const char *what)
{
    int length = (int)(scan->end - scan->at < 24 ? scan->end - scan->at : 24);
    return error_set(scan->error, TR_EFORMAT,
                     "%s: .npy header: %s expected where '%.*s' stands; save it again with "
                     "numpy.save",
                     scan->path, what, length, scan->at);
}

/* A quoted word; nothing we know holds an escape. */
static int take_word(struct scan *scan, const char **word, size_t *length)
{
    skip_blanks(scan);
    if (scan->at == scan->end || (*scan->at != '\'' && *scan->at != '"'))
        return npy_refuse(scan, "a quoted word");
    char quote = *scan->at++;
    const char *stop = memchr(scan->at, quote, (size_t)(scan->end - scan->at));
    if (stop == NULL)
        return npy_refuse(scan, "a closing quote");
    *word = scan->at;
    *length = (size_t)(stop - scan->at);
    scan->at = stop + 1;
    return 0;
}

static bool npy_same(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

/* "S10" or "U10": the elements' bytes, or characters of 4 bytes. An empty text has no bytes. */
static bool parse_text_descr(const char *word, size_t length, struct npy_header *header)
{
    uint32_t count = 0;
    if (length < 3 || length > 8 || (word[1] != 'S' && word[1] != 'U') ||
        (word[0] != '<' && word[0] != '|'))
        return false;
    for (size_t i = 2; i < length; i++) {
        if (word[i] < '0' || word[i] > '9')
            return false;
        count = count * 10 + (uint32_t)(word[i] - '0');
    }
    header->kind = word[1];
    header->item_bytes = word[1] == 'U' ? 4 * count : count;
    return header->item_bytes <= NPY_TEXT_BYTES_MAX;
}

static int parse_descr(struct scan *scan, struct npy_header *header)
{
    const char *word;
    size_t length;
    skip_blanks(scan);
    if (scan->at < scan->end && *scan->at == '[')
        return error_set(scan->error, TR_EUNSUPPORTED,
                         "%s: descr is a structured type; save one array per field", scan->path);
    int rv = take_word(scan, &word, &length);
    if (rv != 0)
        return rv;
    if (length > 1 && word[1] == 'O')
        return error_set(scan->error, TR_EUNSUPPORTED,
                         "%s: holds Python objects (descr '|O'), a pickle, which is never read; "
                         "save its numbers with .astype('int64') or .astype('float32')",
                         scan->path);
    if (scan->texts && parse_text_descr(word, length, header))
        return 0;
    static const char *const known[] = { "i1", "i2", "i4", "i8", "u1", "u2",
                                         "u4", "u8", "f2", "f4", "f8", "b1" };
    for (size_t i = 0; length == 3 && i < sizeof known / sizeof *known; i++) {
        if (memcmp(word + 1, known[i], 2) != 0)
            continue;
        header->kind = word[1];
        header->item_bytes = (uint32_t)(word[2] - '0');
        if (word[0] == '<' || (word[0] == '|' && header->item_bytes == 1))
            return 0;
        return error_set(scan->error, TR_EUNSUPPORTED,
                         "%s: descr '%.*s' is not little-endian; save it with .astype('<%s')",
                         scan->path, (int)length, word, known[i]);
    }
    return error_set(scan->error, TR_EUNSUPPORTED,
                     "%s: descr '%.*s' is not a plain number type; save integers, floats or bool",
                     scan->path, (int)(length < 32 ? length : 32), word);
}

static int parse_order(struct scan *scan, bool *fortran)
{
    size_t left = (skip_blanks(scan), (size_t)(scan->end - scan->at));
    if (left >= 5 && memcmp(scan->at, "False", 5) == 0) {
        *fortran = false;
        scan->at += 5;
        return 0;
    }
    if (left >= 4 && memcmp(scan->at, "True", 4) == 0) {
        *fortran = true;
        scan->at += 4;
        return 0;
    }
    return npy_refuse(scan, "True or False");
}

static int parse_extent(struct scan *scan, uint64_t *extent)
{
    *extent = 0;
    skip_blanks(scan);
    const char *first = scan->at;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') {
        uint64_t digit = (uint64_t)(*scan->at++ - '0');
        if (__builtin_mul_overflow(*extent, (uint64_t)10, extent) ||
            __builtin_add_overflow(*extent, digit, extent))
            return error_set(scan->error, TR_EFORMAT,
                             "%s: shape: an extent above 2^64; the header is damaged", scan->path);
    }
    return scan->at == first ? npy_refuse(scan, "an extent of the shape") : 0;
}

static int parse_shape(struct scan *scan, struct npy_header *header)
{
    if (!npy_take(scan, '('))
        return npy_refuse(scan, "'(' of the shape");
    header->ndim = 0;
    while (!npy_take(scan, ')')) {
        if (header->ndim == NPY_NDIM_MAX)
            return error_set(scan->error, TR_EUNSUPPORTED,
                             "%s: shape has more than %d dimensions; reshape it", scan->path,
                             NPY_NDIM_MAX);
        int rv = parse_extent(scan, &header->shape[header->ndim++]);
        if (rv != 0)
            return rv;
        if (!npy_take(scan, ',') && (skip_blanks(scan), scan->at < scan->end) && *scan->at != ')')
            return npy_refuse(scan, "',' or ')' in the shape");
    }
    return 0;
}

enum { KEY_DESCR = 1, KEY_ORDER = 2, KEY_SHAPE = 4, KEYS_ALL = 7 };

static int parse_pair(struct scan *scan, struct npy_header *header, int *seen)
{
    const char *word;
    size_t length;
    int rv = take_word(scan, &word, &length);
    if (rv != 0)
        return rv;
    if (!npy_take(scan, ':'))
        return npy_refuse(scan, "':'");
    int key = npy_same(word, length, "descr")           ? KEY_DESCR
              : npy_same(word, length, "fortran_order") ? KEY_ORDER
              : npy_same(word, length, "shape")         ? KEY_SHAPE
                                                        : 0;
    if (key == 0 || (*seen & key))
        return error_set(scan->error, TR_EFORMAT, "%s: .npy header: key '%.*s' is %s", scan->path,
                         (int)(length < 32 ? length : 32), word, key == 0 ? "unknown" : "repeated");
    *seen |= key;
    return key == KEY_DESCR   ? parse_descr(scan, header)
           : key == KEY_ORDER ? parse_order(scan, &header->fortran)
                              : parse_shape(scan, header);
}

static int parse_dictionary(struct scan *scan, struct npy_header *header)
{
    int seen = 0;
    if (!npy_take(scan, '{'))
        return npy_refuse(scan, "'{'");
    while (!npy_take(scan, '}')) {
        int rv = parse_pair(scan, header, &seen);
        if (rv != 0)
            return rv;
        if (!npy_take(scan, ',') && (skip_blanks(scan), scan->at < scan->end) && *scan->at != '}')
            return npy_refuse(scan, "',' or '}'");
    }
    skip_blanks(scan);
    if (scan->at != scan->end)
        return npy_refuse(scan, "the end");
    if (seen != KEYS_ALL)
        return error_set(scan->error, TR_EFORMAT, "%s: .npy header lacks '%s'", scan->path,
                         !(seen & KEY_DESCR)   ? "descr"
                         : !(seen & KEY_ORDER) ? "fortran_order"
                                               : "shape");
    /* The elements of a row stand in one order only. */
    header->fortran &= header->ndim > 1;
    return 0;
}

static int count_items(const char *path, struct npy_header *header, struct error *error)
{
    uint64_t items = 1, bytes;
    bool empty = false;
    for (uint32_t i = 0; i < header->ndim; i++)
        empty |= header->shape[i] == 0;
    for (uint32_t i = 0; !empty && i < header->ndim; i++) {
        if (__builtin_mul_overflow(items, header->shape[i], &items))
            return error_set(error, TR_EFORMAT,
                             "%s: shape: the product of the extents is above 2^64; the header is "
                             "damaged",
                             path);
    }
    header->num_items = empty ? 0 : items;
    if (__builtin_mul_overflow(header->num_items, (uint64_t)header->item_bytes, &bytes))
        return error_set(error, TR_EFORMAT,
                         "%s: shape asks for more than 2^64 bytes; the header is damaged", path);
    return 0;
}

static int check_size(const char *path, uint64_t file_bytes, const struct npy_header *header,
                      struct error *error)
{
    uint64_t bytes = header->num_items * header->item_bytes, end;
    if (__builtin_add_overflow(bytes, header->data_offset, &end) || end != file_bytes)
        return error_set(error, TR_EFORMAT,
                         "%s: shape asks for %" PRIu64 " elements of %u bytes but the file holds "
                         "%" PRIu64 " bytes of data; it is truncated or damaged, copy it again",
                         path, header->num_items, header->item_bytes,
                         file_bytes - header->data_offset);
    return 0;
}

static int parse_head(const char *path, const uint8_t *data, size_t size, bool texts,
                      struct npy_header *header, struct error *error)
{
    memset(header, 0, sizeof *header);
    if (size < 10 || memcmp(data, magic, sizeof magic) != 0)
        return error_set(error, TR_EFORMAT,
                         "%s: not a .npy file (no magic); save it with "
                         "numpy.save",
                         path);
    int version = data[6];
    if (version < 1 || version > 3 || data[7] != 0)
        return error_set(error, TR_EUNSUPPORTED,
                         "%s: .npy version %d.%d; 1.0, 2.0 and 3.0 are read", path, version,
                         data[7]);
    size_t prefix = version == 1 ? 10 : 12;
    uint64_t length = data[8] | (uint64_t)data[9] << 8;
    if (version > 1 && size >= 12)
        length |= (uint64_t)data[10] << 16 | (uint64_t)data[11] << 24;
    if (length > NPY_HEADER_BYTES_MAX)
        return error_set(error, TR_EFORMAT,
                         "%s: .npy header of %" PRIu64 " bytes; at most %d "
                         "are read",
                         path, length, NPY_HEADER_BYTES_MAX);
    if (size < prefix || size - prefix < length)
        return error_set(error, TR_EFORMAT,
                         "%s: ends inside its .npy header; it is truncated, copy it again", path);
    struct scan scan = { path, (const char *)data + prefix, (const char *)data + prefix + length,
                         texts, error };
    header->data_offset = prefix + length;
    int rv = parse_dictionary(&scan, header);
    return rv != 0 ? rv : count_items(path, header, error);
}

int npy_parse_head(const char *path, const uint8_t *data, size_t size, struct npy_header *header,
                   struct error *error)
{
    return parse_head(path, data, size, false, header, error);
}

int npy_parse_text_head(const char *path, const uint8_t *data, size_t size,
                        struct npy_header *header, struct error *error)
{
    return parse_head(path, data, size, true, header, error);
}

int npy_parse(const char *path, const uint8_t *data, size_t size, uint64_t file_bytes,
              struct npy_header *header, struct error *error)
{
    int rv = npy_parse_head(path, data, size, header, error);
    if (rv == 0 && header->fortran)
        rv = error_set(error, TR_EUNSUPPORTED,
                       "%s: fortran_order is True; save numpy.ascontiguousarray of it", path);
    return rv != 0 ? rv : check_size(path, file_bytes, header, error);
}

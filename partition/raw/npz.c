/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/npz.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory that is taken before the bytes for it have come. */
#define PIECE_BYTES ((size_t)1 << 20)
/* Magic, version and length of a .npy header of any version. */
#define PREFIX_BYTES 12

static int open_file(struct file *file, const struct npz *npz, struct error *error)
{
    uint8_t head[FILE_KIND_BYTES];
    size_t got = 0;
    int rv = file_open(file, npz->files, npz->path, error);
    if (rv == 0)
        rv = file_read_some(file, 0, head, sizeof head, &got, error);
    if (rv != 0)
        return rv;
    const struct file_kind *kind = file_kind_of(head, got);
    if (kind != NULL && kind->packing == PACKING_ZIP)
        return 0;
    return error_set(error, TR_EFORMAT,
                     "%s: looks like %s, not like an archive of numpy.savez; name a .npz file",
                     npz->path, kind != NULL ? kind->name : "no archive");
}

struct npz_listing {
    struct npz *npz;
    struct error *error;
};

static int list_array(void *arg, const char *name)
{
    struct npz_listing *listing = arg;
    struct npz *npz = listing->npz;
    size_t length = strlen(name);
    if (length <= 4 || strcmp(name + length - 4, ".npy") != 0)
        return error_set(listing->error, TR_EFORMAT,
                         "%s: holds '%.100s', which is not a .npy file; name an archive of "
                         "numpy.savez",
                         npz->path, name);
    if (npz->count == NPZ_ARRAYS_MAX)
        return error_set(listing->error, TR_ETOOBIG, "%s: holds more than %d arrays", npz->path,
                         NPZ_ARRAYS_MAX);
    char *copy = strndup(name, length - 4);
    if (copy == NULL)
        return error_set(listing->error, TR_ENOMEM, "%s: no memory to list it", npz->path);
    bool twice = npz_has(npz, copy);
    npz->names[npz->count++] = copy;
    if (twice)
        return error_set(listing->error, TR_EEXIST, "%s: holds two arrays '%.100s'", npz->path,
                         copy);
    return 0;
}

int npz_init(struct npz *npz, struct files *files, const char *path, const struct cancel *cancel,
             struct error *error)
{
    struct file file = { 0 };
    struct npz_listing listing = { npz, error };
    *npz = (struct npz){ .files = files, .path = path, .cancel = cancel };
    npz->names = calloc(NPZ_ARRAYS_MAX, sizeof *npz->names);
    int rv = npz->names == NULL ? error_set(error, TR_ENOMEM, "%s: no memory to list it", path)
                                : open_file(&file, npz, error);
    if (rv == 0)
        rv = unpack_list(&file, path, list_array, &listing, error);
    file_close(&file);
    if (rv != 0)
        npz_fini(npz);
    return rv;
}

void npz_fini(struct npz *npz)
{
    for (uint32_t i = 0; i < npz->count; i++)
        free(npz->names[i]);
    free(npz->names);
    npz->names = NULL;
    npz->count = 0;
}

bool npz_has(const struct npz *npz, const char *name)
{
    uint32_t i = 0;
    while (i < npz->count && strcmp(npz->names[i], name) != 0)
        i++;
    return i < npz->count;
}

static int read_exactly(struct npz_stream *stream, void *data, size_t bytes, struct error *error)
{
    size_t got = 0;
    int rv = stream->unpack->read(stream->unpack, data, bytes, &got, error);
    if (rv == 0 && got < bytes)
        rv = error_set(error, TR_EFORMAT,
                       "%s: ends inside its header or its elements; it is truncated, copy it again",
                       stream->place);
    return rv;
}

static int read_head(struct npz_stream *stream, bool texts, struct error *error)
{
    uint8_t prefix[PREFIX_BYTES];
    int rv = read_exactly(stream, prefix, sizeof prefix, error);
    if (rv != 0)
        return rv;
    size_t length = (size_t)prefix[8] | (size_t)prefix[9] << 8;
    if (prefix[6] > 1)
        length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    size_t size = length + (prefix[6] > 1 ? PREFIX_BYTES : PREFIX_BYTES - 2);
    /* npy_parse_head() says what is wrong with such a one. */
    if (size > NPY_HEADER_BYTES_MAX + PREFIX_BYTES || size < sizeof prefix)
        size = sizeof prefix;
    uint8_t *head = malloc(size);
    if (head == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for its header", stream->place);
    memcpy(head, prefix, sizeof prefix);
    if (size > sizeof prefix)
        rv = read_exactly(stream, head + sizeof prefix, size - sizeof prefix, error);
    if (rv == 0)
        rv = (texts ? npy_parse_text_head : npy_parse_head)(stream->place, head, size,
                                                            &stream->header, error);
    /* A header of version 1 that ends before the prefix has nothing that follows it. */
    if (rv == 0 && stream->header.data_offset != size)
        rv = error_set(error, TR_EFORMAT, "%s: has no .npy header", stream->place);
    free(head);
    return rv;
}

static int open_stream(struct npz_stream *stream, const struct npz *npz, const char *name,
                       bool texts, struct error *error)
{
    static const struct file_kind ZIP = { "zip", PACKING_ZIP, NULL };
    memset(stream, 0, sizeof *stream);
    stream->npz = npz;
    snprintf(stream->place, sizeof stream->place, "%.400s/%.150s", npz->path, name);
    char *member = malloc(strlen(name) + sizeof ".npy");
    if (member == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to open it", stream->place);
    sprintf(member, "%s.npy", name);
    int rv = open_file(&stream->file, npz, error);
    if (rv == 0)
        rv = unpack_open_archive(&stream->file, &ZIP, stream->place, member, &stream->unpack,
                                 error);
    free(member);
    if (rv == 0)
        rv = read_head(stream, texts, error);
    stream->left = stream->header.num_items * stream->header.item_bytes;
    if (rv != 0)
        npz_close(stream);
    return rv;
}

int npz_open(struct npz_stream *stream, const struct npz *npz, const char *name,
             struct error *error)
{
    return open_stream(stream, npz, name, false, error);
}

int npz_open_texts(struct npz_stream *stream, const struct npz *npz, const char *name,
                   struct error *error)
{
    return open_stream(stream, npz, name, true, error);
}

int npz_read(struct npz_stream *stream, void *data, size_t bytes, struct error *error)
{
    if (cancel_asked(stream->npz->cancel))
        return error_set(error, TR_ECANCELED, "%s: interrupted", stream->place);
    if (bytes > stream->left)
        return error_set(error, TR_EFORMAT, "%s: has fewer elements than are needed",
                         stream->place);
    stream->left -= bytes;
    return read_exactly(stream, data, bytes, error);
}

int npz_skip(struct npz_stream *stream, uint64_t bytes, struct error *error)
{
    uint8_t *piece = malloc(PIECE_BYTES);
    int rv = piece == NULL ? error_set(error, TR_ENOMEM, "%s: no memory to read it", stream->place)
                           : 0;
    while (rv == 0 && bytes > 0) {
        size_t some = bytes < PIECE_BYTES ? (size_t)bytes : PIECE_BYTES;
        rv = npz_read(stream, piece, some, error);
        bytes -= some;
    }
    free(piece);
    return rv;
}

int npz_finish(struct npz_stream *stream, struct error *error)
{
    uint8_t more;
    size_t got = 0;
    int rv = stream->unpack->read(stream->unpack, &more, 1, &got, error);
    if (rv == 0 && (got > 0 || stream->left > 0))
        rv = error_set(error, TR_EFORMAT,
                       "%s: holds more than the elements of its shape; it is damaged, copy it "
                       "again",
                       stream->place);
    return rv;
}

void npz_close(struct npz_stream *stream)
{
    unpack_close(stream->unpack);
    file_close(&stream->file);
    stream->unpack = NULL;
}

int npz_dtype(const struct npy_header *header, const char *place, enum tr_dtype *dtype,
              struct error *error)
{
    const struct npy npy = { .header = *header, .file = { .path = (char *)(uintptr_t)place } };
    return npy_dtype(&npy, false, dtype, error);
}

/* Memory for what comes next: doubled, up to all. */
static int make_room(struct npz_array *array, uint64_t all, uint64_t *room, struct error *error)
{
    uint64_t wanted = *room == 0 ? PIECE_BYTES : 2 * *room;
    wanted = wanted < all ? wanted : all;
    uint8_t *grown = realloc(array->data, (size_t)wanted + 1);
    if (grown == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for its %" PRIu64 " bytes", array->place,
                         all);
    array->data = grown;
    *room = wanted;
    return 0;
}

static int load_all(struct npz_array *array, struct npz_stream *stream, struct error *error)
{
    uint64_t all = stream->left, done = 0, room = 0;
    if (all > NPZ_LOAD_BYTES_MAX)
        return error_set(error, TR_ETOOBIG,
                         "%s: has %" PRIu64 " bytes; this array is held in memory, at most %" PRIu64
                         " of it; import the graph with `troupe import edges` instead",
                         array->place, all, NPZ_LOAD_BYTES_MAX);
    int rv = make_room(array, all, &room, error);
    while (rv == 0 && done < all) {
        uint64_t some = room - done;
        some = some < PIECE_BYTES ? some : PIECE_BYTES;
        rv = npz_read(stream, array->data + done, (size_t)some, error);
        done += some;
        if (rv == 0 && done == room && done < all)
            rv = make_room(array, all, &room, error);
    }
    return rv == 0 ? npz_finish(stream, error) : rv;
}

static int load_array(struct npz_array *array, const struct npz *npz, const char *name, bool texts,
                      struct error *error)
{
    struct npz_stream stream;
    memset(array, 0, sizeof *array);
    int rv = open_stream(&stream, npz, name, texts, error);
    if (rv != 0)
        return rv;
    array->header = stream.header;
    memcpy(array->place, stream.place, sizeof array->place);
    rv = load_all(array, &stream, error);
    npz_close(&stream);
    if (rv != 0)
        npz_array_fini(array);
    return rv;
}

int npz_load(struct npz_array *array, const struct npz *npz, const char *name, struct error *error)
{
    return load_array(array, npz, name, false, error);
}

int npz_load_texts(struct npz_array *array, const struct npz *npz, const char *name,
                   struct error *error)
{
    return load_array(array, npz, name, true, error);
}

void npz_array_fini(struct npz_array *array)
{
    free(array->data);
    array->data = NULL;
}

/* The bytes of an integer element, widened by its sign. */
static uint64_t integer_of(const struct npz_array *array, uint64_t i)
{
    const struct npy_header *header = &array->header;
    uint64_t bits = 0;
    memcpy(&bits, array->data + i * header->item_bytes, header->item_bytes);
    uint64_t sign = (uint64_t)1 << (8 * header->item_bytes - 1);
    return header->kind == 'i' && (bits & sign) != 0 ? bits | ~(2 * sign - 1) : bits;
}

double npz_number(const struct npz_array *array, uint64_t i)
{
    const struct npy_header *header = &array->header;
    const uint8_t *at = array->data + i * header->item_bytes;
    float single;
    double wide;
    if (header->kind == 'i')
        return (double)(int64_t)integer_of(array, i);
    if (header->kind != 'f')
        return (double)integer_of(array, i);
    assert(header->item_bytes > 2);
    if (header->item_bytes == 4) {
        memcpy(&single, at, sizeof single);
        return (double)single;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

size_t npz_text_room(const struct npz_array *array)
{
    /* A character of 4 bytes takes at most 4 as UTF-8. */
    return array->header.item_bytes + (size_t)1;
}

/* The bytes of a character as UTF-8; 0: it is none. */
static size_t put_character(uint32_t c, char *to)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    size_t length = c < 0x10000 ? 3 : 4;
    to[0] = (char)(length == 3 ? 0xe0 | c >> 12 : 0xf0 | c >> 18);
    for (size_t i = 1; i < length; i++)
        to[i] = (char)(0x80 | (c >> (6 * (length - 1 - i)) & 0x3f));
    return length;
}

int npz_text(const struct npz_array *array, uint64_t i, char *text, size_t *length,
             struct error *error)
{
    const struct npy_header *header = &array->header;
    const uint8_t *at = array->data + i * header->item_bytes;
    size_t bytes = header->item_bytes;
    bool right = true;
    *length = 0;
    if (header->kind != 'S' && header->kind != 'U')
        return error_set(error, TR_EFORMAT,
                         "%s: descr '%c%u' is not a text; save it with .astype(str)", array->place,
                         header->kind, header->item_bytes);
    if (header->kind == 'S') {
        while (bytes > 0 && at[bytes - 1] == 0)
            bytes--;
        memcpy(text, at, bytes);
        *length = bytes;
    } else {
        uint32_t c = 0;
        for (; bytes >= 4; bytes -= 4) {
            memcpy(&c, at + bytes - 4, 4);
            if (c != 0)
                break;
        }
        for (size_t done = 0; right && done < bytes; done += 4) {
            memcpy(&c, at + done, 4);
            size_t some = put_character(c, text + *length);
            right = some > 0;
            *length += some;
        }
    }
    text[*length] = '\0';
    if (right)
        return 0;
    return error_set(error, TR_EFORMAT,
                     "%s: element %" PRIu64 " is not the number of a character; save it "
                     "again",
                     array->place, i);
}

int npz_id(const struct npz_array *array, uint64_t i, uint64_t *id, struct error *error)
{
    const struct npy_header *header = &array->header;
    if (header->kind != 'i' && header->kind != 'u')
        return error_set(error, TR_EFORMAT,
                         "%s: descr '%c%u' cannot hold IDs; save it with .astype('int64')",
                         array->place, header->kind, header->item_bytes);
    *id = integer_of(array, i);
    if (header->kind == 'i' && (int64_t)*id < 0)
        return error_set(error, TR_ERANGE, "%s: element %" PRIu64 " is negative; IDs start at 0",
                         array->place, i);
    return 0;
}

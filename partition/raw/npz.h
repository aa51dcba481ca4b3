/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arrays of a .npz archive: a .zip of .npy files, as numpy.savez writes it.
 *
 * An array is read as a stream, since it is packed; what is small is loaded whole. Headers and
 * sizes come from outside: memory grows with the bytes that were unpacked, never with what a header
 * says. Arrays of Python objects are pickles and are refused.
 *
 * Ownership: npz_close and npz_array_fini free all; path and files outlive both.
 * Thread rules: one thread at a time a stream.
 */
#ifndef PARTITION_RAW_NPZ_H
#define PARTITION_RAW_NPZ_H

#include "partition/raw/unpack.h"
#include "partition/store/npy.h"
#include "runtime/base/cancel.h"

/* Published archives have a dozen; a list of more is an archive of something else. */
#define NPZ_ARRAYS_MAX 4096
/* An array that is loaded whole: beyond this it would not be one of the small ones. */
#define NPZ_LOAD_BYTES_MAX ((uint64_t)1 << 34)
#define NPZ_PLACE_MAX 600

/* Where arrays are read from. */
struct npz {
    struct files *files;
    const char *path;
    const struct cancel *cancel;
    uint32_t count;
    char **names; /* of the arrays, without ".npy" */
};

/* Lists the arrays. TR_EFORMAT: it is no archive, or holds something else; TR_EEXIST: two arrays
 * have one name. */
int npz_init(struct npz *npz, struct files *files, const char *path, const struct cancel *cancel,
             struct error *error);
void npz_fini(struct npz *npz);
bool npz_has(const struct npz *npz, const char *name);

struct npz_stream {
    const struct npz *npz;
    struct file file;
    struct unpack *unpack;
    struct npy_header header;
    uint64_t left;             /* bytes of elements that were not read yet */
    char place[NPZ_PLACE_MAX]; /* "cora.npz/labels", for messages */
};

int npz_open(struct npz_stream *stream, const struct npz *npz, const char *name,
             struct error *error);
/* As npz_open, of an array that may also hold texts (npy_parse_text_head). */
int npz_open_texts(struct npz_stream *stream, const struct npz *npz, const char *name,
                   struct error *error);
/* The next bytes, which must be there. */
int npz_read(struct npz_stream *stream, void *data, size_t bytes, struct error *error);
int npz_skip(struct npz_stream *stream, uint64_t bytes, struct error *error);
/* Behind the last element: nothing follows, and the archive's checksum of it is right. */
int npz_finish(struct npz_stream *stream, struct error *error);
/* Harmless on a zeroed stream. */
void npz_close(struct npz_stream *stream);

/* The type of a feature's elements, as npy_dtype. */
int npz_dtype(const struct npy_header *header, const char *place, enum tr_dtype *dtype,
              struct error *error);

struct npz_array {
    struct npy_header header;
    uint8_t *data;
    char place[NPZ_PLACE_MAX];
};

int npz_load(struct npz_array *array, const struct npz *npz, const char *name, struct error *error);
/* As npz_load, of an array that may also hold texts. */
int npz_load_texts(struct npz_array *array, const struct npz *npz, const char *name,
                   struct error *error);
void npz_array_fini(struct npz_array *array);

/* Element i of texts, without the zeroes behind it: characters as UTF-8, bytes ('S') as they are.
 * text has npz_text_room() bytes. TR_EFORMAT: it holds no texts, or what is no character. */
size_t npz_text_room(const struct npz_array *array);
int npz_text(const struct npz_array *array, uint64_t i, char *text, size_t *length,
             struct error *error);

/* Element i as a number; whole numbers above 2^53 are rounded. Not of float16. */
double npz_number(const struct npz_array *array, uint64_t i);
/* Element i of integers, which must not be negative: TR_ERANGE. TR_EFORMAT: it has no integers. */
int npz_id(const struct npz_array *array, uint64_t i, uint64_t *id, struct error *error);

#endif

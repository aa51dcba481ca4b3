/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that hold secrets: read only when nobody but their owner can, and wiped from memory.
 *
 * Ownership: secret_read's bytes go back through secret_wipe. Thread rules: any thread.
 */
#ifndef RUNTIME_NET_SECRET_H
#define RUNTIME_NET_SECRET_H

#include <stddef.h>

#include "runtime/base/error.h"

/* A chain of certificates and a key of 16384 bits fit many times. */
#define SECRET_FILE_BYTES_MAX ((size_t)256 << 10)
/* 256 bits, the strength of what is derived from it. */
#define SECRET_KEY_BYTES_MIN 32u
#define SECRET_KEY_BYTES_MAX 1024u

struct secret {
    unsigned char *bytes; /* a zero follows them */
    size_t size;
};

/* The whole file. TR_EPERM: others than its owner may read it; TR_ENOENT, TR_ETOOBIG, TR_EIO. */
int secret_read(const char *path, struct secret *secret, struct error *error);

/* As secret_read, of a file that holds a key in hexadecimal or base64: the key's bytes.
 * TR_EFORMAT: neither, or shorter than SECRET_KEY_BYTES_MIN. */
int secret_read_key(const char *path, struct secret *key, struct error *error);

/* The second half of it: a text becomes the key that it says, in place. path is for the messages.
 * After a failure the secret is wiped. */
int secret_decode_key(const char *path, struct secret *key, struct error *error);

/* Overwrites and frees; harmless on a zeroed one. */
void secret_wipe(struct secret *secret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates and keys from and to PEM files (RFC 7468), with messages that name the file.
 *
 * Ownership: the caller frees what it gets (sk_X509_pop_free, EVP_PKEY_free).
 * Thread rules: any thread.
 */
#ifndef RUNTIME_NET_PEM_H
#define RUNTIME_NET_PEM_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "runtime/base/error.h"

/* A chain that is longer than this would not fit into a handshake. */
#define PEM_CERTIFICATES_MAX 16

/* The same of a text that lies in memory; path is for the messages. */
int pem_parse_certificates(const char *path, const void *text, size_t size,
                           STACK_OF(X509) * *certificates, struct error *error);
int pem_parse_key(const char *path, const void *text, size_t size, EVP_PKEY **key,
                  struct error *error);

/* All certificates of the file, at least one. TR_EFORMAT, TR_ENOENT, TR_ETOOBIG. */
int pem_read_certificates(const char *path, STACK_OF(X509) * *certificates, struct error *error);

/* Reads a file that its owner alone can read (see secret.h), without a passphrase. */
int pem_read_key(const char *path, EVP_PKEY **key, struct error *error);

#endif

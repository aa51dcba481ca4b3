/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates: what stands in them, and their signature. For runtime/net/keys.c.
 *
 * Ownership: the caller's. Thread rules: any thread.
 */
#ifndef RUNTIME_NET_KEYS_SIGN_H
#define RUNTIME_NET_KEYS_SIGN_H

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdint.h>

#include "runtime/base/error.h"

struct pair {
    X509 *certificate;
    EVP_PKEY *key;
};

struct validity {
    int64_t begin_s, end_s;
};

/* The authority that signs the hosts' certificates, by itself. */
int pair_make_authority(const struct validity *validity, struct pair *pair, struct error *error);

/* Names the host, and its address where that is another text; NULL: there is none. */
int pair_make_host(const struct pair *authority, const char *host, const char *address,
                   const struct validity *validity, struct pair *pair, struct error *error);

void pair_free(struct pair *pair);

#endif

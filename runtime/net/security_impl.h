/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a struct security that the TLS of a connection needs. For runtime/net/tls.c alone.
 */
#ifndef RUNTIME_NET_SECURITY_IMPL_H
#define RUNTIME_NET_SECURITY_IMPL_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "runtime/net/security.h"

/* The pre-shared key's length and name: TLS 1.3 binds a key to the hash of its cipher suites. */
#define SECURITY_PSK_BYTES 32u
#define SECURITY_PSK_IDENTITY "troupe"

struct security {
    SSL_CTX *context;
    bool has_shared_key;
    unsigned char psk[SECURITY_PSK_BYTES];
};

#endif

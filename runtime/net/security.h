/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proofs of this process, and those that it believes: TLS 1.3 with certificates of both
 * sides, or with one key that all share.
 *
 * RFC 8446 (TLS 1.3; external pre-shared keys, with (EC)DHE), RFC 5280 (certificates). The key
 * file holds at least 32 random bytes in hexadecimal or base64 and is readable by its owner alone.
 *
 * Ownership: the creator's; it outlives the transports made with it.
 * Thread rules: create and destroy on any thread; read-only in between, but for security_renew_key().
 */
#ifndef RUNTIME_NET_SECURITY_H
#define RUNTIME_NET_SECURITY_H

#include "runtime/base/error.h"
#include "runtime/base/files.h"

struct security;

struct security_options {
    /* With certificates: PEM files. All three, or none. */
    const char *ca, *certificate, *key;
    /* With a shared key: a file of mode 0600. Not beside certificates. */
    const char *shared_key;
};

/* TR_EPERM: a secret is readable by others; TR_EFORMAT; TR_ENOENT; TR_EMISMATCH: the key is not the
 * certificate's, or the certificate not the authority's. Each names the file and the remedy. */
int security_create(const struct security_options *options, struct security **security,
                    struct error *error);
/* Takes the shared key of this file instead of the one before, for handshakes from here on. For
 * transports of one loop, on that loop. As security_create; the key before stays where that fails.
 * TR_EINVAL: it was made with certificates. */
int security_renew_key(struct security *security, const char *shared_key, struct error *error);
void security_destroy(struct security *security);

#endif

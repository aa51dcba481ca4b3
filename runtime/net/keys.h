/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys for a cluster: an authority of its own, and a certificate and key for each host.
 *
 * FOLDER/ca.pem and ca.key, and HOST.pem and HOST.key for each host. Elliptic-curve keys
 * (P-256); a certificate names its host (RFC 5280, subjectAltName: a DNS name or an address) and
 * serves for both ends of a connection. Files that exist are kept, so that hosts can be added;
 * ca.key is needed for nothing else and can be kept elsewhere.
 *
 * Thread rules: one caller a folder at a time.
 */
#ifndef RUNTIME_NET_KEYS_H
#define RUNTIME_NET_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

#define KEYS_DAYS 365u
#define KEYS_DAYS_MAX 36500u
/* An authority is older than all that it signs; it lives at least so long. */
#define KEYS_AUTHORITY_DAYS 3650u

struct keys_host {
    const char *name;    /* names its files too */
    const char *address; /* that the certificate is to name beside it; NULL: none */
};

struct keys_options {
    const char *folder;
    const struct keys_host *hosts; /* [num_hosts]; a name twice counts once */
    size_t num_hosts;
    uint32_t days; /* that a host's certificate is valid */
    bool replace;  /* make the hosts' keys anew; the authority stays */
    /* When validity begins, in seconds since 1970; 0: an hour ago, since clocks differ. */
    int64_t begin_s;
};

struct keys_report {
    bool made_authority;
    size_t made, kept; /* hosts */
};

/* TR_EINVAL: a host's name; TR_EPERM, TR_EFORMAT, TR_EMISMATCH: what is in the folder;
 * TR_ENOSPC, TR_EIO. No file of a key is ever readable by others, and none is left half written. */
int keys_make(const struct keys_options *options, struct keys_report *report, struct error *error);

#endif

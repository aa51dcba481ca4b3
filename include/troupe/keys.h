/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys for a cluster: an authority of its own, and a certificate and key for each host.
 *
 * FOLDER/ca.pem and ca.key, and HOST.pem and HOST.key for each host. Files that are there are kept,
 * so that hosts can be added later; ca.key is needed for nothing else, and can be kept elsewhere.
 *
 * Thread rules: any thread; one caller a folder at a time.
 */
#ifndef TROUPE_KEYS_H
#define TROUPE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TR_KEYS_DAYS_MAX 36500

struct tr_keys_options {
    size_t size;
    const char *folder;
    const char *const *hosts; /* [num_hosts] names, which name their files too */
    const char *const
        *addresses; /* [num_hosts] that certificates name beside; or NULL, in it too */
    size_t num_hosts;
    uint32_t days; /* that a certificate is valid, from an hour ago, since clocks differ */
    bool replace;  /* make the hosts' keys anew; the authority stays */
    unsigned char reserved[3];
};
/* Fills it with the defaults: certificates of a year. */
#define tr_keys_options_init(options) tr_keys_options_init_sized((options), sizeof *(options))
TR_API void tr_keys_options_init_sized(struct tr_keys_options *options, size_t size);

struct tr_keys_report {
    size_t size;
    bool made_authority;
    uint32_t made; /* hosts with new keys */
    uint32_t kept; /* hosts whose keys stayed */
    unsigned char reserved[4];
};
#define TR_KEYS_REPORT_INIT                            \
    {                                                  \
        sizeof(struct tr_keys_report), false, 0, 0, "" \
    }

/* Takes milliseconds a host. TR_EINVAL: a host's name or the days; TR_EPERM, TR_EFORMAT,
 * TR_EMISMATCH: what is in the folder; TR_ENOSPC, TR_EIO. No file of a key is ever readable by
 * others, and none is left half written. */
TR_API int tr_keys_make(const struct tr_keys_options *options, struct tr_keys_report *report,
                        struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif

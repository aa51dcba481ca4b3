/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request for the live page brings: a host and a token, a line each. Whatever they are, a host
 * that is let in is a name of the loopback or the guard's own, and a token is the guard's.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch/web/live_guard.h"
#include "tests/fuzz/fuzz.h"

static bool is_name(const char *host, const char *name)
{
    size_t length = strlen(name);
    return strncasecmp(host, name, length) == 0 && (host[length] == '\0' || host[length] == ':');
}

/* By another way than the guard's: which characters such a host has. */
static bool may_be_ours(const char *host)
{
    size_t length = strlen(host);
    return is_name(host, "localhost") || is_name(host, "me.example") ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.:") == length) ||
           (host[0] == '[' && strspn(host, "[]0123456789abcdefABCDEF.:") == length);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct live_guard guard;
    struct error error;
    char host[600], token[600], cookie[160];
    const uint8_t *end = memchr(bytes, '\n', size);
    size_t first = end != NULL ? (size_t)(end - bytes) : size;
    size_t second = end != NULL ? size - first - 1 : 0;
    if (first >= sizeof host || second >= sizeof token)
        return 0;
    memcpy(host, bytes, first);
    host[first] = '\0';
    if (second > 0)
        memcpy(token, end + 1, second);
    token[second] = '\0';
    fuzz_hold(live_guard_init(&guard, &error) == 0, "there is no guard");
    snprintf(guard.host, sizeof guard.host, "me.example");
    fuzz_hold(!live_guard_knows_host(&guard, host) || may_be_ours(host),
              "a stranger's host is let in");
    fuzz_hold(!live_guard_knows_token(&guard, token) || strcmp(token, guard.token) == 0,
              "a wrong token is let in");
    fuzz_hold(live_guard_knows_token(&guard, guard.token), "the token is refused");
    live_guard_cookie(&guard, cookie, sizeof cookie);
    fuzz_hold(strchr(cookie, '\n') == NULL && strlen(cookie) + 1 < sizeof cookie, "no cookie");
    return 0;
}

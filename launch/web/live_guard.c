/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/web/live_guard.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#define TOKEN_BYTES (size_t)16
#define NAME_BYTES (size_t)4

_Static_assert(LIVE_TOKEN_TEXT == 2 * TOKEN_BYTES + 1, "the token fits");

static void write_hex(const unsigned char *bytes, size_t count, char *text)
{
    for (size_t i = 0; i < count; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

int live_guard_init(struct live_guard *guard, struct error *error)
{
    unsigned char random[TOKEN_BYTES + NAME_BYTES];
    *guard = (struct live_guard){ 0 };
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return error_set(error, TR_EUNSUPPORTED, "the system gives no random numbers for a token");
    write_hex(random, TOKEN_BYTES, guard->token);
    snprintf(guard->cookie, sizeof guard->cookie, "troupe-");
    write_hex(random + TOKEN_BYTES, NAME_BYTES, guard->cookie + strlen(guard->cookie));
    return 0;
}

/* 127.0.0.0/8 and ::1, as addresses: a name that looks like one, such as 127.0.0.1.example.org, is
 * none. */
static bool is_loopback_name(const char *host)
{
    struct in_addr four;
    struct in6_addr six;
    if (strcasecmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool live_guard_is_loopback(const struct endpoint *endpoint)
{
    return endpoint->kind == ENDPOINT_TCP && is_loopback_name(endpoint->host);
}

/* Splits "name", "name:port", "[address]" and "[address]:port". */
static bool split_host(const char *text, char *name, size_t size)
{
    bool bracketed = text[0] == '[';
    const char *begin = bracketed ? text + 1 : text;
    size_t length = strcspn(begin, bracketed ? "]" : ":");
    const char *behind = begin + length;
    if (bracketed) {
        if (*behind != ']')
            return false;
        behind++;
    }
    if (length == 0 || length >= size)
        return false;
    if (*behind == ':')
        behind += 1 + strspn(behind + 1, "0123456789");
    if (*behind != '\0')
        return false;
    memcpy(name, begin, length);
    name[length] = '\0';
    return true;
}

bool live_guard_knows_host(const struct live_guard *guard, const char *host)
{
    char name[ENDPOINT_HOST_MAX];
    if (host == NULL || !split_host(host, name, sizeof name))
        return false;
    return is_loopback_name(name) || (guard->host[0] != '\0' && strcasecmp(name, guard->host) == 0);
}

bool live_guard_knows_token(const struct live_guard *guard, const char *token)
{
    unsigned differs = 0;
    if (token == NULL || guard->token[0] == '\0' || strlen(token) != LIVE_TOKEN_TEXT - 1)
        return false;
    for (size_t i = 0; i < LIVE_TOKEN_TEXT - 1; i++)
        differs |= (unsigned char)token[i] ^ (unsigned char)guard->token[i];
    return differs == 0;
}

void live_guard_cookie(const struct live_guard *guard, char *text, size_t size)
{
    snprintf(text, size, "%s=%s; Path=/; HttpOnly; SameSite=Strict", guard->cookie, guard->token);
}

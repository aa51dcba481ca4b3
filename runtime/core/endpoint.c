/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/endpoint.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#define FORMS "write unix:/path/to.sock, tcp:host:port, or tcp:[ipv6]:port"
#define NAME_MAX_BYTES 253u /* RFC 1035 */
#define UNIX_PATH_MAX (sizeof((struct sockaddr_un *)0)->sun_path - 1)

static int parse_unix(const char *text, const char *path, struct endpoint *endpoint,
                      struct error *error)
{
    size_t length = strlen(path);
    if (path[0] != '/')
        return error_set(error, TR_EINVAL,
                         "endpoint %.200s: the path does not begin with /; " FORMS, text);
    if (length > UNIX_PATH_MAX)
        return error_set(error, TR_EINVAL,
                         "endpoint %.200s: a path of %zu bytes; a unix socket's may have %zu", text,
                         length, UNIX_PATH_MAX);
    endpoint->kind = ENDPOINT_UNIX;
    memcpy(endpoint->host, path, length + 1);
    return 0;
}

static int parse_port(const char *text, const char *digits, uint16_t *port, struct error *error)
{
    uint32_t value = 0;
    size_t length = strspn(digits, "0123456789");
    if (length == 0 || length > 5 || digits[length] != '\0')
        return error_set(error, TR_EINVAL,
                         "endpoint %.200s: its port is not a number from 0 to 65535; " FORMS, text);
    for (size_t i = 0; i < length; i++)
        value = value * 10 + (uint32_t)(digits[i] - '0');
    if (value > UINT16_MAX)
        return error_set(error, TR_EINVAL, "endpoint %.200s: port %u is more than 65535", text,
                         value);
    *port = (uint16_t)value;
    return 0;
}

static bool is_name(const char *host)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    return host[0] != '\0' && host[0] != '-' && host[0] != '.' &&
           host[strspn(host, allowed)] == '\0';
}

/* An address may name the interface it is reached through: fe80::1%eth0. */
static bool is_ipv6(const char *host)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr ignored;
    size_t length = strcspn(host, "%");
    if (length >= sizeof address || (host[length] == '%' && !is_name(host + length + 1)))
        return false;
    memcpy(address, host, length);
    address[length] = '\0';
    return inet_pton(AF_INET6, address, &ignored) == 1;
}

static int take_host(const char *text, const char *host, size_t length, struct endpoint *endpoint,
                     struct error *error)
{
    if (length > NAME_MAX_BYTES)
        return error_set(error, TR_EINVAL,
                         "endpoint %.100s...: a host of %zu bytes; a name has at most %u", text,
                         length, NAME_MAX_BYTES);
    memcpy(endpoint->host, host, length);
    endpoint->host[length] = '\0';
    return 0;
}

static int parse_tcp(const char *text, const char *rest, struct endpoint *endpoint,
                     struct error *error)
{
    bool bracket = rest[0] == '[';
    const char *host = bracket ? rest + 1 : rest;
    const char *end = strchr(host, bracket ? ']' : ':');
    const char *colon = end != NULL && bracket ? end + 1 : end;
    if (end == NULL || *colon != ':')
        return error_set(error, TR_EINVAL, "endpoint %.200s: it names no port; " FORMS, text);
    int rc = take_host(text, host, (size_t)(end - host), endpoint, error);
    if (rc < 0)
        return rc;
    if (!bracket && strchr(colon + 1, ':') != NULL)
        return error_set(error, TR_EINVAL,
                         "endpoint %.200s: an IPv6 address stands in brackets; " FORMS, text);
    if (bracket ? !is_ipv6(endpoint->host) : !is_name(endpoint->host))
        return error_set(error, TR_EINVAL, "endpoint %.200s: %s is %s; " FORMS, text,
                         endpoint->host[0] != '\0' ? endpoint->host : "nothing",
                         bracket ? "not an IPv6 address" : "not the name or address of a host");
    rc = parse_port(text, colon + 1, &endpoint->port, error);
    endpoint->kind = ENDPOINT_TCP;
    return rc;
}

int endpoint_parse(const char *text, struct endpoint *endpoint, struct error *error)
{
    struct endpoint parsed = { .kind = ENDPOINT_NONE };
    int rc;
    if (strncmp(text, "unix:", 5) == 0)
        rc = parse_unix(text, text + 5, &parsed, error);
    else if (strncmp(text, "tcp:", 4) == 0)
        rc = parse_tcp(text, text + 4, &parsed, error);
    else
        rc = error_set(error, TR_EINVAL,
                       "endpoint %.200s: it begins neither with unix: nor with tcp:; " FORMS, text);
    if (rc == 0)
        *endpoint = parsed;
    return rc;
}

void endpoint_format(const struct endpoint *endpoint, char *text, size_t text_size)
{
    if (endpoint->kind == ENDPOINT_UNIX)
        snprintf(text, text_size, "unix:%s", endpoint->host);
    else if (endpoint->kind == ENDPOINT_NONE)
        snprintf(text, text_size, "none");
    else if (strchr(endpoint->host, ':') != NULL)
        snprintf(text, text_size, "tcp:[%s]:%u", endpoint->host, endpoint->port);
    else
        snprintf(text, text_size, "tcp:%s:%u", endpoint->host, endpoint->port);
}

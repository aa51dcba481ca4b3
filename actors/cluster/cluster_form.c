/* SPDX-License-Identifier: Apache-2.0 */
/* Which of its two forms a cluster file has, or why it has none of them. */
#include <arpa/inet.h>
#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "actors/cluster/cluster_read.h"
#include "runtime/base/json_text.h"

/* "[::1]", as URLs and ssh have it. */
static bool is_bracketed_address(const char *text)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr parsed;
    size_t length = strcspn(text + 1, "]%\n");
    if (text[0] != '[' || length >= sizeof address)
        return false;
    memcpy(address, text + 1, length);
    address[length] = '\0';
    return inet_pton(AF_INET6, address, &parsed) == 1;
}

static bool begins_line(char c)
{
    return c == '\0' || c == '#' || c == ':' || c == '_' || isalnum((unsigned char)c);
}

/* A JSON text that is no object, or not even whole. */
static int refuse_json(const char *path, const char *text, size_t size, struct error *error)
{
    static const char FORM[] = "a cluster file is an object, {\"hosts\": [...]}";
    json_error_t why;
    json_t *value = json_loadb(text, size, JSON_DECODE_ANY, &why);
    char words[JSON_FAULT_MAX];
    if (value == NULL)
        return error_set(error, TR_EFORMAT,
                         "%s: it is neither JSON (%s) nor DGL's ip_config.txt; "
                         "%s",
                         path, json_fault_text(&why, text, size, words), FORM);
    error_set(error, TR_EFORMAT, "%s: it is a JSON %s; %s", path,
              json_is_array(value) ? "array" : "string", FORM);
    json_decref(value);
    return TR_EFORMAT;
}

int cluster_find_form(const char *path, const char *text, size_t size, bool *json,
                      struct error *error)
{
    size_t at = 0;
    while (at < size && isspace((unsigned char)text[at]))
        at++;
    *json = text[at] == '{';
    if (*json || begins_line(text[at]) || is_bracketed_address(text + at))
        return 0;
    if (text[at] == '[' || text[at] == '"')
        return refuse_json(path, text + at, size - at, error);
    return error_set(error, TR_EFORMAT,
                     "%s: it begins with the byte 0x%02x: neither a JSON object "
                     "('{') nor a name or address of a host, as in DGL's ip_config.txt",
                     path, (unsigned char)text[at]);
}

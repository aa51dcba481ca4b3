/* SPDX-License-Identifier: Apache-2.0 */
#include "model/report/html.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRINT_BYTES_MAX 500

void html_init(struct html *html)
{
    *html = (struct html){ 0 };
}

void html_fini(struct html *html)
{
    free(html->text);
    html_init(html);
}

static void html_append(struct html *html, const char *bytes, size_t count)
{
    if (html->failed)
        return;
    if (count > HTML_BYTES_MAX - html->used) {
        html->failed = true;
        return;
    }
    if (html->used + count > html->room) {
        size_t room = html->room == 0 ? 16384 : html->room;
        while (room < html->used + count)
            room *= 2;
        char *text = realloc(html->text, room);
        if (text == NULL) {
            html->failed = true;
            return;
        }
        html->text = text;
        html->room = room;
    }
    memcpy(html->text + html->used, bytes, count);
    html->used += count;
}

void html_markup(struct html *html, const char *markup)
{
    html_append(html, markup, strlen(markup));
}

void html_print(struct html *html, const char *format, ...)
{
    char text[PRINT_BYTES_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* Half a piece of markup would break what follows. */
    if (length < 0 || (size_t)length >= sizeof text)
        html->failed = true;
    else
        html_append(html, text, (size_t)length);
}

/* Decodes the character at a place in UTF-8 (RFC 3629) and returns its bytes; 0: it is none. */
static size_t html_decode(const unsigned char *at, uint32_t *character)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (length == 0 || at[0] > 0xf4)
        return 0;
    *character = length == 1 ? at[0] : at[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        /* The text's last byte is 0, which goes on nothing: no byte behind it is read. */
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (at[i] & 0x3fu);
    }
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    bool surrogate = *character >= 0xd800 && *character <= 0xdfff;
    return *character < least[length] || *character > 0x10ffff || surrogate ? 0 : length;
}

/* Control characters, and those that turn the direction of what stands around them. */
static bool steers(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
           (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

static const char *html_entity(uint32_t character)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void html_text(struct html *html, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    const unsigned char *end = at + strnlen(text, HTML_TEXT_BYTES_MAX);
    while (at < end) {
        uint32_t character = 0;
        size_t length = html_decode(at, &character);
        const char *entity = html_entity(character);
        if (length == 0 || steers(character))
            html_markup(html, "&#xFFFD;");
        else if (entity != NULL)
            html_markup(html, entity);
        else
            html_append(html, (const char *)at, length);
        at += length == 0 ? 1 : length;
    }
    if (*at != '\0')
        html_markup(html, "&hellip;");
}

void html_element(struct html *html, const char *tag, const char *attributes, const char *text)
{
    html_print(html, "<%s%s>", tag, attributes);
    html_text(html, text);
    html_print(html, "</%s>", tag);
}

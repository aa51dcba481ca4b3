/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of HTML in memory, grown as it is written.
 *
 * Markup is the program's own words; all that comes from outside (names of runs, graphs and
 * options, paths, values) goes through html_text(), the one function that escapes, so that no name
 * becomes markup, leaves an attribute, or steers what shows it.
 *
 * Ownership: html_init, html_fini. A failed allocation, and a page of more than HTML_BYTES_MAX, is
 * kept in `failed`; nothing is written behind it. Thread rules: one thread at a time.
 */
#ifndef MODEL_REPORT_HTML_H
#define MODEL_REPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>

/* What a browser still opens well; a report of many runs has a hundredth of it. */
#define HTML_BYTES_MAX ((size_t)64 << 20)
/* A longer text from outside is cut there: a path has 4096 bytes at most. */
#define HTML_TEXT_BYTES_MAX 4096

struct html {
    char *text;
    size_t used, room;
    bool failed;
};

void html_init(struct html *html);
void html_fini(struct html *html);

/* Appends the program's own markup as it is. */
void html_markup(struct html *html, const char *markup);
/* The same with numbers and the program's own words; at most 500 bytes. */
void html_print(struct html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends a text from outside, escaped for elements and for attributes in quotes. Control characters,
 * those that turn the direction of writing, and bytes that are no UTF-8 become U+FFFD; a text longer
 * than HTML_TEXT_BYTES_MAX ends with an ellipsis. */
void html_text(struct html *html, const char *text);

/* <tag attributes>text</tag>: attributes are the program's own and begin with a blank, or are "". */
void html_element(struct html *html, const char *tag, const char *attributes, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON documents as commands print them: characters that steer a terminal, turn the direction of
 * writing or cannot be seen stand as \uXXXX, which means the same to whoever parses the text.
 *
 * Thread rules: pure.
 */
#ifndef CLI_LIB_JSON_SHOWN_H
#define CLI_LIB_JSON_SHOWN_H

#include <jansson.h>
#include <stddef.h>

/* The text of a document, with jansson's flags of json_dumps(); free() it. NULL: there is no memory,
 * or root is NULL. */
char *json_shown(const json_t *root, size_t flags);

#endif

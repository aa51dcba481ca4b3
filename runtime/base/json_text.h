/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON documents from texts and to texts, where memory may end.
 *
 * jansson (2.14) has no error for it: json_loadb() gives an empty one, or takes the token that it
 * could not keep for a mistake in the text, and json_dumps() leaves out a key that it has no room
 * for and goes on. Here a document or a text is whole, or there is none.
 *
 * Thread rules: none but the document's.
 */
#ifndef RUNTIME_BASE_JSON_TEXT_H
#define RUNTIME_BASE_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"

/* Bytes of what json_fault_text() says, with its end. */
#define JSON_FAULT_MAX 160

/* What is wrong with a text that jansson refused with `why`, in words that name no flag of jansson;
 * those are `words`, or constant. */
const char *json_fault_text(const json_error_t *why, const char *text, size_t size,
                            char words[JSON_FAULT_MAX]);

/* Whether the text is no JSON at all, or no whole one. */
bool json_fault_is_syntax(const json_error_t *why);

/* Parses a text that was read from `place`, with jansson's JSON_ flags, into *root (json_decref
 * it). TR_EFORMAT: what stands where, which may be a lack of memory too; TR_ENOMEM. *root is NULL
 * then. */
int json_read_text(const char *place, const char *text, size_t size, size_t flags, json_t **root,
                   struct error *error);

/* The text of a document; free() it. NULL: there is no memory, or root is NULL. */
char *json_write_text(const json_t *root, size_t flags);

#endif

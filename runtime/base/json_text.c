/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/json_text.h"

#include <stdlib.h>

int json_read_text(const char *place, const char *text, size_t size, size_t flags, json_t **root,
                   struct error *error)
{
    json_error_t why;
    *root = json_loadb(text, size, flags, &why);
    if (*root != NULL)
        return 0;
    /* Each mistake in a text has an error text. */
    if (why.text[0] == '\0')
        return error_set(error, TR_ENOMEM, "%s: no memory to read it", place);
    return error_set(error, TR_EFORMAT, "%s: line %d, column %d: %s", place, why.line, why.column,
                     why.text);
}

char *json_write_text(const json_t *root, size_t flags)
{
    /* The text is measured first: into a buffer that is large enough jansson writes without
     * allocating, so no key is left out. */
    size_t size = root == NULL ? 0 : json_dumpb(root, NULL, 0, flags);
    char *text = size == 0 ? NULL : malloc(size + 1);
    if (text != NULL && json_dumpb(root, text, size, flags) != size) {
        free(text);
        return NULL;
    }
    if (text != NULL)
        text[size] = '\0';
    return text;
}

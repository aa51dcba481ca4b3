/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/web/live_files.h"

#include <string.h>

#include "launch/web/live_files_generated.h"

static const struct live_file FILES[] = {
    { "/", "text/html; charset=utf-8", live_page_html, sizeof live_page_html },
    { "/live_page.css", "text/css; charset=utf-8", live_page_css, sizeof live_page_css },
    { "/live_page.js", "text/javascript; charset=utf-8", live_page_js, sizeof live_page_js },
    { "/live_draw.js", "text/javascript; charset=utf-8", live_draw_js, sizeof live_draw_js },
};

const struct live_file *live_file_find(const char *path)
{
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        if (strcmp(FILES[i].path, path) == 0)
            return &FILES[i];
    return NULL;
}

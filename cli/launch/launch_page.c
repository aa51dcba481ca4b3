/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf */

#include "cli/launch/launch_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int serve_page(struct launch_page *page, const struct tr_launch_info *info, const char *log,
                      struct tr_error *error)
{
    struct tr_observer_options observing = TR_OBSERVER_OPTIONS_INIT;
    struct tr_live_page_options options = TR_LIVE_PAGE_OPTIONS_INIT;
    char port[16];
    observing.cluster = info->cluster;
    observing.graph = info->graph;
    observing.shared_key = info->shared_key;
    int rv = tr_observer_open(&observing, 0, &page->observer, error);
    if (rv != 0)
        return rv;
    snprintf(port, sizeof port, "%d", (int)info->page_port);
    options.address = port;
    options.log = log;
    options.run = info->run;
    return tr_live_page_open(page->observer, &options, &page->page, error);
}

/* A new file, so that its mode holds from the first byte on, and nobody has it open already. */
static int write_url(struct launch_page *page, const char *log, struct tr_error *error)
{
    if (asprintf(&page->url_path, "%s.page", log) < 0) {
        page->url_path = NULL;
        return tr_error_set(error, TR_ENOMEM, "no memory for the path of its URL");
    }
    (void)unlink(page->url_path);
    int fd = open(page->url_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool written = fd >= 0 && dprintf(fd, "%s\n", tr_live_page_url(page->page)) > 0;
    int rv = written ? 0
                     : tr_error_set(error, TR_EIO, "%s: cannot write its URL: %s", page->url_path,
                                    strerror(errno));
    if (fd >= 0) {
        close(fd);
    } else { /* what has that name is not ours to remove */
        free(page->url_path);
        page->url_path = NULL;
    }
    return rv;
}

void launch_page_open(struct launch_page *page, const struct tr_launch_info *info, const char *log)
{
    struct tr_error error = TR_ERROR_INIT;
    *page = (struct launch_page){ 0 };
    if (info->page_port < 0)
        return;
    if (serve_page(page, info, log, &error) != 0) {
        fprintf(stderr, "troupe launch: the job goes on without its live page: %s\n",
                error.message);
        launch_page_close(page);
        return;
    }
    fprintf(stderr, "troupe launch: the live page is at %s\n", tr_live_page_url(page->page));
    if (log != NULL && write_url(page, log, &error) != 0)
        fprintf(stderr, "troupe launch: the live page is served, but its URL is in no file: %s\n",
                error.message);
}

void launch_page_close(struct launch_page *page)
{
    if (page->url_path != NULL)
        (void)unlink(page->url_path);
    free(page->url_path);
    tr_live_page_close(page->page);
    tr_observer_close(page->observer);
    *page = (struct launch_page){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live page that a cluster file asks its launcher for ("page"): served by this process as long as
 * it runs the job.
 *
 * Its URL has a token, so it is written to no log: to the standard error and, where the job has a log
 * FILE, to FILE.page, which this user alone may read and which goes with the page.
 *
 * Ownership: launch_page_close ends it; a zeroed struct is no page. Thread rules: the main thread.
 */
#ifndef CLI_LAUNCH_LAUNCH_PAGE_H
#define CLI_LAUNCH_LAUNCH_PAGE_H

#include <troupe/launch.h>
#include <troupe/observe.h>

struct launch_page {
    struct tr_observer *observer;
    struct tr_live_page *page; /* NULL: none is served */
    char *url_path;            /* of FILE.page; NULL: there is none */
};

/* log: NULL where there is none. A page that cannot be served is a warning: the job goes on without. */
void launch_page_open(struct launch_page *page, const struct tr_launch_info *info, const char *log);
/* Once all processes have ended, and how is written: browsers see it before the page ends. */
void launch_page_close(struct launch_page *page);

#endif

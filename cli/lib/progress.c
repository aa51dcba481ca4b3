/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/progress.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include <troupe/text.h>

/* A terminal is redrawn ten times a second: smooth to the eye, nothing beside the work. */
#define REDRAW_NS UINT64_C(100000000)
/* While nothing is counted the clock alone moves, which shows seconds. */
#define STANDING_REDRAW_NS UINT64_C(1000000000)
/* Elsewhere a line each five seconds: an hour's log stays under a thousand lines. */
#define LINE_NS UINT64_C(5000000000)
#define STANDING_LINE_NS UINT64_C(10000000000)
#define BAR_CELLS 24

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void progress_init(struct progress *progress, bool quiet)
{
    memset(progress, 0, sizeof *progress);
    progress->out = stderr;
    progress->quiet = quiet;
    progress->terminal = isatty(STDERR_FILENO);
}

void progress_begin(struct progress *progress, const char *label, const char *unit, uint64_t total)
{
    progress_end(progress);
    snprintf(progress->label, sizeof progress->label, "%s", label);
    snprintf(progress->unit, sizeof progress->unit, "%s", unit);
    progress->total = total;
    progress->done = 0;
    progress->begin_ns = now_ns();
    progress->shown_ns = 0;
    progress->shown_done = 0;
    progress->running = true;
}

static void draw_bar(const struct progress *progress, double share)
{
    char bar[BAR_CELLS + 1];
    int filled = (int)(share * BAR_CELLS);
    memset(bar, '#', (size_t)filled);
    memset(bar + filled, '.', (size_t)(BAR_CELLS - filled));
    bar[BAR_CELLS] = '\0';
    fprintf(progress->out, " [%s]", bar);
}

/* A slow piece does less than one a second: 0.40, not 0. */
static char *rate_text(char *text, double rate)
{
    if (rate >= 10 || rate == 0)
        return tr_text_count(text, rate);
    snprintf(text, TR_TEXT_QUANTITY_MAX, "%.2g", rate);
    return text;
}

static void show(struct progress *progress, uint64_t now, bool ended)
{
    double seconds = (double)(now - progress->begin_ns) * 1e-9;
    double rate = seconds > 0 ? (double)progress->done / seconds : 0;
    char text[TR_TEXT_QUANTITY_MAX];
    fprintf(progress->out, "%s%s", progress->terminal ? "\r\033[K" : "", progress->label);
    if (progress->total > 0) {
        double share = (double)progress->done / (double)progress->total;
        share = share > 1 ? 1 : share;
        if (progress->terminal)
            draw_bar(progress, share);
        fprintf(progress->out, " %3.0f%%", share * 100);
    }
    if (progress->unit[0] != '\0')
        fprintf(progress->out, " %s %s/s", rate_text(text, rate), progress->unit);
    fprintf(progress->out, ", %s", tr_text_seconds(text, seconds));
    if (!ended && progress->done < progress->total && rate > 0)
        fprintf(progress->out, ", %s left",
                tr_text_seconds(text, (double)(progress->total - progress->done) / rate));
    if (!progress->terminal)
        fputc('\n', progress->out);
    fflush(progress->out);
    progress->shown_ns = now;
    progress->shown_done = progress->done;
}

/* How long what is shown may stand. */
static uint64_t show_every(const struct progress *progress)
{
    bool moved = progress->done != progress->shown_done;
    if (progress->terminal)
        return moved ? REDRAW_NS : STANDING_REDRAW_NS;
    return moved ? LINE_NS : STANDING_LINE_NS;
}

void progress_update(struct progress *progress, uint64_t done)
{
    progress->done = done;
    if (progress->quiet || !progress->running)
        return;
    uint64_t now = now_ns();
    uint64_t last = progress->shown_ns != 0 ? progress->shown_ns : progress->begin_ns;
    if (now - last >= show_every(progress))
        show(progress, now, false);
}

void progress_end(struct progress *progress)
{
    if (progress->running && !progress->quiet && progress->shown_ns != 0) {
        show(progress, now_ns(), true);
        if (progress->terminal)
            fputc('\n', progress->out);
    }
    progress->running = false;
}

void progress_step(struct progress *progress, const char *label, const char *unit, uint64_t done,
                   uint64_t total)
{
    bool other = strncmp(progress->label, label, sizeof progress->label - 1) != 0;
    /* The next piece begins when this one is finished, and its beginning shows the end of this. */
    if (progress->running && other && progress->total > 0)
        progress->done = progress->total;
    if (!progress->running || other)
        progress_begin(progress, label, unit, total);
    progress->total = total;
    progress_update(progress, done);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/report/line_chart.h"

#include <math.h>
#include <stdio.h>

#include <troupe/text.h>

/* The chart in its own units; a browser scales it. */
#define WIDTH 420
#define HEIGHT 270
#define LEFT 58
#define RIGHT 408
#define TOP 12
#define BOTTOM 222
/* Columns by which long lines are thinned: a point is then narrower than the line. */
#define COLUMNS 175
#define TICKS 5

/* Light and dark; each has a contrast of 3 or more with its background (tests/cli/test_html.c). */
static const char *const LIGHT[LINE_COLOURS] = { "#0058a3", "#b8420f", "#00704e", "#8a3ab0",
                                                 "#8a6100", "#c2185b", "#006b84", "#4a4f57" };
static const char *const DARK[LINE_COLOURS] = { "#6cb2ff", "#ff9d6e", "#4fd1a1", "#d09cf0",
                                                "#e8c14a", "#ff8fb8", "#56cfe1", "#c3c8cf" };
static const char *const DASHES[LINE_DASHES] = { "none", "8 4", "2 3", "10 3 2 3" };

void line_chart_write_style(struct html *html)
{
    html_markup(html, ":root{");
    for (int i = 0; i < LINE_COLOURS; i++)
        html_print(html, "--c%d:%s;", i, LIGHT[i]);
    html_markup(html, "}@media (prefers-color-scheme:dark){:root{");
    for (int i = 0; i < LINE_COLOURS; i++)
        html_print(html, "--c%d:%s;", i, DARK[i]);
    html_markup(html, "}}\n");
    for (int i = 0; i < LINE_COLOURS; i++)
        html_print(html, ".c%d{stroke:var(--c%d)}.f%d{fill:var(--c%d)}", i, i, i, i);
    for (int i = 0; i < LINE_DASHES; i++)
        html_print(html, ".d%d{stroke-dasharray:%s}", i, DASHES[i]);
    html_markup(html, "\n.line{fill:none;stroke-width:2;stroke-linejoin:round}"
                      ".grid{stroke:var(--line);stroke-width:1}"
                      ".axis{fill:var(--muted);font-size:13px}\n");
}

/* Neighbours differ by colour and by dash; all combinations come before one is used again. */
static size_t colour_of(size_t number)
{
    return number % LINE_COLOURS;
}

static size_t dash_of(size_t number)
{
    return (number + number / LINE_COLOURS) % LINE_DASHES;
}

void line_chart_write_sample(struct html *html, size_t number)
{
    html_print(html,
               "<svg class=\"sample\" viewBox=\"0 0 44 12\" aria-hidden=\"true\"><path "
               "class=\"line c%zu d%zu\" d=\"M1 6H43\"/></svg>",
               colour_of(number), dash_of(number));
}

struct chart_axis {
    double low, high, step;
    double begin, end; /* of the chart, in its units */
};

static double axis_place(const struct chart_axis *axis, double value)
{
    return axis->begin + (value - axis->low) / (axis->high - axis->low) * (axis->end - axis->begin);
}

/* Ticks of an axis are few whatever the numbers are; this also ends a loop over them. */
#define TICKS_MAX 16
/* What is closer together than that, by its own size or at all, is one number. */
#define NEAR_RELATIVE 1e-9
#define NEAR_ABSOLUTE 1e-290

/* Round steps (1, 2 or 5 times a power of ten) around what is drawn. */
static void axis_round(struct chart_axis *axis)
{
    double size = fmax(fabs(axis->low), fabs(axis->high));
    if (!(axis->high - axis->low > fmax(size * NEAR_RELATIVE, NEAR_ABSOLUTE))) {
        double around = size > NEAR_ABSOLUTE ? size / 2 : 0.5;
        axis->low -= around;
        axis->high += around;
    }
    double rough = (axis->high - axis->low) / TICKS;
    double power = pow(10, floor(log10(rough)));
    double times = rough / power;
    axis->step = power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
    axis->low = floor(axis->low / axis->step) * axis->step;
    axis->high = ceil(axis->high / axis->step) * axis->step;
}

static bool axis_tick(const struct chart_axis *axis, int number, double *value)
{
    *value = axis->low + number * axis->step;
    return number < TICKS_MAX && *value <= axis->high + axis->step / 2;
}

static bool is_drawn(double x, double y)
{
    /* What is larger than that is of a model that diverged, and has no round steps in a double. */
    return fabs(x) < 1e300 && fabs(y) < 1e300;
}

/* Whether there is anything to draw. */
static bool find_axes(const struct line_chart *chart, struct chart_axis *x, struct chart_axis *y)
{
    bool any = false;
    for (size_t l = 0; l < chart->num_lines; l++) {
        const struct chart_line *line = &chart->lines[l];
        for (size_t i = 0; i < line->count; i++) {
            if (!is_drawn(line->x[i], line->y[i]))
                continue;
            x->low = any ? fmin(x->low, line->x[i]) : line->x[i];
            x->high = any ? fmax(x->high, line->x[i]) : line->x[i];
            y->low = any ? fmin(y->low, line->y[i]) : line->y[i];
            y->high = any ? fmax(y->high, line->y[i]) : line->y[i];
            any = true;
        }
    }
    /* Steps and seconds are counted from 0. */
    x->low = fmin(x->low, 0);
    if (any) {
        axis_round(x);
        axis_round(y);
    }
    return any;
}

static const char *tick_text(char *text, double value, double step)
{
    if (fabs(value) < step / 2)
        value = 0;
    if (fabs(value) >= 10000)
        return value > 0 ? tr_text_count(text, value)
                         : (snprintf(text, TR_TEXT_QUANTITY_MAX, "%.3g", value), text);
    snprintf(text, TR_TEXT_QUANTITY_MAX, "%.4g", value);
    return text;
}

static void write_axes(struct html *html, const struct line_chart *chart,
                       const struct chart_axis *x, const struct chart_axis *y)
{
    char text[TR_TEXT_QUANTITY_MAX];
    double value;
    for (int i = 0; axis_tick(y, i, &value); i++) {
        double at = axis_place(y, value);
        html_print(html, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, at, RIGHT);
        html_print(html, "<text class=\"axis\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                   LEFT - 6, at + 4, tick_text(text, value, y->step));
    }
    for (int i = 0; axis_tick(x, i, &value); i++) {
        double at = axis_place(x, value);
        html_print(html, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>", at, TOP, BOTTOM);
        /* The last number ends where the chart does, so that none is cut. */
        html_print(html, "<text class=\"axis\" x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
                   at > RIGHT - 12 ? WIDTH - 2 : at, BOTTOM + 17,
                   at > RIGHT - 12 ? "end" : "middle", tick_text(text, value, x->step));
    }
    html_print(html, "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
               (LEFT + RIGHT) / 2, HEIGHT - 10);
    html_text(html, chart->x_label);
    html_markup(html, "</text>\n");
}

struct line_pen {
    struct html *html;
    const struct chart_axis *x, *y;
    size_t points;
    double last_x, last_y;
};

static void pen_move(struct line_pen *pen, double x, double y)
{
    html_print(pen->html, "%s%.1f %.1f", pen->points == 0 ? "M" : "L", axis_place(pen->x, x),
               axis_place(pen->y, y));
    pen->points++;
    pen->last_x = x;
    pen->last_y = y;
}

/* The points of a line that fall in one column of the chart. */
struct line_column {
    size_t first, lowest, highest, last;
    long number; /* -1: none yet */
};

static void column_draw(struct line_pen *pen, const struct chart_line *line,
                        const struct line_column *column)
{
    size_t order[4] = { column->first,
                        column->lowest < column->highest ? column->lowest : column->highest,
                        column->lowest < column->highest ? column->highest : column->lowest,
                        column->last };
    if (column->number < 0)
        return;
    for (int i = 0; i < 4; i++)
        if (i == 0 || order[i] != order[i - 1])
            pen_move(pen, line->x[order[i]], line->y[order[i]]);
}

static void draw_points(struct line_pen *pen, const struct chart_line *line)
{
    struct line_column column = { .number = -1 };
    bool thin = line->count > 2 * COLUMNS;
    for (size_t i = 0; i < line->count; i++) {
        if (!is_drawn(line->x[i], line->y[i]))
            continue;
        long number = (long)((axis_place(pen->x, line->x[i]) - LEFT) / (RIGHT - LEFT) * COLUMNS);
        if (!thin || number != column.number) {
            column_draw(pen, line, &column);
            column = (struct line_column){ i, i, i, i, number };
            continue;
        }
        column.last = i;
        if (line->y[i] < line->y[column.lowest])
            column.lowest = i;
        if (line->y[i] > line->y[column.highest])
            column.highest = i;
    }
    column_draw(pen, line, &column);
}

static void draw_line(struct html *html, const struct chart_line *line, size_t number,
                      const struct chart_axis *x, const struct chart_axis *y)
{
    struct line_pen pen = { .html = html, .x = x, .y = y };
    html_print(html, "<path class=\"line c%zu d%zu\" d=\"", colour_of(number), dash_of(number));
    draw_points(&pen, line);
    html_markup(html, "\"/>");
    /* A line of one point is not seen otherwise. */
    if (pen.points > 0)
        html_print(html, "<circle class=\"f%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n",
                   colour_of(number), axis_place(x, pen.last_x), axis_place(y, pen.last_y));
}

/* What a reader without eyes for the picture is given of a line. */
static void describe_line(struct html *html, const struct chart_line *line)
{
    size_t first = line->count, last = line->count;
    for (size_t i = 0; i < line->count; i++) {
        if (!is_drawn(line->x[i], line->y[i]))
            continue;
        first = first == line->count ? i : first;
        last = i;
    }
    if (first == line->count)
        return;
    html_text(html, line->name);
    html_print(html, ": from %.4g to %.4g. ", line->y[first], line->y[last]);
}

void line_chart_write(struct html *html, const struct line_chart *chart)
{
    struct chart_axis x = { .begin = LEFT, .end = RIGHT }, y = { .begin = BOTTOM, .end = TOP };
    html_markup(html, "<figure><figcaption>");
    html_text(html, chart->title);
    html_markup(html, "</figcaption>\n");
    if (!find_axes(chart, &x, &y)) {
        html_markup(html, "<p>No run has such numbers.</p></figure>\n");
        return;
    }
    html_print(html,
               "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-t %s-d\">"
               "<title id=\"%s-t\">",
               WIDTH, HEIGHT, chart->id, chart->id, chart->id);
    html_text(html, chart->title);
    html_print(html, "</title><desc id=\"%s-d\">", chart->id);
    for (size_t l = 0; l < chart->num_lines; l++)
        describe_line(html, &chart->lines[l]);
    html_markup(html, "</desc>\n");
    write_axes(html, chart, &x, &y);
    for (size_t l = 0; l < chart->num_lines; l++)
        draw_line(html, &chart->lines[l], l, &x, &y);
    html_markup(html, "</svg></figure>\n");
}

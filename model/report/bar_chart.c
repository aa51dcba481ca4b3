/* SPDX-License-Identifier: Apache-2.0 */
#include "model/report/bar_chart.h"

#include <troupe/text.h>

#define WIDTH 420
#define LEFT 40
#define RIGHT 296 /* numbers stand in a column behind the bars and the line of their mean */
#define ROW 20
#define THICK 13
/* Larger numbers are shown by three digits: all of them would reach into the bars. */
#define DIGITS_SHOWN_BELOW UINT64_C(1000000000000)

void bar_chart_write_style(struct html *html)
{
    html_markup(html, ".mean{stroke:var(--fg);stroke-width:1.5;stroke-dasharray:4 3}\n");
}

/* Also of counts that no double has: a bar is a picture. */
static double bar_length(uint64_t value, uint64_t largest)
{
    return largest == 0 ? 0 : (double)value / (double)largest * (RIGHT - LEFT);
}

static void write_bar(struct html *html, const struct bar_chart *chart, size_t number,
                      uint64_t largest)
{
    char text[TR_TEXT_QUANTITY_MAX];
    uint64_t value = chart->values[number];
    size_t top = number * ROW + 4;
    double length = bar_length(value, largest);
    html_print(html,
               "<text class=\"axis\" x=\"%d\" y=\"%zu\" text-anchor=\"end\">%zu</text><rect "
               "class=\"f%zu\" x=\"%d\" y=\"%zu\" width=\"%.1f\" height=\"%d\"/>",
               LEFT - 6, top + 11, number, chart->colour, LEFT, top, length, THICK);
    html_print(html, "<text class=\"axis\" x=\"%d\" y=\"%zu\" text-anchor=\"end\">%s</text>\n",
               WIDTH - 4, top + 11,
               value < DIGITS_SHOWN_BELOW ? tr_text_whole(text, value)
                                          : tr_text_count(text, (double)value));
}

void bar_chart_write(struct html *html, const struct bar_chart *chart)
{
    size_t shown = chart->num_values < BARS_MAX ? chart->num_values : BARS_MAX;
    uint64_t largest = 0;
    double sum = 0;
    for (size_t i = 0; i < chart->num_values; i++) {
        largest = chart->values[i] > largest ? chart->values[i] : largest;
        sum += (double)chart->values[i];
    }
    html_markup(html, "<figure><figcaption>");
    html_text(html, chart->title);
    html_print(html,
               "</figcaption>\n<svg viewBox=\"0 0 %d %zu\" role=\"img\" "
               "aria-labelledby=\"%s-t\"><title id=\"%s-t\">",
               WIDTH, shown * ROW + 8, chart->id, chart->id);
    html_text(html, chart->title);
    html_print(html, ", a bar for each of %zu partitions; the dashed line is the mean</title>\n",
               shown);
    for (size_t i = 0; i < shown; i++)
        write_bar(html, chart, i, largest);
    if (largest > 0)
        html_print(html, "<path class=\"mean\" d=\"M%.1f 0V%zu\"/>",
                   LEFT + sum / (double)chart->num_values / (double)largest * (RIGHT - LEFT),
                   shown * ROW + 8);
    html_markup(html, "</svg></figure>\n");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/sparkline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LEVELS 8

static const char *const BLOCKS[LEVELS] = { "\u2581", "\u2582", "\u2583", "\u2584",
                                            "\u2585", "\u2586", "\u2587", "\u2588" };
static const char *const PLAIN[LEVELS] = { "_", ".", ",", "-", "=", "+", "*", "#" };

/* One column's mean; halves keep sums of the largest numbers finite. */
struct spark_column {
    double mean;
    size_t count;
};

static size_t count_finite(const double *values, size_t count)
{
    size_t finite = 0;
    for (size_t i = 0; i < count; i++)
        finite += isfinite(values[i]) != 0;
    return finite;
}

/* Deals the finite numbers out to the columns in their order; returns how many columns there are. */
static size_t fill_columns(struct spark_column *columns, const double *values, size_t count,
                           size_t finite)
{
    size_t used = finite < SPARKLINE_COLUMNS ? finite : SPARKLINE_COLUMNS, place = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        struct spark_column *column = &columns[place++ * used / finite];
        column->count++;
        column->mean += (values[i] - column->mean) / (double)column->count;
    }
    return used;
}

static int find_level(double value, double low, double high)
{
    double share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0;
    int level = (int)(share * LEVELS);
    return level < LEVELS ? level : LEVELS - 1;
}

bool sparkline_write(char *text, const double *values, size_t count, bool utf8)
{
    struct spark_column columns[SPARKLINE_COLUMNS] = { { 0 } };
    size_t finite = count_finite(values, count);
    text[0] = '\0';
    if (finite < 2)
        return false;
    size_t used = fill_columns(columns, values, count, finite);
    double low = columns[0].mean, high = low, first = (double)NAN, last = first;
    for (size_t c = 0; c < used; c++) {
        low = fmin(low, columns[c].mean);
        high = fmax(high, columns[c].mean);
    }
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i])) {
            first = isfinite(first) ? first : values[i];
            last = values[i];
        }
    }
    size_t at = (size_t)snprintf(text, SPARKLINE_TEXT_MAX, "%.4g ", first);
    for (size_t c = 0; c < used; c++) {
        int level = find_level(columns[c].mean, low, high);
        at += (size_t)snprintf(text + at, SPARKLINE_TEXT_MAX - at, "%s",
                               utf8 ? BLOCKS[level] : PLAIN[level]);
    }
    snprintf(text + at, SPARKLINE_TEXT_MAX - at, " %.4g", last);
    return true;
}

bool sparkline_has_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    /* The first that is set decides, as in setlocale(3). */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value == NULL || value[0] == '\0')
            continue;
        const char *dot = strchr(value, '.');
        return dot != NULL &&
               (strncasecmp(dot + 1, "utf-8", 5) == 0 || strncasecmp(dot + 1, "utf8", 4) == 0);
    }
    return false;
}

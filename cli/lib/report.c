/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/text.h>

#include "cli/lib/json_shown.h"

void report_init(struct report *report, bool json)
{
    memset(report, 0, sizeof *report);
    report->json = json;
    report->object = json_object();
    report->failed = report->object == NULL;
}

void report_fini(struct report *report)
{
    for (uint32_t i = 0; i < report->num_fields; i++) {
        free(report->fields[i].label);
        free(report->fields[i].text);
    }
    free(report->fields);
    json_decref(report->object);
    memset(report, 0, sizeof *report);
}

static bool report_reserve(struct report *report)
{
    if (report->num_fields < report->max_fields)
        return true;
    uint32_t wanted = report->max_fields == 0 ? 32 : report->max_fields * 2;
    struct report_field *fields = realloc(report->fields, wanted * sizeof *fields);
    if (fields == NULL)
        return false;
    report->fields = fields;
    report->max_fields = wanted;
    return true;
}

/* Bytes of a character of UTF-8 that a terminal would follow: a control character, also of U+0080 to
 * U+009F, or one that turns the direction of writing, ends a line or cannot be seen; 0: it may be
 * shown. */
static size_t steering_bytes(const unsigned char *at)
{
    if (at[0] < ' ' || at[0] == 0x7f)
        return 1;
    if ((at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) || (at[0] == 0xd8 && at[1] == 0x9c))
        return 2;
    if (at[0] == 0xe2 && at[1] == 0x80 &&
        (at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae)))
        return 3;
    if (at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9)
        return 3;
    return at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf ? 3 : 0;
}

/* A name may hold anything. */
static void field_make_printable(struct report_field *field)
{
    unsigned char *at = (unsigned char *)field->text;
    while (at != NULL && *at != '\0') {
        size_t bytes = steering_bytes(at);
        memset(at, '?', bytes);
        at += bytes > 0 ? bytes : 1;
    }
}

/* Takes value, whatever the result. */
static void report_add(struct report *report, const char *key, const char *label, const char *text,
                       bool number, json_t *value)
{
    json_t *owner = report->row != NULL ? report->row : report->object;
    if (value == NULL || owner == NULL || json_object_set_new(owner, key, value) != 0 ||
        !report_reserve(report)) {
        report->failed = true;
        return;
    }
    struct report_field *field = &report->fields[report->num_fields++];
    field->label = strdup(label);
    field->text = strdup(text);
    field_make_printable(field);
    field->row = report->row != NULL ? report->rows : 0;
    field->number = number;
    report->failed |= field->label == NULL || field->text == NULL;
}

void report_text(struct report *report, const char *key, const char *label, const char *text)
{
    /* A path need not be UTF-8, JSON must: such a text is given as far as it can be. */
    json_t *value = json_string(text);
    report_add(report, key, label, text, false, value != NULL ? value : json_string("(not UTF-8)"));
}

void report_absent(struct report *report, const char *key, const char *label)
{
    report_add(report, key, label, "-", true, json_null());
}

void report_flag(struct report *report, const char *key, const char *label, bool flag)
{
    report_add(report, key, label, flag ? "yes" : "no", false, json_boolean(flag));
}

void report_count(struct report *report, const char *key, const char *label, uint64_t count)
{
    char text[TR_TEXT_QUANTITY_MAX];
    report_add(report, key, label, tr_text_whole(text, count), true,
               json_integer((json_int_t)count));
}

void report_counts(struct report *report, const char *key, const char *label,
                   const uint64_t *counts, uint32_t num_counts)
{
    char text[256];
    json_t *array = json_array();
    size_t at = (size_t)snprintf(text, sizeof text, "[");
    for (uint32_t i = 0; i < num_counts; i++) {
        report->failed |= json_array_append_new(array, json_integer((json_int_t)counts[i])) != 0;
        /* A list too long for a line of text is cut there, not in JSON. */
        if (at < sizeof text - 1)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRIu64, i == 0 ? "" : ",",
                                   counts[i]);
    }
    if (at < sizeof text - 1)
        snprintf(text + at, sizeof text - at, "]");
    report_add(report, key, label, text, false, array);
}

void report_cells(struct report *report, const char *key, const char *label, const uint64_t *counts,
                  uint32_t num_counts)
{
    char text[256] = "";
    json_t *cells = json_array();
    size_t at = 0;
    for (uint32_t i = 0; i < num_counts; i++) {
        if (counts[i] == 0)
            continue;
        json_t *cell = json_pack("[I, I]", (json_int_t)i, (json_int_t)counts[i]);
        report->failed |= json_array_append_new(cells, cell) != 0;
        /* Cells that are too many for a line of text are cut there, not in JSON. */
        if (at < sizeof text - 1)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRIu32 ": %" PRIu64,
                                   at == 0 ? "" : ", ", i, counts[i]);
    }
    report_add(report, key, label, text, false, cells);
}

void report_bytes(struct report *report, const char *key, const char *label, uint64_t bytes)
{
    char text[TR_TEXT_QUANTITY_MAX];
    report_add(report, key, label, tr_text_bytes(text, bytes), true,
               json_integer((json_int_t)bytes));
}

void report_seconds(struct report *report, const char *key, const char *label, double seconds)
{
    char text[TR_TEXT_QUANTITY_MAX];
    report_add(report, key, label, tr_text_seconds(text, seconds), true, json_real(seconds));
}

void report_real(struct report *report, const char *key, const char *label, double number)
{
    char text[TR_TEXT_QUANTITY_MAX];
    snprintf(text, sizeof text, "%.4g", number);
    /* JSON has no NaN: an absent figure is null. */
    json_t *value = json_real(number);
    report_add(report, key, label, text, true, value != NULL ? value : json_null());
}

void report_share(struct report *report, const char *key, const char *label, double share)
{
    char text[TR_TEXT_QUANTITY_MAX];
    snprintf(text, sizeof text, "%.2f %%", share * 100);
    json_t *value = json_real(share);
    report_add(report, key, label, text, true, value != NULL ? value : json_null());
}

void report_row(struct report *report, const char *key)
{
    json_t *rows = json_object_get(report->object, key);
    if (rows == NULL) {
        rows = json_array();
        if (json_object_set_new(report->object, key, rows) != 0)
            rows = NULL;
    }
    json_t *row = json_object();
    if (rows == NULL || row == NULL || json_array_append_new(rows, row) != 0)
        report->failed = true;
    else
        report->row = row;
    report->rows++;
}

void report_rows_end(struct report *report)
{
    report->row = NULL;
}

/* In characters, which UTF-8 has of up to four bytes. */
static int report_width(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* The bytes of a text beyond its characters, which printf() counts where it pads. */
static int report_surplus(const char *text)
{
    return (int)strlen(text) - report_width(text);
}

static void print_lines(const struct report_field *fields, uint32_t count)
{
    int label_width = 0;
    for (uint32_t i = 0; i < count; i++)
        if (report_width(fields[i].label) > label_width)
            label_width = report_width(fields[i].label);
    for (uint32_t i = 0; i < count; i++)
        printf("%-*s  %s\n", label_width + report_surplus(fields[i].label), fields[i].label,
               fields[i].text);
}

static uint32_t row_length(const struct report_field *fields, uint32_t count)
{
    uint32_t length = 0;
    while (length < count && fields[length].row == fields[0].row)
        length++;
    return length;
}

static void print_cells(const struct report_field *fields, const int *widths, uint32_t columns,
                        bool labels)
{
    for (uint32_t c = 0; c < columns; c++) {
        const char *text = labels ? fields[c].label : fields[c].text;
        int cell = widths[c] + report_surplus(text);
        cell = fields[c].number ? cell : c + 1 < columns ? -cell : 0;
        printf("%s%*s", c == 0 ? "" : "  ", cell, text);
    }
    putchar('\n');
}

/* Fields of whole rows, each with the labels of the first. */
static void print_table(const struct report_field *fields, uint32_t count)
{
    enum { COLUMNS_MAX = 32 };
    int widths[COLUMNS_MAX];
    uint32_t columns = row_length(fields, count);
    if (columns > COLUMNS_MAX)
        columns = COLUMNS_MAX;
    for (uint32_t c = 0; c < columns; c++) {
        widths[c] = report_width(fields[c].label);
        for (uint32_t i = c; i < count; i += columns)
            if (report_width(fields[i].text) > widths[c])
                widths[c] = report_width(fields[i].text);
    }
    print_cells(fields, widths, columns, true);
    for (uint32_t i = 0; i + columns <= count; i += columns)
        print_cells(fields + i, widths, columns, false);
}

static bool same_shape(const struct report_field *a, const struct report_field *b, uint32_t columns)
{
    for (uint32_t c = 0; c < columns; c++)
        if (strcmp(a[c].label, b[c].label) != 0)
            return false;
    return true;
}

/* How many fields from the start belong to rows of one table. */
static uint32_t table_length(const struct report_field *fields, uint32_t count)
{
    uint32_t columns = row_length(fields, count);
    uint32_t length = columns;
    while (length < count && fields[length].row != 0 &&
           row_length(fields + length, count - length) == columns &&
           same_shape(fields, fields + length, columns))
        length += columns;
    return length;
}

static void print_human(const struct report *report)
{
    for (uint32_t i = 0; i < report->num_fields;) {
        const struct report_field *fields = report->fields + i;
        uint32_t left = report->num_fields - i;
        if (fields->row == 0) {
            uint32_t length = row_length(fields, left);
            if (i > 0)
                putchar('\n');
            print_lines(fields, length);
            i += length;
        } else {
            uint32_t length = table_length(fields, left);
            if (i > 0)
                putchar('\n');
            print_table(fields, length);
            i += length;
        }
    }
}

int report_print(struct report *report, struct tr_error *error)
{
    int rc = 0;
    if (report->failed) {
        rc = tr_error_set(error, TR_ENOMEM, "out of memory while writing the results");
        goto out;
    }
    if (report->json) {
        char *text = json_shown(report->object, JSON_COMPACT | JSON_REAL_PRECISION(9));
        if (text == NULL) {
            rc = tr_error_set(error, TR_ENOMEM, "out of memory while writing the results");
            goto out;
        }
        puts(text);
        free(text);
    } else {
        print_human(report);
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        rc = tr_error_set(error, errno == ENOSPC ? TR_ENOSPC : TR_EIO,
                          "cannot write the results to the standard output: %s", strerror(errno));
out:
    report_fini(report);
    return rc;
}

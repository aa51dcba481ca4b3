/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/option_value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *suffix;
    uint64_t factor;
};

static const struct unit COUNT_UNITS[] = { { "", 1 },        { "k", 1000 },       { "K", 1000 },
                                           { "M", 1000000 }, { "G", 1000000000 }, { NULL, 0 } };
static const struct unit BYTE_UNITS[] = { { "", 1 },
                                          { "B", 1 },
                                          { "KiB", UINT64_C(1) << 10 },
                                          { "MiB", UINT64_C(1) << 20 },
                                          { "GiB", UINT64_C(1) << 30 },
                                          { "TiB", UINT64_C(1) << 40 },
                                          { NULL, 0 } };

static const struct unit *find_unit(const struct unit *units, const char *suffix, size_t length)
{
    for (; units->suffix != NULL; units++)
        if (strlen(units->suffix) == length && memcmp(units->suffix, suffix, length) == 0)
            return units;
    return NULL;
}

/* Digits and a unit, up to a comma or the end; false for anything else, or more than 64 bits. */
static bool read_whole(const char *text, size_t length, const struct unit *units, uint64_t *out)
{
    size_t digits = 0;
    uint64_t number = 0;
    for (; digits < length && text[digits] >= '0' && text[digits] <= '9'; digits++) {
        if (__builtin_mul_overflow(number, (uint64_t)10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text[digits] - '0'), &number))
            return false;
    }
    const struct unit *unit = find_unit(units, text + digits, length - digits);
    return digits > 0 && unit != NULL && !__builtin_mul_overflow(number, unit->factor, out);
}

static bool in_range(const struct option_spec *spec, double number)
{
    return number >= spec->min && (spec->max == 0 || number <= spec->max);
}

static int refuse_range(const struct option_spec *spec, const char *text, struct tr_error *error)
{
    if (spec->max == 0)
        return tr_error_set(error, TR_ERANGE, "--%s %s: must be at least %.15g", spec->name, text,
                            spec->min);
    return tr_error_set(error, TR_ERANGE, "--%s %s: must be between %.15g and %.15g", spec->name,
                        text, spec->min, spec->max);
}

static int set_whole(const struct option_spec *spec, const char *text, const struct unit *units,
                     uint64_t *field, struct tr_error *error)
{
    if (!read_whole(text, strlen(text), units, field))
        return tr_error_set(error, TR_EINVAL, "--%s %s: not %s", spec->name, text,
                            units == BYTE_UNITS ? "a size such as 512, 64KiB or 2GiB"
                                                : "a whole number such as 8, 10k or 2M");
    return in_range(spec, (double)*field) ? 0 : refuse_range(spec, text, error);
}

static int set_real(const struct option_spec *spec, const char *text, double *field,
                    struct tr_error *error)
{
    char *end;
    *field = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(*field))
        return tr_error_set(error, TR_EINVAL, "--%s %s: not a number such as 0.01", spec->name,
                            text);
    return in_range(spec, *field) ? 0 : refuse_range(spec, text, error);
}

static int set_choice(const struct option_spec *spec, const char *text, int *field,
                      struct tr_error *error)
{
    size_t length = strlen(text);
    const char *choice = spec->choices;
    for (int position = 0; choice != NULL; position++) {
        size_t choice_length = strcspn(choice, "|");
        if (choice_length == length && memcmp(choice, text, length) == 0) {
            *field = position;
            return 0;
        }
        choice = choice[choice_length] == '|' ? choice + choice_length + 1 : NULL;
    }
    return tr_error_set(error, TR_EINVAL, "--%s %s: choose one of %s", spec->name, text,
                        spec->choices);
}

static int set_counts(const struct option_spec *spec, const char *text, struct count_list *list,
                      struct tr_error *error)
{
    list->count = 0;
    for (const char *item = text;;) {
        size_t length = strcspn(item, ",");
        if (list->count == OPTION_LIST_MAX)
            return tr_error_set(error, TR_ERANGE, "--%s %s: more than %d numbers", spec->name, text,
                                OPTION_LIST_MAX);
        uint64_t *value = &list->values[list->count];
        bool all = spec->min == -1 && length == 2 && memcmp(item, "-1", 2) == 0;
        if (all)
            *value = OPTION_ALL;
        else if (!read_whole(item, length, COUNT_UNITS, value))
            return tr_error_set(error, TR_EINVAL,
                                "--%s %s: not whole numbers separated by commas, such as 10,25",
                                spec->name, text);
        if (!all && !in_range(spec, (double)*value))
            return refuse_range(spec, text, error);
        list->count++;
        if (item[length] == '\0')
            return 0;
        item += length + 1;
    }
}

static int add_text(const struct option_spec *spec, const char *text, struct text_list *list,
                    struct tr_error *error)
{
    if (list->count == OPTION_LIST_MAX)
        return tr_error_set(error, TR_ERANGE, "--%s %s: given more than %d times", spec->name, text,
                            OPTION_LIST_MAX);
    list->values[list->count++] = text;
    return 0;
}

int option_value_set(const struct option_spec *spec, void *values, const char *text,
                     struct tr_error *error)
{
    void *field = (char *)values + spec->offset;
    switch (spec->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return 0;
    case OPTION_TEXT:
        if (text[0] == '\0' && !spec->empty)
            return tr_error_set(error, TR_EINVAL, "--%s: must not be empty", spec->name);
        /* Elsewhere a dash stands for the standard output, which has the report here. */
        if (spec->made && strcmp(text, "-") == 0)
            return tr_error_set(error, TR_EINVAL,
                                "--%s -: nothing but the report goes to the standard output; give "
                                "a name, or ./- for one that is a dash",
                                spec->name);
        *(const char **)field = text;
        return 0;
    case OPTION_COUNT:
        return set_whole(spec, text, COUNT_UNITS, field, error);
    case OPTION_BYTES:
        return set_whole(spec, text, BYTE_UNITS, field, error);
    case OPTION_REAL:
        return set_real(spec, text, field, error);
    case OPTION_CHOICE:
        return set_choice(spec, text, field, error);
    case OPTION_COUNTS:
        return set_counts(spec, text, field, error);
    case OPTION_TEXTS:
        return add_text(spec, text, field, error);
    }
    return tr_error_set(error, TR_EINTERNAL, "--%s: of no known kind", spec->name);
}

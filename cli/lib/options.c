/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/options.h"

#include <assert.h>
#include <string.h>

#include <troupe/text.h>

#include "cli/lib/option_value.h"

/* Where help texts start; a longer option has its text on the next line. */
#define HELP_COLUMN 28

static int count_specs(const struct option_spec *specs)
{
    int count = 0;
    while (specs[count].name != NULL)
        count++;
    assert(count <= OPTIONS_MAX);
    return count;
}

static int find_spec(const struct option_spec *specs, const char *name, size_t length)
{
    for (int i = 0; specs[i].name != NULL; i++)
        if (strlen(specs[i].name) == length && memcmp(specs[i].name, name, length) == 0)
            return i;
    return -1;
}

static int refuse_unknown(const struct option_spec *specs, const char *word, size_t length,
                          struct tr_error *error)
{
    const char *names[OPTIONS_MAX + 1];
    int count = count_specs(specs);
    for (int i = 0; i < count; i++)
        names[i] = specs[i].name;
    const char *near = tr_text_nearest(names, (size_t)count, word + 2, length);
    if (near != NULL)
        return tr_error_set(error, TR_EINVAL, "--%.*s: no such option; did you mean --%s?",
                            (int)length, word + 2, near);
    return tr_error_set(error, TR_EINVAL, "--%.*s: no such option; --help lists them", (int)length,
                        word + 2);
}

static int set_defaults(const struct option_spec *specs, void *values, struct tr_error *error)
{
    for (const struct option_spec *spec = specs; spec->name != NULL; spec++) {
        if (spec->optional && spec->kind == OPTION_REAL)
            *(double *)(void *)((char *)values + spec->offset) = OPTION_REAL_NOT_GIVEN;
        else if (spec->optional)
            *(uint64_t *)(void *)((char *)values + spec->offset) = OPTION_NOT_GIVEN;
        int rc = spec->fallback == NULL ? 0 : option_value_set(spec, values, spec->fallback, error);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* What stands for its value in help and messages. */
static const char *value_word(const struct option_spec *spec)
{
    if (spec->kind == OPTION_FLAG)
        return "";
    return spec->kind == OPTION_CHOICE ? spec->choices : spec->metavar;
}

/* argv[*at] is "--name", "--name=value" or "--name" before "value"; *at ends on its last word. */
static int read_option(const struct option_spec *specs, void *values, int argc, char **argv,
                       int *at, bool *given, struct tr_error *error)
{
    const char *word = argv[*at];
    size_t length = strcspn(word + 2, "=");
    const char *value = word[2 + length] == '=' ? word + 2 + length + 1 : NULL;
    int found = find_spec(specs, word + 2, length);
    if (found < 0)
        return refuse_unknown(specs, word, length, error);
    const struct option_spec *spec = &specs[found];
    if (spec->kind == OPTION_FLAG && value != NULL)
        return tr_error_set(error, TR_EINVAL, "--%s=%s: takes no value", spec->name, value);
    if (spec->kind != OPTION_TEXTS && given[found])
        return tr_error_set(error, TR_EINVAL, "--%s: given twice%s%s", spec->name,
                            spec->twice != NULL ? "; " : "",
                            spec->twice != NULL ? spec->twice : "");
    if (spec->kind != OPTION_FLAG && value == NULL) {
        if (*at + 1 >= argc)
            return tr_error_set(error, TR_EINVAL, "--%s: needs a value: --%s %s", spec->name,
                                spec->name, value_word(spec));
        value = argv[++*at];
    }
    given[found] = true;
    return option_value_set(spec, values, value, error);
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int check_required(const struct option_spec *specs, const bool *given,
                          struct tr_error *error)
{
    for (int i = 0; specs[i].name != NULL; i++)
        if (specs[i].required && !given[i])
            return tr_error_set(error, TR_EINVAL, "--%s is missing: add --%s %s", specs[i].name,
                                specs[i].name, value_word(&specs[i]));
    return 0;
}

int options_parse(const struct option_spec *specs, void *values, size_t values_size, int argc,
                  char **argv, struct options_read *read, struct tr_error *error)
{
    memset(values, 0, values_size);
    *read = (struct options_read){ .help = wants_help(argc, argv) };
    int rc = set_defaults(specs, values, error);
    if (read->help || rc < 0)
        return rc;
    bool *given = read->given;
    (void)count_specs(specs); /* all have their place */
    int operands = 0;
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        if (only_operands || argv[i][0] != '-' || argv[i][1] == '\0') {
            argv[operands++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            only_operands = true;
        } else if (argv[i][1] != '-') {
            return tr_error_set(error, TR_EINVAL, "%s: no such option; --help lists them", argv[i]);
        } else {
            rc = read_option(specs, values, argc, argv, &i, given, error);
            if (rc < 0)
                return rc;
        }
    }
    rc = check_required(specs, given, error);
    return rc < 0 ? rc : operands;
}

void option_print_brief(const struct option_spec *spec, FILE *out)
{
    fprintf(out, "--%s", spec->name);
    if (spec->kind == OPTION_CHOICE)
        fprintf(out, " %s", spec->choices);
    else if (spec->kind != OPTION_FLAG)
        fprintf(out, " %s", spec->metavar);
}

void options_print(const struct option_spec *specs, FILE *out)
{
    for (const struct option_spec *spec = specs; spec->name != NULL; spec++) {
        char head[160];
        const char *value = value_word(spec);
        int length = snprintf(head, sizeof head, "  --%s%s%s", spec->name, value[0] ? " " : "",
                              value);
        if (length < HELP_COLUMN)
            fprintf(out, "%-*s%s", HELP_COLUMN, head, spec->help);
        else
            fprintf(out, "%s\n%*s%s", head, HELP_COLUMN, "", spec->help);
        if (spec->fallback != NULL)
            fprintf(out, " (default %s)", spec->fallback);
        else if (spec->required)
            fprintf(out, " (required)");
        else if (spec->kind == OPTION_TEXTS)
            fprintf(out, " (may be repeated)");
        fputc('\n', out);
    }
    fprintf(out, "%-*sshow this help\n", HELP_COLUMN, "  --help");
}

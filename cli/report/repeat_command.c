/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/repeat_command.h"

#include <stdlib.h>
#include <string.h>

#include "cli/lib/next_step.h"
#include "cli/train/train.h"

/* Options whose value has another name in config.json; others have theirs, with '_' for '-'. */
static const struct {
    const char *option, *key;
} RENAMED[] = {
    { "model", "kind" },      { "warmup", "warmup_epochs" },
    { "eval", "evaluation" }, { "eval-every", "evaluate_every" },
    { "layers", NULL },       { "with-replacement", "replace" },
    { "replace", NULL },      { "run", NULL },
    { "loops", NULL },        { "threads", NULL },
    { "servers", NULL },      { "samplers", NULL },
    { "messages", NULL },     { "codec", NULL },
};

#define KEY_BYTES_MAX 64

/* What is said by another option, or changes no result, has no key: NULL. */
static const char *key_of(const char *option, char key[KEY_BYTES_MAX])
{
    for (size_t i = 0; i < sizeof RENAMED / sizeof RENAMED[0]; i++)
        if (strcmp(option, RENAMED[i].option) == 0)
            return RENAMED[i].key;
    size_t length = strlen(option);
    if (length + 3 > KEY_BYTES_MAX) /* with "--" before it, below */
        return NULL;
    for (size_t i = 0; i <= length; i++)
        key[i] = option[i] == '-' ? '_' : option[i];
    return key;
}

/* Whether the option does not have to be given. */
static bool is_default(const struct option_spec *option, const char *value)
{
    if (option->kind == OPTION_FLAG)
        return strcmp(value, "yes") != 0;
    if (option->kind == OPTION_REAL && option->fallback != NULL)
        return strtof(value, NULL) == strtof(option->fallback, NULL);
    /* A mask of that name is looked for without the option; "" is the run without one. */
    return value[0] == '\0' || (option->fallback != NULL && strcmp(option->fallback, value) == 0);
}

char *repeat_command(const struct run_record *run)
{
    size_t count = 0, words_max = 8;
    for (const struct option_spec *option = train_options; option->name != NULL; option++)
        words_max += 2;
    const char **words = calloc(words_max, sizeof *words);
    char *names = malloc(words_max * KEY_BYTES_MAX), *line = NULL;
    if (words == NULL || names == NULL)
        goto out;
    words[count++] = "troupe";
    words[count++] = "train";
    words[count++] = run->graph;
    words[count++] = "--run";
    words[count++] = run->path;
    for (const struct option_spec *option = train_options; option->name != NULL; option++) {
        char buffer[KEY_BYTES_MAX];
        const char *key = key_of(option->name, buffer);
        const char *value = key == NULL ? NULL : run_record_value(run, key);
        if (value == NULL || is_default(option, value))
            continue;
        char *name = names + count * KEY_BYTES_MAX;
        name[0] = name[1] = '-';
        memcpy(name + 2, option->name, strlen(option->name) + 1);
        words[count++] = name;
        if (option->kind != OPTION_FLAG)
            words[count++] = value;
    }
    line = next_step_line(words);
out:
    free(names);
    free(words);
    return line;
}

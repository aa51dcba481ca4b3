/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing list of words: the arguments or the environment of a command that is to run here or,
 * quoted for a shell, on another host.
 *
 * Ownership: words are copied; argv_builder_fini frees them. A failed allocation is kept for
 * argv_builder_failed(), so a list is built without a check a word. Thread rules: one thread at a
 * time.
 */
#ifndef LAUNCH_ARGV_BUILDER_H
#define LAUNCH_ARGV_BUILDER_H

#include <stdbool.h>
#include <stddef.h>

/* More arguments than any command of ours has, and less than the system takes. */
#define ARGV_WORDS_MAX 4096u

struct argv_builder {
    char **list; /* [count], then NULL; NULL when there are none */
    size_t count, room;
    bool failed;
};

void argv_builder_add(struct argv_builder *words, const char *word);
void argv_builder_addf(struct argv_builder *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void argv_builder_add_all(struct argv_builder *words, const struct argv_builder *more);
void argv_builder_fini(struct argv_builder *words);

/* Memory was out, or there were more than ARGV_WORDS_MAX. */
bool argv_builder_failed(const struct argv_builder *words);

/* One text that a POSIX shell splits into these words again, in malloc'ed memory, or NULL. */
char *argv_builder_quote(const struct argv_builder *words);

#endif

/*
 * A growing list of words: the arguments or the environment of a command that is to run here or,
 * quoted for a shell, on another host.
 *
 * Ownership: words are copied; words_fini frees them. A failed allocation is kept and told by
 * words_failed, so a list is built without a check a word. Thread rules: one thread at a time.
 */
#ifndef CLI_LIB_ARGV_BUILDER_H
#define CLI_LIB_ARGV_BUILDER_H

#include <stdbool.h>
#include <stddef.h>

/* More arguments than any command of ours has, and less than the system takes. */
#define WORDS_MAX 4096u

struct words {
    char **list; /* [count], then NULL; NULL when there are none */
    size_t count, room;
    bool failed;
};

void words_add(struct words *words, const char *word);
void words_addf(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void words_add_all(struct words *words, const struct words *more);
void words_fini(struct words *words);

/* Memory was out, or there were more than WORDS_MAX. */
bool words_failed(const struct words *words);

/* One text that a POSIX shell splits into these words again, in malloc'ed memory, or NULL. */
char *words_quote(const struct words *words);

#endif

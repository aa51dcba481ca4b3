/* SPDX-License-Identifier: Apache-2.0 */
/* The public tr_text_nearest(), by Levenshtein's distance. */
#include <string.h>

#include <troupe/text.h>

/* Longer words are not looked at: no name of ours is near them. */
#define WORD_MAX 32

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance, one row at a time. Both lengths are at most WORD_MAX. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[WORD_MAX + 1];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_length];
}

const char *tr_text_nearest(const char *const *names, size_t count, const char *word, size_t length)
{
    const char *best = NULL;
    /* A third of the letters wrong, and it is another word. */
    size_t best_distance = length / 3 + 1;
    for (size_t i = 0; length <= WORD_MAX && i < count; i++) {
        size_t name_length = strlen(names[i]);
        if (name_length > WORD_MAX)
            continue;
        size_t d = distance(word, length, names[i], name_length);
        if (d <= best_distance && (best == NULL || d < best_distance)) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}

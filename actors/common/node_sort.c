/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/common/node_sort.h"

/* The end of the run that begins at `at`. */
static size_t run_end(const struct node_sort *s, size_t at)
{
    if (at < s->count)
        at++;
    while (at < s->count && s->from[at - 1].original <= s->from[at].original)
        at++;
    return at;
}

static void merge(struct node_sort *s, size_t middle, size_t end)
{
    size_t a = s->at, b = middle;
    for (size_t out = s->at; out < end; out++) {
        bool first = b == end || (a < middle && s->from[a].original <= s->from[b].original);
        s->to[out] = first ? s->from[a++] : s->from[b++];
    }
}

bool node_sort_step(struct node_sort *s)
{
    size_t middle = run_end(s, s->at), end = run_end(s, middle);
    if (s->at == 0 && middle == s->count)
        return true;
    merge(s, middle, end);
    s->at = end;
    if (end < s->count)
        return false;
    struct node_pair *sorted = s->to;
    s->to = s->from;
    s->from = sorted;
    s->at = 0;
    return false;
}

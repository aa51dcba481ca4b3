/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* MAP_ANONYMOUS, MADV_WIPEONFORK */

#include "runtime/base/fork_mark.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* Fills the page's first bytes; a wiped page has zeroes there. */
struct fork_mark {
    pid_t owner;
    bool is_wiped_by_fork; /* else the kernel is older than 4.14, and the owner is compared */
};

/* Less than any page: the kernel wipes the whole page in which the mark lies. */
_Static_assert(sizeof(struct fork_mark) <= 4096, "a mark lies in one page");

struct fork_mark *fork_mark_create(void)
{
    struct fork_mark *mark = mmap(NULL, sizeof *mark, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mark == MAP_FAILED)
        return NULL;
    mark->is_wiped_by_fork = madvise(mark, (size_t)sysconf(_SC_PAGESIZE), MADV_WIPEONFORK) == 0;
    mark->owner = getpid();
    return mark;
}

void fork_mark_destroy(struct fork_mark *mark)
{
    if (mark != NULL)
        munmap(mark, sizeof *mark);
}

bool fork_mark_is_child(const struct fork_mark *mark)
{
    /* The flag comes first, since it spares a system call. A wiped page has lost it, and the owner
     * too. */
    if (mark->is_wiped_by_fork)
        return false;
    return mark->owner == 0 || mark->owner != getpid();
}

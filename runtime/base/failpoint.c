/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of fail-points, and what they do in a real process of a build with --enable-failpoints:
 *
 *     TROUPE_FAILPOINT=NAME[:N]=kill|stop[,...]   dies or stands still when it passes NAME for the
 *                                                 Nth time (the first, where no N is given)
 *     TROUPE_FAILPOINT_FOLDER=DIR                 only the first process that makes the file
 *                                                 DIR/NAME does, and writes its number there
 *
 * Without the folder a process that is started again dies again. Its counts and choices are the one
 * mutable global of the library: that a process dies belongs to no node of it.
 */
#include "runtime/base/failpoint.h"

#include <string.h>

#define FAILPOINT_ROW(code, text, simulated) [FAILPOINT_##code] = { text, simulated },
static const struct failpoint_row {
    const char *name;
    bool simulated;
} ROWS[] = { FAILPOINTS(FAILPOINT_ROW) };
#undef FAILPOINT_ROW

const char *failpoint_name(enum failpoint point)
{
    return ROWS[point].name;
}

bool failpoint_is_simulated(enum failpoint point)
{
    return ROWS[point].simulated;
}

enum failpoint failpoint_find(const char *name, size_t length)
{
    for (enum failpoint point = 0; point < FAILPOINTS_COUNT; point++)
        if (strlen(ROWS[point].name) == length && memcmp(ROWS[point].name, name, length) == 0)
            return point;
    return FAILPOINTS_COUNT;
}

#ifdef ENABLE_FAILPOINTS

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct armed {
    int signal; /* 0: nothing happens there */
    long at;    /* the arrival that it happens at, from 1 on */
    atomic_long count;
};

static struct armed armed[FAILPOINTS_COUNT];
static pthread_once_t armed_once = PTHREAD_ONCE_INIT;

/* A driver that names what there is not would find that all survive it. */
static void refuse(const char *text)
{
    fprintf(stderr,
            "TROUPE_FAILPOINT: %s: give NAME[:N]=kill|stop, as \"troupe simulate "
            "--failpoints\" names them\n",
            text);
    abort();
}

static void arm(char *one)
{
    char *action = strchr(one, '=');
    size_t length = strcspn(one, ":=");
    enum failpoint point = failpoint_find(one, length);
    if (action == NULL || point == FAILPOINTS_COUNT)
        refuse(one);
    struct armed *it = &armed[point];
    char *end = one + length;
    it->at = *end == ':' ? strtol(end + 1, &end, 10) : 1;
    it->signal = strcmp(action, "=kill") == 0   ? SIGKILL
                 : strcmp(action, "=stop") == 0 ? SIGSTOP
                                                : 0;
    if (it->at < 1 || it->signal == 0 || end != action)
        refuse(one);
}

static void arm_all(void)
{
    const char *text = getenv("TROUPE_FAILPOINT");
    char *copy = text == NULL ? NULL : strdup(text), *rest = NULL;
    for (char *one = copy == NULL ? NULL : strtok_r(copy, ",", &rest); one != NULL;
         one = strtok_r(NULL, ",", &rest))
        arm(one);
    free(copy);
}

/* Is this process the first of its job to come here? */
static bool take_turn(enum failpoint point)
{
    const char *folder = getenv("TROUPE_FAILPOINT_FOLDER");
    char path[4096], number[32];
    if (folder == NULL)
        return true;
    snprintf(path, sizeof path, "%s/%s", folder, ROWS[point].name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    /* The file is written before the process dies, since it says which process that was. */
    int size = snprintf(number, sizeof number, "%d\n", (int)getpid());
    bool written = write(fd, number, (size_t)size) == size;
    close(fd);
    return written;
}

static void reached(struct failpoints *self, enum failpoint point)
{
    struct armed *it = &armed[point];
    (void)self;
    pthread_once(&armed_once, arm_all);
    /* The arrival is counted before the turn is taken, which leaves a file: a process that does not
     * die here must not take the turn from the one that would. */
    if (it->signal != 0 && atomic_fetch_add(&it->count, 1) + 1 == it->at && take_turn(point))
        kill(getpid(), it->signal);
}

struct failpoints failpoints_of_process = { .reached = reached };

#endif

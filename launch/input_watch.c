/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/input_watch.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <troupe/error.h>

int input_watch_wait(int stop, const struct deadline *until)
{
    struct pollfd polled[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                               { .fd = stop, .events = POLLIN } };
    for (;;) {
        int ready = poll(polled, 2, deadline_poll_ms(until));
        /* The stop goes before the input: bytes that are there do not hide it. */
        if (ready > 0)
            return polled[1].revents != 0 ? TR_ECANCELED : 0;
        if (ready == 0 && deadline_passed(until))
            return TR_ETIMEDOUT;
        if (ready < 0 && errno != EINTR)
            return 0; /* reading says why */
    }
}

/* As read(2), but -1 where nothing is there yet, and 0 for every other failure. */
static ssize_t read_some(char *bytes, size_t count)
{
    ssize_t got = read(STDIN_FILENO, bytes, count);
    bool later = errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
    return got >= 0 ? got : later ? -1 : 0;
}

int input_watch_read(char *byte)
{
    return (int)read_some(byte, 1);
}

bool input_watch_ended(short revents)
{
    char bytes[256];
    return revents != 0 && read_some(bytes, sizeof bytes) == 0;
}

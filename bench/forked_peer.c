/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/forked_peer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Looks of 10 ms each, after which it is not asked any more. */
#define END_LOOKS 1500

static _Noreturn void play_apart(forked_peer_play *play, void *arg,
                                 const struct forked_peer_child *child)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(play(arg, child));
}

int forked_peer_start(struct forked_peer *peer, forked_peer_play *play, void *arg,
                      struct error *error)
{
    int told[2], stop[2];
    *peer = (struct forked_peer){ .child = 0 };
    fflush(NULL);
    if (pipe(told) != 0)
        return error_set(error, TR_EIO, "no pipe for another process");
    if (pipe(stop) != 0) {
        close(told[0]);
        close(told[1]);
        return error_set(error, TR_EIO, "no pipe for another process");
    }
    pid_t child = fork();
    if (child == 0) {
        close(told[0]);
        close(stop[1]);
        play_apart(play, arg, &(struct forked_peer_child){ told[1], stop[0] });
    }
    close(told[1]);
    close(stop[0]);
    *peer = (struct forked_peer){ .child = child, .hear = told[0], .end = stop[1] };
    if (child > 0)
        return 0;
    close(told[0]);
    close(stop[1]);
    peer->child = 0;
    return error_set(error, TR_EIO, "no other process can be started");
}

int forked_peer_hear(const struct forked_peer *peer, void *said, size_t size, struct error *error)
{
    ssize_t got;
    do
        got = read(peer->hear, said, size);
    while (got < 0 && errno == EINTR);
    /* The message is far below PIPE_BUF: it comes whole or not at all. */
    return got == (ssize_t)size ? 0
                                : error_set(error, TR_ECHILD, "the other process could not start");
}

void forked_peer_end(struct forked_peer *peer)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    if (peer->child == 0)
        return;
    close(peer->end);
    close(peer->hear);
    for (int i = 0; i < END_LOOKS; i++) {
        if (waitpid(peer->child, NULL, WNOHANG) != 0) {
            peer->child = 0;
            return;
        }
        nanosleep(&pause, NULL);
    }
    kill(peer->child, SIGKILL);
    waitpid(peer->child, NULL, 0);
    peer->child = 0;
}

int forked_peer_say(const struct forked_peer_child *child, const void *said, size_t size)
{
    return write(child->say, said, size) == (ssize_t)size ? 0 : TR_EIO;
}

void forked_peer_wait(const struct forked_peer_child *child)
{
    char byte;
    while (read(child->stop, &byte, 1) < 0 && errno == EINTR)
        continue;
}

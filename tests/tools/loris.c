/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds connections and says nothing, or next to nothing: loris COUNT WORDS PAUSE ADDRESS PORT...
 *
 * COUNT connections to each port; one that is closed is made anew after PAUSE milliseconds. WORDS
 * is what each sends: "silent", "byte" (one), or "hello" (the beginning of a TLS handshake). Runs
 * until it is killed; says each second how many connections it has had.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The first words of a TLS client (RFC 8446): a record of 512 bytes, of which these come. */
static const unsigned char hello[] = { 22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3 };

struct caller {
    int fd;
    bool connected;
    uint64_t again_ms; /* it is called again then; 0: it is connected, or about to be */
    struct sockaddr_in to;
};

struct loris {
    int epoll;
    size_t word_bytes;
    uint64_t connections, pause_ms;
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void call(struct loris *loris, struct caller *caller)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT, .data.ptr = caller };
    caller->connected = false;
    caller->again_ms = 0;
    caller->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (caller->fd < 0 ||
        (connect(caller->fd, (struct sockaddr *)&caller->to, sizeof caller->to) < 0 &&
         errno != EINPROGRESS)) {
        perror("loris: cannot connect");
        exit(1);
    }
    epoll_ctl(loris->epoll, EPOLL_CTL_ADD, caller->fd, &event);
}

static void go_on(struct loris *loris, struct caller *caller, uint32_t events)
{
    unsigned char bytes[256];
    bool ended = (events & (EPOLLERR | EPOLLHUP)) != 0;
    if (!ended && !caller->connected) {
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = caller };
        caller->connected = true;
        loris->connections++;
        if (loris->word_bytes > 0)
            ended = send(caller->fd, hello, loris->word_bytes, MSG_NOSIGNAL) < 0;
        epoll_ctl(loris->epoll, EPOLL_CTL_MOD, caller->fd, &event);
    }
    if (!ended && (events & EPOLLIN))
        ended = recv(caller->fd, bytes, sizeof bytes, 0) <= 0;
    if (!ended)
        return;
    close(caller->fd);
    caller->again_ms = now_ms() + loris->pause_ms;
}

int main(int argc, char **argv)
{
    struct loris loris = { .epoll = epoll_create1(EPOLL_CLOEXEC) };
    if (argc < 6) {
        fprintf(stderr, "loris COUNT silent|byte|hello PAUSE ADDRESS PORT...\n");
        return 2;
    }
    size_t count = (size_t)atoi(argv[1]);
    size_t total = count * (size_t)(argc - 5);
    struct caller *callers = calloc(total, sizeof *callers);
    if (callers == NULL || loris.epoll < 0)
        return 1;
    loris.word_bytes = argv[2][0] == 'h' ? sizeof hello : argv[2][0] == 'b';
    loris.pause_ms = (uint64_t)atoi(argv[3]);
    for (size_t i = 0; i < total; i++) {
        struct caller *caller = &callers[i];
        caller->to = (struct sockaddr_in){ .sin_family = AF_INET,
                                           .sin_port = htons((uint16_t)atoi(argv[5 + i / count])) };
        if (inet_pton(AF_INET, argv[4], &caller->to.sin_addr) != 1)
            return 2;
        call(&loris, caller);
    }
    time_t said = time(NULL);
    for (;;) {
        struct epoll_event events[64];
        int ready = epoll_wait(loris.epoll, events, 64, 10);
        for (int i = 0; i < ready; i++)
            go_on(&loris, events[i].data.ptr, events[i].events);
        uint64_t now = now_ms();
        for (size_t i = 0; i < total; i++)
            if (callers[i].again_ms != 0 && callers[i].again_ms <= now)
                call(&loris, &callers[i]);
        if (time(NULL) == said)
            continue;
        said = time(NULL);
        printf("%llu\n", (unsigned long long)loris.connections);
        fflush(stdout);
    }
}

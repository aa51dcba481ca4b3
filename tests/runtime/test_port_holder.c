/* SPDX-License-Identifier: Apache-2.0 */
/* Who listens at a port: this process, another program, nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/event/port_holder.h"

/* A socket that a program gets from us (no SOCK_CLOEXEC), at a port that the system chose. */
static int listen_anywhere(uint16_t *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static void this_process_is_no_stranger(void **state)
{
    struct port_holder holder;
    uint16_t port;
    (void)state;
    int fd = listen_anywhere(&port);
    assert_true(port_holder_find(port, &holder));
    assert_int_equal(holder.pid, getpid());
    assert_true(holder.name[0] != '\0');
    assert_false(holder.stranger);
    close(fd);
    assert_false(port_holder_find(port, &holder));
}

static void another_program_is_one(void **state)
{
    struct port_holder holder = { 0 };
    uint16_t port;
    (void)state;
    int fd = listen_anywhere(&port);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execlp("sleep", "sleep", "300", (char *)NULL);
        _exit(99);
    }
    close(fd);
    /* Until it has become the other program it is a copy of this one. */
    for (int tries = 0; tries < 3000 && strcmp(holder.name, "sleep") != 0; tries++) {
        assert_true(port_holder_find(port, &holder));
        usleep(10000);
    }
    assert_string_equal(holder.name, "sleep");
    assert_int_equal(holder.pid, child);
    assert_true(holder.stranger);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_process_is_no_stranger),
        cmocka_unit_test(another_program_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

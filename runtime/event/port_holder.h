/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process of this machine listens at a TCP port, as far as /proc shows it: processes of other
 * users and of other containers are not seen.
 *
 * It exists so that "another process listens there" has a number and a name, and so that a process
 * that waits for a past life of its own to go knows when the other is none.
 *
 * Thread rules: any; it reads files, for some milliseconds on a machine of many processes.
 */
#ifndef RUNTIME_EVENT_PORT_HOLDER_H
#define RUNTIME_EVENT_PORT_HOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A name of the kernel's has at most 15 bytes. */
#define PORT_HOLDER_NAME_MAX 16

struct port_holder {
    pid_t pid;
    char name[PORT_HOLDER_NAME_MAX]; /* printable; empty: not known */
    /* Its program is not that of this process, and has no library of ours: it never took part in a
     * job. */
    bool stranger;
};

/* false: nobody is seen. */
bool port_holder_find(uint16_t port, struct port_holder *holder);

#endif

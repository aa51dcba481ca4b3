/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that takes no signals, so that they reach the thread that waits for them (cli/), and
 * that has a name in top and gdb.
 *
 * Returns when the thread has begun to run: a thread that is being set up may hold the lock of an
 * allocator (a sanitizer's does), and the child of a fork in that moment would wait for it forever.
 */
#ifndef RUNTIME_BASE_THREAD_H
#define RUNTIME_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* By which a program may ask a thread that computes for its stack. It is taken where the program
 * says that it has a handler for it, which is installed before: what a signal does by default, it
 * does to the whole process. */
#define THREAD_STACK_SIGNAL SIGUSR2

/* 0 or TR_ENOMEM. name: at most 15 characters. */
int thread_create(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg);

/* The calling thread takes THREAD_STACK_SIGNAL from now on. */
void thread_take_stack_signal(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* syscall */

#include "model/watchdog.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "model/ticks.h"
#include "runtime/base/thread.h"

#define LOOK_NS UINT64_C(100000000)

static bool is_any_busy(const struct watchdog *dog, uint32_t *rank)
{
    for (uint32_t i = 0; i < dog->count; i++)
        if (atomic_load(&dog->watched[i]->busy)) {
            *rank = dog->watched[i]->rank;
            return true;
        }
    return false;
}

static bool report_stall(const struct watchdog *dog, uint32_t rank, uint64_t ns, bool asked)
{
    struct watchdog_stall stall = { .rank = rank, .ns = ns, .asked = asked };
    for (uint32_t i = 0; i < dog->count && stall.num_threads < WATCHDOG_THREADS_MAX; i++)
        if (atomic_load(&dog->watched[i]->busy))
            stall.threads[stall.num_threads++] = atomic_load(&dog->watched[i]->thread);
    return dog->stalled(dog->arg, &stall);
}

/* One count for all: where one computes and another does not get on, the first soon waits for
 * it. */
static void *watch(void *arg)
{
    struct watchdog *dog = arg;
    struct ticks ticks;
    uint64_t beats = 0, still_ns = 0, asked_ns = 0;
    ticks_init(&ticks);
    while (!atomic_load(&dog->stopping)) {
        nanosleep(&(struct timespec){ .tv_nsec = (long)LOOK_NS }, NULL);
        /* Time is read in every round, so that it is of this round alone. */
        uint64_t passed_ns = ticks_read(&ticks), now = atomic_load(&dog->beats);
        uint32_t rank = 0;
        bool moved = now != beats || !is_any_busy(dog, &rank);
        beats = now;
        still_ns = moved ? 0 : still_ns + passed_ns;
        asked_ns = moved || !cancel_asked(dog->cancel) ? 0 : asked_ns + passed_ns;
        bool asked = asked_ns >= WATCHDOG_STOP_NS;
        /* Where there was no memory for the report the next round makes it. */
        if ((asked || (dog->limit_ns != 0 && still_ns >= dog->limit_ns)) &&
            report_stall(dog, rank, asked ? asked_ns : still_ns, asked))
            break;
    }
    return NULL;
}

int watchdog_start(struct watchdog *dog, struct error *error)
{
    atomic_init(&dog->stopping, false);
    int rv = thread_create(&dog->thread, "tr-watchdog", watch, dog);
    dog->running = rv == 0;
    return rv == 0 ? 0 : error_set(error, rv, "cannot start the thread that watches trainers");
}

void watchdog_stop(struct watchdog *dog)
{
    if (!dog->running)
        return;
    atomic_store(&dog->stopping, true);
    pthread_join(dog->thread, NULL);
    dog->running = false;
}

void watchdog_beat(struct watchdog *dog)
{
    atomic_fetch_add(&dog->beats, 1);
}

void watchdog_enter(struct watchdog *dog, struct watched *watched)
{
    watchdog_beat(dog);
    /* The number stands before `busy`: it is read of threads that are busy. */
    atomic_store(&watched->thread, (int)syscall(SYS_gettid));
    atomic_store(&watched->busy, true);
}

void watchdog_leave(struct watchdog *dog, struct watched *watched)
{
    watchdog_beat(dog);
    atomic_store(&watched->busy, false);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: waited for, cancelled, closed and forked at any moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <troupe/troupe.h>

#include "api/task_run.h"
#include "runtime/base/deadline.h"

#define SECOND INT64_C(1000000000)
#define LONG (120 * SECOND)

/* The linker gives this the waits of tasks (tests.mk): threads are counted as they begin their
 * first. */
static atomic_uint waiting;
static _Thread_local bool has_waited;

int __real_deadline_wait(const struct deadline *deadline, pthread_cond_t *cond,
                         pthread_mutex_t *mutex);
int __wrap_deadline_wait(const struct deadline *deadline, pthread_cond_t *cond,
                         pthread_mutex_t *mutex);

int __wrap_deadline_wait(const struct deadline *deadline, pthread_cond_t *cond,
                         pthread_mutex_t *mutex)
{
    if (!has_waited)
        atomic_fetch_add(&waiting, 1);
    has_waited = true;
    return __real_deadline_wait(deadline, cond, mutex);
}

struct work {
    sem_t go; /* what run waits for */
    sem_t entered, closing;
    atomic_int interrupted, destroyed;
    atomic_bool ran, gone; /* gone: it was destroyed while its interrupt hook ran */
    int result;
    const char *says; /* NULL: nothing */
};

static void work_init(struct work *work)
{
    memset(work, 0, sizeof *work);
    sem_init(&work->go, 0, 0);
    sem_init(&work->entered, 0, 0);
    sem_init(&work->closing, 0, 0);
}

static int run(struct tr_task *task, void *arg, struct tr_error *error)
{
    struct work *work = arg;
    atomic_store(&work->ran, true);
    tr_task_report(task, "first", "nodes", 3, 10);
    sem_wait(&work->go);
    if (tr_task_is_cancelled(task))
        return tr_error_set(error, TR_ECANCELED, "the work was cancelled");
    tr_task_report(task, "second", "edges", 10, 10);
    if (work->says != NULL)
        return tr_error_set(error, work->result, "%s", work->says);
    return work->result;
}

static void wake(void *arg)
{
    struct work *work = arg;
    atomic_fetch_add(&work->interrupted, 1);
    sem_post(&work->go);
}

static void free_work(void *arg)
{
    struct work *work = arg;
    atomic_fetch_add(&work->destroyed, 1);
    sem_destroy(&work->go);
}

static const char KIND_OF_WORK = 0, KIND_OF_PLAY = 0;

static struct tr_task_work kind_of_work(void)
{
    struct tr_task_work kind = TR_TASK_WORK_INIT;
    kind.name = "work";
    kind.kind = &KIND_OF_WORK;
    kind.run = run;
    kind.interrupt = wake;
    kind.destroy = free_work;
    return kind;
}

static struct tr_task *begin(struct work *work)
{
    const struct tr_task_work kind = kind_of_work();
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    if (tr_task_start(&kind, work, &task, &error) != 0)
        fail_msg("%s", error.message);
    return task;
}

static void its_outcome_is_given_however_often_it_is_asked(void **unused)
{
    (void)unused;
    struct tr_error error = TR_ERROR_INIT;
    struct work work;
    work_init(&work);
    struct tr_task *task = begin(&work);
    assert_int_equal(tr_task_wait(task, 0, &error), TR_ETIMEDOUT);
    assert_int_equal(error.code, TR_ETIMEDOUT);
    assert_int_equal(tr_task_wait(task, 1000000, NULL), TR_ETIMEDOUT);
    sem_post(&work.go);
    assert_int_equal(tr_task_wait(task, TR_WAIT_FOREVER, &error), 0);
    assert_int_equal(tr_task_wait(task, 0, &error), 0);
    assert_int_equal(tr_task_wait(task, INT64_MAX, &error), 0);
    assert_int_equal(work.destroyed, 0);
    tr_task_close(task);
    assert_int_equal(work.destroyed, 1);
    assert_int_equal(work.interrupted, 1); /* by its close alone */
}

static void a_failure_keeps_its_message(void **unused)
{
    (void)unused;
    struct tr_error error = TR_ERROR_INIT;
    struct work work;
    work_init(&work);
    work.result = TR_EFORMAT;
    work.says = "x.csv: line 3 has no comma";
    struct tr_task *task = begin(&work);
    sem_post(&work.go);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tr_task_wait(task, LONG, &error), TR_EFORMAT);
        assert_string_equal(error.message, work.says);
        assert_int_equal(error.code, TR_EFORMAT);
    }
    tr_task_close(task);
}

static void a_failure_without_a_message_names_the_work(void **unused)
{
    (void)unused;
    struct tr_error error = TR_ERROR_INIT;
    struct work work;
    work_init(&work);
    work.result = TR_ETIMEDOUT;
    struct tr_task *task = begin(&work);
    sem_post(&work.go);
    /* TR_ETIMEDOUT would say that it still runs. */
    assert_int_equal(tr_task_wait(task, LONG, &error), TR_EPEERDOWN);
    assert_non_null(strstr(error.message, "work"));
    tr_task_close(task);
}

static void progress_is_pulled(void **unused)
{
    (void)unused;
    struct tr_task_progress at = TR_TASK_PROGRESS_INIT;
    struct work work;
    work_init(&work);
    struct tr_task *task = begin(&work);
    do
        assert_int_equal(tr_task_progress(task, &at, NULL), 0);
    while (at.phase[0] == '\0');
    assert_string_equal(at.phase, "first");
    assert_string_equal(at.unit, "nodes");
    assert_true(at.done == 3 && at.total == 10 && !at.finished);
    sem_post(&work.go);
    assert_int_equal(tr_task_wait(task, LONG, NULL), 0);
    assert_int_equal(tr_task_progress(task, &at, NULL), 0);
    assert_string_equal(at.phase, "second");
    assert_true(at.finished && at.elapsed_ns > 0);
    uint64_t elapsed_ns = at.elapsed_ns;
    assert_int_equal(tr_task_progress(task, &at, NULL), 0);
    assert_int_equal(at.elapsed_ns, elapsed_ns);
    tr_task_close(task);
}

static struct tr_task *handled;

static void cancel_in_handler(int number)
{
    (void)number;
    tr_task_cancel(handled);
}

static void a_signal_handler_may_cancel(void **unused)
{
    (void)unused;
    struct tr_error error = TR_ERROR_INIT;
    struct sigaction action = { .sa_handler = cancel_in_handler }, before;
    struct work work;
    work_init(&work);
    handled = begin(&work);
    sigaction(SIGUSR1, &action, &before);
    raise(SIGUSR1);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &before, NULL);
    assert_int_equal(tr_task_wait(handled, LONG, &error), TR_ECANCELED);
    assert_string_equal(error.message, "the work was cancelled");
    assert_int_equal(work.interrupted, 1);
    tr_task_close(handled);
}

static void *wait_long(void *task)
{
    return (void *)(intptr_t)tr_task_wait(task, LONG, NULL);
}

static void closing_wakes_all_who_wait(void **unused)
{
    (void)unused;
    pthread_t threads[4];
    struct work work;
    work_init(&work);
    struct tr_task *task = begin(&work);
    while (!atomic_load(&work.ran)) {
    }
    atomic_store(&waiting, 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_long, task), 0);
    /* A thread that has not begun to wait would begin a call on a task that is being closed. */
    while (atomic_load(&waiting) < 4)
        usleep(1000);
    tr_task_close(task);
    for (size_t i = 0; i < 4; i++) {
        void *rv;
        pthread_join(threads[i], &rv);
        assert_int_equal((intptr_t)rv, TR_ECANCELED);
    }
    assert_int_equal(work.destroyed, 1);
}

static void end_calls(void *arg)
{
    sem_post(&((struct work *)arg)->closing);
}

/* A call that lasts until the task is closed. */
static void *call_inside(void *arg)
{
    struct tr_task *task = arg;
    void *work_of;
    int rv = tr_task_enter(task, &KIND_OF_WORK, &work_of, NULL);
    if (rv != 0)
        return (void *)(intptr_t)rv;
    struct work *work = work_of;
    sem_post(&work->entered);
    sem_wait(&work->closing);
    usleep(100000);
    bool there = work->destroyed == 0;
    tr_task_leave(task);
    return (void *)(intptr_t)(there ? 1 : 2);
}

static void closing_waits_for_calls_under_way(void **unused)
{
    (void)unused;
    struct tr_task_work kind = kind_of_work();
    struct tr_error error = TR_ERROR_INIT;
    struct work work;
    struct tr_task *task;
    pthread_t thread;
    void *rv;
    work_init(&work);
    kind.closing = end_calls;
    assert_int_equal(tr_task_start(&kind, &work, &task, &error), 0);
    assert_int_equal(tr_task_enter(task, &KIND_OF_PLAY, &rv, &error), TR_EINVAL);
    assert_null(rv);
    assert_int_equal(pthread_create(&thread, NULL, call_inside, task), 0);
    sem_wait(&work.entered);
    tr_task_close(task);
    assert_int_equal(work.destroyed, 1);
    pthread_join(thread, &rv);
    assert_int_equal((intptr_t)rv, 1);
}

/* A hook that lasts longer than a close that waits for nobody. */
static void wake_slowly(void *arg)
{
    struct work *work = arg;
    sem_post(&work->entered);
    usleep(100000);
    atomic_store(&work->gone, atomic_load(&work->destroyed) > 0);
}

static void *cancel_it(void *task)
{
    tr_task_cancel(task);
    return NULL;
}

/* The work has ended by itself, so that only the cancelling thread uses it still. */
static void closing_waits_for_a_cancel_under_way(void **unused)
{
    (void)unused;
    struct tr_task_work kind = kind_of_work();
    struct tr_error error = TR_ERROR_INIT;
    struct work work;
    struct tr_task *task;
    pthread_t thread;
    work_init(&work);
    kind.interrupt = wake_slowly;
    assert_int_equal(tr_task_start(&kind, &work, &task, &error), 0);
    sem_post(&work.go);
    assert_int_equal(tr_task_wait(task, LONG, &error), 0);
    assert_int_equal(pthread_create(&thread, NULL, cancel_it, task), 0);
    sem_wait(&work.entered);
    tr_task_close(task);
    assert_int_equal(work.destroyed, 1);
    pthread_join(thread, NULL);
    assert_false(work.gone);
}

static void closing_at_once_ends_it(void **unused)
{
    (void)unused;
    for (int i = 0; i < 200; i++) {
        struct work work;
        work_init(&work);
        tr_task_close(begin(&work));
        assert_int_equal(work.destroyed, 1);
    }
    tr_task_close(NULL);
    tr_task_cancel(NULL);
}

static int child_uses(struct tr_task *task, struct work *work)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task_progress at = TR_TASK_PROGRESS_INIT;
    if (tr_task_wait(task, LONG, &error) != TR_EFORKED || error.code != TR_EFORKED)
        return 1;
    if (tr_task_progress(task, &at, &error) != TR_EFORKED)
        return 2;
    void *arg;
    if (tr_task_arg(task, &KIND_OF_WORK) != NULL ||
        tr_task_enter(task, &KIND_OF_WORK, &arg, &error) != TR_EFORKED || arg != NULL)
        return 3;
    tr_task_cancel(task);
    tr_task_close(task);
    return work->interrupted != 0 || work->destroyed != 0 ? 4 : 0;
}

static void a_forked_child_gets_eforked(void **unused)
{
    (void)unused;
    struct work work;
    work_init(&work);
    struct tr_task *task = begin(&work);
    for (int i = 0; i < 20; i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(child_uses(task, &work));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    sem_post(&work.go);
    assert_int_equal(tr_task_wait(task, LONG, NULL), 0);
    assert_ptr_equal(tr_task_arg(task, &KIND_OF_WORK), &work);
    assert_null(tr_task_arg(task, &KIND_OF_PLAY));
    tr_task_close(task);
}

static int run_inside(struct tr_task *task, void *arg, struct error *error)
{
    const struct cancel cancel = task_cancel(task);
    struct work *work = arg;
    task_progress(task, "inside", "turns", 1, 2);
    while (!cancel_asked(&cancel))
        sem_wait(&work->go);
    return error_set(error, TR_ECANCELED, "inside: cancelled");
}

static void work_inside_takes_the_same_way(void **unused)
{
    (void)unused;
    static const struct task_work kind = { "inside", run_inside, wake, free_work, NULL };
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    struct work work;
    work_init(&work);
    assert_int_equal(task_start(&kind, &work, &task, &error), 0);
    assert_int_equal(tr_task_wait(task, 0, NULL), TR_ETIMEDOUT);
    tr_task_cancel(task);
    assert_int_equal(tr_task_wait(task, LONG, &error), TR_ECANCELED);
    struct tr_task_progress progress = TR_TASK_PROGRESS_INIT;
    assert_int_equal(tr_task_progress(task, &progress, NULL), 0);
    assert_string_equal(progress.unit, "turns");
    assert_string_equal(error.message, "inside: cancelled");
    tr_task_close(task);
    assert_int_equal(work.destroyed, 1);
}

static void a_name_is_needed_during_the_start_only(void **unused)
{
    (void)unused;
    char name[] = "work";
    struct tr_task_work kind = kind_of_work();
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    struct work work;
    work_init(&work);
    kind.name = name;
    assert_int_equal(tr_task_start(&kind, &work, &task, &error), 0);
    memset(name, 'x', sizeof name - 1);
    void *arg;
    assert_int_equal(tr_task_enter(task, &KIND_OF_PLAY, &arg, &error), TR_EINVAL);
    assert_string_equal(error.message, "the task is of another kind: 'work'");
    tr_task_close(task);
}

/* Two libraries may give their tasks one name: neither takes the other's task for its own. */
static void tasks_of_one_name_may_be_of_two_kinds(void **unused)
{
    (void)unused;
    struct tr_task_work kind = kind_of_work();
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    struct work works[2];
    void *arg;
    for (int i = 0; i < 2; i++) {
        work_init(&works[i]);
        kind.kind = i == 0 ? &KIND_OF_PLAY : NULL;
        assert_int_equal(tr_task_start(&kind, &works[i], &task, &error), 0);
        assert_int_equal(tr_task_enter(task, &KIND_OF_WORK, &arg, &error), TR_EINVAL);
        assert_null(arg);
        assert_null(tr_task_arg(task, &KIND_OF_WORK));
        assert_int_equal(tr_task_enter(task, NULL, &arg, &error), TR_EINVAL);
        assert_null(tr_task_arg(task, NULL));
        tr_task_close(task);
    }
}

static void what_was_not_initialised_is_refused(void **unused)
{
    (void)unused;
    struct tr_task_work kind = TR_TASK_WORK_INIT;
    struct tr_error error = TR_ERROR_INIT, blank;
    struct tr_task *task;
    assert_int_equal(tr_task_start(&kind, NULL, &task, &error), TR_EINVAL);
    assert_non_null(strstr(error.message, "name"));
    kind.size = 0;
    assert_int_equal(tr_task_start(&kind, NULL, &task, &error), TR_EINVAL);
    assert_non_null(strstr(error.message, "tr_task_work"));
    assert_null(task);
    memset(&blank, 0, sizeof blank);
    assert_int_equal(tr_task_start(&kind, NULL, &task, &blank), TR_EINVAL);
    assert_int_equal(blank.code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_outcome_is_given_however_often_it_is_asked),
        cmocka_unit_test(a_failure_keeps_its_message),
        cmocka_unit_test(a_failure_without_a_message_names_the_work),
        cmocka_unit_test(progress_is_pulled),
        cmocka_unit_test(a_signal_handler_may_cancel),
        cmocka_unit_test(closing_wakes_all_who_wait),
        cmocka_unit_test(closing_waits_for_calls_under_way),
        cmocka_unit_test(closing_waits_for_a_cancel_under_way),
        cmocka_unit_test(closing_at_once_ends_it),
        cmocka_unit_test(a_forked_child_gets_eforked),
        cmocka_unit_test(work_inside_takes_the_same_way),
        cmocka_unit_test(a_name_is_needed_during_the_start_only),
        cmocka_unit_test(tasks_of_one_name_may_be_of_two_kinds),
        cmocka_unit_test(what_was_not_initialised_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

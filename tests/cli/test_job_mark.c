/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a log's mark takes for the launcher of its job: a launcher, and no other program that has locked
 * the file. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/launch/job_mark.h"

static char folder[] = "/tmp/troupe-job-mark.XXXXXX", log_path[64], mark_path[80];

/* A lock is of the process that has it, so each is had by a child, from the return of this on. */
static pid_t begin(void (*lock)(void))
{
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        lock();
        if (write(ends[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    assert_true(child > 0);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child;
}

static void end(pid_t child)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void launch(void)
{
    static struct job_mark mark;
    if (job_mark_take(&mark, log_path, "cluster.json", NULL) != 0)
        _exit(1);
}

static void lock_as(short type)
{
    struct flock lock = { .l_type = type, .l_whence = SEEK_SET };
    int fd = open(mark_path, O_RDWR | O_CREAT, 0644);
    if (fd < 0 || fcntl(fd, F_SETLK, &lock) != 0)
        _exit(1);
}

static void lock_to_write(void)
{
    lock_as(F_WRLCK);
}

static void lock_to_read(void)
{
    lock_as(F_RDLCK);
}

static void a_launcher_is_found(void **state)
{
    struct job_state job;
    struct job_mark mark;
    struct tr_error error = TR_ERROR_INIT;
    (void)state;
    pid_t launcher = begin(launch);
    assert_int_equal(job_mark_look(log_path, &job, &error), 0);
    assert_true(job.runs);
    assert_int_equal(job.launcher, launcher);
    assert_int_equal(job_mark_take(&mark, log_path, "cluster.json", &error), TR_EEXIST);
    end(launcher);
    assert_int_equal(job_mark_look(log_path, &job, &error), 0);
    assert_false(job.runs);
    assert_int_equal(job.code, -1);
}

static void another_program_is_none(void **state)
{
    void (*const locks[])(void) = { lock_to_write, lock_to_read };
    (void)state;
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        struct job_state job;
        struct tr_error error = TR_ERROR_INIT;
        char number[32];
        pid_t other = begin(locks[i]);
        assert_int_equal(job_mark_look(log_path, &job, &error), TR_EEXIST);
        assert_false(job.runs);
        assert_int_equal(job.launcher, 0);
        snprintf(number, sizeof number, "process %ld", (long)other);
        assert_non_null(strstr(error.message, number));
        end(other);
    }
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    snprintf(mark_path, sizeof mark_path, "%s.job", log_path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(mark_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launcher_is_found),
        cmocka_unit_test(another_program_is_none),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

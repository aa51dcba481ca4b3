/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the launcher: words that survive a shell, lines that never mix, children that leave
 * nothing behind. */
#include <errno.h>
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

#include "cli/lib/tame.h"
#include "launch/argv_builder.h"
#include "launch/child.h"
#include "launch/line_reader.h"
#include "tests/schemas/random.h"

/* Waits are bounded so that a hang is a failure; nothing needs so long. */
#define WAIT_ROUNDS 3000

static void draw_word(uint64_t *state, char *word, size_t size)
{
    static const char HARD[] = "'\"\\ $`\n\t;&|<>(){}[]*?!~#=%-aZ0";
    size_t length = (size_t)random_below(state, size);
    for (size_t i = 0; i < length; i++)
        word[i] = HARD[random_below(state, sizeof HARD - 1)];
    word[length] = '\0';
}

/* A shell splits the quoted text into the words again: printf shows each with its end. */
static void a_shell_splits_words_as_they_were(void **unused)
{
    uint64_t state = 5;
    (void)unused;
    for (int round = 0; round < 40; round++) {
        struct argv_builder words = { 0 };
        char expected[2000] = "", word[24];
        size_t used = 0;
        argv_builder_add(&words, "printf");
        argv_builder_add(&words, "%s|\\n");
        for (uint64_t i = 1 + random_below(&state, 8); i > 0; i--) {
            draw_word(&state, word, sizeof word);
            argv_builder_add(&words, word);
            used += (size_t)snprintf(expected + used, sizeof expected - used, "%s|\n", word);
        }
        assert_false(argv_builder_failed(&words));
        char *line = argv_builder_quote(&words);
        assert_non_null(line);
        FILE *from = popen(line, "r");
        assert_non_null(from);
        char seen[2000];
        size_t got = fread(seen, 1, sizeof seen - 1, from);
        seen[got] = '\0';
        assert_int_equal(pclose(from), 0);
        assert_string_equal(seen, expected);
        free(line);
        argv_builder_fini(&words);
    }
}

/* The linker gives it the calls of vasprintf (tests.mk). */
static bool vasprintf_fails;

int __real_vasprintf(char **text, const char *format, va_list args);
int __wrap_vasprintf(char **text, const char *format, va_list args);

int __wrap_vasprintf(char **text, const char *format, va_list args)
{
    return vasprintf_fails ? -1 : __real_vasprintf(text, format, args);
}

/* A word that could not be made is not left out: the whole line has failed, and stays so. */
static void a_word_without_memory_is_a_failure(void **unused)
{
    struct argv_builder words = { 0 };
    (void)unused;
    argv_builder_addf(&words, "%d", 1);
    assert_false(argv_builder_failed(&words));
    vasprintf_fails = true;
    argv_builder_addf(&words, "%d", 2);
    vasprintf_fails = false;
    assert_true(argv_builder_failed(&words));
    argv_builder_addf(&words, "%d", 3);
    assert_true(argv_builder_failed(&words));
    assert_int_equal(words.count, 2);
    assert_string_equal(words.list[0], "1");
    assert_string_equal(words.list[1], "3");
    assert_null(words.list[2]);
    argv_builder_fini(&words);
}

static void too_many_words_are_a_failure(void **unused)
{
    struct argv_builder words = { 0 };
    (void)unused;
    for (size_t i = 0; i < ARGV_WORDS_MAX + 2; i++)
        argv_builder_add(&words, "x");
    assert_true(argv_builder_failed(&words));
    assert_int_equal(words.count, ARGV_WORDS_MAX - 1); /* and the NULL */
    assert_null(words.list[words.count]);
    argv_builder_fini(&words);
}

/* All words that fit are kept, and what failed in one list has failed in the list that it is added
 * to. */
static void words_are_kept_up_to_the_bound(void **unused)
{
    struct argv_builder words = { 0 }, more = { 0 }, failed = { .failed = true };
    char expected[8];
    (void)unused;
    for (int i = 0; i < 100; i++)
        argv_builder_addf(i < 40 ? &words : &more, "w%d", i);
    argv_builder_add_all(&words, &more);
    assert_int_equal(words.count, 100);
    for (int i = 0; i < 100; i++) {
        snprintf(expected, sizeof expected, "w%d", i);
        assert_string_equal(words.list[i], expected);
    }
    assert_null(words.list[100]);
    assert_int_equal(more.count, 60); /* copied, not taken */
    while (words.count < ARGV_WORDS_MAX - 1)
        argv_builder_add(&words, "x");
    assert_false(argv_builder_failed(&words));
    argv_builder_add(&words, "x");
    assert_true(argv_builder_failed(&words));
    argv_builder_fini(&words);
    assert_int_equal(words.count, 0);
    assert_false(argv_builder_failed(&words));
    argv_builder_add(&words, "x");
    argv_builder_add_all(&more, &words);
    assert_false(argv_builder_failed(&more));
    argv_builder_add_all(&more, &failed);
    assert_true(argv_builder_failed(&more));
    argv_builder_add_all(&more, &words); /* a list in order does not mend another */
    assert_true(argv_builder_failed(&more));
    argv_builder_fini(&words);
    argv_builder_fini(&more);
}

/* People read the commands: only what a shell would take apart is quoted. */
static void only_words_that_need_it_are_quoted(void **unused)
{
    static const char *const WORDS[] = {
        "ssh", "-p", "a=b,c:/d.e_f@g%h+1", "", "a b", "it's", "~"
    };
    struct argv_builder words = { 0 };
    (void)unused;
    char *line = argv_builder_quote(&words);
    assert_string_equal(line, "");
    free(line);
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        argv_builder_add(&words, WORDS[i]);
    line = argv_builder_quote(&words);
    assert_string_equal(line, "ssh -p a=b,c:/d.e_f@g%h+1 '' 'a b' 'it'\\''s' '~'");
    free(line);
    argv_builder_fini(&words);
}

struct seen {
    char *text; /* every line and an end */
    size_t used, room;
};

static void keep(void *arg, char *line, size_t length)
{
    struct seen *seen = arg;
    assert_true(length <= LINE_BYTES_MAX);
    assert_int_equal(line[length], '\0');
    assert_true(seen->used + length + 1 < seen->room);
    memcpy(seen->text + seen->used, line, length);
    seen->used += length;
    seen->text[seen->used++] = '\n';
}

/* However a text is cut, the lines are the same; those that are too long come in pieces. */
static void lines_are_whole_however_they_come(void **unused)
{
    uint64_t state = 9;
    struct line_reader *lines = malloc(sizeof *lines);
    (void)unused;
    assert_non_null(lines);
    for (int round = 0; round < 200; round++) {
        size_t size = (size_t)random_below(&state, 30000), at = 0;
        char *text = malloc(size + 1);
        struct seen seen = { .text = malloc(2 * size + 64), .room = 2 * size + 64 };
        assert_non_null(text);
        assert_non_null(seen.text);
        uint64_t every = 1 + random_below(&state, 20000);
        for (size_t i = 0; i < size; i++)
            text[i] = random_below(&state, every) == 0 ? '\n' : 'a' + (char)(i % 26);
        line_reader_init(lines, keep, &seen);
        while (at < size) {
            size_t room, count = 1 + (size_t)random_below(&state, 9000);
            char *into = line_reader_room(lines, &room);
            assert_true(room > 0);
            count = count < room ? count : room;
            count = count < size - at ? count : size - at;
            memcpy(into, text + at, count);
            line_reader_grew(lines, count);
            at += count;
        }
        line_reader_end(lines);
        size_t t = 0, length = 0;
        for (size_t s = 0; s < seen.used; s++) {
            if (t < size && seen.text[s] == text[t]) {
                length = text[t++] == '\n' ? 0 : length + 1;
                continue;
            }
            /* an end that is not in the text: of a piece, or of the last line */
            assert_int_equal(seen.text[s], '\n');
            assert_true(length == LINE_BYTES_MAX || t == size);
            length = 0;
        }
        assert_int_equal(t, size);
        free(text);
        free(seen.text);
    }
    free(lines);
}

static void feed(struct line_reader *lines, const char *text, size_t count)
{
    while (count > 0) {
        size_t room;
        char *into = line_reader_room(lines, &room);
        size_t step = count < room ? count : room;
        memcpy(into, text, step);
        line_reader_grew(lines, step);
        text += step;
        count -= step;
    }
}

/* One byte below the bound, at it and one above: a line, the same in full, and two. Ends of other
 * systems are no part of a line, and a last line needs no end. */
static void lines_end_where_they_end(void **unused)
{
    static const struct {
        const char *in, *out;
    } CASES[] = {
        { "", "" },
        { "a", "a\n" },
        { "a\n", "a\n" },
        { "\n\na", "\n\na\n" },
        { "a\r\nb\r", "a\nb\n" },
        { "\r\n", "\n" },
        { "a\r\r\nb\rc\n", "a\r\nb\rc\n" },
    };
    struct line_reader *lines = malloc(sizeof *lines);
    char text[2 * LINE_BYTES_MAX], out[3 * LINE_BYTES_MAX];
    (void)unused;
    assert_non_null(lines);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct seen seen = { .text = out, .room = sizeof out };
        line_reader_init(lines, keep, &seen);
        feed(lines, CASES[i].in, strlen(CASES[i].in));
        line_reader_end(lines);
        line_reader_end(lines); /* nothing is left to be given twice */
        out[seen.used] = '\0';
        assert_string_equal(out, CASES[i].out);
    }
    memset(text, 'x', sizeof text);
    for (size_t length = LINE_BYTES_MAX - 1; length <= LINE_BYTES_MAX + 1; length++) {
        struct seen seen = { .text = out, .room = sizeof out };
        line_reader_init(lines, keep, &seen);
        feed(lines, text, length);
        assert_int_equal(seen.used, length < LINE_BYTES_MAX ? 0 : LINE_BYTES_MAX + 1);
        line_reader_end(lines);
        assert_int_equal(seen.used, length + (length > LINE_BYTES_MAX ? 2 : 1));
    }
    free(lines);
}

static void control_bytes_are_tamed(void **unused)
{
    char line[] = "a\033[2Jb\tc\x7f";
    (void)unused;
    tame_line(line, strlen(line));
    assert_string_equal(line, "a?[2Jb\tc?");
    char bounds[] = "\x01\x08\t\n\x1f ~\x7f\x80\xff\x01";
    tame_line(bounds, strlen(bounds) - 1); /* and not a byte behind them */
    assert_string_equal(bounds, "??\t?? ~?\x80\xff\x01");
}

static size_t read_all(int fd, char *text, size_t size)
{
    size_t used = 0;
    ssize_t got;
    while (used + 1 < size && (got = read(fd, text + used, size - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    return used;
}

static void wait_end(struct child_process *child, int *code, int *number)
{
    int rounds = 0;
    while (!child_ended(child, code, number)) {
        assert_true(rounds++ < WAIT_ROUNDS);
        usleep(10000);
    }
}

static void start_shell(struct child_process *child, const char *script)
{
    struct argv_builder words = { 0 }, environment = { 0 };
    argv_builder_add(&words, "sh");
    argv_builder_add(&words, "-c");
    argv_builder_add(&words, script);
    argv_builder_add(&environment, "TROUPE_TEST=seen");
    argv_builder_add(&environment, "HOME=/nowhere");
    const struct child_start start = { .words = words.list,
                                       .environment = environment.list,
                                       .orphan_signal = SIGTERM };
    struct error error = { 0 };
    assert_int_equal(child_start(child, &start, &error), 0);
    argv_builder_fini(&words);
    argv_builder_fini(&environment);
}

static void a_child_gets_its_environment_and_tells_how_it_ended(void **unused)
{
    struct child_process child;
    char text[200];
    int code, number;
    (void)unused;
    start_shell(&child, "echo $TROUPE_TEST $HOME; echo problem >&2; cat; exit 7");
    child_close_input(&child); /* or cat would wait */
    read_all(child.out, text, sizeof text);
    assert_string_equal(text, "seen /nowhere\n");
    read_all(child.err, text, sizeof text);
    assert_string_equal(text, "problem\n");
    wait_end(&child, &code, &number);
    assert_int_equal(code, 7);
    assert_int_equal(number, 0);
    child_close(&child);
    start_shell(&child, "kill -9 $$");
    wait_end(&child, &code, &number);
    assert_int_equal(number, 9);
    child_close(&child);
}

/* Also where this program has closed its own streams, whose numbers the pipes would get. */
static void a_child_of_a_program_without_streams_has_its_own(void **unused)
{
    (void)unused;
    for (unsigned closed = 1; closed < 8; closed++) {
        struct child_process child;
        char out[32], err[32];
        int kept[3], code, number;
        fflush(NULL);
        for (int fd = 0; fd < 3; fd++) {
            kept[fd] = (closed & 1u << fd) != 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 10) : -1;
            if (kept[fd] >= 0)
                close(fd);
        }
        start_shell(&child, "cat; echo problem >&2");
        ssize_t written = write(child.in, "word\n", 5);
        bool above = child.in > 2 && child.out > 2 && child.err > 2;
        child_close_input(&child);
        read_all(child.out, out, sizeof out);
        read_all(child.err, err, sizeof err);
        wait_end(&child, &code, &number);
        child_close(&child);
        for (int fd = 0; fd < 3; fd++)
            if (kept[fd] >= 0) {
                dup2(kept[fd], fd);
                close(kept[fd]);
            }
        assert_true(above);
        assert_int_equal(written, 5);
        assert_string_equal(out, "word\n");
        assert_string_equal(err, "problem\n");
        assert_int_equal(code, 0);
    }
}

/* A name that another begins with is another, whichever of them is given. */
static void names_of_the_environment_are_whole(void **unused)
{
    struct child_process child;
    char text[200];
    int code, number;
    (void)unused;
    setenv("HOM", "short", 1);
    setenv("HOMER", "long", 1);
    setenv("TROUPE_TEST", "ours", 1);
    start_shell(&child, "echo $HOM $HOME $HOMER $TROUPE_TEST");
    read_all(child.out, text, sizeof text);
    assert_string_equal(text, "short /nowhere long seen\n");
    wait_end(&child, &code, &number);
    child_close(&child);
    unsetenv("HOM");
    unsetenv("HOMER");
    unsetenv("TROUPE_TEST");
}

static volatile sig_atomic_t urgent;

static void note_urgent(int number)
{
    (void)number;
    urgent = 1;
}

/* Its number may be another's by then; a second wait for it learns nothing. */
static void an_ended_child_is_neither_waited_for_nor_signalled(void **unused)
{
    struct child_process child, none = CHILD_NONE;
    int code, number;
    (void)unused;
    signal(SIGURG, note_urgent);
    start_shell(&child, "exit 0");
    wait_end(&child, &code, &number);
    assert_int_equal(code, 0);
    for (int i = 0; i < 2; i++) {
        struct child_process *ended = i == 0 ? &child : &none;
        assert_false(child_ended(ended, &code, &number));
        child_signal(ended, SIGURG); /* to 0 it would be to all of this group */
        assert_int_equal(urgent, 0);
    }
    signal(SIGURG, SIG_DFL);
    child_close(&child);
    child_close(&child); /* nothing is closed twice */
    assert_int_equal(child.in, -1);
    assert_int_equal(child.out, -1);
    assert_int_equal(child.err, -1);
    assert_int_equal(child.pidfd, -1);
}

/* A process that leads a group, answers each byte with one, and ends with its input. */
static void echo_bytes(int in, int out)
{
    char byte;
    while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
        continue;
    _exit(0);
}

/* Where this program ignores SIGCHLD an ended child's number is free, and may be that of a process
 * which is none of its children. */
static void another_process_of_that_number_is_not_signalled(void **unused)
{
    int to[2], from[2];
    pid_t stranger = 0;
    char byte = 'x';
    int code, number;
    (void)unused;
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    pid_t between = fork();
    if (between == 0) {
        stranger = fork();
        if (stranger == 0) {
            setsid();
            close(to[1]);
            echo_bytes(to[0], from[1]);
        }
        _exit(write(from[1], &stranger, sizeof stranger) == sizeof stranger ? 0 : 1);
    }
    assert_true(between > 0);
    assert_int_equal(waitpid(between, &code, 0), between);
    assert_int_equal(read(from[0], &stranger, sizeof stranger), sizeof stranger);
    /* Once it has answered it leads its group. */
    assert_int_equal(write(to[1], &byte, 1), 1);
    assert_int_equal(read(from[0], &byte, 1), 1);
    struct child_process ended = CHILD_NONE;
    ended.pid = stranger;
    child_signal(&ended, SIGKILL);
    assert_true(child_ended(&ended, &code, &number));
    close(from[1]);
    assert_int_equal(write(to[1], &byte, 1), 1);
    assert_int_equal(read(from[0], &byte, 1), 1);
    close(to[0]);
    close(to[1]);
    close(from[0]);
}

/* Signals that this program blocks or ignores end a child as they end any program. */
static void a_child_heeds_signals_again(void **unused)
{
    static const int NUMBERS[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };
    sigset_t blocked, before;
    (void)unused;
    sigemptyset(&blocked);
    for (size_t i = 0; i < 4; i++)
        sigaddset(&blocked, NUMBERS[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    signal(SIGTERM, SIG_IGN);
    for (size_t i = 0; i < 4; i++) {
        struct child_process child;
        char text[8];
        int code, number;
        start_shell(&child, "echo; exec sleep 1000");
        assert_int_equal(read(child.out, text, sizeof text), 1);
        child_signal(&child, NUMBERS[i]);
        wait_end(&child, &code, &number);
        assert_int_equal(number, NUMBERS[i]);
        assert_int_equal(code, 0);
        child_close(&child);
    }
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The input is there before the program; it begins in its folder, or not at all. */
static void a_child_begins_with_its_input_in_its_folder(void **unused)
{
    struct argv_builder words = { 0 };
    struct child_start start = { .orphan_signal = SIGTERM, .input = "first\n", .folder = "/" };
    struct child_process child;
    struct error error = { 0 };
    char text[200];
    int code, number;
    (void)unused;
    argv_builder_add(&words, "sh");
    argv_builder_add(&words, "-c");
    argv_builder_add(&words, "cat; pwd");
    start.words = words.list;
    assert_int_equal(child_start(&child, &start, &error), 0);
    assert_int_equal(write(child.in, "next\n", 5), 5);
    child_close_input(&child);
    read_all(child.out, text, sizeof text);
    assert_string_equal(text, "first\nnext\n/\n");
    wait_end(&child, &code, &number);
    child_close(&child);
    start.folder = "/nowhere/at/all";
    assert_int_equal(child_start(&child, &start, &error), 0);
    read_all(child.err, text, sizeof text);
    assert_string_equal(text, "/nowhere/at/all: cannot go to this folder\n");
    wait_end(&child, &code, &number);
    assert_int_equal(code, 127);
    child_close(&child);
    argv_builder_fini(&words);
}

static void a_program_that_is_not_there_ends_as_in_a_shell(void **unused)
{
    struct argv_builder words = { 0 };
    argv_builder_add(&words, "/nonexistent/program");
    const struct child_start start = { .words = words.list, .orphan_signal = SIGTERM };
    struct child_process child;
    struct error error = { 0 };
    char text[200];
    int code, number;
    (void)unused;
    assert_int_equal(child_start(&child, &start, &error), 0);
    read_all(child.err, text, sizeof text);
    assert_non_null(strstr(text, "/nonexistent/program: cannot be run"));
    wait_end(&child, &code, &number);
    assert_int_equal(code, 127);
    child_close(&child);
    argv_builder_fini(&words);
}

/* Programs that a child started in the background end with it. */
static void nothing_is_left_of_a_child(void **unused)
{
    struct child_process child;
    char text[100];
    int code, number;
    (void)unused;
    start_shell(&child, "sleep 1000 >/dev/null 2>&1 & echo $!");
    read_all(child.out, text, sizeof text);
    pid_t background = (pid_t)atol(text);
    assert_true(background > 1);
    wait_end(&child, &code, &number);
    child_close(&child);
    for (int i = 0; kill(background, 0) == 0; i++) {
        /* a zombie that nobody waits for yet is no process any more */
        char path[64], state[400] = "";
        snprintf(path, sizeof path, "/proc/%ld/stat", (long)background);
        FILE *from = fopen(path, "r");
        if (from == NULL)
            break;
        bool dead = fgets(state, sizeof state, from) != NULL && strstr(state, ") Z ") != NULL;
        fclose(from);
        if (dead)
            break;
        assert_true(i < WAIT_ROUNDS);
        usleep(10000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shell_splits_words_as_they_were),
        cmocka_unit_test(a_word_without_memory_is_a_failure),
        cmocka_unit_test(too_many_words_are_a_failure),
        cmocka_unit_test(words_are_kept_up_to_the_bound),
        cmocka_unit_test(only_words_that_need_it_are_quoted),
        cmocka_unit_test(lines_are_whole_however_they_come),
        cmocka_unit_test(lines_end_where_they_end),
        cmocka_unit_test(control_bytes_are_tamed),
        cmocka_unit_test(a_child_gets_its_environment_and_tells_how_it_ended),
        cmocka_unit_test(a_child_of_a_program_without_streams_has_its_own),
        cmocka_unit_test(names_of_the_environment_are_whole),
        cmocka_unit_test(an_ended_child_is_neither_waited_for_nor_signalled),
        cmocka_unit_test(another_process_of_that_number_is_not_signalled),
        cmocka_unit_test(a_child_heeds_signals_again),
        cmocka_unit_test(a_child_begins_with_its_input_in_its_folder),
        cmocka_unit_test(a_program_that_is_not_there_ends_as_in_a_shell),
        cmocka_unit_test(nothing_is_left_of_a_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a launch as people and programs see them: which stream gets what, in which form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/launch/launch_show.h"
#include "tests/cli/capture.h"

#define TEXT_MAX 1000

static void assert_shown(const struct launch_show *show, const struct tr_launch_event *event,
                         const char *out, const char *err)
{
    char said[TEXT_MAX], cried[TEXT_MAX];
    struct capture output, errors;
    capture_begin(&output, STDOUT_FILENO);
    capture_begin(&errors, STDERR_FILENO);
    launch_show_event(show, event);
    capture_end(&errors, cried, sizeof cried);
    capture_end(&output, said, sizeof said);
    assert_string_equal(said, out);
    assert_string_equal(cried, err);
}

static struct tr_launch_event event_of(enum tr_launch_event_kind kind, int stream, const char *text)
{
    return (struct tr_launch_event){ .size = sizeof(struct tr_launch_event),
                                     .kind = kind,
                                     .process = 7,
                                     .host = "h",
                                     .role = "trainer",
                                     .stream = stream,
                                     .text = text,
                                     .text_bytes = strlen(text) };
}

/* Lines go where their process wrote them; what the launcher says of it, to the errors. */
static void people_see_who_said_it(void **state)
{
    static const enum tr_launch_event_kind SAID[] = { TR_LAUNCH_STARTED, TR_LAUNCH_FAILED,
                                                      TR_LAUNCH_KERNELS, TR_LAUNCH_STOPPING,
                                                      TR_LAUNCH_KILLED,  TR_LAUNCH_ENDED };
    const struct launch_show show = { .json = false }, quiet = { .quiet = true };
    (void)state;
    struct tr_launch_event event = event_of(TR_LAUNCH_LINE, 1, "a");
    assert_shown(&show, &event, "[h/trainer 7] a\n", "");
    assert_shown(&quiet, &event, "[h/trainer 7] a\n", "");
    event.stream = 2;
    assert_shown(&show, &event, "", "[h/trainer 7] a\n");
    for (size_t i = 0; i < sizeof SAID / sizeof *SAID; i++) {
        event = event_of(SAID[i], 0, "b");
        assert_shown(&show, &event, "", "[h/trainer 7] b\n");
        assert_shown(&quiet, &event, "", "");
    }
    event = event_of(TR_LAUNCH_HELPER, 1, "c");
    assert_shown(&show, &event, "c\n", "");
    event.stream = 2;
    assert_shown(&show, &event, "", "c\n");
    event = event_of(TR_LAUNCH_NOTE, 0, "d");
    assert_shown(&show, &event, "", "troupe launch: d\n");
    assert_shown(&quiet, &event, "", "troupe launch: d\n");
}

/* The lines of a terminal: a colour a process, and no byte that moves the cursor. */
static void terminals_get_colours_and_no_control_bytes(void **state)
{
    const struct launch_show show = { .colour = { false, true, false } };
    struct tr_launch_event event = event_of(TR_LAUNCH_LINE, 1, "a\033b");
    (void)state;
    assert_shown(&show, &event, "\033[34m[h/trainer 7]\033[0m a?b\n", "");
    event.process = 5; /* the first colour again */
    assert_shown(&show, &event, "\033[32m[h/trainer 5]\033[0m a?b\n", "");
    event.process = 4;
    assert_shown(&show, &event, "\033[36m[h/trainer 4]\033[0m a?b\n", "");
    event.stream = 2; /* which is no terminal */
    assert_shown(&show, &event, "", "[h/trainer 4] a\033b\n");
}

static void programs_get_objects(void **state)
{
    static const struct {
        enum tr_launch_event_kind kind;
        int stream;
        const char *name, *says;
    } CASES[] = {
        { TR_LAUNCH_LINE, 1, "line", "\"stream\":\"stdout\"," },
        { TR_LAUNCH_LINE, 2, "line", "\"stream\":\"stderr\"," },
        { TR_LAUNCH_STARTED, 0, "started", "" },
        { TR_LAUNCH_FAILED, 0, "failed", "" },
        { TR_LAUNCH_KERNELS, 0, "kernels", "" },
        { TR_LAUNCH_STOPPING, 0, "stopping", "" },
        { TR_LAUNCH_KILLED, 0, "killed", "" },
        { TR_LAUNCH_ENDED, 0, "ended", "" },
    };
    const struct launch_show show = { .json = true, .quiet = true };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char expected[TEXT_MAX];
        const struct tr_launch_event event = event_of(CASES[i].kind, CASES[i].stream, "t \"q\"");
        snprintf(expected, sizeof expected,
                 "{\"event\":\"%s\",\"process\":7,\"host\":\"h\",\"role\":\"trainer\",%s"
                 "\"text\":\"t \\\"q\\\"\"}\n",
                 CASES[i].name, CASES[i].says);
        assert_shown(&show, &event, expected, "");
    }
    struct tr_launch_event event = event_of(TR_LAUNCH_STARTED, 0, "\xff");
    assert_shown(&show, &event,
                 "{\"event\":\"started\",\"process\":7,\"host\":\"h\",\"role\":\"trainer\","
                 "\"text\":\"?\"}\n",
                 "");
    event = event_of(TR_LAUNCH_HELPER, 1, "c"); /* the output has objects alone */
    assert_shown(&show, &event, "", "c\n");
    event = event_of(TR_LAUNCH_NOTE, 0, "d");
    assert_shown(&show, &event, "", "troupe launch: d\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_see_who_said_it),
        cmocka_unit_test(terminals_get_colours_and_no_control_bytes),
        cmocka_unit_test(programs_get_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

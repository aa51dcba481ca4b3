/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoints: what is taken comes out of format as it went in; the rest is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/endpoint.h"

static const char *const good[] = {
    "unix:/run/troupe/0.sock", "unix:/a",         "tcp:host:7000",
    "tcp:10.0.0.1:1",          "tcp:[::1]:65535", "tcp:[fe80::1%eth0]:7000",
    "tcp:a-b.c_d.example:0",   "tcp:[::]:0",      "tcp:localhost:80",
};

static const char *const bad[] = {
    "",
    "host:7000",
    "udp:host:7000",
    "unix:",
    "unix:relative.sock",
    "tcp:",
    "tcp::",
    "tcp:host",
    "tcp:host:",
    "tcp:host:-1",
    "tcp:host:+1",
    "tcp:host: 1",
    "tcp:host:65536",
    "tcp:host:100000",
    "tcp:host:70x",
    "tcp::7000",
    "tcp:::1:7000",
    "tcp:::1",
    "tcp:[::1]",
    "tcp:[::1]7000",
    "tcp:[::1:7000",
    "tcp:[]:7000",
    "tcp:[host]:7000",
    "tcp:[::1%]:7000",
    "tcp:ho st:7000",
    "tcp:host/x:7000",
    "tcp:-host:7000",
    "tcp:.host:7000",
    "tcp:host:000080",
    "tcp:[::1%-eth0]:7000",
    "tcp:[1]:7000",
};

static void good_ones_come_out_as_they_went_in(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct endpoint endpoint;
        char text[ENDPOINT_TEXT_MAX];
        assert_int_equal(endpoint_parse(good[i], &endpoint, NULL), 0);
        endpoint_format(&endpoint, text, sizeof text);
        assert_string_equal(text, good[i]);
    }
}

static void bad_ones_are_refused_with_the_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct endpoint endpoint = { .port = 42 };
        struct error error = { 0 };
        if (endpoint_parse(bad[i], &endpoint, &error) != TR_EINVAL)
            fail_msg("%s is taken", bad[i]);
        assert_int_equal(error.code, TR_EINVAL);
        assert_non_null(strstr(error.text, "endpoint "));
        assert_int_equal(endpoint.port, 42); /* left alone */
    }
}

/* Each part lies in its own field, and what is wrong is said of the right one. */
static void parts_and_reasons_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        { "host:7000", "endpoint host:7000: it begins neither with unix: nor with tcp:; " },
        { "unix:here", "endpoint unix:here: the path does not begin with /; " },
        { "tcp:host", "endpoint tcp:host: it names no port; " },
        { "tcp:[::1]7000", "endpoint tcp:[::1]7000: it names no port; " },
        { "tcp:a:b:1", "endpoint tcp:a:b:1: an IPv6 address stands in brackets; " },
        { "tcp:[host]:1", "endpoint tcp:[host]:1: host is not an IPv6 address; " },
        { "tcp:[]:1", "endpoint tcp:[]:1: nothing is not an IPv6 address; " },
        { "tcp:a/b:1", "endpoint tcp:a/b:1: a/b is not the name or address of a host; " },
        { "tcp::1", "endpoint tcp::1: nothing is not the name or address of a host; " },
        { "tcp:a:x", "endpoint tcp:a:x: its port is not a number from 0 to 65535; " },
        { "tcp:a:", "endpoint tcp:a:: its port is not a number from 0 to 65535; " },
        { "tcp:a:65536", "endpoint tcp:a:65536: port 65536 is more than 65535" },
        { "tcp:a:99999", "endpoint tcp:a:99999: port 99999 is more than 65535" },
    };
    struct endpoint endpoint;
    struct error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(endpoint_parse(cases[i].text, &endpoint, &error), TR_EINVAL);
        if (strncmp(error.text, cases[i].reason, strlen(cases[i].reason)) != 0)
            fail_msg("%s", error.text);
    }
    assert_int_equal(endpoint_parse("tcp:[fe80::1%eth0]:07000", &endpoint, &error), 0);
    assert_int_equal(endpoint.kind, ENDPOINT_TCP);
    assert_string_equal(endpoint.host, "fe80::1%eth0");
    assert_int_equal(endpoint.port, 7000);
    assert_int_equal(endpoint_parse("unix:/a:b", &endpoint, &error), 0);
    assert_int_equal(endpoint.kind, ENDPOINT_UNIX);
    assert_string_equal(endpoint.host, "/a:b");
    assert_int_equal(endpoint.port, 0);
    char text[ENDPOINT_TEXT_MAX];
    endpoint = (struct endpoint){ .kind = ENDPOINT_NONE };
    endpoint_format(&endpoint, text, sizeof text);
    assert_string_equal(text, "none");
}

static void lengths_are_bounded(void **state)
{
    (void)state;
    char text[2000] = "unix:/";
    char small[8];
    struct endpoint endpoint;
    struct error error;
    memset(text + 6, 'x', 106);
    assert_int_equal(endpoint_parse(text, &endpoint, &error), 0); /* 107 bytes of path */
    endpoint_format(&endpoint, small, sizeof small);
    assert_string_equal(small, "unix:/x");
    memset(text + 6, 'x', 107);
    assert_int_equal(endpoint_parse(text, &endpoint, &error), TR_EINVAL);
    memset(text + 6, 'x', 1900);
    assert_int_equal(endpoint_parse(text, &endpoint, &error), TR_EINVAL);

    for (size_t length = 250; length < 1900; length += length < 260 ? 1 : 300) {
        memcpy(text, "tcp:", 4);
        memset(text + 4, 'h', length);
        memcpy(text + 4 + length, ":1", 3);
        assert_int_equal(endpoint_parse(text, &endpoint, &error), length <= 253 ? 0 : TR_EINVAL);
    }
    memcpy(text, "tcp:[", 5);
    memset(text + 5, '1', 200);
    memcpy(text + 205, "]:1", 4);
    assert_int_equal(endpoint_parse(text, &endpoint, &error), TR_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_ones_come_out_as_they_went_in),
        cmocka_unit_test(bad_ones_are_refused_with_the_forms),
        cmocka_unit_test(parts_and_reasons_are_named),
        cmocka_unit_test(lengths_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

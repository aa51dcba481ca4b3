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
        cmocka_unit_test(lengths_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

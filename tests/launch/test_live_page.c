/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live page as a stranger sees it, over bare sockets: nothing without the token or under a name
 * that is not ours, GET and HEAD alone, so many streams, and events that go on where a page was.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <jansson.h>

#include <troupe/troupe.h>

#include "runtime/base/files.h"
#include "runtime/base/history_file.h"
#include "runtime/net/http.h"
#include "tests/api/api_world.h"

#define TEXT_MAX 200000u

static struct tr_observer *observer;
static struct tr_live_page *page;
static struct tr_error failure = TR_ERROR_INIT;
static uint16_t port;
static char token[64], cookie[128], text[TEXT_MAX];

static int dial(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct timeval wait = { .tv_sec = 60 };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static int send_request(const char *request)
{
    int fd = dial();
    assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    return fd;
}

/* Everything until the end of the connection, or until `until` has come. A reset is an end too. */
static void read_until(int fd, const char *until)
{
    size_t used = 0;
    ssize_t got;
    text[0] = '\0';
    while (used + 1 < sizeof text && (until == NULL || strstr(text, until) == NULL) &&
           (got = read(fd, text + used, sizeof text - 1 - used)) > 0) {
        used += (size_t)got;
        text[used] = '\0';
    }
}

/* method and path as on the first line; host and the cookie's field where they are not NULL. */
static void ask(const char *first, const char *host, const char *with)
{
    char request[2000];
    snprintf(request, sizeof request, "%s HTTP/1.1\r\n%s%s%s%s%s%s\r\n", first,
             host != NULL ? "Host: " : "", host != NULL ? host : "", host != NULL ? "\r\n" : "",
             with != NULL ? "Cookie: " : "", with != NULL ? with : "", with != NULL ? "\r\n" : "");
    int fd = send_request(request);
    read_until(fd, NULL);
    close(fd);
}

/* From here on that page is asked. */
static void take_cookie(const struct tr_live_page *of)
{
    unsigned at;
    assert_int_equal(
        sscanf(tr_live_page_url(of), "http://127.0.0.1:%u/?token=%32[0-9a-f]", &at, token), 2);
    port = (uint16_t)at;
    char first[160];
    snprintf(first, sizeof first, "GET /?token=%s", token);
    ask(first, "localhost", NULL);
    const char *given = strstr(text, "Set-Cookie: ");
    assert_non_null(given);
    assert_int_equal(sscanf(given, "Set-Cookie: %100[^;]", cookie), 1);
}

static void check_status(unsigned status)
{
    char expected[32];
    snprintf(expected, sizeof expected, "HTTP/1.1 %u ", status);
    if (strncmp(text, expected, strlen(expected)) != 0)
        fail_msg("expected %s, got %.400s", expected, text);
}

/* That it says nothing of the job, nor what it would take to hear of it. */
static void check_nothing_shown(void)
{
    assert_null(strstr(text, "a-host-of-the-job"));
    assert_null(strstr(text, "<html lang"));
    assert_null(strstr(text, token));
    assert_null(strstr(text, "Set-Cookie"));
}

static const char *const PATHS[] = { "/",
                                     "/status.json",
                                     "/events",
                                     "/live_page.js",
                                     "/other",
                                     "/live_page.css",
                                     "/?token=",
                                     "/?token=00",
                                     "/events?token=0123456789abcdef0123456789abcdef" };

static void nothing_is_served_without_the_token(void **state)
{
    static const char *const METHODS[] = { "GET", "HEAD" };
    char wrong[160], first[160];
    (void)state;
    snprintf(wrong, sizeof wrong, "%s", cookie);
    wrong[strlen(wrong) - 1] ^= 1;
    const char *const cookies[] = { NULL, "", "troupe", "troupe=1; a=b", wrong };
    for (size_t p = 0; p < sizeof PATHS / sizeof *PATHS; p++)
        for (size_t m = 0; m < 2; m++)
            for (size_t c = 0; c < sizeof cookies / sizeof *cookies; c++) {
                snprintf(first, sizeof first, "%s %s", METHODS[m], PATHS[p]);
                ask(first, "localhost", cookies[c]);
                check_status(strstr(PATHS[p], "token") != NULL ? 403 : 401);
                check_nothing_shown();
            }
    /* The token is taken for the page alone, where it is replaced by the cookie. */
    snprintf(first, sizeof first, "GET /status.json?token=%s", token);
    ask(first, "localhost", NULL);
    check_status(403);
    check_nothing_shown();
}

static void other_names_are_refused_with_the_token_too(void **state)
{
    static const char *const STRANGERS[] = { NULL,
                                             "",
                                             "evil.example",
                                             "evil.example:80",
                                             "127.0.0.1.evil.example",
                                             "localhost.evil.example",
                                             "128.0.0.1",
                                             "0.0.0.0",
                                             "[::]",
                                             "[::1",
                                             "localhost:80x",
                                             "localhost@evil.example",
                                             "2130706433" };
    static const char *const OURS[] = { "localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:65535",
                                        "127.9.9.9", "[::1]",       "[::1]:80" };
    char first[160];
    (void)state;
    snprintf(first, sizeof first, "GET /?token=%s", token);
    for (size_t s = 0; s < sizeof STRANGERS / sizeof *STRANGERS; s++) {
        ask(first, STRANGERS[s], cookie);
        /* Without the field it is no HTTP/1.1: libmicrohttpd may say so before we do. */
        if (STRANGERS[s] != NULL || strncmp(text, "HTTP/1.1 400 ", 13) != 0)
            check_status(403);
        check_nothing_shown();
    }
    for (size_t o = 0; o < sizeof OURS / sizeof *OURS; o++) {
        ask("GET /status.json", OURS[o], cookie);
        check_status(200);
    }
}

static void only_get_and_head_are_served(void **state)
{
    static const char *const METHODS[] = { "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH" };
    char first[160];
    (void)state;
    for (size_t m = 0; m < sizeof METHODS / sizeof *METHODS; m++) {
        snprintf(first, sizeof first, "%s /", METHODS[m]);
        ask(first, "localhost", cookie);
        check_status(405);
        check_nothing_shown();
    }
    ask("HEAD /", "localhost", cookie);
    check_status(200);
    assert_null(strstr(text, "<html lang"));
    ask("HEAD /events", "localhost", cookie);
    check_status(200);
    assert_null(strstr(text, "event:"));
}

static void the_token_gives_a_cookie_and_the_page(void **state)
{
    char first[160];
    (void)state;
    snprintf(first, sizeof first, "GET /?token=%s", token);
    ask(first, "localhost", NULL);
    check_status(303);
    assert_non_null(strstr(text, "\r\nLocation: /\r\n"));
    assert_non_null(strstr(text, "; HttpOnly; SameSite=Strict\r\n"));
    ask("GET /", "localhost", cookie);
    check_status(200);
    assert_non_null(strstr(text, "\r\nContent-Security-Policy: default-src 'none'; "));
    assert_non_null(strstr(text, "\r\nX-Content-Type-Options: nosniff\r\n"));
    assert_non_null(strstr(text, "\r\nReferrer-Policy: no-referrer\r\n"));
    assert_non_null(strstr(text, "\r\nCache-Control: no-store\r\n"));
    assert_non_null(strstr(text, "<html lang"));
    assert_null(strstr(text, "unsafe-inline"));
    ask("GET /live_page.js", "localhost", cookie);
    check_status(200);
    ask("GET /../status.json", "localhost", cookie);
    check_status(404);
    ask("GET /status.json", "localhost", cookie);
    check_status(200);
    assert_non_null(strstr(text, "a-host-of-the-job"));
}

static int begin_stream(const char *more)
{
    char request[600];
    snprintf(request, sizeof request,
             "GET /events%s HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\n\r\n", more, cookie);
    return send_request(request);
}

static unsigned long last_id(void)
{
    const char *at = strstr(text, "\nid: ");
    assert_non_null(at);
    return strtoul(at + 5, NULL, 10);
}

static void events_go_on_where_a_page_was(void **state)
{
    char more[60];
    (void)state;
    int fd = begin_stream("");
    read_until(fd, "\n\n");
    check_status(200);
    assert_non_null(strstr(text, "text/event-stream"));
    assert_non_null(strstr(text, "retry: "));
    unsigned long first = last_id();
    read_until(fd, "\n\n"); /* the next one, by itself */
    close(fd);
    snprintf(more, sizeof more, "?seen=%lu", first);
    fd = begin_stream(more);
    read_until(fd, "\n\n");
    close(fd);
    assert_true(last_id() > first);
    const char *rows = strstr(text, "\"rows\":[");
    assert_non_null(rows);
    unsigned long come = 0;
    for (const char *at = rows + 7; at[0] != ']' || at[1] != ','; at++)
        come += at[0] == '[' && at[1] != '[';
    assert_int_equal(come, last_id() - first);
}

/* The oldest ends when one more begins, and others are answered meanwhile. */
static void only_so_many_streams_are_open(void **state)
{
    int fds[HTTP_STREAMS_MAX + 3];
    (void)state;
    for (size_t i = 0; i < HTTP_STREAMS_MAX + 3; i++) {
        fds[i] = begin_stream("");
        read_until(fds[i], "\n\n");
        check_status(200);
    }
    for (size_t i = 0; i < 3; i++)
        read_until(fds[i], NULL); /* its end, or else 60 s pass and the next line fails */
    ask("GET /status.json", "localhost", cookie);
    check_status(200);
    read_until(fds[HTTP_STREAMS_MAX + 2], "\n\n");
    assert_non_null(strstr(text, "event: look"));
    for (size_t i = 0; i < HTTP_STREAMS_MAX + 3; i++)
        close(fds[i]);
}

static void large_requests_are_refused(void **state)
{
    static char request[4 * HTTP_REQUEST_MAX];
    (void)state;
    memset(request, 'x', sizeof request - 1);
    memcpy(request, "GET /?token=", 12);
    int fd = send_request(request);
    read_until(fd, NULL);
    close(fd);
    check_status(414);
}

static void addresses_that_others_reach_are_refused(void **state)
{
    static const char *const WRONG[] = { "0.0.0.0:0", "[::]:0", "10.0.0.1:80", "example.org:80" };
    struct tr_live_page_options options = TR_LIVE_PAGE_OPTIONS_INIT;
    struct tr_live_page *none;
    char taken[40];
    (void)state;
    for (size_t w = 0; w < sizeof WRONG / sizeof *WRONG; w++) {
        options.address = WRONG[w];
        assert_int_equal(tr_live_page_open(observer, &options, &none, &failure), TR_EINVAL);
        assert_null(none);
        assert_non_null(strstr(failure.message, "ssh -L"));
    }
    options.address = "no port";
    assert_int_equal(tr_live_page_open(observer, &options, &none, &failure), TR_EINVAL);
    assert_non_null(strstr(failure.message, "PORT"));
    snprintf(taken, sizeof taken, "%u", port);
    options.address = taken;
    assert_int_equal(tr_live_page_open(observer, &options, &none, &failure), TR_EEXIST);
}

static void each_page_has_its_own_token(void **state)
{
    struct tr_live_page *other;
    (void)state;
    assert_int_equal(tr_live_page_open(observer, NULL, &other, &failure), 0);
    assert_null(strstr(tr_live_page_url(other), token));
    int streams[2] = { begin_stream(""), begin_stream("") };
    tr_live_page_close(other);
    for (size_t i = 0; i < 2; i++) {
        read_until(streams[i], "\n\n");
        check_status(200);
        close(streams[i]);
    }
}

/* What the launcher writes after the last look is in the page's last words. */
static void the_end_of_a_job_comes_before_that_of_its_page(void **state)
{
    struct tr_live_page_options options = TR_LIVE_PAGE_OPTIONS_INIT;
    struct tr_live_page *other;
    struct history_file history;
    char run[300], kept_token[64], kept_cookie[128];
    uint16_t kept_port = port;
    (void)state;
    memcpy(kept_token, token, sizeof token);
    memcpy(kept_cookie, cookie, sizeof cookie);
    snprintf(run, sizeof run, "%s/run", world_folder());
    options.run = run;
    assert_int_equal(tr_live_page_open(observer, &options, &other, &failure), 0);
    take_cookie(other);
    int stream = begin_stream("");
    read_until(stream, "\n\n");
    assert_non_null(strstr(text, "\"events\":[]"));
    assert_int_equal(history_file_init(&history, files_posix, run), 0);
    history_file_begin(&history);
    history_file_add(&history, "begun", json_pack("{s:s}", "by", "</script>"));
    read_until(stream, "</script>");
    assert_non_null(strstr(text, "\"event\":\"begun\""));
    history_file_add(&history, "finished", json_pack("{s:s}", "outcome", "complete"));
    history_file_fini(&history);
    tr_live_page_close(other);
    read_until(stream, NULL);
    close(stream);
    const char *finished = strstr(text, "\"event\":\"finished\"");
    const char *noticed = strstr(text, "\"what\":\"complete\"");
    const char *end = strstr(text, "event: end");
    assert_true(finished != NULL && noticed != NULL && end != NULL && finished < end &&
                noticed < end);
    memcpy(token, kept_token, sizeof token);
    memcpy(cookie, kept_cookie, sizeof cookie);
    port = kept_port;
}

static void a_child_of_fork_leaves_it_alone(void **state)
{
    int status;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        tr_live_page_close(page);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    ask("GET /status.json", "localhost", cookie);
    check_status(200);
}

static int set_up(void **state)
{
    struct tr_observer_options options = TR_OBSERVER_OPTIONS_INIT;
    char graph[256], cluster[300];
    world_setup(state);
    world_partition(PARTITION_RANDOM, 2, graph);
    snprintf(cluster, sizeof cluster, "%s/c.json", world_folder());
    FILE *to = fopen(cluster, "w");
    assert_non_null(to);
    fprintf(to,
            "{\"name\": \"job\", \"graph\": \"%s\", \"hosts\": [{\"name\": \"a-host-of-the-job\", "
            "\"unix\": \"%s\"}]}",
            graph, world_folder());
    assert_int_equal(fclose(to), 0);
    options.cluster = cluster;
    if (tr_observer_open(&options, TR_WAIT_FOREVER, &observer, &failure) != 0 ||
        tr_live_page_open(observer, NULL, &page, &failure) != 0)
        fail_msg("%s", failure.message);
    take_cookie(page);
    return 0;
}

static int tear_down(void **state)
{
    int stream = begin_stream("");
    read_until(stream, "\n\n");
    /* A stream that is open does not keep the page from ending, and sees it. */
    tr_live_page_close(page);
    read_until(stream, NULL);
    close(stream);
    tr_observer_close(observer);
    tr_live_page_close(NULL);
    return world_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_token_gives_a_cookie_and_the_page),
        cmocka_unit_test(nothing_is_served_without_the_token),
        cmocka_unit_test(other_names_are_refused_with_the_token_too),
        cmocka_unit_test(only_get_and_head_are_served),
        cmocka_unit_test(events_go_on_where_a_page_was),
        cmocka_unit_test(only_so_many_streams_are_open),
        cmocka_unit_test(large_requests_are_refused),
        cmocka_unit_test(addresses_that_others_reach_are_refused),
        cmocka_unit_test(each_page_has_its_own_token),
        cmocka_unit_test(the_end_of_a_job_comes_before_that_of_its_page),
        cmocka_unit_test(a_child_of_fork_leaves_it_alone),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

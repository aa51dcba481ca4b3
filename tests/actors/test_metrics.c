/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics: the text is OpenMetrics to the letter, and a wrong request for it costs little. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors/report/metrics.h"
#include "runtime/event/env_event.h"
#include "runtime/net/http.h"

#define WAIT_NS UINT64_C(30000000000)

struct fixture {
    struct env *env;
    struct node *node;
    struct batch_store *store;
    struct status_options status;
    struct metrics_options options;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    struct endpoint at;
    bool told;
    int code; /* why it does not listen */
};

static void listening(void *arg, const struct endpoint *endpoint, const struct error *error)
{
    struct fixture *f = arg;
    pthread_mutex_lock(&f->mutex);
    f->told = true;
    f->code = error->code;
    if (endpoint != NULL)
        f->at = *endpoint;
    pthread_cond_signal(&f->wake);
    pthread_mutex_unlock(&f->mutex);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct error error = { 0 };
    struct address address;
    assert_non_null(f);
    *state = f;
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->wake, NULL);
    f->store = batch_store_create(1 << 20);
    assert_int_equal(env_event_create(1, &f->env, &error), 0);
    f->status = (struct status_options){ .job = "a \"job\"\\\n",
                                         .roles = "server",
                                         .store = f->store,
                                         .node = 3,
                                         .incarnation = 9,
                                         .begin_ns = env_now_ns(f->env) };
    f->options = (struct metrics_options){ .status = &f->status, .listening = listening, .arg = f };
    assert_int_equal(metrics_address("0", &f->options.listen, &error), 0);
    const struct node_options options = { .loops = 1 };
    assert_int_equal(node_create(f->env, &options, &f->node, &error), 0);
    const struct actor_options root = { .ops = &metrics_ops, .arg = &f->options };
    assert_int_equal(node_spawn(f->node, &root, &address), 0);
    assert_int_equal(node_start(f->node), 0);
    pthread_mutex_lock(&f->mutex);
    while (!f->told)
        pthread_cond_wait(&f->wake, &f->mutex);
    pthread_mutex_unlock(&f->mutex);
    assert_int_equal(f->at.kind, ENDPOINT_TCP);
    assert_string_equal(f->at.host, "127.0.0.1");
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    node_stop(f->node, env_now_ns(f->env) + WAIT_NS);
    assert_int_equal(node_join(f->node), 0);
    node_destroy(f->node);
    env_destroy(f->env);
    batch_store_release(f->store);
    pthread_mutex_destroy(&f->mutex);
    pthread_cond_destroy(&f->wake);
    free(f);
    return 0;
}

static int dial(const struct fixture *f)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(f->at.port) };
    struct timeval wait = { .tv_sec = 30 };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    inet_pton(AF_INET, f->at.host, &to.sin_addr);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* Everything until the end of the connection; a reset is an end too. */
static size_t read_end(int fd, char *text, size_t size)
{
    size_t used = 0;
    ssize_t got;
    while (used + 1 < size && (got = read(fd, text + used, size - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    close(fd);
    return used;
}

static void ask(const struct fixture *f, const char *request, char *text, size_t size)
{
    int fd = dial(f);
    assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    read_end(fd, text, size);
}

static bool is_name(const char *text, size_t length)
{
    static const char CHARACTERS[] = "abcdefghijklmnopqrstuvwxyz_";
    return length > 0 && strspn(text, CHARACTERS) == length;
}

/* The line of a sample: name, labels if any, one space, a number. */
static void check_sample(const char *line, const char *family, const char *type)
{
    const char *suffix = strcmp(type, "counter") == 0 ? "_total"
                         : strcmp(type, "info") == 0  ? "_info"
                                                      : "";
    char name[128];
    char *end;
    snprintf(name, sizeof name, "%s%s", family, suffix);
    size_t length = strlen(name);
    assert_true(is_name(name, length));
    assert_memory_equal(line, name, length);
    line += length;
    if (*line == '{') {
        bool quoted = false;
        for (line++; *line != '}' || quoted; line++) {
            assert_true(*line != '\0');
            if (*line == '\\')
                line++;
            else if (*line == '"')
                quoted = !quoted;
        }
        line++;
    }
    assert_int_equal(*line, ' ');
    double value = strtod(line + 1, &end);
    assert_true(value >= 0 && end != line + 1 && *end == '\0');
}

/* Families one after the other, each with TYPE, a UNIT that its name ends with, HELP, samples. */
static void check_text(char *text)
{
    char family[100] = "", type[20] = "", seen[8000] = "", *save, *line;
    uint32_t samples = 0;
    bool ended = false;
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
        char unit[40], name[100], once[120];
        assert_false(ended);
        if (strcmp(line, "# EOF") == 0) {
            ended = true;
        } else if (sscanf(line, "# TYPE %99s %19s", name, type) == 2) {
            strcpy(family, name);
            snprintf(once, sizeof once, " %s ", family);
            assert_null(strstr(seen, once)); /* each family once */
            strcat(seen, once);
            assert_true(strcmp(type, "counter") == 0 || strcmp(type, "gauge") == 0 ||
                        strcmp(type, "info") == 0);
        } else if (sscanf(line, "# UNIT %99s %39s", name, unit) == 2) {
            assert_string_equal(name, family);
            assert_string_equal(family + strlen(family) - strlen(unit), unit);
            assert_int_equal(family[strlen(family) - strlen(unit) - 1], '_');
        } else if (strncmp(line, "# HELP ", 7) == 0) {
            assert_memory_equal(line + 7, family, strlen(family));
        } else {
            check_sample(line, family, type);
            samples++;
        }
    }
    assert_true(ended);
    assert_true(samples > 10);
}

static void the_text_is_open_metrics(void **state)
{
    static char text[100000];
    batch_store_note_made(((struct fixture *)*state)->store);
    ask(*state,
        "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text;version=1.0.0,"
        "text/plain;q=0.5\r\n\r\n",
        text, sizeof text);
    assert_memory_equal(text, "HTTP/1.1 200 OK\r\n", 17);
    assert_non_null(strstr(text, "\r\nContent-Type: application/openmetrics-text; version=1.0.0; "
                                 "charset=utf-8\r\n"));
    char *body = strstr(text, "\r\n\r\n");
    assert_non_null(body);
    body += 4;
    size_t told = (size_t)strtoul(strstr(text, "Content-Length: ") + 16, NULL, 10);
    assert_int_equal(told, strlen(body));
    assert_non_null(strstr(body, "\ntroupe_batches_made_total "));
    assert_non_null(strstr(body, "job=\"a \\\"job\\\"\\\\\\n\",process=\"3\",incarnation=\"9\""));
    check_text(body);
}

/* Who does not ask for OpenMetrics gets the format that every reader knows: a family has the name of
 * its samples, and no line is of a kind that this format lacks. */
static void others_get_the_plain_format(void **state)
{
    static char text[100000];
    ask(*state, "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n", text, sizeof text);
    assert_non_null(strstr(text, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    char *body = strstr(text, "\r\n\r\n");
    assert_non_null(body);
    assert_null(strstr(body, "# UNIT"));
    assert_null(strstr(body, "# EOF"));
    assert_null(strstr(body, " info\n"));
    assert_non_null(strstr(body, "\n# TYPE troupe_process_info gauge\n"));
    assert_non_null(strstr(body, "\n# HELP troupe_batches_made_total Mini-batches"));
    assert_non_null(strstr(body, "\n# TYPE troupe_batches_made_total counter\n"
                                 "# HELP troupe_batches_made_total Mini-batches made by samplers "
                                 "here.\ntroupe_batches_made_total "));
    assert_non_null(strstr(body, "\n# TYPE troupe_era gauge\n"));
    assert_null(metrics_plain(NULL));
}

static void wrong_requests_are_refused(void **state)
{
    static const char head[] = "GET /metrics HTTP/1.1\r\nHost: x\r\nX: ";
    static char request[4 * HTTP_REQUEST_MAX], text[4000];
    ask(*state, "POST /metrics HTTP/1.0\r\n\r\n", text, sizeof text);
    assert_memory_equal(text, "HTTP/1.1 405 ", 13);
    ask(*state, "GET /metricsandmore HTTP/1.0\r\n\r\n", text, sizeof text);
    assert_memory_equal(text, "HTTP/1.1 404 ", 13);
    memset(request, 'x', sizeof request - 1);
    memcpy(request, "GET /", 5);
    ask(*state, request, text, sizeof text);
    assert_memory_equal(text, "HTTP/1.1 414 ", 13);
    memset(request, 'x', sizeof request - 1);
    memcpy(request, head, sizeof head - 1);
    ask(*state, request, text, sizeof text);
    assert_memory_equal(text, "HTTP/1.1 431 ", 13);
    int fd = dial(*state); /* a zero byte is no HTTP */
    assert_int_equal(send(fd, "GET\0/", 5, MSG_NOSIGNAL), 5);
    assert_int_equal(read_end(fd, text, sizeof text), 0);
}

static void who_says_nothing_is_closed(void **state)
{
    struct fixture *f = *state;
    char text[100];
    uint64_t begin_ns = env_now_ns(f->env);
    int fd = dial(f);
    assert_int_equal(send(fd, "GET /me", 7, MSG_NOSIGNAL), 7);
    assert_int_equal(read_end(fd, text, sizeof text), 0);
    assert_true(env_now_ns(f->env) - begin_ns >= HTTP_NS / 2);
}

/* However many wait in silence, the ones beyond the bound are closed, and all are in the end. */
static void only_so_many_are_let_in(void **state)
{
    struct fixture *f = *state;
    char text[100];
    int fds[3 * HTTP_OPEN_MAX];
    for (uint32_t i = 0; i < 3 * HTTP_OPEN_MAX; i++)
        fds[i] = dial(f);
    for (uint32_t i = 0; i < 3 * HTTP_OPEN_MAX; i++)
        assert_int_equal(read_end(fds[i], text, sizeof text), 0);
    the_text_is_open_metrics(state);
}

/* A byte now and then buys no more time than silence. */
static void who_drips_is_closed(void **state)
{
    struct fixture *f = *state;
    int fd = dial(f);
    uint64_t begin_ns = env_now_ns(f->env);
    while (send(fd, "G", 1, MSG_NOSIGNAL) == 1 && env_now_ns(f->env) - begin_ns < WAIT_NS)
        poll(NULL, 0, 100);
    assert_true(env_now_ns(f->env) - begin_ns < WAIT_NS);
    close(fd);
}

/* A client that comes when all places are held is served before their time is over. */
static void a_crowd_keeps_nobody_out(void **state)
{
    int fds[HTTP_OPEN_MAX];
    for (uint32_t i = 0; i < HTTP_OPEN_MAX; i++)
        fds[i] = dial(*state);
    the_text_is_open_metrics(state);
    for (uint32_t i = 0; i < HTTP_OPEN_MAX; i++)
        close(fds[i]);
}

/* The job goes on without metrics where another listens at their port. */
static void a_port_that_is_taken_ends_nothing(void **state)
{
    struct fixture *f = *state;
    struct address address;
    struct metrics_options options = f->options;
    options.listen = f->at;
    const struct actor_options second = { .ops = &metrics_ops, .arg = &options };
    f->told = false;
    assert_int_equal(node_spawn(f->node, &second, &address), 0);
    pthread_mutex_lock(&f->mutex);
    while (!f->told)
        pthread_cond_wait(&f->wake, &f->mutex);
    pthread_mutex_unlock(&f->mutex);
    assert_int_equal(f->code, TR_EEXIST);
    the_text_is_open_metrics(state);
    assert_int_equal(node_failure(f->node), 0);
}

static void addresses_are_understood(void **unused)
{
    struct endpoint endpoint;
    struct error error = { 0 };
    char text[ENDPOINT_TEXT_MAX];
    (void)unused;
    assert_int_equal(metrics_address("9464", &endpoint, &error), 0);
    endpoint_format(&endpoint, text, sizeof text);
    assert_string_equal(text, "tcp:127.0.0.1:9464");
    assert_int_equal(metrics_address("[::]:80", &endpoint, &error), 0);
    endpoint_format(&endpoint, text, sizeof text);
    assert_string_equal(text, "tcp:[::]:80");
    assert_int_equal(metrics_address("host", &endpoint, &error), TR_EINVAL);
    assert_non_null(strstr(error.text, "host: not an address"));
    assert_int_equal(metrics_address("99999", &endpoint, &error), TR_EINVAL);
    assert_int_equal(metrics_address("", &endpoint, &error), TR_EINVAL);
    /* The longest name of a host (RFC 1035) is taken; what no host and port need is too long. */
    char name[2 * ENDPOINT_TEXT_MAX] = "";
    for (size_t length = 250; length < 300; length++) {
        memset(name, 'x', length);
        strcpy(name + length, ":1");
        int rv = metrics_address(name, &endpoint, &error);
        assert_int_equal(rv, length <= 253 ? 0 : TR_EINVAL);
        if (rv == 0)
            assert_int_equal(strlen(endpoint.host), length);
        else if (length >= ENDPOINT_HOST_MAX)
            assert_non_null(strstr(error.text, "the address is too long"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_text_is_open_metrics, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others_get_the_plain_format, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_requests_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_says_nothing_is_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_so_many_are_let_in, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_drips_is_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_crowd_keeps_nobody_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_port_that_is_taken_ends_nothing, set_up, tear_down),
        cmocka_unit_test(addresses_are_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

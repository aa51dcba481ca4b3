/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launched process through the public API: it finds its place, reads its key, says what it has
 * to, and ends with its launcher. Each scenario runs in a forked child, whose environment and
 * standard streams are this test's, as a launcher's would be.
 */
#include "config.h" /* pipe2 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <troupe/troupe.h>

#include "api/internal.h"
#include "tests/api/api_world.h"

#define SECOND INT64_C(1000000000)
#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
/* The looks at something that comes at once; a hang is a failure. */
#define LOOKS_MAX 6000
#define LOOK_US 10000

static char graph[256], cluster[128];

/* In a child nothing of cmocka may run: what does not hold ends it. */
#define HOLDS(what)                                                               \
    do {                                                                          \
        if (!(what)) {                                                            \
            fprintf(stderr, "# line %d: %s: %s\n", __LINE__, #what, why.message); \
            _exit(1);                                                             \
        }                                                                         \
    } while (0)

static _Thread_local struct tr_error why = TR_ERROR_INIT;

struct ends {
    int in, out; /* of the pipes; -1: closed */
    pid_t pid;
};

static struct ends begin(void (*scenario)(void))
{
    int in[2], out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        close(out[0]);
        scenario();
        _exit(0);
    }
    close(in[0]);
    close(out[1]);
    return (struct ends){ in[1], out[0], pid };
}

static void put(struct ends *child, const char *text)
{
    assert_int_equal(write(child->in, text, strlen(text)), strlen(text));
}

/* The exit code, and all that it printed. */
static int end(struct ends *child, char *text, size_t bytes)
{
    size_t used = 0;
    ssize_t got;
    int status;
    while (used + 1 < bytes && (got = read(child->out, text + used, bytes - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    close(child->out);
    if (child->in >= 0)
        close(child->in);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static struct tr_process *open_as(uint32_t number, uint32_t role)
{
    struct tr_process_options options;
    struct tr_process *process;
    tr_process_options_init(&options);
    options.cluster = cluster;
    options.process = number;
    options.role = role;
    HOLDS(tr_process_open(&options, 60 * SECOND, &process, &why) == 0);
    return process;
}

static void find_places(void)
{
    struct tr_process_info info = TR_PROCESS_INFO_INIT;
    struct tr_session_options session;
    struct tr_process *process = open_as(2, TR_ROLE_TRAINER);
    HOLDS(tr_process_info(process, &info, &why) == 0);
    HOLDS(info.process == 2 && info.num_trainers == 1 && info.threads == 3 && !info.first_of_host);
    HOLDS(info.beside_trainers && !info.launched && !info.restarted && info.incarnation == 0);
    HOLDS(info.has_seed && info.seed == 9 && info.checkpoint_every == 7);
    HOLDS(info.step_limit_ns == 5 * SECOND && info.disk_wait_ns == TR_PROCESS_LIMIT_UNSAID);
    HOLDS(strcmp(info.name, "job") == 0 && strcmp(info.host_name, "a") == 0);
    HOLDS(strcmp(info.graph, graph) == 0 && info.shared_key == NULL);
    tr_session_options_init(&session);
    HOLDS(tr_process_session(process, &session, &why) == 0);
    HOLDS(strcmp(session.cluster, cluster) == 0 && session.process == 2);
    HOLDS(session.incarnation == 0 && session.shared_key == NULL);
    tr_process_close(process);
    tr_process_close(NULL);
    /* The environment counts where the options say nothing. */
    struct tr_process_options options;
    tr_process_options_init(&options);
    setenv("TROUPE_CLUSTER", cluster, 1);
    setenv("TROUPE_PROCESS", "0", 1);
    setenv("TROUPE_LAUNCHED", "1", 1);
    setenv("TROUPE_RESTARTED", "1", 1);
    setenv("TROUPE_INCARNATION", "77", 1);
    options.role = TR_ROLE_SERVER;
    HOLDS(tr_process_open(&options, 60 * SECOND, &process, &why) == 0);
    HOLDS(tr_process_info(process, &info, &why) == 0);
    HOLDS(info.process == 0 && info.first_of_host && info.launched && info.restarted);
    HOLDS(info.incarnation == 77 && tr_process_is_launched() && tr_process_is_restarted());
    tr_process_close(process);
}

static void a_process_finds_its_place(void **state)
{
    char text[64];
    (void)state;
    struct ends child = begin(find_places);
    assert_int_equal(end(&child, text, sizeof text), 0);
    assert_string_equal(text, "");
}

/* The linker gives it the calls of vasprintf (tests.mk). */
static bool vasprintf_fails;

int __real_vasprintf(char **text, const char *format, va_list args);
int __wrap_vasprintf(char **text, const char *format, va_list args);

int __wrap_vasprintf(char **text, const char *format, va_list args)
{
    return vasprintf_fails ? -1 : __real_vasprintf(text, format, args);
}

/* A line that there is no memory for is an error of the call, and nothing of it is printed. */
static void say_without_memory(void)
{
    setenv("TROUPE_LAUNCHED", "1", 1);
    vasprintf_fails = true;
    HOLDS(tr_process_say_kernels("two", TR_PROCESS_SAY_NS, &why) == TR_ENOMEM);
    HOLDS(why.code == TR_ENOMEM && strstr(why.message, "no memory for a line") != NULL);
    HOLDS(tr_process_say_checkpoint(7, TR_PROCESS_SAY_NS, NULL) == TR_ENOMEM);
    vasprintf_fails = false;
    HOLDS(tr_process_say_checkpoint(8, TR_PROCESS_SAY_NS, &why) == 0);
}

static void a_line_without_memory_is_an_error(void **state)
{
    char text[64];
    (void)state;
    struct ends child = begin(say_without_memory);
    assert_int_equal(end(&child, text, sizeof text), 0);
    assert_non_null(strstr(text, " 8\n"));
    assert_null(strstr(text, "two"));
    assert_null(strstr(text, "7"));
}

static int refusal(const struct tr_process_options *options)
{
    struct tr_process *process = (void *)(uintptr_t)8;
    int rv = tr_process_open(options, SECOND, &process, &why);
    HOLDS(process == NULL && rv == why.code);
    return rv;
}

static void refuse(void)
{
    struct tr_process_options options;
    tr_process_options_init(&options);
    HOLDS(refusal(&options) == TR_EINVAL && strstr(why.message, "TROUPE_CLUSTER") != NULL);
    options.cluster = "/nowhere/c.json";
    HOLDS(refusal(&options) == TR_ENOENT);
    options.cluster = cluster;
    options.process = 9;
    HOLDS(refusal(&options) == TR_ERANGE && strstr(why.message, "0 to 3") != NULL);
    options.process = 0; /* it is a server */
    HOLDS(refusal(&options) == TR_EINVAL && strstr(why.message, "troupe serve") != NULL);
    options.role = TR_ROLE_COORDINATOR;
    HOLDS(refusal(&options) == TR_EINVAL && strstr(why.message, "role: 8") != NULL);
    options.role = TR_ROLE_TRAINER;
    options.process = TR_PROCESS_UNSAID;
    options.host = "nobody";
    HOLDS(refusal(&options) == TR_EINVAL);
    options.host = NULL;
    setenv("TROUPE_PROCESS", "many", 1);
    HOLDS(refusal(&options) == TR_EINVAL && strstr(why.message, "many") != NULL);
    static const char *const INCARNATIONS[] = { "", "0", "-1", "12x", " 7", "4294967296" };
    for (size_t i = 0; i < sizeof INCARNATIONS / sizeof INCARNATIONS[0]; i++) {
        setenv("TROUPE_INCARNATION", INCARNATIONS[i], 1);
        HOLDS(refusal(&options) == TR_EINVAL && strstr(why.message, "TROUPE_INCARNATION") != NULL);
        HOLDS(strstr(why.message, "a number from 1 to 4294967294") != NULL);
    }
    unsetenv("TROUPE_INCARNATION");
    options.size = 0;
    HOLDS(refusal(&options) == TR_EINVAL);
    HOLDS(tr_process_say_kernels("two\nlines", TR_PROCESS_SAY_NS, &why) == TR_EINVAL);
}

static void bad_options_are_refused(void **state)
{
    char text[64];
    (void)state;
    struct ends child = begin(refuse);
    assert_int_equal(end(&child, text, sizeof text), 0);
}

static void read_key(void)
{
    struct tr_process_info info = TR_PROCESS_INFO_INIT;
    char line[128] = "";
    setenv("TROUPE_SHARED_KEY", "-", 1);
    struct tr_process *process = open_as(2, TR_ROLE_TRAINER);
    HOLDS(tr_process_info(process, &info, &why) == 0 && info.shared_key != NULL);
    FILE *key = fopen(info.shared_key, "r");
    HOLDS(key != NULL && fgets(line, sizeof line, key) != NULL);
    HOLDS(strcmp(line, KEY "\n") == 0);
    fclose(key);
    HOLDS(read(STDIN_FILENO, line, 4) == 4 && memcmp(line, "rest", 4) == 0);
    tr_process_close(process);
}

static void miss_key(void)
{
    struct tr_process_options options;
    tr_process_options_init(&options);
    setenv("TROUPE_SHARED_KEY", "-", 1);
    options.cluster = cluster;
    struct tr_process *process;
    HOLDS(tr_process_open(&options, 1000000, &process, &why) == TR_ETIMEDOUT);
    puts("waited");
    fflush(stdout);
    HOLDS(tr_process_open(&options, TR_WAIT_FOREVER, &process, &why) == TR_EFORMAT);
}

static void the_key_is_the_first_line_of_the_input(void **state)
{
    char text[64];
    (void)state;
    struct ends child = begin(read_key);
    put(&child, KEY "\nrest");
    assert_int_equal(end(&child, text, sizeof text), 0);
    /* A launcher that writes nothing is waited for so long, and one that ends is noticed. */
    child = begin(miss_key);
    assert_int_equal(read(child.out, text, 7), 7);
    close(child.in);
    child.in = -1;
    assert_int_equal(end(&child, text, sizeof text), 0);
}

static void lose_launcher(void)
{
    struct tr_session_options options;
    struct tr_session *session, *later;
    struct tr_graph *opened;
    int looks = 0;
    setenv("TROUPE_LAUNCHED", "1", 1);
    struct tr_process *process = open_as(2, TR_ROLE_TRAINER);
    HOLDS(tr_process_watch(process, &why) == 0);
    HOLDS(tr_process_watch(process, &why) == TR_EEXIST);
    tr_session_options_init(&options);
    HOLDS(tr_process_session(process, &options, &why) == 0);
    HOLDS(tr_session_open(&options, &session, &why) == 0);
    HOLDS(tr_process_attach(process, session, &why) == 0);
    HOLDS(!tr_process_is_orphaned(process));
    puts("up");
    fflush(stdout);
    while (!tr_process_is_orphaned(process) && looks++ < LOOKS_MAX)
        usleep(LOOK_US);
    HOLDS(tr_process_is_orphaned(process));
    /* Process 0 never comes: only the interrupt ends this call. */
    HOLDS(tr_graph_open(session, NULL, TR_WAIT_FOREVER, &opened, &why) == TR_ECANCELED);
    HOLDS(tr_process_attach(process, NULL, &why) == 0);
    HOLDS(tr_session_open(&options, &later, &why) == 0);
    HOLDS(tr_process_attach(process, later, &why) == 0);
    HOLDS(tr_graph_open(later, NULL, TR_WAIT_FOREVER, &opened, &why) == TR_ECANCELED);
    HOLDS(tr_process_attach(process, NULL, &why) == 0);
    tr_session_close(later);
    tr_session_close(session);
    tr_process_close(process);
}

static void the_end_of_a_launcher_interrupts_its_processes(void **state)
{
    char text[64];
    (void)state;
    struct ends child = begin(lose_launcher);
    put(&child, "what a launcher writes later means nothing\n");
    assert_int_equal(read(child.out, text, 3), 3);
    close(child.in);
    child.in = -1;
    assert_int_equal(end(&child, text, sizeof text), 0);
}

/* As many bytes as the pipe takes. */
static void fill_output(void)
{
    static const char bytes[4096] = "";
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    HOLDS(fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK) == 0);
    while (write(STDOUT_FILENO, bytes, sizeof bytes) > 0) {
    }
    HOLDS(fcntl(STDOUT_FILENO, F_SETFL, flags) == 0);
}

/* Does as links on a loop that count a peer as dead. */
static void lose_peers(void)
{
    struct tr_session_options options;
    struct tr_session *session;
    char byte;
    setenv("TROUPE_LAUNCHED", "1", 1);
    struct tr_process *process = open_as(2, TR_ROLE_TRAINER);
    tr_session_options_init(&options);
    HOLDS(tr_process_session(process, &options, &why) == 0);
    HOLDS(tr_session_open(&options, &session, &why) == 0);
    HOLDS(tr_process_attach(process, session, &why) == 0);
    fill_output();
    alarm(60); /* of a loop that waits for the launcher to read */
    for (uint32_t peer = 0; peer < 3; peer++)
        session->silent(session->silent_arg, peer, 70 + peer);
    HOLDS(read(STDIN_FILENO, &byte, 1) == 1);
    alarm(0);
    HOLDS(tr_process_attach(process, NULL, &why) == 0);
    HOLDS(read(STDIN_FILENO, &byte, 1) == 0); /* the launcher has read all */
    /* A session may outlive the handle. */
    tr_process_close(process);
    session->silent(session->silent_arg, 9, 9);
    tr_session_close(session);
}

static void loops_wait_for_no_launcher_that_reads_nothing(void **state)
{
    static const char EXPECTED[] = "\ntroupe: silent process 0 incarnation 70\n"
                                   "\ntroupe: silent process 1 incarnation 71\n"
                                   "\ntroupe: silent process 2 incarnation 72\n";
    char text[256] = "", byte;
    size_t used = 0;
    (void)state;
    struct ends child = begin(lose_peers);
    put(&child, "x"); /* taken once all was said, which no read of ours may help */
    for (int left = 1; left > 0; usleep(LOOK_US))
        assert_int_equal(ioctl(child.in, FIONREAD, &left), 0);
    while (used < strlen(EXPECTED)) {
        assert_int_equal(read(child.out, &byte, 1), 1);
        if (byte != '\0') /* what filled the pipe */
            text[used++] = byte;
    }
    assert_string_equal(text, EXPECTED);
    close(child.in);
    child.in = -1;
    assert_int_equal(end(&child, text, sizeof text), 0);
}

/* Less than the queue holds, and a pipe takes at once. */
#define LAST_PEERS 700

/* The program has half a line out, and ends as soon as it has lost its peers. */
static void lose_peers_at_the_end(void)
{
    struct tr_session_options options;
    struct tr_session *session;
    setenv("TROUPE_LAUNCHED", "1", 1);
    struct tr_process *process = open_as(2, TR_ROLE_TRAINER);
    tr_session_options_init(&options);
    HOLDS(tr_process_session(process, &options, &why) == 0);
    HOLDS(tr_session_open(&options, &session, &why) == 0);
    HOLDS(tr_process_attach(process, session, &why) == 0);
    printf("loss: ");
    fflush(stdout);
    for (uint32_t peer = 0; peer < LAST_PEERS; peer++)
        session->silent(session->silent_arg, peer, 1);
    HOLDS(tr_process_attach(process, NULL, &why) == 0);
    tr_process_close(process);
    tr_session_close(session);
}

static void the_last_notices_are_lines_of_their_own(void **state)
{
    static char text[1 << 16];
    const char *at = text;
    (void)state;
    struct ends child = begin(lose_peers_at_the_end);
    assert_int_equal(end(&child, text, sizeof text), 0);
    assert_int_equal(strncmp(at, "loss: ", 6), 0);
    at += 6;
    for (uint32_t peer = 0; peer < LAST_PEERS; peer++) {
        char line[64];
        int length = snprintf(line, sizeof line, "\ntroupe: silent process %u incarnation 1\n",
                              peer);
        assert_int_equal(strncmp(at, line, (size_t)length), 0);
        at += length;
    }
    assert_string_equal(at, "");
}

static void speak(void)
{
    struct tr_process *process = open_as(2, TR_ROLE_TRAINER);
    HOLDS(tr_process_say_ready(process, TR_PROCESS_SAY_NS, &why) == 0);
    HOLDS(tr_process_say_kernels("scalar", TR_PROCESS_SAY_NS, &why) == 0);
    HOLDS(tr_process_say_complete(TR_PROCESS_SAY_NS, &why) == 0);
    HOLDS(tr_process_say_left(true, TR_PROCESS_SAY_NS, &why) == 0);
    HOLDS(tr_process_linger(process, -1, &why) == TR_ERANGE);
    HOLDS(tr_process_linger(process, TR_PROCESS_LINGER_NS + 1, &why) == TR_ERANGE);
    HOLDS(strstr(why.message, "linger_ns") != NULL);
    HOLDS(tr_process_linger(process, TR_PROCESS_LINGER_NS, &why) == 0);
    HOLDS(tr_process_linger(process, 0, &why) == 0);
    setenv("TROUPE_LAUNCHED", "1", 1);
    HOLDS(tr_process_say_kernels("blas X, loops avx2", TR_PROCESS_SAY_NS, &why) == 0);
    HOLDS(tr_process_say_checkpoint(UINT64_C(1) << 40, TR_PROCESS_SAY_NS, &why) == 0);
    HOLDS(tr_process_say_complete(TR_PROCESS_SAY_NS, &why) == 0);
    tr_process_close(process);
}

static void notices_are_lines_that_a_launcher_reads(void **state)
{
    char text[256];
    (void)state;
    struct ends child = begin(speak);
    assert_int_equal(end(&child, text, sizeof text), 0);
    assert_string_equal(text, "troupe: ready process 2 of job\n"
                              "troupe: kernels blas X, loops avx2\n"
                              "troupe: checkpoint 1099511627776\n"
                              "troupe: complete\n");
}

/* The output is a pipe of this process, so that it is read when this says so. */
static void speak_to_a_full_pipe(void)
{
    static char text[1 << 21];
    int output[2];
    size_t all = 0;
    ssize_t bytes;
    alarm(60); /* one that waits dies of it */
    HOLDS(pipe2(output, O_CLOEXEC | O_NONBLOCK) == 0);
    HOLDS(dup2(output[1], STDOUT_FILENO) == STDOUT_FILENO);
    while ((bytes = write(STDOUT_FILENO, text, 1)) > 0)
        all += (size_t)bytes;
    HOLDS(errno == EAGAIN && fcntl(STDOUT_FILENO, F_SETFL, 0) == 0);
    setenv("TROUPE_LAUNCHED", "1", 1);
    struct tr_process *process = open_as(2, TR_ROLE_TRAINER);
    HOLDS(tr_process_say_ready(process, 0, &why) == TR_ETIMEDOUT);
    HOLDS(tr_process_say_kernels("scalar", 1, &why) == TR_ETIMEDOUT);
    HOLDS(tr_process_say_checkpoint(6, SECOND / 20, &why) == TR_ETIMEDOUT);
    HOLDS(strstr(why.message, "the program that reads it has stopped reading") != NULL);
    /* With a buffer as a pipe has, whatever the output of this test is. */
    setvbuf(stdout, NULL, _IOFBF, PIPE_BUF);
    printf("before\n");
    HOLDS(tr_process_say_complete(SECOND / 20, &why) == TR_ETIMEDOUT);
    while (all > 0 && (bytes = read(output[0], text, sizeof text < all ? sizeof text : all)) > 0)
        all -= (size_t)bytes;
    HOLDS(all == 0 && read(output[0], text, sizeof text) < 0 && errno == EAGAIN);
    /* A notice that was not said is not said later; the output of the program goes first. */
    HOLDS(tr_process_say_checkpoint(7, 30 * SECOND, &why) == 0);
    bytes = read(output[0], text, sizeof text);
    HOLDS(bytes > 0);
    text[bytes] = '\0';
    HOLDS(strcmp(text, "before\ntroupe: checkpoint 7\n") == 0);
    tr_process_close(process);
}

static void a_launcher_that_reads_nothing_stops_nobody(void **state)
{
    char text[64];
    (void)state;
    struct ends child = begin(speak_to_a_full_pipe);
    assert_int_equal(end(&child, text, sizeof text), 0);
}

static void fork_again(void)
{
    struct tr_process_info info = TR_PROCESS_INFO_INIT;
    struct tr_session_options options;
    int status;
    setenv("TROUPE_LAUNCHED", "1", 1);
    struct tr_process *process = open_as(2, TR_ROLE_TRAINER);
    HOLDS(tr_process_watch(process, &why) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        tr_session_options_init(&options);
        HOLDS(tr_process_info(process, &info, &why) == TR_EFORKED);
        HOLDS(tr_process_session(process, &options, &why) == TR_EFORKED);
        HOLDS(tr_process_watch(process, &why) == TR_EFORKED);
        HOLDS(tr_process_attach(process, NULL, &why) == TR_EFORKED);
        HOLDS(tr_process_say_ready(process, TR_PROCESS_SAY_NS, &why) == TR_EFORKED);
        tr_process_close(process);
        _exit(0);
    }
    HOLDS(waitpid(pid, &status, 0) == pid && status == 0);
    HOLDS(tr_process_info(process, &info, &why) == 0);
    tr_process_close(process);
}

static void a_forked_child_is_refused(void **state)
{
    char text[64];
    (void)state;
    struct ends child = begin(fork_again);
    assert_int_equal(end(&child, text, sizeof text), 0);
    assert_string_equal(text, "");
}

static void serve_metrics(void)
{
    struct tr_session_options options;
    struct tr_session *session;
    struct tr_graph *opened;
    char at[TR_ADDRESS_TEXT_MAX] = "";
    tr_session_options_init(&options);
    options.loops = 1;
    HOLDS(tr_session_open(&options, &session, &why) == 0);
    HOLDS(tr_graph_open(session, graph, TR_WAIT_FOREVER, &opened, &why) == 0);
    HOLDS(tr_graph_serve_metrics(opened, "x:y:z", 60 * SECOND, at, sizeof at, &why) == TR_EINVAL);
    HOLDS(tr_graph_serve_metrics(opened, NULL, 60 * SECOND, at, sizeof at, &why) == TR_EINVAL);
    HOLDS(tr_graph_serve_metrics(opened, "0", 60 * SECOND, at, sizeof at, &why) == 0);
    HOLDS(strncmp(at, "tcp:127.0.0.1:", 14) == 0 && strcmp(at, "tcp:127.0.0.1:0") != 0);
    /* The listener that has the port is not driven off. */
    HOLDS(tr_graph_serve_metrics(opened, at + 14, 60 * SECOND, NULL, 0, &why) == TR_EEXIST);
    tr_session_interrupt(session);
    HOLDS(tr_graph_serve_metrics(opened, "0", 60 * SECOND, NULL, 0, &why) == TR_ECANCELED);
    tr_graph_close(opened);
    tr_session_close(session);
}

static void counters_are_served_where_asked(void **state)
{
    char text[64];
    (void)state;
    struct ends child = begin(serve_metrics);
    assert_int_equal(end(&child, text, sizeof text), 0);
}

static int set_up(void **state)
{
    world_setup(state);
    world_partition(PARTITION_RANDOM, 2, graph);
    snprintf(cluster, sizeof cluster, "%s/c.json", world_folder());
    FILE *to = fopen(cluster, "w");
    assert_non_null(to);
    fprintf(to,
            "{\"name\": \"job\", \"graph\": \"%s\", \"seed\": 9, \"checkpoints\": {\"folder\": "
            "\"%s/k\", \"every\": 7}, \"limits\": {\"step_limit\": 5}, \"hosts\": [{\"name\": "
            "\"a\", \"unix\": \"%s/s\", \"servers\": "
            "1, \"samplers\": 1, \"trainers\": 2, \"threads\": 3, \"processes\": \"role\"}]}",
            graph, world_folder(), world_folder());
    assert_int_equal(fclose(to), 0);
    /* Whatever this test was started by says nothing to its children. */
    static const char *const NAMES[] = { "TROUPE_CLUSTER",
                                         "TROUPE_PROCESS",
                                         "TROUPE_HOST",
                                         "TROUPE_INDEX",
                                         "TROUPE_LAUNCHED",
                                         "TROUPE_RESTARTED",
                                         "TROUPE_INCARNATION",
                                         "TROUPE_GRAPH",
                                         "TROUPE_SHARED_KEY",
                                         "SLURM_PROCID",
                                         "SLURMD_NODENAME",
                                         "RANK",
                                         "WORLD_SIZE",
                                         "SLURM_STEP_NUM_TASKS",
                                         "OMPI_COMM_WORLD_RANK",
                                         "OMPI_COMM_WORLD_SIZE",
                                         "PMI_RANK",
                                         "PMI_SIZE" };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        unsetenv(NAMES[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_finds_its_place),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(a_line_without_memory_is_an_error),
        cmocka_unit_test(the_key_is_the_first_line_of_the_input),
        cmocka_unit_test(the_end_of_a_launcher_interrupts_its_processes),
        cmocka_unit_test(loops_wait_for_no_launcher_that_reads_nothing),
        cmocka_unit_test(the_last_notices_are_lines_of_their_own),
        cmocka_unit_test(notices_are_lines_that_a_launcher_reads),
        cmocka_unit_test(a_launcher_that_reads_nothing_stops_nobody),
        cmocka_unit_test(a_forked_child_is_refused),
        cmocka_unit_test(counters_are_served_where_asked),
    };
    return cmocka_run_group_tests(tests, set_up, world_teardown);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without a fuzzer: each file of its corpus, then mutations of them.
 *
 * A mutation depends on its number and the corpus alone; what fails says its number, and
 * TROUPE_SEED=NUMBER runs it again (TROUPE_SEEDS=COUNT: more of them). The corpus is the folder
 * that is named, or that of the program's name; a file that is named is run alone.
 */
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/files.h"
#include "tests/fuzz/fuzz.h"
#include "tests/schemas/random.h"
#include "tests/seeds.h"

/* Where a target has none, bytes are all that is changed. */
#pragma weak LLVMFuzzerCustomMutator

#define MUTATIONS 10000
/* The bytes that a target's own mutator may add. */
#define GROWTH_BYTES 4096
/* Beyond this an input is no better at finding mistakes. */
#define INPUT_BYTES_MAX ((size_t)1 << 20)
#define CORPUS_MAX 4096

struct input {
    char *name;
    uint8_t *data;
    size_t size;
};

struct corpus {
    struct input *all;
    size_t count;
};

/* The input that runs now, for the words at the end of a program that crashes. */
static char running[300];

extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void say_running(void)
{
    ssize_t put = write(STDERR_FILENO, running, strlen(running));
    (void)put;
}

static void on_signal(int signal)
{
    say_running();
    raise(signal);
}

static void watch_crashes(void)
{
    static const int crashes[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(say_running);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaction(crashes[i], &action, NULL);
}

static void die(const char *path, const char *why)
{
    printf("Bail out! %s: %s\n", path, why);
    exit(1);
}

static void add_file(struct corpus *corpus, const char *path)
{
    struct error error = { 0 };
    char *data;
    size_t size;
    if (files_read_all(files_posix, path, INPUT_BYTES_MAX, &data, &size, &error) != 0)
        die(path, error.text);
    if (corpus->count == CORPUS_MAX)
        die(path, "too many files");
    corpus->all[corpus->count++] = (struct input){ strdup(path), (uint8_t *)data, size };
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct input *)a)->name, ((const struct input *)b)->name);
}

static int visit(void *arg, const char *name)
{
    void **args = arg;
    char *path = files_join(args[1], name);
    add_file(args[0], path);
    free(path);
    return 0;
}

static void read_corpus(struct corpus *corpus, char *path)
{
    void *args[] = { corpus, path };
    corpus->all = calloc(CORPUS_MAX, sizeof *corpus->all);
    if (!files_is_folder(files_posix, path))
        add_file(corpus, path);
    else if (files_posix->list(files_posix, path, visit, args) != 0)
        die(path, "cannot list it");
    if (corpus->count == 0)
        die(path, "no corpus");
    qsort(corpus->all, corpus->count, sizeof *corpus->all, by_name);
}

static void free_corpus(struct corpus *corpus)
{
    for (size_t i = 0; i < corpus->count; i++) {
        free(corpus->all[i].name);
        free(corpus->all[i].data);
    }
    free(corpus->all);
}

/* A copy of exactly the size, so that a sanitizer sees a read beyond it. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Removes a piece, or puts one of another input in. */
static size_t splice(uint64_t *state, uint8_t *bytes, size_t size, const struct input *other)
{
    size_t at = (size_t)random_below(state, size + 1);
    if (random_below(state, 2) == 0) {
        size_t cut = (size_t)random_below(state, size - at + 1);
        cut = random_below(state, 2) == 0 ? cut : cut > 4 ? 4 : cut;
        memmove(bytes + at, bytes + at + cut, size - at - cut);
        return size - cut;
    }
    size_t from = (size_t)random_below(state, other->size + 1);
    size_t count = (size_t)random_below(state, other->size - from + 1);
    memmove(bytes + at + count, bytes + at, size - at);
    memcpy(bytes + at, other->data + from, count);
    return size + count;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    uint64_t state = size; /* what calls this has drawn already */
    random_damage(&state, data, size);
    return size < max_size ? size : max_size;
}

static void run_mutation(const struct corpus *corpus, uint64_t number)
{
    uint64_t state = number;
    const struct input *one = &corpus->all[random_below(&state, corpus->count)];
    const struct input *other = &corpus->all[random_below(&state, corpus->count)];
    size_t most = one->size + other->size + GROWTH_BYTES;
    uint8_t *bytes = malloc(most);
    size_t size = one->size;
    assert(bytes != NULL);
    memcpy(bytes, one->data, size);
    if (random_below(&state, 3) == 0)
        size = splice(&state, bytes, size, other);
    if (LLVMFuzzerCustomMutator != NULL && random_below(&state, 2) == 0)
        size = LLVMFuzzerCustomMutator(bytes, size, most, (unsigned)random_next(&state));
    else
        random_damage(&state, bytes, size);
    run(bytes, size);
    free(bytes);
}

static char *corpus_of(const char *program)
{
    const char *sources = getenv("srcdir"), *name = strrchr(program, '/');
    name = name == NULL ? program : name + 1;
    name = strncmp(name, "lt-", 3) == 0 ? name + 3 : name;
    name = strncmp(name, "fuzz_", 5) == 0 ? name + 5 : name;
    char *path = malloc(strlen(name) + (sources == NULL ? 1 : strlen(sources)) + 64);
    assert(path != NULL);
    sprintf(path, "%s/tests/fuzz/corpus/%s", sources == NULL ? "." : sources, name);
    return path;
}

int main(int argc, char **argv)
{
    struct corpus corpus = { 0 };
    struct seeds seeds = seeds_wanted(MUTATIONS);
    char *path = argc > 1 ? strdup(argv[1]) : corpus_of(argv[0]);
    watch_crashes();
    read_corpus(&corpus, path);
    printf("1..2\n");
    for (size_t i = 0; i < corpus.count; i++) {
        snprintf(running, sizeof running, "# failed: %.280s\n", corpus.all[i].name);
        run(corpus.all[i].data, corpus.all[i].size);
    }
    printf("ok 1 - %zu inputs of the corpus\n", corpus.count);
    for (uint64_t i = seeds.begin; i < seeds.end; i++) {
        snprintf(running, sizeof running,
                 "# failed: mutation %" PRIu64 "; TROUPE_SEED=%" PRIu64 " replays it\n", i, i);
        run_mutation(&corpus, i);
    }
    printf("ok 2 - mutations %" PRIu64 " to %" PRIu64 "\n", seeds.begin, seeds.end);
    running[0] = '\0';
    free_corpus(&corpus);
    free(path);
    return 0;
}

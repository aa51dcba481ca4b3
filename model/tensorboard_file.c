/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "model/tensorboard_file.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Names have ten digits, so that their order is that of the seconds. */
#define SECONDS_DIGITS 10u
#define SECONDS_MAX UINT64_C(9999999999)
/* Others may take a name at the same time, each once. */
#define NAMES_TRIED_MAX 16

double tensorboard_wall_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int find_last(void *arg, const char *name)
{
    uint64_t *last = arg;
    const size_t prefix = strlen(TENSORBOARD_FILE_PREFIX);
    if (strncmp(name, TENSORBOARD_FILE_PREFIX, prefix) != 0)
        return 0;
    const char *digits = name + prefix;
    if (strspn(digits, "0123456789") != SECONDS_DIGITS)
        return 0;
    uint64_t seconds = strtoull(digits, NULL, 10);
    /* Nothing can stand behind the last name of all. */
    if (seconds > *last && seconds < SECONDS_MAX)
        *last = seconds;
    return 0;
}

/* The clock's, or more where a file has these: one was made within the same second, or by a host
 * whose clock is ahead. A folder that cannot be listed can still be written. */
static uint64_t next_seconds(struct files *files, const char *folder)
{
    uint64_t last = 0, now = (uint64_t)tensorboard_wall_time();
    (void)files->list(files, folder, find_last, &last);
    return now > last ? now : last + 1;
}

/* As it may stand in a name of a file. */
static void read_host(char *host, size_t size)
{
    if (gethostname(host, size - 1) != 0)
        host[0] = '\0';
    host[size - 1] = '\0';
    for (char *c = host; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '.')
            *c = '_';
    if (host[0] == '\0')
        strcpy(host, "host");
}

static int create_file(struct tensorboard_file *board, struct error *error)
{
    char host[HOST_NAME_MAX + 1];
    uint64_t seconds = next_seconds(board->files, board->folder);
    int rv = TR_EEXIST;
    read_host(host, sizeof host);
    for (uint64_t i = 0; i < NAMES_TRIED_MAX && rv == TR_EEXIST; i++) {
        char *path;
        if (asprintf(&path, "%s/%s%0*llu.%s.%ld%s", board->folder, TENSORBOARD_FILE_PREFIX,
                     (int)SECONDS_DIGITS, (unsigned long long)(seconds + i), host, (long)getpid(),
                     TENSORBOARD_FILE_SUFFIX) < 0)
            return error_set(error, TR_ENOMEM, "%s: no memory", board->folder);
        rv = file_create(&board->file, board->files, path, error);
        free(path);
    }
    return rv;
}

/* The file begins with its version, by which TensorBoard finds the run before its first epoch. */
static int begin_file(struct tensorboard_file *board, struct error *error)
{
    struct tensorboard_record version;
    tensorboard_record_version(&version, tensorboard_wall_time());
    return file_append(&board->file, version.bytes, version.size, error);
}

int tensorboard_file_open(struct tensorboard_file *board, struct files *files, const char *folder,
                          struct error *error)
{
    *board = (struct tensorboard_file){ .files = files, .folder = strdup(folder) };
    if (board->folder == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory", folder);
    board->made_folder = !files_exists(files, folder);
    int rv = files_make_folders(files, folder, error);
    if (rv == 0)
        rv = create_file(board, error);
    if (rv == 0)
        rv = begin_file(board, error);
    if (rv != 0)
        tensorboard_file_forget(board);
    return rv;
}

struct board_search {
    const struct tensorboard_file *board;
    char *found; /* its path; NULL: there is none yet */
};

static bool is_ours(const char *name)
{
    const size_t length = strlen(name), end = strlen(TENSORBOARD_FILE_SUFFIX);
    return strncmp(name, TENSORBOARD_FILE_PREFIX, strlen(TENSORBOARD_FILE_PREFIX)) == 0 &&
           length > end && strcmp(name + length - end, TENSORBOARD_FILE_SUFFIX) == 0;
}

static int find_other(void *arg, const char *name)
{
    struct board_search *search = arg;
    if (!is_ours(name))
        return 0;
    search->found = files_join(search->board->folder, name);
    if (search->found == NULL || strcmp(search->found, search->board->file.path) != 0)
        return 1; /* which ends the list */
    free(search->found);
    search->found = NULL;
    return 0;
}

void tensorboard_file_remove_others(struct tensorboard_file *board)
{
    bool removed = board->file.path != NULL;
    /* A list that is changed while it is read may leave names out, so each is found by its own. */
    while (removed) {
        struct board_search search = { .board = board };
        (void)board->files->list(board->files, board->folder, find_other, &search);
        removed = search.found != NULL && board->files->unlink(board->files, search.found) == 0;
        free(search.found);
    }
}

bool tensorboard_file_add(struct tensorboard_file *board, const struct tensorboard_record *record)
{
    size_t before = board->waiting_bytes;
    if (board->file.path == NULL || before + record->size > TENSORBOARD_WAITING_MAX)
        return false;
    char *waiting = realloc(board->waiting, before + record->size);
    if (waiting == NULL)
        return false;
    memcpy(waiting + before, record->bytes, record->size);
    board->waiting = waiting;
    board->waiting_bytes = before + record->size;
    board->used = true;
    return true;
}

int tensorboard_file_flush(struct tensorboard_file *board, struct error *error)
{
    if (board->waiting_bytes == 0)
        return 0;
    int rv = file_append(&board->file, board->waiting, board->waiting_bytes, error);
    if (rv == 0)
        board->waiting_bytes = 0;
    return rv;
}

void tensorboard_file_forget(struct tensorboard_file *board)
{
    struct files *files = board->files;
    if (!board->used && board->file.path != NULL)
        files->unlink(files, board->file.path);
    /* A folder that has something in it stays. */
    if (!board->used && board->made_folder)
        files->rmdir(files, board->folder);
    tensorboard_file_close(board);
}

void tensorboard_file_close(struct tensorboard_file *board)
{
    (void)tensorboard_file_flush(board, NULL);
    file_close(&board->file);
    free(board->folder);
    free(board->waiting);
    *board = (struct tensorboard_file){ 0 };
}

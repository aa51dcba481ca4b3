/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a folder's files for TensorBoard say, in the order of their names, as TensorBoard takes it: a
 * line "STEP TAG VALUE" for each scalar that no later start of its step voids. Aborts where a file
 * does not begin with its version, or a record is broken.
 *
 *     tensorboard_lines FOLDER
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tensorboard_reader.h"

#define POINTS_MAX 10000
#define FILE_BYTES_MAX (1 << 20)

struct point {
    int64_t step;
    struct board_scalar scalar;
};

static struct point points[POINTS_MAX];
static size_t num_points;
static unsigned char bytes[FILE_BYTES_MAX];

static void take(const struct board_event *event)
{
    size_t kept = 0;
    for (size_t i = 0; i < num_points && event->session == 1; i++)
        if (points[i].step < event->step)
            points[kept++] = points[i];
    if (event->session == 1)
        num_points = kept;
    for (size_t i = 0; i < event->count; i++) {
        board_need(num_points < POINTS_MAX, "too many points");
        points[num_points++] = (struct point){ event->step, event->scalars[i] };
    }
}

static void read_file(const char *folder, const char *name)
{
    struct board_event event;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "rb");
    board_need(stream != NULL, "cannot be opened");
    struct board_bytes file = { bytes, fread(bytes, 1, sizeof bytes, stream) };
    fclose(stream);
    board_need(board_next(&file, &event) && strcmp(event.version, "brain.Event:2") == 0,
               "does not begin with its version");
    while (board_next(&file, &event))
        take(&event);
    board_need(file.left == 0, "ends within a record");
}

static int is_board(const struct dirent *entry)
{
    return strstr(entry->d_name, "tfevents") != NULL;
}

int main(int argc, char **argv)
{
    struct dirent **names;
    int count = argc == 2 ? scandir(argv[1], &names, is_board, alphasort) : -1;
    if (count < 0)
        return 1;
    for (int i = 0; i < count; i++) {
        read_file(argv[1], names[i]->d_name);
        free(names[i]);
    }
    free(names);
    for (size_t i = 0; i < num_points; i++)
        printf("%lld %s %.9g\n", (long long)points[i].step, points[i].scalar.tag,
               (double)points[i].scalar.value);
    return 0;
}

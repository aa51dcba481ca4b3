/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of processes, as their launcher reads it: bytes that come in pieces become lines,
 * lines become notices, and notices what the launcher does. The first byte chooses the pieces.
 */
#include <inttypes.h>
#include <stdio.h>

#include "actors/cluster/launcher.h"
#include "actors/cluster/process_notice.h"
#include "cli/lib/tame.h"
#include "launch/line_reader.h"
#include "tests/fuzz/fuzz.h"

struct reading {
    const uint8_t *data; /* of which the lines are pieces, in order */
    size_t at, size;
    struct launcher launcher;
    uint64_t now_ns;
    uint32_t starts;
};

static int start(void *arg, uint32_t process, uint32_t incarnation, uint32_t restarts)
{
    struct reading *reading = arg;
    (void)restarts;
    assert(process == 0 && incarnation > 0);
    reading->starts++;
    return 0;
}

/* It ends by itself before the next turn. */
static void end(void *arg, uint32_t process)
{
    struct reading *reading = arg;
    assert(process == 0 && reading->starts > 0);
}

static const struct launcher_ops launcher_ops = { start, end, end };

static void use_notice(const char *line)
{
    char again[sizeof NOTICE_SILENT + 64];
    uint32_t process, incarnation;
    if (notice_is(line, NOTICE_KERNELS))
        fuzz_touch(notice_kernels(line), strlen(notice_kernels(line)));
    uint64_t step;
    if (notice_step(line, NOTICE_CHECKPOINT, &step) || notice_step(line, NOTICE_ERA, &step))
        assert(step <= INT64_MAX);
    if (!notice_silent(line, &process, &incarnation))
        return;
    /* It says these numbers, whatever zeros are before them. */
    assert(notice_is(line, NOTICE_SILENT));
    snprintf(again, sizeof again, "%s process %" PRIu32 " incarnation %" PRIu32, NOTICE_SILENT,
             process, incarnation);
    uint32_t process_again, incarnation_again;
    assert(notice_silent(again, &process_again, &incarnation_again));
    assert(process_again == process && incarnation_again == incarnation);
}

/* Each byte but the ends of lines is in one line, in its place. */
static void take(void *arg, char *line, size_t length)
{
    struct reading *reading = arg;
    assert(length <= LINE_BYTES_MAX && line[length] == '\0');
    assert(reading->size - reading->at >= length);
    assert(memcmp(line, reading->data + reading->at, length) == 0);
    assert(memchr(line, '\n', length) == NULL);
    reading->at += length;
    if (reading->at < reading->size && reading->data[reading->at] == '\r' &&
        length < LINE_BYTES_MAX)
        reading->at++;
    if (reading->at < reading->size && reading->data[reading->at] == '\n')
        reading->at++;
    use_notice(line);
    reading->now_ns += 1000000;
    launcher_take_line(&reading->launcher, 0, line, NULL, reading->now_ns);
    launcher_turn(&reading->launcher, reading->now_ns);
    tame_line(line, length);
    for (size_t i = 0; i < length; i++)
        assert((unsigned char)line[i] >= 0x20 || line[i] == '\t');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = { data, size };
    size_t piece = (size_t)fuzz_byte(&bytes) * 37 + 1, room;
    struct reading reading = { .data = bytes.at, .size = bytes.left, .now_ns = 1 };
    struct line_reader *lines = malloc(sizeof *lines);
    struct plan plan;
    assert(lines != NULL && plan_init_single(&plan, 1, 1, 1, 1, 1) == 0);
    const struct launcher_options options = { .plan = &plan,
                                              .incarnation = 5,
                                              .restarts = 3,
                                              .period_ns = 1000000000,
                                              .ops = &launcher_ops,
                                              .arg = &reading };
    assert(launcher_init(&reading.launcher, &options, reading.now_ns) == 0);
    launcher_turn(&reading.launcher, reading.now_ns);
    line_reader_init(lines, take, &reading);
    while (bytes.left > 0) {
        char *to = line_reader_room(lines, &room);
        assert(room > 0);
        size_t now = piece < bytes.left ? piece : bytes.left;
        now = now < room ? now : room;
        memcpy(to, bytes.at, now);
        bytes.at += now;
        bytes.left -= now;
        line_reader_grew(lines, now);
    }
    line_reader_end(lines);
    assert(reading.at == reading.size);
    /* Nobody died: the process of the first turn is the only one. */
    assert(reading.starts == 1);
    launcher_fini(&reading.launcher);
    plan_fini(&plan);
    free(lines);
    return 0;
}

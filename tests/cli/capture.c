/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cli/capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

void capture_begin(struct capture *capture, int fd)
{
    *capture = (struct capture){ .fd = fd, .file = tmpfile() };
    assert_non_null(capture->file);
    fflush(NULL);
    capture->before = dup(fd);
    assert_true(capture->before >= 0 && dup2(fileno(capture->file), fd) == fd);
}

void capture_end(struct capture *capture, char *text, size_t size)
{
    fflush(NULL);
    dup2(capture->before, capture->fd);
    close(capture->before);
    rewind(capture->file);
    text[fread(text, 1, size - 1, capture->file)] = '\0';
    fclose(capture->file);
}

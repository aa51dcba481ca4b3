/* SPDX-License-Identifier: Apache-2.0 */
/* LOG.job of a launcher: paths that are read are whole ones, an exit code is one of a process. */
#include <jansson.h>
#include <string.h>

#include "cli/launch/job_mark.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct job_note note;
    json_object_seed(1); /* equal inputs run equally */
    job_mark_read(&note, (const char *)data, size);
    const char *const paths[] = { note.cluster, note.run };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (paths[i] != NULL) {
            assert(paths[i][0] == '/');
            fuzz_touch(paths[i], strlen(paths[i]));
        }
    assert(note.code >= -1 && note.code < 256);
    job_note_fini(&note);
    return 0;
}

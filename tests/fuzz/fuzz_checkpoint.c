/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.json of a checkpoint: what is read is written and read the same. */
#include <jansson.h>

#include "actors/job/checkpoint_json.h"
#include "tests/fuzz/fuzz.h"

static void check_same(const struct checkpoint_manifest *manifest)
{
    struct checkpoint_manifest back;
    struct error error = { 0 };
    char *text = checkpoint_to_json(manifest);
    assert(text != NULL);
    int rv = checkpoint_from_json("again.json", text, strlen(text), &back, &error);
    assert(rv == 0 && back.step == manifest->step && back.era == manifest->era &&
           back.world == manifest->world);
    for (uint32_t i = 0; i < back.world; i++)
        assert(back.parts[i].bytes == manifest->parts[i].bytes &&
               back.parts[i].crc32c == manifest->parts[i].crc32c);
    checkpoint_manifest_fini(&back);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct checkpoint_manifest manifest;
    struct error error = { 0 };
    json_object_seed(1); /* equal inputs run equally */
    int rv = checkpoint_from_json("manifest.json", (const char *)data, size, &manifest, &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        check_same(&manifest);
        checkpoint_manifest_fini(&manifest);
    }
    return 0;
}

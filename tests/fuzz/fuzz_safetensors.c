/* SPDX-License-Identifier: Apache-2.0 */
/* A file of named tensors: those of a file that opens cover its data, and are found by name. */
#include <jansson.h>

#include "model/safetensors.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

static void use(const struct safetensors *tensors)
{
    uint64_t bytes, sum = 0;
    for (size_t i = 0; i < tensors->count; i++) {
        const struct safetensor *tensor = &tensors->tensors[i];
        assert(safetensor_bytes(tensor, &bytes) == 0 && bytes == tensor->bytes);
        assert(safetensors_find(tensors, tensor->name) == tensor);
        fuzz_touch(tensor->data, bytes);
        sum += bytes;
    }
    assert(sum <= tensors->file.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_files files;
    struct error error = { 0 };
    struct safetensors tensors;
    json_object_seed(1); /* equal inputs run equally */
    memory_files_init(&files, "model.safetensors", data, size);
    int rv = safetensors_open(&tensors, &files.base, FUZZ_FOLDER "/model.safetensors", &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        use(&tensors);
        safetensors_close(&tensors);
    }
    memory_files_fini(&files);
    return 0;
}

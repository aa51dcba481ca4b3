/* SPDX-License-Identifier: Apache-2.0 */
/* config.json of a training run: what is read can be written again. */
#include "model/run_config.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

static void use(const struct run_config *config)
{
    struct error error = { 0 };
    assert(config->model.layers <= TR_LAYERS_MAX && config->batch_size > 0);
    assert(model_config_check(&config->model, &error) == 0);
    for (uint32_t e = 0; e < 3; e++)
        (void)model_config_rate(&config->model, e);
    json_t *json = run_config_to_json(config);
    assert(json != NULL);
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_files files;
    struct error error = { 0 };
    struct run_config config;
    json_object_seed(1); /* equal inputs run equally */
    memory_files_init(&files, "config.json", data, size);
    int rv = run_config_read(&files.base, FUZZ_FOLDER "/config.json", &config, &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        use(&config);
        run_config_fini(&config);
    }
    memory_files_fini(&files);
    return 0;
}

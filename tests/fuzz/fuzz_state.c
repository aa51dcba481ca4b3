/* SPDX-License-Identifier: Apache-2.0 */
/* A trainer's part of a checkpoint: what is taken is written back as the same bytes, and what is
 * refused changes nothing. */
#include "model/model.h"
#include "model/state.h"
#include "runtime/base/parallel.h"
#include "tests/fuzz/fuzz.h"

/* The job that the corpus was written with. */
#define JOB 77u

static struct model_config small(void)
{
    struct model_config config = model_config_default();
    config.layers = 1;
    config.inputs = config.hidden = config.classes = 2;
    return config;
}

static void use(struct model *model, const void *bytes, size_t size)
{
    struct error error = { 0 };
    struct trainer_position at = { 0 };
    size_t params = model_params(model)->count;
    float best[64] = { 0 }, before[64];
    assert(params <= 64);
    memcpy(before, model_weights(model), params * sizeof(float));
    int rv = state_read(model, best, &at, JOB, bytes, size, &error);
    fuzz_check(rv, &error);
    if (rv < 0) {
        assert(memcmp(before, model_weights(model), params * sizeof(float)) == 0);
        return;
    }
    void *again;
    size_t count;
    assert(state_write(model, best, &at, JOB, &again, &count) == 0);
    assert(count == size && memcmp(again, bytes, size) == 0);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model_config config = small();
    struct model *model;
    struct state_facts facts;
    void *bytes = fuzz_block(data, size);
    if (size >= STATE_HEAD_BYTES)
        (void)state_look(bytes, &facts);
    assert(model_create(&model, &config, parallel_serial, NULL) == 0);
    use(model, bytes, size);
    model_destroy(model);
    free(bytes);
    return 0;
}

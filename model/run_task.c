/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_task.h"

#include "model/run_job_inside.h"

static int prepare_nothing(struct run_job *job, struct error *error)
{
    (void)job;
    (void)error;
    return 0;
}

static const struct run_task run_task_nodes = {
    .has_deals = true,
    .predicts_nodes = true,
    .outputs = "classes",
    .find_types = run_nodes_find_types,
    .complete = run_nodes_complete,
    .prepare = prepare_nothing,
    .choose = run_nodes_choose,
    .split_train = run_nodes_split_train,
    .split_held = run_nodes_split_held,
    .holds_out = run_nodes_hold_out,
    .hash_part = run_nodes_hash_part,
    .evaluate = run_nodes_evaluate,
    .survey = run_nodes_survey,
};

const struct run_task *run_task_of(const struct run_config *config)
{
    return config->model.task == MODEL_LINKS ? &run_task_links : &run_task_nodes;
}

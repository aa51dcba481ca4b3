# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libtr_actors.la
libtr_actors_la_SOURCES = \
    actors/cluster/cluster.c \
    actors/cluster/cluster.h \
    actors/cluster/cluster_check.c \
    actors/cluster/cluster_form.c \
    actors/cluster/cluster_ip_config.c \
    actors/cluster/cluster_json.c \
    actors/cluster/cluster_plan.c \
    actors/cluster/cluster_read.h \
    actors/cluster/launcher.c \
    actors/cluster/launcher.h \
    actors/cluster/launcher_policy.c \
    actors/cluster/launcher_policy.h \
    actors/cluster/process_notice.c \
    actors/cluster/process_notice.h \
    actors/common/error_reply.c \
    actors/common/error_reply.h \
    actors/common/job_era.h \
    actors/common/job_progress.c \
    actors/common/job_progress.h \
    actors/common/node_sort.c \
    actors/common/node_sort.h \
    actors/common/part_call.c \
    actors/common/part_call.h \
    actors/common/part_locator.c \
    actors/common/part_locator.h \
    actors/common/process_member.c \
    actors/common/process_member.h \
    actors/common/reply_budget.c \
    actors/common/reply_budget.h \
    actors/data/client.c \
    actors/data/client.h \
    actors/data/client_fetch.c \
    actors/data/client_lane.c \
    actors/data/client_nodes.c \
    actors/data/client_state.h \
    actors/data/client_tensor.c \
    actors/data/draw.h \
    actors/data/id_groups.c \
    actors/data/id_groups.h \
    actors/data/local_select.c \
    actors/data/local_select.h \
    actors/data/server.c \
    actors/data/server.h \
    actors/data/server_rows.c \
    actors/data/server_sample.c \
    actors/data/server_reverse.c \
    actors/data/server_select.c \
    actors/data/server_work.h \
    actors/data/snapshot.c \
    actors/data/snapshot.h \
    actors/data/snapshot_load.c \
    actors/data/server_tensors.c \
    actors/data/tensor_shelf.c \
    actors/data/tensor_shelf.h \
    actors/job/coordinator.c \
    actors/job/coordinator.h \
    actors/job/coordinator_barrier.c \
    actors/job/coordinator_end.c \
    actors/job/coordinator_era.c \
    actors/job/coordinator_hosts.c \
    actors/job/coordinator_join.c \
    actors/job/coordinator_members.c \
    actors/job/coordinator_save.c \
    actors/job/coordinator_state.h \
    actors/job/first_contact.c \
    actors/job/first_contact.h \
    actors/job/membership.c \
    actors/job/membership.h \
    actors/process_actors.c \
    actors/process_actors.h \
    actors/report/metrics.c \
    actors/report/metrics.h \
    actors/report/metrics_text.c \
    actors/report/status.c \
    actors/report/status.h \
    actors/report/status_json.c

# Batches: made by samplers, brought by the trainer-proxy.
libtr_actors_la_SOURCES += \
    actors/data/batch_store.c actors/data/batch_store.h \
    actors/data/batch_flat.c actors/data/batch_flat.h \
    actors/data/epoch_plan.c actors/data/epoch_plan.h \
    actors/cluster/plan.c actors/cluster/plan.h \
    actors/data/proxy.c actors/data/proxy.h actors/data/proxy_ask.c actors/data/proxy_deposit.c actors/data/proxy_estimate.c \
    actors/data/proxy_list.c actors/data/proxy_pull.c \
    actors/data/proxy_state.h actors/data/proxy_window.c \
    actors/data/sampled_batch.c actors/data/sampled_batch.h \
    actors/data/sampler.c actors/data/sampler.h actors/data/sampler_answer.c actors/data/sampler_ask.c \
    actors/data/sampler_keep.c actors/data/sampler_loader.c actors/data/sampler_request.c \
    actors/data/sampler_negatives.c actors/data/sampler_questions.c actors/data/sampler_reply.c actors/data/sampler_reverse.c \
    actors/data/sampler_seeds.c actors/data/sampler_slice.c actors/data/sampler_state.h actors/data/sampler_task.c actors/data/sparse_reply.h actors/data/seed_lists.c actors/data/seed_lists.h \
    actors/data/seed_set.c actors/data/seed_set.h

# Trainers that work together: sums, checkpoints, eras.
libtr_actors_la_SOURCES += \
    actors/job/checkpoint.c actors/job/checkpoint.h actors/job/checkpoint_choose.c \
    actors/job/checkpoint_hosts.c \
    actors/job/checkpoint_store.c actors/job/checkpoint_store.h actors/job/checkpoint_store_work.c actors/job/checkpoint_store_call.c \
    actors/job/checkpoint_store_state.h \
    actors/job/checkpoint_json.c actors/job/checkpoint_json.h actors/job/checkpoint_paths.h \
    actors/job/reducer.c actors/job/reducer.h actors/job/reducer_ask.c actors/job/reducer_copy.c \
    actors/job/reducer_part.c \
    actors/job/reducer_reduce.c actors/job/reducer_share.c actors/job/reducer_state.h

noinst_LTLIBRARIES += libtr_actors.la
libtr_actors_la_SOURCES = \
    actors/cast.c actors/cast.h \
    actors/client.c actors/client.h actors/client_state.h \
    actors/client_fetch.c \
    actors/client_lane.c \
    actors/client_nodes.c \
    actors/cluster.c actors/cluster.h actors/cluster_check.c actors/cluster_form.c actors/cluster_ip_config.c \
    actors/cluster_json.c actors/cluster_plan.c actors/cluster_read.h \
    actors/coordinator.c actors/coordinator.h actors/coordinator_state.h \
    actors/coordinator_barrier.c \
    actors/coordinator_end.c \
    actors/coordinator_era.c \
    actors/coordinator_hosts.c \
    actors/coordinator_members.c \
    actors/coordinator_save.c \
    actors/draw.h \
    actors/failed.c actors/failed.h \
    actors/launcher.c actors/launcher.h \
    actors/launcher_policy.c actors/launcher_policy.h \
    actors/local_select.c actors/local_select.h \
    actors/member.c actors/member.h \
    actors/node_sort.c actors/node_sort.h \
    actors/owner.c actors/owner.h \
    actors/part_call.c actors/part_call.h \
    actors/presence.c actors/presence.h \
    actors/process_notice.c \
    actors/process_notice.h \
    actors/room.c actors/room.h \
    actors/server.c actors/server.h actors/server_work.h \
    actors/server_meta.c \
    actors/server_rows.c \
    actors/server_sample.c \
    actors/server_select.c \
    actors/metrics.c actors/metrics.h actors/metrics_text.c \
    actors/standing.c actors/standing.h \
    actors/status.c actors/status.h actors/status_json.c \
    actors/snapshot.c actors/snapshot.h actors/snapshot_load.c

# Batches: made by samplers, brought by the trainer-proxy.
libtr_actors_la_SOURCES += \
    actors/batch_bank.c actors/batch_bank.h \
    actors/batch_flat.c actors/batch_flat.h \
    actors/epoch_plan.c actors/epoch_plan.h \
    actors/plan.c actors/plan.h \
    actors/proxy.c actors/proxy.h actors/proxy_ask.c actors/proxy_deposit.c actors/proxy_estimate.c \
    actors/proxy_pull.c \
    actors/proxy_state.h actors/proxy_window.c \
    actors/sampled_batch.c actors/sampled_batch.h \
    actors/sampler.c actors/sampler.h actors/sampler_answer.c actors/sampler_ask.c \
    actors/sampler_keep.c actors/sampler_loader.c actors/sampler_request.c actors/sampler_state.h

# Trainers that work together: sums, checkpoints, eras.
libtr_actors_la_SOURCES += \
    actors/checkpoint.c actors/checkpoint.h actors/checkpoint_choose.c \
    actors/checkpoint_hosts.c \
    actors/keeper.c actors/keeper.h actors/keeper_work.c actors/keeper_call.c \
    actors/keeper_state.h \
    actors/checkpoint_json.c actors/checkpoint_json.h actors/checkpoint_paths.h \
    actors/reducer.c actors/reducer.h actors/reducer_ask.c actors/reducer_copy.c \
    actors/reducer_part.c \
    actors/reducer_reduce.c actors/reducer_share.c actors/reducer_state.h

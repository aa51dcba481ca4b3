# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/actors/test_server
TESTS += tests/actors/test_server
tests_actors_test_server_SOURCES = tests/actors/test_server.c tests/actors/graphs.c \
    tests/actors/graphs.h tests/actors/asker.c tests/actors/asker.h tests/schemas/random.h
tests_actors_test_server_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_snapshot
TESTS += tests/actors/test_snapshot
tests_actors_test_snapshot_SOURCES = tests/actors/test_snapshot.c tests/actors/graphs.c \
    tests/actors/graphs.h tests/schemas/random.h
tests_actors_test_snapshot_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_coordinator
TESTS += tests/actors/test_coordinator
tests_actors_test_coordinator_SOURCES = tests/actors/test_coordinator.c tests/actors/asker.c \
    tests/actors/asker.h tests/schemas/random.h
tests_actors_test_coordinator_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_placement
TESTS += tests/actors/test_placement
tests_actors_test_placement_SOURCES = tests/actors/test_placement.c \
    tests/partition/graph_util.h tests/partition/raw_util.h
tests_actors_test_placement_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_hostile_peers
TESTS += tests/actors/test_hostile_peers
tests_actors_test_hostile_peers_SOURCES = tests/actors/test_hostile_peers.c tests/actors/graphs.c \
    tests/actors/graphs.h tests/actors/asker.c tests/actors/asker.h tests/schemas/random.h
tests_actors_test_hostile_peers_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_epoch_plan
TESTS += tests/actors/test_epoch_plan
tests_actors_test_epoch_plan_SOURCES = tests/actors/test_epoch_plan.c tests/graph/statistics.h \
    tests/schemas/random.h
tests_actors_test_epoch_plan_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_proxy
TESTS += tests/actors/test_proxy
tests_actors_test_proxy_SOURCES = tests/actors/test_proxy.c tests/actors/graphs.c \
    tests/actors/graphs.h tests/actors/asker.c tests/actors/asker.h tests/schemas/random.h \
    tests/seeds.h
tests_actors_test_proxy_LDADD = $(actors_libs) $(test_libs)
SEED_TESTS += tests/actors/test_proxy

check_PROGRAMS += tests/actors/test_client
TESTS += tests/actors/test_client
SEED_TESTS += tests/actors/test_client
tests_actors_test_client_SOURCES = tests/actors/test_client.c tests/actors/graphs.c \
    tests/actors/graphs.h tests/actors/asker.c tests/actors/asker.h tests/schemas/random.h \
    tests/seeds.h
tests_actors_test_client_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_seed_lists
TESTS += tests/actors/test_seed_lists
tests_actors_test_seed_lists_SOURCES = tests/actors/test_seed_lists.c
tests_actors_test_seed_lists_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_batch_store
TESTS += tests/actors/test_batch_store
tests_actors_test_batch_store_SOURCES = tests/actors/test_batch_store.c tests/schemas/random.h
tests_actors_test_batch_store_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_batch_flat
TESTS += tests/actors/test_batch_flat
tests_actors_test_batch_flat_SOURCES = tests/actors/test_batch_flat.c tests/schemas/random.h
tests_actors_test_batch_flat_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_sampler
TESTS += tests/actors/test_sampler
tests_actors_test_sampler_SOURCES = tests/actors/test_sampler.c tests/actors/graphs.c \
    tests/actors/graphs.h tests/actors/asker.c tests/actors/asker.h tests/schemas/random.h \
    tests/seeds.h
tests_actors_test_sampler_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_second_sampler
TESTS += tests/actors/test_second_sampler
tests_actors_test_second_sampler_SOURCES = tests/actors/test_second_sampler.c \
    tests/actors/recent_sampler.c tests/actors/graphs.c tests/actors/graphs.h \
    tests/actors/asker.c tests/actors/asker.h tests/schemas/random.h
tests_actors_test_second_sampler_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_plan
TESTS += tests/actors/test_plan
tests_actors_test_plan_SOURCES = tests/actors/test_plan.c tests/schemas/random.h
tests_actors_test_plan_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_cluster
TESTS += tests/actors/test_cluster
tests_actors_test_cluster_SOURCES = tests/actors/test_cluster.c tests/schemas/random.h
tests_actors_test_cluster_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_cluster_memory
TESTS += tests/actors/test_cluster_memory
tests_actors_test_cluster_memory_SOURCES = tests/actors/test_cluster_memory.c tests/short_memory.h
tests_actors_test_cluster_memory_LDADD = $(actors_libs) $(test_libs)
tests_actors_test_cluster_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
    -Wl,--wrap=realloc -Wl,--wrap=strdup -Wl,--wrap=strndup

check_PROGRAMS += tests/actors/test_launcher
TESTS += tests/actors/test_launcher
tests_actors_test_launcher_SOURCES = tests/actors/test_launcher.c
tests_actors_test_launcher_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_launcher_policy
TESTS += tests/actors/test_launcher_policy
SEED_TESTS += tests/actors/test_launcher_policy
tests_actors_test_launcher_policy_SOURCES = tests/actors/test_launcher_policy.c \
    tests/schemas/random.h tests/seeds.h
tests_actors_test_launcher_policy_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_reducer
TESTS += tests/actors/test_reducer
tests_actors_test_reducer_SOURCES = tests/actors/test_reducer.c tests/actors/asker.c \
    tests/actors/asker.h tests/schemas/random.h
tests_actors_test_reducer_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_reducer_asks
TESTS += tests/actors/test_reducer_asks
tests_actors_test_reducer_asks_SOURCES = tests/actors/test_reducer_asks.c tests/actors/asker.c \
    tests/actors/asker.h
tests_actors_test_reducer_asks_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_process_actors_plan
TESTS += tests/actors/test_process_actors_plan
tests_actors_test_process_actors_plan_SOURCES = tests/actors/test_process_actors_plan.c tests/actors/cluster_fixture.c \
    tests/actors/cluster_fixture.h tests/actors/graphs.c tests/actors/graphs.h tests/schemas/random.h
tests_actors_test_process_actors_plan_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_status
TESTS += tests/actors/test_status
tests_actors_test_status_SOURCES = tests/actors/test_status.c tests/actors/asker.c tests/actors/asker.h \
    tests/actors/linked_pair.c tests/actors/linked_pair.h
tests_actors_test_status_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_process_actors_sim
TESTS += tests/actors/test_process_actors_sim
SEED_TESTS += tests/actors/test_process_actors_sim
tests_actors_test_process_actors_sim_SOURCES = tests/actors/test_process_actors_sim.c tests/actors/cluster_fixture.c \
    tests/actors/cluster_fixture.h tests/actors/graphs.c tests/actors/graphs.h tests/schemas/random.h \
    tests/seeds.h
tests_actors_test_process_actors_sim_LDADD = $(actors_libs) $(test_libs)
check_PROGRAMS += tests/actors/test_metrics
TESTS += tests/actors/test_metrics
tests_actors_test_metrics_SOURCES = tests/actors/test_metrics.c
tests_actors_test_metrics_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_checkpoint
TESTS += tests/actors/test_checkpoint
tests_actors_test_checkpoint_SOURCES = tests/actors/test_checkpoint.c
tests_actors_test_checkpoint_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_checkpoint_store
TESTS += tests/actors/test_checkpoint_store
SEED_TESTS += tests/actors/test_checkpoint_store
tests_actors_test_checkpoint_store_SOURCES = tests/actors/test_checkpoint_store.c tests/actors/cluster_fixture.c \
    tests/actors/cluster_fixture.h tests/actors/graphs.c tests/actors/graphs.h tests/schemas/random.h \
    tests/seeds.h
tests_actors_test_checkpoint_store_LDADD = $(actors_libs) $(test_libs)
check_PROGRAMS += tests/actors/test_group_calls
TESTS += tests/actors/test_group_calls
tests_actors_test_group_calls_SOURCES = tests/actors/test_group_calls.c tests/actors/cluster_fixture.c \
    tests/actors/cluster_fixture.h tests/actors/graphs.c tests/actors/graphs.h tests/schemas/random.h
tests_actors_test_group_calls_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_part_locator
TESTS += tests/actors/test_part_locator
tests_actors_test_part_locator_SOURCES = tests/actors/test_part_locator.c \
    tests/actors/asker.c tests/actors/asker.h
tests_actors_test_part_locator_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_process_member
TESTS += tests/actors/test_process_member
tests_actors_test_process_member_SOURCES = tests/actors/test_process_member.c \
    tests/actors/asker.c tests/actors/asker.h
tests_actors_test_process_member_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_first_contact
TESTS += tests/actors/test_first_contact
tests_actors_test_first_contact_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_job_end
TESTS += tests/actors/test_job_end
tests_actors_test_job_end_SOURCES = tests/actors/test_job_end.c tests/actors/cluster_fixture.c \
    tests/actors/cluster_fixture.h tests/actors/graphs.c tests/actors/graphs.h tests/schemas/random.h
tests_actors_test_job_end_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_part_call
TESTS += tests/actors/test_part_call
SEED_TESTS += tests/actors/test_part_call
tests_actors_test_part_call_SOURCES = tests/actors/test_part_call.c tests/actors/graphs.c \
    tests/actors/graphs.h tests/actors/asker.c tests/actors/asker.h tests/actors/linked_pair.c \
    tests/actors/linked_pair.h tests/schemas/random.h tests/seeds.h
tests_actors_test_part_call_LDADD = $(actors_libs) $(test_libs)

check_PROGRAMS += tests/actors/test_tensor_shelf
TESTS += tests/actors/test_tensor_shelf
tests_actors_test_tensor_shelf_SOURCES = tests/actors/test_tensor_shelf.c
tests_actors_test_tensor_shelf_LDADD = $(actors_libs) $(test_libs)

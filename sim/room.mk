# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libtr_sim.la
libtr_sim_la_SOURCES = \
    sim/actor_faults.c \
    sim/actor_faults.h \
    sim/draws.h \
    sim/expected_run.c \
    sim/expected_run.h \
    sim/faults.c \
    sim/faults.h \
    sim/fleet.c \
    sim/fleet.h \
    sim/fleet_faults.c \
    sim/fleet_faults.h \
    sim/fleet_liveness.c \
    sim/fleet_liveness.h \
    sim/fleet_oracles.c \
    sim/fleet_oracles.h \
    sim/fleet_plan.c \
    sim/fleet_plan.h \
    sim/fleet_run.c \
    sim/fleet_run.h \
    sim/link_checker.c \
    sim/link_checker.h \
    sim/oracles.c \
    sim/oracles.h \
    sim/reference.c \
    sim/reference.h \
    sim/run.c \
    sim/run.h \
    sim/runtime_checker.c \
    sim/runtime_checker.h \
    sim/scenario.c \
    sim/scenario.h \
    sim/seed_workers.c \
    sim/seed_workers.h \
    sim/sim_client.c \
    sim/sim_client.h \
    sim/sim_graph.c \
    sim/sim_graph.h \
    sim/sim_partitions.c \
    sim/sim_partitions.h \
    sim/sim_trainer.c \
    sim/sim_trainer.h \
    sim/world.c \
    sim/world.h

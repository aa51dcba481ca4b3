noinst_LTLIBRARIES += libtr_sim.la
libtr_sim_la_SOURCES = \
    sim/client.c sim/client.h \
    sim/courier.c sim/courier.h \
    sim/crowd.c sim/crowd.h \
    sim/draws.h \
    sim/faults.c sim/faults.h \
    sim/fleet.c sim/fleet.h \
    sim/fleet_faults.c sim/fleet_faults.h \
    sim/fleet_liveness.c sim/fleet_liveness.h \
    sim/fleet_oracles.c sim/fleet_oracles.h \
    sim/fleet_plan.c sim/fleet_plan.h \
    sim/fleet_run.c sim/fleet_run.h \
    sim/lessons.c sim/lessons.h \
    sim/oracles.c sim/oracles.h \
    sim/placed.c sim/placed.h \
    sim/probe.c sim/probe.h \
    sim/raw.c sim/raw.h \
    sim/reference.c sim/reference.h \
    sim/run.c sim/run.h \
    sim/scenario.c sim/scenario.h \
    sim/server_faults.c sim/server_faults.h \
    sim/sim_trainer.c sim/sim_trainer.h \
    sim/world.c sim/world.h

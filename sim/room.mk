noinst_LTLIBRARIES += libtr_sim.la
libtr_sim_la_SOURCES = \
    sim/client.c sim/client.h \
    sim/crowd.c sim/crowd.h \
    sim/draws.h \
    sim/faults.c sim/faults.h \
    sim/oracles.c sim/oracles.h \
    sim/placed.c sim/placed.h \
    sim/probe.c sim/probe.h \
    sim/raw.c sim/raw.h \
    sim/reference.c sim/reference.h \
    sim/run.c sim/run.h \
    sim/scenario.c sim/scenario.h \
    sim/world.c sim/world.h

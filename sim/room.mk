noinst_LTLIBRARIES += libtr_sim.la
libtr_sim_la_SOURCES =

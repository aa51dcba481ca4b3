noinst_LTLIBRARIES += libtr_actors.la
libtr_actors_la_SOURCES =

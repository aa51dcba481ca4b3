noinst_LTLIBRARIES += libtr_model.la
libtr_model_la_SOURCES =

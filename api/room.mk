noinst_LTLIBRARIES += libtr_api.la
libtr_api_la_SOURCES =

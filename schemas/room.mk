noinst_LTLIBRARIES += libtr_schemas.la
libtr_schemas_la_SOURCES = \
    schemas/messages.h

# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libtr_schemas.la
libtr_schemas_la_SOURCES = \
    schemas/body.c \
    schemas/body.h \
    schemas/codec.cc \
    schemas/codec.h \
    schemas/fields.h \
    schemas/messages.c \
    schemas/messages.h \
    schemas/sample_spec.c \
    schemas/sample_spec.h
nodist_libtr_schemas_la_SOURCES = schemas/messages_generated.h

EXTRA_DIST += schemas/messages.fbs
BUILT_SOURCES += schemas/messages_generated.h
CLEANFILES += schemas/messages_generated.h

schemas/messages_generated.h: schemas/messages.fbs
	$(AM_V_GEN)$(MKDIR_P) schemas && $(FLATC) --cpp -o schemas $(srcdir)/schemas/messages.fbs

# BUILT_SOURCES come first only for the big targets; `make libtr_schemas.la` needs this too.
schemas/codec.lo: schemas/messages_generated.h

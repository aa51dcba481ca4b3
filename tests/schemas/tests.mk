# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/schemas/test_codec tests/schemas/test_body
TESTS += tests/schemas/test_codec tests/schemas/test_body
tests_schemas_test_codec_SOURCES = tests/schemas/test_codec.c tests/schemas/random.h
tests_schemas_test_codec_LDADD = $(schemas_libs) $(test_libs)
tests_schemas_test_body_SOURCES = tests/schemas/test_body.c tests/schemas/random.h
tests_schemas_test_body_LDADD = $(schemas_libs) $(test_libs)

check_PROGRAMS += tests/schemas/test_messages
TESTS += tests/schemas/test_messages tests/schemas/test_schema.sh
tests_schemas_test_messages_SOURCES = tests/schemas/test_messages.c
tests_schemas_test_messages_LDADD = $(schemas_libs) $(test_libs)
EXTRA_DIST += tests/schemas/test_schema.sh

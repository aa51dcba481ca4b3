# SPDX-License-Identifier: Apache-2.0
# Fuzz targets. Each is a test of its corpus (replay.c); with configure --enable-fuzz, `make fuzz`
# links each with libFuzzer too.
fuzz_tests = \
    tests/fuzz/fuzz_assign tests/fuzz/fuzz_batch tests/fuzz/fuzz_checkpoint \
    tests/fuzz/fuzz_chunked tests/fuzz/fuzz_cluster tests/fuzz/fuzz_config tests/fuzz/fuzz_csv tests/fuzz/fuzz_events \
    tests/fuzz/fuzz_deal tests/fuzz/fuzz_debian tests/fuzz/fuzz_edges tests/fuzz/fuzz_exchange tests/fuzz/fuzz_folder \
    tests/fuzz/fuzz_hello tests/fuzz/fuzz_link tests/fuzz/fuzz_live tests/fuzz/fuzz_live_events tests/fuzz/fuzz_live_lines tests/fuzz/fuzz_job_mark tests/fuzz/fuzz_messages tests/fuzz/fuzz_metis \
    tests/fuzz/fuzz_mtx tests/fuzz/fuzz_notices tests/fuzz/fuzz_npy tests/fuzz/fuzz_npz tests/fuzz/fuzz_ogb tests/fuzz/fuzz_partition \
    tests/fuzz/fuzz_pem tests/fuzz/fuzz_safetensors tests/fuzz/fuzz_state tests/fuzz/fuzz_status \
    tests/fuzz/fuzz_svmlight \
    tests/fuzz/fuzz_table
check_PROGRAMS += $(fuzz_tests)

if FUZZ
fuzz_driver = $(FUZZ_LIBS)
fuzz: $(fuzz_tests)
else
TESTS += $(fuzz_tests)
check_LTLIBRARIES += tests/fuzz/libreplay.la
tests_fuzz_libreplay_la_SOURCES = tests/fuzz/replay.c
fuzz_driver = tests/fuzz/libreplay.la
fuzz:
	@echo "make fuzz: configure with --enable-fuzz CC=clang CXX=clang++ first" >&2; exit 1
endif

# The corpora; and the program that made their first inputs from real encodings.
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/run.sh

fuzz_memory = tests/fuzz/fuzz.h tests/fuzz/memory_files.c tests/fuzz/memory_files.h
fuzz_import = $(fuzz_memory) tests/fuzz/sink_files.c tests/fuzz/sink_files.h
fuzz_json = tests/fuzz/json_mutator.c tests/json_spots.c tests/json_spots.h
fuzz_raw = $(fuzz_memory) tests/fuzz/raw_use.c tests/fuzz/raw_use.h

tests_fuzz_fuzz_assign_SOURCES = tests/fuzz/fuzz_assign.c $(fuzz_memory)
tests_fuzz_fuzz_assign_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_batch_SOURCES = tests/fuzz/fuzz_batch.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_batch_LDADD = $(fuzz_driver) $(actors_libs)

tests_fuzz_fuzz_checkpoint_SOURCES = tests/fuzz/fuzz_checkpoint.c tests/fuzz/fuzz.h $(fuzz_json)
tests_fuzz_fuzz_checkpoint_LDADD = $(fuzz_driver) $(actors_libs)

tests_fuzz_fuzz_chunked_SOURCES = tests/fuzz/fuzz_chunked.c $(fuzz_raw) $(fuzz_json)
tests_fuzz_fuzz_chunked_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_cluster_SOURCES = tests/fuzz/fuzz_cluster.c $(fuzz_memory) $(fuzz_json)
tests_fuzz_fuzz_cluster_LDADD = $(fuzz_driver) $(actors_libs)

tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz_config.c $(fuzz_memory) $(fuzz_json)
tests_fuzz_fuzz_config_LDADD = $(fuzz_driver) libtr_cli_public.la $(cli_libs)

tests_fuzz_fuzz_svmlight_SOURCES = tests/fuzz/fuzz_svmlight.c $(fuzz_memory)
tests_fuzz_fuzz_svmlight_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_table_SOURCES = tests/fuzz/fuzz_table.c $(fuzz_memory)
tests_fuzz_fuzz_table_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_csv_SOURCES = tests/fuzz/fuzz_csv.c $(fuzz_memory)
tests_fuzz_fuzz_csv_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_deal_SOURCES = tests/fuzz/fuzz_deal.c $(fuzz_memory)
tests_fuzz_fuzz_deal_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_debian_SOURCES = tests/fuzz/fuzz_debian.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_debian_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_edges_SOURCES = tests/fuzz/fuzz_edges.c $(fuzz_raw)
tests_fuzz_fuzz_edges_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_events_SOURCES = tests/fuzz/fuzz_events.c $(fuzz_memory)
tests_fuzz_fuzz_events_LDADD = $(fuzz_driver) libtr_cli_public.la $(cli_libs)

tests_fuzz_fuzz_exchange_SOURCES = tests/fuzz/fuzz_exchange.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_exchange_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_folder_SOURCES = tests/fuzz/fuzz_folder.c $(fuzz_raw)
tests_fuzz_fuzz_folder_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_hello_SOURCES = tests/fuzz/fuzz_hello.c tests/fuzz/fuzz.h \
    tests/fuzz/memory_stream.c tests/fuzz/memory_stream.h
tests_fuzz_fuzz_hello_LDADD = $(fuzz_driver) $(runtime_libs)

tests_fuzz_fuzz_link_SOURCES = tests/fuzz/fuzz_link.c tests/fuzz/fuzz.h \
    tests/fuzz/memory_stream.c tests/fuzz/memory_stream.h
tests_fuzz_fuzz_link_LDADD = $(fuzz_driver) $(schemas_libs)

tests_fuzz_fuzz_live_SOURCES = tests/fuzz/fuzz_live.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_live_LDADD = $(fuzz_driver) $(api_libs)

tests_fuzz_fuzz_live_events_SOURCES = tests/fuzz/fuzz_live_events.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_live_events_LDADD = $(fuzz_driver) $(api_libs)

tests_fuzz_fuzz_job_mark_SOURCES = tests/fuzz/fuzz_job_mark.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_job_mark_LDADD = $(fuzz_driver) libtr_cli_public.la $(api_libs)
tests_fuzz_fuzz_live_lines_SOURCES = tests/fuzz/fuzz_live_lines.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_live_lines_LDADD = $(fuzz_driver) $(api_libs)

tests_fuzz_fuzz_messages_SOURCES = tests/fuzz/fuzz_messages.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_messages_LDADD = $(fuzz_driver) $(schemas_libs)

tests_fuzz_fuzz_metis_SOURCES = tests/fuzz/fuzz_metis.c $(fuzz_raw)
tests_fuzz_fuzz_metis_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_mtx_SOURCES = tests/fuzz/fuzz_mtx.c $(fuzz_raw)
tests_fuzz_fuzz_mtx_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_notices_SOURCES = tests/fuzz/fuzz_notices.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_notices_LDADD = $(fuzz_driver) libtr_cli_public.la $(cli_libs)

tests_fuzz_fuzz_npy_SOURCES = tests/fuzz/fuzz_npy.c $(fuzz_memory)
tests_fuzz_fuzz_npy_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_npz_SOURCES = tests/fuzz/fuzz_npz.c $(fuzz_import)
tests_fuzz_fuzz_npz_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_ogb_SOURCES = tests/fuzz/fuzz_ogb.c $(fuzz_import)
tests_fuzz_fuzz_ogb_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_partition_SOURCES = tests/fuzz/fuzz_partition.c $(fuzz_memory) $(fuzz_json)
tests_fuzz_fuzz_partition_LDADD = $(fuzz_driver) $(partition_libs)

tests_fuzz_fuzz_pem_SOURCES = tests/fuzz/fuzz_pem.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_pem_LDADD = $(fuzz_driver) $(runtime_libs)

tests_fuzz_fuzz_safetensors_SOURCES = tests/fuzz/fuzz_safetensors.c $(fuzz_memory)
tests_fuzz_fuzz_safetensors_LDADD = $(fuzz_driver) $(model_libs)

tests_fuzz_fuzz_state_SOURCES = tests/fuzz/fuzz_state.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_state_LDADD = $(fuzz_driver) $(model_libs)

tests_fuzz_fuzz_status_SOURCES = tests/fuzz/fuzz_status.c tests/fuzz/fuzz.h $(fuzz_json)
tests_fuzz_fuzz_status_LDADD = $(fuzz_driver) libtr_cli_public.la $(cli_libs)

# Run by hand when an encoding changes.
if HAVE_CMOCKA
check_PROGRAMS += tests/fuzz/make_corpus
tests_fuzz_make_corpus_SOURCES = tests/fuzz/make_corpus.c
tests_fuzz_make_corpus_LDADD = libtr_cli_public.la $(cli_libs) $(test_libs)
endif

# SPDX-License-Identifier: Apache-2.0
# The Python package. Its C modules are built by python/setup.py, on the public headers and the
# installed (or just built) libraries; make only ships the sources and runs the tests.
EXTRA_DIST += \
    docs/python/api.rst \
    docs/python/conf.py \
    docs/python/debian.ipynb \
    docs/python/index.rst \
    docs/python/links.rst \
    docs/python/porting.rst \
    docs/python/troubleshooting.rst \
    python/bench/loader.py \
    python/bench/nn_step.py \
    python/bench/waiting.py \
    python/check.sh \
    python/ffi_build.py \
    python/find_library.py \
    python/pyproject.toml \
    python/setup.py \
    python/tests/conftest.py \
    python/tests/dgl_questions.py \
    python/tests/dump_batches.c \
    python/tests/launching.py \
    python/tests/pyg_stand_ins.py \
    python/tests/record_batches.py \
    python/tests/soak_loaders.py \
    python/tests/soak_ranks.py \
    python/tests/test_blocks.py \
    python/tests/test_checkpointing.py \
    python/tests/test_dgl_answers.py \
    python/tests/test_dgl_folder.py \
    python/tests/test_dgl_job.py \
    python/tests/test_dgl_names.py \
    python/tests/test_display.py \
    python/tests/test_docs.py \
    python/tests/test_edge_loader.py \
    python/tests/test_edge_types.py \
    python/tests/test_graph.py \
    python/tests/test_import.py \
    python/tests/test_interrupt.py \
    python/tests/test_job.py \
    python/tests/test_loader.py \
    python/tests/test_logs.py \
    python/tests/test_nn.py \
    python/tests/test_nn_models.py \
    python/tests/test_nn_typed.py \
    python/tests/test_observing.py \
    python/tests/test_own_draws.py \
    python/tests/test_packaging.py \
    python/tests/test_partitioning.py \
    python/tests/test_pyg.py \
    python/tests/test_pyg_links.py \
    python/tests/test_range_book.py \
    python/tests/test_ranking.py \
    python/tests/test_raw.py \
    python/tests/test_readme.py \
    python/tests/test_reporting.py \
    python/tests/test_samplers.py \
    python/tests/test_tensors.py \
    python/tests/test_rows_ahead.py \
    python/tests/test_safetensors.py \
    python/tests/test_sets.py \
    python/tests/test_torch.py \
    python/tests/test_training.py \
    python/troupe/__init__.py \
    python/troupe/_core.pyi \
    python/troupe/_libmodel.pyi \
    python/troupe/_libtroupe.pyi \
    python/troupe/activation.py \
    python/troupe/aggregation.py \
    python/troupe/arrays.py \
    python/troupe/batch.py \
    python/troupe/binding.py \
    python/troupe/book.py \
    python/troupe/checkpointing.py \
    python/troupe/core_module.c \
    python/troupe/dgl/__init__.py \
    python/troupe/dgl/__main__.py \
    python/troupe/dgl/context.py \
    python/troupe/dgl/dataloading.py \
    python/troupe/dgl/dgl_file.py \
    python/troupe/dgl/dgl_folder.py \
    python/troupe/dgl/dgl_loaders.py \
    python/troupe/dgl/dgl_negatives.py \
    python/troupe/dgl/dgl_partitions.py \
    python/troupe/dgl/dgl_samplers.py \
    python/troupe/dgl/dist_graph.py \
    python/troupe/dgl/dist_tensor.py \
    python/troupe/dgl/distributed.py \
    python/troupe/dgl/drawn_graph.py \
    python/troupe/dgl/edge_loaders.py \
    python/troupe/dgl/graph_frames.py \
    python/troupe/dgl/graph_parts.py \
    python/troupe/dgl/homogeneous.py \
    python/troupe/dgl/installed.py \
    python/troupe/dgl/later.py \
    python/troupe/dgl/partition_book.py \
    python/troupe/dgl/policy.py \
    python/troupe/dgl/prefetching.py \
    python/troupe/dgl/range_book.py \
    python/troupe/dgl/rows_ahead.py \
    python/troupe/dgl/services.py \
    python/troupe/dgl/total_fanout.py \
    python/troupe/dgl/type_names.py \
    python/troupe/dgl/workload.py \
    python/troupe/dgl_block.py \
    python/troupe/display.py \
    python/troupe/draw_seed.py \
    python/troupe/edge_exclusion.py \
    python/troupe/edge_loader.py \
    python/troupe/edge_queries.py \
    python/troupe/epoch.py \
    python/troupe/errors.py \
    python/troupe/graph.py \
    python/troupe/group.py \
    python/troupe/job.py \
    python/troupe/loader.py \
    python/troupe/locality.py \
    python/troupe/own_draws.py \
    python/troupe/negative_pairs.py \
    python/troupe/negative_sampler.py \
    python/troupe/nn.py \
    python/troupe/nn_columns.py \
    python/troupe/nn_hetero.py \
    python/troupe/nn_infer.py \
    python/troupe/nn_layers.py \
    python/troupe/nn_models.py \
    python/troupe/nn_relations.py \
    python/troupe/nn_typed_models.py \
    python/troupe/observing.py \
    python/troupe/pair_graph.py \
    python/troupe/parallel.py \
    python/troupe/partitioning.py \
    python/troupe/plot.py \
    python/troupe/py.typed \
    python/troupe/pyg/__init__.py \
    python/troupe/pyg/batch_fill.py \
    python/troupe/pyg/data_source.py \
    python/troupe/pyg/epochs.py \
    python/troupe/pyg/later_loaders.py \
    python/troupe/pyg/link_draws.py \
    python/troupe/pyg/link_loader.py \
    python/troupe/pyg/link_maker.py \
    python/troupe/pyg/link_seeds.py \
    python/troupe/pyg/own_seeds.py \
    python/troupe/pyg/pyg_loader.py \
    python/troupe/pyg/pyg_sampler.py \
    python/troupe/pyg/refusals.py \
    python/troupe/pyg/selection.py \
    python/troupe/pyg/pyg_stores.py \
    python/troupe/pyg/unread.py \
    python/troupe/pyg_data.py \
    python/troupe/progress_bar.py \
    python/troupe/ranking.py \
    python/troupe/raw.py \
    python/troupe/reporting.py \
    python/troupe/runs.py \
    python/troupe/safetensors.py \
    python/troupe/sampler.py \
    python/troupe/seeds.py \
    python/troupe/logs.py \
    python/troupe/session.py \
    python/troupe/state_tree.py \
    python/troupe/tables.py \
    python/troupe/task.py \
    python/troupe/tensors.py \
    python/troupe/train_many.py \
    python/troupe/training.py \
    python/troupe/types.py \
    python/wheel.sh

# PYTEST_ARGS: which tests, such as "-k loader".
check-python: all
	$(SHELL) $(srcdir)/python/check.sh . $(PYTEST_ARGS)
# After make install, for the interpreter PYTHON (python3); PIP_ARGS: where to.
install-python:
	PKG_CONFIG_PATH='$(DESTDIR)$(pkgconfigdir)'"$${PKG_CONFIG_PATH:+:$$PKG_CONFIG_PATH}" \
	    $${PYTHON-python3} -m pip install --no-deps --no-build-isolation $(PIP_ARGS) $(srcdir)/python
# What the package carries (python/find_library.py): the libraries, their headers and METIS's helper.
python-libraries: $(BUILT_SOURCES)
	$(MAKE) $(AM_MAKEFLAGS) $(lib_LTLIBRARIES) troupe-metis
install-python-libraries: python-libraries
	$(MAKE) $(AM_MAKEFLAGS) install-libLTLIBRARIES install-troupeincludeHEADERS
	$(MAKE) $(AM_MAKEFLAGS) install-pkglibexecPROGRAMS pkglibexec_PROGRAMS=troupe-metis
.PHONY: check-python install-python python-libraries install-python-libraries
# Python's own folders are left alone by make install.
install-data-hook:
	@echo 'The Python package: make install-python PYTHON=python3, or python3 -m pip install $(abs_top_srcdir)/python'

# SPDX-License-Identifier: Apache-2.0
# Tests that run programs of others, such as a real sshd, or that train for ten minutes: ./check outside runs
# them, make check does not.
outside_shell_tests = \
    tests/outside/accuracy_seeds.sh \
    tests/outside/deploy.sh \
    tests/outside/links_debian.sh \
    tests/outside/logrotate.sh \
    tests/outside/mpi.sh \
    tests/outside/prometheus.sh \
    tests/outside/packages.sh \
    tests/outside/live_page.sh \
    tests/outside/python_dgl.sh \
    tests/outside/python_docs.sh \
    tests/outside/python_peers.sh \
    tests/outside/python_plot.sh \
    tests/outside/python_pyg.sh \
    tests/outside/python_types.sh \
    tests/outside/python_wheel.sh \
    tests/outside/report_page.sh \
    tests/outside/slow_loris.sh \
    tests/outside/slurm.sh \
    tests/outside/ssh.sh \
    tests/outside/tensorboard_itself.sh
OUTSIDE_TESTS += $(outside_shell_tests)
EXTRA_DIST += $(outside_shell_tests) tests/outside/check_manifest.py tests/outside/two_hosts.sh tests/outside/browser.py tests/outside/read_tensorboard.py tests/outside/live_page.py \
    tests/outside/dgl/run_graphstorm.py tests/outside/dgl/run_links.py tests/outside/dgl/run_objects.py tests/outside/dgl/run_partitions.py tests/outside/dgl/run_questions.py \
    tests/outside/dgl/run_sage.py \
    tests/outside/dgl/test_dgl_edges.py tests/outside/dgl/test_dgl_graphs.py tests/outside/dgl/test_dgl_layers.py \
    tests/outside/dgl/test_same_questions.py tests/outside/dgl/train_sage.py \
    tests/outside/pyg/run_example.py tests/outside/pyg/test_pyg_itself.py

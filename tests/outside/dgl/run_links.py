# SPDX-License-Identifier: Apache-2.0
"""Runs DGL's example of link prediction unchanged, whose sources know an older scikit-learn.

python -m troupe.dgl run_links.py SOURCE/examples/distributed/graphsage/... [its arguments]
"""

import runpy
import sys

import sklearn.linear_model as linear

own = linear.LogisticRegression
# An argument that scikit-learn 1.7 has no more, and that says what it does by itself.
linear.LogisticRegression = lambda multi_class=None, **options: own(**options)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")

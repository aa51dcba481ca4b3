# SPDX-License-Identifier: Apache-2.0
# Trainers that are programs in Python are killed, or stand still, at any moment: the job ends by itself
# in time, with the batches and the weights of one that nobody struck. TROUPE_SEED repeats the draws.
. "${srcdir:-.}/tests/cli/tap.sh"
run sh "${srcdir:-.}/python/check.sh" "$(dirname "$TROUPE")" -s soak_ranks.py
sed 's/^/# /' "$work/out"
expect "struck jobs have the batches and weights of one that was not, and end in time" exited 0
finish

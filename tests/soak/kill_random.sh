# SPDX-License-Identifier: Apache-2.0
# Processes of a job die or stand still at any moment, and so does its launcher, which is started anew:
# the job ends with the same losses and model.
. "${srcdir:-.}/tests/soak/jobs.sh"
lanes $((2 * $(nproc))) -m random -t 200
expect "a job that is struck at any moment ends, with the same result" settle
finish

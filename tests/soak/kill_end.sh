# SPDX-License-Identifier: Apache-2.0
# The process of the coordinator dies by kill -9 in the 5 ms after the report: the job ends all the same,
# with the same model. In eight lanes beside, another process stands still for 20 s as well.
. "${srcdir:-.}/tests/soak/jobs.sh"
lanes "$(nproc)" -m end
[ "$seconds" -lt 40 ] || lanes 8 -m end -w 20
expect "a job whose coordinator dies after the report ends, with the same result" settle
finish

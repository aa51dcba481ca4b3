#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A training program of one's own under torchrun, beside Troupe's servers and samplers.
#
# On every host:
#
#     torchrun.sh CLUSTER RENDEZVOUS-HOST train.py [OPTION ...]
#
# The servers and samplers of this host are started first and end with the job. torchrun then
# starts one program a trainer; each reads RANK and WORLD_SIZE, which torchrun sets, and TROUPE_CLUSTER,
# and so finds its place in the cluster file: every trainer is a process of its own there
# ("processes": "role"), in the order of the hosts, as torchrun numbers them.
#
# "troupe launch CLUSTER -- python3 train.py" does all this from one host; this is for
# places where torchrun has to be the one that starts programs.
set -eu

cluster=$1
rendezvous=$2
shift 2
TROUPE_CLUSTER=$(realpath "$cluster")
export TROUPE_CLUSTER
: "${TROUPE_HOST:=$(hostname -s)}"
: "${TRAINERS:=1}" # of this host
: "${HOSTS:=1}"    # with trainers
export TROUPE_HOST

troupe serve &
server=$!
troupe sample &
sampler=$!
trap 'kill $server $sampler 2>/dev/null' EXIT INT TERM

# The host alone would name several trainers; their ranks tell them apart. PyTorch before 2.0 takes options
# with underscores alone.
env -u TROUPE_HOST torchrun --nnodes="$HOSTS" --nproc_per_node="$TRAINERS" --max_restarts=5 \
    --rdzv_backend=c10d --rdzv_endpoint="$rendezvous:29500" "$@"
wait

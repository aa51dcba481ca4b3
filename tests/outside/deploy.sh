# SPDX-License-Identifier: Apache-2.0
# The examples that others read: systemd finds no fault in the units, and the manifest for Kubernetes fits
# together; then its pods' commands train, each under its pod's name, as its user, with the files and the
# read-only root that the manifest gives it. Pods share a network here, whose DNS is a file.
if [ -z "${DEPLOY_TEST_INSIDE-}" ]; then
    DEPLOY_TEST_INSIDE=yes
    export DEPLOY_TEST_INSIDE
    exec unshare --net --mount --pid --fork --mount-proc --kill-child /bin/sh "$0" "$@"
fi
. "${srcdir:-.}/tests/cli/tap.sh"

examples=$(cd "${srcdir:-.}/examples/deploy" && pwd)
check=$(cd "${srcdir:-.}/tests/outside" && pwd)/check_manifest.py

# Where the program is not installed, another path stands in the units for it.
mkdir "$work/units"
for unit in "$examples"/*.service; do
    sed "s|=/usr/bin/troupe |=$TROUPE |" "$unit" >"$work/units/${unit##*/}"
done
if command -v systemd-analyze >/dev/null; then
    for unit in "$work"/units/*.service; do
        run systemd-analyze verify --man=no "$unit"
        expect "${unit##*/}: systemd takes it" exited 0
        # What it only ignores it says, and ends with 0.
        expect "${unit##*/}: and knows all of it" [ ! -s "$work/err" ]
    done
else
    skip "the units" "systemd-analyze is not here"
fi
# The words that a unit passes are options of the command.
for unit in "$examples"/*.service; do
    command=$(sed -n 's|^ExecStart=/usr/bin/troupe \([a-z]*\) .*|\1|p' "$unit")
    words=$(sed -n 's/^ExecStart=//p' "$unit")
    for option in $words; do
        case $option in
        --*) expect "${unit##*/}: troupe $command has $option" sh -c "'$TROUPE' $command --help | grep -q '^ *$option '" ;;
        esac
    done
done

if ! /usr/bin/python3 -c 'import yaml' 2>/dev/null; then
    skip "the manifest" "python3-yaml is not here"
    finish
    exit 0
fi
run /usr/bin/python3 "$check" "$examples/kubernetes.yaml" "$TROUPE"
expect "the manifest fits together" exited 0
# A manifest with a fault, so that what finds none can find one.
sed 's/role: sampler}}/role: server}}/; s/mountPath: \/keys}/mountPath: \/key}/; s/--metrics", "0.0.0.0:9464"/--metric", "9464"/' \
    "$examples/kubernetes.yaml" >"$work/bad.yaml"
run /usr/bin/python3 "$check" "$work/bad.yaml" "$TROUPE"
expect "one with faults does not" exited 1

# The pods. Outside of these folders they see the system's programs alone.
/usr/bin/python3 "$check" "$examples/kubernetes.yaml" >"$work/pods" || exit 99
names=$(cut -d ' ' -f 1 "$work/pods" | uniq)
expect "the manifest has pods" [ "$(echo "$names" | wc -l)" = 7 ]
ip link set lo up || exit 99
cd "$work" || exit 99
mkdir cluster secret run bin
number=0
hosts=
for name in $names; do
    number=$((number + 1))
    echo "127.0.1.$number $name.troupe" >>names
    case $name in
    server-*) actors='"samplers": 0, "trainers": 0' ;;
    sampler-*) actors='"servers": 0, "trainers": 0' ;;
    *) actors='"servers": 0, "samplers": 0' ;;
    esac
    hosts="$hosts${hosts:+, }{\"name\": \"$name\", \"address\": \"$name.troupe\", \"port\": 7000, $actors}"
done
cat >cluster/cluster.json <<END
{"name": "papers", "graph": "/graph/papers.json", "tls": {"shared_key": "/keys/key"},
 "checkpoints": {"folder": "/run/troupe/checkpoints", "every": 500}, "hosts": [$hosts]}
END
troupe generate sbm --nodes 2000 --edges 20000 --features 16 --classes 4 --out raw
troupe partition raw --parts 3 --trainers 2 --name papers --out graph
expect "there is a graph" exited 0
od -A n -t x1 -N 32 /dev/urandom | tr -d ' \n' >secret/key
# As Kubernetes leaves it, whatever its mode was to be.
chown 0:1000 secret/key && chmod 440 secret/key && chown 1000:1000 run
built=$(dirname "$TROUPE")/.libs
if [ -x "$built/troupe" ]; then
    cp "$built/troupe" bin && cp -L "$built"/libtroupe.so.[0-9] "$built"/libtroupe-model.so.[0-9] bin
else
    cp "$TROUPE" bin
fi
# pod NAME: prepares, then becomes, the pod of this name
cat >pod <<'END'
set -e
root=$PWD/root.$1
hostname "$1"
mkdir "$root"
mount -t tmpfs none "$root"
mkdir -p "$root/usr" "$root/etc" "$root/dev" "$root/proc" "$root/opt" "$root/cluster" "$root/graph" "$root/secret" \
    "$root/keys" "$root/run/troupe"
for folder in usr etc dev proc; do mount --rbind "/$folder" "$root/$folder"; done
for folder in bin lib lib64 sbin; do ln -s "usr/$folder" "$root/$folder"; done
mount --bind names "$root/etc/hosts"
mount --bind bin "$root/opt"
for folder in cluster graph secret; do
    mount --bind "$folder" "$root/$folder"
    mount -o remount,ro,bind "$root/$folder"
done
mount -t tmpfs -o uid=1000,gid=1000 none "$root/keys"
mount --bind run "$root/run/troupe"
mount -o remount,ro "$root"
in_pod="chroot --userspec=1000:1000 $root env -i PATH=/opt:/usr/bin sh -c"
$in_pod "$(sed -n "s/^$1 //p" pods | sed -n 1p)"
exec $in_pod "exec $(sed -n "s/^$1 //p" pods | sed -n 2p)"
END
numbers=
for name in $names; do
    unshare --uts --mount sh pod "$name" >"out.$name" 2>"err.$name" </dev/null &
    numbers="$numbers $!"
done
failed=
for number in $numbers; do
    wait "$number" || failed=yes
done
expect "all pods end well" [ -z "$failed" ]
expect "each was one of the job's processes" [ "$(cat out.* err.* | grep -o 'ready process [0-6]' | sort -u | wc -l)" = 7 ]
expect "there is a model" test -s run/run/model.safetensors
finish

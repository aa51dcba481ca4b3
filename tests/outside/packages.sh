# SPDX-License-Identifier: Apache-2.0
# The Debian packages: the release archive has the same bytes wherever it is made, the packages built of
# it are without fault to lintian, do in a clean Debian what the README's commands do, and leave
# nothing behind when they are purged. The container file builds an image of them.
. "${srcdir:-.}/tests/cli/tap.sh"

source=$(cd "${srcdir:-.}" && pwd)
build=$(dirname "$TROUPE")
packages=$work/packages
root=$work/root
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
# Where this machine has its packages from.
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $suite" | head -n 1)

# In the other system, with a /proc of its own.
inside() {
    run unshare --mount --pid --fork --mount-proc="$root/proc" \
        chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}

run make -s -C "$build" dist
expect "a release archive is made" exited 0
mv "$build"/troupe-*.tar.gz "$work/first.tar.gz"
mkdir "$work/elsewhere"
tar -C "$work/elsewhere" -xzf "$work/first.tar.gz"
# Of the archive itself, by somebody with another mask, on another day.
(umask 077 && cd "$work/elsewhere"/troupe-* && touch README.md && ./configure -q && make -s dist) >"$work/out" 2>&1
expect "and has the same bytes when it is made of an unpacked one" cmp "$work/first.tar.gz" "$work"/elsewhere/troupe-*/troupe-*.tar.gz
rm -rf "$work/elsewhere"

run env DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" "$source/scripts/packages" "$packages" "$build"
expect "the packages are built" exited 0
run lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$packages"/*.changes
expect "lintian finds no fault" exited 0

run debootstrap --variant=minbase "$suite" "$root" "$mirror"
expect "there is a clean Debian" exited 0
rm -f "$packages"/*-dbgsym_*
cp -R "$packages" "$root/packages"
cp -R "$source/debian/tests" "$root/tests"
inside apt-get update -q
expect "which has lists of packages" exited 0
inside apt-get install -y -q --no-install-recommends adduser
# Kept by others than packages: apt, dpkg and the linker.
files() { (cd "$root" && find . \( -path ./proc -o -path ./tmp -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/cache \
    -o -path ./var/log -o -path ./etc/ld.so.cache \) -prune -o -print | sort); }
files >"$work/before"
inside sh -c 'apt-get install -y -q --no-install-recommends /packages/*.deb gcc libc6-dev pkg-config'
expect "the packages install there" exited 0
for name in command library python; do
    mkdir -m 777 "$root/tmp/$name"
    inside env AUTOPKGTEST_TMP="/tmp/$name" setpriv --reuid=65534 --regid=65534 --clear-groups sh "/tests/$name"
    expect "debian/tests/$name passes" exited 0
done
inside sh -c 'apt-get purge -y -q "*troupe*" gcc libc6-dev pkg-config && apt-get autoremove --purge -y -q'
expect "they are purged" exited 0
files >"$work/after"
expect "and leave nothing" cmp "$work/before" "$work/after"
diff "$work/before" "$work/after" | head -n 20 | sed 's/^/# /'

# The image, on the same clean Debian. It needs no daemon, and nothing of the machine's own images.
images() { run buildah --storage-driver vfs --root "$work/store" --runroot "$work/running" "$@"; }
images from --name clean scratch
rm -rf "$root/packages" "$root/tests"
images add clean "$root" /
images commit --quiet clean troupe-base
expect "there is an image of a clean Debian" exited 0
rm -rf "$root" "$packages"
images bud --isolation chroot --build-arg BASE=localhost/troupe-base --tag troupe-image --file "$source/Containerfile" "$source"
expect "the container file builds an image" exited 0
images from --name tried localhost/troupe-image
images run --isolation chroot tried -- sh -c 'troupe generate sbm --nodes 2k --edges 20k --features 16 --classes 4 --out raw &&
    troupe partition raw --parts 2 --name g --out parts && troupe train parts/g.json --epochs 2 --run run && python3 -c "import troupe"'
expect "in which a user trains a model" exited 0
finish

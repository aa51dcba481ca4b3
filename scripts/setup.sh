# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154
# Sourced by ./quickstart and ./check: finds what is missing, installs it with apt, builds.
#
# What is missing is found by looking for the thing itself (a command, a header, a library), so
# that nothing is asked of a system that has it from somewhere else. Names are Debian packages.
#
# Expects: $root, the folder of the sources, which is also the current folder.

say() { printf '%s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

has_command() { command -v "$1" >/dev/null 2>&1; }
has_daemon() { has_command "$1" || [ -x "/usr/sbin/$1" ]; }
has_library() { has_command pkg-config && pkg-config --exists "$1" 2>/dev/null; }
has_header() { has_command c++ && printf '#include <%s>\n' "$1" | c++ -E -x c++ - >/dev/null 2>&1; }
has_python() { /usr/bin/python3 -c "import $1" 2>/dev/null; }
has_macros() { has_command aclocal && [ -f "$(aclocal --print-ac-dir)/$1" ]; }

# package, and what shows that it is there
needed_to_build='
gcc                  has_command cc
g++                  has_command c++
make                 has_command make
autoconf             has_command autoreconf
automake             has_command automake
libtool              has_command libtoolize
autoconf-archive     has_macros ax_pthread.m4
pkg-config           has_command pkg-config
libevent-dev         has_library libevent_core
libmetis-dev         has_header metis.h
libjansson-dev       has_library jansson
libmicrohttpd-dev    has_library libmicrohttpd
flatbuffers-compiler has_command flatc
libflatbuffers-dev   has_header flatbuffers/flatbuffers.h
libopenblas-dev      has_library openblas
libssl-dev           has_library openssl
libarchive-dev       has_library libarchive
zlib1g-dev           has_library zlib'

needed_to_check="$needed_to_build
libcmocka-dev        has_library cmocka
iproute2             has_command ip
mandoc               has_command mandoc
mold                 has_command mold
openssl              has_command openssl"

# What the tests of the Python package run.
needed_python="$needed_to_check
python3-dev          has_library python3
python3-cffi         has_python cffi
python3-numpy        has_python numpy
python3-pytest       has_python pytest
python3-setuptools   has_python setuptools
python3-torch        has_python torch"

# What the tests of ./check outside run.
needed_outside="$needed_python
python3-venv         has_python ensurepip
openssh-server       has_daemon sshd
openssh-client       has_command ssh
rsync                has_command rsync
util-linux           has_command nsenter
chromium             has_command chromium
curl                 has_command curl
prometheus           has_command promtool
npm                  has_command npm
buildah              has_command buildah
debhelper            has_command dh
debootstrap          has_command debootstrap
dh-python            has_command dh_python3
logrotate            has_daemon logrotate
lintian              has_command lintian
mpich                has_command mpiexec.mpich
munge                has_daemon munged
openmpi-bin          has_command mpirun.openmpi
python3-yaml         has_python yaml
slurm-client         has_command sbatch
slurmctld            has_daemon slurmctld
slurmd               has_daemon slurmd
systemd              has_command systemd-analyze"

# What ./check format runs; clang-format has to be of version 14, which the sources are laid out by.
needed_to_format="$needed_to_build
clang-format         has_command clang-format
clang                has_command clang
shellcheck           has_command shellcheck
python3-dev          has_library python3"

# What ./check soak --mutants runs.
needed_mutants="$needed_to_check
python3              has_command python3
binutils             has_command nm"

# Prints the packages of a list whose things are not there.
missing_of() {
    printf '%s\n' "$1" | while read -r package probe; do
        [ -z "$package" ] || $probe || printf '%s ' "$package"
    done
}

# The words that let us run apt-get: none for root, sudo where it asks nothing or can ask.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        return 0
    elif has_command sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
        printf 'sudo '
    else
        return 1
    fi
}

apt_has_lists() {
    for list in /var/lib/apt/lists/*Packages*; do
        [ -e "$list" ] && return 0
    done
    return 1
}

run_shown() {
    say "+ $*"
    "$@"
}

# Installs what a list needs and the system lacks. Stops where that cannot be done.
install_missing() {
    needed=$1
    missing=$(missing_of "$needed")
    [ -n "$missing" ] || return 0
    if ! has_command apt-get; then
        die "Missing: $missing
Those are the names of Debian packages; install what your system calls them, then run this again."
    fi
    if ! sudo=$(as_root); then
        die "Missing: $missing
Run this as root, or first:
    apt-get install $missing"
    fi
    say "Missing: $missing"
    # shellcheck disable=SC2086 # words are meant to be split
    set -- ${sudo}env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
    apt_has_lists || run_shown ${sudo:+sudo} apt-get update || die "apt-get update failed."
    # Old lists name versions that the archive no longer has.
    run_shown "$@" || { run_shown ${sudo:+sudo} apt-get update && run_shown "$@"; } ||
        die "apt-get could not install: $missing"
    missing=$(missing_of "$needed")
    [ -z "$missing" ] || die "Still missing after the installation: $missing"
}

cores() { nproc 2>/dev/null || echo 1; }

bootstrap_if_needed() {
    if [ -f "$root/configure" ] && [ -f "$root/Makefile.in" ] && [ -f "$root/build-aux/tap-driver.sh" ]
    then
        return 0
    fi
    say "Making ./configure ..."
    "$root/bootstrap" >"$root/bootstrap.log" 2>&1 ||
        { tail -n 20 "$root/bootstrap.log" >&2; die "./bootstrap failed; see bootstrap.log."; }
    rm -f "$root/bootstrap.log"
}

# What takes long goes through this; ./check puts a limit on it.
bounded() { "$@"; }

# configure_in FOLDER [options]: where that was not done with the same options.
configure_in() {
    folder=$1
    shift
    # Tests are configured in only where their library is, which may have come since.
    wanted="options: $*"
    has_library cmocka && wanted="$wanted, with tests"
    bootstrap_if_needed
    mkdir -p "$folder"
    if [ ! -f "$folder/Makefile" ] || [ "$(cat "$folder/.options" 2>/dev/null)" != "$wanted" ]
    then
        say "Configuring $folder ..."
        rm -f "$folder/.options"
        (cd "$folder" && bounded "$root/configure" -q "$@") >"$folder/configure.out" 2>&1 ||
            { cat "$folder/configure.out" >&2; return 1; }
        printf '%s\n' "$wanted" >"$folder/.options"
    fi
}

# build_in FOLDER [configure options]: configures, then builds what is not up to date. The output goes
# to FOLDER/build.log.
build_in() {
    configure_in "$@" || return 1
    [ -f "$folder/troupe" ] ||
        say "Building in $folder (a few minutes the first time; output in $folder/build.log) ..."
    bounded make -j"$(cores)" -C "$folder" all >"$folder/build.log" 2>&1 ||
        { tail -n 30 "$folder/build.log" >&2; return 1; }
}

# SPDX-License-Identifier: Apache-2.0
# make installcheck (make distcheck runs it): what was installed serves people who never saw the
# sources. The command runs, the headers compile alone, as C and as C++, and a program links with
# what troupe.pc says, to the shared library and to the static one.
#
# usage: installed.sh SOURCES BINDIR INCLUDEDIR LIBDIR MANDIR, with CC, CXX, CFLAGS, NM and PKG_CONFIG set
# shellcheck disable=SC2086 # flags are lists of words
set -eu
sources=$1 bindir=$2 includedir=$3 libdir=$4 mandir=$5
work=$(mktemp -d "${TMPDIR:-/tmp}/troupe-installed.XXXXXX")
trap 'rm -rf "$work"' EXIT

wrong() {
    echo "installcheck: $*" >&2
    exit 1
}

troupe() {
    LD_LIBRARY_PATH=$libdir "$bindir/troupe" "$@" >"$work/out" 2>&1 || {
        cat "$work/out" >&2
        wrong "troupe $1 failed"
    }
}

troupe --version
troupe bench --list
troupe simulate --failpoints
troupe generate sbm --nodes 500 --edges 4000 --features 8 --classes 4 --out "$work/raw" --quiet
troupe partition "$work/raw" --parts 2 --name g --out "$work/parts" --quiet
for page in man1/troupe.1 man3/libtroupe.3 man3/libtroupe-model.3 man3/libtroupe-structs.3 man5/troupe-partition.5 man5/troupe-raw.5 man7/troupe.7; do
    [ -s "$mandir/$page" ] || wrong "$mandir/$page is missing"
done

for header in "$includedir"/troupe/*.h; do
    name=troupe/${header##*/}
    printf '#include <%s>\nint main(void) { return 0; }\n' "$name" >"$work/alone.c"
    cp "$work/alone.c" "$work/alone.cc"
    $CC $CFLAGS -I"$includedir" -Wall -Wextra -Werror -c "$work/alone.c" -o "$work/alone.o" ||
        wrong "$name does not compile by itself"
    $CXX $CFLAGS -I"$includedir" -Wall -Wextra -Werror -c "$work/alone.cc" -o "$work/alone.o" ||
        wrong "$name does not compile as C++"
done

# What another program loads with a library: no BLAS, which makes threads before main(), and no METIS;
# and of its symbols only those of the public headers.
# slim LIBRARY NOT: it needs none of the libraries that the expression matches
slim() {
    $NM -D --defined-only "$1" >"$work/symbols" || wrong "$NM cannot read $1"
    awk '{ print $NF }' "$work/symbols" | grep -v '^tr_' >"$work/others" &&
        wrong "$1 shows $(head -n 1 "$work/others")"
    grep -q ' tr_' "$work/symbols" || wrong "$1 shows nothing"
    ldd "$1" >"$work/needs" || wrong "$1 cannot be loaded"
    grep -E "$2" "$work/needs" >&2 && wrong "$1 needs one of $2"
    return 0
}
# The command has the libraries' code from the libraries, and finds them by the way from its folder to theirs,
# also where the whole tree was moved.
if [ -e "$libdir/libtroupe-model.so" ]; then
    origin="\$ORIGIN/$(realpath -m -s --relative-to="$bindir" "$libdir")"
    readelf -d "$bindir/troupe" | grep -qF "$origin" || wrong "troupe does not look for its libraries in $origin"
    LD_LIBRARY_PATH=$libdir ldd "$bindir/troupe" >"$work/needs" || wrong "troupe cannot be loaded"
    for library in libtroupe libtroupe-model; do
        grep -q "^[[:space:]]*$library\.so\.[0-9]* => $libdir/" "$work/needs" || wrong "troupe does not use $library.so"
    done
fi
[ ! -e "$libdir/libtroupe.so" ] || slim "$libdir/libtroupe.so" 'blas|metis|troupe-model'
[ ! -e "$libdir/libtroupe-model.so" ] || LD_LIBRARY_PATH=$libdir slim "$libdir/libtroupe-model.so" 'metis'

# pc PACKAGE FLAG...
pc() {
    package=$1
    shift
    PKG_CONFIG_PATH=$libdir/pkgconfig "$PKG_CONFIG" "$@" "$package"
}

# built_from HOW: the example runs, and reads the graph.
built_from() {
    LD_LIBRARY_PATH=$libdir "$work/batches" "$work/parts/g.json" >"$work/out" ||
        wrong "a program linked to the $1 library fails"
    grep -q '^batch 0: ' "$work/out" || wrong "a program linked to the $1 library reads nothing"
}

# examples_link FLAG...: every example of libtroupe(3) is built with the line of that page.
examples_link() {
    for example in batches train_loop group_example launch_job; do
        $CC $CFLAGS "$sources/examples/$example.c" "$@" -lm -o "$work/example" ||
            wrong "examples/$example.c is not built with $*"
    done
}

# Flags are lists of words.
# shellcheck disable=SC2046,SC2086
if [ -e "$libdir/libtroupe.so" ]; then
    examples_link $(pc troupe --cflags --libs)
    $CC $CFLAGS "$sources/examples/batches.c" $(pc troupe --cflags --libs) -o "$work/batches" ||
        wrong "troupe.pc does not link the shared library"
    built_from shared
fi
# shellcheck disable=SC2046,SC2086
if [ -e "$libdir/libtroupe.a" ]; then
    libs=$(pc troupe --static --libs | sed "s|-ltroupe|$libdir/libtroupe.a|")
    examples_link $(pc troupe --cflags) $libs
    $CC $CFLAGS "$sources/examples/batches.c" $(pc troupe --cflags) $libs -o "$work/batches" ||
        wrong "troupe.pc does not link the static library"
    built_from static
fi

# trained_by HOW: the example of the models runs.
trained_by() {
    rm -rf "$work/run"
    (cd "$work" && LD_LIBRARY_PATH=$libdir ./train_model "$work/parts/g.json" "$work/run" >"$work/out") ||
        wrong "a program linked to the $1 library of models fails"
    grep -q '^500 nodes, 4 outputs each' "$work/out" ||
        wrong "a program linked to the $1 library of models predicts nothing"
}
# shellcheck disable=SC2046,SC2086
if [ -e "$libdir/libtroupe-model.so" ]; then
    $CC $CFLAGS "$sources/examples/train_model.c" $(pc troupe-model --cflags --libs) -o "$work/train_model" ||
        wrong "troupe-model.pc does not link the shared library"
    trained_by shared
fi
# shellcheck disable=SC2046,SC2086
if [ -e "$libdir/libtroupe-model.a" ]; then
    libs=$(pc troupe-model --static --libs |
        sed "s|-ltroupe-model|$libdir/libtroupe-model.a|; s|-ltroupe\\b|$libdir/libtroupe.a|")
    $CC $CFLAGS "$sources/examples/train_model.c" $(pc troupe-model --cflags) $libs -o "$work/train_model" ||
        wrong "troupe-model.pc does not link the static library"
    trained_by static
fi
echo "installcheck: what is installed works"

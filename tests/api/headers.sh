# SPDX-License-Identifier: Apache-2.0
# What other languages and other versions need of the public headers, whatever is added to them:
#   - a struct that a caller declares has its size first, and an initialiser that sets it;
#   - the library reads or fills it by that size, and nowhere else;
#   - no file of C's library, no bit field, no variable arguments, and nothing that is called back,
#     but for what is said to be for libraries that stand on this one;
#   - every number of an enumeration is written down;
#   - a function that can fail takes a struct tr_error last;
#   - the bound of an array in a struct is held to what it is;
#   - a default of options that is not 0 is in the library, not in the programs that were compiled.
. "${srcdir:-.}/tests/cli/tap.sh"
source=${srcdir:-.}

# textless FOLDER: a line for each function whose failure has no message. An int that is no result:
# a descriptor, and whether a folder has checksums.
textless() {
    sed -e 's,/\*.*\*/,,g' -e '/\/\*/,/\*\//d' -e '/^ *#/d' "$1"/*.h | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/.*TR_API int *//p' | grep -v 'struct tr_error \*error)' |
        sed 's/ *(.*//' | grep -vxE 'tr_(launch|log|model)_descriptor|tr_graph_has_checksums|tr_error_set' |
        sed 's/$/ can fail, and takes no struct tr_error last/'
}

# defaults_outside FOLDER: a line for each initialiser of options that compiles a default into programs.
defaults_outside() {
    cat "$1"/*.h | sed -n 's/^ *\(TR_[A-Z0-9_]*\) = 0[, ].*/\1/p; s/^ *\(TR_[A-Z0-9_]*\) = 0$/\1/p' >"$work/zeros"
    cat "$1"/*.h | sed -e ':join' -e '/\\$/N' -e 's/\\\n//' -e 'tjoin' |
        sed -n 's/^#define \(TR_[A-Z0-9_]*_OPTIONS_INIT\) *{ *sizeof([^)]*),\(.*\)}.*/\1 \2/p' |
        while read -r macro values; do
            echo "$values" | tr ',{}' '[\n*]' | sed -e 's/ //g' -e '/^$/d' |
                grep -vxE 'NULL|0|false|""' | grep -vxFf "$work/zeros" |
                sed "s/^/$macro: a default that belongs into the library: /"
        done
}

# wrong FOLDER: a line for each thing that is wrong in the headers there.
wrong() {
    # Comments and macros have no declarations.
    for header in "$1"/*.h; do
        sed -e ':join' -e '/\\$/N' -e 's/\\\n//' -e 'tjoin' "$header" |
            sed -e 's,/\*.*\*/,,g' -e '/\/\*/,/\*\//d' -e '/^ *#/d' |
            sed -e 's, *$,,' -e "s,^,$(basename "$header") ,"
    done >"$work/declarations"
    awk '
        $2 == "struct" && $NF == "{" { tag = $3; first = 1; next }
        tag != "" && first { if ($0 !~ / size_t size;/) print tag " has no size first"; first = 0 }
        $2 == "};" { tag = ""; within = 0 }
        tag != "" && match($0, /\[TR_[A-Z0-9_]+\];/) { print "bound " tag " " substr($0, RSTART + 1, RLENGTH - 3) }
        /\(\*/ && tag != "tr_task_work" { print $1 ": a function is called back: " $0 }
        /FILE \*/ { print $1 ": a file of the C library: " $0 }
        /\.\.\./ && !/tr_error_set\(/ { print $1 ": variable arguments: " $0 }
        / [a-z_]+ : [0-9]+;/ { print $1 ": a bit field: " $0 }
        $2 == "enum" && /\{.*TR_[A-Z_]+[,} ]/ && !/= *[0-9]/ { print $1 ": its numbers are not written down: " $3 }
        $2 == "enum" && $NF == "{" { within = 1; next }
        within && /TR_[A-Z0-9_]+,?$/ { print $1 ": its number is not written down: " $2 }
    ' "$work/declarations" | grep -v '^tr_range has' | while read -r first tag bound; do
        [ "$first" != bound ] || grep -q "_Static_assert($bound == " "$source/tests/api/test_struct_ends.c" ||
            echo "$tag: tests/api/test_struct_ends.c does not hold the bound $bound to what it is"
        [ "$first" = bound ] || echo "$first $tag $bound"
    done
    awk '$2 == "struct" && $NF == "{" { print $3 }' "$work/declarations" | sort -u | grep -vx tr_range |
        while read -r tag; do
            upper=$(echo "$tag" | tr '[:lower:]' '[:upper:]')_INIT
            grep -qE "define (${upper}\$|${upper} |${tag}_init\()" "$1"/*.h ||
                echo "$tag has no initialiser"
            grep -qrE --include='*.c' "\"(struct )?$tag(\"|:)" "$source"/api "$source"/model \
                "$source"/launch ||
                echo "$tag is not read or filled by its size"
        done
    defaults_outside "$1"
    textless "$1"
}

wrong "$source/include/troupe" >"$work/out"
expect "structs have sizes, numbers are written down, defaults are in the library, and nothing is called back" [ ! -s "$work/out" ]

# notices WHAT LINE: the headers with that line before their end are not in order.
notices() {
    rm -rf "$work/headers"
    mkdir "$work/headers"
    cp "$source"/include/troupe/*.h "$work/headers"
    printf '%s\n' "$2" >>"$work/headers/part.h"
    wrong "$work/headers" >"$work/out"
    expect "$1 is noticed" [ -s "$work/out" ]
}
notices "a struct without a size" 'struct tr_no {
    int size;
};'
notices "one that the library does not know" 'struct tr_no {
    size_t size;
};'
notices "a bound that may change" 'struct tr_task_progress {
    size_t size;
    int no[TR_NO_MAX];
};'
notices "a default that programs were compiled with" '#define TR_NO_OPTIONS_INIT                 \
    {                                          \
        sizeof(struct tr_no_options), NULL, 16 \
    }'
notices "a failure without a text" 'TR_API int tr_no(const struct tr_graph *graph, uint32_t *no);'
notices "a file" 'int tr_no(FILE *file);'
notices "a callback" 'int tr_no(void (*done)(void *arg));'
notices "variable arguments" 'int tr_no(const char *format, ...);'
notices "a number that is not written down" 'enum tr_no {
    TR_NO,
};'
finish

# SPDX-License-Identifier: Apache-2.0
# Prototypes in libtroupe(3) and libtroupe-model(3) are those of the public headers, word by word,
# and every function of the headers is in one of the pages.
. "${srcdir:-.}/tests/cli/tap.sh"
source=${srcdir:-.}

# A prototype in one line, without blanks that mean nothing.
tidy() { sed -e 's/[[:space:]][[:space:]]*/ /g' -e 's/^ //' -e 's/ *\* */ */g' -e 's/ *\([(),]\) */\1/g' -e 's/\\&//g'; }

declared() {
    # Comments go first, then a declaration becomes one line; the pages show an initialiser as the
    # macro that a program calls, without the size.
    sed -e 's,/\*.*\*/,,g' -e '/\/\*/,/\*\//d' -e '/^ *#/d' "$@" | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/^.*TR_API //p' | sed 's/ TR_[A-Z_]*(.*$//' | tidy |
        sed 's/_init_sized(\(.*\),size_t size)$/_init(\1)/' | sort -u
}
documented() {
    sed -n 's/^\.It Fn //p' "$@" | awk -F'"' '{
        line = $2 "("
        if (NF == 3) { sub(/^ /, "", $3); line = line $3 }
        for (i = 4; i <= NF; i += 2) line = line (i > 4 ? "," : "") $i
        print line ")"
    }' | tidy | sort -u
}

declared "$source"/include/troupe/*.h >"$work/declared"
documented "$source/man/libtroupe.3" "$source/man/libtroupe-model.3" >"$work/documented"
expect "the headers declare functions" [ "$(wc -l <"$work/declared")" -gt 100 ]
run diff "$work/declared" "$work/documented"
expect "the pages have the prototypes of the headers, no more and no less" exited 0

sed '/^\.It Fn "int tr_nodes_ids"/s/"uint64_t offset" "size_t count"/"size_t count" "uint64_t offset"/' \
    "$source/man/libtroupe.3" >"$work/turned.3"
documented "$work/turned.3" "$source/man/libtroupe-model.3" >"$work/documented"
run diff "$work/declared" "$work/documented"
expect "arguments in another order are noticed" exited 1
finish

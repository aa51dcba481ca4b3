# SPDX-License-Identifier: Apache-2.0
# libtroupe-structs(3) has every member of every struct that the public headers declare.
. "${srcdir:-.}/tests/cli/tap.sh"
page=man/libtroupe-structs.3

# members FILE: "STRUCT MEMBER" for each, from declarations without their comments.
members() {
    sed -e 's,/\*.*\*/,,g' -e '/\/\*/,/\*\//d' "$1" | awk '
        /^struct tr_[a-z_]+ \{$/ { name = $2; next }
        /^\}/ { name = "" }
        name != "" { text = text $0 }
        name != "" && /;/ {
            if (match(text, /\(\*[a-z_]+\)/))
                print name, substr(text, RSTART + 2, RLENGTH - 3)
            else {
                gsub(/\[[^]]*\]/, "", text)
                n = split(text, parts, /[,;]/)
                for (i = 1; i < n; i++) {
                    gsub(/^.*[ *]/, "", parts[i])
                    print name, parts[i]
                }
            }
            text = ""
        }' | grep -v ' reserved' | sort
}

for header in "${srcdir:-.}"/include/troupe/*.h; do
    members "$header"
done | sort >"$work/declared"
sed -e '/^\.Ed/d' -e 's/\\-/-/g' "$page" >"$work/page"
members "$work/page" >"$work/described"
expect "the headers declare members" [ "$(wc -l <"$work/declared")" -gt 500 ]
run diff "$work/declared" "$work/described"
expect "the page has them all" exited 0
for header in "${srcdir:-.}"/include/troupe/*.h; do
    grep -oE '^struct tr_[a-z0-9_]+ \{' "$header" | sed 's/ {//'
done | sort >"$work/structs"
sed -n 's/^\.Ss \(struct .*\)/\1/p' "$page" | sort >"$work/named"
run diff "$work/structs" "$work/named"
expect "and names each struct" exited 0
finish

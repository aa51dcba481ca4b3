# SPDX-License-Identifier: Apache-2.0
# From files as people find them to predictions: each report's "next" line is run as it stands until
# a model is trained, so nothing has to be looked up. The files have what such files have: quotation
# marks, blanks behind commas, a byte order mark, CRLF, empty lines, capitals in the header, IDs with
# leading zeros, dates, comments.
. "${srcdir:-.}/tests/cli/tap.sh"
mkdir "$work/path"
TROUPE=$(cd "$(dirname "$TROUPE")" && pwd)/$(basename "$TROUPE")
printf '#!/bin/sh\nexec "%s" "$@"\n' "$TROUPE" >"$work/path/troupe"
chmod +x "$work/path/troupe"

# follow: runs the last report's next line, and the next one's, and notes their commands.
follow() {
    : >"$work/steps"
    while next=$(sed -n 's/^next  *//p' "$work/out") && [ -n "$next" ] && [ "$(wc -l <"$work/steps")" -lt 8 ]; do
        echo "$next" | cut -d ' ' -f 2 >>"$work/steps"
        run env PATH="$work/path:$PATH" sh -ec "cd '$work'; $next"
        exited 0 || return 1
    done
}
steps_are() { [ "$(tr '\n' ' ' <"$work/steps")" = "$1 " ]; }

awk 'BEGIN {
    printf "\357\273\277UserID, Full Name, Signup Date, Zip, Age, Is_Active, Segment\r\n"
    for (i = 0; i < 300; i++) {
        printf "%05d, \"User, %d\", 2020-%02d-%02d, %05d, %d, %s, %s\r\n", i, i, i % 12 + 1, i % 28 + 1, i * 37, 20 + i % 50, i % 2 ? "TRUE" : "FALSE", i % 3 ? "pro" : "trial"
        if (i % 50 == 0) printf "\r\n"
    } }' >"$work/users.csv"
awk 'BEGIN {
    printf "\357\273\277Follower, Followee, Since\r\n"
    for (i = 0; i < 1500; i++) printf "%05d, \"%05d\", 2021-03-01T10:00:00Z\r\n", i % 300, (i * 7 + 3 * int(i / 300)) % 300
    printf "\r\n" }' >"$work/follows.csv"
cd "$work" || exit 99
run "$TROUPE" import table --edges follows.csv --nodes users.csv --out users
expect "a header whose first name ends in ID is known" exited 0
expect "and its column the IDs" says '^nodes  *1  UserID  *IDs '
expect "that nothing is a label is said" \
    says '^hint  *no column of the nodes is taken for labels: .* import with --labels COLUMN$'
run "$TROUPE" import table --edges follows.csv --nodes users.csv --labels segment --replace --out users
expect "labels are named without their capitals" says '^classes  *2$'
follow
expect "labels without masks are split, partitioned and trained" steps_are "split partition train infer report"
expect "for each ID as it stood there is a prediction" grep -q '^00123,[a-z]*,0' users-parts-run/predictions.csv
expect "all of them have" [ "$(wc -l <users-parts-run/predictions.csv)" -eq 301 ]
expect "and a page shows the run" grep -q '<svg' users-parts-run/report.html
run "$TROUPE" import table --edges follows.csv --nodes users.csv --labels segment --replace --out users
run "$TROUPE" partition users --parts 2 --out early
expect "a graph that was partitioned before it had masks gets them" says '^next  *troupe split users --ratio 60/20/20$'

# As social networks are published: comments, tabs, and communities in a file of their own.
awk 'BEGIN {
    print "# Directed graph: network.txt\n# Nodes: 250 Edges: 2000\n# FromNodeId\tToNodeId"
    for (i = 0; i < 2000; i++) print i % 250 "\t" (i * 6 + 5 * int(i / 250)) % 250 }' | gzip >network.txt.gz
awk 'BEGIN { for (i = 0; i < 250; i++) print i, i % 5 }' >communities.txt
run "$TROUPE" import table --edges network.txt.gz --nodes communities.txt --labels 2 --out network
expect "a list of communities gives labels" says '^classes  *5$'
follow
expect "and features of the edges where the files have none" steps_are "feature split partition train infer report"
run "$TROUPE" infer network-parts --run network-parts-run --out network-predictions.csv
expect "a prediction for each node" [ "$(wc -l <network-predictions.csv)" -eq 251 ]
run "$TROUPE" infer network-parts --run network-parts-run --exact --json --quiet
accuracy=$(sed -n 's/.*"accuracy":\([0-9.]*\).*/\1/p' "$work/out")
expect "features that tell communities apart, ${accuracy:-none} of the test nodes right" \
    awk -v a="${accuracy:-0}" 'BEGIN { exit !(a >= 0.5) }'

# A graph without labels ends where training would begin.
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n%% a comment\n3 3 2\n2 1\n3 1\n' >mesh.mtx
run "$TROUPE" import edges mesh.mtx --out mesh
expect "a Matrix Market file has its edges both ways" says '^edges  *4$'
follow
expect "and is partitioned, and looked at" steps_are "partition inspect"
run "$TROUPE" train mesh-parts --run mesh-run
expect "a model needs more, and what makes it is said" \
    fails_with "has no feature 'feat'; .* and .troupe feature. makes some of the raw graph's edges"
run "$TROUPE" feature mesh --degree
run "$TROUPE" partition mesh --parts 1 --out mesh-one
run "$TROUPE" train mesh-one --run mesh-run
expect "labels too" fails_with "has no feature 'label'; .* and .troupe import table --labels COLUMN. makes this one"
finish

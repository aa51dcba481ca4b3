# SPDX-License-Identifier: Apache-2.0
# The live page of troupe top --web in a browser, at two widths and in both modes: a job loses a process, gets
# it back, and ends while the page is open, and 64 processes fit. What it shows is compared with troupe
# status; nothing overlaps, the console is silent, axe-core (https://github.com/dequelabs/axe-core) finds no
# fault, and names and lines of a log are never markup. Needs chromium (Debian: apt-get install chromium),
# python3, and axe.min.js of axe-core: from npm, or the file that TROUPE_AXE names. TROUPE_PICTURES names a
# folder for pictures of the page.
. "${srcdir:-.}/tests/cli/tap.sh"

for tool in chromium python3; do
    if ! command -v "$tool" >"$work/which"; then
        skip "the live page in a browser" "$tool is not here"
        finish
        exit
    fi
done
axe=${TROUPE_AXE-}
if [ -z "$axe" ] && command -v npm >"$work/which"; then
    (cd "$work" && npm pack axe-core >"$work/out" 2>"$work/err" && tar xzf axe-core-*.tgz) && axe=$work/package/axe.min.js
fi
[ -n "$axe" ] || skip "what axe-core finds" "there is no npm that gets it, and TROUPE_AXE names no axe.min.js"

within() {
    tries=0
    while ! "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || return 1
        sleep 0.1
    done
}

# What the page's own test says, with the numbers of this one.
seen_by() {
    python3 "${srcdir:-.}/tests/outside/live_page.py" "$@" >"$work/seen" 2>"$work/err"
    code=$?
    while IFS= read -r line; do
        case $line in
        "ok "*) expect "${line#ok * - }" true ;;
        "not ok "*) expect "${line#not ok * - }" false ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$work/seen"
    expect "the browser was asked to the end" [ $code = 0 ]
}

"$TROUPE" generate sbm --nodes 300 --edges 3000 --features 4 --classes 3 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --name g --out "$work/g" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
# Names of jobs and hosts hold no markup, so the cluster file says; the reasons for which a process is down
# name its socket, whose folder may.
bad="<img src=x onerror='globalThis.touched=1'>"
mkdir -m 700 "$work/$bad" || exit 99
cat >"$work/cluster.json" <<END
{"name": "job", "graph": "g/g.json", "seed": 3, "direct": false, "hosts": [
  {"name": "a", "unix": "$bad", "servers": 2, "samplers": 1, "trainers": 1, "processes": "role"}],
 "checkpoints": {"folder": "checkpoints", "every": 10}, "restart": {"times": 20, "seconds": 600}}
END
printf '%s\n' "</script><script>globalThis.touched=1</script>" "$bad" >"$work/log.job"
"$TROUPE" launch "$work/cluster.json" --run "$work/run" -- --epochs 1000000 --hidden 16 --fanout 4,6 \
    --batch-size 32 --quiet >"$work/out.job" 2>>"$work/log.job" </dev/null &
launcher=$!
"$TROUPE" top "$work/cluster.json" --web 0 --log "$work/log.job" --run "$work/run" >"$work/out.top" 2>"$work/err.top" </dev/null &
TOP_PID=$!
LAUNCH_LOG=$work/log.job
export TOP_PID LAUNCH_LOG
expect "there is a page" within grep -q '^http://127' "$work/out.top"
seen_by job "$(cat "$work/out.top")" "$work/cluster.json" "$work/run/events.jsonl" $launcher "$axe"
kill $launcher 2>/dev/null
wait $launcher
wait $TOP_PID
expect "a signal ends the page well" [ $? = 0 ]

# A job that ends well between two looks.
"$TROUPE" top "$work/cluster.json" --web 0 --run "$work/ends" >"$work/out.ends" 2>"$work/err.ends" </dev/null &
top=$!
expect "there is a page of a job that comes" within grep -q '^http://127' "$work/out.ends"
rm -rf "$work/checkpoints"
"$TROUPE" launch "$work/cluster.json" --run "$work/ends" -- --epochs 1500 --hidden 16 --fanout 4,6 \
    --batch-size 32 --quiet >"$work/out.job" 2>"$work/log.ends" </dev/null &
launcher=$!
seen_by ends "$(cat "$work/out.ends")" "$work/ends/events.jsonl" "$axe"
wait $launcher
expect "the job ended well" [ $? = 0 ]
kill $top
wait $top

# The page that the launcher serves is there from the beginning, and shows the end before it goes.
sed 's/^{/{"page": {},/' "$work/cluster.json" >"$work/page.json"
rm -rf "$work/checkpoints"
"$TROUPE" launch "$work/page.json" --run "$work/served" -- --epochs 1500 --hidden 16 --fanout 4,6 \
    --batch-size 32 --quiet >"$work/out.job" 2>"$work/log.served" </dev/null &
launcher=$!
expect "there is a page of the launcher" within grep -q 'live page is at http' "$work/log.served"
seen_by served "$(sed -n 's/.*live page is at //p' "$work/log.served")" "$work/served/events.jsonl" ""
wait $launcher
expect "its job ended well" [ $? = 0 ]

# Not one of these runs.
hosts=
for host in 0 1 2 3 4 5 6 7; do
    mkdir -m 700 "$work/h$host"
    hosts="$hosts${hosts:+, }{\"name\": \"a-host-with-a-long-name-$host.example.org\", \"unix\": \"h$host\",
        \"servers\": 3, \"samplers\": 3, \"trainers\": 2, \"processes\": \"role\"}"
done
"$TROUPE" partition "$work/raw" --parts 24 --method random --name g --out "$work/many" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
echo "{\"name\": \"many\", \"graph\": \"many/g.json\", \"hosts\": [$hosts]}" >"$work/many.json"
"$TROUPE" top "$work/many.json" --web 0 >"$work/out.many" 2>"$work/err.many" </dev/null &
top=$!
expect "there is a page of many" within grep -q '^http://127' "$work/out.many"
seen_by many "$(cat "$work/out.many")" "$axe"
TOP_PID=$top
seen_by again "$(cat "$work/out.many")" "$work/many.json" ""
wait $top
finish

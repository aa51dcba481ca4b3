# SPDX-License-Identifier: Apache-2.0
# The live page that a cluster file asks its launcher for: its URL is for this user alone, it ends with the
# job, and a job goes on where it cannot be served. tests/outside/live_page.sh opens it in a browser.
restarts=3
epochs=5
. "${srcdir:-.}/tests/cli/job.sh"
ended() { [ "$(wc -l <"$work/a.log.job")" = 2 ]; }
url_of() { grep -o 'http://127\.0\.0\.1:[0-9]*/?token=[0-9a-f]*' "$1"; }

cluster "$role_hosts" ', "page": {}'
troupe cluster check "$work/cluster.json" --parts 2 --json
expect "a page is part of the plan" says '"page_port":0'
begin
finish_job
expect "a job with a page ends well" exited 0
expect "and says where the page is" [ -n "$(url_of "$work/err")" ]

# With a log, which others may read.
rm -rf "$work/run" "$work/checkpoints"
"$TROUPE" launch "$work/cluster.json" --run "$work/run" --log "$work/a.log" --detach -- --epochs 1000000 \
    --hidden 16 --fanout 4,6 --batch-size 32 >"$work/out" 2>"$work/err.page" </dev/null
expect "a job is detached" [ $? = 0 ]
url=$(url_of "$work/err.page")
expect "which says where its page is" [ -n "$url" ]
expect "and keeps it beside the log" [ "$(cat "$work/a.log.page")" = "$url" ]
expect "for this user alone" [ "$(ls -l "$work/a.log.page" | cut -c 1-10)" = "-rw-------" ]
expect "but not in the log" eval '! grep -q "${url#*token=}" "$work/a.log"'
port=${url#http://127.0.0.1:}
port=${port%%/*}
mkdir -m 700 "$work/others" || exit 99
sed 's/"sockets"/"others"/; s/"page": {}/"page": {"port": '"$port"'}/; s/"folder": "checkpoints"/"folder": "kept"/' \
    "$work/cluster.json" >"$work/taken.json"
troupe launch "$work/taken.json" --run "$work/taken" -- --epochs 2 --hidden 16 --fanout 4,6 --batch-size 32 --quiet
expect "a job whose port is taken ends well" exited 0
expect "and says that there is no page" grep -q 'goes on without its live page: .*'"$port" "$work/err"
troupe attach --stop "$work/a.log"
within ended
expect "the URL goes with the page" [ ! -e "$work/a.log.page" ]
finish

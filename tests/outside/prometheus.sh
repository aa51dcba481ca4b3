# SPDX-License-Identifier: Apache-2.0
# A real Prometheus scrapes a job of four processes by the configuration and the rules of
# examples/deploy, over the loopback alone: what a process tells is well formed, every process is
# asked, and the rule for a job that stands still fires when a trainer is stopped and clears when the
# trainer goes on.
epochs=1000000
. "${srcdir:-.}/tests/cli/job.sh"
deploy=${srcdir:-.}/examples/deploy

for tool in prometheus promtool curl python3; do
    command -v $tool >/dev/null || {
        echo "1..0 # SKIP $tool is not installed"
        exit 0
    }
done
end_all() {
    for p in $prometheus $launcher; do
        kill -TERM "$p" 2>/dev/null
    done
    wait
    rm -rf "$work"
}
trap end_all EXIT

base=$((20000 + $$ % 20000))
at=127.0.0.1:$((base + 9))
cluster "$role_hosts" ", \"metrics\": {\"port\": $base}"
# The example's files, with this job's ports and with durations of seconds in place of minutes.
sed -e "s/:9464\"/:$base\"/; s/:9465\"/:$((base + 1))\"/; s/:9466\"/:$((base + 2))\"/; s/:9467\"/:$((base + 3))\"/" \
    -e 's/interval: 5s/interval: 200ms/' "$deploy/prometheus.yml" >"$work/prometheus.yml"
sed -e 's/\[2m\]/[3s]/; s/for: 1m/for: 0s/' "$deploy/troupe-rules.yml" >"$work/troupe-rules.yml"

run promtool check rules "$deploy/troupe-rules.yml"
expect "the rules are rules" exited 0
run promtool check config "$work/prometheus.yml"
expect "the configuration is one" exited 0
expect "the dashboard is JSON" python3 -m json.tool "$deploy/grafana-troupe.json" /dev/null

begin
metrics() { curl -s -f --max-time 10 "http://127.0.0.1:$((base + $1))/metrics" >"$work/metrics"; }
trains() { metrics 3 && grep -q '^troupe_loss [0-9]' "$work/metrics" && has_lines 2; }
expect "the job trains" within trains
# Its exit code alone is not enough: what it dislikes without an error it prints.
well_formed() { promtool check metrics <"$work/metrics" >"$work/found" 2>&1 && [ ! -s "$work/found" ]; }
for process in 0 1 2 3; do
    expect "process $process serves" within metrics $process
    expect "what promtool finds nothing wrong with" well_formed
done

prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" \
    --web.listen-address="$at" --log.level=warn >"$work/prometheus.log" 2>&1 &
prometheus=$!
# The value of an expression; nothing where there is none.
value() { promtool query instant "http://$at" "$1" 2>/dev/null | sed -n 's/.*=> \([^ ]*\) @.*/\1/p'; }
answers() { promtool query instant "http://$at" 'vector(1)' >/dev/null 2>&1; }
is() { [ "$(value "$1")" = "$2" ]; }
expect "Prometheus answers" within answers
expect "it scrapes four processes" within is 'count(up == 1)' 4
expect "which tell of seeds" within is 'sum(rate(troupe_seeds_total[3s])) > bool 0' 1
expect "of a loss" within is 'count(troupe_loss)' 1
expect "of what waits in mailboxes" within is 'count(troupe_mailbox_messages_max > 0)' 4
expect "of no restart" within is 'count(troupe_process_restarts == 0)' 4
expect "of memory" within is 'count(process_resident_memory_bytes > 1e6)' 4
expect "and of each link" within is 'count(troupe_link_sent_bytes_total)' 12
firing='count(ALERTS{alertname="TroupeNoProgress", alertstate="firing"})'
expect "a job that trains alerts nobody" within is "$firing" ""

within pid_of 3
kill -STOP "$pid"
expect "a trainer is stopped: no progress fires" within is "$firing" 1
kill -CONT "$pid"
expect "it goes on: that clears" within is "$firing" ""
expect "Prometheus complains of nothing" [ ! -s "$work/prometheus.log" ]
finish

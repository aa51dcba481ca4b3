# SPDX-License-Identifier: Apache-2.0
"""What `tests/outside/live_page.sh` asks of the live page in a browser; prints TAP without a plan.

    live_page.py job URL CLUSTER EVENTS LAUNCHER AXE    a job that loses a process, gets it back, and is stopped
    live_page.py ends URL EVENTS AXE                    a job that is complete
    live_page.py served URL EVENTS AXE                  such a job, by the page of its launcher
    live_page.py many URL AXE                           64 processes, which are down
    live_page.py again URL CLUSTER AXE                  a page whose connection and server are lost
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from typing import Any

from browser import Browser

WIDTHS = (390, 1280)
COUNTERS = ("bytes_sent", "bytes_received", "batches_made", "batches_taken", "uptime_seconds",
            "mailbox_messages_max", "process_restarts", "restarts")

# Each visible text's rectangle, cut at the region that it scrolls in; pairs of which neither holds
# the other may not overlap.
OVERLAPS = """(() => {
    const boxes = [];
    for (const node of document.querySelectorAll('h1,h2,h3,dt,dd,figcaption span,.range span,label,' +
            'input,#state,#hosts li,.tall li,caption,th,td,footer p,svg')) {
        let { left, top, right, bottom } = node.getBoundingClientRect();
        for (const region of [node.closest('.wide'), node.closest('.tall')].filter(Boolean)) {
            const cut = region.getBoundingClientRect();
            left = Math.max(left, cut.left); right = Math.min(right, cut.right);
            top = Math.max(top, cut.top); bottom = Math.min(bottom, cut.bottom);
        }
        if (right - left > 1 && bottom - top > 1) boxes.push({ node, left, top, right, bottom });
    }
    const found = [];
    for (const a of boxes)
        for (const b of boxes)
            if (a !== b && !a.node.contains(b.node) && !b.node.contains(a.node) &&
                Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
                Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1)
                found.push(a.node.outerHTML.slice(0, 60) + ' / ' + b.node.outerHTML.slice(0, 60));
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    return (wide > 0 ? ['the page is ' + wide + ' pixels too wide'] : []).concat(found.slice(0, 5));
})()"""

# What stands on the page, as the server said it.
SHOWN = """(() => {
    const job = {};
    for (const figure of document.querySelectorAll('#now dd')) job[figure.dataset.field] = figure.dataset.value;
    const processes = [];
    for (const row of document.querySelectorAll('#processes tbody tr')) {
        const process = { process: Number(row.dataset.process) };
        for (const cell of row.querySelectorAll('td'))
            process[cell.dataset.field] = cell.dataset.value ?? cell.textContent;
        processes.push(process);
    }
    return { name: document.querySelector('#job').textContent, job, processes,
        state: document.querySelector('#state').dataset.state,
        stateText: document.querySelector('#state').textContent,
        notices: [...document.querySelectorAll('#notices li')].map((item) => item.textContent),
        whats: [...document.querySelectorAll('#notices li')].map((item) => item.dataset.what),
        events: [...document.querySelectorAll('#events li')].map((item) =>
            [item.dataset.event, item.dataset.process]).reverse(),
        partitions: [...document.querySelectorAll('#parts tbody tr')].map((row) => [row.dataset.partition,
            ...[...row.querySelectorAll('td[data-field]')].map((cell) => cell.dataset.value)]),
        lines: [...document.querySelectorAll('#lines li')].map((item) => item.textContent),
        title: document.title };
})()"""

AUDIT = """axe.run(document).then((found) => found.violations.map((violation) =>
    `${violation.impact} ${violation.id}: ${violation.nodes[0].html.slice(0, 120)}`))"""

number = 0


def expect(name: str, holds: bool, what: object = "") -> None:
    global number
    number += 1
    print(f"{'ok' if holds else 'not ok'} {number} - {name}", flush=True)
    if not holds:
        print(f"# {what}", flush=True)


def status(cluster: str) -> dict[str, Any]:
    done = subprocess.run(
        [os.environ["TROUPE"], "status", cluster, "--json"], capture_output=True, check=False
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def looks(browser: Browser, axe: str, when: str) -> None:
    """Nothing overlaps, and axe-core finds nothing, at both widths and in both modes."""
    for width in WIDTHS:
        for dark in (False, True):
            how = f"{when}, {width} pixels, {'dark' if dark else 'light'}"
            browser.show(width, dark=dark)
            found = browser.run(OVERLAPS)
            expect(f"{how}: nothing overlaps", found == [], found)
            if axe:
                browser.run(f"globalThis.axe === undefined && (() => {{ {axe} }})(); 0")
                found = browser.run(AUDIT)
                expect(f"{how}: axe-core finds no fault", found == [], found)
            if folder := os.environ.get("TROUPE_PICTURES"):
                browser.picture(f"{folder}/{when.replace(' ', '-')}-{width}-{int(dark)}.png")
    browser.show(1280)


def same(browser: Browser, cluster: str, when: str) -> None:
    """What the page shows is between what it showed before and after a status, for what grows, and
    equal for what stays."""
    before = browser.run(SHOWN)
    asked = status(cluster)
    # Every process is asked once a second, and within three seconds answers or is down.
    time.sleep(6)
    after = browser.run(SHOWN)
    wrong = []
    for field in ("name", "up", "era"):
        on_page = after["name"] if field == "name" else after["job"][field]
        up = sum(process["up"] for process in asked["processes"])
        of_status = {"name": asked["job"], "up": up, "era": asked["era"]}[field]
        if str(on_page) != str(of_status):
            wrong.append(f"{field}: {on_page}, not {of_status}")
    if asked["processes"] and any(process["up"] for process in asked["processes"]):
        place = (asked["era"], asked["epoch"], asked["step"])
        places = [
            tuple(int(seen["job"][field]) for field in ("era", "epoch", "step"))
            for seen in (before, after)
        ]
        if not places[0] <= place <= places[1]:
            wrong.append(f"{place} is not between {places}")
    parts = [[str(part[field]) for field in ("partition", "nodes", "edges")]
             + [",".join(map(str, part["processes"]))] for part in asked["partitions"]]
    if parts == [] or after["partitions"] != parts:
        wrong.append(f"partitions: {after['partitions']}, not {parts}")
    for process in asked["processes"]:
        first, last = (seen["processes"][process["process"]] for seen in (before, after))
        for field in ("host", "roles"):
            if last[field] != process[field]:
                wrong.append(f"{field}: {last[field]}, not {process[field]}")
        if last["up"] != json.dumps(process["up"]):
            wrong.append(f"process {process['process']}: {last['up']}, not {process['up']}")
        if not process["up"] or first["up"] != "true" or last["up"] != "true":
            continue
        if not first["incarnation"] == last["incarnation"] == str(process["incarnation"]):
            wrong.append(f"incarnation: {last['incarnation']}, not {process['incarnation']}")
            continue
        for field in COUNTERS:
            if not float(first[field]) <= process[field] <= float(last[field]):
                wrong.append(f"{field}: {process[field]} not in {first[field]}..{last[field]}")
    expect(f"{when}: the page shows what status says", wrong == [], wrong)


def no_markup(browser: Browser, when: str) -> None:
    made = browser.run(
        "[document.title, document.querySelectorAll('main script, main img, h1 *').length,"
        " globalThis.touched ?? null]"
    )
    expect(f"{when}: no name and no line is markup", made[0] != "7" and made[1:] == [0, None], made)


def wait(name: str, condition: Callable[[], Any], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < until:
        time.sleep(0.2)
    expect(name, bool(holds))


def state(browser: Browser, name: str) -> Callable[[], bool]:
    return lambda: bool(browser.run(SHOWN)["state"] == name)


def pid_of(log: str, process: int) -> int:
    """The number of a process as it was started last, which its launcher says."""
    with open(log, encoding="utf-8", errors="replace") as file:
        started = re.findall(rf"^\[.* {process}\] started, process number (\d+)$", file.read(), re.MULTILINE)
    return int(started[-1])


def open_page(browser: Browser, url: str) -> None:
    browser.go(url)
    browser.when("document.querySelector('#now dd') !== null")


def history(events: str) -> list[list[str]]:
    """What the page is to show of a history: events and their processes, of checkpoints in a row the
    last one."""
    found: list[list[str]] = []
    for line in pathlib.Path(events).read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["event"] == "checkpoint" and found and found[-1][0] == "checkpoint":
            found.pop()
        found.append([event["event"], str(event.get("process", ""))])
    return found


def shows_history(browser: Browser, events: str, when: str) -> None:
    # Within a second of the last event it is on the page.
    until = time.monotonic() + 30
    while browser.run(SHOWN)["events"] != history(events) and time.monotonic() < until:
        time.sleep(0.2)
    shown, written = browser.run(SHOWN)["events"], history(events)
    expect(f"{when}: the page has the history of the job", shown == written, (shown, written))


def watch_job(url: str, cluster: str, events: str, launcher: int, axe: str) -> None:
    with Browser() as browser:
        browser.show(1280)
        open_page(browser, url)
        wait("the page is live", state(browser, "live"))
        expect("the token is not in its address", "token" not in browser.run("location.href"))
        wait("it has curves", lambda: browser.run(
            "Number(document.querySelector('figure[data-column=step]')?.dataset.points) >= 5"))
        wait("and lines of the log", lambda: len(browser.run(SHOWN)["lines"]) > 0)
        same(browser, cluster, "all are up")
        looks(browser, axe, "all are up")
        no_markup(browser, "all are up")

        # A server that stands still is silent, and then replaced.
        os.kill(pid_of(os.environ["LAUNCH_LOG"], 1), signal.SIGSTOP)
        wait("a process that is lost is shown", state(browser, "down"))
        looks(browser, axe, "one is down")
        wait("and that it is back", state(browser, "live"))
        notices = browser.run(SHOWN)
        expect("with what happened", {"down", "restarted"} <= set(notices["whats"]), notices["whats"])
        same(browser, cluster, "it is back")
        restarts = [process["process_restarts"] for process in browser.run(SHOWN)["processes"]]
        expect("the process was started again, and the page says so", restarts[1] == "1", restarts)
        no_markup(browser, "it is back")

        # A page that is opened late has the curve from before, and one that reconnects goes on.
        points = browser.run("Number(document.querySelector('figure[data-column=up]').dataset.points)")
        open_page(browser, url)
        wait("a page that is opened late shows the curve", lambda: browser.run(
            "Number(document.querySelector('figure[data-column=up]')?.dataset.points)"
            f" >= {points}"))
        browser.ask("Network.emulateNetworkConditions", offline=True, latency=0,
                    downloadThroughput=-1, uploadThroughput=-1)
        browser.run("document.querySelector('#words').value = 'trainer';"
                    "document.querySelector('#filter').dispatchEvent(new Event('input')); 0")
        shown = browser.run(SHOWN)["processes"]
        expect("the filter leaves what it names",
               shown != [] and all("trainer" in one["roles"] for one in shown), shown)
        browser.run("document.querySelector('#words').value = '';"
                    "document.querySelector('#filter').dispatchEvent(new Event('input')); 0")
        browser.ask("Network.emulateNetworkConditions", offline=False, latency=0,
                    downloadThroughput=-1, uploadThroughput=-1)
        wait("it is live again", state(browser, "live"))

        os.kill(launcher, signal.SIGTERM)
        wait("the end of the job is shown", state(browser, "ended"))
        wait("and that it was stopped", lambda: "the job was stopped" in browser.run(SHOWN)["stateText"])
        shows_history(browser, events, "it has ended")
        names = [name for name, _ in browser.run(SHOWN)["events"]]
        expect("with the death and the new start", {"ended", "silent", "era"} <= set(names) and
               names.count("started") > len(browser.run(SHOWN)["processes"]), names)
        same(browser, cluster, "it has ended")
        looks(browser, axe, "it has ended")
        no_markup(browser, "it has ended")
        errors = [line for line in browser.console if "ERR_INTERNET_DISCONNECTED" not in line]
        expect("the console says nothing", errors == [], errors)
        print("# the page's server ends", flush=True)
        os.kill(int(os.environ["TOP_PID"]), signal.SIGTERM)
        wait("a page whose server ends says so", lambda: "served no more" in browser.run(
            SHOWN)["stateText"])


def watch_end(url: str, events: str, axe: str) -> None:
    with Browser() as browser:
        browser.show(1280)
        open_page(browser, url)
        wait("the job is seen", state(browser, "live"))
        wait("its end is seen", state(browser, "ended"))
        wait("and that it is complete", lambda: "the job is complete" in browser.run(SHOWN)["stateText"])
        expect("as a notice too", "complete" in browser.run(SHOWN)["whats"], browser.run(SHOWN)["whats"])
        shows_history(browser, events, "it is complete")
        looks(browser, axe, "it is complete")
        expect("the console says nothing", browser.console == [], browser.console)


def watch_served(url: str, events: str) -> None:
    with Browser() as browser:
        browser.show(1280)
        open_page(browser, url)
        wait("the launched job is seen", state(browser, "live"))
        wait("its page ends with it", lambda: "served no more" in browser.run(SHOWN)["stateText"])
        shown = browser.run(SHOWN)
        expect("and says how it ended", "the job is complete" in shown["stateText"] and
               "complete" in shown["whats"], (shown["stateText"], shown["whats"]))
        shows_history(browser, events, "its page has ended")
        expect("the console says nothing", browser.console == [], browser.console)


def points(browser: Browser) -> int:
    return int(browser.run("document.querySelector('figure[data-column=up]').dataset.points"))


def watch_again(url: str, cluster: str) -> None:
    """Streams that end, a server that stands still, one that is killed, and another one there."""
    top = int(os.environ["TOP_PID"])
    with Browser() as browser:
        browser.show(1280)
        open_page(browser, url)
        shown = browser.run(SHOWN)["state"]
        browser.run("globalThis.states = []; new MutationObserver(() => states.push("
                    "document.querySelector('#state').dataset.state)).observe("
                    "document.querySelector('#state'), {attributes: true}); 0")

        # The server ends the oldest of more streams than it has: that of the page, which asks again.
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        opener.open(url, timeout=60).close()
        address = url.split("?")[0]
        streams = [opener.open(f"{address}events", timeout=60) for _ in range(8)]
        wait("a page whose connection ends says so", lambda: "lost" in browser.run("states"))
        wait("and goes on by itself", state(browser, shown))
        for stream in streams:
            stream.close()
        before = points(browser)
        wait("with new figures", lambda: points(browser) > before + 2)
        with opener.open(f"{address}events", timeout=60) as stream:
            while not (line := stream.readline()).startswith(b"data:"):
                pass
        rows = len(json.loads(line[5:])["rows"])
        behind = points(browser)
        expect("none of which is missing, and none there twice", rows - 1 <= behind <= rows + 5,
               (behind, rows))

        os.kill(top, signal.SIGSTOP)
        wait("a page without news says so", lambda: "No news since" in browser.run(SHOWN)["stateText"])
        os.kill(top, signal.SIGCONT)
        wait("and goes on with them", state(browser, shown))

        os.kill(top, signal.SIGKILL)
        wait("a page whose server is killed says so", lambda: "connection was lost" in browser.run(
            SHOWN)["stateText"])
        port = re.search(r":(\d+)/", url)
        assert port is not None
        with subprocess.Popen([os.environ["TROUPE"], "top", cluster, "--web", port.group(1)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            new = other.stdout.readline().strip()
            wait("one that another server refuses says what to do", lambda: "open the URL"
                 in browser.run(SHOWN)["stateText"])
            open_page(browser, new)
            wait("which goes on", state(browser, shown))
            other.terminate()
        wait("until its end", lambda: "served no more" in browser.run(SHOWN)["stateText"])


def watch_many(url: str, axe: str) -> None:
    with Browser() as browser:
        browser.show(1280)
        open_page(browser, url)
        wait("64 processes are there", lambda: browser.run(
            "document.querySelectorAll('#hosts li').length") == 64)
        looks(browser, axe, "64 processes")
        for width, screens in ((390, 6), (1280, 3)):
            browser.show(width)
            height = browser.run("document.documentElement.scrollHeight")
            expect(f"{width} pixels: no more than {screens} screens", height <= screens * 900, height)
        expect("the console says nothing", browser.console == [], browser.console)


if __name__ == "__main__":
    axe_text = pathlib.Path(sys.argv[-1]).read_text(encoding="utf-8") if sys.argv[-1] else ""
    if sys.argv[1] == "job":
        watch_job(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), axe_text)
    elif sys.argv[1] == "ends":
        watch_end(sys.argv[2], sys.argv[3], axe_text)
    elif sys.argv[1] == "served":
        watch_served(sys.argv[2], sys.argv[3])
    elif sys.argv[1] == "again":
        watch_again(sys.argv[2], sys.argv[3])
    else:
        watch_many(sys.argv[2], axe_text)

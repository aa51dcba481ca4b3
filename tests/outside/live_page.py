# SPDX-License-Identifier: Apache-2.0
"""What `tests/outside/live_page.sh` asks of the live page in a browser; prints TAP without a plan.

    live_page.py job URL CLUSTER LAUNCHER AXE     a job that loses a process, gets it back, and ends
    live_page.py many URL AXE                     64 processes, which are down
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
from collections.abc import Callable
from typing import Any

from browser import Browser

WIDTHS = (390, 1280)
COUNTERS = ("bytes_sent", "bytes_received", "batches_made", "batches_taken", "uptime_seconds")

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


def watch_job(url: str, cluster: str, launcher: int, axe: str) -> None:
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
        same(browser, cluster, "it has ended")
        looks(browser, axe, "it has ended")
        no_markup(browser, "it has ended")
        errors = [line for line in browser.console if "ERR_INTERNET_DISCONNECTED" not in line]
        expect("the console says nothing", errors == [], errors)
        print("# the page's server ends", flush=True)
        os.kill(int(os.environ["TOP_PID"]), signal.SIGTERM)
        wait("a page whose server ends says so", lambda: "served no more" in browser.run(
            SHOWN)["stateText"])


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
        watch_job(sys.argv[2], sys.argv[3], int(sys.argv[4]), axe_text)
    else:
        watch_many(sys.argv[2], axe_text)

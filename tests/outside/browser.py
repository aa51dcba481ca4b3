# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by its DevTools protocol over a pair of pipes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from typing import Any, Self

ANSWER_S = 60.0


class Browser:
    """One page of a browser of its own, which ends with the ``with``.

    Attributes
    ----------
    console : list of str
        Errors and warnings that the page or the browser said, and exceptions.
    """

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # Chromium reads commands from descriptor 3, and answers on 4.
        self._process = subprocess.Popen(
            [
                "sh", "-c",
                f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "sh",
                "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--no-first-run", "--disable-background-networking",
                f"--user-data-dir={self._profile.name}", "--remote-debugging-pipe",
            ],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.console: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ignored: object) -> None:
        os.close(self._write)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        self._profile.cleanup()

    def _next(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(until - time.monotonic(), 0))
            got = os.read(self._read, 1 << 20) if ready else b""
            if not got:
                raise TimeoutError("the browser does not answer")
            self._buffer += got
        line, self._buffer = self._buffer.split(b"\0", 1)
        event: dict[str, Any] = json.loads(line)
        self._note(event)
        return event

    def _note(self, event: dict[str, Any]) -> None:
        values = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.console.append(json.dumps(values["exceptionDetails"]))
        elif event.get("method") == "Runtime.consoleAPICalled":
            self._say(values["type"], json.dumps(values["args"]))
        elif event.get("method") == "Log.entryAdded":
            entry = values["entry"]
            self._say(entry["level"], f"{entry['text']} {entry.get('url', '')}")

    def _say(self, level: str, text: str) -> None:
        if level in ("error", "warning", "assert"):
            self.console.append(text)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the protocol, and its result."""
        self._number += 1
        command: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            command["sessionId"] = self._session
        os.write(self._write, json.dumps(command).encode() + b"\0")
        until = time.monotonic() + ANSWER_S
        while True:
            answer = self._next(until)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def show(self, width: int, height: int = 900, dark: bool = False) -> None:
        """The size of the window, and whether its reader likes it dark."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def go(self, url: str) -> None:
        """Opens a page; `when` waits for what is on it."""
        self.ask("Page.navigate", url=url)

    def run(self, expression: str) -> Any:
        """The value of an expression of JavaScript, awaited."""
        answer = self.ask(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def when(self, expression: str, seconds: float = 60.0) -> Any:
        """Waits until the expression is true, and gives its value."""
        until = time.monotonic() + seconds
        while not (value := self.run(expression)):
            if time.monotonic() > until:
                raise TimeoutError(f"never true: {expression}")
            time.sleep(0.1)
        return value

    def picture(self, path: str) -> None:
        """A PNG of the whole page."""
        import base64

        data = self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

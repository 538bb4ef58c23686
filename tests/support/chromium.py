"""Control headless Chromium with one page over its debugging pipe."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

CHROMIUM = Path("/usr/bin/chromium")
DEADLINE_S = 60


class Browser:
    """Headless Chromium with one page, controlled over a pair of pipes (--remote-debugging-pipe)."""

    def __init__(self, profile: Path) -> None:
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        # The browser expects its pipes at file descriptors 3 and 4.
        launcher = f'exec "$0" "$@" 3<&{commands} 4>&{answers}'
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
                   "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}"]  # fmt: skip
        self._process = subprocess.Popen(
            ["bash", "-c", launcher, str(CHROMIUM), *options, "about:blank"],
            pass_fds=(commands, answers), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands)
        os.close(answers)
        self._answers = os.fdopen(self._read, "rb")
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the DevTools protocol and return its result; keep the events that arrive before it."""
        self._number += 1
        request = {"id": self._number, "method": method, "params": params}
        if self._session:
            request["sessionId"] = self._session
        os.write(self._write, json.dumps(request).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, answer
        actual: dict[str, Any] = answer["result"]
        return actual

    def _receive(self) -> dict[str, Any]:
        message = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "the browser has gone"
            message += byte
        decoded: dict[str, Any] = json.loads(message)
        return decoded

    def open(self, page: Path, width: int = 1280) -> None:
        """Open a page and wait until every chart is drawn or is known not to be drawable."""
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=page.as_uri())
        self.value(
            "new Promise(done => { const look = () => document.documentElement?.dataset.charts ||"
            " document.querySelector('#no-charts:not([hidden])') ? done() : setTimeout(look, 50); look(); })"
        )

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page, after waiting for it if it is a promise."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, timeout=DEADLINE_S * 1000
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def show(self, scheme: str = "", media: str = "") -> None:
        """Emulate a colour scheme (``light`` or ``dark``), or paper if ``media`` is ``print``."""
        features = [{"name": "prefers-color-scheme", "value": scheme}] if scheme else []
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def unfold(self) -> None:
        """Open every ``details`` element and wait until its charts are drawn."""
        self.value("document.querySelectorAll('details').forEach(details => { details.open = true; })")
        self.value(
            "new Promise(done => { const look = () => document.querySelectorAll('[data-chart]').length =="
            " document.querySelectorAll('[data-chart] svg.marks').length ? done() : setTimeout(look, 50); look(); })"
        )

    def requests(self) -> list[str]:
        """Return every URL that the page requested."""
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def complaints(self) -> list[dict[str, Any]]:
        """Return the uncaught exceptions, console messages and violations of the content security policy."""
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event for event in self.events if event["method"] in kinds]

    def close(self) -> None:
        os.close(self._write)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._answers.close()
